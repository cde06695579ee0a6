//! The determinism oracle: an engine's answer to the same case, once more.
//!
//! In the same process or in a fresh one, with the same number of threads, every bit must be the same, of elements that
//! nobody can decide too: one that differs was read from memory that nobody wrote, or depends on what ran before. (A
//! NaN is any NaN.) Another number of threads may add in another order. That is judged by the reference's bounds.

use ir::Tensor;
use worker::{Outcome, Stage};

use crate::difference::{Ignored, first_difference};
use crate::differential::{self, Expected, error_shape, fault_symptom};
use crate::message::normalise;
use crate::signature::Symptom;
use crate::verdict::{Verdict, Why};

/// Two answers of an engine to one case.
#[derive(Clone, Copy, Debug)]
pub struct Twice<'a> {
    /// The engine.
    pub backend: &'a str,
    /// Its level.
    pub level: &'a str,
    /// The first answer.
    pub first: &'a Outcome,
    /// The second.
    pub second: &'a Outcome,
}

impl Twice<'_> {
    /// Judges two answers that must be the same.
    pub fn judge(&self) -> Verdict {
        match (self.first, self.second) {
            (Outcome::Outputs(first), Outcome::Outputs(second)) => match parting(first, second) {
                None => Verdict::Pass,
                Some((symptom, detail)) => self.bug(symptom, detail),
            },
            (Outcome::Unsupported { why }, Outcome::Unsupported { .. }) => {
                Verdict::Incomparable(Why::Unsupported(why.clone()))
            }
            (Outcome::Rejected { .. }, Outcome::Rejected { .. }) => Verdict::Pass,
            (Outcome::Fault(first), Outcome::Fault(second)) if first.kind() == second.kind() => Verdict::Pass,
            (first, second) => {
                let (first, second) = (describe(first), describe(second));
                self.bug(self.odd_one(), format!("the first time it {first}, the second time it {second}"))
            }
        }
    }

    /// Judges two answers that may differ within the bounds.
    pub fn judge_by_bounds(&self, expected: &Expected<'_>) -> Verdict {
        if let Verdict::Pass | Verdict::Incomparable(Why::Unsupported(_)) = self.judge() {
            return self.judge();
        }
        let judge = |outcome| differential::judge(self.backend, self.level, outcome, expected);
        match judge(self.first) {
            // A crash is no consequence of numbers that are wrong.
            Verdict::Bug(_) if self.fails_anew() => judge(self.second),
            Verdict::Bug(_) => Verdict::Incomparable(Why::Undecided("the first answer is wrong".to_owned())),
            Verdict::Pass | Verdict::Incomparable(_) => judge(self.second),
        }
    }

    /// Whether the second answer alone is a fault.
    fn fails_anew(&self) -> bool {
        !matches!(self.first, Outcome::Fault(_)) && matches!(self.second, Outcome::Fault(_))
    }

    fn bug(&self, symptom: Symptom, detail: String) -> Verdict {
        Verdict::bug(self.backend, self.level, symptom, detail)
    }

    /// What the answer that is worse shows.
    fn odd_one(&self) -> Symptom {
        let fault = |outcome: &Outcome| match outcome {
            Outcome::Fault(fault) => Some(fault_symptom(fault)),
            Outcome::Outputs(_) | Outcome::Rejected { .. } | Outcome::Unsupported { .. } => None,
        };
        let refusal = |outcome: &Outcome| match outcome {
            Outcome::Rejected { stage, message } => {
                Some(Symptom::Rejected { stage: *stage, message: normalise(message) })
            }
            Outcome::Unsupported { why } => {
                Some(Symptom::Rejected { stage: Stage::Load, message: normalise(why) })
            }
            Outcome::Outputs(_) | Outcome::Fault(_) => None,
        };
        let both = || [self.second, self.first].into_iter();
        // Two sets of outputs are compared elsewhere.
        both().find_map(fault).or_else(|| both().find_map(refusal)).unwrap_or(Symptom::MissingOutput)
    }
}

/// What an answer is, after "it".
fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Outputs(_) => "gave outputs".to_owned(),
        Outcome::Rejected { message, .. } => format!("refused the model ({message})"),
        Outcome::Unsupported { why } => format!("lacked something ({why})"),
        Outcome::Fault(fault) => fault.to_string(),
    }
}

