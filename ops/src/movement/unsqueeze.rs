//! Unsqueeze: axes of size 1 put in.

use crate::movement::reshaped;
use crate::prelude::*;

attributes! {
    /// x with axes of size 1 added.
    ///
    /// `x: [s…] → y: s with axes`
    ///
    /// ONNX: [Unsqueeze](https://onnx.ai/onnx/operators/onnx__Unsqueeze.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Unsqueeze {
        /// Where the output has an added axis of size 1; negative axes count from the output's end.
        pub axes: Vec<i64>,
    }
}

impl Single for Unsqueeze {
    const ROW: Row = Row::new("Unsqueeze").with(&[spec::list("axes")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.rank(1..=d.limits.max_rank)?;
        let mut axes = d.axes(rank, 0);
        // The order in which they are named means nothing.
        if d.chance(0.2) {
            axes.reverse();
        }
        let operand = rank - axes.len();
        d.any(operand..=operand)?;
        Some(Unsqueeze { axes })
    }
}

impl<D: Dim> TypeRule<D> for Unsqueeze {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let rank = x.rank() + self.axes.len();
        let added = rule::axes(&self.axes, rank)?;
        let mut sizes = x.shape.iter().copied();
        let shape: Vec<D> = (0..rank)
            .filter_map(|a| if added.contains(&a) { Some(D::from(1)) } else { sizes.next() })
            .collect();
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Unsqueeze {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        reshaped(x[0], &y[0])
    }
}

#[cfg(test)]
tables! {
    axes_count_in_the_output: "
        Unsqueeze(bool[2, 3]) {axes = [4, -3, 0]}: bool[1, 2, 1, 3, 1]
        Unsqueeze(bool[]) {axes = [0, -1]}: bool[1, 1]
        Unsqueeze(bool[2]) {axes = [0, -3]} is refused: axis -3 is named twice
    ";
}
