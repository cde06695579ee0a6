//! Intervals of integers, and how an operation carries bounds from its operands to its result and back.
//!
//! Every function here is *sound*: it never excludes a value that takes part in a solution of `z = a op b`.
//! None is complete, since the true set of values may have holes (multiples, divisors) that an interval cannot
//! show. On single values `result` is exact, and that is all the search relies on.

use ir::dim::SymOp;

/// All integers from `lo` to `hi`; empty where `lo > hi`.
///
/// Bounds stay within ±[`i64::MAX`]. Leaving out [`i64::MIN`] makes the range symmetric, so that negation and
/// division of bounds cannot overflow, and makes that number, which marks an overflow, a member of no interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) lo: i64,
    pub(super) hi: i64,
}

impl Interval {
    /// Every number that an expression may have.
    pub(super) const ALL: Self = Self { lo: -i64::MAX, hi: i64::MAX };
    const EMPTY: Self = Self { lo: 1, hi: 0 };

    /// The numbers of `lo..=hi` that an `i64` can hold: what lies beyond would be an overflow.
    fn within(lo: i128, hi: i128) -> Self {
        let (lo, hi) = (lo.max(Self::ALL.lo as i128), hi.min(Self::ALL.hi as i128));
        if lo > hi { Self::EMPTY } else { Self { lo: lo as i64, hi: hi as i64 } }
    }

    pub(super) fn new(lo: i64, hi: i64) -> Self {
        Self::within(lo as i128, hi as i128)
    }

    pub(super) fn point(value: i64) -> Self {
        Self::new(value, value)
    }

    pub(super) fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// The value, where there is only one.
    pub(super) fn fixed(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }

    pub(super) fn contains(self, value: i64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// The numbers in both.
    pub(super) fn meet(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The smallest interval that holds both.
    pub(super) fn hull(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) },
        }
    }

    fn negated(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

/// The values that `a op b` can have. `a` and `b` are not empty.
pub(super) fn result(op: SymOp, a: Interval, b: Interval) -> Interval {
    match op {
        SymOp::Add => sum(a, b),
        SymOp::Sub => sum(a, b.negated()),
        SymOp::Mul => {
            let corners =
                [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(x, y)| x as i128 * y as i128);
            let (lo, hi) = corners.iter().fold((i128::MAX, i128::MIN), |(lo, hi), &v| (lo.min(v), hi.max(v)));
            Interval::within(lo, hi)
        }
        SymOp::Div => {
            let b = b.meet(Interval::new(1, i64::MAX));
            if b.is_empty() {
                return Interval::EMPTY;
            }
            // Floor division grows with the dividend, and with the divisor moves towards zero (or -1).
            let lo = a.lo.div_euclid(if a.lo < 0 { b.lo } else { b.hi });
            let hi = a.hi.div_euclid(if a.hi < 0 { b.hi } else { b.lo });
            Interval { lo, hi }
        }
        SymOp::Min => Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) },
        SymOp::Max => Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) },
    }
}

/// The values that `a` can have where `a op b = z`. `z` and `b` are not empty.
pub(super) fn left(op: SymOp, z: Interval, b: Interval) -> Interval {
    match op {
        SymOp::Add => sum(z, b.negated()),
        SymOp::Sub => sum(z, b),
        SymOp::Mul => factor(z, b),
        SymOp::Div => dividend(z, b),
        SymOp::Min => at_least(z, b),
        SymOp::Max => at_least(z.negated(), b.negated()).negated(),
    }
}

/// The values that `b` can have where `a op b = z`. `z` and `a` are not empty.
pub(super) fn right(op: SymOp, z: Interval, a: Interval) -> Interval {
    match op {
        SymOp::Add | SymOp::Mul | SymOp::Min | SymOp::Max => left(op, z, a),
        SymOp::Sub => sum(a, z.negated()),
        SymOp::Div => divisor(z, a),
    }
}

fn sum(a: Interval, b: Interval) -> Interval {
    Interval::within(a.lo as i128 + b.lo as i128, a.hi as i128 + b.hi as i128)
}

/// The `a` of `a · b = z`.
fn factor(z: Interval, b: Interval) -> Interval {
    if z.contains(0) && b.contains(0) {
        return Interval::ALL;
    }
    let positive = quotient(z, b.meet(Interval::new(1, i64::MAX)));
    let negative = quotient(z.negated(), b.negated().meet(Interval::new(1, i64::MAX)));
    positive.hull(negative)
}

