//! Trying every fault on the same cases.
//!
//! A case is generated, evaluated and run on the right kernels once; only the faults whose operator it holds, and that
//! some judge has yet to find, run on it. Cases that lack the operator count all the same: a fault is "found after 300
//! cases" if the 300th case of a campaign on default settings shows it. Where a judge takes the right kernels for
//! wrong, what it says of the faulty ones on that case says nothing and does not count.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result};
use graphgen::Settings;
use harness::{Case, Maker, Target, case};
use interp::{Bounded, Profile, Taps};
use ir::Interface;
use triage::blame::blame;

use crate::PlantedFault;
use crate::judges::{JUDGES, Opinion, ask};
use crate::kernels::target;
use crate::reduction::{self, Smallest};

/// Which cases the faults are tried on.
pub struct Sample {
    /// The seed of the cases.
    pub seed: u64,
    /// How many cases each fault may take to be found.
    pub cases: u64,
    /// The number of operators in a graph.
    pub nodes: usize,
    /// The most elements of a tensor; `None` for the default.
    pub max_elements: Option<i64>,
    /// Whether the cases on which faults are found are reduced.
    pub reduce: bool,
}

/// What came of all faults.
pub struct Results {
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) faults: Vec<Tried>,
    /// On how many cases each judge takes the right kernels for wrong.
    pub(crate) false_alarms: [u64; JUDGES],
}

/// What came of one fault.
pub(crate) struct Tried {
    pub(crate) fault: &'static PlantedFault,
    /// After how many cases each judge finds it.
    pub(crate) found_after: [Option<u64>; JUDGES],
    /// Which operator is blamed on the case on which the bounds find it.
    pub(crate) culprit: Option<String>,
    /// How many of the cases hold the operator.
    pub(crate) cases_with_operator: u64,
    /// What became of the case on which the bounds find it, if that was to be reduced.
    pub(crate) reduced: Option<Smallest>,
}

impl Tried {
    /// Whether the operator that is blamed is the one with the fault.
    pub(crate) fn is_named(&self) -> bool {
        self.culprit.as_deref() == Some(self.fault.operator)
    }
}

/// A fault while it is tried, shared by the threads.
struct Trial {
    fault: &'static PlantedFault,
    /// The first case on which each judge finds it.
    first: [AtomicU64; JUDGES],
    cases_with_operator: AtomicU64,
}

/// No case.
const NEVER: u64 = u64::MAX;

impl Trial {
    fn new(fault: &'static PlantedFault) -> Self {
        let first = std::array::from_fn(|_| AtomicU64::new(NEVER));
        Self { fault, first, cases_with_operator: AtomicU64::new(0) }
    }

    /// Whether a case can still tell something: threads reach cases out of order, and the first one counts.
    fn is_open(&self, index: u64) -> bool {
        self.first.iter().any(|first| index < first.load(Ordering::Relaxed))
    }

    fn found_after(&self) -> [Option<u64>; JUDGES] {
        let after =
            |first: &AtomicU64| Some(first.load(Ordering::Relaxed)).filter(|&i| i != NEVER).map(|i| i + 1);
        std::array::from_fn(|judge| after(&self.first[judge]))
    }
}

/// A case with what is expected of an engine on it.
struct Prepared {
    case: Case,
    names: Vec<String>,
    reference: Vec<Bounded>,
}

impl Prepared {
    fn new(maker: &Maker<'_>, index: u64) -> Result<Self> {
        let case = maker.make(index)?;
        let inputs = case::tensors(&case.inputs);
        let evaluation = interp::evaluate(&case.model, &inputs, &Profile::TIGHT, Taps::Outputs)
            .with_context(|| format!("case {index} has no reference"))?;
        let names = case::outputs(&case.model).into_iter().map(|(name, _)| name).collect();
        Ok(Self { case, names, reference: evaluation.outputs })
    }

    fn opinion(&self, target: &Target) -> Result<Opinion> {
        let ran = target.run(&self.case.onnx, &self.case.inputs, &Interface::of(&self.case.model))?;
        Ok(ask(target, &self.case, &self.names, &self.reference, &ran.outcome))
    }
}

/// Tries the faults on the cases of a sample.
pub fn run(sample: &Sample, faults: &[&'static PlantedFault]) -> Result<Results> {
    let maker = maker(sample);
    let trials: Vec<Trial> = faults.iter().map(|fault| Trial::new(fault)).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let next = AtomicU64::new(0);
    let work = || -> Result<[u64; JUDGES]> {
        let bench = Bench::new(&maker, &trials)?;
        let mut false_alarms = [0; JUDGES];
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= sample.cases {
                return Ok(false_alarms);
            }
            let alarms = bench.case(index)?;
            false_alarms.iter_mut().zip(alarms).for_each(|(all, alarm)| *all += u64::from(alarm));
        }
    };
    let parts: Vec<[u64; JUDGES]> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = running.into_iter().map(|thread| thread.join().ok().context("a thread panicked")?);
        done.collect::<Result<_>>()
    })?;
    let false_alarms = std::array::from_fn(|judge| parts.iter().map(|part| part[judge]).sum());
    let faults = trials.iter().map(|trial| tried(&maker, trial, sample.reduce)).collect::<Result<_>>()?;
    Ok(Results { seed: sample.seed, cases: sample.cases, faults, false_alarms })
}

/// The default settings of a campaign, in every opset.
fn maker(sample: &Sample) -> Maker<'static> {
    let default = Settings::default();
    let settings = Settings {
        opset: *ir::graph::OPSETS.end(),
        nodes: sample.nodes,
        max_elements: sample.max_elements.unwrap_or(default.max_elements),
        ..default
    };
    Maker::new(sample.seed, settings)
}

