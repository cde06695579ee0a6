//! `DynamicQuantizeLinear`: numbers quantised by a scale and a zero point that follow from them.

use super::rounded::quantized;
use crate::prelude::*;

attributes! {
    /// Numbers quantised to u8 by a scale and a zero point that follow from the smallest and the largest of them and 0.
    ///
    /// `x: […], f32 → y: as x, u8, scale: [], zero_point: [], u8`
    ///
    /// Where all elements are 0 the scale is 0, and what becomes of them is undefined.
    ///
    /// ONNX: [DynamicQuantizeLinear](https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct DynamicQuantizeLinear;
}

/// The range of the integers.
const RANGE: (i128, i128) = (0, 255);

impl Single for DynamicQuantizeLinear {
    const ROW: Row = Row::new("DynamicQuantizeLinear");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        Some(DynamicQuantizeLinear)
    }
}

impl<D: Dim> TypeRule<D> for DynamicQuantizeLinear {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        // Of nothing there is no smallest element.
        r.seek_le(D::from(1), x.count())?;
        Ok(vec![x.with_dtype(DType::U8), Type::new(x.dtype, []), Type::new(DType::U8, [])])
    }
}

impl Operator for DynamicQuantizeLinear {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(5), Batch::Together, None, vec![(0, Edge::Alike), (0, Edge::Zeros)])
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let is_empty = x[0].is_some_and(|x| x.count() == 0);
        vec![if is_empty { Hazard::Always } else { Hazard::Ties { operand: 0 } }]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (&c.arith.within(DType::F32), c.real(0));
        let zero = a.real(0.0);
        let largest = x.iter().fold(zero, |y, &x| a.max(y, x));
        let smallest = x.iter().fold(zero, |y, &x| a.min(y, x));
        let [low, high] = [RANGE.0, RANGE.1].map(|end| a.real(end as f64));
        // The scale is a result too: what is divided by is what is stored.
        let range = if x.is_empty() { a.undefined_real() } else { a.sub(largest, smallest) };
        let scale = a.stored(a.div(range, a.sub(high, low)));
        let point = quantized(a, a.sub(low, a.div(smallest, scale)), a.int(0), RANGE);
        let y = lanes::each(x, |x| quantized(a, a.div(x, scale), point, RANGE));
        vec![
            Data::Int(y),
            Data::Real(lanes::array(&[], vec![scale])),
            Data::Int(lanes::array(&[], vec![point])),
        ]
    }
}

#[cfg(test)]
tables! {
    zero_is_always_among_the_numbers: "
        DynamicQuantizeLinear(f32[3] {-51, 0, 204}) = u8[3] {0, 51, 255}, f32[] {1}, u8[] {51}
        DynamicQuantizeLinear(f32[2] {127.5, 510}) = u8[2] {64, 255}, f32[] {2}, u8[] {0}
        DynamicQuantizeLinear(f32[2] {-510, -2}) = u8[2] {0, 254}, f32[] {2}, u8[] {255}
        DynamicQuantizeLinear(f32[0]): u8[0], f32[], u8[]
        DynamicQuantizeLinear(f32[0]) has the hazards [Always]
    ";
}
