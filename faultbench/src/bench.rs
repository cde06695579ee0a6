//! Trying every fault on the same cases.
//!
//! A case is generated, evaluated under each profile and run on the right kernels once; only the faults that it
//! concerns, and that some judge has yet to find, run on it, once for all judges. Cases that do not concern it count
//! all the same: a fault is "found after 300 cases" if the 300th case of a campaign on default settings shows it. Where
//! a judge takes the right kernels for wrong, what it says of the faulty ones on that case says nothing and does not
//! count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use harness::{Maker, Target, case};
use triage::blame::blame;

use crate::engines::{Engine, NO_LEVEL};
use crate::fault::Fault;
use crate::judges::{FIRST, JUDGES, PROFILES};
use crate::kernels::target;
use crate::prepared::Prepared;
use crate::reduction::{self, Smallest};
use crate::sample::{Sample, on_all_threads};
use crate::unseen::{Accepted, Seen};

/// What came of all faults.
pub struct Results {
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) faults: Vec<FaultResult>,
    /// On how many cases each judge takes the right kernels for wrong.
    pub(crate) false_alarms: [u64; JUDGES],
}

/// What came of one fault.
pub(crate) struct FaultResult {
    pub(crate) fault: Fault,
    /// After how many cases each judge finds it.
    pub(crate) found_after: [Option<u64>; JUDGES],
    /// Which operator is blamed on the case on which the first judge finds it.
    pub(crate) culprit: Option<String>,
    /// How many of the cases have what the fault concerns: the operator, the pattern that is rewritten, or a run that it changes.
    pub(crate) concerned: u64,
    /// On how many of them a wrong answer was accepted under each profile.
    pub(crate) accepted: [Accepted; PROFILES.len()],
    /// The reduced case on which the first judge finds it, if cases are reduced.
    pub(crate) reduced: Option<Smallest>,
}

impl FaultResult {
    /// Whether the operator that is blamed is the one with the fault.
    pub(crate) fn is_named(&self) -> bool {
        self.culprit.is_some() && self.culprit.as_deref() == self.fault.operator()
    }

    /// Whether a judge is to find it: bounds not where their profile grants what it does.
    pub(crate) fn is_fault_to(&self, judge: usize) -> bool {
        PROFILES.get(judge).is_none_or(|profile| self.fault.is_fault_under(profile))
    }
}

impl Results {
    /// How many right answers profiles called wrong: each is a bug of ours.
    pub fn alarms_of_profiles(&self) -> u64 {
        self.false_alarms[..PROFILES.len()].iter().sum()
    }
}

/// A fault while it is tried, shared by the threads.
struct Trial {
    fault: Fault,
    /// The first case on which each judge finds it.
    first: [AtomicU64; JUDGES],
    concerned: AtomicU64,
    accepted: Mutex<[Accepted; PROFILES.len()]>,
}

/// No case.
const NEVER: u64 = u64::MAX;

impl Trial {
    fn new(fault: Fault) -> Self {
        let first = std::array::from_fn(|_| AtomicU64::new(NEVER));
        Self { fault, first, concerned: AtomicU64::new(0), accepted: Mutex::default() }
    }

    /// Whether a case can still tell something: threads reach cases out of order, and the first one counts.
    fn is_open(&self, index: u64) -> bool {
        self.first.iter().any(|first| index < first.load(Ordering::Relaxed))
    }

    /// Takes what the judges make of an answer to a case, but for those who take the right kernels for wrong there.
    fn take(&self, index: u64, wrong: [bool; JUDGES], right: [bool; JUDGES]) {
        for (judge, first) in self.first.iter().enumerate() {
            if wrong[judge] && !right[judge] {
                first.fetch_min(index, Ordering::Relaxed);
            }
        }
    }

    /// Counts what there was to be seen in an answer, under the profiles that accept it.
    fn count(&self, wrong: [bool; JUDGES], seen: [Seen; PROFILES.len()]) {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        for ((accepted, wrong), seen) in accepted.iter_mut().zip(wrong).zip(seen) {
            if !wrong {
                accepted.take(seen);
            }
        }
    }

    fn found_after(&self) -> [Option<u64>; JUDGES] {
        let after =
            |first: &AtomicU64| Some(first.load(Ordering::Relaxed)).filter(|&i| i != NEVER).map(|i| i + 1);
        std::array::from_fn(|judge| after(&self.first[judge]))
    }
}

/// Tries the faults on the cases of a sample.
pub fn run(sample: &Sample, faults: &[Fault]) -> Result<Results> {
    let maker = sample.maker();
    let trials: Vec<Trial> = faults.iter().map(|fault| Trial::new(*fault)).collect();
    let parts = on_all_threads(sample.cases, |indices| {
        let bench = Bench::new(&maker, &trials)?;
        let mut false_alarms = [0; JUDGES];
        for index in indices {
            let alarms = bench.case(index)?;
            false_alarms.iter_mut().zip(alarms).for_each(|(all, alarm)| *all += u64::from(alarm));
        }
        Ok(false_alarms)
    })?;
    let false_alarms = std::array::from_fn(|judge| parts.iter().map(|part| part[judge]).sum());
    let faults = trials.iter().map(|trial| tried(&maker, trial, sample)).collect::<Result<_>>()?;
    Ok(Results { seed: sample.seed, cases: sample.cases, faults, false_alarms })
}

/// What a thread works with.
struct Bench<'a> {
    maker: &'a Maker<'a>,
    right: Target,
    trials: Vec<(&'a Trial, Engine)>,
}