/// What a thread works with.
struct Bench<'a> {
    maker: &'a Maker<'a>,
    right: Target,
    trials: Vec<(&'a Trial, Target)>,
}

impl<'a> Bench<'a> {
    fn new(maker: &'a Maker<'a>, trials: &'a [Trial]) -> Result<Self> {
        let open = |faults: &[_]| target(faults).context("the kernels have no optimisation level");
        let trials = trials.iter().map(|trial| Ok((trial, open(&[trial.fault])?)));
        Ok(Self { maker, right: open(&[])?, trials: trials.collect::<Result<_>>()? })
    }

    /// Tries the faults on a case; which judges take the right kernels for wrong.
    fn case(&self, index: u64) -> Result<[bool; JUDGES]> {
        let prepared = Prepared::new(self.maker, index)?;
        let right = prepared.opinion(&self.right)?;
        if let Some(finding) = &right.finding {
            eprintln!("false alarm on case {index}: {}: {}", finding.signature(), finding.detail);
        }
        let operators: BTreeSet<&str> = case::operators(&prepared.case.model).map(|(name, _)| name).collect();
        for (trial, faulty) in &self.trials {
            if !operators.contains(trial.fault.operator) {
                continue;
            }
            trial.cases_with_operator.fetch_add(1, Ordering::Relaxed);
            if !trial.is_open(index) {
                continue;
            }
            let wrong = prepared.opinion(faulty)?;
            for (judge, first) in trial.first.iter().enumerate() {
                if wrong.alarms[judge] && !right.alarms[judge] {
                    first.fetch_min(index, Ordering::Relaxed);
                }
            }
        }
        Ok(right.alarms)
    }
}

/// The result of a trial, with the culprit that is blamed on the case that shows the fault.
fn tried(maker: &Maker<'_>, trial: &Trial, reduce: bool) -> Result<Tried> {
    let found_after = trial.found_after();
    let culprit = match found_after[0] {
        Some(after) => culprit(maker, trial.fault, after - 1)?,
        None => None,
    };
    let case = found_after[0].map(|after| after - 1).filter(|_| reduce);
    let reduced = case.map(|index| reduction::reduce(maker, trial.fault, index)).transpose()?;
    let cases_with_operator = trial.cases_with_operator.load(Ordering::Relaxed);
    Ok(Tried { fault: trial.fault, found_after, culprit, cases_with_operator, reduced })
}

fn culprit(maker: &Maker<'_>, fault: &'static PlantedFault, index: u64) -> Result<Option<String>> {
    let prepared = Prepared::new(maker, index)?;
    let faulty = target(&[fault]).context("the kernels have no optimisation level")?;
    let Some(finding) = prepared.opinion(&faulty)?.finding else { return Ok(None) };
    let inputs = case::tensors(&prepared.case.inputs);
    let blamed = blame(&faulty, &prepared.case.model, &inputs, &finding)?;
    Ok(blamed.culprit.map(|c| c.operator))
}

/// How many faults each judge finds.
pub(crate) fn found(faults: &[Tried]) -> [usize; JUDGES] {
    std::array::from_fn(|judge| faults.iter().filter(|t| t.found_after[judge].is_some()).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    /// Small graphs of small tensors have every shape class that large ones have, and cost less.
    const SMALL: Sample = Sample { seed: 0, cases: 700, nodes: 10, max_elements: Some(256), reduce: false };

    /// Some of every family, none of which takes long to find.
    const PLAIN: &[&str] = &[
        "floor-truncates",
        "round-halves-away",
        "tanh-too-coarse",
        "sqrt-by-estimate",
        "erf-with-three-terms",
        "add-repeats-the-first-row",
        "sub-exchanges-what-broadcasts",
        "div-of-integers-floors",
        "div-by-a-short-reciprocal",
        "fmod-has-the-sign-of-the-divisor",
        "pow-by-a-short-logarithm",
        "less-holds-for-equals",
        "where-exchanges-its-choices",
        "clip-takes-min-last",
        "cast-rounds-to-nearest",
        "transpose-copies",
        "expand-fills-the-first-copy",
        "concat-reverses-its-operands",
        "slice-backward-is-off-by-one",
        "pad-reflect-repeats-the-edge",
        "gather-does-not-wrap-negative-indices",
        "one-hot-exchanges-its-values",
        "trilu-leaves-the-diagonal-out",
        "matmul-drops-the-tail",
        "matmul-in-bf16",
        "matmul-of-f64-in-f32",
        "gemm-scales-the-addend",
        "reduce-sum-drops-the-last-element",
        "reduce-max-starts-at-zero",
        "arg-max-takes-the-last-of-equals",
        "cum-sum-ignores-exclusive",
        "top-k-takes-the-last-of-equals",
        "conv-ignores-dilations",
        "conv-in-tf32",
        "max-pool-exchanges-its-pads",
        "average-pool-does-not-count-padding",
        "batch-norm-exchanges-mean-and-variance",
        "layer-norm-forgets-epsilon",
        "lrn-leans-to-the-front",
        "softmax-takes-the-next-axis",
    ];

    #[test]
    fn plain_faults_are_found_and_named_and_right_kernels_are_clean() {
        let faults: Vec<_> = catalogue::all().filter(|f| PLAIN.contains(&f.name)).collect();
        assert_eq!(faults.len(), PLAIN.len(), "some are not in the catalogue");
        let results = run(&SMALL, &faults).unwrap();
        let missed: Vec<_> = results.faults.iter().filter(|t| !t.is_named()).collect();
        let missed: Vec<_> = missed.iter().map(|t| (t.fault.name, t.found_after[0], &t.culprit)).collect();
        assert!(missed.is_empty(), "not found, or blamed on something else: {missed:?}");
        assert_eq!(results.false_alarms[0], 0);
    }
}
