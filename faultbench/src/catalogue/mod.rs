//! The faults, a file per family of operators.
//!
//! Each is one that implementations have: a corner forgotten, an attribute not read, an approximation too coarse, an
//! accumulator too narrow. A fault that is not found stays as it is: it shows what cases or values lack.

mod activations;
mod arithmetic;
mod choices;
mod indexing;
mod layout;
mod linear;
mod norms;
mod reductions;
mod windows;

use super::PlantedFault;

/// Every fault, family by family.
const FAMILIES: [&[PlantedFault]; 9] = [
    activations::FAULTS,
    arithmetic::FAULTS,
    choices::FAULTS,
    layout::FAULTS,
    indexing::FAULTS,
    linear::FAULTS,
    reductions::FAULTS,
    windows::FAULTS,
    norms::FAULTS,
];

/// Every fault.
pub fn all() -> impl Iterator<Item = &'static PlantedFault> {
    FAMILIES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_and_each_has_a_name_and_an_operator() {
        let names: BTreeSet<&str> = all().map(|f| f.name).collect();
        assert_eq!(names.len(), all().count(), "two faults have one name");
        assert!(names.len() >= 60);
        for fault in all() {
            assert!(ops::find(fault.operator).is_some(), "{}: there is no {}", fault.name, fault.operator);
        }
    }
}
