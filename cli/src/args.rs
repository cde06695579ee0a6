//! The command line: one definition per flag, its documentation included.

mod inputs;
mod known;
mod shared;
mod sweep;

use std::path::PathBuf;
use std::time::Duration;

use campaign::Shard;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use interp::Profile;

pub(crate) use self::inputs::Inputs;
pub(crate) use self::known::{Accept, Known, Migrate};
use self::shared::{Campaign, CaseJobs, Junit, KnownList, Means, Patience, Relations, Rules};
pub(crate) use self::sweep::Sweep;
use crate::bounds::Bounds;
use crate::value::{duration, jobs, profile, shard, timeout, tolerance, word};

/// Finds numeric and crash bugs in DNN runtimes and compilers.
///
/// Exit codes: 0 nothing wrong, 1 findings, 2 wrong usage, nothing that can be used, or an internal error, 130 interrupted.
#[derive(Parser, Debug)]
#[command(version, propagate_version = true)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
    /// ONNX Runtime's shared library, for the backend `ort`; without it, ORT_DYLIB_PATH says where it is.
    #[arg(long, global = true, display_order = LAST, value_name = "PATH")]
    pub ort_lib: Option<PathBuf>,
}

/// Where the flags that every command takes stand in a help text: after the command's own.
const LAST: usize = 100;

/// Flags that every command takes.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct Common {
    /// The seed that everything random follows from.
    #[arg(long, global = true, display_order = LAST, default_value_t = 0)]
    pub seed: u64,
    /// Print exactly one JSON object on standard output; everything else goes to standard error.
    #[arg(long, global = true, display_order = LAST)]
    pub json: bool,
    /// Show no progress.
    #[arg(long, short, global = true, display_order = LAST)]
    pub quiet: bool,
}

/// What to do.
#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one, and it lives as long as the program")]
pub(crate) enum Command {
    /// Write random, well-typed models with inputs and expected outputs.
    Gen(Gen),
    /// Run saved cases or models and compare.
    Run(Run),
    /// Generate, run and compare until a budget is used up.
    Fuzz(Box<Fuzz>),
    /// Say how far off each operator is on each dtype, on several backends.
    Sweep(Sweep),
    /// Make one campaign of the parts that `fuzz --shard` ran.
    Merge(Merge),
    /// Show what a campaign found: by cause, as a page, as issues for a tracker.
    Report(Report),
    /// Change a list of known findings.
    #[command(subcommand)]
    Known(Known),
    /// Show a campaign while it runs.
    Watch(Watch),
    /// Find the operators of a model that a backend gets wrong.
    Blame(Blame),
    /// Find the smallest case that shows the same finding.
    Reduce(Reduce),
    /// Run the findings that are written up on the engines that they accuse: are they still so?
    Corpus(Corpus),
    /// List the operators, with the dtypes and backends that have them.
    Ops(Ops),
    /// Show a model as text.
    Show(Show),
    /// List the engines and the GPU adapters with their self-tests, or find out what one has.
    Backends(Backends),
    /// Serve an engine over standard input and output (see docs/worker-protocol.md).
    #[command(hide = true)]
    Worker {
        /// The engine; `chaos` is our CPU kernels that misbehave.
        engine: String,
        /// For `chaos`: how often what happens in per cent, such as segfault=1, and pause=SECONDS.
        rates: Vec<String>,
    },
}

impl Command {
    /// Whether this process, and not only one that it starts, looks for GPU adapters.
    pub(crate) fn looks_for_a_device(&self) -> bool {
        match self {
            Self::Backends(_) => true,
            Self::Worker { engine, .. } => backends::engines::gpu::adapter(engine).is_some(),
            Self::Gen(_)
            | Self::Run(_)
            | Self::Fuzz(_)
            | Self::Sweep(_)
            | Self::Merge(_)
            | Self::Report(_)
            | Self::Known(_)
            | Self::Watch(_)
            | Self::Blame(_)
            | Self::Reduce(_)
            | Self::Corpus(_)
            | Self::Ops(_)
            | Self::Show(_) => false,
        }
    }
}

/// The values of cases.
#[derive(ValueEnum, Clone, Copy, Default, Debug)]
pub(crate) enum Values {
    /// Everything is defined on them.
    Plain,
    /// Plain ones, and adversarial ones in half of the cases, in most with narrow dtypes.
    #[default]
    Mixed,
    /// At edges of some operators (a tie, a saturation, the ends of a dtype) where they can be reached.
    Adversarial,
}

