//! Expand: an operand broadcast with a shape.

use crate::prelude::*;

attributes! {
    /// x broadcast with a shape.
    ///
    /// `x: [s…] → y: s broadcast with shape`
    ///
    /// The broadcasting is multidirectional: where `shape` says 1 or is shorter, the operand's size holds.
    ///
    /// ONNX: [Expand](https://onnx.ai/onnx/operators/onnx__Expand.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Expand<D> {
        /// The shape to broadcast with.
        pub shape: Vec<D> as sizes,
    }
}

impl Single for Expand {
    const ROW: Row = Row::new("Expand").carrying().with(&[spec::list("shape")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        let rank = d.rank(0..=d.limits.max_rank)?;
        Some(Expand { shape: (0..rank).map(|_| d.dim()).collect() })
    }
}

impl<D: Dim> TypeRule<D> for Expand<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        self.shape.iter().try_for_each(|&d| r.le(D::from(0), d))?;
        Ok(vec![Type::new(x.dtype, rule::broadcast_shapes(r, &[&x.shape, &self.shape])?)])
    }
}

impl Movement for Expand {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let expanded = x[0].broadcast(y[0].extents());
        vec![expanded.expect("the type rule makes the operand broadcast").to_owned()]
    }
}
