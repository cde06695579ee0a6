//! Answers that look like findings and are none: the allowances of [`oracles::allowance`] that take further runs of the
//! target to find out.

use std::collections::BTreeSet;

use ir::{NodeId, NodeKind};
use ops::Model;
use oracles::{Expected, Finding, Symptom, Verdict, Why, allowance, differential};
use worker::{Outcome, WorkerError};

use crate::blame::{Blamed, Suspect};
use harness::evaluated::Evaluated;
use harness::isolate::Isolated;
use harness::target::Target;
use harness::trial::Trial;

/// An answer of a target, and an oracle's verdict on it.
pub struct Exam<'e> {
    /// The answer.
    pub(crate) outcome: &'e Outcome,
    /// The verdict on it.
    pub(crate) verdict: Verdict,
    /// Judges all outputs but some.
    judge: Judge<'e>,
}

/// A verdict on all outputs but those of these names.
type Judge<'e> = Box<dyn Fn(&BTreeSet<String>) -> Verdict + 'e>;

impl<'e> Exam<'e> {
    /// A target's answer against the reference, and what it wrote to its standard error meanwhile.
    pub fn new(
        target: &'e Target,
        outcome: &'e Outcome,
        stderr: &'e str,
        expected: &'e Expected<'e>,
    ) -> Self {
        Self::of(target, outcome, stderr, expected, target.judge(outcome, expected))
    }

    /// A target's answer against the reference, where the verdict on it is known.
    pub fn of(
        target: &'e Target,
        outcome: &'e Outcome,
        stderr: &'e str,
        expected: &'e Expected<'e>,
        verdict: Verdict,
    ) -> Self {
        let judge =
            move |but: &BTreeSet<String>| target.judge_but(outcome, expected, but).with_stderr(stderr);
        Self { outcome, verdict: verdict.with_stderr(stderr), judge: Box::new(judge) }
    }

    /// A target's answer, and how it is judged.
    pub(crate) fn by(outcome: &'e Outcome, judge: impl Fn(&BTreeSet<String>) -> Verdict + 'e) -> Self {
        Self { outcome, verdict: judge(&BTreeSet::new()), judge: Box::new(judge) }
    }
}

/// The verdict on a target's answer to a trial, after all allowances: see [`Suspect::allowed`].
pub(crate) fn allowed(
    trial: &Trial,
    target: &Target,
    unseen: &BTreeSet<NodeId>,
    outcome: &Outcome,
) -> Result<Verdict, WorkerError> {
    let inputs = trial.tensors();
    let suspect = Suspect::new(&trial.model, &inputs, trial.evaluated.profile);
    suspect.allowed(target, unseen, outcome, &trial.evaluated)
}

/// The verdict with regard to what the target says of itself. A user may run a model although the target says that it
/// lacks something in it. Then wrong elements and refusals are excused; faults and outputs of other shapes are not. If
/// the target does not say that it takes one of the model's dtypes, everything is excused. `unseen` are the nodes of
/// the model that the target does not see.
fn declared(
    target: &Target,
    model: &Model,
    unseen: &BTreeSet<NodeId>,
    expected: &Expected<'_>,
    judged: Verdict,
    outcome: &Outcome,
) -> Verdict {
    let Verdict::Bug(finding) = judged else { return judged };
    if let Some(why) = target.declines(model, unseen) {
        return Verdict::Incomparable(Why::Unsupported(format!("{why}: {}", finding.detail)));
    }
    let may_be_excused =
        !matches!(finding.symptom, Symptom::Fault { .. }) && !expected.has_other_shapes(outcome);
    match may_be_excused.then(|| target.lacks(model, unseen)).flatten() {
        Some(why) => Verdict::Incomparable(Why::Widened(why)),
        None => Verdict::Bug(finding),
    }
}

