//! Finds what else is wrong on a case, behind the first finding.
//!
//! The first operator that fails must not hide the others. So each operator runs alone, and each that fails is a
//! finding by itself. Then these are cut out, all at once: the reference's values replace their results, and their
//! operands become outputs. The rest is judged again. What shows only then is a finding of its own, *after* those that
//! were cut. This is repeated for a few rounds.
//!
//! A cut also separates operators that an optimiser would have joined. So it proves nothing that nothing is left.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ir::{NodeId, NodeKind, Operation, Tensor, Value};
use ops::Graph;
use oracles::{Finding, Symptom, Verdict};
use worker::WorkerError;

use crate::allowance::Exam;
use crate::blame::{Accused, Alone, Blamed, Suspect, Whole};
use crate::oracle::AskError;
use crate::reduce::{Inquiry, Named, Problem, ProblemRun, Start, Stop, Tame, cut_out, name, run};
use crate::smaller::Smaller;
use crate::symptom_match::same_kind;
use harness::reference::Large;
use harness::target::Target;

/// How often the rest is judged again.
const ROUNDS: usize = 3;

/// A finding with its name.
#[derive(Clone, Debug)]
pub struct NamedFinding {
    /// The finding.
    pub finding: Finding,
    /// The case that it was reduced to.
    pub smaller: Option<Smaller>,
    /// How many candidates it took to find that.
    pub tries: u64,
}

impl NamedFinding {
    /// A finding under the name that its whole case gives it. Its smaller case is the culprit alone, if the
    /// culprit fails alone.
    fn unreduced(finding: Finding, alone: Option<Alone>) -> Self {
        let smaller = alone.map(|alone| alone.smaller(&finding));
        Self { finding, smaller, tries: 0 }
    }

    /// The finding under the name of its reduced case.
    fn named(finding: Finding, named: Named) -> Self {
        let Named { core, shown, tries, is_steady, .. } = named;
        let finding = Finding { core: Some(core.clone()), ..finding };
        let Finding { check, culprit, hidden_by_taps, after, .. } = finding.clone();
        let reduced = Finding { check, culprit, hidden_by_taps, after, core: Some(core), ..shown.finding };
        let smaller = Smaller { problem: shown.problem, finding: reduced, is_steady };
        Self { finding, smaller: Some(smaller), tries }
    }
}

/// Reduces a finding of a target and names it after what is left. The culprit alone is reduced if it fails
/// alone, otherwise the whole case. A finding that cannot be reduced keeps its name, and so does one that
/// only follows from a wrong type.
pub(crate) fn named(
    target: &Target,
    finding: Finding,
    alone: Option<Alone>,
    whole: Option<&Problem>,
    stop: Stop<'_>,
) -> Result<NamedFinding, AskError> {
    let named = match (&alone, whole) {
        _ if finding.is_consequence() => None,
        (Some(alone), _) => name(target, &alone.problem, Start::Operator, stop)?,
        (None, Some(whole)) => name(target, whole, Start::Graph, stop)?,
        (None, None) => None,
    };
    Ok(match named {
        Some(named) => NamedFinding::named(finding, named),
        // The operator alone hung with little time, but not with all of it.
        None if alone.is_some() && finding.symptom.is_hang() => {
            NamedFinding::unreduced(Finding { culprit: None, ..finding }, None)
        }
        None => NamedFinding::unreduced(finding, alone),
    })
}

/// The first level of a target's engine that shows a finding; `None` if that is the unoptimised level.
pub(crate) fn optimising_level(target: &Target, found: &NamedFinding) -> Result<Option<String>, WorkerError> {
    let Some(Smaller { problem, finding, .. }) = &found.smaller else { return Ok(None) };
    for (number, level) in target.below().into_iter().chain([target.clone()]).enumerate() {
        let rest = judged(&level, problem)?;
        if rest.is_some_and(|rest| same_kind(&rest.finding.symptom, &finding.symptom)) {
            return Ok((number > 0).then(|| level.level.clone()));
        }
    }
    Ok(None)
}

/// What shows when others are cut out.
pub(crate) struct Rest {
    pub(crate) finding: Finding,
    problem: Problem,
    values: BTreeMap<Value, Tensor>,
    /// The first operator to diverge.
    node: Option<NodeId>,
}

/// A verdict, and if it is a bug all that is wrong behind it.
pub enum Peeled {
    /// Nothing is found.
    Nothing(Verdict),
    /// The first finding; then the findings of other operators alone, and those that show when these operators are cut
    /// out.
    Found(Box<NamedFinding>, Vec<NamedFinding>),
}

