//! NonMaxSuppression, written out: the selected boxes are found from the given corners and scores.
//!
//! ONNX: [NonMaxSuppression](https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html). The selection becomes a
//! constant, given the corners and scores that it was found from. Overlaps are computed in f32, and each step is
//! rounded either way. If that decides whether an overlap is above the threshold, the operator is refused. So is a
//! score that is exactly the threshold: the text keeps it, and implementations do not. Of equal scores the first counts
//! as the higher one, as in ONNX's tests.

use std::sync::Arc;

use ir::{DType, Tensor, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind, given_value, need};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is NonMaxSuppression.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "NonMaxSuppression" => Some(suppressed),
        _ => None,
    }
}

/// How many pairs of boxes are compared.
const MOST: u64 = 1 << 28;

/// What implementations may have for a number: the ends of what f32 rounds it to.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn exact(number: f64) -> Self {
        Self { low: number, high: number }
    }

    /// The numbers of f32 around what a step gives.
    fn rounded(low: f64, high: f64) -> Self {
        let below = |x: f64| {
            let near = x as f32;
            f64::from(if f64::from(near) > x { near.next_down() } else { near })
        };
        Self { low: below(low), high: -below(-high) }
    }

    fn add(self, other: Self) -> Self {
        Self::rounded(self.low + other.low, self.high + other.high)
    }

    fn sub(self, other: Self) -> Self {
        Self::rounded(self.low - other.high, self.high - other.low)
    }

    /// The product of numbers that are not negative.
    fn mul(self, other: Self) -> Self {
        Self::rounded(self.low * other.low, self.high * other.high)
    }

    /// The quotient of numbers that are not negative.
    fn div(self, other: Self) -> Self {
        Self::rounded(self.low / other.high, self.high / other.low)
    }

    fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// Whether it is above a number; `None` where some implementations have it so and others not.
    fn is_above(self, number: f64) -> Option<bool> {
        match (self.low > number, self.high > number) {
            (true, true) => Some(true),
            (false, false) => Some(false),
            _ => None,
        }
    }
}

/// A box: where it begins and ends along two axes.
#[derive(Clone, Copy)]
struct Area([[Span; 2]; 2]);

impl Area {
    /// From two opposite corners.
    fn of_corners([a, b, c, d]: [f64; 4]) -> Self {
        let along = |a: f64, b: f64| [Span::exact(a.min(b)), Span::exact(a.max(b))];
        Self([along(b, d), along(a, c)])
    }

    /// From a middle, a width and a height.
    fn of_middle([x, y, width, height]: [f64; 4]) -> Self {
        let along = |middle: f64, size: f64| {
            let (middle, half) = (Span::exact(middle), Span::rounded(size / 2.0, size / 2.0));
            [middle.sub(half), middle.add(half)]
        };
        Self([along(x, width), along(y, height)])
    }

    fn size(self) -> Option<Span> {
        let [x, y] = self.0.map(|[low, high]| high.sub(low));
        match (x.is_above(0.0), y.is_above(0.0)) {
            (Some(true), Some(true)) => Some(x.mul(y)),
            (Some(false), _) | (_, Some(false)) => Some(Span::exact(0.0)),
            _ => None,
        }
    }

    /// Whether so much of both together is common to them that one is suppressed; `None` where it hangs on rounding.
    fn suppresses(self, other: Self, threshold: f64) -> Option<bool> {
        let mut common = self;
        for (axis, [low, high]) in common.0.iter_mut().enumerate() {
            let [first, last] = other.0[axis];
            (*low, *high) = (low.max(first), high.min(last));
        }
        let (common, a, b) = (common.size()?, self.size()?, other.size()?);
        if [common, a, b].contains(&Span::exact(0.0)) {
            return Some(false);
        }
        let all = a.add(b).sub(common);
        if !all.is_above(0.0)? {
            return Some(false);
        }
        common.div(all).is_above(threshold)
    }
}

/// What bounds the boxes that are selected of each class.
struct Limits {
    /// How many they are.
    most: i128,
    /// How much of two boxes is common to both.
    threshold: f64,
    /// The score, where there is such a bound.
    least: Option<f64>,
}

impl Limits {
    /// The limits that operands 2 and later state. Each operand is one number.
    fn of(operands: [Option<Arc<Tensor>>; 3]) -> Result<Self, Error> {
        for (i, operand) in operands.iter().enumerate() {
            if let Some(operand) = operand.as_ref().filter(|operand| operand.len() != 1) {
                return Err(misshapen(2 + i, &operand.ty(), "one number"));
            }
        }
        let [most, threshold, least] = operands;
        let number = |of: Arc<Tensor>| of.to_f64s()[0];
        let threshold = threshold.map_or(0.0, number);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::invalid("operand 3", format!("{threshold} is not from 0 to 1")));
        }
        Ok(Self { most: most.map_or(0, |most| most.to_i128s()[0]), threshold, least: least.map(number) })
    }
}

