//! What generated models take: operations and memory, one by one and as distributions.

use std::collections::BTreeMap;

use graphgen::{Budget, Span};
use ops::Footprint;
use serde::{Deserialize, Serialize};

use crate::counts;

/// What a model takes, as files tell it. See docs/budgets.md for what counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Takes {
    /// Scalar operations of one evaluation.
    pub flops: u64,
    /// The most bytes of tensors that exist at one time.
    pub peak_bytes: u64,
    /// The bytes of all tensors together.
    pub total_bytes: u64,
}

impl From<Footprint> for Takes {
    fn from(f: Footprint) -> Self {
        Self { flops: f.flops, peak_bytes: f.peak, total_bytes: f.total }
    }
}

/// What models take, each quantity on its own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Footprints {
    /// Scalar operations.
    pub flops: Amounts,
    /// The most bytes that exist at one time.
    pub peak_bytes: Amounts,
    /// The bytes of all tensors.
    pub total_bytes: Amounts,
}

/// The distribution of an amount.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Amounts {
    /// How many models there are.
    pub models: u64,
    /// The smallest amount.
    pub least: u64,
    /// The largest one.
    pub most: u64,
    /// All together.
    pub sum: u64,
    /// How many models there are, by the exponent of the largest power of two that their amount reaches: 10 stands for
    /// 1,024 to 2,047, and -1 for nothing.
    pub octaves: BTreeMap<i32, u64>,
    /// The amounts that were asked for, if models are grown into a budget: the least and the most, from the first model
    /// on.
    pub budget: Option<(u64, u64)>,
    /// How many models lie within them.
    pub inside: u64,
}

impl Footprints {
    /// Counts a model that was made within a budget.
    pub fn add(&mut self, footprint: &Footprint, budget: &Budget) {
        self.flops.add(footprint.flops, budget.flops);
        self.peak_bytes.add(footprint.peak, budget.peak);
        self.total_bytes.add(footprint.total, budget.total);
    }

    /// Adds what other models take.
    pub fn merge(&mut self, more: Self) {
        self.flops.merge(more.flops);
        self.peak_bytes.merge(more.peak_bytes);
        self.total_bytes.merge(more.total_bytes);
    }

    /// The quantities, by name.
    pub fn each(&self) -> [(&'static str, &Amounts); 3] {
        [("FLOPs", &self.flops), ("peak bytes", &self.peak_bytes), ("total bytes", &self.total_bytes)]
    }
}

impl Amounts {
    fn add(&mut self, amount: u64, span: Span) {
        self.merge(Self {
            models: 1,
            least: amount,
            most: amount,
            sum: amount,
            octaves: [(amount.checked_ilog2().map_or(-1, |octave| octave as i32), 1)].into(),
            budget: span.is_bounded().then_some((span.least, span.most)),
            inside: u64::from((span.least..=span.most).contains(&amount)),
        });
    }

    fn merge(&mut self, more: Self) {
        if more.models == 0 {
            return;
        }
        self.least = if self.models == 0 { more.least } else { self.least.min(more.least) };
        self.models += more.models;
        self.most = self.most.max(more.most);
        self.sum = self.sum.saturating_add(more.sum);
        counts::add(&mut self.octaves, more.octaves);
        self.budget = self.budget.or(more.budget);
        self.inside += more.inside;
    }

    /// The lower end of the octave that the median is in.
    pub fn median(&self) -> u64 {
        let half = self.models.div_ceil(2);
        let mut below = 0;
        let middle = self.octaves.iter().find(|(_, count)| {
            below += **count;
            below >= half
        });
        middle.map_or(0, |(octave, _)| u32::try_from(*octave).map_or(0, |octave| 1 << octave))
    }

    /// The mean share of the budget's upper end that a model takes, where there is one.
    pub fn share_of_budget(&self) -> Option<f64> {
        let (_, most) = self.budget.filter(|_| self.models > 0)?;
        Some(self.sum as f64 / self.models as f64 / most as f64)
    }

    /// Whether most models lie below what was asked for: the operators, or the sizes that tensors may have, allow no more.
    pub fn is_out_of_reach(&self) -> bool {
        let (least, _) = self.budget.unwrap_or_default();
        least > 0 && 2 * self.inside < self.models
    }

    /// In words.
    pub fn text(&self, name: &str) -> String {
        let mut out = format!(
            "{name} of a model: {} to {}, half of them from about {} on",
            self.least,
            self.most,
            self.median()
        );
        if let (Some((least, most)), Some(share)) = (self.budget, self.share_of_budget()) {
            let inside = 100.0 * self.inside as f64 / self.models as f64;
            out += &format!(
                "; {inside:.0} % within {least} to {most}, {:.1} % of the upper end on average",
                100.0 * share
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_counted_by_octave_and_against_the_budget() {
        let budget = Budget { flops: Span { least: 100, most: 1000 }, ..Budget::default() };
        let mut all = Footprints::default();
        for flops in [0, 100, 127, 128, 1000] {
            all.add(&Footprint { flops, peak: 1, total: 1 }, &budget);
        }
        let flops = &all.flops;
        assert_eq!((flops.models, flops.least, flops.most, flops.inside), (5, 0, 1000, 4));
        assert_eq!(flops.octaves, [(-1, 1), (6, 2), (7, 1), (9, 1)].into());
        assert_eq!(flops.median(), 64);
        assert_eq!(flops.share_of_budget(), Some(0.271));
        assert_eq!(all.peak_bytes.share_of_budget(), None);
        let mut twice = all.clone();
        twice.merge(all);
        assert_eq!((twice.flops.models, twice.flops.inside, twice.flops.least), (10, 8, 0));
        assert!(!twice.flops.is_out_of_reach() && !twice.peak_bytes.is_out_of_reach());
        (0..7).for_each(|_| twice.add(&Footprint::default(), &budget));
        assert!(twice.flops.is_out_of_reach(), "8 of 17");
    }
}
