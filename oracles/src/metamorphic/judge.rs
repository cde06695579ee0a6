//! What an engine made of a model and of its rewritten form.
//!
//! An engine that [`Repeats`](Fidelity::Repeats) must give the same bits for both where the relation holds exactly,
//! whatever the reference says about an element. Any other engine may fuse operators and so round elsewhere. Where its
//! two answers differ, each is held to the bounds of its own reference: an answer within them is right, and no
//! conclusion is drawn from the difference. Undefined elements are never compared.

use interp::{Bounded, Mismatch};
use ir::Tensor;
use worker::Outcome;

use super::relation::Holds;
use crate::difference::{Ignored, first_difference};
use crate::differential::{self, Expected, error_shape};
use crate::signature::Symptom;
use crate::verdict::{Finding, Verdict, Why};

/// How an engine evaluates operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// An operator gives the same bits for the same operands, wherever it stands.
    Repeats,
    /// What an operator gives may depend on its neighbours, within the bounds that the engine is held to.
    Rounds,
}

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The engine.
    pub backend: &'a str,
    /// Its level.
    pub level: &'a str,
    /// How it evaluates operators.
    pub fidelity: Fidelity,
    /// What the relation promises.
    pub holds: Holds,
    /// What the reference expects of the original.
    pub expected: Expected<'a>,
    /// The outputs of the original.
    pub original: &'a [(String, Tensor)],
    /// What came of the rewritten model.
    pub rewritten: &'a Outcome,
}

/// Judges an engine by its answers to a model and to its rewritten form. `reference` gives the outputs of the rewritten
/// model by the reference, for the same names in the same order; it is asked only where it is needed.
pub fn judge(pair: &Pair<'_>, reference: impl FnOnce() -> Option<Vec<Bounded>>) -> Verdict {
    match compare(pair, reference) {
        // Bits that differ need no reference, and nothing excuses a fault; anything else may follow from what is wrong already.
        Verdict::Bug(finding) if !is_fault(&finding) && !pair.is_strict() && pair.is_wrong_already() => {
            undecided("the original is wrong by itself")
        }
        verdict => verdict,
    }
}

fn compare(pair: &Pair<'_>, reference: impl FnOnce() -> Option<Vec<Bounded>>) -> Verdict {
    let Outcome::Outputs(outputs) = pair.rewritten else {
        // The rewritten model has the sizes that the reference computed, and the engine may have computed others.
        let has_open_sizes = pair.expected.outputs.iter().any(|output| output.is_open);
        if has_open_sizes && matches!(pair.rewritten, Outcome::Rejected { .. }) {
            return undecided("sizes are undecidable");
        }
        let nothing = Expected { names: &[], outputs: &[], ..pair.expected };
        return differential::judge(pair.backend, pair.level, pair.rewritten, &nothing);
    };
    let (mut elements, mut compared) = (0, 0);
    let mut parting = None;
    for (name, judged) in pair.expected.names.iter().zip(pair.expected.outputs) {
        if judged.is_open {
            elements += judged.tensor.len();
            continue;
        }
        let find = |all: &'_ [(String, Tensor)]| all.iter().position(|(n, _)| n == name);
        let Some(original) = find(pair.original).map(|i| &pair.original[i].1) else {
            return undecided("the original lacks an output");
        };
        let Some(actual) = find(outputs).map(|i| &outputs[i].1) else {
            return pair.bug(Symptom::MissingOutput, format!("the rewritten model lacks output `{name}`"));
        };
        if original.ty() != actual.ty() {
            let (actual, original) = (actual.ty(), original.ty());
            let detail = format!("output `{name}` of the rewritten model is {actual} instead of {original}");
            return pair.bug(Symptom::WrongType, detail);
        }
        elements += original.len();
        compared += original.len().saturating_sub(judged.undefined.len());
        let zero_sign = pair.expected.profile.ignores_zero_sign;
        let differs = first_difference(original, actual, Ignored { elements: &judged.undefined, zero_sign });
        let bounded = |d: Mismatch| Mismatch { bound: judged.error_at(d.index), ..d };
        parting = parting.or(differs.map(|d| (name, bounded(d))));
    }
    match parting {
        None if compared == 0 && elements > 0 => Verdict::Incomparable(Why::Undecidable),
        None => Verdict::Pass,
        Some((name, d)) if pair.is_strict() => {
            let detail = format!(
                "output `{name}`: element {} is {:?} in the rewritten model and {:?} in the original",
                d.index, d.actual, d.expected
            );
            pair.bug(Symptom::Mismatch(error_shape(&d)), detail)
        }
        Some(_) => pair.by_bounds(reference),
    }
}

impl Pair<'_> {
    fn bug(&self, symptom: Symptom, detail: String) -> Verdict {
        Verdict::bug(self.backend, self.level, symptom, detail)
    }

    /// Whether any difference is a fault.
    fn is_strict(&self) -> bool {
        self.holds == Holds::Exactly && self.fidelity == Fidelity::Repeats
    }

    /// Whether the original is outside the bounds of its reference.
    fn is_wrong_already(&self) -> bool {
        let original = Outcome::Outputs(self.original.to_vec());
        let verdict = differential::judge(self.backend, self.level, &original, &self.expected);
        matches!(verdict, Verdict::Bug(_))
    }

    /// The rewritten model against its own reference.
    fn by_bounds(&self, reference: impl FnOnce() -> Option<Vec<Bounded>>) -> Verdict {
        let Some(outputs) = reference() else { return undecided("the rewritten model has no reference") };
        let expected = Expected { outputs: &outputs, ..self.expected };
        differential::judge(self.backend, self.level, self.rewritten, &expected)
    }
}

