//! What a finding is called: what is left of its case when that is reduced.
//!
//! A name is a pure function of the case, the target and the version of this program. Budgets are counts, and nothing that
//! was found before has a part in it: threads, continued campaigns, parts of campaigns and `onnxsmith run` agree. Where a stop
//! cuts a reduction there is no name. (What hangs is told by the clock, as everywhere; what has hung at one level of an engine is
//! taken to hang at the others of that case.)
//!
//! What is kept is the kind of symptom, not the signature: that would be the name already. So that a smaller case does not end
//! at another bug, no operator that is left may show that kind alone. An operator is asked once, by its content: cutting a
//! graph leaves the operands of the rest as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ir::NodeId;
use oracles::{Core, Finding, Symptom, Verdict, Why};
use worker::{FaultKind, WorkerError};

use super::core::core;
use super::driver::{Budget, Descent, Driver, Stop};
use super::interest::{Inquiry, Interesting, ProblemRun, Shown, Tame, run};
use super::key::{Key, key};
use super::passes::{COMPOSITE_TIERS, GRAPH_TIERS, OPERATOR_TIERS};
use super::problem::Problem;
use super::size::{Measure, Order, Size};
use crate::blame::{Accused, Alone, Blamed, Suspect, Whole};
use crate::oracle::AskError;
use crate::symptom_match::same_kind;
use harness::case::tensors;
use harness::isolate::Isolated;
use harness::reference::Large;
use harness::target::Target;
use harness::trial::Trial;

/// Where a reduction starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// At an operator that fails alone: only its attributes are reduced.
    Operator,
    /// At a graph of which no operator fails alone in this way.
    Graph,
}

/// How many candidates are run for an operator.
const OPERATOR_TRIES: u64 = 16;

/// How many for a graph.
const GRAPH_TRIES: u64 = 200;

/// How many candidates are run where each may take all the time, or all the memory, that is allowed.
const COSTLY_TRIES: u64 = 8;

impl Start {
    pub(crate) fn tries(self, symptom: &Symptom) -> u64 {
        match (symptom, self) {
            (Symptom::Fault { kind: FaultKind::Memory | FaultKind::Timeout, .. }, _) => COSTLY_TRIES,
            (_, Self::Operator) => OPERATOR_TRIES,
            (_, Self::Graph) => GRAPH_TRIES,
        }
    }

    fn descent(self) -> Descent {
        match self {
            Self::Operator => {
                let tiers = |problem: &Problem| match problem.program {
                    Some(_) => COMPOSITE_TIERS,
                    None => OPERATOR_TIERS,
                };
                Descent { tiers, order: PLAINER }
            }
            Self::Graph => Descent { tiers: |_| GRAPH_TIERS, order: PLAINER },
        }
    }
}

/// What is plainer: what a name tells comes before the number of elements, which may grow when an attribute
/// is dropped.
const PLAINER: &Order = &[
    Measure::Nodes,
    Measure::Attributes,
    Measure::Elements,
    Measure::Forms,
    Measure::Outputs,
    Measure::Distinct,
    Measure::Bits,
    Measure::Bytes,
];

/// What a finding is called, and the case that shows it.
pub(crate) struct Named {
    pub(crate) core: Core,
    /// What the problem showed before it was reduced.
    pub(crate) first: Finding,
    pub(crate) shown: Shown,
    /// How many candidates were run.
    pub(crate) tries: u64,
    /// Whether a process that has run nothing else has shown what is left.
    pub(crate) is_steady: bool,
}

