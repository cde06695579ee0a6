//! Which finding is reduced: the first finding in the case's folder that a target still shows, or else a finding that
//! the target shows now.
//!
//! The symptom of a graph may follow from the fault of one operator, and the folder names both: a later operator
//! refuses a wrong type, and the wrong type is a finding of its own. So an operator that is named as being at fault
//! alone is run alone.

use harness::case::tensors;
use harness::reference::Large;
use harness::target::Target;
use ir::{NodeKind, Operation};
use oracles::{Culprit, Finding};
use worker::WorkerError;

use super::ReduceError;
use super::interest::{self, Interest, Shown};
use super::problem::Problem;
use super::size::Size;
use crate::blame::Suspect;
use crate::symptom_match::same_kind;

/// A finding to reduce.
pub(super) struct Aim<'t> {
    /// The target that shows it.
    pub(super) target: &'t Target,
    /// What is compared with it.
    pub(super) interest: Interest<'t>,
    /// The problem to start from.
    pub(super) shown: Shown,
    /// How large the case is as a whole.
    pub(super) before: Size,
}

impl<'t> Aim<'t> {
    /// The first finding of the problems on the targets; if possible one that a folder names.
    pub(super) fn first(
        problems: &[Problem],
        targets: &'t [Target],
        named: &[Finding],
        large: Large,
    ) -> Result<Self, ReduceError> {
        let (mut showed, mut suspect) = (Vec::new(), None);
        for target in targets {
            for problem in problems.iter().map(|problem| problem.for_target(target)) {
                match Interest::new(target, &problem, large)? {
                    Ok(whole) => {
                        let (interest, shown) = named_first(target, &problem, named, large, whole)?;
                        return Ok(Self { target, interest, shown, before: problem.size() });
                    }
                    Err(why) => showed.push(format!("on {}, {why}", target.name())),
                }
                if suspect.is_none() {
                    suspect = interest::suspect(target, &problem, large)?.map(|why| (target, why));
                }
            }
        }
        Err(match suspect {
            Some((target, why)) => ReduceError::Suspect { target: target.name(), on: target.on(), why },
            None => ReduceError::NoFinding { showed, shown_by: None },
        })
    }
}

/// The first of a target's named findings that the problem still shows, as a whole or by one of its operators; or else
/// what it shows as a whole.
fn named_first<'t>(
    target: &'t Target,
    problem: &Problem,
    named: &[Finding],
    large: Large,
    whole: (Interest<'t>, Shown),
) -> Result<(Interest<'t>, Shown), WorkerError> {
    for finding in named.iter().filter(|finding| is_of(target, finding)) {
        if is_it(finding, &whole.1.finding) {
            break;
        }
        let Some(culprit) = finding.culprit.as_ref().filter(|culprit| culprit.alone) else { continue };
        for part in operators(target, problem, culprit) {
            if let Ok((interest, shown)) = Interest::new(target, &part, large)?
                && is_it(finding, &shown.finding)
            {
                return Ok((interest, shown));
            }
        }
    }
    Ok(whole)
}

/// Whether a finding is the one that a folder names.
pub(super) fn is_it(named: &Finding, shown: &Finding) -> bool {
    named.culprit == shown.culprit && same_kind(&named.symptom, &shown.symptom)
}

/// Whether a finding was made on a target.
pub(super) fn is_of(target: &Target, finding: &Finding) -> bool {
    (&finding.backend, &finding.level) == (&target.backend, &target.level)
}

/// The operators of a problem that may be a culprit, each alone.
fn operators(target: &Target, problem: &Problem, culprit: &Culprit) -> Vec<Problem> {
    let suspect = Suspect::new(&problem.model, &problem.inputs, target.profile);
    let Some(isolated) = suspect.isolated() else { return Vec::new() };
    let nodes = isolated.flat.graph.iter();
    let is_called =
        |kind: &_| matches!(kind, NodeKind::Operator(op) if Operation::name(op) == culprit.operator);
    let trials = nodes.filter(|(_, node)| is_called(&node.kind)).filter_map(|(id, _)| isolated.alone(id));
    trials.map(|trial| Problem::flat(trial.model.clone(), tensors(&trial.inputs))).collect()
}
