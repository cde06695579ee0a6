//! `onnxsmith reduce`

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::bail;
use present::shell;
use serde_json::json;
use triage::reduce::{Budget, Reduced, Reduction, reduce};
use worker::Limits;

use super::{interrupts_with, jobs, targets, writable};
use crate::args::{Common, Reduce};
use crate::screen;
use campaign::Exit;

/// Looks for the smallest case that shows the same finding.
pub(crate) fn run(common: Common, args: &Reduce) -> anyhow::Result<Exit> {
    let out = args.out.clone().unwrap_or_else(|| beside(&args.case));
    if out.exists() && !out.join("model.onnx").is_file() {
        bail!(
            "{} exists and is not a case folder; --out takes a new folder, or a case to replace",
            out.display()
        );
    }
    writable(out.parent().filter(|parent| !parent.as_os_str().is_empty()), None)?;
    let limits = Limits { timeout: args.timeout, ..Limits::default() };
    let targets = targets(&args.on, &limits)?;
    let tries = args.tries.unwrap_or(u64::MAX);
    let budget = Budget { time: args.budget, tries, jobs: jobs(args.jobs) };
    let stop = interrupts_with("the smallest case so far is stored")?;
    let reduction = Reduction { targets: &targets, seed: common.seed, budget, stop: &stop };
    let bar = screen::progress(common, None, "reducing");
    let reduced = reduce(&args.case, &out, &reduction, &mut |size| {
        bar.inc(1);
        bar.set_message(format!("{} nodes, {} elements", size.nodes, size.elements));
    });
    bar.finish_and_clear();
    let reduced = reduced?;
    let was_interrupted = stop.load(Ordering::Relaxed) && !reduced.minimal;
    if common.json {
        let mut all = serde_json::to_value(&reduced)?;
        all["out"] = json!(out);
        screen::json(&all)?;
    } else {
        screen::text(&summary(&reduced, was_interrupted, &out))?;
    }
    Ok(Exit::of(false, was_interrupted))
}

/// `case-7-reduced` for `case-7`, and for `case-7.onnx`.
fn beside(case: &Path) -> PathBuf {
    let stem = if case.is_dir() { case.file_name() } else { case.file_stem() };
    let name = stem.map_or_else(|| "case".into(), |name| name.to_string_lossy().into_owned());
    case.with_file_name(format!("{name}-reduced"))
}

fn summary(reduced: &Reduced, was_interrupted: bool, out: &Path) -> String {
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
        reduced.signature,
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
