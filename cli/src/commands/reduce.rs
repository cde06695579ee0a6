//! `onnxsmith reduce`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use campaign::replay::{Replay, replay};
use harness::Target;
use harness::reference::Large;
use present::shell;
use serde_json::json;
use triage::invent::UserInputs;
use triage::reduce::{Budget, ReduceError, Reduced, Reduction, SUFFIX, reduce};

use super::{flags, given, jobs, large, limits, targets};
use crate::args::{Common, Reduce};
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::{destination, screen};
use campaign::Exit;
use campaign::exit::SearchEnd;

/// Looks for the smallest case that shows the same finding.
pub(crate) fn run(common: Common, args: &Reduce) -> anyhow::Result<Exit> {
    let out = args.out.clone().unwrap_or_else(|| beside(&args.case));
    destination::of_case(&out)?;
    if let Some(parent) = out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let why = || format!("cannot write to {}; --out takes a folder", out.display());
        destination::make_writable(parent).with_context(why)?;
    }
    let limits = limits(args.patience.timeout, std::slice::from_ref(&args.case));
    let targets = targets(&args.on, &limits)?;
    let tries = args.tries.unwrap_or(u64::MAX);
    let budget = Budget { time: args.budget, tries, jobs: jobs(args.jobs) };
    let interrupts = Interrupts::take("the smallest case so far is stored")?;
    let user_inputs = UserInputs { large: large(args.means.large), ..given(&args.given)? };
    let reduction = Reduction {
        targets: &targets,
        seed: common.seed,
        given: &user_inputs,
        budget,
        stop: &|| interrupts.came(),
    };
    let bar = Progress::new(common, None, "reducing");
    let reduced = reduce(&args.case, &out, &reduction, &mut |size| {
        bar.inc(1);
        bar.set_message(format!("{} nodes, {} elements", size.nodes, size.elements));
    });
    bar.finish_and_clear();
    let reduced = match reduced {
        Err(ref e @ ReduceError::Suspect { ref on, .. }) => {
            let given = flags(&args.case, &args.given, common);
            bail!("{e}; blame says which operator it is:\n    {}", shell::blame(&args.case, on, &given))
        }
        Err(ref e @ ReduceError::NoFinding { shown_by: Some(ref on), .. }) => {
            bail!("{e}; what the engine writes of its model showed one: --on {on}")
        }
        Err(e @ ReduceError::NoFinding { .. }) => bail!("{e}; {}", to_do(&args.case)),
        reduced => reduced.with_context(|| format!("{} is not reduced", args.case.display()))?,
    };
    let was_interrupted = interrupts.came() && !reduced.minimal;
    let names = names(&reduced, &out, &targets, user_inputs.large);
    if common.json {
        let mut all = serde_json::to_value(&reduced)?;
        (all["out"], all["signatures"]) = (json!(out), json!(names));
        screen::json(&all)?;
    } else {
        screen::told(&summary(&reduced, &names, was_interrupted, &out))?;
    }
    Ok(Exit::of(SearchEnd { has_found: false, was_interrupted }))
}

/// What to do where nothing is wrong.
fn to_do(case: &Path) -> &'static str {
    if case.is_dir() {
        "--on names the backend, and the level, on which it was wrong"
    } else {
        "the model comes without inputs, and some were found for it: --input NAME=FILE and --dim NAME=N give those on which it was \
         wrong, --seed N finds others; blame tells of an operator within that is wrong although the outputs are not"
    }
}

/// What a campaign, and `run`, calls what the result shows: with the attributes without which it is gone. Where they call it
/// nothing, as a case that shows only after others, the signature that was kept.
fn names(reduced: &Reduced, out: &Path, targets: &[Target], large: Large) -> Vec<String> {
    let targets: Vec<Target> = targets.iter().filter(|t| t.name() == reduced.target).cloned().collect();
    let how = Replay { given: UserInputs { large, ..UserInputs::default() }, ..Replay::on(&targets) };
    let shown = replay(&[out.to_owned()], &how, &|| {}).not_passing;
    let names: Vec<String> = shown.into_iter().flat_map(|case| case.signatures).collect();
    if names.is_empty() { vec![reduced.signature.clone()] } else { names }
}

/// `case-7-reduced` for `case-7`, and for `case-7.onnx`.
fn beside(case: &Path) -> PathBuf {
    let stem = if case.is_dir() { case.file_name() } else { case.file_stem() };
    let mut name = stem.unwrap_or("case".as_ref()).to_owned();
    name.push(SUFFIX);
    case.with_file_name(name)
}

fn summary(reduced: &Reduced, names: &[String], was_interrupted: bool, out: &Path) -> String {
    let end = match (reduced.minimal, was_interrupted) {
        (true, _) => "nothing makes it smaller",
        (false, true) => "a signal ended it",
        (false, false) => "the budget is used up",
    };
    let steady = if reduced.steady {
        ""
    } else {
        "it shows only in a process that has run other cases before, and so does the whole case\n"
    };
    format!(
        "{}\n    {}\n{} nodes → {}, {} elements → {}; {} tries in {:.1} s, {end}\n{steady}{}\n",
        names.join("\n"),
        reduced.detail,
        reduced.nodes_before,
        reduced.nodes_after,
        reduced.elements_before,
        reduced.elements_after,
        reduced.tries,
        reduced.seconds,
        shell::run(out, &reduced.on),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_keeps_its_bytes() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| PathBuf::from(OsStr::from_bytes(bytes));
        assert_eq!(beside(&path(b"in/m\xff.onnx")), path(b"in/m\xff-reduced"));
    }
}
