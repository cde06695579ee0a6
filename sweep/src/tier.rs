//! The tight tier: what good implementations reach, within the liberties that a specification gives.
//!
//! The specification of a shading language grants far more than drivers use: of a sine, 2⁻¹¹. What lies between a good builtin
//! and that is no bug, but its author wants to know. **This is the one place that says what counts as good.**

use interp::{Bounded, Error, Evaluation, Profile, Taps, evaluate};
use ir::Tensor;
use ops::Model;

/// The accuracies of [`Profile::TIGHT`] with the liberties of another profile that say nothing of digits: denormals flushed, the
/// sign of a zero lost. An infinity or NaN is none of them: users call it a bug where the result is a number.
pub fn profile(of: &Profile) -> Profile {
    Profile {
        name: "tight tier",
        rounding: Profile::TIGHT.rounding,
        division: Profile::TIGHT.division,
        moderate_divisors: Profile::TIGHT.moderate_divisors,
        function: Profile::TIGHT.function,
        power: Profile::TIGHT.power,
        remainder_by_formula: Profile::TIGHT.remainder_by_formula,
        nonfinite_is_indeterminate: Profile::TIGHT.nonfinite_is_indeterminate,
        ..*of
    }
}

/// What may be expected of an implementation that keeps a profile.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The profile.
    pub profile: &'static Profile,
    /// The outputs with the bounds that the profile gives.
    pub specified: Vec<Bounded>,
    /// The outputs with the limits of the tight tier.
    pub tight: Vec<Bounded>,
}

impl Reference {
    /// The reference of a model, once for each profile.
    pub fn of(model: &Model, inputs: &[Tensor], profiles: &[&'static Profile]) -> Result<Vec<Self>, Error> {
        profiles.iter().map(|profile| Self::under(model, inputs, profile)).collect()
    }

    fn under(model: &Model, inputs: &[Tensor], profile: &'static Profile) -> Result<Self, Error> {
        let outputs = |profile: &Profile| {
            evaluate(model, inputs, profile, Taps::Outputs).map(|Evaluation { outputs, .. }| outputs)
        };
        let specified = outputs(profile)?;
        let tight = if profile.name == Profile::TIGHT.name {
            specified.clone()
        } else {
            outputs(&self::profile(profile))?
        };
        Ok(Self { profile, specified, tight })
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
        let reference = Reference::of(&model, &[x], &[&Profile::WGSL]).unwrap().remove(0);
        let (wide, narrow) = (&reference.specified[0], &reference.tight[0]);
        assert!(wide.error_at(0) > 4e-4 && narrow.error_at(0) < 1e-6);
        assert!(narrow.error_at(1) >= 1e-40, "a denormal may be flushed");
        assert!(wide.error_at(2).is_infinite() && narrow.error_at(2) == 0.0, "a NaN is due");
    }
}
