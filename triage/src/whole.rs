//! A model end to end: is what a target gives for it right, and does it say anything that it is?
//!
//! Worst-case bounds that are carried through a deep network get wider than its values. An answer within such a bound
//! is right, and so would be nearly any other: that says nothing. So beside the verdict there is for each output how
//! wide the bound is, as a part of the value.

use std::rc::Rc;
use std::time::Instant;

use interp::bound::Ball;
use interp::{Bounded, Limits, Taps};
use ir::Tensor;
use oracles::doubt::root_mean_square;
use oracles::{Afar, Expected, Nearness, Verdict, Why};
use serde::Serialize;
use worker::{Fault, Outcome, WorkerError};

use crate::allowance::allowed;
use crate::local::Subject;
use harness::evaluated::Evaluated;
use harness::reference;
use harness::target::Target;
use harness::trial::Trial;

/// What a target makes of a model as it is written.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    /// The target.
    pub target: String,
    /// How its answer stands.
    pub answer: WholeStanding,
    /// Why, where it is not right.
    pub why: String,
    /// The seconds inside of the target.
    pub seconds: f64,
    /// The seconds that the reference took, with bounds; `None` where it was not asked.
    pub reference_seconds: Option<f64>,
    /// How far the bound of each output reaches; none where the reference was not asked.
    pub outputs: Vec<Reach>,
}

/// How an answer stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WholeStanding {
    /// The answer is within its bounds, and as near as good implementations are.
    Right,
    /// Bounds say nothing, as they are wider than the values or infinite, and the elements that can be looked at are as near as
    /// good implementations have them.
    Plausible,
    /// The answer is within its bounds, which may be infinite, and further off than good implementations are.
    Suspect,
    /// The answer is wrong.
    Wrong,
    /// Nothing can be said: all is undecidable or undefined.
    Open,
    /// The target gives none: it says that it lacks something, or declares that it does not take such a model.
    Unsupported,
    /// The target refuses the model, which is valid.
    Refused,
    /// The target crashes, or does not answer in time.
    Failed,
    /// The reference was not asked: the model is too large for it.
    Unjudged,
}

impl WholeStanding {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Plausible => "plausible",
            Self::Suspect => "suspect",
            Self::Wrong => "wrong",
            Self::Open => "open",
            Self::Unsupported => "unsupported",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unjudged => "unjudged",
        }
    }

    /// Whether the target did something wrong.
    pub fn is_wrong(self) -> bool {
        match self {
            Self::Wrong | Self::Refused | Self::Failed => true,
            Self::Right
            | Self::Plausible
            | Self::Suspect
            | Self::Open
            | Self::Unsupported
            | Self::Unjudged => false,
        }
    }

    /// Whether the answer was compared with something.
    pub fn is_told(self) -> bool {
        match self {
            Self::Right | Self::Plausible | Self::Suspect | Self::Wrong | Self::Refused | Self::Failed => {
                true
            }
            Self::Open | Self::Unsupported | Self::Unjudged => false,
        }
    }
}

/// Why nothing is said of a model that gives nothing.
pub const NO_OUTPUTS: &str = "the model has no outputs: there is nothing to ask for";

/// How far the bound of an output reaches.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reach {
    /// The output.
    pub name: String,
    /// How many elements it has.
    pub elements: usize,
    /// How many of them are undecidable or undefined.
    pub undecided: usize,
    /// The median of the decided elements' bounds as a part of the root of the mean square of the values; `None` where it is
    /// infinite, or nothing is decided.
    pub bound: Option<f64>,
}

impl Reach {
    /// The reach of the bounds of an output.
    pub fn of(name: &str, expected: &Bounded) -> Self {
        let elements = expected.tensor.len();
        let undecided = expected.undecidable() + expected.undefined.len();
        let mut bounds: Vec<f64> =
            (0..elements).map(|i| expected.error_at(i)).filter(|bound| bound.is_finite()).collect();
        bounds.sort_by(f64::total_cmp);
        let bound = bounds.get(bounds.len() / 2).map(|&bound| match bound {
            // Of a zero, the sign alone may be open.
            bound if bound <= Ball::either_zero().error => 0.0,
            bound => bound / root_mean_square(&expected.tensor),
        });
        Self { name: name.to_owned(), elements, undecided, bound: bound.filter(|bound| bound.is_finite()) }
    }

