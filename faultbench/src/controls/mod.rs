//! Controls: implementations that are conforming and different. Each that is called wrong is a false alarm.
//!
//! | module | holds |
//! |---|---|
//! | `ways` | those that calculate in another way in every operator |
//! | `way` | what differs between implementations, as data |
//! | `arithmetic`, `sums`, `functions` | the number system of such a way |
//! | `bodies`, `formulas`, `products` | those that compute one operator by other steps: ONNX's function bodies, and what else is usual |
//! | `chain` | operators after each other in place of a kernel |
//! | `walk` | running a model in the number system |
//! | [`mod@bench`] | trying every control on the same cases |
//! | [`report`] | what came of it |

mod arithmetic;
pub mod bench;
mod bodies;
mod chain;
mod formulas;
mod functions;
mod products;
pub mod report;
mod sums;
mod walk;
mod way;
mod ways;

use interp::Profile;
use ir::Tensor;
use ops::Model;

use crate::Wrong;
use crate::judges::PROFILES;
use crate::kernels::with_kernel;
use way::Way;

/// An implementation that is right, and not as our kernels are.
pub struct Control {
    /// What it is called.
    pub(crate) name: &'static str,
    /// How it calculates.
    pub(crate) does: &'static str,
    /// The profiles that it conforms to.
    conforms: &'static [&'static Profile],
    kind: Difference,
    /// Why it may be called wrong although it conforms, while nobody has mended that.
    pub(crate) open: Option<&'static str>,
}

/// What is different.
enum Difference {
    /// The arithmetic of every operator.
    Way(Way),
    /// The kernel of one operator, where it gives something.
    Kernel {
        /// The operator.
        operator: &'static str,
        /// Its outputs by other steps.
        kernel: Wrong,
    },
}

/// Every profile.
const ALL: &[&Profile] = &PROFILES;
/// The profiles that let an implementation lose denormals and signs of zeros, and divide by a reciprocal.
pub(crate) const LOOSE: &[&Profile] = &[&Profile::DECLARED, &Profile::WGSL];
const DECLARED: &[&Profile] = &[&Profile::DECLARED];
const WGSL: &[&Profile] = &[&Profile::WGSL];
/// The profiles whose functions have an error in ULP, or a formula that allows more.
const OPEN_CL: &[&Profile] = &[&Profile::TIGHT, &Profile::DECLARED];

/// Every control.
pub(crate) fn all() -> impl Iterator<Item = &'static Control> {
    [ways::CONTROLS, bodies::CONTROLS, products::CONTROLS, formulas::CONTROLS].into_iter().flatten()
}

/// The names of all controls.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|control| control.name)
}

impl Control {
    /// One that computes an operator by other steps.
    const fn of(
        name: &'static str,
        operator: &'static str,
        does: &'static str,
        conforms: &'static [&'static Profile],
        kernel: Wrong,
    ) -> Self {
        Self { name, does, conforms, kind: Difference::Kernel { operator, kernel }, open: None }
    }

    /// Whether it conforms to a profile.
    pub(crate) fn conforms_to(&self, profile: &Profile) -> bool {
        self.conforms.iter().any(|own| own.name == profile.name)
    }

    /// The names of the profiles that it conforms to.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &'static str> {
        self.conforms.iter().map(|profile| profile.name)
    }

    /// Whether it calculates in another way than the plain one: with that it is compared, and not with our kernels, from which the plain
    /// way itself differs.
    pub(crate) fn is_another_way(&self) -> bool {
        matches!(self.kind, Difference::Way(way) if way != Way::PLAIN)
    }

    /// Its outputs; `None` where nothing in the model is computed in its way.
    pub(crate) fn outputs(&self, model: &Model, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
        match &self.kind {
            Difference::Way(way) => walk::outputs(*way, model, inputs),
            Difference::Kernel { operator, kernel } => with_kernel(operator, *kernel, model, inputs),
        }
    }
}

/// The outputs by the plain way to calculate.
pub(crate) fn plain(model: &Model, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
    walk::run(Way::PLAIN, model, inputs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_and_each_conforms_to_something() {
        let names: BTreeSet<&str> = all().map(|control| control.name).collect();
        assert_eq!(names.len(), all().count(), "two controls have one name");
        assert!(names.len() >= 40, "{}", names.len());
        assert!(all().all(|control| control.profiles().count() > 0));
        for profile in PROFILES {
            let count = all().filter(|control| control.conforms_to(profile)).count();
            assert!(count >= 20, "{}: {count}", profile.name);
        }
    }

    #[test]
    fn every_operator_with_a_kernel_of_its_own_is_in_the_registry() {
        for control in all() {
            if let Difference::Kernel { operator, .. } = control.kind {
                assert!(ops::find(operator).is_some(), "{}: there is no {operator}", control.name);
            }
        }
    }
}
