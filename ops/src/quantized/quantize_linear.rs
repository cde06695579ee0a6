//! `QuantizeLinear`: numbers divided by a scale and rounded to integers, or to floats of 8 bits and less.

use ir::format::FloatFormat;

use super::granularity::Granularity;
use super::rounded::quantized;
use crate::elementwise::{Rounding, stored};
use crate::prelude::*;

attributes! {
    /// Numbers divided by a scale, rounded to integers with ties to even, and moved by a zero point.
    ///
    /// `x: […], scale, zero_point: [], [n] or blocks → y: as x`
    ///
    /// What is beyond the integers saturates. Of a quotient that implementations may round to either side of a tie the
    /// result is undecidable; NaN, and a division by 0, is undefined. Floats of 8 bits and less are as
    /// [`Cast`](crate::elementwise::Cast) has them, a 0 of either sign; the text gives them a zero point, but says that
    /// they have none, and ONNX's reference ignores it: any but 0 is undefined. The quotient cannot be of powers of
    /// two: such a scale needs `precision`.
    ///
    /// ONNX: [QuantizeLinear](https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct QuantizeLinear<D> {
        /// Which elements share a scale.
        pub granularity: Granularity<D> as part,
        /// The dtype of the result, where there is no zero point to say it; else u8.
        pub output_dtype: Option<DType>,
        /// The dtype of the division, if it is not the scale's.
        pub precision: Option<DType>,
        /// What becomes of what is beyond the largest float of 8 bits.
        pub rounding: Rounding as part,
    }
    check Self::checked;
}

/// What numbers are quantised to.
const TO: DTypes = DTypes::of(&[
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I4,
    DType::U4,
    DType::I2,
    DType::U2,
    DType::F8E4M3FN,
    DType::F8E4M3FNUZ,
    DType::F8E5M2,
    DType::F8E5M2FNUZ,
    DType::F4E2M1,
]);

/// What the quotient is computed in.
const DIVIDED: DTypes = DTypes::of(&[DType::F32, DType::F16, DType::BF16]);

/// A scale that is an integer.
const INTEGERS: &str = "the text does not say what a quotient of integers is";

impl QuantizeLinear {
    /// A quotient of a dtype as a float of a narrow format. Nothing is added to it, or a 0, after which -0 is 0.
    fn float<A: Arith>(
        &self,
        a: &A,
        quotient: A::R,
        point: Option<A::R>,
        (dtype, format): (DType, FloatFormat),
        opset: u32,
    ) -> A::R {
        let y = stored(a, quotient, dtype, self.rounding.conversion(format), opset);
        let exact = a.within(DType::F64);
        let y = exact.either(y, || exact.add(y, exact.real(0.0)));
        let Some(point) = point else { return y };
        let is_none = a.compare(Comparison::Equal, point, a.real(0.0));
        a.select(is_none, y, a.undefined_real())
    }

    fn checked(self, _: &Attributes) -> Result<Self, BadAttribute> {
        let is_known = |given: Option<DType>, known: DTypes| given.is_none_or(|dtype| known.contains(dtype));
        let unsupported = |name: &str, given: Option<DType>| BadAttribute::Unsupported {
            name: name.to_owned(),
            value: given.map_or("", DType::name).to_owned(),
        };
        if !is_known(self.output_dtype, TO) {
            return Err(unsupported("output_dtype", self.output_dtype));
        }
        if !is_known(self.precision, DIVIDED) {
            return Err(unsupported("precision", self.precision));
        }
        Ok(match self.output_dtype {
            Some(to) => Self { rounding: self.rounding.of(to), ..self },
            None => self,
        })
    }
}

