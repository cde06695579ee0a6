//! The tight tier: what good implementations reach, within the liberties that a specification gives.
//!
//! The specification of a shading language grants far more than drivers use: of a sine, 2⁻¹¹. What lies between a good builtin
//! and that is no bug, but its author wants to know. Nor is an error that grows with the length of a sum, where
//! roundings mostly cancel: the tier of campaigns ([`interp::spread`]) says how far. **This is the one place that says
//! what counts as good.**

use harness::evaluated::Evaluated;
use harness::target::Target;
use interp::{Accumulators, Bounded, Error, Limits, Profile, Taps, Tier, evaluate};
use ir::Tensor;
use ops::Model;

/// A profile [at its best](Profile::at_its_best), without the liberties to go wrong far from 1: to divide by moderate
/// numbers alone, to take a remainder by its formula, and to give anything for an infinity or NaN. Users call it a bug
/// where the result is a number.
pub fn profile(of: &Profile) -> Profile {
    let Profile { moderate_divisors, remainder_by_formula, nonfinite_is_indeterminate, .. } = Profile::TIGHT;
    Profile {
        name: "tight tier",
        moderate_divisors,
        remainder_by_formula,
        nonfinite_is_indeterminate,
        ..of.at_its_best()
    }
}

/// The properties of a backend that decide what may be expected of it.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// The profile that it keeps.
    pub profile: &'static Profile,
    /// The dtypes in which the backend says that it sums.
    accumulators: Accumulators,
}

impl Obligation {
    /// The obligation of a backend that keeps a profile and adds up as most do.
    pub fn new(profile: &'static Profile) -> Self {
        Self { profile, accumulators: Accumulators::default() }
    }

    /// The obligation of a target.
    pub fn of(target: &Target) -> Self {
        Self { profile: target.profile, accumulators: target.description().accumulators().collect() }
    }

    /// The obligations of the targets, each once.
    pub fn all(targets: &[Target]) -> Vec<Self> {
        let mut obligations: Vec<Self> = Vec::new();
        for obligation in targets.iter().map(Self::of) {
            if !obligations.contains(&obligation) {
                obligations.push(obligation);
            }
        }
        obligations
    }
}

impl PartialEq for Obligation {
    fn eq(&self, other: &Self) -> bool {
        self.profile.name == other.profile.name && self.accumulators == other.accumulators
    }
}

/// What may be expected of backends that have an obligation.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The obligation.
    pub obligation: Obligation,
    /// The outputs with the bounds that the profile gives.
    pub specified: Evaluated,
    /// The outputs with the limits of the tight tier.
    pub tight: Vec<Bounded>,
}

impl Reference {
    /// The reference of a model, once for each obligation.
    pub fn of(model: &Model, inputs: &[Tensor], obligations: &[Obligation]) -> Result<Vec<Self>, Error> {
        obligations.iter().map(|obligation| Self::under(model, inputs, obligation)).collect()
    }

    fn under(model: &Model, inputs: &[Tensor], obligation: &Obligation) -> Result<Self, Error> {
        let good = profile(obligation.profile);
        let specified = Evaluated::of(model, inputs, obligation.profile)?;
        let outputs = &specified.evaluation.outputs;
        let mut tight = if obligation.profile.name == Profile::TIGHT.name {
            outputs.clone()
        } else {
            evaluate(model, inputs, &good, Taps::Outputs)?.outputs
        };
        let limits = interp::limits(model, inputs, &Tier::new(&good, obligation.accumulators.clone()))?;
        for ((bounded, limits), specified) in tight.iter_mut().zip(&limits).zip(outputs) {
            narrow(bounded, limits, specified);
        }
        Ok(Self { obligation: obligation.clone(), specified, tight })
    }
}

/// No element is further off than good implementations are: errors of long sums cancel. None is further off than is
/// specified: a good builtin in f32 whose result is rounded may be further off than one that is specified in halves. Of
/// what is open to them too, no number is right.
fn narrow(bounded: &mut Bounded, limits: &Limits, specified: &Bounded) {
    for (i, error) in bounded.error.iter_mut().enumerate().filter(|(_, error)| error.is_finite()) {
        *error = error.min(limits.at(i)).min(specified.error_at(i));
    }
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};

    use super::*;

    #[test]
    fn the_tight_tier_is_narrower_than_the_specification_and_flushes_as_it_does() {
        let text = "onnxsmith 1 opset 17 graph { %0: f32[3] = variable \"x\" %1: f32[3] = Sin(%0) return \"y\" = %1 }";
        let model: Model = text.parse().unwrap();
        let numbers = [1.0, 1e-40, f64::NAN];
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| numbers[i]);
        let reference = Reference::of(&model, &[x], &[Obligation::new(&Profile::WGSL)]).unwrap().remove(0);
        let (wide, narrow) = (&reference.specified.evaluation.outputs[0], &reference.tight[0]);
        assert!(wide.error_at(0) > 4e-4 && narrow.error_at(0) < 1e-6);
        assert!(narrow.error_at(1) >= 1e-40, "a denormal may be flushed");
        assert!(wide.error_at(2).is_infinite() && narrow.error_at(2) == 0.0, "a NaN is due");
    }

    #[test]
    fn what_is_open_to_good_implementations_is_not_held_against_a_number() {
        let text = "onnxsmith 1 opset 17 graph { %0: f32[2] = variable \"x\" \
                    %1: i64[1, 2] = NonZero(%0) {count = 2} return \"y\" = %1 }";
        let model: Model = text.parse().unwrap();
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| [1e-40, 1.0][i]);
        let reference = Reference::of(&model, &[x], &[Obligation::new(&Profile::WGSL)]).unwrap().remove(0);
        assert!(reference.tight[0].error_at(0).is_infinite(), "a denormal may be flushed, and be zero");
    }

    #[test]
    fn a_long_sum_is_granted_less_than_the_worst_order_of_roundings() {
        let text = "onnxsmith 1 opset 17 graph { %0: f32[4096] = variable \"x\" %1: f32[1] = ReduceSum(%0) return \"y\" = %1 }";
        let model: Model = text.parse().unwrap();
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [4096]), |i| 1.0 + (i % 7) as f64 / 7.0);
        for profile in [&Profile::TIGHT, &Profile::WGSL] {
            let reference = Reference::of(&model, std::slice::from_ref(&x), &[Obligation::new(profile)])
                .unwrap()
                .remove(0);
            let (wide, narrow) =
                (reference.specified.evaluation.outputs[0].error_at(0), reference.tight[0].error_at(0));
            assert!(narrow > 0.0 && narrow < wide / 8.0, "{}: {narrow} of {wide}", profile.name);
        }
    }
}
