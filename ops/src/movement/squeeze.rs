//! Squeeze: axes of size 1 taken out.

use crate::movement::reshaped;
use crate::prelude::*;

attributes! {
    /// x without some axes of size 1.
    ///
    /// `x: [s…] → y: s without axes`
    ///
    /// ONNX: [Squeeze](https://onnx.ai/onnx/operators/onnx__Squeeze.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Squeeze {
        /// The axes to take out; without it, all of size 1.
        pub axes: Option<Vec<i64>>,
    }
}

impl Single for Squeeze {
    const ROW: Row = Row::new("Squeeze").with(&[spec::list("axes")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = if d.wanted().is_none() && d.chance(0.7) {
            d.any(0..=d.limits.max_rank)?
        } else {
            // Some axes are 1 from the start: without `axes` it must be known which go.
            let kept = d.rank(0..=d.limits.max_rank)?;
            let mut shape: Vec<_> = (0..kept).map(|_| d.dim()).collect();
            for _ in 0..d.int(0, (d.limits.max_rank - kept).min(2) as i64) {
                let at = d.int(0, shape.len() as i64) as usize;
                shape.insert(at, 1.into());
            }
            let dtype = d.dtype(d.allowed())?;
            d.fresh_like(dtype, shape)
        };
        if d.chance(0.3) {
            return Some(Squeeze { axes: None });
        }
        let rank = x.rank() as i64;
        let mut chosen = Vec::new();
        for (axis, size) in (0..).zip(&x.shape) {
            let removable = match size.known() {
                Some(size) => size == 1 && d.chance(0.8),
                None => d.wanted().is_none() && d.chance(0.2),
            };
            if removable {
                chosen.push(if d.chance(0.3) { axis - rank } else { axis });
            }
        }
        // What a list of no axes means nobody knows.
        (!chosen.is_empty()).then_some(Squeeze { axes: Some(chosen) })
    }
}

impl<D: Dim> TypeRule<D> for Squeeze {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let mut shape = x.shape.clone();
        if let Some(list) = self.axes.as_deref().filter(|list| !list.is_empty()) {
            let gone = rule::axes(list, x.rank())?;
            gone.iter().try_for_each(|&a| r.eq(D::from(1), x.shape[a]))?;
            shape = (0..x.rank()).filter(|a| !gone.contains(a)).map(|a| x.shape[a]).collect();
        } else {
            shape.retain(|size| size.known() != Some(1));
            // The output's rank hangs on them, so unknown sizes are taken to be more than 1.
            let mut unknown = shape.iter().filter(|size| size.known().is_none());
            unknown.try_for_each(|&size| r.le(D::from(2), size))?;
            if self.axes.is_some() && shape.len() < x.rank() {
                return Err(Reject::Unsaid(
                    "whether a list of no axes stands for none or, as if it was not there, for all of size 1",
                ));
            }
        }
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Squeeze {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        reshaped(x[0], &y[0])
    }
}

#[cfg(test)]
tables! {
    axes_that_are_named_go_or_every_one: "
        Squeeze(bool[1, 0, 1, 3]): bool[0, 3]
        Squeeze(bool[1, 0, 1, 3]) {axes = [-2]}: bool[1, 0, 3]
        Squeeze(bool[1, 2]) {axes = [1]} is refused: 1 must equal 2
    ";
    a_list_of_no_axes_means_something_where_none_is_of_size_1: "
        Squeeze(bool[2, 3]) {axes = []}: bool[2, 3]
        Squeeze(bool[]) {axes = []}: bool[]
        Squeeze(bool[1, 3]) {axes = []} is refused
    ";
}
