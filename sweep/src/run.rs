//! Running the parts of a sweep on all targets, in threads, and giving what came of them in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use harness::{Target, case, threads};
use ir::Tensor;
use oracles::Verdict;
use serde::{Deserialize, Serialize};
use triage::blame::Suspect;
use worker::{FaultKind, Outcome, Run, WorkerError};

use crate::judge::{self, Context};
use crate::plan::{Name, Part, Scope};
use crate::store;
use crate::tally::{Apart, Tally};
use crate::tier::{Obligation, Reference};
use crate::trial::{Trial, trial};

/// What came of a part: a line of the store.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartResult {
    /// The part.
    pub part: Name,
    /// Each target's answer, in their order; none where the part has nothing that is defined.
    pub answers: Vec<TargetAnswer>,
    /// How each two of them differ, the first with all others, then the second with those behind it.
    pub apart: Vec<Apart>,
    /// Of targets, by their number, whose process did not survive it, or was dead by then: how many faults there were of each kind. A
    /// fresh process has none of them, so that they are no answers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub late_faults: BTreeMap<usize, BTreeMap<FaultKind, u64>>,
}

impl PartResult {
    /// A part without anything yet.
    fn of(part: &Name) -> Self {
        Self { part: part.clone(), answers: Vec::new(), apart: Vec::new(), late_faults: BTreeMap::new() }
    }
}

/// A target's answer to a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetAnswer {
    /// Outputs, judged.
    Judged(Box<Tally>),
    /// The target says that it lacks something, or declares that it computes otherwise.
    Lacks(String),
    /// A crash, a refusal, or outputs of a wrong type.
    Failed(String),
}

/// Runs parts on as many threads as there are jobs, until all are run or `stop` is set, and hands over what came of each in
/// their order.
pub fn run(
    scope: &Scope,
    parts: &[Part],
    targets: &[Target],
    jobs: usize,
    stop: &AtomicBool,
    mut take: impl FnMut(PartResult) -> Result<(), store::Error>,
) -> Result<(), Error> {
    let obligations = Obligation::all(targets);
    let count = parts.len() as u64;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let work = |number: u64| ran(scope, &parts[number as usize], targets, &obligations);
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    threads::as_done(jobs, count, is_stopped, work, |number, ran| {
        waiting.insert(number, ran?);
        while let Some(ran) = waiting.remove(&next) {
            take(ran)?;
            next += 1;
        }
        Ok(())
    })
}

/// Why a sweep ends early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A target's process cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The store cannot be written.
    #[error("the results cannot be stored")]
    Store(#[from] store::Error),
}

fn ran(
    scope: &Scope,
    part: &Part,
    targets: &[Target],
    obligations: &[Obligation],
) -> Result<PartResult, WorkerError> {
    let Some(trial) = trial(scope, part, obligations) else {
        return Ok(PartResult::of(&part.name));
    };
    let mut outputs: Vec<Option<Vec<Tensor>>> = Vec::new();
    let mut result = PartResult::of(&part.name);
    for (number, target) in targets.iter().enumerate() {
        if let Some(why) = target.declines(&trial.model, &BTreeSet::new()) {
            result.answers.push(TargetAnswer::Lacks(why));
            outputs.push(None);
            continue;
        }
        let Run { outcome, late_faults, .. } = target.run(&trial.onnx, &trial.inputs, &trial.interface)?;
        for fault in late_faults {
            let faults = result.late_faults.entry(number).or_default();
            *faults.entry(fault.kind()).or_default() += 1;
        }
        let reference = reference(&trial, target);
        let (answer, tensors) = answer(&trial, &part.name, target, reference, &outcome)?;
        result.answers.push(answer);
        outputs.push(tensors);
    }
    let apart = pairs(targets.len()).map(|(i, j)| match (&outputs[i], &outputs[j]) {
        (Some(one), Some(other)) => judge::apart(reference(&trial, &targets[i]), one, other),
        _ => Apart::default(),
    });
    result.apart = apart.collect();
    Ok(result)
}

/// What is expected of a target.
///
/// # Panics
/// If the trial was not made for its obligation.
pub fn reference<'t>(trial: &'t Trial, target: &Target) -> &'t Reference {
    let obligation = Obligation::of(target);
    let found = trial.references.iter().find(|reference| reference.obligation == obligation);
    found.expect("there is a reference for the obligation of each target")
}

/// Each two of so many, in order.
pub fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// A target's answer, judged, and its outputs if they are comparable.
fn answer(
    trial: &Trial,
    part: &Name,
    target: &Target,
    reference: &Reference,
    outcome: &Outcome,
) -> Result<(TargetAnswer, Option<Vec<Tensor>>), WorkerError> {
    let tensors = match outcome {
        Outcome::Outputs(outputs) => of_types(reference, outputs),
        Outcome::Rejected { .. } | Outcome::Unsupported { .. } | Outcome::Fault(_) => None,
    };
    let Some(tensors) = tensors else { return Ok((verdict(trial, target, reference, outcome)?, None)) };
    let at = |element: usize| trial.columns.as_ref().map_or_else(String::new, |columns| columns.at(element));
    let arguments = trial.columns.as_ref().and_then(|columns| columns.arguments());
    let tally = judge::judge(reference, &tensors, &Context { part, at: &at, arguments });
    if tally.beyond_spec > 0
        && let declared @ TargetAnswer::Lacks(_) = verdict(trial, target, reference, outcome)?
    {
        return Ok((declared, None));
    }
    Ok((TargetAnswer::Judged(Box::new(tally)), Some(tensors)))
}

/// The outputs in the reference's order, if they have its types.
fn of_types(reference: &Reference, outputs: &[(String, Tensor)]) -> Option<Vec<Tensor>> {
    let expected = &reference.specified.evaluation.outputs;
    let are_alike = outputs.len() == expected.len()
        && outputs.iter().zip(expected).all(|((_, y), expected)| y.ty() == expected.tensor.ty());
    are_alike.then(|| outputs.iter().map(|(_, y)| y.clone()).collect())
}

/// The verdict of a campaign, for an outcome that is not compared element by element here, and for one that
/// is beyond the specification.
fn verdict(
    trial: &Trial,
    target: &Target,
    reference: &Reference,
    outcome: &Outcome,
) -> Result<TargetAnswer, WorkerError> {
    let inputs = case::tensors(&trial.inputs);
    let suspect = Suspect::new(&trial.model, &inputs, target.profile);
    Ok(match suspect.allowed(target, &BTreeSet::new(), outcome, &reference.specified)? {
        Verdict::Bug(finding) => TargetAnswer::Failed(finding.detail),
        Verdict::Incomparable(why) => TargetAnswer::Lacks(why.to_string()),
        Verdict::Pass => TargetAnswer::Failed("its outputs are not those that the model declares".to_owned()),
    })
}
