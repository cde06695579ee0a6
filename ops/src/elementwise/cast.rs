//! Cast and CastLike: the same numbers in another dtype.

use ir::{DType, DTypes, Dim, Sym, Type};

use crate::arith::{Arith, Comparison};
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::operator::{Edge, Facts, Hazard, Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Deviation, Row};

attributes! {
    /// Cast: the dtype is an attribute.
    ///
    /// ONNX: [Cast](https://onnx.ai/onnx/operators/onnx__Cast.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Cast {
        /// The dtype of the result.
        pub to: DType,
    }
}

attributes! {
    /// CastLike: the dtype is that of a second operand, whose elements do not matter.
    ///
    /// ONNX: [CastLike](https://onnx.ai/onnx/operators/onnx__CastLike.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct CastLike;
}

const OF_EIGHT_BITS: &[Deviation] = &[Deviation::Attributes {
    names: &["saturate", "round_mode"],
    why: "they concern only the 8-bit floats: whatever they say is accepted, and nothing is written",
}];

impl Single for Cast {
    const ROW: Row = Row::new("Cast").but(OF_EIGHT_BITS);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        Some(Cast { to: draw(d)? })
    }
}

impl Single for CastLike {
    const ROW: Row = Row::new("CastLike").but(OF_EIGHT_BITS);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let to = draw(d)?;
        d.of(to, 0..=d.limits.max_rank)?;
        Some(CastLike)
    }
}

/// The operand and the dtype to cast it to.
fn draw(d: &mut Draw<'_, '_>) -> Option<DType> {
    let ranks = 0..=d.limits.max_rank;
    let Some(wanted) = d.wanted() else {
        let x = d.any(ranks)?;
        let others = d.limits.in_use(DTypes::ALL).without(x.dtype);
        return if others.is_empty() { Some(x.dtype) } else { d.dtype(others) };
    };
    // Asking for any operand would lean to the wanted dtype, but the operand's is free.
    let allowed: Vec<DType> = d.allowed().iter().collect();
    let from = d.choose(&allowed)?;
    d.of(from, ranks)?;
    Some(wanted.dtype)
}

/// The elements as numbers of another dtype.
fn convert<A: Arith>(c: &Call<'_, A>, to: DType) -> Data<A> {
    let a = c.arith;
    match c.data(0) {
        Data::Real(x) if to.is_float() => Data::Real(x.clone()),
        Data::Real(x) if to == DType::Bool => {
            // Everything but zero is true, NaN included.
            let is_zero = |x| a.compare(Comparison::Equal, x, a.real(0.0));
            Data::Int(x.mapv(|x| a.exact([is_zero(x)], |[zero]| Some(1 - zero))))
        }
        Data::Real(x) => Data::Int(x.mapv(|x| a.truncate(x, to))),
        Data::Int(x) if to.is_float() => Data::Real(x.mapv(|z| a.convert(z))),
        // Integers wrap when they are stored: the standard discards the bits that do not fit.
        Data::Int(x) => Data::Int(x.mapv(|z| a.exact([z], |[z]| Some(to.wrap(z))))),
    }
}

/// Where a float becomes an integer, what lies outside of the integer's range is undefined.
fn hazards(x: &[Option<&Type>], to: DType) -> Vec<Hazard> {
    let from_float = x[0].is_some_and(|t| t.dtype.is_float());
    match to.int_range() {
        Some((low, high)) if from_float && to != DType::Bool => {
            // The largest `f64` within: the largest 64-bit integers round up to one outside.
            let above = high as f64;
            let high = if above as i128 > high { above.next_down() } else { above };
            vec![Hazard::Outside { operand: 0, low: low as f64, high }]
        }
        _ => Vec::new(),
    }
}

/// What rounds on the way to a narrower dtype is worth a tie; NaN is true.
fn edges(x: &[Option<&Type>], to: DType) -> Vec<(usize, Edge)> {
    match x[0].map(|t| t.dtype) {
        Some(from) if from.is_float() && to.is_float() => vec![(0, Edge::Between(to)), (0, Edge::NonFinite)],
        Some(from) if from.is_float() && to == DType::Bool => vec![(0, Edge::NonFinite)],
        _ => Vec::new(),
    }
}

impl<D: Dim> TypeRule<D> for Cast {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.with_dtype(self.to)])
    }
}

impl Operator for Cast {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::NONE
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert(c, self.to)]
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        hazards(x, self.to)
    }

    fn edges(&self, x: &[Option<&Type>]) -> Vec<(usize, Edge)> {
        edges(x, self.to)
    }
}

impl<D: Dim> TypeRule<D> for CastLike {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let to = x.need(1)?.dtype;
        Ok(vec![x.need(0)?.with_dtype(to)])
    }
}

impl Operator for CastLike {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::NONE
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![convert(c, c.dtype(1))]
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        x.get(1).copied().flatten().map_or(Vec::new(), |like| hazards(x, like.dtype))
    }

    fn edges(&self, x: &[Option<&Type>]) -> Vec<(usize, Edge)> {
        x.get(1).copied().flatten().map_or(Vec::new(), |like| edges(x, like.dtype))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, run, tensor};

    #[test]
    fn every_pair_of_dtypes_keeps_small_numbers() {
        for from in DType::ALL {
            for to in DType::ALL {
                let x = tensor(from, &[2], &[0., 1.]);
                let y = &outputs(Cast { to }, &[&x]).unwrap()[0];
                assert_eq!((y.dtype(), run(Cast { to }, &[&x])), (to, vec![0., 1.]), "{from} to {to}");
                let like = tensor(to, &[], &[0.]);
                assert_eq!(outputs(CastLike, &[&x, &like]).unwrap()[0], *y);
            }
        }
    }

    #[test]
    fn floats_truncate_integers_wrap_and_truth_is_not_zero() {
        let x = tensor(DType::F32, &[4], &[-1.9, 0.4, f64::NAN, -0.0]);
        assert_eq!(run(Cast { to: DType::Bool }, &[&x]), [1., 1., 1., 0.]);
        assert_eq!(run(Cast { to: DType::I8 }, &[&x])[..2], [-1., 0.]);
        let z = tensor(DType::I32, &[2], &[256., -1.]);
        assert_eq!(run(Cast { to: DType::U8 }, &[&z]), [0., 255.]);
        assert_eq!(run(Cast { to: DType::Bool }, &[&z]), [1., 1.]);
        assert_eq!(run(Cast { to: DType::BF16 }, &[&tensor(DType::I32, &[], &[257.])]), [256.]);
    }

    #[test]
    fn hazards_leave_only_what_fits() {
        let f64s = Type::new(DType::F64, []);
        for to in DTypes::INTS.iter() {
            let (least, most) = to.int_range().unwrap();
            let Hazard::Outside { low, high, .. } = (Cast { to }).hazards(&[Some(&f64s)])[0] else {
                panic!()
            };
            assert!(low as i128 == least && high as i128 <= most && high.next_up() as i128 >= most, "{to}");
        }
    }
}
