//! Drawing the elements of a tensor.
//!
//! Half of all tensors are made of boundary and small whole values, which many operators treat exactly and where
//! most special cases are; the other half is continuous. Every value lies where the operators that read the tensor
//! are defined, as far as one can tell without running the graph.

use std::collections::{BTreeMap, BTreeSet};

use ir::format::Extent;
use ir::{DType, NodeId, NodeKind, Stream, Tensor, Type};
use ops::{Graph, Hazard, Model, Operator};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::places::Places;
use crate::undefined::Results;

/// Where the elements of a tensor may lie.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    pub zero: bool,
    /// Whether whole and half numbers may be among them, beside 0.
    pub simple: bool,
    /// How many of them are not 0, where that is asked for.
    pub nonzero: Option<u64>,
    /// Of what no two may point to one place, if they are indices.
    pub distinct: Option<Places>,
}

impl Range {
    const ANY: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        zero: true,
        simple: true,
        nonzero: None,
        distinct: None,
    };

    /// The range of a dtype's numbers. Most dtypes have 0 and numbers of both signs; a format of positive
    /// normals has neither 0 nor negative numbers.
    fn of(dtype: DType) -> Self {
        match dtype.float() {
            Some(format) if format.extent == Extent::PositiveNormals => {
                Self { low: format.min_normal(), high: format.max_finite(), zero: false, ..Self::ANY }
            }
            Some(_) | None => Self::ANY,
        }
    }

    /// The operand that a hazard is about, and the range of its elements in which the hazard does not occur.
    fn without(hazard: &Hazard, types: &[Option<&Type>], asked: Results) -> Option<(usize, Self)> {
        match *hazard {
            Hazard::Far { operand, low, high } if asked == Results::Promised => {
                Some((operand, Self { low, high, ..Self::ANY }))
            }
            Hazard::Zero { operand } => Some((operand, Self { zero: false, ..Self::ANY })),
            Hazard::Outside { operand, low, high } | Hazard::Perhaps { operand, low, high } => {
                Some((operand, Self { low, high, ..Self::ANY }))
            }
            Hazard::Ties { operand } => Some((operand, Self { simple: false, ..Self::ANY })),
            Hazard::Count { operand, nonzero } => {
                Some((operand, Self { nonzero: Some(nonzero), ..Self::ANY }))
            }
            Hazard::Repeated { operand, axis } => {
                let ty = |i: usize| types.get(i).copied().flatten();
                let places = Places::of(ty(0)?, ty(operand)?, axis);
                Some((operand, Self { distinct: Some(places), ..Self::ANY }))
            }
            // It depends on both, so that either may be as it likes at first.
            Hazard::Meeting { .. } | Hazard::Far { .. } | Hazard::Always => None,
        }
    }

    /// Both conditions. If the bounds exclude each other, those of `self`.
    fn and(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        let both = Self {
            zero: self.zero && other.zero,
            simple: self.simple && other.simple,
            nonzero: self.nonzero.or(other.nonzero),
            distinct: self.distinct.or(other.distinct),
            ..self
        };
        if low <= high { Self { low, high, ..both } } else { both }
    }

    fn holds(&self, v: f64) -> bool {
        (self.low..=self.high).contains(&v) && (self.zero || v != 0.0)
    }
}

/// How to draw after a first draw has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tamer {
    /// As at first.
    Not,
    /// Between -1 and 1.
    Small,
    /// Between 1/2 and 2.
    Positive,
    /// Between -2 and -1/2.
    Negative,
    /// Close to 0.
    Tiny,
}

/// What the operators that read each free tensor directly, or as a parameter of a function, require of it.
pub(crate) fn ranges(model: &Model, free: &BTreeSet<NodeId>, asked: Results) -> BTreeMap<NodeId, Range> {
    let mut functions: Vec<Vec<Option<Range>>> = Vec::new();
    for function in &model.functions {
        let inside = required(&function.body, &functions, asked);
        functions.push(function.body.variables().map(|(id, ..)| inside.get(&id).cloned()).collect());
    }
    let mut all = required(&model.graph, &functions, asked);
    all.retain(|id, _| free.contains(id));
    all
}

/// What a graph requires of its tensors, given what each function requires of its parameters.
fn required(graph: &Graph, functions: &[Vec<Option<Range>>], asked: Results) -> BTreeMap<NodeId, Range> {
    let mut all = BTreeMap::new();
    for node in &graph.nodes {
        let wanted: Vec<(usize, Range)> = match &node.kind {
            NodeKind::Operator(op) => {
                let types = graph.types(&node.inputs);
                op.hazards(&types).iter().filter_map(|hazard| Range::without(hazard, &types, asked)).collect()
            }
            NodeKind::Call(f) => {
                let parameters = functions[f.0 as usize].iter().enumerate();
                parameters.filter_map(|(i, range)| Some((i, range.clone()?))).collect()
            }
            _ => continue,
        };
        for (operand, range) in wanted {
            if let Some(value) = node.inputs.get(operand).copied().flatten() {
                let so_far: &mut Range = all.entry(value.node).or_insert(Range::ANY);
                *so_far = so_far.clone().and(range);
            }
        }
    }
    all
}

