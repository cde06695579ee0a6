//! The flags of `sweep`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;
use ir::DType;
use sweep::PartForm;

use crate::value::{dtype, form, jobs, operator, samples, timeout, word};

/// `sweep`
#[derive(ClapArgs, Debug)]
pub(crate) struct Sweep {
    /// The backends, as for `run`. Adapters are backends of their own: wgpu@llvmpipe, wgpu@0.
    #[arg(long, value_delimiter = ',', value_parser = word(), default_value = "cpu,wgpu", value_name = "BACKENDS")]
    pub on: Vec<String>,
    /// Only these operators (ONNX names, separated by commas).
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = swept)]
    pub ops: Vec<&'static str>,
    /// None of these operators.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = swept)]
    pub exclude: Vec<&'static str>,
    /// Only these dtypes (separated by commas).
    #[arg(long, value_delimiter = ',', value_name = "DTYPES", value_parser = dtype)]
    pub dtypes: Vec<DType>,
    /// Only these forms: unary, pairs, several (more operands), broadcast (operands of other shapes), constants
    /// (operands that are initializers), lengths (of sums and products), shapes, drawn (as campaigns draw them); see
    /// docs/commands.md.
    #[arg(long, value_delimiter = ',', value_name = "FORMS", value_parser = form)]
    pub forms: Vec<PartForm>,
    /// How many numbers of a dtype that has more than 65,536; `full` is 2²², `all` is every f32.
    #[arg(long, default_value = "1048576", value_name = "N", value_parser = samples)]
    pub samples: u64,
    /// How many cases of an operator on a dtype are drawn as campaigns draw them.
    #[arg(long, default_value = "8", value_name = "N", value_parser = graphgen::amount::positive)]
    pub cases: u64,
    /// The version of ONNX's default operator set, 13 to 28; without it the newest that all backends load.
    #[arg(long, value_parser = graphgen::policy::opset)]
    pub opset: Option<u32>,
    /// The folder of results: sweep.json, sweep.csv, a page, and the worst inputs as cases.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the sweep in --out; begin it where there is none. All flags that say what is swept must be as they were.
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Say what got worse since the sweep in this folder.
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Print comma-separated values instead of a table.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// How many parts run at the same time; without it, one per processor. The results do not depend on it.
    #[arg(long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<usize>,
    /// How long a backend may take for one part.
    #[arg(long, default_value = "60s", value_parser = timeout, value_name = "TIME")]
    pub timeout: Duration,
}

/// An operator that a sweep has: none that is written out in others where it is read.
fn swept(text: &str) -> Result<&'static str, String> {
    let name = text.trim();
    let is_written_out = ops::find(name).is_none()
        && (onnx::import::knows("", name) || forms::composite::find(name).is_some());
    if is_written_out {
        return Err(format!(
            "`{name}` is written out in other operators where it is read, and a sweep has none such"
        ));
    }
    operator(name)
}