/// How two sets of outputs differ, if they do.
fn parting(first: &[(String, Tensor)], second: &[(String, Tensor)]) -> Option<(Symptom, String)> {
    if let Some((name, _)) = second.iter().find(|(name, _)| first.iter().all(|(n, _)| n != name)) {
        return Some((Symptom::MissingOutput, format!("the first time output `{name}` is missing")));
    }
    first.iter().find_map(|(name, one)| {
        let Some((_, other)) = second.iter().find(|(n, _)| n == name) else {
            return Some((Symptom::MissingOutput, format!("the second time output `{name}` is missing")));
        };
        if one.ty() != other.ty() {
            let detail = format!("output `{name}` is {} and then {}", one.ty(), other.ty());
            return Some((Symptom::WrongType, detail));
        }
        first_difference(one, other, Ignored::default()).map(|d| {
            let detail =
                format!("output `{name}`: element {} is {:?} and then {:?}", d.index, d.expected, d.actual);
            (Symptom::Mismatch(error_shape(&d)), detail)
        })
    })
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};
    use worker::Fault;

    use super::*;

    fn outputs(values: [f64; 2]) -> Outcome {
        let tensor = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| values[i]);
        Outcome::Outputs(vec![("y".to_owned(), tensor)])
    }

    fn judge(first: &Outcome, second: &Outcome) -> Verdict {
        Twice { backend: "engine", level: "all", first, second }.judge()
    }

    #[test]
    fn every_bit_counts_but_those_of_a_nan() {
        assert_eq!(judge(&outputs([1.0, f64::NAN]), &outputs([1.0, -f64::NAN])), Verdict::Pass);
        for other in [[1.0, 2.000_000_3], [1.0, f64::NAN], [-1.0, 2.0]] {
            assert!(matches!(judge(&outputs([1.0, 2.0]), &outputs(other)), Verdict::Bug(_)), "{other:?}");
        }
        assert!(matches!(judge(&outputs([0.0, 2.0]), &outputs([-0.0, 2.0])), Verdict::Bug(_)));
    }

    #[test]
    fn failing_alike_is_no_news_and_failing_once_is() {
        let [hangs, crashes] = [Fault::Timeout, Fault::Exit { code: 3 }].map(Outcome::Fault);
        assert_eq!(judge(&hangs, &hangs), Verdict::Pass);
        for (first, second) in
            [(&hangs, &crashes), (&outputs([1.0, 2.0]), &hangs), (&hangs, &outputs([1.0, 2.0]))]
        {
            let Verdict::Bug(finding) = judge(first, second) else { panic!("{first:?} {second:?}") };
            assert!(matches!(finding.symptom, Symptom::Fault { .. }), "{finding:?}");
        }
    }

    #[test]
    fn what_is_lacked_once_is_a_refusal_that_comes_and_goes() {
        let lacks = Outcome::Unsupported { why: "Softsign of f64 is not supported".to_owned() };
        let says = "operator not implemented".to_owned();
        let refuses = Outcome::Rejected { stage: Stage::Run, message: says };
        for other in [&lacks, &refuses] {
            let Verdict::Bug(finding) = judge(&outputs([1.0, 2.0]), other) else { panic!("{other:?}") };
            assert!(matches!(finding.symptom, Symptom::Rejected { .. }), "{finding:?}");
        }
    }

    #[test]
    fn a_crash_with_other_threads_is_told_though_the_first_answer_is_wrong() {
        let right = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 1.0);
        let reference = [interp::Bounded::within(right, Vec::new())];
        let names = ["y".to_owned()];
        let expected = Expected { names: &names, outputs: &reference, profile: &interp::Profile::TIGHT };
        let by_bounds = |first: &Outcome, second: &Outcome| {
            Twice { backend: "engine", level: "all", first, second }.judge_by_bounds(&expected)
        };
        let (right, wrong, crashes) =
            (outputs([1.0, 1.0]), outputs([1.0, 2.0]), Outcome::Fault(Fault::Exit { code: 3 }));
        for first in [&right, &wrong] {
            assert!(matches!(by_bounds(first, &crashes), Verdict::Bug(_)), "{first:?}");
        }
        assert!(matches!(by_bounds(&right, &wrong), Verdict::Bug(_)));
        assert!(matches!(by_bounds(&wrong, &outputs([1.0, 3.0])), Verdict::Incomparable(Why::Undecided(_))));
    }
}