/// A tensor drawn from a stream.
pub(crate) fn tensor(ty: &Type, range: Option<&Range>, at: Stream, tamer: Tamer) -> Tensor {
    let range = range.cloned().unwrap_or(Range::ANY);
    let rng = &mut at.rng();
    if let Some(indices) = range.distinct.as_ref().and_then(|places| places.indices(ty, rng)) {
        return Tensor::from_i128_fn(ty, |i| indices[i]);
    }
    let zero = range.zero && range.nonzero.is_none();
    counted(elements(ty, Range { zero, ..range.clone() }, rng, tamer), &range, at)
}

/// The tensor with as many elements that are not zero as its range asks for: some of them are zero then, or 1.
pub(crate) fn counted(tensor: Tensor, range: &Range, at: Stream) -> Tensor {
    let Some(nonzero) = range.nonzero else { return tensor };
    let (ty, all) = (tensor.ty(), tensor.to_f64s());
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.shuffle(&mut at.child("count").rng());
    // Those that are not zero first, so that as many as possible stay as they are.
    places.sort_by_key(|&i| all[i] == 0.0);
    let (stay, go) = places.split_at(places.len().min(usize::try_from(nonzero).unwrap_or(usize::MAX)));
    let changed: BTreeMap<usize, i128> = (stay.iter().filter(|&&i| all[i] == 0.0).map(|&i| (i, 1)))
        .chain(go.iter().filter(|&&i| all[i] != 0.0).map(|&i| (i, 0)))
        .collect();
    if changed.is_empty() {
        return tensor;
    }
    if ty.dtype.is_float() {
        Tensor::from_f64_fn(&ty, |i| changed.get(&i).map_or(all[i], |&z| z as f64))
    } else {
        let all = tensor.to_i128s();
        Tensor::from_i128_fn(&ty, |i| changed.get(&i).copied().unwrap_or(all[i]))
    }
}

fn elements(ty: &Type, range: Range, rng: &mut impl Rng, tamer: Tamer) -> Tensor {
    let range = &range.and(Range::of(ty.dtype));
    match ty.dtype.int_range() {
        None => {
            let continuous = rng.random_bool(0.5);
            let scale = if tamer == Tamer::Not && rng.random_bool(SCALED) {
                2f64.powi(rng.random_range(-MOST_SCALE..=MOST_SCALE))
            } else {
                1.0
            };
            Tensor::from_f64_fn(ty, |_| real(rng, ty.dtype, range, tamer, continuous, scale))
        }
        Some(limits) => {
            // Values at the ends of the dtype overflow in most arithmetic, which wraps and says little. A byte has few others.
            let share = if limits.1 <= i128::from(u8::MAX) { 0.5 } else { 0.2 };
            let wild = tamer == Tamer::Not && rng.random_bool(share);
            Tensor::from_i128_fn(ty, |_| integer(rng, limits, range, tamer, wild))
        }
    }
}

/// The share of float tensors whose numbers are of another size than the others': products of halves overflow, sums lose digits.
const SCALED: f64 = 0.1;

/// The most powers of two by which they are larger or smaller.
const MOST_SCALE: i32 = 10;

/// Whole and half numbers, in the order of how often they are taken.
const SPECIAL: [f64; 16] =
    [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, 0.25, -0.25, 7.0, -0.0];

fn real(rng: &mut impl Rng, dtype: DType, range: &Range, tamer: Tamer, continuous: bool, scale: f64) -> f64 {
    let (low, high) = match tamer {
        Tamer::Not => (-4.0 * scale, 4.0 * scale),
        Tamer::Small => (-1.0, 1.0),
        Tamer::Positive => (0.5, 2.0),
        Tamer::Negative => (-2.0, -0.5),
        Tamer::Tiny => (-1.0 / 16.0, 1.0 / 16.0),
    };
    if !continuous && tamer == Tamer::Not {
        // A narrow dtype may lack it.
        let special = ir::round::round_to(dtype, SPECIAL[rng.random_range(0..SPECIAL.len())] * scale);
        if range.holds(special) && (range.simple || special == 0.0) {
            return special;
        }
    }
    let (low, high) = overlap(range, low, high);
    let v = ir::round::round_to(dtype, low + (high - low) * rng.random::<f64>());
    if range.holds(v) && (range.zero || v.abs() >= scale / 16.0) {
        return v;
    }
    // Rounding may step over the end of the range or onto zero.
    let others = [1.0, high, range.high, range.low].map(|v| ir::round::round_to(dtype, v));
    others.into_iter().find(|&v| range.holds(v)).unwrap_or(high)
}

