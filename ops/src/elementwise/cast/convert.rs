//! What Cast and `CastLike` share: the same numbers in another dtype, whoever says which.

use ir::dtype::Kind;
use ir::format::{Extent, FloatFormat};

use super::narrow;
use super::rounding::{Rounding, is_narrow};
use crate::prelude::*;

/// The operand and the dtype to cast it to.
pub(crate) fn draw(d: &mut Draw<'_, '_>) -> Option<DType> {
    let ranks = 0..=d.limits.max_rank;
    let Some(wanted) = d.wanted() else {
        let x = d.any(ranks)?;
        let others = d.limits.in_use(d.results(0)).without(x.dtype);
        let floats = others.intersection(DTypes::FLOATS);
        // From one float to another, numbers are rounded; there are few such pairs among all.
        if x.dtype.is_float() && !floats.is_empty() && d.chance(0.4) {
            let floats: Vec<DType> = floats.iter().collect();
            return d.choose(&floats);
        }
        return if others.is_empty() { Some(x.dtype) } else { d.dtype(others) };
    };
    // Asking for any operand would lean to the wanted dtype, but the operand's is free.
    let allowed: Vec<DType> = d.allowed().iter().collect();
    let from = d.choose(&allowed)?;
    d.of(from, ranks)?;
    Some(wanted.dtype)
}

/// The elements as numbers of another dtype.
pub(crate) fn convert<A: Arith>(c: &Call<'_, A>, to: DType, rounding: Rounding) -> Data<A> {
    let (a, from) = (c.arith, c.dtype(0));
    match (c.data(0), to.kind()) {
        (Data::Real(x), Kind::Float(format)) if is_narrow(to) => {
            let conversion = rounding.conversion(format);
            Data::Real(lanes::each(x, |x| narrow::stored(a, x, from, conversion, c.opset)))
        }
        (Data::Int(x), Kind::Float(format)) if is_narrow(to) => {
            let conversion = rounding.conversion(format);
            Data::Real(lanes::each(x, |z| narrow::stored(a, a.convert(z), from, conversion, c.opset)))
        }
        (Data::Real(x), Kind::Float(_)) => Data::Real(x.clone()),
        (Data::Int(x), Kind::Float(_)) => Data::Real(lanes::each(x, |z| a.convert(z))),
        (Data::Real(x), Kind::Bool) => {
            // Everything but zero is true, NaN included.
            let is_zero = |x| a.compare(Comparison::Equal, x, a.real(0.0));
            Data::Int(lanes::each(x, |x| a.exact([is_zero(x)], |[zero]| Some(1 - zero))))
        }
        (Data::Real(x), Kind::Signed | Kind::Unsigned) if to.bits() < 8 => {
            Data::Int(lanes::each(x, |x| narrow::truncated(a, x, to)))
        }
        (Data::Real(x), Kind::Signed | Kind::Unsigned) => Data::Int(lanes::each(x, |x| a.truncate(x, to))),
        // Integers wrap when they are stored: the standard discards the bits that do not fit.
        (Data::Int(x), Kind::Bool | Kind::Signed | Kind::Unsigned) => {
            Data::Int(lanes::each(x, |z| a.exact([z], |[z]| Some(to.wrap(z)))))
        }
    }
}

/// Where a float becomes an integer, what lies outside of the integer's range is undefined. Where there are only powers of two,
/// what lies outside of theirs is, but for two pairs of attributes.
pub(crate) fn hazards(x: &[Option<&Type>], to: Option<DType>) -> Vec<Hazard> {
    let Some(to) = to else { return Vec::new() };
    let from_float = x[0].is_some_and(|t| t.dtype.is_float());
    match (to.kind(), to.int_range()) {
        (Kind::Signed | Kind::Unsigned, Some((low, high))) if from_float => {
            // The largest `f64` within: the largest 64-bit integers round up to one outside.
            let above = high as f64;
            let high = if above as i128 > high { above.next_down() } else { above };
            vec![Hazard::Outside { operand: 0, low: low as f64, high }]
        }
        (Kind::Float(format), _) if format.extent == Extent::PositiveNormals => {
            vec![Hazard::Outside { operand: 0, low: format.min_normal(), high: format.max_finite() }]
        }
        _ => Vec::new(),
    }
}

/// What is known of a cast of the first operand, if it is known to what dtype.
pub(crate) fn facts(x: &[Option<&Type>], to: Option<DType>) -> Facts {
    let edges = to.map_or(Vec::new(), |to| edges(x, to));
    Facts { reads: Reads::Cast, ..Facts::calculates(Cost::PerOutput(1), Batch::meeting(x, &[]), None, edges) }
}

/// What rounds on the way to a narrower dtype is worth a tie, and what has a larger range its end; NaN is true.
fn edges(x: &[Option<&Type>], to: DType) -> Vec<(usize, Edge)> {
    match x[0].map(|t| t.dtype) {
        Some(from) if from.is_float() && to.is_float() => {
            let digits = |dtype: DType| dtype.float().map(FloatFormat::precision);
            let most = |dtype: DType| dtype.float().map(FloatFormat::max_finite);
            let tie = (digits(from) > digits(to)).then_some(Edge::Between(to));
            let end = (most(from) > most(to)).then_some(Edge::Beyond(to));
            let edges = [tie, end, Some(Edge::NonFinite)];
            edges.into_iter().flatten().map(|edge| (0, edge)).collect()
        }
        Some(from) if from.is_float() && to == DType::Bool => {
            vec![(0, Edge::NonFinite), (0, Edge::Zeros), (0, Edge::Denormals)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elementwise::{Cast, CastLike};
    use crate::testing::{outputs, run, tensor};

    const LIKE: CastLike = CastLike { rounding: Rounding::DEFAULT };

    #[test]
    fn every_pair_of_dtypes_keeps_small_numbers() {
        for from in DType::ALL {
            for to in DType::ALL {
                // A type of powers of two has no 0.
                let numbers = if [from, to].contains(&DType::F8E8M0) { [1., 1.] } else { [0., 1.] };
                let x = tensor(from, &[2], &numbers);
                let y = &outputs(Cast::to(to), &[&x]).unwrap()[0];
                assert_eq!((y.dtype(), run(Cast::to(to), &[&x])), (to, numbers.to_vec()), "{from} to {to}");
                let like = tensor(to, &[], &[1.]);
                assert_eq!(outputs(LIKE, &[&x, &like]).unwrap()[0], *y);
            }
        }
    }

    #[test]
    fn hazards_leave_only_what_fits() {
        let f64s = Type::new(DType::F64, []);
        for to in DTypes::INTS.iter() {
            let (least, most) = to.int_range().unwrap();
            let Hazard::Outside { low, high, .. } = Cast::to(to).hazards(&[Some(&f64s)])[0] else { panic!() };
            assert!(low as i128 == least && high as i128 <= most && high.next_up() as i128 >= most, "{to}");
        }
    }
}
