//! Reshape: the same elements in row-major order under another shape.

use crate::movement::reshaped;
use crate::prelude::*;

attributes! {
    /// The same elements in the same order, in another shape.
    ///
    /// `x: [s…] → y: shape, ∏ s = ∏ shape`
    ///
    /// In `shape`, -1 (at most once) stands for what is left over and 0 for the operand's size on that axis, unless
    /// `allowzero` is set: then 0 is 0.
    ///
    /// ONNX: [Reshape](https://onnx.ai/onnx/operators/onnx__Reshape.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Reshape<D> {
        /// The new shape.
        pub shape: Vec<D> as sizes,
        /// Whether 0 in `shape` means an empty axis.
        pub allowzero: bool = false,
    }
}

impl Single for Reshape {
    const ROW: Row = Row::new("Reshape").with(&[spec::list("shape")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        let rank = d.rank(0..=d.limits.max_rank)?;
        let high = d.limits.max_dim.saturating_mul(d.limits.max_dim);
        // A 0 is none everywhere: else it means "as in the operand".
        let allowzero = d.has("allowzero") && d.chance(0.15);
        let least = if allowzero { d.limits.min_dim } else { 1 };
        let shape = (0..rank).map(|_| d.unknown(least, high)).collect();
        Some(Reshape { shape, allowzero })
    }
}

impl<D: Dim> TypeRule<D> for Reshape<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let mut shape = self.shape.clone();
        let mut rest = None;
        for (i, d) in shape.iter_mut().enumerate() {
            match d.known() {
                Some(0) if !self.allowzero => {
                    *d = *x.shape.get(i).ok_or(Reject::Length {
                        name: "shape",
                        found: i + 1,
                        wanted: x.rank(),
                    })?;
                }
                Some(-1) if rest.is_none() => {
                    rest = Some(i);
                    *d = D::from(1);
                }
                _ => r.le(D::from(0), *d)?,
            }
        }
        if let Some(i) = rest {
            let others = D::product(&shape);
            r.le(D::from(1), others)?;
            shape[i] = x.count() / others;
        }
        r.eq(x.count(), D::product(&shape))?;
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Reshape {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        reshaped(x[0], &y[0])
    }
}