fn suppressed<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<5>(walk, source)?;
    let given = GivenAttributes::of(source);
    let is_middle = given.int("center_point_box", 0);
    given.finish()?;
    let [boxes, scores] = [walk.ty(there(&operands, 0)?), walk.ty(there(&operands, 1)?)];
    let (&[batch, count, 4], &[also, classes, each]) = (&boxes.shape[..], &scores.shape[..]) else {
        return Err(misshapen(0, &boxes, &format!("of batch, boxes and 4 numbers, for scores {scores}")));
    };
    if also != batch || each != count || !(0..=1).contains(&is_middle) {
        return Err(misshapen(1, &scores, &format!("of batch, classes and boxes, for boxes {boxes}")));
    }
    let mut from: Vec<Value> = Vec::new();
    let mut read = |walk: &mut Walk<'p, '_>, i: usize| -> Result<Option<Arc<Tensor>>, Error> {
        if operands[i].is_none() {
            return Ok(None);
        }
        let (tensor, read) = walk.read(need(source.node, i)?)?;
        from.extend(read);
        Ok(Some(tensor))
    };
    let lacking = || Error::invalid("operands", "boxes and scores must be there");
    let numbers = read(walk, 0)?.ok_or_else(lacking)?.to_f64s();
    let scores = read(walk, 1)?.ok_or_else(lacking)?.to_f64s();
    let limits = Limits::of([read(walk, 2)?, read(walk, 3)?, read(walk, 4)?])?;
    let pairs = (scores.len() as u64).saturating_mul(count as u64);
    if pairs > MOST {
        return Err(Error::unsupported("operator NonMaxSuppression", format!("{pairs} pairs of boxes")));
    }
    if numbers.iter().chain(&scores).any(|number| !number.is_finite()) {
        return Err(Error::unsupported("operands", "not all of them are finite numbers"));
    }
    let area = |of: &[f64]| {
        let of = [of[0], of[1], of[2], of[3]];
        if is_middle == 0 { Area::of_corners(of) } else { Area::of_middle(of) }
    };
    let areas: Vec<Area> = numbers.chunks_exact(4).map(area).collect();
    let mut selected = Vec::new();
    for (row, scores) in scores.chunks_exact((count as usize).max(1)).enumerate() {
        let (of_batch, class) = (row as i64 / classes.max(1), row as i64 % classes.max(1));
        let areas = &areas[of_batch as usize * count as usize..][..count as usize];
        for place in chosen(areas, scores, &limits)? {
            selected.push([of_batch, class, place as i64]);
        }
    }
    let y = walk.integers(DType::I64, &[selected.len() as i64, 3], |i| selected[i / 3][i % 3].into())?;
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The selected boxes of one class, in the order of their selection.
fn chosen(areas: &[Area], scores: &[f64], limits: &Limits) -> Result<Vec<usize>, Error> {
    let &Limits { most, threshold, least } = limits;
    if least.is_some_and(|least| scores.contains(&least)) {
        let why = "one is the threshold, which ONNX's text keeps and its reference implementation does not";
        return Err(Error::unsupported("operand 1", why));
    }
    let mut order: Vec<usize> =
        (0..scores.len()).filter(|&i| least.is_none_or(|least| scores[i] > least)).collect();
    order.sort_by(|&a, &b| (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0)).then(a.cmp(&b)));
    let mut chosen: Vec<usize> = Vec::new();
    for place in order {
        if chosen.len() as i128 >= most {
            break;
        }
        let mut is_suppressed = false;
        for &earlier in &chosen {
            is_suppressed = areas[place].suppresses(areas[earlier], threshold).ok_or_else(|| {
                let why = format!("whether box {earlier} suppresses box {place} hangs on how it is rounded");
                Error::unsupported("operand 0", why)
            })?;
            if is_suppressed {
                break;
            }
        }
        if !is_suppressed {
            chosen.push(place);
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_holds_both_roundings_and_no_more() {
        let third = Span::exact(1.0).div(Span::exact(3.0));
        assert!(third.low < 1.0 / 3.0 && third.high > 1.0 / 3.0);
        assert_eq!((third.low as f32).next_up(), third.high as f32);
        assert_eq!(Span::exact(0.25).add(Span::exact(0.5)), Span::exact(0.75));
        assert_eq!(third.is_above(third.high), Some(false));
        assert_eq!(third.is_above(1.0 / 3.0), None);
    }

    #[test]
    fn boxes_suppress_by_what_they_have_in_common() {
        let [a, b] = [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.5, 0.0]].map(Area::of_corners);
        // Half of the first is all of the second.
        assert_eq!(
            [0.4, 0.5, 0.6].map(|threshold| a.suppresses(b, threshold)),
            [Some(true), Some(false), Some(false)]
        );
        let apart = Area::of_middle([4.0, 4.0, 2.0, 2.0]);
        assert_eq!(a.suppresses(apart, 0.0), Some(false));
    }
}