impl<'a> Bench<'a> {
    fn new(maker: &'a Maker<'a>, trials: &'a [Trial]) -> Result<Self> {
        let engines = trials.iter().map(|trial| Ok((trial, Engine::new(trial.fault)?)));
        let right = target(&[]).context(NO_LEVEL)?;
        Ok(Self { maker, right, trials: engines.collect::<Result<_>>()? })
    }

    /// Tries the faults on a case; which judges take the right kernels for wrong.
    fn case(&self, index: u64) -> Result<[bool; JUDGES]> {
        let prepared = Prepared::new(self.maker, index)?;
        let answer_of_right = prepared.answer(&self.right)?;
        let right = prepared.reference.ask(&answer_of_right);
        for (number, profile) in PROFILES.iter().enumerate() {
            if let Some(finding) = prepared.reference.finding(number, &answer_of_right) {
                let (name, signature) = (profile.name, finding.signature());
                eprintln!("false alarm on case {index} under {name}: {signature}: {}", finding.detail);
            }
        }
        for (trial, engine) in &self.trials {
            let is_concerned = if trial.is_open(index) {
                let answers = engine.answers(&prepared)?;
                for answer in answers.iter().flatten() {
                    let wrong = prepared.reference.ask(answer).alarms;
                    trial.take(index, wrong, right.alarms);
                    trial.count(wrong, prepared.reference.seen(answer, &answer_of_right));
                }
                answers.is_some()
            } else {
                engine.is_concerned(&prepared)
            };
            trial.concerned.fetch_add(u64::from(is_concerned), Ordering::Relaxed);
        }
        Ok(right.alarms)
    }
}

/// The result of a trial, with the culprit that is blamed on the case that shows the fault.
fn tried(maker: &Maker<'_>, trial: &Trial, sample: &Sample) -> Result<FaultResult> {
    let found_after = trial.found_after();
    let shown = match (found_after[FIRST], Engine::new(trial.fault)?.into_target()?) {
        (Some(after), Some(target)) => Some((after - 1, target)),
        _ => None,
    };
    let culprit = shown.as_ref().map(|(index, target)| culprit(maker, target, *index)).transpose()?;
    let reduce = |(index, target)| reduction::reduce(maker, target, trial.fault.name(), index);
    let reduced = shown.filter(|_| sample.reduce).map(reduce).transpose()?;
    let concerned = trial.concerned.load(Ordering::Relaxed);
    let accepted = *trial.accepted.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(FaultResult {
        fault: trial.fault,
        found_after,
        culprit: culprit.flatten(),
        concerned,
        accepted,
        reduced,
    })
}

fn culprit(maker: &Maker<'_>, faulty: &Target, index: u64) -> Result<Option<String>> {
    let prepared = Prepared::new(maker, index)?;
    let Some(finding) = prepared.opinion(faulty)?.finding else { return Ok(None) };
    let inputs = case::tensors(&prepared.case.inputs);
    let blamed = blame(faulty, &prepared.case.model, &inputs, &finding)?;
    Ok(blamed.culprit.map(|c| c.operator))
}

/// How many faults a judge finds, of how many that are faults to it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Share {
    pub(crate) found: usize,
    pub(crate) of: usize,
}

/// What each judge finds of some faults.
pub(crate) fn shares<'t>(faults: impl IntoIterator<Item = &'t FaultResult>) -> [Share; JUDGES] {
    let mut shares = [Share::default(); JUDGES];
    for tried in faults {
        for (judge, share) in shares.iter_mut().enumerate().filter(|(judge, _)| tried.is_fault_to(*judge)) {
            share.of += 1;
            share.found += usize::from(tried.found_after[judge].is_some());
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault;

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
        let results = run(&SMALL, &called(PLAIN)).unwrap();
        let missed: Vec<_> = results.faults.iter().filter(|t| !t.is_named()).collect();
        let missed: Vec<_> = missed.iter().map(|t| (t.fault.name(), t.found_after[0], &t.culprit)).collect();
        assert!(missed.is_empty(), "not found, or blamed on something else: {missed:?}");
        assert_eq!(results.false_alarms[..PROFILES.len()], [0; PROFILES.len()]);
    }

    fn called(names: &[&str]) -> Vec<Fault> {
        let faults: Vec<_> = fault::all().filter(|f| names.contains(&f.name())).collect();
        assert_eq!(faults.len(), names.len(), "some are not in the lists");
        faults
    }

    #[test]
    fn what_a_profile_grants_is_no_fault_under_it() {
        let results = run(&SMALL, &called(&["neg-subtracts-from-zero"])).unwrap();
        let shares = shares(&results.faults);
        assert_eq!(shares.map(|share| share.of), [1, 0, 0, 1, 1, 1]);
        assert_eq!(shares[..PROFILES.len()].iter().map(|share| share.found).collect::<Vec<_>>(), [1, 0, 0]);
    }

    #[test]
    fn wrong_rewritings_and_processes_are_found_under_every_profile() {
        let names = [
            "activation-is-fused-before-the-addition",
            "arithmetic-overwrites-its-first-operand",
            "constants-of-f32-are-kept-in-f16",
            "last-element-is-left-from-the-run-before",
            "outputs-of-one-type-share-a-buffer",
        ];
        let results = run(&Sample { cases: 300, ..SMALL }, &called(&names)).unwrap();
        for tried in &results.faults {
            let found = &tried.found_after[..PROFILES.len()];
            assert!(found.iter().all(Option::is_some), "{}: {found:?}", tried.fault.name());
            assert!(tried.concerned > 0 && !tried.is_named());
        }
    }
}
