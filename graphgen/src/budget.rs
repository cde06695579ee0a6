//! How much a graph may take, and how much it should.

use ir::Stream;
use ops::Footprint;
use rand::RngExt;
use serde::Serialize;

/// The amounts that something may come to, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The least, which a graph is grown to; 0 leaves it as it was drawn.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Default for Span {
    fn default() -> Self {
        Self::up_to(u64::MAX)
    }
}

impl Span {
    /// Any amount up to this one.
    pub const fn up_to(most: u64) -> Self {
        Self { least: 0, most }
    }

    /// Whether graphs are to be grown into the span.
    pub const fn is_filled(self) -> bool {
        self.least > 0
    }

    /// Whether there is any bound.
    pub const fn is_bounded(self) -> bool {
        self.least > 0 || self.most < u64::MAX
    }

    /// The span that one graph may take. If the span is to be filled, its end is drawn log-uniformly, and its
    /// start is the part of that end that counts as filled.
    fn of_one(self, stream: Stream) -> Self {
        if !self.is_filled() {
            return self;
        }
        let (low, high) =
            (libm::log((self.least as f64 / FILLED).min(self.most as f64)), libm::log(self.most as f64));
        let most = libm::exp(low + (high - low) * stream.rng().random_range(0.0..=1.0)) as u64;
        let most = most.clamp(self.least, self.most);
        Self { least: ((most as f64 * FILLED) as u64).clamp(self.least, most), most }
    }
}

/// The part of its amount from which on a graph counts as grown to it.
const FILLED: f64 = 0.9;

/// What a span bounds.
pub(crate) type Quantity = fn(&Footprint) -> u64;

/// How much graphs may take, by the conventions of docs/budgets.md.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Budget {
    /// Scalar operations of one evaluation.
    pub flops: Span,
    /// The most bytes that exist at one time.
    #[serde(rename = "peak_bytes")]
    pub peak: Span,
    /// The bytes of all tensors together.
    #[serde(rename = "total_bytes")]
    pub total: Span,
}

impl Budget {
    /// The spans, each with what it bounds.
    pub(crate) fn spans(&self) -> [(Span, Quantity); 3] {
        [(self.flops, |f| f.flops), (self.peak, |f| f.peak), (self.total, |f| f.total)]
    }

    /// Whether any amount has a bound.
    pub fn is_bounded(&self) -> bool {
        self.spans().iter().any(|(span, _)| span.is_bounded())
    }

    /// Whether a graph takes too much.
    pub fn is_exceeded_by(&self, footprint: &Footprint) -> bool {
        self.spans().iter().any(|(span, of)| of(footprint) > span.most)
    }

    /// Whether graphs are to be grown.
    pub fn is_filled(&self) -> bool {
        self.spans().iter().any(|(span, _)| span.is_filled())
    }

    /// A budget with less room: the given share less above the least that is to be filled.
    #[must_use]
    pub fn shrunk(&self, share: f64) -> Self {
        let shrink = |span: Span| {
            let room = span.most.saturating_sub(span.least);
            let is_open = span.most == u64::MAX;
            Span { most: if is_open { span.most } else { span.most - (room as f64 * share) as u64 }, ..span }
        };
        Self { flops: shrink(self.flops), peak: shrink(self.peak), total: shrink(self.total) }
    }

    /// Whether there is one on memory, which takes the whole graph to check.
    pub(crate) fn bounds_memory(&self) -> bool {
        self.peak.is_bounded() || self.total.is_bounded()
    }

    /// How far a graph is from what it should take, as a sum of logarithms: 0 where nothing is missing.
    pub(crate) fn missing(&self, footprint: &Footprint) -> f64 {
        let missing = |(span, of): &(Span, Quantity)| {
            let (least, has) = (span.least.max(1) as f64, of(footprint).max(1) as f64);
            libm::log(least / has).max(0.0)
        };
        self.spans().iter().map(missing).sum()
    }

    /// The budget of one graph.
    pub(crate) fn of_one(&self, stream: Stream) -> Self {
        Self {
            flops: self.flops.of_one(stream.child("flops")),
            peak: self.peak.of_one(stream.child("peak")),
            total: self.total.of_one(stream.child("total")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_spread_over_the_logarithms() {
        let span = Span { least: 1_000_000, most: 100_000_000 };
        let drawn: Vec<Span> = (0..1000).map(|i| span.of_one(Stream::new(i))).collect();
        assert!(drawn.iter().all(|s| s.least >= span.least && s.least <= s.most && s.most <= span.most));
        let above = drawn.iter().filter(|s| s.most > 10_000_000).count();
        assert!((420..=580).contains(&above), "{above} of 1000 are above the middle");
        assert_eq!(Span::up_to(7).of_one(Stream::new(0)), Span::up_to(7));
        let point = Span { least: 5, most: 5 };
        assert_eq!(point.of_one(Stream::new(0)), point);
    }

    #[test]
    fn what_is_missing_is_told_by_every_span() {
        let budget =
            Budget { flops: Span { least: 100, most: 1000 }, peak: Span::up_to(50), ..Budget::default() };
        let footprint = |flops, peak| Footprint { flops, peak, total: 0 };
        assert!(budget.missing(&footprint(10, 0)) > budget.missing(&footprint(50, 0)));
        assert_eq!(budget.missing(&footprint(100, 50)), 0.0);
        assert!(!budget.is_exceeded_by(&footprint(1000, 50)));
        assert!(budget.is_exceeded_by(&footprint(1001, 0)) && budget.is_exceeded_by(&footprint(0, 51)));
    }
}
