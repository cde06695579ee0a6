//! Why a fault is not found: no case has what it concerns, its answers are the right ones on all that have, or they
//! differ only where that says nothing. The first is for generation to mend, the second for forms and values, the third
//! for value search, the last for the bounds.

use interp::Bounded;
use ir::Tensor;
use serde_json::{Value, json};
use worker::Outcome;

use crate::judges::PROFILES;

/// What there was to be seen in a wrong answer that is accepted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Seen {
    /// Nothing: it is the answer of the right kernels.
    Nothing,
    /// It differs from that where nothing is known of the result.
    Undecidable,
    /// It differs inside the bounds, of which it uses this share at most.
    Inside(f64),
}

impl Seen {
    /// What there is to be seen in an answer, where that of the right kernels is known and both are held against an evaluation.
    pub(crate) fn of(answer: &Outcome, right: &Outcome, expected: &[Bounded]) -> Self {
        let (Outcome::Outputs(answer), Outcome::Outputs(right)) = (answer, right) else {
            // A refusal is accepted where something is undefined.
            return Self::Undecidable;
        };
        let outputs = answer.iter().zip(right).zip(expected);
        outputs.fold(Self::Nothing, |seen, (((_, answer), (_, right)), expected)| {
            seen.or(Self::in_tensor(answer, right, expected))
        })
    }

    fn in_tensor(answer: &Tensor, right: &Tensor, expected: &Bounded) -> Self {
        if answer == right {
            return Self::Nothing;
        }
        if answer.ty() != right.ty() || expected.is_open {
            return Self::Undecidable;
        }
        let (answers, rights, values) = (answer.to_f64s(), right.to_f64s(), expected.tensor.to_f64s());
        let is_other = |i: &usize| {
            answers[*i].to_bits() != rights[*i].to_bits() && !(answers[*i].is_nan() && rights[*i].is_nan())
        };
        (0..answers.len()).filter(is_other).fold(Self::Nothing, |seen, i| {
            seen.or(match expected.error_at(i) {
                0.0 => Self::Inside(0.0),
                error if error.is_finite() => Self::Inside((answers[i] - values[i]).abs() / error),
                _ => Self::Undecidable,
            })
        })
    }

    /// The one that comes nearer to being wrong.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Inside(a), Self::Inside(b)) => Self::Inside(a.max(b)),
            (Self::Inside(share), _) | (_, Self::Inside(share)) => Self::Inside(share),
            (Self::Undecidable, _) | (_, Self::Undecidable) => Self::Undecidable,
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}

/// On how many cases wrong answers were accepted under one profile.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Accepted {
    /// On how many cases the answers differ only where nothing is known.
    undecidable: u64,
    /// On how many cases the answers differ inside the bounds.
    inside: u64,
    /// The largest share of a bound that they used.
    largest: f64,
}

impl Accepted {
    /// Counts a case.
    pub(crate) fn take(&mut self, seen: Seen) {
        match seen {
            Seen::Nothing => {}
            Seen::Undecidable => self.undecidable += 1,
            Seen::Inside(share) => {
                self.inside += 1;
                self.largest = self.largest.max(share);
            }
        }
    }

    /// Why the fault is not found, which concerns so many cases.
    pub(crate) fn why(&self, concerned: u64) -> String {
        let Self { undecidable, inside, largest } = *self;
        match (concerned, undecidable + inside) {
            (0, _) => "no case has it".to_owned(),
            (_, 0) => "right wherever it is".to_owned(),
            (_, shown) if inside == 0 => format!("wrong in {shown}, where nothing is decidable"),
            (_, shown) => {
                format!("wrong in {shown}, inside the bounds in {inside}, at most {largest:.2} of one")
            }
        }
    }
}

/// For each profile that does not find the fault, the reason. `concerned` is the number of cases that the
/// fault concerns.
pub(crate) fn json(accepted: &[Accepted; PROFILES.len()], found: &[Option<u64>], concerned: u64) -> Value {
    let unfound = PROFILES.iter().zip(accepted).zip(found).filter(|(_, after)| after.is_none());
    unfound
        .map(|((profile, accepted), _)| (profile.name.to_owned(), json!(accepted.why(concerned))))
        .collect()
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};

    use super::*;

    fn tensor(values: &[f64]) -> Tensor {
        Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
    }

    fn seen(answer: &[f64], error: &[f64]) -> Seen {
        let right = [1.0, 2.0, f64::NAN];
        let outcome = |values| Outcome::Outputs(vec![("y".to_owned(), tensor(values))]);
        let expected = Bounded::within(tensor(&right), error.to_vec());
        Seen::of(&outcome(answer), &outcome(&right), &[expected])
    }

    #[test]
    fn what_differs_is_inside_of_a_bound_or_undecidable() {
        let error = [0.5, f64::INFINITY, 0.0];
        assert_eq!(seen(&[1.0, 2.0, f64::NAN], &error), Seen::Nothing);
        assert_eq!(seen(&[1.0, 7.0, f64::NAN], &error), Seen::Undecidable);
        assert_eq!(seen(&[1.25, 7.0, f64::NAN], &error), Seen::Inside(0.5));
    }

    #[test]
    fn the_reason_is_what_comes_nearest() {
        let mut accepted = Accepted::default();
        assert_eq!(accepted.why(0), "no case has it");
        assert_eq!(accepted.why(9), "right wherever it is");
        accepted.take(Seen::Undecidable);
        assert_eq!(accepted.why(9), "wrong in 1, where nothing is decidable");
        accepted.take(Seen::Inside(0.25));
        assert_eq!(accepted.why(9), "wrong in 2, inside the bounds in 1, at most 0.25 of one");
    }
}