/// What a problem's finding on a target is called. `None` where it has none by itself, where an operator of a graph fails
/// alone in the same way, or where what hung with little time does not with all of it.
pub(crate) fn name(
    target: &Target,
    problem: &Problem,
    start: Start,
    stop: Stop<'_>,
) -> Result<Option<Named>, AskError> {
    let kin = Kin { target, start, wanted: None, memory: Mutex::default() };
    let ProblemRun::Shown(first, tame) = kin.run(problem)? else { return Ok(None) };
    let wanted = Some((first.finding.symptom.clone(), tame));
    let is_hang = first.finding.symptom.is_hang();
    let hurry = target.hurry().cloned().unwrap_or_default();
    let hurried = target.in_a_hurry(&hurry);
    let kin = Kin { wanted: wanted.clone(), target: &hurried, ..kin };
    let tries = start.tries(&first.finding.symptom);
    let budget = Budget { time: Duration::MAX, tries, jobs: 1 };
    let finding = first.finding.clone();
    let mut keep = |_: &Shown, _: Size| Ok(());
    let mut driver = Driver::new(start.descent(), &kin, *first, budget, stop, &mut keep);
    driver.run()?;
    if stop() {
        return Err(AskError::Stopped);
    }
    let (shown, tries) = (Arc::unwrap_or_clone(driver.best), driver.tries);
    let is_steady = is_hang && !hurry.is_first_look();
    if is_steady {
        let afresh = Kin { target: &target.afresh(&hurry), start, wanted, memory: Mutex::default() };
        if afresh.of(&shown.problem)?.is_none() {
            return Ok(None);
        }
    }
    let core = core(&shown.problem, shown.finding.symptom.clone());
    Ok(core.map(|core| Named { core, first: finding, shown, tries, is_steady }))
}

/// The interest in the same kind of symptom.
struct Kin<'t> {
    target: &'t Target,
    start: Start,
    /// The symptom, and how tame the case was that showed it; `None` for that case itself.
    wanted: Option<(Symptom, Tame)>,
    /// What operators show alone, by content.
    memory: Mutex<HashMap<Key, Option<Symptom>>>,
}

impl Interesting for Kin<'_> {
    fn of(&self, problem: &Problem) -> Result<Option<Shown>, WorkerError> {
        Ok(match self.run(problem)? {
            ProblemRun::Shown(shown, _) => Some(*shown),
            ProblemRun::Nothing(_) => None,
        })
    }
}

impl Kin<'_> {
    fn run(&self, problem: &Problem) -> Result<ProblemRun, WorkerError> {
        let is_worth_it = |tame: Tame, finding: &Finding| {
            let is_kin = |(symptom, was): &(Symptom, Tame)| {
                tame.at_least(*was) && same_kind(&finding.symptom, symptom)
            };
            self.wanted.as_ref().is_none_or(is_kin)
        };
        let accuse =
            |suspect: &Suspect<'_>, tame: Tame, finding: Box<Finding>| self.accuse(suspect, tame, finding);
        run(
            self.target,
            problem,
            &Inquiry { is_worth_it: &is_worth_it, accuse: &accuse, large: Large::Refused },
        )
    }

    fn accuse(
        &self,
        suspect: &Suspect<'_>,
        tame: Tame,
        finding: Box<Finding>,
    ) -> Result<(Verdict, Option<Alone>), WorkerError> {
        let whole = suspect.whole(self.target);
        let operators: Vec<NodeId> = whole.iter().flat_map(Whole::operators).collect();
        let blamed = match (self.start, suspect.isolated()) {
            (Start::Operator, _) => {
                Blamed { node: operators.last().copied(), refuses_alone: true, ..Blamed::default() }
            }
            (Start::Graph, None) => Blamed::default(),
            (Start::Graph, Some(isolated)) => {
                let symptoms = self.alone(isolated, &operators)?;
                if symptoms.iter().any(|symptom| same_kind(symptom, &finding.symptom)) {
                    let why = Why::Undecided("an operator does so alone".to_owned());
                    return Ok((Verdict::Incomparable(why), None));
                }
                let refuses_alone = symptoms.iter().any(|s| matches!(s, Symptom::Rejected { .. }));
                Blamed { refuses_alone, ..Blamed::default() }
            }
        };
        let Accused { verdict, .. } = suspect.convict(blamed, tame.defined, finding);
        Ok((verdict, None))
    }

    /// What operators show alone.
    fn alone(&self, isolated: &Isolated, operators: &[NodeId]) -> Result<Vec<Symptom>, WorkerError> {
        let mut symptoms = Vec::new();
        for trial in operators.iter().filter_map(|&id| isolated.alone(id)) {
            symptoms.extend(self.shows(trial)?);
        }
        Ok(symptoms)
    }

    fn shows(&self, trial: &Trial) -> Result<Option<Symptom>, WorkerError> {
        let content = key(&Problem::flat(trial.model.clone(), tensors(&trial.inputs)));
        let lock = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&content) {
            return Ok(known.clone());
        }
        let symptom = trial.run(self.target)?.map(|(finding, _)| finding.symptom);
        lock().insert(content, symptom.clone());
        Ok(symptom)
    }
}