fn is_fault(finding: &Finding) -> bool {
    matches!(finding.symptom, Symptom::Fault { .. })
}

fn undecided(why: &str) -> Verdict {
    Verdict::Incomparable(Why::Undecided(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use interp::Profile;
    use ir::{DType, Type};
    use worker::Stage;

    use super::*;

    fn tensor(values: &[f64]) -> Tensor {
        Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
    }

    /// What comes of a model that gives `original` and a form of it that gives `actual`, where the reference has
    /// `values` with the same bounds for both.
    fn verdict(
        how: (Holds, Fidelity),
        (values, error): (&[f64], &[f64]),
        original: &[f64],
        actual: &[f64],
    ) -> Verdict {
        let (names, outputs) = (["y".to_owned()], [Bounded::within(tensor(values), error.to_vec())]);
        let pair = Pair {
            backend: "e",
            level: "l",
            holds: how.0,
            fidelity: how.1,
            expected: Expected { names: &names, outputs: &outputs, profile: &Profile::TIGHT },
            original: &[("y".to_owned(), tensor(original))],
            rewritten: &Outcome::Outputs(vec![("y".to_owned(), tensor(actual))]),
        };
        judge(&pair, || Some(outputs.to_vec()))
    }

    fn is_bug(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Bug(_))
    }

    const STRICT: (Holds, Fidelity) = (Holds::Exactly, Fidelity::Repeats);
    const LOOSE: (Holds, Fidelity) = (Holds::Exactly, Fidelity::Rounds);
    const BOUNDED: (Holds, Fidelity) = (Holds::WithinBounds, Fidelity::Repeats);

    #[test]
    fn an_engine_that_repeats_itself_must_do_so_within_bounds_too() {
        let reference = (&[1.0][..], &[0.5][..]);
        assert!(is_bug(&verdict(STRICT, reference, &[1.0], &[1.25])));
        for how in [LOOSE, BOUNDED] {
            assert_eq!(verdict(how, reference, &[1.0], &[1.25]), Verdict::Pass);
            assert!(is_bug(&verdict(how, reference, &[1.0], &[1.75])));
        }
    }

    #[test]
    fn the_undecidable_is_compared_where_the_engine_repeats_itself() {
        let reference = (&[1.0][..], &[f64::INFINITY][..]);
        assert!(is_bug(&verdict(STRICT, reference, &[1.0], &[2.0])));
        assert_eq!(verdict(STRICT, reference, &[7.0], &[7.0]), Verdict::Pass);
        assert_eq!(verdict(LOOSE, reference, &[1.0], &[2.0]), Verdict::Incomparable(Why::Undecidable));
    }

    #[test]
    fn any_nan_is_any_other_and_zeros_have_signs() {
        let reference = (&[f64::NAN, 0.0][..], &[][..]);
        assert_eq!(verdict(STRICT, reference, &[f64::NAN, 0.0], &[-f64::NAN, 0.0]), Verdict::Pass);
        assert!(is_bug(&verdict(STRICT, reference, &[f64::NAN, 0.0], &[f64::NAN, -0.0])));
    }

    #[test]
    fn nothing_follows_from_an_original_that_is_wrong_by_itself() {
        let reference = (&[1.0][..], &[][..]);
        assert!(matches!(
            verdict(LOOSE, reference, &[3.0], &[4.0]),
            Verdict::Incomparable(Why::Undecided(_))
        ));
    }

    #[test]
    fn nothing_is_said_of_an_output_whose_sizes_are_undecidable() {
        let open = Bounded { is_open: true, ..Bounded::within(tensor(&[1.0, 1.0]), Vec::new()) };
        let decided = Bounded::within(tensor(&[1.0]), Vec::new());
        let (names, outputs) = (["open", "y"].map(str::to_owned), [open, decided]);
        let answer =
            |open: &[f64], y: f64| vec![("open".to_owned(), tensor(open)), ("y".to_owned(), tensor(&[y]))];
        let said = |rewritten: &Outcome| {
            let pair = Pair {
                backend: "e",
                level: "l",
                holds: Holds::Exactly,
                fidelity: Fidelity::Repeats,
                expected: Expected { names: &names, outputs: &outputs, profile: &Profile::TIGHT },
                original: &answer(&[1.0; 3], 1.0),
                rewritten,
            };
            judge(&pair, || None)
        };
        assert_eq!(said(&Outcome::Outputs(answer(&[1.0; 2], 1.0))), Verdict::Pass);
        assert!(is_bug(&said(&Outcome::Outputs(answer(&[1.0; 2], 2.0)))));
        let refused = Outcome::Rejected { stage: Stage::Run, message: "3 elements do not fit 2".to_owned() };
        assert!(matches!(said(&refused), Verdict::Incomparable(Why::Undecided(_))));
    }

    #[test]
    fn refusing_the_rewritten_model_is_a_bug() {
        let (names, outputs) = (["y".to_owned()], [Bounded::within(tensor(&[1.0]), Vec::new())]);
        let pair = Pair {
            backend: "e",
            level: "l",
            holds: Holds::Exactly,
            fidelity: Fidelity::Rounds,
            expected: Expected { names: &names, outputs: &outputs, profile: &Profile::TIGHT },
            original: &[("y".to_owned(), tensor(&[1.0]))],
            rewritten: &Outcome::Rejected { stage: Stage::Load, message: "bad graph".to_owned() },
        };
        assert!(is_bug(&judge(&pair, || None)));
        let without = Outcome::Outputs(vec![]);
        assert!(is_bug(&judge(&Pair { rewritten: &without, ..pair }, || None)));
    }
}