impl Suspect<'_> {
    /// All that a target does wrong on the case, each under its name. `all_defined`
    /// says whether value search found values on which everything is defined.
    pub fn peel(
        &self,
        target: &Target,
        all_defined: bool,
        exam: &Exam<'_>,
        stop: Stop<'_>,
    ) -> Result<Peeled, AskError> {
        let target = &target.in_a_hurry(&self.hurry);
        let Accused { verdict, alone, node } = self.concluded(target, all_defined, exam)?;
        let Verdict::Bug(finding) = verdict else { return Ok(Peeled::Nothing(verdict)) };
        let is_told = finding.is_consequence();
        let flat = self.flat(target, &finding)?;
        let first = named(target, *finding, alone, flat.as_ref(), stop)?;
        let Some(whole) = self.whole(target) else { return Ok(Peeled::Found(Box::new(first), Vec::new())) };
        let (mut all, mut cut) = (Vec::new(), BTreeSet::new());
        for id in whole.operators() {
            if whole.shows_alone(id)?.is_none() {
                continue;
            }
            cut.insert(id);
            if node != Some(id) || is_told {
                all.extend(alone_found(&whole, id, stop)?);
            }
        }
        // A first finding without a name gets one when the others are out of the way.
        cut.extend(node.filter(|_| !is_unnamed(&first)));
        all.extend(behind(&whole, cut, stop)?);
        Ok(merged(first, all))
    }
}

/// The finding of an operator alone, unless it is allowed.
pub(crate) fn alone_found(
    whole: &Whole<'_>,
    id: NodeId,
    stop: Stop<'_>,
) -> Result<Option<NamedFinding>, AskError> {
    let Some(trial) = whole.isolated.alone(id) else { return Ok(None) };
    let problem = Problem::flat(trial.model.clone(), trial.tensors());
    let Some(named) = name(whole.target, &problem, Start::Operator, stop)? else { return Ok(None) };
    let mut finding = named.first.clone();
    finding.culprit = whole.alone(id).culprit;
    Ok(Some(NamedFinding::named(finding, named)))
}

/// The findings that show when operators are cut out, and then when the first operator to diverge is cut out too.
fn behind(
    whole: &Whole<'_>,
    mut cut: BTreeSet<NodeId>,
    stop: Stop<'_>,
) -> Result<Vec<NamedFinding>, AskError> {
    let isolated = whole.isolated;
    let mut problem = Problem::flat(isolated.flat.clone(), isolated.inputs.clone());
    let mut values: BTreeMap<Value, Tensor> =
        isolated.evaluation.taps.iter().map(|(value, known)| (*value, known.tensor.clone())).collect();
    let (mut all, mut after) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let nodes: Vec<NodeId> = cut.iter().copied().collect();
        if nodes.is_empty() {
            break;
        }
        for name in names(&problem.model.graph, &nodes) {
            if !after.contains(&name) {
                after.push(name);
            }
        }
        let Some(rest) = cut_out(&problem, &nodes, &values) else { break };
        let Some(rest) = judged(whole.target, &rest)? else { break };
        let finding = Finding { after: after.clone(), ..rest.finding };
        all.push(named(whole.target, finding, None, Some(&rest.problem), stop)?);
        (problem, values, cut) = (rest.problem, rest.values, rest.node.into_iter().collect());
    }
    Ok(all)
}

/// The names of operators, in order.
fn names(graph: &Graph, nodes: &[NodeId]) -> Vec<String> {
    let name = |&id: &NodeId| match &graph.node(id).kind {
        NodeKind::Operator(op) => Some(op.name().to_owned()),
        NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => None,
    };
    nodes.iter().filter_map(name).collect()
}

/// The finding of a target on a reduced problem in which no operator fails alone.
pub(crate) fn judged(target: &Target, problem: &Problem) -> Result<Option<Rest>, WorkerError> {
    let node = Cell::new(None);
    let accuse = |suspect: &Suspect<'_>, tame: Tame, finding: Box<Finding>| {
        let blamed = match (suspect.whole(target), &finding.symptom) {
            (Some(whole), Symptom::Mismatch(_)) => whole.first_divergent()?,
            _ => Blamed::default(),
        };
        let Accused { verdict, node: found, .. } = suspect.convict(blamed, tame.defined, finding);
        node.set(found);
        Ok((verdict, None))
    };
    let ran =
        run(target, problem, &Inquiry { is_worth_it: &|_, _| true, accuse: &accuse, large: Large::Refused })?;
    Ok(match ran {
        ProblemRun::Nothing(_) => None,
        ProblemRun::Shown(shown, _) => Some(Rest {
            finding: shown.finding,
            problem: shown.problem,
            values: shown.values,
            node: node.get(),
        }),
    })
}

/// The findings, each name only once. A first finding may have no name, because other operators are wrong in the same
/// way in its graph. Then it is the finding that shows when these are cut out.
fn merged(mut first: NamedFinding, all: Vec<NamedFinding>) -> Peeled {
    let mut told: Vec<NamedFinding> = Vec::new();
    for found in all {
        let is_behind = !found.finding.after.is_empty();
        if is_behind && is_unnamed(&first) && same_kind(&found.finding.symptom, &first.finding.symptom) {
            first.finding.core = found.finding.core;
            first.smaller = found.smaller;
            first.tries += found.tries;
            continue;
        }
        let name = found.finding.signature();
        match std::iter::once(&mut first).chain(&mut told).find(|known| known.finding.signature() == name) {
            Some(known) => known.tries += found.tries,
            None => told.push(found),
        }
    }
    Peeled::Found(Box::new(first), told)
}

/// Whether a finding has neither an operator at fault nor a name.
fn is_unnamed(found: &NamedFinding) -> bool {
    found.finding.culprit.as_ref().is_none_or(|culprit| !culprit.alone)
        && found.finding.core.is_none()
        && !found.finding.is_consequence()
}
