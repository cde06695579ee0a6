//! One part of a campaign that is split over machines.
//!
//! Cases are dealt to the parts in stripes: the first [`STRIPE`] cases to the first part, the next ones to the second, and
//! so on. Dealt one by one they would be unlike: a case's number decides which targets it suits.

use serde::{Deserialize, Serialize};

/// How many consecutive cases one part gets.
pub const STRIPE: u64 = 64;

/// Part `index` (from 0) of `count`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// Which part.
    pub index: u64,
    /// The number of parts; not 0.
    pub count: u64,
}

impl Shard {
    /// A campaign that is not split.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// The index of the `number`-th case of this part. If there is none, `u64::MAX`, which no campaign
    /// reaches.
    pub fn case(self, number: u64) -> u64 {
        let stripe = (number / STRIPE).saturating_mul(self.count).saturating_add(self.index);
        stripe.checked_mul(STRIPE).map_or(u64::MAX, |first| first + number % STRIPE)
    }

    /// Which of `count` parts has a case.
    pub fn owner(case: u64, count: u64) -> u64 {
        case / STRIPE % count
    }

    /// The number within this part of one of its cases.
    pub fn number(self, case: u64) -> u64 {
        case / STRIPE / self.count * STRIPE + case % STRIPE
    }
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl std::fmt::Display for Shard {
    /// As `--shard` takes it: from 1.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_have_every_case_once_and_in_order() {
        let mut owners: Vec<u64> = (0..12 * STRIPE).map(|case| Shard::owner(case, 3)).collect();
        owners.dedup();
        assert_eq!(owners, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
        let parts = (0..3).map(|index| Shard { index, count: 3 });
        let mut all = Vec::new();
        for part in parts {
            let cases: Vec<u64> = (0..4 * STRIPE).map(|number| part.case(number)).collect();
            assert!(cases.is_sorted());
            assert!(cases.iter().enumerate().all(|(number, case)| part.number(*case) == number as u64));
            all.extend(cases);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..12 * STRIPE));
    }

    #[test]
    fn a_part_of_too_many_ends_where_numbers_do() {
        let parts = [Shard { index: 0, count: 1 << 58 }, Shard { index: u64::MAX - 1, count: u64::MAX }];
        assert_eq!(parts.map(|part| part.case(0)), [0, u64::MAX]);
        assert_eq!(parts.map(|part| part.case(STRIPE)), [u64::MAX; 2]);
        let last = u64::MAX - STRIPE;
        assert_eq!(Shard::WHOLE.case(last), last);
    }

    #[test]
    fn a_campaign_that_is_not_split_numbers_its_cases_as_they_are() {
        assert!((0..1000).all(|n| Shard::WHOLE.case(n) == n && Shard::WHOLE.number(n) == n));
    }
}
