//! Flatten: the axes before one make the rows of a matrix, the others its columns.

use crate::movement::reshaped;
use crate::prelude::*;

attributes! {
    /// x as a matrix: the axes before `axis` are the rows, the others the columns.
    ///
    /// `x: [a…, b…] → y: [∏ a, ∏ b]`
    ///
    /// Of no axes the product is 1.
    ///
    /// ONNX: [Flatten](https://onnx.ai/onnx/operators/onnx__Flatten.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Flatten {
        /// The first axis of the columns, from `-rank` to `rank`; `rank` itself makes one column.
        pub axis: i64 = 1,
    }
}

impl Single for Flatten {
    const ROW: Row = Row::new("Flatten");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.any(0..=d.limits.max_rank)?.rank() as i64;
        Some(Flatten { axis: d.int(-rank, rank) })
    }
}

impl<D: Dim> TypeRule<D> for Flatten {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let rank = x.rank() as i64;
        if !(-rank..=rank).contains(&self.axis) {
            return Err(Reject::Axis { axis: self.axis, rank: x.rank() });
        }
        let axis = if self.axis < 0 { self.axis + rank } else { self.axis };
        let (rows, columns) = x.shape.split_at(axis as usize);
        Ok(vec![Type::new(x.dtype, vec![D::product(rows), D::product(columns)])])
    }
}

impl Movement for Flatten {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        reshaped(x[0], &y[0])
    }
}

#[cfg(test)]
tables! {
    every_axis_from_minus_rank_to_rank: "
        Flatten(f32[2, 3, 5]) {axis = -3}: f32[1, 30]
        Flatten(f32[2, 3, 5]) {axis = -2}: f32[2, 15]
        Flatten(f32[2, 3, 5]) {axis = -1}: f32[6, 5]
        Flatten(f32[2, 3, 5]) {axis = 0}: f32[1, 30]
        Flatten(f32[2, 3, 5]) {axis = 1}: f32[2, 15]
        Flatten(f32[2, 3, 5]) {axis = 3}: f32[30, 1]
        Flatten(f32[]) {axis = 0}: f32[1, 1]
        Flatten(f32[]) {axis = 1} is refused: axis 1 is outside of rank 0
    ";
}