impl From<Values> for harness::Values {
    fn from(values: Values) -> Self {
        match values {
            Values::Plain => Self::Plain,
            Values::Mixed => Self::Mixed,
            Values::Adversarial => Self::Adversarial,
        }
    }
}

/// The level of all cases that `gen` writes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Level {
    /// Every case is valid.
    #[default]
    Valid,
    /// Three cases of four break exactly one rule of ONNX, the others are drawn without constraints.
    Violate,
}

/// The levels of a campaign.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Levels {
    /// Every case is valid.
    #[default]
    Valid,
    /// Three cases of four break exactly one rule of ONNX, the others are drawn without constraints.
    Violate,
    /// A case is valid with probability p, which moves towards the level that finds something.
    Adaptive,
}

/// `gen`
#[derive(ClapArgs, Debug)]
pub(crate) struct Gen {
    /// How many models.
    #[arg(long, default_value = "100", value_name = "N", value_parser = graphgen::amount::positive)]
    pub count: u64,
    /// The number of the first model, from 0: each is the one that a run from the first on has under its number. The folder may have other
    /// cases then; those of these numbers are written again.
    #[arg(long, value_name = "N", value_parser = graphgen::amount::amount)]
    pub first: Option<u64>,
    /// Where to write the case folders; without it nothing is written.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw only what this engine has: a backend, as for `run`, of which it is found out, or a file that `backends --probe`
    /// wrote. What the engine gets wrong stays in.
    #[arg(long = "for", value_name = "ENGINE|FILE")]
    pub engine: Option<String>,
    /// Write models only: no inputs, no expected outputs.
    #[arg(long)]
    pub no_values: bool,
    /// Which values inputs and constants have.
    #[arg(long, value_enum, default_value_t, value_name = "KIND", conflicts_with = "no_values")]
    pub values: Values,
    /// The accuracy that the bounds of the expected outputs allow for: tight, wgsl, declared, transforming or wgsl-runtime;
    /// declared, if not given.
    #[arg(long, value_parser = profile, value_name = "NAME", conflicts_with = "no_values")]
    pub profile: Option<&'static Profile>,
    /// Whether cases keep the constraints of the standard.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub level: Level,
    #[command(flatten)]
    pub broken: Rules,
    /// How many threads; what is written does not depend on it.
    #[arg(long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub patience: Patience,
    #[command(flatten)]
    pub bounds: Bounds,
}

