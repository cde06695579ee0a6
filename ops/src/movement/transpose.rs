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
        /// Every axis of the operand once; without it, the axes are reversed. Unlike other lists of axes it does not count from the end.
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
            Some(perm) => axes(perm, rank),
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
        let order = accepted(self.order(x[0].ndim()));
        vec![x[0].view().permuted_axes(order).as_standard_layout().into_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::evaluate;
    use ir::Tensor;

    #[test]
    fn perm_names_the_operands_axes() {
        let x = Tensor::from_i128_fn(&Type::new(DType::I8, [2, 1, 3]), |i| i as i128);
        let y = |perm: Option<&[i64]>| {
            let op = Transpose { perm: perm.map(<[i64]>::to_vec) };
            evaluate(&op, &[Some(&x)]).map(|y| (y[0].shape().to_vec(), y[0].to_i128s()))
        };
        assert_eq!(y(None), Ok((vec![3, 1, 2], vec![0, 3, 1, 4, 2, 5])));
        assert_eq!(y(Some(&[1, 2, 0])), Ok((vec![1, 3, 2], vec![0, 3, 1, 4, 2, 5])));
        assert_eq!(y(Some(&[1, 0, 2])), Ok((vec![1, 2, 3], vec![0, 1, 2, 3, 4, 5])));
        assert_eq!(y(Some(&[0, 0, 1])), Err(Reject::RepeatedAxis(0)));
        assert!(Transpose::parse((), &Attributes::new().ints("perm", &[-1])).is_err());
    }
}
