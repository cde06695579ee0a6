//! The faults, a file per family of operators, and one for each kind of mistake that is made in many of them.
//!
//! Each is one that implementations have: a corner forgotten, an attribute not read, an approximation too coarse, an
//! accumulator too narrow. A fault that is not found stays as it is: it shows what cases or values lack. None is a deviation that
//! every profile grants; some are such that only the strictest tells.

mod accumulators;
mod activations;
mod aliases;
mod arithmetic;
mod choices;
mod curves;
mod dtypes;
mod indexing;
mod layout;
mod linear;
mod logic;
mod narrow;
mod norms;
mod nothing;
mod pools;
mod quantized;
mod reductions;
mod refusals;
mod sampled;
mod scattering;
mod shapes;
mod sizes;
mod transposed;
mod windows;

use interp::Profile;

use super::PlantedFault;
use crate::controls::LOOSE;

/// Every fault, family by family and then kind by kind.
const FAMILIES: [&[PlantedFault]; 24] = [
    activations::FAULTS,
    curves::FAULTS,
    arithmetic::FAULTS,
    logic::FAULTS,
    choices::FAULTS,
    shapes::FAULTS,
    layout::FAULTS,
    indexing::FAULTS,
    scattering::FAULTS,
    linear::FAULTS,
    reductions::FAULTS,
    windows::FAULTS,
    transposed::FAULTS,
    quantized::FAULTS,
    pools::FAULTS,
    sampled::FAULTS,
    norms::FAULTS,
    accumulators::FAULTS,
    aliases::FAULTS,
    dtypes::FAULTS,
    narrow::FAULTS,
    nothing::FAULTS,
    refusals::FAULTS,
    sizes::FAULTS,
];

/// Faults that some profiles grant: under these they are none, and the controls `zeros-without-sign`, `extremes-by-comparison` and
/// `denormals-flushed` do the same.
const GRANTED: &[(&str, &[&Profile])] = &[
    ("neg-subtracts-from-zero", LOOSE),
    ("relu-swallows-nan", LOOSE),
    ("max-swallows-nan", LOOSE),
    ("mul-flushes-denormals", LOOSE),
];

/// The profiles under which a fault of this name is none.
pub(crate) fn granted(fault: &str) -> &'static [&'static Profile] {
    GRANTED.iter().find(|(name, _)| *name == fault).map_or(&[], |(_, profiles)| profiles)
}

/// Every fault.
pub fn all() -> impl Iterator<Item = &'static PlantedFault> {
    FAMILIES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::judges::{FIRST, PROFILES};

    #[test]
    fn each_has_a_name_of_its_own_and_an_operator_that_there_is() {
        let names: BTreeSet<&str> = all().map(|f| f.name).collect();
        assert_eq!(names.len(), all().count(), "two faults have one name");
        for fault in all() {
            assert!(ops::find(fault.operator).is_some(), "{}: there is no {}", fault.name, fault.operator);
        }
    }

    #[test]
    fn what_some_profiles_grant_is_a_fault_under_the_strictest() {
        for (name, profiles) in GRANTED {
            assert!(all().any(|fault| fault.name == *name), "there is no {name}");
            assert!(profiles.iter().all(|profile| profile.name != PROFILES[FIRST].name), "{name}");
        }
    }

    #[test]
    fn there_are_enough_and_some_in_every_operator() {
        assert!(all().count() >= 290, "there are {}", all().count());
        let with_one: BTreeSet<&str> = all().map(|f| f.operator).collect();
        let without: Vec<&str> =
            ops::registry().map(|spec| spec.name).filter(|name| !with_one.contains(name)).collect();
        assert!(without.is_empty(), "nothing is planted in {without:?}");
    }

    #[test]
    fn a_hundred_come_from_public_reports_and_say_which() {
        let sources: Vec<&str> = all().filter_map(PlantedFault::source).collect();
        assert!(sources.len() >= 100, "{} name one", sources.len());
        for source in sources {
            let (repository, number) = source.split_once('#').unwrap_or((source, ""));
            let parts: Vec<&str> = repository.split('/').collect();
            assert!(parts.len() == 2 && parts.iter().all(|part| !part.is_empty()), "{source}");
            assert!(number.parse::<u32>().is_ok(), "{source}");
        }
    }
}