/// `run`
#[derive(ClapArgs, Debug)]
pub(crate) struct Run {
    /// Case folders, folders that hold them, or models (`.onnx`, or `.onnxtxt` for ONNX's text syntax).
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The backends: interp, cpu, wgpu, rten, tract, ort, oxionnx, an adapter (openvino, tvm, iree, onnxruntime, onnxruntime_webgpu,
    /// onnxruntime_cuda, onnxruntime_web, candle, onnx_reference) or `cmd:./my-runner --flag`; each may name one level, as rten:all or
    /// `cmd:./my-runner --flag :all`, and wgpu a GPU, as wgpu@llvmpipe or wgpu@0.
    #[arg(long, value_delimiter = ',', value_parser = word(), default_value = "interp", value_name = "BACKENDS")]
    pub on: Vec<String>,
    /// Write each backend's outputs to `DIR/<case>/<backend>/output_N.pb`, and inputs that were made up to
    /// `DIR/<case>/inputs/input_N.pb`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub given: Inputs,
    /// Who judges, as for `fuzz`: differential (the reference, or the case's stored outputs), metamorphic, optimiser,
    /// determinism, roundtrip, performance. All questions that apply to a case are asked; see docs/oracles.md.
    #[arg(long, value_delimiter = ',', value_parser = word(), default_value = "differential", value_name = "NAMES")]
    pub oracles: Vec<String>,
    #[command(flatten)]
    pub related: Relations,
    /// Compare with this relative tolerance instead of the case's own or the derived bounds.
    #[arg(long, value_name = "X", value_parser = tolerance)]
    pub rtol: Option<f64>,
    /// Compare with this absolute tolerance.
    #[arg(long, value_name = "X", value_parser = tolerance)]
    pub atol: Option<f64>,
    /// A list of known findings (TOML), as for `fuzz`: where nothing else is wrong, the exit code is 0. What is wrong is reduced and
    /// named for that.
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    /// Exit with 1 where an answer is suspect, too: not known to be wrong, and further off than good implementations are.
    #[arg(long)]
    pub fail_on_suspect: bool,
    #[command(flatten)]
    pub at_once: CaseJobs,
    #[command(flatten)]
    pub means: Means,
    #[command(flatten)]
    pub patience: Patience,
}

/// `corpus`
#[derive(ClapArgs, Debug)]
pub(crate) struct Corpus {
    /// The folder of findings: `ENGINE-VERSION/NAME/finding.toml`.
    #[arg(default_value = "corpus", value_name = "DIR")]
    pub folder: PathBuf,
    /// The backends, as for `run`. Without it: all that are accused and are there.
    #[arg(long, value_delimiter = ',', value_parser = word(), value_name = "BACKENDS")]
    pub on: Vec<String>,
    /// How many findings run at the same time; without it, one per processor.
    #[arg(long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub patience: Patience,
}

/// `fuzz`
#[derive(ClapArgs, Debug)]
pub(crate) struct Fuzz {
    /// The backends, as for `run`. Without it: cpu, wgpu where there is an adapter, and the built-in runtimes.
    #[arg(long, value_delimiter = ',', value_parser = word(), value_name = "BACKENDS")]
    pub on: Vec<String>,
    /// Stop after this many cases, those of all shards together.
    #[arg(long, value_name = "N", value_parser = graphgen::amount::positive)]
    pub cases: Option<u64>,
    /// Stop after this time (such as 90s, 10m, 2h), what ran before --resume included, but not what it takes to find out what
    /// the backends have; 60s if none of this, --cases and --until-found is given.
    #[arg(long, value_parser = timeout, value_name = "TIME")]
    pub time: Option<Duration>,
    /// Stop at the first finding that --known does not list; with --resume, at the first whose signature was not met before.
    #[arg(long)]
    pub until_found: bool,
    #[command(flatten)]
    pub at_once: CaseJobs,
    /// What engines have, in files that `backends --probe ENGINE --out FILE` wrote: these are not tried before the campaign.
    #[arg(long, value_delimiter = ',', value_name = "FILES")]
    pub probed: Vec<PathBuf>,
    /// Which values inputs and constants have.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    pub values: Values,
    /// Whether cases keep the constraints of the standard.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub level: Levels,
    #[command(flatten)]
    pub broken: Rules,
    /// With --level adaptive: the probability of a valid case at the start, kept between 0.05 and 0.95; 0.6 without it. (In
    /// HirFuzz, p is the probability of level 0, the graphs without constraints.)
    #[arg(long, value_parser = graphgen::amount::share, value_name = "P")]
    pub p: Option<f64>,
    /// With --level adaptive: by how much a new signature moves p; 0.01 without it.
    #[arg(long, value_parser = graphgen::amount::share, value_name = "STEP")]
    pub alpha: Option<f64>,
    /// Who judges: differential (the reference), metamorphic (the same model in another form), optimiser (from which level on
    /// is it wrong?), determinism (the same once more), roundtrip (written and read again), performance (much slower
    /// than what is next to it?); see docs/oracles.md.
    #[arg(long, value_delimiter = ',', value_parser = word(), default_value = "differential", value_name = "NAMES")]
    pub oracles: Vec<String>,
    #[command(flatten)]
    pub related: Relations,
    /// The campaign's folder: its database and the cases that it found. Without it, the next of onnxsmith-out/run-1, run-2, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the campaign in --out, or without --out with the latest; begin it where there is none. All other flags
    /// but --jobs, --cases, --time, --until-found, --timeout, --known and --junit must be as they were.
    #[arg(long)]
    pub resume: bool,
    /// The most bytes (such as 500M, 20G) of saved cases. What is found beyond is counted, and not saved.
    #[arg(long, value_name = "BYTES", value_parser = graphgen::amount::amount)]
    pub max_disk: Option<u64>,
    /// Run only the cases of this shard, such as 1/4. `merge` makes one campaign of all shards' folders.
    #[arg(long, value_parser = shard, value_name = "I/N")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub patience: Patience,
    /// A list of known findings (TOML); a campaign that finds nothing else exits with 0. Without it, none is known.
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    #[command(flatten)]
    pub junit: Junit,
    #[command(flatten)]
    pub bounds: Bounds,
}

/// `merge`
#[derive(ClapArgs, Debug)]
pub(crate) struct Merge {
    /// The campaign folders of all shards.
    #[arg(required = true, value_name = "DIR")]
    pub parts: Vec<PathBuf>,
    /// The folder of the merged campaign.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub known: KnownList,
    #[command(flatten)]
    pub junit: Junit,
}

/// `report`
#[derive(ClapArgs, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    pub campaign: Campaign,
    /// Write a page that needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write an issue for each cause that is not known, with its model and programs that show the fault, to a folder of its own.
    #[arg(long, value_name = "DIR")]
    pub markdown: Option<PathBuf>,
    #[command(flatten)]
    pub junit: Junit,
    #[command(flatten)]
    pub known: KnownList,
    /// How alike engines' messages must be to have one cause, from 0 to 1.
    #[arg(long, default_value_t = oracles::cause::ALIKE, value_parser = graphgen::amount::share, value_name = "SHARE")]
    pub alike: f64,
}

