//! Tile: copies of a tensor side by side.

use crate::prelude::*;

attributes! {
    /// Copies of x behind each other along each axis.
    ///
    /// `x: [s…] → y: [sᵢ·repeatsᵢ, …]`
    ///
    /// No copies at all make an empty axis.
    ///
    /// ONNX: [Tile](https://onnx.ai/onnx/operators/onnx__Tile.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Tile<D> {
        /// How many copies follow each other along each axis.
        pub repeats: Vec<D> as sizes,
    }
}

impl Single for Tile {
    const ROW: Row = Row::new("Tile").with(&[spec::list("repeats")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.any(0..=d.limits.max_rank)?.rank();
        let least = d.limits.min_dim;
        Some(Tile { repeats: (0..rank).map(|_| d.unknown(least, 4)).collect() })
    }
}

impl<D: Dim> TypeRule<D> for Tile<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        if self.repeats.len() != x.rank() {
            return Err(Reject::Length { name: "repeats", found: self.repeats.len(), wanted: x.rank() });
        }
        self.repeats.iter().try_for_each(|&n| r.le(D::from(0), n))?;
        let shape: Vec<D> = x.shape.iter().zip(&self.repeats).map(|(&size, &n)| size * n).collect();
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Tile {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        vec![lanes::by_axis(x[0], &y[0].extents(), |axis, at| at % x[0].shape()[axis])]
    }
}

#[cfg(test)]
tables! {
    copies_follow_each_other: "
        x = u8[2, 2] {1, 2, 3, 4}
        Tile(x) {repeats = [1, 2]} = u8[2, 4] {1, 2, 1, 2, 3, 4, 3, 4}
        Tile(x) {repeats = [2, 1]} = u8[4, 2] {1, 2, 3, 4, 1, 2, 3, 4}
        Tile(x) {repeats = [0, 3]} = u8[0, 6]
        Tile(x) {repeats = [2]} is refused
    ";
}