impl Suspect<'_> {
    /// The verdict on a target that a user has asked, about a model of his own or a saved one. (Campaigns do not ask a
    /// target about what it lacks; users may.) What the target says of itself comes first, then the allowances of
    /// campaigns. `unseen` are the nodes of the model that the target does not see.
    pub fn allowed(
        &self,
        target: &Target,
        unseen: &BTreeSet<NodeId>,
        outcome: &Outcome,
        evaluated: &Evaluated,
    ) -> Result<Verdict, WorkerError> {
        let expected = &evaluated.expected();
        let judged = declared(target, self.model, unseen, expected, target.judge(outcome, expected), outcome);
        let exam = Exam::of(target, outcome, "", expected, judged);
        let target = &target.in_a_hurry(&self.hurry);
        Ok(match self.settled(target, &exam)? {
            // Whether a refusal is allowed depends on who is to blame.
            Verdict::Bug(finding) if finding.is_refusal() => {
                self.accuse(target, evaluated.is_defined(), finding)?.verdict
            }
            settled => settled,
        })
    }

    /// The verdict after the allowances that need no culprit: for a lack that the target states, and for
    /// wrong outputs of a target that declares to compute in narrower integers. An answer "unsupported"
    /// becomes a refusal if the target lacks neither a known form nor an operator alone.
    pub fn settled(&self, target: &Target, exam: &Exam<'_>) -> Result<Verdict, WorkerError> {
        let newest = target.support.opset.filter(|&newest| self.model.opset > newest);
        match (exam.verdict.clone(), exam.outcome) {
            (Verdict::Bug(finding), Outcome::Rejected { .. }) if let Some(newest) = newest => {
                let why = format!("{} loads no opset above {newest}: {}", target.backend, finding.detail);
                Ok(Verdict::Incomparable(Why::Unsupported(why)))
            }
            (Verdict::Incomparable(Why::Unsupported(what)), Outcome::Rejected { stage, message }) => {
                Ok(if !self.lacks_a_form(target)? && self.lacks_nothing_alone(target)? {
                    differential::refusal(&target.backend, &target.level, *stage, message)
                } else {
                    Verdict::Incomparable(Why::Unsupported(what))
                })
            }
            (Verdict::Bug(finding), _) if target.shortens_integers() => {
                Ok(self.less_narrowed(target, finding, exam))
            }
            (verdict, _) => Ok(verdict),
        }
    }

    /// Whether the target takes each operator alone, or refuses it in words that do not say that something is lacking.
    /// Then the graph's refusal has another reason, such as a type that the target inferred wrongly. If there are
    /// functions, the target may lack these.
    fn lacks_nothing_alone(&self, target: &Target) -> Result<bool, WorkerError> {
        let Some(isolated) = self.isolated().filter(|_| !self.has_functions()) else { return Ok(false) };
        let graph = &isolated.flat.graph;
        let is_operator = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Operator(_));
        let operators: Vec<NodeId> = graph.iter().map(|(id, _)| id).filter(is_operator).collect();
        if operators.len() < 2 {
            return Ok(false);
        }
        for id in operators {
            let Some(alone) = isolated.alone(id) else { return Ok(false) };
            if differential::lacks(&alone.outcome(target)?).is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The verdict on a target that computes i64 as i32, without the outputs that this may spoil.
    fn less_narrowed(&self, target: &Target, finding: Box<Finding>, exam: &Exam<'_>) -> Verdict {
        if !matches!(finding.symptom, Symptom::Mismatch(_)) {
            return Verdict::Bug(finding);
        }
        let why = |what: &str| {
            Verdict::Incomparable(Why::Widened(format!("{} computes i64 as i32, and {what}", target.backend)))
        };
        let Some(isolated) = self.isolated() else {
            return why("the model cannot be taken apart to see where");
        };
        let narrowed = allowance::outputs_beyond_i32(&isolated.flat, &isolated.evaluation);
        if narrowed.is_empty() {
            return Verdict::Bug(finding);
        }
        match (exam.judge)(&narrowed) {
            Verdict::Bug(finding) => Verdict::Bug(finding),
            Verdict::Pass | Verdict::Incomparable(_) => why("a value does not fit"),
        }
    }

    /// Whether a refusal is about something undefined, or may be. `all_defined` says whether value search found values
    /// on which everything is defined.
    pub(crate) fn is_allowed_refusal(&self, blamed: &Blamed, all_defined: bool) -> bool {
        let Some(isolated) = self.isolated() else { return !all_defined };
        if !blamed.refuses_alone && allowance::may_be_undefined(&isolated.flat, &isolated.evaluation) {
            return true;
        }
        !all_defined && hangs_on_undefined(isolated, blamed.node)
    }
}

/// Whether something is undefined and the operator to blame, if there is one, depends on it.
fn hangs_on_undefined(isolated: &Isolated, blamed: Option<NodeId>) -> bool {
    let undefined = allowance::undefined(&isolated.flat, &isolated.evaluation);
    match blamed {
        Some(id) => undefined[id.index()],
        None => undefined.contains(&true),
    }
}
