//! The differential oracle: an engine's answer against the reference and its bounds.

use std::borrow::Cow;
use std::collections::BTreeSet;

use interp::{Bounded, Comparison, Limit, Mismatch, Profile};
use ir::Tensor;
use worker::{Fault, Outcome, Stage};

use crate::message::{normalise, says_unsupported};
use crate::signature::{ErrorShape, Symptom};
use crate::verdict::{Verdict, Why, Worst};

/// What is expected of an engine on one case.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The names of the outputs, in order.
    pub names: &'a [String],
    /// The outputs, with bounds under `profile`.
    pub outputs: &'a [Bounded],
    /// The accuracy the engine is held to.
    pub profile: &'a Profile,
}

impl Expected<'_> {
    /// Whether an answer has an output of another shape, or lacks one. What an engine computes in explains digits and
    /// an output's dtype, and neither of these.
    pub fn has_other_shapes(&self, outcome: &Outcome) -> bool {
        let Outcome::Outputs(outputs) = outcome else { return false };
        self.names.iter().zip(self.outputs).filter(|(_, reference)| !reference.is_open).any(
            |(name, reference)| {
                let given = outputs.iter().find(|(other, _)| other == name);
                given.is_none_or(|(_, given)| given.shape() != reference.tensor.shape())
            },
        )
    }

    /// The outputs, those of these names undecidable: nothing is expected of them but their type.
    pub fn but(&self, names: &BTreeSet<String>) -> Cow<'_, [Bounded]> {
        if names.is_empty() {
            return Cow::Borrowed(self.outputs);
        }
        let undecidable = |output: &Bounded| Bounded {
            error: vec![f64::INFINITY; output.tensor.len()],
            undefined: Vec::new(),
            limited: Vec::new(),
            uneven: Vec::new(),
            ..output.clone()
        };
        let each = self.names.iter().zip(self.outputs);
        each.map(|(name, output)| if names.contains(name) { undecidable(output) } else { output.clone() })
            .collect()
    }
}

/// An engine's answer, judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// How the outputs compare with the reference, in order; where one is wrong, those before it.
    pub comparisons: Vec<Comparison>,
}

/// Judges an engine's answer.
pub fn judge(backend: &str, level: &str, outcome: &Outcome, expected: &Expected<'_>) -> Verdict {
    assess(backend, level, outcome, expected).verdict
}

/// Judges an engine's answer but for some outputs.
pub fn judge_but(
    backend: &str,
    level: &str,
    outcome: &Outcome,
    expected: &Expected<'_>,
    names: &BTreeSet<String>,
) -> Verdict {
    judge(backend, level, outcome, &Expected { outputs: &expected.but(names), ..*expected })
}

/// Judges an engine's answer, and tells how far it is from the reference.
pub fn assess(backend: &str, level: &str, outcome: &Outcome, expected: &Expected<'_>) -> Assessment {
    let mut comparisons = Vec::new();
    let verdict = verdict(backend, level, outcome, expected, &mut comparisons);
    Assessment { verdict, comparisons }
}

fn verdict(
    backend: &str,
    level: &str,
    outcome: &Outcome,
    expected: &Expected<'_>,
    comparisons: &mut Vec<Comparison>,
) -> Verdict {
    let bug = |symptom, detail| Verdict::bug(backend, level, symptom, detail);
    match outcome {
        Outcome::Outputs(outputs) => match compare(outputs, expected, comparisons) {
            Ok(true) => Verdict::Pass,
            Ok(false) => Verdict::Incomparable(Why::Undecidable),
            Err(wrong) => wrong.verdict(backend, level),
        },
        Outcome::Unsupported { why } => Verdict::Incomparable(Why::Unsupported(why.clone())),
        Outcome::Rejected { message, .. } if lacks(outcome).is_some() => {
            Verdict::Incomparable(Why::Unsupported(message.clone()))
        }
        Outcome::Rejected { stage, message } => refusal(backend, level, *stage, message),
        Outcome::Fault(fault) => bug(fault_symptom(fault), fault.to_string()),
    }
}