    /// Whether the bound is narrower than the values.
    pub fn says_something(&self) -> bool {
        self.elements == 0 || self.bound.is_some_and(|bound| bound < 1.0)
    }
}

impl Subject {
    /// What a target makes of the model as it is written.
    pub fn whole_on(&self, target: &Target) -> Result<Whole, WorkerError> {
        let named = harness::case::named(&self.model, self.inputs.clone());
        let none = Whole {
            target: target.name(),
            answer: WholeStanding::Unjudged,
            why: String::new(),
            seconds: 0.0,
            reference_seconds: None,
            outputs: Vec::new(),
        };
        if self.interface.outputs.is_empty() {
            return Ok(Whole { answer: WholeStanding::Unsupported, why: NO_OUTPUTS.to_owned(), ..none });
        }
        if let Err(why) = reference::bearable(&self.model, Taps::Outputs, self.large) {
            let ran = target.run(self.written_for(target), &named, &self.interface)?;
            let (answer, why) = self.without_reference(target, &ran.outcome, why);
            return Ok(Whole { answer, why, seconds: ran.engine_seconds, ..none });
        }
        let started = Instant::now();
        let evaluated = match Evaluated::of(&self.model, &self.inputs, target.profile) {
            Ok(evaluated) => evaluated,
            Err(e) => return Ok(Whole { why: e.to_string(), ..none }),
        };
        let reference_seconds = Some(started.elapsed().as_secs_f64());
        let trial = Trial::written(
            self.model.clone(),
            self.inputs.clone(),
            self.written_for(target).clone(),
            self.interface.clone(),
            evaluated,
        );
        let ran = trial.ran(target)?;
        let (answer, why) = self.answer(&trial, target, &ran.outcome)?;
        let outputs = trial.evaluated.outputs().map(|(name, expected)| Reach::of(name, expected)).collect();
        Ok(Whole { answer, why, seconds: ran.engine_seconds, reference_seconds, outputs, ..none })
    }

    /// How an answer stands.
    fn answer(
        &self,
        trial: &Trial,
        target: &Target,
        outcome: &Outcome,
    ) -> Result<(WholeStanding, String), WorkerError> {
        // As `run` has it.
        let allowed = allowed(trial, target, &self.unseen, outcome)?;
        Ok(match (outcome, allowed) {
            (_, Verdict::Incomparable(Why::Widened(why) | Why::Unsupported(why))) => {
                (WholeStanding::Unsupported, why)
            }
            (Outcome::Outputs(outputs), allowed) => of_outputs(trial, target, (outcome, outputs), allowed),
            (Outcome::Unsupported { why }, _) => (WholeStanding::Unsupported, why.clone()),
            (Outcome::Rejected { message, .. }, Verdict::Bug(_)) => (WholeStanding::Refused, message.clone()),
            (Outcome::Rejected { message, .. }, Verdict::Incomparable(why)) => {
                (WholeStanding::Open, format!("{why}: {message}"))
            }
            (Outcome::Rejected { message, .. }, Verdict::Pass) => {
                (WholeStanding::Unsupported, message.clone())
            }
            (Outcome::Fault(fault), _) => (WholeStanding::Failed, failure(target, fault)),
        })
    }

    /// How an answer to a model stands that is too large for the reference, for this reason. Whether the model may be
    /// refused is not known then: it may be undefined for its inputs.
    fn without_reference(
        &self,
        target: &Target,
        outcome: &Outcome,
        reason: String,
    ) -> (WholeStanding, String) {
        match outcome {
            Outcome::Outputs(_) => (WholeStanding::Unjudged, reason),
            Outcome::Unsupported { why } => (WholeStanding::Unsupported, why.clone()),
            Outcome::Rejected { message, .. } => {
                (WholeStanding::Unjudged, format!("{reason}; it refuses: {message}"))
            }
            Outcome::Fault(fault) => match target.declines(&self.model, &self.unseen) {
                Some(why) => (WholeStanding::Unsupported, format!("{why}: {}", failure(target, fault))),
                None => (WholeStanding::Failed, failure(target, fault)),
            },
        }
    }
}

/// A fault, in words.
fn failure(target: &Target, fault: &Fault) -> String {
    match fault {
        Fault::Timeout => format!("{fault}: {}", target.patience()),
        fault => fault.to_string(),
    }
}

