//! One part of a campaign that is split over machines.
//!
//! Cases are dealt to the parts in stripes: the first [`STRIPE`] cases to the first part, the next ones to the second, and
//! so on. Dealt one by one they would be unlike: a case's number decides which targets it suits.

use std::cmp::Ordering;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// How many consecutive cases one part gets.
pub const STRIPE: u64 = 64;

/// A part of a campaign: one of a number of parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Shard {
    /// Which part, from 0 to before `count`.
    index: u64,
    /// Of how many.
    count: NonZeroU64,
}

/// A part as a campaign's database has it: any two numbers.
#[derive(Deserialize)]
struct Stored {
    index: u64,
    count: u64,
}

impl TryFrom<Stored> for Shard {
    type Error = String;

    fn try_from(Stored { index, count }: Stored) -> Result<Self, String> {
        Self::new(index, count)
            .ok_or_else(|| format!("there is no part {index}, counted from 0, of {count} parts"))
    }
}

impl Shard {
    /// A campaign that is not split.
    pub const WHOLE: Self = Self { index: 0, count: NonZeroU64::MIN };

    /// Part `index`, counted from 0, of `count` parts; `None` where there is no such part.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        NonZeroU64::new(count).filter(|_| index < count).map(|count| Self { index, count })
    }

    /// Which part it is, from 0.
    pub fn index(self) -> u64 {
        self.index
    }

    /// Of how many parts it is one.
    pub fn count(self) -> NonZeroU64 {
        self.count
    }

    /// All parts of the campaign that this is a part of, in order.
    pub fn siblings(self) -> impl Iterator<Item = Self> {
        (0..self.count.get()).map(move |index| Self { index, ..self })
    }

    /// The index of the `number`-th case of this part. If there is none, `u64::MAX`, which no campaign
    /// reaches.
    pub fn case(self, number: u64) -> u64 {
        let stripe = (number / STRIPE).saturating_mul(self.count.get()).saturating_add(self.index);
        stripe.checked_mul(STRIPE).map_or(u64::MAX, |first| first + number % STRIPE)
    }

    /// Whether this part has a case of the campaign.
    pub fn has(self, case: u64) -> bool {
        case / STRIPE % self.count == self.index
    }

    /// The position within this part of one of its cases. Of a case that it does not have, this says nothing.
    pub fn position(self, case: u64) -> u64 {
        case / STRIPE / self.count * STRIPE + case % STRIPE
    }

    /// How many cases this part has of the campaign's first `cases`.
    pub fn cases_below(self, cases: u64) -> u64 {
        let (whole, rest) = (cases / STRIPE, cases % STRIPE);
        let (rounds, dealt) = (whole / self.count, whole % self.count);
        let last = match dealt.cmp(&self.index) {
            Ordering::Less => 0,
            Ordering::Equal => rest,
            Ordering::Greater => STRIPE,
        };
        rounds * STRIPE + last
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

    fn part(index: u64, count: u64) -> Shard {
        Shard::new(index, count).expect("a part")
    }

    #[test]
    fn the_parts_have_every_case_once_and_in_order() {
        let owner = |case| part(0, 3).siblings().position(|part| part.has(case));
        let mut owners: Vec<Option<usize>> = (0..12 * STRIPE).map(owner).collect();
        owners.dedup();
        assert_eq!(owners, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2].map(Some));
        let mut all = Vec::new();
        for part in part(1, 3).siblings() {
            let cases: Vec<u64> = (0..4 * STRIPE).map(|number| part.case(number)).collect();
            assert!(cases.is_sorted());
            assert!(cases.iter().enumerate().all(|(number, case)| part.position(*case) == number as u64));
            all.extend(cases);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..12 * STRIPE));
    }

    #[test]
    fn a_part_has_as_many_of_the_first_cases_as_it_runs_of_them() {
        assert_eq!((part(0, 4).cases_below(100), part(1, 4).cases_below(100)), (64, 36));
        for part in [1, 3].into_iter().flat_map(|count| part(0, count).siblings()) {
            for cases in 0..8 * STRIPE {
                let run = (0..cases).filter(|&number| part.case(number) < cases).count() as u64;
                assert_eq!(part.cases_below(cases), run, "{part} of {cases}");
            }
        }
        assert_eq!(part(0, 1 << 58).cases_below(u64::MAX), STRIPE);
    }

    #[test]
    fn a_part_that_cannot_be_is_not_read() {
        let read = |text| serde_json::from_str::<Shard>(text).map_err(|e| e.to_string());
        let whole = serde_json::to_string(&Shard::WHOLE).expect("JSON");
        assert_eq!((whole.as_str(), read(&whole)), (r#"{"index":0,"count":1}"#, Ok(Shard::WHOLE)));
        assert_eq!(
            read(r#"{"index":0,"count":0}"#),
            Err("there is no part 0, counted from 0, of 0 parts".into())
        );
        assert!(read(r#"{"index":4,"count":4}"#).is_err() && Shard::new(3, 4).is_some());
    }

    #[test]
    fn a_part_of_too_many_ends_where_numbers_do() {
        let parts = [part(0, 1 << 58), part(u64::MAX - 1, u64::MAX)];
        assert_eq!(parts.map(|part| part.case(0)), [0, u64::MAX]);
        assert_eq!(parts.map(|part| part.case(STRIPE)), [u64::MAX; 2]);
        let last = u64::MAX - STRIPE;
        assert_eq!(Shard::WHOLE.case(last), last);
    }

    #[test]
    fn a_campaign_that_is_not_split_numbers_its_cases_as_they_are() {
        assert!((0..1000).all(|n| Shard::WHOLE.case(n) == n && Shard::WHOLE.position(n) == n));
    }
}