/// The verdict on an engine that refuses a valid model.
pub fn refusal(backend: &str, level: &str, stage: Stage, message: &str) -> Verdict {
    let symptom = Symptom::Rejected { stage, message: normalise(message) };
    let detail = format!("a valid model is refused at {}: {message}", stage.name());
    Verdict::bug(backend, level, symptom, detail)
}

/// The engine's statement that it lacks something, if it makes one. An optimiser that refuses what the unoptimised
/// level runs lacks nothing, whatever it says.
pub fn lacks(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Unsupported { why } => Some(why),
        Outcome::Rejected { stage: Stage::Load | Stage::Run, message } if says_unsupported(message) => {
            Some(message)
        }
        Outcome::Rejected { .. } | Outcome::Outputs(_) | Outcome::Fault(_) => None,
    }
}

/// What a fault shows.
pub fn fault_symptom(fault: &Fault) -> Symptom {
    let place = match fault {
        // The innermost frame of the engine says more than the line, which moves with every release.
        Fault::Panic { message, frames, .. } => match frames.first() {
            Some(frame) => format!("{frame}: {}", normalise(message)),
            None => normalise(message),
        },
        Fault::Signal { name, .. } => (*name).to_owned(),
        Fault::Exit { code } => code.to_string(),
        Fault::Garbage { what, .. } => mistake(what),
        Fault::StackOverflow | Fault::Timeout | Fault::Memory => String::new(),
    };
    Symptom::Fault { kind: fault.kind(), place }
}

/// How an engine breaks the protocol, without what depends on the case. The name of a missing field stays,
/// because it is the protocol's own; the place in the line at which it was missed goes.
fn mistake(what: &str) -> String {
    const MISSING: &str = "missing field `";
    let field = what.split_once(MISSING).and_then(|(_, rest)| rest.split_once('`'));
    field.map_or_else(|| normalise(what), |(field, _)| format!("{MISSING}{field}`"))
}

/// What is wrong with an engine's outputs.
struct Wrong {
    symptom: Symptom,
    detail: String,
    worst: Option<Box<Worst>>,
}

impl Wrong {
    fn new(symptom: Symptom, detail: String) -> Self {
        Self { symptom, detail, worst: None }
    }

    fn verdict(self, backend: &str, level: &str) -> Verdict {
        let mut verdict = Verdict::bug(backend, level, self.symptom, self.detail);
        if let Verdict::Bug(finding) = &mut verdict {
            finding.worst = self.worst.map(|worst| *worst);
        }
        verdict
    }
}

/// Whether at least one element could be judged (or there are none at all), or else what is wrong.
fn compare(
    outputs: &[(String, Tensor)],
    expected: &Expected<'_>,
    comparisons: &mut Vec<Comparison>,
) -> Result<bool, Wrong> {
    let (mut elements, mut judged) = (0, 0);
    for (name, reference) in expected.names.iter().zip(expected.outputs) {
        let Some((_, actual)) = outputs.iter().find(|(n, _)| n == name) else {
            if reference.is_open {
                // An element of a sequence that may be shorter.
                elements += reference.tensor.len();
                comparisons.push(Comparison::default());
                continue;
            }
            return Err(Wrong::new(Symptom::MissingOutput, format!("output `{name}` is missing")));
        };
        let comparison = interp::compare(reference, actual, expected.profile).map_err(|wrong| {
            let detail = format!("output `{name}` is {} instead of {}", wrong.actual, wrong.expected);
            Wrong::new(Symptom::WrongType, detail)
        })?;
        elements += comparison.elements;
        judged += comparison.compared();
        if let Some(worst) = &comparison.worst {
            let (symptom, worst) =
                (Symptom::Mismatch(error_shape(worst)), at(name, &comparison, worst, reference, actual));
            return Err(Wrong { symptom, detail: describe(&worst), worst: Some(Box::new(worst)) });
        }
        comparisons.push(comparison);
    }
    Ok(judged > 0 || elements == 0)
}