fn integer(rng: &mut impl Rng, (least, most): (i128, i128), range: &Range, tamer: Tamer, wild: bool) -> i128 {
    let clamped = |v: f64| (v as i128).clamp(least, most);
    let (from, to) = (clamped(range.low.ceil()), clamped(range.high.floor()));
    if wild && rng.random_bool(0.3) {
        let end = if rng.random() { from } else { to };
        if range.zero || end != 0 {
            return end;
        }
    }
    if wild && rng.random_bool(0.4) {
        let wide = of_any_width(rng, from, to);
        if range.zero || wide != 0 {
            return wide;
        }
    }
    let (low, high) = match tamer {
        Tamer::Not => (-8, 8),
        Tamer::Small => (-2, 2),
        Tamer::Positive => (1, 4),
        Tamer::Negative => (-4, -1),
        Tamer::Tiny => (0, 1),
    };
    let (low, high) = if low.max(from) <= high.min(to) { (low.max(from), high.min(to)) } else { (from, to) };
    let v = if low < high { rng.random_range(low..=high) } else { low };
    match v {
        0 if !range.zero => to.clamp(0, 1) + from.clamp(-1, 0) * i128::from(to <= 0),
        v => v,
    }
}

/// An integer between the bounds, as likely of one number of bits as of another.
fn of_any_width(rng: &mut impl Rng, from: i128, to: i128) -> i128 {
    let most = from.unsigned_abs().max(to.unsigned_abs());
    let bits = rng.random_range(0..=most.checked_ilog2().map_or(0, |bits| bits + 1));
    let magnitude = rng.random_range(0..1i128 << bits);
    let signed = if rng.random() { magnitude } else { -magnitude };
    if (from..=to).contains(&signed) { signed } else { rng.random_range(from..=to) }
}

/// The usual bounds within these.
pub(crate) fn stretch(low: f64, high: f64) -> (f64, f64) {
    overlap(&Range { low, high, ..Range::ANY }, -4.0, 4.0)
}

/// The usual bounds inside the range; if none of them are, a stretch at the end of it that is nearer to them.
fn overlap(range: &Range, low: f64, high: f64) -> (f64, f64) {
    let inside = (low.max(range.low), high.min(range.high));
    if inside.0 < inside.1 {
        return inside;
    }
    let width = (high - low).min(range.high - range.low);
    if range.low >= high { (range.low, range.low + width) } else { (range.high - width, range.high) }
}

#[cfg(test)]
mod tests {
    use ir::DTypes;
    use ir::format::FloatFormat;

    use super::*;

    fn drawn(dtype: DType, range: &Range) -> Vec<f64> {
        let ty = Type::new(dtype, [64]);
        let tamers = [Tamer::Not, Tamer::Small, Tamer::Positive, Tamer::Negative, Tamer::Tiny];
        let one = |i: u64| tensor(&ty, Some(range), Stream::new(i), tamers[i as usize % 5]).to_f64s();
        (0..64).flat_map(one).collect()
    }

    #[test]
    fn values_keep_to_their_range() {
        let not_zero = Range { zero: false, ..Range::ANY };
        for dtype in DTypes::IR13.iter() {
            for range in &[
                not_zero.clone(),
                Range { low: 0.0, high: 3.0, ..Range::ANY },
                Range { low: 1.0, ..Range::ANY },
                Range { low: 9.0, high: 20.0, ..Range::ANY },
            ] {
                let most = dtype.int_range().map_or(1.0, |(_, most)| most as f64);
                let possible = range.low <= dtype.float().map_or(most, FloatFormat::max_finite);
                assert!(
                    !possible || drawn(dtype, range).iter().all(|&v| range.holds(v)),
                    "{dtype} {range:?}"
                );
            }
        }
    }

    #[test]
    fn as_many_elements_are_not_zero_as_are_asked_for() {
        for dtype in DTypes::IR4.iter() {
            for nonzero in [0, 1, 40, 64] {
                let range = Range { nonzero: Some(nonzero), ..Range::ANY };
                let all =
                    tensor(&Type::new(dtype, [64]), Some(&range), Stream::new(nonzero), Tamer::Not).to_f64s();
                assert_eq!(all.iter().filter(|&&v| v != 0.0).count() as u64, nonzero, "{dtype}");
            }
        }
    }

    #[test]
    fn what_may_not_be_zero_is_drawn_at_every_scale() {
        let range = Range { zero: false, ..Range::ANY };
        let rng = &mut Stream::new(0).rng();
        for scale in [-MOST_SCALE, -7, 0, MOST_SCALE].map(|k| 2f64.powi(k)) {
            let all: Vec<f64> =
                (0..200).map(|_| real(rng, DType::F32, &range, Tamer::Not, true, scale)).collect();
            let as_large = all.iter().filter(|v| (scale / 16.0..=4.0 * scale).contains(&v.abs())).count();
            assert!(as_large > 180, "{as_large} of 200 at {scale}");
        }
    }

    #[test]
    fn values_are_of_both_kinds() {
        let all = drawn(DType::F32, &Range::ANY);
        let whole = all.iter().filter(|v| v.fract() == 0.0).count();
        assert!(whole > all.len() / 20 && whole < all.len() / 2);
        assert!(all.iter().any(|v| v.is_sign_negative() && *v == 0.0));
    }
}