impl Single for QuantizeLinear {
    const ROW: Row = Row::new("QuantizeLinear").but(&[
        // In these opsets the scale has the dtype of x.
        Deviation::DTypes { of: "T1", without: DTypes::of(&[DType::I32]), opsets: 19..=22, why: INTEGERS },
        Deviation::DTypes { of: "T2", without: DTypes::of(&[DType::I32]), opsets: 23..=28, why: INTEGERS },
    ]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let (granularity, shape) = Granularity::draw(d, &x);
        // From opset 23 on the scale may have a dtype of its own.
        let allowed = d.allowed();
        let of = match x.dtype {
            _ if d.has("precision") && d.chance(0.2) => d.dtype(allowed)?,
            DType::I32 => DType::F32,
            of => of,
        };
        d.pinned_like(allowed.contains(of).then_some(of)?, shape.clone());
        let (mut output_dtype, mut to) = (None, DType::U8);
        let allowed = d.allowed();
        if d.chance(0.7) {
            to = d.dtype(allowed)?;
            d.pinned_like(to, shape);
        } else if d.has("output_dtype") && d.chance(0.5) {
            to = d.dtype(allowed)?;
            output_dtype = Some(to);
        }
        let precision = if d.has("precision") && d.chance(0.2) { Some(DType::F32) } else { None };
        let rounding = Rounding::draw(d, to);
        Some(QuantizeLinear { granularity, output_dtype, precision, rounding })
    }
}

impl<D: Dim> TypeRule<D> for QuantizeLinear<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        self.granularity.check(x, r)?;
        let scale = x.need(1)?.dtype;
        if self.precision.is_none() && !DIVIDED.contains(scale) {
            return Err(Reject::DType { operand: 1, found: scale, allowed: DIVIDED });
        }
        let to = match (x.opt(2), self.output_dtype) {
            (Some(point), Some(stated)) if point.dtype != stated => {
                return Err(Reject::MixedDTypes(point.dtype, stated));
            }
            (Some(point), _) => point.dtype,
            (None, stated) => stated.unwrap_or(DType::U8),
        };
        Ok(vec![x.need(0)?.with_dtype(to)])
    }
}

impl Operator for QuantizeLinear {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        // What a float of 8 bits makes of an infinity is what `saturate` says. To an integer it is the largest.
        let edges = match operator::dtype(x, 2).or(self.output_dtype) {
            Some(to) if to.is_float() => {
                vec![Edge::NonFinite, Edge::Beyond(to), Edge::Limits, Edge::Halves(1)]
            }
            _ => vec![Edge::Saturation, Edge::Limits, Edge::Halves(1)],
        };
        let edges = edges.into_iter().map(|edge| (0, edge)).collect();
        let is_old = match (operator::dtype(x, 0), operator::dtype(x, 1)) {
            (Some(DType::I32), scale) => scale == Some(DType::F32),
            (of, scale) => of == scale,
        };
        Facts {
            since: if is_old { 13 } else { 23 },
            reads: Reads::Own,
            ..Facts::calculates(Cost::PerOutput(3), Batch::Together, None, edges)
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let scale = operator::dtype(x, 1).and_then(DType::float);
        let positive = |format: ir::format::FloatFormat| Hazard::Outside {
            operand: 1,
            low: format.min_normal(),
            high: format.max_finite(),
        };
        let has_none = operator::dtype(x, 2).is_some_and(DType::is_float);
        let zero = has_none.then_some(Hazard::Outside { operand: 2, low: 0.0, high: 0.0 });
        scale.map(positive).into_iter().chain(zero).collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (scale, point) = (c.real(1), c.opt_int(2));
        let dtype = self.precision.unwrap_or(c.dtype(1));
        let a = &c.arith.within(dtype);
        // What is read in another dtype than it has may be rounded to it.
        let [of_x, of_scale] = [0, 1].map(|i| dtype != c.dtype(i));
        let as_read = |v, rounds| if rounds { a.round(v) } else { v };
        let quotient = |at: &[usize]| {
            let x = match c.data(0) {
                Data::Real(x) => as_read(x[at], of_x),
                Data::Int(x) => a.convert(x[at]),
            };
            a.div(x, as_read(self.granularity.shared(scale, at), of_scale))
        };
        let (to, shape) = (c.outputs[0].dtype, c.extents(0));
        vec![match (to.int_range(), to.float()) {
            (None, Some(format)) => Data::Real(lanes::build(&shape, |at| {
                let point = c.opt_real(2).map(|point| self.granularity.shared(point, at));
                self.float(a, quotient(at), point, (dtype, format), c.opset)
            })),
            (range, _) => Data::Int(lanes::build(&shape, |at| {
                let point = point.map_or(a.int(0), |point| self.granularity.shared(point, at));
                quantized(a, quotient(at), point, range.expect("what is no float is an integer"))
            })),
        }]
    }
}

