//! The commands, one file each.

mod backends;
mod blame;
mod campaign_folder;
mod corpus;
mod fuzz;
mod generate;
mod junit_file;
mod known;
mod merge;
mod ops;
mod probe;
mod reduce;
mod report;
mod run;
mod show;
mod sweep;
mod watch;
mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::worker::{FaultKind, Limits};
use anyhow::{Context, bail};
use graphgen::{Settings, Taste};
use harness::reference::Large;
use harness::{Maker, Target, Values, target, threads};
use ir::DatumKind;
use onnx::case::read_value;
use onnx::violate::{self, Rule};
use triage::invent::{UserInputs, Ways};

use crate::args::{Args, Command, Common, Inputs};
use crate::destination;
use campaign::Exit;
use campaign::late::{LateFault, LateFaults};

/// Runs the command that was asked for.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let common = args.common;
    if let Some(library) = args.ort_lib {
        if !cfg!(feature = "ort") {
            bail!(
                "--ort-lib is for the backend ort, and this program is built without it; the cargo feature ort adds it"
            );
        }
        if let Err(e) = fs::File::open(&library) {
            bail!("--ort-lib names {}, which cannot be read: {e}", library.display());
        }
        ::worker::set_variable(::backends::engines::ORT_LIBRARY, library);
    }
    match args.command {
        Command::Gen(gen_) => generate::run(common, &gen_),
        Command::Run(run_) => run::run(common, &run_),
        Command::Fuzz(fuzz_) => fuzz::run(common, &fuzz_),
        Command::Sweep(sweep_) => sweep::run(common, &sweep_),
        Command::Merge(merge_) => merge::run(common, &merge_),
        Command::Report(report_) => report::run(common, &report_),
        Command::Known(known_) => known::run(common, &known_),
        Command::Watch(watch_) => watch::run(common, &watch_),
        Command::Blame(blame_) => blame::run(common, &blame_),
        Command::Reduce(reduce_) => reduce::run(common, &reduce_),
        Command::Corpus(corpus_) => corpus::run(common, &corpus_),
        Command::Ops(ops_) => ops::run(common, ops_),
        Command::Show(show_) => show::run(common, &show_),
        Command::Backends(backends_) => backends::run(common, &backends_),
        Command::Worker { engine, rates } => worker::run(&engine, &rates),
    }
}

/// Makes sure that the folder that a flag names can be written to, before there is anything to write.
fn writable_folder(flag: &str, folder: Option<&Path>) -> anyhow::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    destination::make_writable(folder)
        .with_context(|| format!("cannot write to {}; {flag} takes a folder", folder.display()))
}

/// Makes sure that the file that a flag names can be written, before there is anything to write.
fn writable_file(flag: &str, file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    if file == Path::new("-") {
        bail!("{flag} takes a file; /dev/stdout is standard output, and ./- a file of this name");
    }
    destination::could_be_written(file).with_context(|| {
        format!("cannot write {}; {flag} takes a file in a folder that exists", file.display())
    })
}

/// The size in bytes of a model that spends most of its time on memory.
const LARGE: u64 = 16 << 20;

/// How many times the size of a model a worker may need: for the model, for what the engine makes of it, and
/// for the values that it computes.
const TIMES: u64 = 4;

/// What a worker may use that runs some cases; for large ones this process keeps its memory.
fn limits(timeout: Duration, cases: &[PathBuf]) -> Limits {
    let (usual, largest) = (Limits { timeout, ..Limits::default() }, triage::stored::largest(cases));
    if largest >= LARGE {
        ::backends::usage::keep_memory();
    }
    Limits { memory: usual.memory.map(|memory| memory.max(TIMES * largest)), ..usual }
}

/// The targets that names on the command line stand for, each once.
fn targets(names: &[String], limits: &Limits) -> anyhow::Result<Vec<Target>> {
    let mut all: Vec<Target> = Vec::new();
    for name in names {
        for target in target::open(name, limits)? {
            if all.iter().all(|known| known.on() != target.on()) {
                all.push(target);
            }
        }
    }
    target::tell_apart(&mut all);
    Ok(all)
}

/// What makes the cases of `fuzz` and `gen`.
fn maker(seed: u64, mut settings: Settings, taste: &Taste, values: Values) -> Maker<'_> {
    // Forms are added last: what an engine has is found out by models without them.
    settings.forms.each = forms::usual();
    let (opset, nodes) = (taste.one_opset(), taste.nodes.clone());
    Maker { seed, settings, opset, nodes, policy: taste, swarm: true, values }
}

