//! The worst inputs of a sweep as case folders, which `run` replays.

use std::path::Path;

use harness::Target;
use harness::evaluated::Evaluated;
use oracles::{Finding, Verdict};
use triage::folder::Saved;

use crate::element::elements;
use crate::plan::{Name, Part, Scope};
use crate::rows::{Row, Rows};
use crate::run::reference;
use crate::store::name;
use crate::tally::{Standing, Worst};
use crate::tier::Obligation;
use crate::trial::{Trial, of_columns, trial};

/// The folder of cases in a sweep's.
pub const CASES: &str = "cases";

/// Why the worst inputs are not saved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A target cannot be started.
    #[error(transparent)]
    Worker(#[from] worker::WorkerError),
    /// A case cannot be written.
    #[error(transparent)]
    Write(#[from] onnx::Error),
}

/// Saves the worst element of each row that has one beyond the tight tier, and the first part of those that failed in a way. An
/// operator that works element by element is saved with that element alone, if that shows it. Gives how many there are; `done` is
/// told of each row.
pub fn save(
    folder: &Path,
    scope: &Scope,
    parts: &[Part],
    targets: &[Target],
    rows: &Rows,
    mut done: impl FnMut(),
) -> Result<usize, Error> {
    let mut saved = 0;
    // Those of the sweep: which rows a part has goes by all of them.
    let obligations = Obligation::all(targets);
    for row in &rows.rows {
        done();
        let Some(target) = targets.iter().find(|target| name(target) == row.backend) else { continue };
        for (name, cause) in causes(row) {
            let Some((case, findings)) = case(scope, parts, &obligations, target, &cause)? else { continue };
            write(&folder.join(CASES).join(name), scope, &case, target, &findings)?;
            saved += 1;
        }
    }
    Ok(saved)
}

/// The name of the case of a row's worst element.
pub fn file_name(row: &Row) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    format!("{}-{}-{}", row.backend, row.op, row.dtype).chars().map(plain).collect()
}

/// The names of a row's cases: of its worst element, where that is beyond the tight tier, then of each way to fail, in their order.
pub fn names(row: &Row) -> Vec<String> {
    causes(row).into_iter().map(|(name, _)| name).collect()
}

/// What is worth saving of a row.
enum Cause<'r> {
    Worst(&'r Worst),
    Failed(&'r Name),
}

/// All that is worth saving of a row, each with the name of its case.
fn causes(row: &Row) -> Vec<(String, Cause<'_>)> {
    let worst = row.total.worst.as_ref().filter(|worst| worst.standing != Standing::Tight);
    let worst = worst.map(|worst| (file_name(row), Cause::Worst(worst)));
    let failed = row.failed.values().zip(1..).map(|(failed, number)| {
        (format!("{}-failed-{number}", file_name(row)), Cause::Failed(&failed.first))
    });
    worst.into_iter().chain(failed).collect()
}

fn case(
    scope: &Scope,
    parts: &[Part],
    obligations: &[Obligation],
    target: &Target,
    cause: &Cause<'_>,
) -> Result<Option<(Trial, Vec<Finding>)>, Error> {
    let wanted = match cause {
        Cause::Worst(worst) => &worst.part,
        Cause::Failed(name) => name,
    };
    let Some(part) = parts.iter().find(|part| part.name == *wanted) else { return Ok(None) };
    let Some(whole) = trial(scope, part, obligations) else { return Ok(None) };
    if let (Cause::Worst(worst), Some(columns)) = (cause, &whole.columns)
        && let Some(one) = of_columns(scope.opset, columns.only(&[worst.element]), &[Obligation::of(target)])
        && let Some(findings) = shows(&one, target, worst)?
    {
        return Ok(Some((one, findings)));
    }
    let findings = findings(&whole, target)?;
    Ok(Some((whole, findings)))
}

/// What is found of a single element, if the backend still has what it had among others.
fn shows(one: &Trial, target: &Target, worst: &Worst) -> Result<Option<Vec<Finding>>, Error> {
    let outcome = target.run(&one.onnx, &one.inputs, &one.interface)?.outcome;
    let worker::Outcome::Outputs(outputs) = &outcome else { return Ok(None) };
    let Some((_, y)) = outputs.get(worst.output) else { return Ok(None) };
    let text = elements(y).first().map(|found| found.text(y.dtype()));
    Ok(if text.as_ref() == Some(&worst.actual) { Some(judged(one, target, &outcome)) } else { None })
}

fn findings(trial: &Trial, target: &Target) -> Result<Vec<Finding>, Error> {
    let outcome = target.run(&trial.onnx, &trial.inputs, &trial.interface)?.outcome;
    Ok(judged(trial, target, &outcome))
}

/// What a campaign would find.
fn judged(trial: &Trial, target: &Target, outcome: &worker::Outcome) -> Vec<Finding> {
    match target.judge(outcome, &reference(trial, target).specified.expected()) {
        Verdict::Bug(finding) => vec![*finding],
        Verdict::Pass | Verdict::Incomparable(_) => Vec::new(),
    }
}

fn write(
    path: &Path,
    scope: &Scope,
    trial: &Trial,
    target: &Target,
    findings: &[Finding],
) -> Result<(), onnx::Error> {
    let Evaluated { names, evaluation, profile } = &reference(trial, target).specified;
    let saved = Saved {
        seed: Some(scope.seed),
        index: None,
        onnx: &trial.onnx,
        footprint: None,
        inputs: &trial.inputs,
        interface: trial.interface.clone(),
        names: names.clone(),
        profile,
        outputs: &evaluation.outputs,
        findings,
        relaxed: None,
        rewritten: None,
    };
    saved.write(path)
}