/// How outputs stand, on which this is the verdict.
fn of_outputs(
    trial: &Trial,
    target: &Target,
    (outcome, outputs): (&Outcome, &[(String, Tensor)]),
    verdict: Verdict,
) -> (WholeStanding, String) {
    match verdict {
        Verdict::Bug(finding) => (WholeStanding::Wrong, finding.detail),
        Verdict::Incomparable(Why::Undecidable) => {
            let afar = Afar::of(outputs, &trial.expected(), &trial.limits(target));
            let answer = match afar.nearness() {
                Nearness::Untold => WholeStanding::Open,
                Nearness::Near => WholeStanding::Plausible,
                Nearness::Far => WholeStanding::Suspect,
            };
            (answer, afar.to_string())
        }
        Verdict::Incomparable(why) => (WholeStanding::Open, why.to_string()),
        Verdict::Pass => match trial.doubts(target, outcome, &trial.assess(target, outcome)).first() {
            Some(doubt) => (WholeStanding::Suspect, doubt.to_string()),
            None => match unproved(outcome, &trial.expected(), || trial.limits(target)) {
                Some((Nearness::Far, why)) => (WholeStanding::Suspect, why),
                Some((_, why)) => (WholeStanding::Plausible, why),
                None => (WholeStanding::Right, String::new()),
            },
        },
    }
}

/// What else there is to say of an answer that is within its bounds, and not suspect there. Elements of which these say
/// nothing, beside others that they decide, may be further off than good implementations are: then it is suspect. Where
/// bounds are wider than the values, or all of an output is undecidable, it is no more than plausible. `None` where
/// they say something of each output, or where good implementations have no narrower limits either.
pub fn unproved(
    outcome: &Outcome,
    expected: &Expected<'_>,
    limits: impl FnOnce() -> Rc<[Limits]>,
) -> Option<(Nearness, String)> {
    let Outcome::Outputs(outputs) = outcome else { return None };
    let reaches: Vec<Reach> =
        expected.names.iter().zip(expected.outputs).map(|(name, of)| Reach::of(name, of)).collect();
    let says_nothing = !reaches.iter().any(Reach::says_something);
    if !says_nothing && reaches.iter().all(|reach| reach.undecided == 0) {
        return None;
    }
    let limits = limits();
    let beside = Afar::of_undecidable(outputs, expected, &limits);
    if beside.nearness() == Nearness::Far {
        return Some((Nearness::Far, beside.to_string()));
    }
    if !says_nothing {
        let is_open = |(reach, of): &(&Reach, &Bounded)| {
            reach.elements > of.undefined.len() && reach.undecided == reach.elements
        };
        let (open, _) = reaches.iter().zip(expected.outputs).find(is_open)?;
        let all = format!("all of the output `{}` is undecidable", open.name);
        return Some(match beside.nearness() {
            Nearness::Near => (Nearness::Near, format!("{all}; {}", beside.near())),
            _ => (Nearness::Untold, format!("{all}: nothing of it was compared")),
        });
    }
    let afar = Afar::of(outputs, expected, &limits);
    let why = || format!("bounds are wider than the values; {}", afar.near());
    (afar.nearness() == Nearness::Near).then(|| (Nearness::Near, why()))
}

#[cfg(test)]
mod tests {
    use ir::{DType, Tensor, Type};

    use super::*;

    fn reach(values: [f64; 3], error: &[f64]) -> Reach {
        let tensor = Tensor::from_f64_fn(&Type::new(DType::F64, [3]), |i| values[i]);
        Reach::of("y", &Bounded::within(tensor, error.to_vec()))
    }

    #[test]
    fn a_bound_says_something_where_it_is_narrower_than_the_values() {
        // The root of the mean square is 2.
        let values = [2.0, -2.0, 2.0];
        let narrow = reach(values, &[0.5, 0.0, 1e9]);
        assert_eq!((narrow.bound, narrow.undecided, narrow.says_something()), (Some(0.25), 0, true));
        assert!(!reach(values, &[4.0; 3]).says_something());
        let open = reach(values, &[f64::INFINITY; 3]);
        assert_eq!((open.bound, open.undecided, open.says_something()), (None, 3, false));
    }

    #[test]
    fn zeros_that_are_exact_are_told_from_zeros_that_may_be_anything() {
        assert!(reach([0.0; 3], &[]).says_something());
        let signs = reach([0.0; 3], &[Ball::either_zero().error; 3]);
        assert!(signs.says_something() && signs.bound == Some(0.0));
        assert!(!reach([0.0; 3], &[1e-9; 3]).says_something());
    }
}