/// `watch`
#[derive(ClapArgs, Debug)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub campaign: Campaign,
    /// How often to look.
    #[arg(long, default_value = "1s", value_parser = timeout, value_name = "TIME")]
    pub every: Duration,
    #[command(flatten)]
    pub known: KnownList,
}

/// `blame`
#[derive(ClapArgs, Debug)]
pub(crate) struct Blame {
    /// A model (`.onnx` or `.onnxtxt`) or a case folder.
    pub model: PathBuf,
    /// The backends, as for `run`.
    #[arg(long, required = true, value_delimiter = ',', value_parser = word(), value_name = "BACKENDS")]
    pub on: Vec<String>,
    #[command(flatten)]
    pub given: Inputs,
    /// Show every operator, and not only those that are not right.
    #[arg(long)]
    pub all: bool,
    /// Judge the model end to end, and no operator.
    #[arg(long)]
    pub whole: bool,
    #[command(flatten)]
    pub means: Means,
    /// How long a backend may take for one run.
    #[arg(long, default_value = "60s", value_parser = timeout, value_name = "TIME")]
    pub timeout: Duration,
}

/// `reduce`
#[derive(ClapArgs, Debug)]
pub(crate) struct Reduce {
    /// A case folder, of this program or any other, or a model (`.onnx` or `.onnxtxt`), for which inputs are found
    /// (others with another --seed).
    pub case: PathBuf,
    /// The backend that shows the finding, as for `run`; of several, or of several levels, the first that does.
    #[arg(long, required = true, value_delimiter = ',', value_parser = word(), value_name = "BACKENDS")]
    pub on: Vec<String>,
    #[command(flatten)]
    pub given: Inputs,
    /// The case folder to write, replaced whenever there is a smaller one; without it, `CASE-reduced`. A folder that holds anything
    /// but a case is refused.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How long to try. Reducing the result once more goes on where this ended.
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    pub budget: Duration,
    /// How many smaller cases to run at most; unlike a time, it gives the same result on every machine.
    #[arg(long, value_name = "N", value_parser = graphgen::amount::amount)]
    pub tries: Option<u64>,
    #[command(flatten)]
    pub means: Means,
    /// How many smaller cases run at the same time; without it, one per processor. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = jobs())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub patience: Patience,
}

/// `backends`
#[derive(ClapArgs, Debug)]
pub(crate) struct Backends {
    /// Find out what an engine has, by running small models on it: the newest opset, dtypes, functions, and which forms of
    /// operators it says not to support.
    #[arg(long, value_name = "ENGINE")]
    pub probe: Option<String>,
    /// Write that to a file, which `gen --for` takes; without it, it is printed.
    #[arg(long, value_name = "FILE", requires = "probe")]
    pub out: Option<PathBuf>,
    /// How many models run at the same time; without it, one per processor. What is found out does not depend on it.
    #[arg(long, value_name = "N", requires = "probe", value_parser = jobs())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub patience: Patience,
}

/// `ops`
#[derive(ClapArgs, Clone, Copy, Debug)]
pub(crate) struct Ops {
    /// Print a Markdown table.
    #[arg(long)]
    pub markdown: bool,
}

/// `show`
#[derive(ClapArgs, Debug)]
pub(crate) struct Show {
    /// A case folder, a finding of corpus/, or an `.onnx` or `.onnxtxt` file.
    pub case: PathBuf,
    /// How to print it; without it, as a program if that says more than the model.
    #[arg(long = "as", value_name = "FORM")]
    pub form: Option<TextForm>,
    /// Print Graphviz's DOT: short for `--as dot`.
    #[arg(long, conflicts_with = "form")]
    pub dot: bool,
    /// Write the case as a folder that any ONNX tool reads, instead of printing its model. It may replace a case, and no other folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dot", "form"])]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub given: Inputs,
}

/// The forms of a model as text.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextForm {
    /// As it is computed for the inputs at hand, or for some that are drawn: flat, every type concrete.
    Model,
    /// As it is written, loops and branches included, in ONNX's own text syntax.
    Program,
    /// As it is computed, as a picture for Graphviz.
    Dot,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn flags_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
