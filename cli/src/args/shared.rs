//! Flags that say the same in several commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;
use worker::Limits;

use crate::value::{jobs, timeout, word};

/// How long a backend may take.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How long a backend may take for one case.
    #[arg(long, default_value = "10s", value_parser = timeout, value_name = "TIME")]
    pub timeout: Duration,
}

impl Patience {
    /// What a worker may use that runs small cases.
    pub(crate) fn limits(self) -> Limits {
        Limits { timeout: self.timeout, ..Limits::default() }
    }
}

/// How many cases run at the same time.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct CaseJobs {
    /// How many cases run at the same time; without it, one per processor.
    #[arg(long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<usize>,
}

/// What the reference may take.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct Means {
    /// Let the reference take what this machine has, and hours: without it, what is in proportion to the model's weights.
    #[arg(long)]
    pub large: bool,
}

/// The rules that invalid cases break.
#[derive(ClapArgs, Debug)]
pub(crate) struct Rules {
    /// Break only these rules (names as in docs/violations.md, separated by commas), and draw no case without constraints.
    #[arg(long, value_delimiter = ',', value_parser = word(), value_name = "NAMES")]
    pub rules: Vec<String>,
}

/// The relations that the metamorphic oracle asks about.
#[derive(ClapArgs, Debug)]
pub(crate) struct Relations {
    /// With the oracle metamorphic: only these relations (names as in docs/metamorphic.md, separated by commas).
    #[arg(long, value_delimiter = ',', value_parser = word(), value_name = "NAMES")]
    pub relations: Vec<String>,
}

/// A campaign that is there.
#[derive(ClapArgs, Debug)]
pub(crate) struct Campaign {
    /// The campaign's folder.
    #[arg(id = "campaign", value_name = "DIR")]
    pub folder: PathBuf,
}

/// The list that findings of a campaign are held against.
#[derive(ClapArgs, Debug)]
pub(crate) struct KnownList {
    /// A list of known findings (TOML), as for `fuzz`.
    #[arg(id = "known", long = "known", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Where findings are written for CI systems.
#[derive(ClapArgs, Debug)]
pub(crate) struct Junit {
    /// Write the findings as JUnit XML.
    #[arg(id = "junit", long = "junit", value_name = "FILE")]
    pub file: Option<PathBuf>,
}
