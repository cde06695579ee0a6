//! `DequantizeLinear`: integers, or floats of 8 bits and less, less a zero point, times a scale.

use super::granularity::Granularity;
use crate::prelude::*;

attributes! {
    /// Integers less a zero point, times a scale.
    ///
    /// `x: […], scale, zero_point: [], [n] or blocks → y: as x, the scale's dtype`
    ///
    /// The difference is exact. Of i32 the zero point is 0, if there is one. That of floats is, too: the text has a
    /// difference and says that they have no zero point, and ONNX's reference takes none. Scales that are powers of two
    /// need `output_dtype`.
    ///
    /// ONNX: [DequantizeLinear](https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct DequantizeLinear<D> {
        /// Which elements share a scale.
        pub granularity: Granularity<D> as part,
        /// The dtype of the result and of the product, if it is not the scale's.
        pub output_dtype: Option<DType> { FLOATS },
    }
}

const FLOATS: DTypes = DTypes::of(&[DType::F32, DType::F16, DType::BF16]);

impl Single for DequantizeLinear {
    const ROW: Row = Row::new("DequantizeLinear");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let (granularity, shape) = Granularity::draw(d, &x);
        let scale = d.dtype(d.allowed())?;
        d.pinned_like(scale, shape.clone());
        if x.dtype != DType::I32 && d.chance(0.6) && d.allowed().contains(x.dtype) {
            d.pinned_like(x.dtype, shape);
        }
        let stated = d.has("output_dtype") && d.chance(0.3);
        let output_dtype = if stated { Some(d.dtype(FLOATS)?) } else { None };
        Some(DequantizeLinear { granularity, output_dtype })
    }
}

impl<D: Dim> TypeRule<D> for DequantizeLinear<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        self.granularity.check(x, r)?;
        let data = x.need(0)?;
        x.opt(2).map(|point| rule::same_dtype(&[data, point])).transpose()?;
        let to = self.output_dtype.unwrap_or(x.need(1)?.dtype);
        if !FLOATS.contains(to) {
            return Err(Reject::DType { operand: 1, found: to, allowed: FLOATS });
        }
        Ok(vec![data.with_dtype(to)])
    }
}

impl Operator for DequantizeLinear {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts {
            reads: Reads::Own,
            ..Facts::calculates(
                Cost::PerOutput(2),
                Batch::Together,
                None,
                vec![(0, Edge::Limits), (0, Edge::Wide)],
            )
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let has_none = x[0].is_some_and(|x| x.dtype == DType::I32 || x.dtype.is_float());
        has_none.then_some(Hazard::Outside { operand: 2, low: 0.0, high: 0.0 }).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let scale = c.real(1);
        let to = c.outputs[0].dtype;
        let (a, wide) = (&c.arith.within(to), &c.arith.within(DType::F32));
        // The text has the product in the dtype of the result; many have it in f32 and round it once.
        let product = |at: &[usize], here: A::R, in_f32: A::R| {
            let scale = self.granularity.shared(scale, at);
            let as_read = if c.dtype(1) == to { scale } else { a.round(scale) };
            let product = a.mul(here, as_read);
            if to == DType::F32 { product } else { a.either(product, || a.round(wide.mul(in_f32, scale))) }
        };
        vec![Data::Real(match c.data(0) {
            Data::Int(x) => lanes::build(x.shape(), |at| {
                let point = c.opt_int(2).map_or(a.int(0), |point| self.granularity.shared(point, at));
                let difference = a.exact([x[at], point], |[x, point]| Some(x - point));
                product(at, a.convert(difference), wide.convert(difference))
            }),
            Data::Real(x) => lanes::build(x.shape(), |at| {
                let y = product(at, x[at], x[at]);
                let Some(point) = c.opt_real(2) else { return y };
                let point = self.granularity.shared(point, at);
                let is_none = a.compare(Comparison::Equal, point, a.real(0.0));
                a.select(is_none, y, a.undefined_real())
            }),
        })]
    }
}

#[cfg(test)]
tables! {
    the_difference_does_not_wrap: "
        x = u8[3] {0, 3, 255}; scale = f32[] {2}; point = u8[] {128}
        DequantizeLinear(x, scale, point) = f32[3] {-256, -250, 254}
        DequantizeLinear(x, scale) {output_dtype = f16} = f16[3] {0, 6, 510}
    ";
    scales_are_of_slices_or_of_blocks: "
        x = i8[2, 3] {1, 2, 3, 4, 5, 6}; y = f32[2, 3] {1, 20, 300, 4, 50, 600}
        DequantizeLinear(x, f32[3] {1, 10, 100}) = y
        DequantizeLinear(x, f32[1, 3] {1, 10, 100}) {axis = 0, block_size = 5} = y
    ";
    one_scale_in_a_list_is_for_all_of_a_list: "
        DequantizeLinear(i8[3] {1, 2, 3}, f32[1] {2}, i8[1] {1}) = f32[3] {0, 2, 4}
    ";
    short_floats_and_scales_that_are_powers_of_two: "
        x = f4e2m1[4] {0.5, -6, 1.5, 4}
        DequantizeLinear(x, f32[] {2}, f4e2m1[1] {0}) = f32[4] {1, -12, 3, 8}
        DequantizeLinear(x, f8e8m0[] {0.25}) is refused
        DequantizeLinear(x, f8e8m0[] {0.25}) {output_dtype = bf16} = bf16[4] {0.125, -1.5, 0.375, 1}
        DequantizeLinear(u2[2] {3, 0}, f32[] {3}) = f32[2] {9, 0}
    ";
}