/// What is given of the inputs.
fn given(inputs: &Inputs) -> anyhow::Result<UserInputs> {
    once("--dim", inputs.dim.iter().map(|(name, size)| (name, size.to_string())))?;
    once("--input", inputs.input.iter().map(|(name, file)| (name, file.display().to_string())))?;
    if let Some((name, file)) = inputs.input.iter().find(|(_, file)| is_archive(file)) {
        bail!("{}: an .npz holds several arrays; give one as .npy, --input {name}=FILE.npy", file.display());
    }
    let mut given = UserInputs { sizes: inputs.dim.iter().cloned().collect(), ..UserInputs::default() };
    for (name, file) in &inputs.input {
        match read_value(file, DatumKind::Tensor) {
            Ok(tensor) => _ = given.inputs.insert(name.clone(), tensor),
            Err(why) => _ = given.files.insert(name.clone(), ways(file, why)?),
        }
    }
    Ok(given)
}

/// Whether a model may be large, as a flag has it.
fn large(is_allowed: bool) -> Large {
    if is_allowed { Large::Allowed } else { Large::Refused }
}

/// Whether a file is an archive of NumPy's.
fn is_archive(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

/// Whether a file is an array of NumPy's.
fn is_array(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Requires that a flag says one thing of each name.
fn once<'i>(flag: &str, given: impl Iterator<Item = (&'i String, String)>) -> anyhow::Result<()> {
    let mut met = BTreeMap::new();
    for (name, value) in given {
        if let Some(before) = met.insert(name, value.clone()) {
            bail!("{flag} says of `{name}` both {before} and {value}; say it once");
        }
    }
    Ok(())
}

/// The flags that say the same of a case's inputs to another command. A case with data has its own sizes, and none are drawn.
fn flags(case: &Path, inputs: &Inputs, common: Common) -> Vec<String> {
    let sizes = inputs.dim.iter().map(|(name, size)| ["--dim".to_owned(), format!("{name}={size}")]);
    let values =
        inputs.input.iter().map(|(name, file)| ["--input".into(), format!("{name}={}", file.display())]);
    if case.is_dir() {
        return values.flatten().collect();
    }
    sizes.chain(values).flatten().chain(seed(common)).collect()
}

/// What a file may hold that is no tensor of numbers: its bytes do not tell which message they are, and the model is
/// not read yet.
fn ways(file: &Path, no_tensor: onnx::Error) -> anyhow::Result<Ways> {
    let kinds = [DatumKind::Strings, DatumKind::Sequence, DatumKind::Optional, DatumKind::OptionalSequence];
    let values: Vec<_> = kinds.into_iter().filter_map(|kind| read_value(file, kind).ok()).collect();
    if values.is_empty() && matches!(no_tensor, onnx::Error::Unsupported { .. }) && is_array(file) {
        bail!("{no_tensor}; a `.pb` gives what NumPy has no numbers for: a TensorProto of strings, say");
    }
    if values.is_empty() {
        return Err(no_tensor.into());
    }
    Ok(Ways { values, no_tensor: no_tensor.to_string() })
}

/// The rules of these names; they mean nothing where no rule is broken.
fn rules(names: &[String], are_broken: bool) -> anyhow::Result<Vec<&'static Rule>> {
    if !names.is_empty() && !are_broken {
        bail!("--rules says which rules are broken, and none is; add --level violate");
    }
    let find = |name: &String| {
        let known = || violate::rules().map(|rule| rule.name).collect::<Vec<_>>().join(", ");
        violate::rule(name).with_context(|| format!("there is no rule `{name}`; there are {}", known()))
    };
    names.iter().map(find).collect()
}

/// The flag for the seed of another command, where it is needed.
fn seed(common: Common) -> Vec<String> {
    if common.seed == 0 { Vec::new() } else { vec!["--seed".to_owned(), common.seed.to_string()] }
}

/// What died after it had answered, a line for each engine.
fn late_faults(by_engine: &LateFaults) -> String {
    let line = |(engine, faults): (&String, &BTreeMap<FaultKind, u64>)| {
        let kinds: Vec<String> = faults.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
        format!("{engine}: {} that no case has in a fresh process\n", kinds.join(", "))
    };
    by_engine.iter().map(line).collect()
}

/// A fault of a process that no case shows by itself: what it is called, in which cases it was met, and how to look for it.
fn late_fault(late: &LateFault<'_>, cases: &[String], again: &str) -> String {
    let place = match cases {
        [] => {
            "in no case, but behind its last one, or while operators were tried or findings named".to_owned()
        }
        cases => format!("met at {}", cases.join(", ")),
    };
    format!(
        "{late}\n    {} times, {place}: a process that had run other cases died, and a fresh one does not\n    to look for it: {again}\n",
        late.count
    )
}

/// How many threads to use.
fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(threads::all).max(1)
}
