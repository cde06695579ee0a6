//! Transpose: the same elements with the axes in another order.

use rand::seq::SliceRandom;

use crate::prelude::*;

attributes! {
    /// The same elements with the axes in another order.
    ///
    /// `x: [s…] → y: [s[perm[0]], s[perm[1]], …]`
    ///
    /// ONNX: [Transpose](https://onnx.ai/onnx/operators/onnx__Transpose.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Transpose {
        /// Every axis of the operand once; without it, the axes are reversed. Unlike other lists of axes it does not
        /// count from the end.
        pub perm: Option<Vec<i64>> { 0.. },
    }
}

impl Single for Transpose {
    const ROW: Row = Row::new("Transpose");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        // Fewer than two axes have one order, and two have one other.
        let least = [3, 2, 0][d.int(0, 2) as usize].min(d.limits.max_rank);
        let x = d.any(least..=d.limits.max_rank)?;
        let perm = d.chance(0.8).then(|| {
            let mut perm: Vec<i64> = (0..x.rank() as i64).collect();
            perm.shuffle(d.rng);
            perm
        });
        Some(Transpose { perm })
    }
}

impl Transpose {
    /// Which axis of the operand each axis of the output is.
    pub fn order(&self, rank: usize) -> Result<Vec<usize>, Reject> {
        match &self.perm {
            None => Ok((0..rank).rev().collect()),
            Some(perm) if perm.len() != rank => {
                Err(Reject::Length { name: "perm", found: perm.len(), wanted: rank })
            }
            Some(perm) => rule::axes(perm, rank),
        }
    }
}

impl<D: Dim> TypeRule<D> for Transpose {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let shape: Vec<D> = self.order(x.rank())?.into_iter().map(|a| x.shape[a]).collect();
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Transpose {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], _: &[Type]) -> Vec<ArrayD<T>> {
        let order = rule::accepted(self.order(x[0].ndim()));
        vec![x[0].view().permuted_axes(order).as_standard_layout().into_owned()]
    }
}

#[cfg(test)]
tables! {
    perm_names_the_operands_axes: "
        Transpose(i8[2, 1, 3]) = i8[3, 1, 2] {0, 3, 1, 4, 2, 5}
        Transpose(i8[2, 1, 3]) {perm = [1, 2, 0]} = i8[1, 3, 2] {0, 3, 1, 4, 2, 5}
        Transpose(i8[2, 1, 3]) {perm = [1, 0, 2]} = i8[1, 2, 3] {0, 1, 2, 3, 4, 5}
        Transpose(i8[2, 1, 3]) {perm = [0, 0, 1]} is refused: axis 0 is named twice
        Transpose(i8[2]) {perm = [-1]} is refused: attribute `perm` is [-1]; it must be a list of numbers that are 0 or more
    ";
}
