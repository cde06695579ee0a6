//! The flags of `known`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::shared::{Campaign, Patience};
use crate::value::word;

/// `known`
#[derive(Subcommand, Debug)]
pub(crate) enum Known {
    /// Add an entry for each signature of a campaign that the list does not cover yet.
    Accept(Accept),
    /// Rewrite entries under names that findings do not have any more: run what they were written for, and see what it is called.
    Migrate(Migrate),
}

/// `known accept`
#[derive(ClapArgs, Debug)]
pub(crate) struct Accept {
    #[command(flatten)]
    pub campaign: Campaign,
    /// Only these signatures; `*` is any text. May be repeated. What names neither an operator nor a message is only
    /// taken where it is named here in full.
    #[arg(long, value_name = "SIGNATURE")]
    pub only: Vec<String>,
    /// Write `*` for the dtype, and nothing else: for a cause that is the same on every dtype. Without it, an entry is
    /// for the one that was met.
    #[arg(long)]
    pub every_dtype: bool,
    /// The list (TOML), which is made where there is none.
    #[arg(long, default_value = "known.toml", value_name = "FILE")]
    pub list: PathBuf,
}

/// `known migrate`
#[derive(ClapArgs, Debug)]
pub(crate) struct Migrate {
    /// Folders of campaigns, which tell names too.
    #[arg(value_name = "DIR")]
    pub campaigns: Vec<PathBuf>,
    /// The list (TOML). What its entries name as their finding is looked for beside it.
    #[arg(long, default_value = "known.toml", value_name = "FILE")]
    pub list: PathBuf,
    /// The backends on which findings are run, as for `run`. Without it: all that the list names and that are there.
    #[arg(long, value_delimiter = ',', value_parser = word(), value_name = "BACKENDS")]
    pub on: Vec<String>,
    #[command(flatten)]
    pub patience: Patience,
}
