//! Who decides whether an answer is wrong: bounds derived for each element, under each accuracy profile, or a constant for all.

use anyhow::{Context, Result};
use harness::evaluated::Evaluated;
use harness::{Case, case};
use interp::Profile;
use ir::Tensor;
use oracles::{Finding, Verdict};
use worker::Outcome;

use crate::unseen::Seen;

/// The profiles under which answers are judged by bounds, from strict to loose. The first one is that of our own kernels.
pub(crate) const PROFILES: [&Profile; 3] = [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL];

/// What findings call the kernels, and their level.
const NAMES: (&str, &str) = ("faulty", "default");

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

/// How many judges there are: the bounds under each of [`PROFILES`], then each of [`FIXED`].
pub(crate) const JUDGES: usize = PROFILES.len() + FIXED.len();

/// The judge that says where a fault is found: the bounds under the first profile.
pub(crate) const FIRST: usize = 0;

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
    /// What the bounds find under the first profile.
    pub(crate) finding: Option<Box<Finding>>,
    /// Whether each judge has something to find.
    pub(crate) alarms: [bool; JUDGES],
}

/// What is expected on a case, under each profile.
pub(crate) struct Reference {
    /// The outputs with bounds under each of [`PROFILES`]. Their names and values are the same.
    evaluated: [Evaluated; PROFILES.len()],
    all_defined: bool,
}

impl Reference {
    /// Evaluates a case once for each profile.
    pub(crate) fn of(case: &Case) -> Result<Self> {
        let inputs = case::tensors(&case.inputs);
        let evaluate = |profile| {
            let evaluated = Evaluated::of(&case.model, &inputs, profile);
            evaluated.with_context(|| format!("case {} has no reference", case.index))
        };
        let [tight, declared, wgsl] = PROFILES.map(evaluate);
        Ok(Self { evaluated: [tight?, declared?, wgsl?], all_defined: case.all_defined })
    }

    /// Outputs as an engine answers with them.
    pub(crate) fn answer(&self, outputs: Vec<Tensor>) -> Outcome {
        Outcome::Outputs(self.evaluated[FIRST].names.iter().cloned().zip(outputs).collect())
    }

    /// Asks all judges about an answer.
    pub(crate) fn ask(&self, answer: &Outcome) -> Opinion {
        let [tight, declared, wgsl] = std::array::from_fn(|profile| self.finding(profile, answer));
        let [loose, middle, strict] = FIXED.map(|fixed| self.is_off(fixed, answer, tight.is_some()));
        let alarms = [tight.is_some(), declared.is_some(), wgsl.is_some(), loose, middle, strict];
        Opinion { finding: tight, alarms }
    }

    /// What there is to be seen, under each profile, in an answer that is accepted.
    pub(crate) fn seen(&self, answer: &Outcome, right: &Outcome) -> [Seen; PROFILES.len()] {
        std::array::from_fn(|profile| Seen::of(answer, right, &self.evaluated[profile].evaluation.outputs))
    }

    /// What the bounds find under one of the profiles. Where a value is undefined, an engine may refuse.
    pub(crate) fn finding(&self, profile: usize, answer: &Outcome) -> Option<Box<Finding>> {
        match oracles::judge(NAMES.0, NAMES.1, answer, &self.evaluated[profile].expected()) {
            Verdict::Bug(f) if self.all_defined || !f.is_refusal() => Some(f),
            Verdict::Bug(_) | Verdict::Pass | Verdict::Incomparable(_) => None,
        }
    }

    /// Whether an answer is beyond a fixed tolerance. If it holds no outputs, constants agree with the
    /// bounds' verdict `is_wrong`.
    fn is_off(&self, fixed: Fixed, answer: &Outcome, is_wrong: bool) -> bool {
        let Outcome::Outputs(outputs) = answer else { return is_wrong };
        !self.evaluated[FIRST].outputs().all(|(name, judged)| {
            let found = outputs.iter().find(|(n, _)| n == name);
            found.is_some_and(|(_, actual)| fixed.accepts(&judged.tensor, actual))
        })
    }
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
