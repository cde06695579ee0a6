//! How much a profile leaves open of a model's outputs.
//!
//! What conforming implementations may disagree about is not judged, so values on which much is open test little. Where the profile
//! that promises least still says something, all others do.

use interp::Profile;
use interp::evaluate::Undecided;
use ops::Model;

use crate::found::Tensors;

/// Of the profiles that engines keep to, the one that promises least.
pub(crate) const LEAST: &Profile = &Profile::WGSL_RUNTIME;

/// The share of open elements that is no reason to look for other values.
pub(crate) const FEW: f64 = 0.02;

/// The share of the outputs' elements that are undecidable or undefined under a profile, on some values and others.
pub(crate) struct Openness<'m>(Undecided<'m>);

impl<'m> Openness<'m> {
    /// Of a model's outputs.
    pub(crate) fn new(model: &'m Model, profile: &'m Profile) -> Self {
        Self(Undecided::new(model, profile))
    }

    /// The share on these values.
    pub(crate) fn on(&mut self, tensors: &Tensors) -> f64 {
        let (open, all) = self.0.on(&|id| tensors.get(&id));
        open as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use interp::Casts;

    use super::*;

    /// Each liberty of a profile, and whether it is taken.
    fn liberties(profile: &Profile) -> [bool; 18] {
        let Profile {
            // What steps promise.
            name: _,
            rounding: _,
            division: _,
            function: _,
            power: _,
            library: _,
            // Compared below, or met by drawing anew.
            partial_sums: _,
            transforms_convolutions: _,
            scales_exactly,
            moderate_divisors,
            exact_powers,
            powers_by_products,
            remainder_by_formula,
            widens_halves,
            widens_steps,
            casts,
            narrows_positions,
            nan_may_lose,
            integers_may_saturate,
            running_variance,
            one_pass_variance,
            folds,
            flush_to_zero,
            ignores_zero_sign,
            nonfinite_is_indeterminate,
        } = *profile;
        [
            !scales_exactly,
            moderate_divisors,
            !exact_powers,
            powers_by_products,
            remainder_by_formula,
            widens_halves,
            widens_steps,
            casts != Casts::Once,
            casts == Casts::Either,
            narrows_positions,
            nan_may_lose,
            integers_may_saturate,
            running_variance,
            one_pass_variance,
            folds,
            flush_to_zero,
            ignores_zero_sign,
            nonfinite_is_indeterminate,
        ]
    }

    #[test]
    fn what_any_profile_leaves_open_so_does_the_one_that_promises_least() {
        // What transforms convolutions says so, and is met by drawing anew.
        for profile in Profile::ALL {
            let are_its =
                liberties(profile).into_iter().zip(liberties(LEAST)).all(|(one, least)| least || !one);
            assert!(are_its && LEAST.partial_sums <= profile.partial_sums, "{}", profile.name);
            let divides = |dtype| (LEAST.division)(dtype) >= (profile.division)(dtype);
            let is_as_rough = LEAST.rounding >= profile.rounding && divides(ir::DType::F32);
            assert!(is_as_rough, "{}", profile.name);
        }
    }
}