pub(crate) fn error_shape(worst: &Mismatch) -> ErrorShape {
    let (expected, actual) = (worst.expected, worst.actual);
    if actual.is_nan() && !expected.is_nan() {
        ErrorShape::NaN
    } else if actual.is_infinite() && expected.is_finite() {
        ErrorShape::Infinite
    } else if actual.is_finite() && !expected.is_finite() {
        ErrorShape::Finite
    } else if worst.is_slight() {
        ErrorShape::Slight
    } else {
        ErrorShape::Gross
    }
}

fn at(name: &str, comparison: &Comparison, worst: &Mismatch, right: &Bounded, actual: &Tensor) -> Worst {
    // An integer of 64 bits may be no double.
    let told = |tensor: &Tensor, float: f64| {
        if tensor.dtype().is_float() {
            format!("{float:?}")
        } else {
            tensor.to_i128s()[worst.index].to_string()
        }
    };
    Worst {
        output: name.to_owned(),
        index: worst.index,
        got: told(actual, worst.actual),
        expected: told(&right.tensor, worst.expected),
        bound: format!("{:e}", worst.bound),
        besides: right.limit_at(worst.index).map(besides),
        mismatches: comparison.mismatches,
        elements: comparison.elements,
    }
}

/// What else than the reference's is right, where that is all that is known.
fn besides(limit: Limit) -> String {
    match limit {
        Limit::Overflown => "what saturating it or a float for it gives".to_owned(),
        Limit::Beyond(least) => format!("what has its sign and is {least:e} or more"),
        Limit::NaNOr { low, high } if low == high => format!("{low:?}"),
        Limit::NaNOr { low, high } => format!("a number between {low:?} and {high:?}"),
    }
}

fn describe(worst: &Worst) -> String {
    let Worst { output, index, got, mismatches, elements, .. } = worst;
    format!(
        "output `{output}`: {mismatches} of {elements} elements are off; the worst is element {index}: {got} where {} is right",
        worst.right()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bound below every number of the dtype leaves open the sign of a zero, and nothing else.
    #[test]
    fn a_zero_of_either_sign_is_told_as_that() {
        let y = |value| Tensor::from_f64_fn(&ir::Type::new(ir::DType::F32, [1]), |_| value);
        let detail = |value, bound| {
            let right = Bounded::within(y(value), vec![bound]);
            let expected =
                Expected { names: &["y".to_owned()], outputs: &[right], profile: &Profile::DECLARED };
            let outcome = Outcome::Outputs(vec![("y".to_owned(), y(f64::NAN))]);
            match judge("engine", "all", &outcome, &expected) {
                Verdict::Bug(finding) => finding.detail,
                other => panic!("{other:?}"),
            }
        };
        assert!(detail(0.0, f64::from_bits(1)).ends_with("NaN where a zero of either sign is right"));
        assert!(detail(0.0, 0.5).ends_with("NaN where 0.0 ± 5e-1 is right"));
        assert!(detail(1.0, f64::from_bits(1)).ends_with("NaN where 1.0 ± 5e-324 is right"));
    }

    #[test]
    fn one_mistake_in_the_protocol_has_one_signature_and_names_its_field() {
        let place = |what: &str, line: &str| match fault_symptom(&Fault::Garbage {
            what: what.to_owned(),
            line: line.to_owned(),
        }) {
            Symptom::Fault { place, .. } => place,
            other => panic!("{other:?}"),
        };
        let one = place("missing field `outputs` at line 1 column 22", "`{\"type\":\"ok\",\"id\":1}`");
        let other = place(
            "missing field `outputs` at line 1 column 48",
            "`{\"type\":\"ok\",\"id\":1,\"answers\":[…`",
        );
        assert_eq!((one.as_str(), other.as_str()), ("missing field `outputs`", "missing field `outputs`"));
        assert_ne!(place("missing field `stage` at line 1 column 22", ""), one);
        assert_eq!(
            place("it answers request 3, not 4", ""),
            "it answers request \u{2039}n\u{203a}, not \u{2039}n\u{203a}"
        );
    }
}