/// The `a` of `a · b = z` for positive `b`.
fn quotient(z: Interval, b: Interval) -> Interval {
    if b.is_empty() {
        return Interval::EMPTY;
    }
    let ceil = |x: i64, y: i64| -((-x).div_euclid(y));
    let lo = ceil(z.lo, if z.lo > 0 { b.hi } else { b.lo });
    let hi = z.hi.div_euclid(if z.hi > 0 { b.lo } else { b.hi });
    if lo > hi { Interval::EMPTY } else { Interval { lo, hi } }
}

/// The `a` of `floor(a / b) = z`, which is `z·b ≤ a < (z + 1)·b`.
fn dividend(z: Interval, b: Interval) -> Interval {
    let b = b.meet(Interval::new(1, i64::MAX));
    let (lo, above) = (z.lo as i128, z.hi as i128 + 1);
    let least = lo * if lo < 0 { b.hi } else { b.lo } as i128;
    let beyond = above * if above < 0 { b.lo } else { b.hi } as i128;
    Interval::within(least, beyond - 1)
}

/// The `b` of `floor(a / b) = z`: from `z·b ≤ a` where `z` is positive, and from `a < (z + 1)·b` where neither
/// side is negative. Negative quotients give no bound; sizes have none.
fn divisor(z: Interval, a: Interval) -> Interval {
    let hi = if z.lo > 0 { a.hi.div_euclid(z.lo) } else { i64::MAX };
    let lo = if a.lo >= 0 && z.hi >= 0 { a.lo as i128 / (z.hi as i128 + 1) + 1 } else { 1 };
    Interval::within(lo, hi as i128)
}

/// The `a` of `min(a, b) = z`: never below `z`, and `z` itself where `b` is too large to be it.
fn at_least(z: Interval, b: Interval) -> Interval {
    Interval { lo: z.lo, hi: if b.lo > z.hi { z.hi } else { i64::MAX } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [SymOp; 6] = [SymOp::Add, SymOp::Sub, SymOp::Mul, SymOp::Div, SymOp::Min, SymOp::Max];

    fn small() -> impl Iterator<Item = Interval> {
        (-4..=4).flat_map(|lo| (lo..=4).map(move |hi| Interval::new(lo, hi)))
    }

    #[test]
    fn no_solution_is_excluded() {
        for op in OPS {
            for (a, b) in small().flat_map(|a| small().map(move |b| (a, b))) {
                for (x, y) in (a.lo..=a.hi).flat_map(|x| (b.lo..=b.hi).map(move |y| (x, y))) {
                    let Some(value) = op.apply(x, y) else { continue };
                    assert!(result(op, a, b).contains(value), "{op:?} {a:?} {b:?} {value}");
                    for z in [Interval::point(value), Interval::new(value - 2, value + 3)] {
                        assert!(left(op, z, b).contains(x), "{x} = left of {op:?} {z:?} {b:?}");
                        assert!(right(op, z, a).contains(y), "{y} = right of {op:?} {z:?} {a:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn single_values_give_the_exact_result_and_overflow_gives_none() {
        let edges = [-i64::MAX, -i64::MAX + 1, -7, -1, 0, 1, 2, 7, i64::MAX - 1, i64::MAX];
        for op in OPS {
            for (x, y) in edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))) {
                let exact = op.apply(x, y).filter(|&v| v != i64::MIN);
                let z = result(op, Interval::point(x), Interval::point(y));
                let agrees = exact.map_or(z.is_empty(), |v| z.fixed() == Some(v));
                assert!(agrees, "{op:?} {x} {y} {z:?}");
            }
        }
    }

    #[test]
    fn bounds_that_sizes_need_are_tight() {
        let i = Interval::new;
        assert_eq!(left(SymOp::Mul, i(12, 12), i(2, 6)), i(2, 6));
        assert_eq!(left(SymOp::Mul, i(7, 9), i(5, 5)), Interval::EMPTY);
        assert_eq!(left(SymOp::Mul, i(3, 3), i(0, 5)), i(1, 3));
        assert_eq!(left(SymOp::Div, i(3, 4), i(2, 2)), i(6, 9));
        assert_eq!(right(SymOp::Div, i(3, 3), i(10, 10)), i(3, 3));
        assert_eq!(left(SymOp::Min, i(2, 3), i(5, 9)), i(2, 3));
        assert_eq!(left(SymOp::Max, i(2, 3), i(0, 1)), i(2, 3));
    }
}
