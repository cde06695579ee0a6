//! Shape: the sizes of a tensor's axes, as its type says them.

use crate::prelude::*;

attributes! {
    /// The sizes of the axes from `start` to before `end`.
    ///
    /// `x: any shape → y: [n], i64`
    ///
    /// `start` and `end` count from the end where negative and are then clamped to the axes there are. No element is
    /// read.
    ///
    /// ONNX: [Shape](https://onnx.ai/onnx/operators/onnx__Shape.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Shape {
        /// The first axis.
        pub start: i64 { Clamped } = 0,
        /// The axis to stop before; without it, all that follow.
        pub end: Option<i64> { Clamped },
    }
}

impl Single for Shape {
    const ROW: Row = Row::new("Shape");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.limits.dtypes.contains(DType::I64).then_some(())?;
        let beyond = d.any(0..=d.limits.max_rank)?.rank() as i64 + 1;
        let sliced = d.has("start") && d.chance(0.5);
        let start = if sliced { d.int(-beyond, beyond) } else { 0 };
        let end = (sliced && d.chance(0.7)).then(|| d.int(-beyond, beyond));
        Some(Shape { start, end })
    }
}

impl Shape {
    /// The axes whose sizes are told.
    pub fn axes(self, rank: usize) -> std::ops::Range<usize> {
        let rank = rank as i64;
        let index = |v: i64| (if v < 0 { v + rank } else { v }).clamp(0, rank) as usize;
        let (start, end) = (index(self.start), index(self.end.unwrap_or(rank)));
        start..end.max(start)
    }
}

impl<D: Dim> TypeRule<D> for Shape {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let axes = self.axes(x.need(0)?.rank());
        Ok(vec![Type::new(DType::I64, vec![D::from(axes.len() as i64)])])
    }
}

impl Operator for Shape {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Types, None)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let shape = &c.ty(0).shape;
        let sizes = shape[self.axes(shape.len())].iter().map(|&size| c.arith.int(size.into())).collect();
        vec![Data::Int(lanes::array(&c.extents(0), sizes))]
    }
}

#[cfg(test)]
tables! {
    axes_are_clamped: "
        Shape(bool[2, 0, 4]) = i64[3] {2, 0, 4}
        Shape(bool[2, 0, 4]) {start = -1} = i64[1] {4}
        Shape(bool[2, 0, 4]) {end = -1} = i64[2] {2, 0}
        Shape(bool[2, 0, 4]) {start = -9, end = 9223372036854775807} = i64[3] {2, 0, 4}
        Shape(bool[2, 0, 4]) {start = 2, end = 1} = i64[0]
    ";
}
