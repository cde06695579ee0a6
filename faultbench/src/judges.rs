//! Who decides whether an answer is wrong: bounds derived for each element, or a constant for all.

use harness::{Case, Target};
use interp::Bounded;
use ir::Tensor;
use oracles::{Expected, Finding, Verdict};
use worker::Outcome;

/// A fixed tolerance by the rule of NumPy's `allclose`: |actual − expected| ≤ absolute + relative·|expected|, and NaN
/// equals NaN. As there, it holds for integers too.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Fixed {
    /// In reports.
    pub(crate) name: &'static str,
    relative: f64,
    absolute: f64,
}

/// What is usual, from loose to strict.
pub(crate) const FIXED: [Fixed; 3] = [
    Fixed { name: "rtol 1e-2, atol 1e-3", relative: 1e-2, absolute: 1e-3 },
    Fixed { name: "rtol 1e-3, atol 1e-3", relative: 1e-3, absolute: 1e-3 },
    Fixed { name: "rtol 1e-5, atol 1e-5", relative: 1e-5, absolute: 1e-5 },
];

/// How many judges there are: the bounds, then each of [`FIXED`].
pub(crate) const JUDGES: usize = 1 + FIXED.len();

impl Fixed {
    fn accepts(self, expected: &Tensor, actual: &Tensor) -> bool {
        if expected.ty() != actual.ty() {
            return false;
        }
        let within = |distance: f64, e: f64| distance <= self.absolute + self.relative * e.abs();
        if expected.dtype().is_float() {
            let mut pairs = expected.to_f64s().into_iter().zip(actual.to_f64s());
            pairs.all(|(e, a)| {
                e == a || (e.is_nan() && a.is_nan()) || (e.is_finite() && within((a - e).abs(), e))
            })
        } else {
            let mut pairs = expected.to_i128s().into_iter().zip(actual.to_i128s());
            pairs.all(|(e, a)| within((a - e).abs() as f64, e as f64))
        }
    }
}

/// What the judges make of an answer.
pub(crate) struct Opinion {
    /// What the bounds find.
    pub(crate) finding: Option<Box<Finding>>,
    /// Whether each judge has something to find.
    pub(crate) alarms: [bool; JUDGES],
}

/// Asks all judges about an engine's answer to a case. Where a value is undefined, an engine may refuse.
pub(crate) fn ask(
    target: &Target,
    case: &Case,
    names: &[String],
    reference: &[Bounded],
    answer: &Outcome,
) -> Opinion {
    let expected = Expected { names, outputs: reference, profile: target.profile };
    let finding = match oracles::judge(&target.backend, &target.level, answer, &expected) {
        Verdict::Bug(f) if case.all_defined || !f.is_refusal() => Some(f),
        Verdict::Bug(_) | Verdict::Pass | Verdict::Incomparable(_) => None,
    };
    let mut alarms = [finding.is_some(); JUDGES];
    if let Outcome::Outputs(outputs) = answer {
        for (alarm, fixed) in alarms[1..].iter_mut().zip(FIXED) {
            let close = names.iter().zip(reference).all(|(name, judged)| {
                let found = outputs.iter().find(|(n, _)| n == name);
                found.is_some_and(|(_, actual)| fixed.accepts(&judged.tensor, actual))
            });
            *alarm = !close;
        }
    }
    Opinion { finding, alarms }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{DType, Type};

    #[test]
    fn constants_accept_what_allclose_accepts() {
        let f = |v: f64| Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| v);
        let i = |v: i128| Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| v);
        let loose = FIXED[0];
        assert!(loose.accepts(&f(f64::NAN), &f(f64::NAN)) && loose.accepts(&f(1.0), &f(1.0109)));
        assert!(!loose.accepts(&f(1.0), &f(1.02)) && !loose.accepts(&f(1.0), &f(f64::NAN)));
        assert!(!loose.accepts(&f(f64::INFINITY), &f(1.0)) && !loose.accepts(&f(1.0), &f(f64::INFINITY)));
        assert!(loose.accepts(&i(1000), &i(1009)) && !loose.accepts(&i(10), &i(11)));
        assert!(!loose.accepts(&i(1), &f(1.0)));
    }
}