#[cfg(test)]
tables! {
    ties_go_to_even_and_what_is_beyond_saturates: "
        x = f32[6] {0, 1, 3, 1000, -254, -1000}; scale = f32[] {2}
        QuantizeLinear(x, scale, u8[] {128}) = u8[6] {128, 128, 130, 255, 1, 0}
        QuantizeLinear(x, scale) = u8[6] {0, 0, 2, 255, 0, 0}
    ";
    integers_are_divided_as_the_floats_that_the_scale_is: "
        x = i32[4] {3, -5, 16777217, 1000}
        QuantizeLinear(x, f32[] {2}) {output_dtype = i8} = i8[4] {2, -2, 127, 127}
        QuantizeLinear(x, f32[] {16777216}) {output_dtype = i8} = i8[4] {0, 0, 1, 0}
        QuantizeLinear(x, f32[] {2}) is there since 13
        QuantizeLinear(x, f16[] {2}) is there since 23
        QuantizeLinear(x, i32[] {2}) is refused
    ";
    scales_are_of_slices_or_of_blocks: "
        x = f32[2, 3] {6, 12, 18, 6, 12, 18}
        QuantizeLinear(x, f32[2] {1, 6}) {axis = 0, output_dtype = i16} = i16[2, 3] {6, 12, 18, 1, 2, 3}
        QuantizeLinear(x, f32[2, 2] {1, 2, 3, 6}) {axis = -1, block_size = 2} = u8[2, 3] {6, 12, 9, 2, 4, 3}
        QuantizeLinear(x, f32[2] {1, 1}) {axis = 1} is refused
    ";
    one_scale_in_a_list_is_for_all_of_a_list: "
        x = f32[3] {6, 12, 18}; scale = f32[1] {2}; point = u8[1] {1}; scales = f32[3] {2, 3, 6}
        QuantizeLinear(x, scale, point) {axis = 0} = u8[3] {4, 7, 10}
        QuantizeLinear(x, scale, point) {axis = 1} = u8[3] {4, 7, 10}
        QuantizeLinear(x, scale, point) {axis = 7} = u8[3] {4, 7, 10}
        QuantizeLinear(x, scales) {axis = 0} = u8[3] {3, 4, 3}
        QuantizeLinear(x, scales) is refused
        QuantizeLinear(f32[3, 1] {6, 12, 18}, scale) {axis = 0} is refused
    ";
    the_zero_point_says_the_dtype_and_nothing_may_contradict_it: "
        x = f32[1] {-3}; scale = f32[] {1}; point = i8[] {-126}
        QuantizeLinear(x, scale, point) = i8[1] {-128}
        QuantizeLinear(x, scale, point) {output_dtype = u8} is refused
    ";
    few_bits_saturate_and_short_floats_are_as_casts_have_them: "
        x = f32[4] {-30, 9, 5, 1}; scale = f32[] {2}; wide = f32[2] {1e6, -3.3}; one = f32[] {1}
        QuantizeLinear(x, scale) {output_dtype = i4} = i4[4] {-8, 4, 2, 0}
        QuantizeLinear(x, scale) {output_dtype = u2} = u2[4] {0, 3, 2, 0}
        QuantizeLinear(x, scale) {output_dtype = f4e2m1} = f4e2m1[4] {-6, 4, 2, 0.5}
        QuantizeLinear(wide, one) {output_dtype = f8e4m3fn} = f8e4m3fn[2] {448, -3.25}
        QuantizeLinear(wide, one) {output_dtype = f8e5m2, saturate = 0} = f8e5m2[2] {inf, -3.5}
        QuantizeLinear(wide, one, f8e5m2[1] {0}) = f8e5m2[2] {57344, -3.5}
        QuantizeLinear(f64[2], f8e8m0[], f8e5m2[]) {precision = f32} has the hazards [Outside { operand: 1, low: 5.877471754111438e-39, high: 1.7014118346046923e38 }, Outside { operand: 2, low: 0.0, high: 0.0 }]
    ";
    powers_of_two_are_scales_where_it_is_said_what_is_divided_in: "
        x = f32[2] {3, -5}; scale = f8e8m0[] {0.5}
        QuantizeLinear(x, scale) is refused
        QuantizeLinear(x, scale) {precision = f32, output_dtype = i8} = i8[2] {6, -10}
    ";
}
