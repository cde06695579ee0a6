//! BitShift: the bits of integers moved left or right by as many places as another operand says.

use crate::prelude::*;

attributes! {
    /// The bits of x moved by as many places as y says, towards the most significant bit or away from it.
    ///
    /// `x, y: shapes that broadcast, integers → z: the common shape`
    ///
    /// Bits moved out are lost. Zeros come in; from the left of a signed integer its sign bit does. Moving by as many places as there
    /// are bits, by more or by less than none, leaves what comes in. Before opset 28, which has signed integers, that is undefined.
    ///
    /// ONNX: [BitShift](https://onnx.ai/onnx/operators/onnx__BitShift.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct BitShift {
        /// Which way.
        pub direction: Direction { "LEFT" => Direction::Left, "RIGHT" => Direction::Right },
    }
}

/// Which way bits move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the most significant bit.
    Left,
    /// Towards the least significant bit.
    Right,
}

impl Single for BitShift {
    const ROW: Row = Row::new("BitShift");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        d.broadcast_with(x.dtype, &x)?;
        let direction = d.choose(&[Direction::Left, Direction::Right])?;
        Some(BitShift { direction })
    }
}

impl<D: Dim> TypeRule<D> for BitShift {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![rule::broadcast(r, &[x.need(0)?, x.need(1)?])?])
    }
}

impl Operator for BitShift {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(1), Batch::Together, None, vec![(1, Edge::Limits)])
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let y = operator::dtype(x, 1).unwrap_or(DType::U8);
        if y.is_signed() {
            return Vec::new();
        }
        // Undefined in some opsets.
        vec![Hazard::Perhaps { operand: 1, low: 0.0, high: f64::from(y.bits()) - 1.0 }]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (dtype, bits) = (c.dtype(0), c.dtype(0).bits() as i128);
        let is_far_defined = c.opset >= 28;
        let shift = |[x, places]: [i128; 2]| match self.direction {
            _ if !(0..bits).contains(&places) && is_far_defined => {
                Some(if x < 0 && self.direction == Direction::Right { -1 } else { 0 })
            }
            // ONNX did not say what a shift by the full width or more gives before opset 28, and hardware differs.
            _ if !(0..bits).contains(&places) => None,
            Direction::Left => Some(dtype.wrap(x << places)),
            Direction::Right => Some(x >> places),
        };
        vec![Data::Int(lanes::zip(&c.extents(0), c.int(0), c.int(1), |x, y| c.arith.exact([x, y], shift)))]
    }
}

#[cfg(test)]
tables! {
    bits_fall_off_at_the_ends: "
        x = u8[3] {16, 4, 255}; y = u8[3] {1, 2, 7}
        BitShift(x, y) {direction = 'RIGHT'} = u8[3] {8, 1, 1}
        BitShift(x, y) {direction = 'LEFT'} = u8[3] {32, 16, 128}
        BitShift(u64[1] {1}, u64[1] {63}) {direction = 'LEFT'} = u64[1] {9223372036854775808}
    ";
    a_sign_comes_in_from_the_left_and_is_all_that_is_left_of_a_far_shift: "
        x = i8[6] {-7, -128, 64, -1, 127, -128}; y = i8[6] {1, 7, 1, -1, 8, 127}
        BitShift(x, y) {direction = 'RIGHT'} = i8[6] {-4, -1, 32, -1, 0, -1}
        BitShift(x, y) {direction = 'LEFT'} = i8[6] {-14, 0, -128, 0, 0, 0}
        BitShift(x, y) {direction = 'RIGHT'} has the hazards []
    ";
    nothing_is_left_of_a_far_shift_of_unsigned_integers: "
        BitShift(u8[3] {255, 1, 2}, u8[3] {8, 9, 200}) {direction = 'RIGHT'} = u8[3] {0, 0, 0}
        BitShift(u8[2] {255, 1}, u8[2] {7, 8}) {direction = 'LEFT'} = u8[2] {128, 0}
    ";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_shift_was_undefined_before_opset_28() {
        let (ty, undefined) = (Type::new(DType::U8, [2]), plain::Undefined::default());
        let of = |elements: [i128; 2]| Data::Int(lanes::array(&[2], elements.to_vec()));
        let (x, places) = (of([255, 255]), of([7, 8]));
        let undefined_in = |opset| {
            let call = Call {
                arith: &plain::Plain::counting(DType::I64, &undefined),
                inputs: &[Some(&x), Some(&places)],
                types: &[Some(&ty), Some(&ty)],
                outputs: std::slice::from_ref(&ty),
                opset,
            };
            BitShift { direction: Direction::Right }.eval(&call);
            undefined.take()
        };
        assert_eq!([13, 27, 28].map(undefined_in), [1, 1, 0]);
    }
}
