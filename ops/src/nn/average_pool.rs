//! `AveragePool`: the mean of the elements under a window.

use crate::nn::pooling::{Pooling, undefined_if};
use crate::prelude::*;

attributes! {
    /// The mean of the elements under a window that slides over each channel.
    ///
    /// `x: [N, C, spatial…] → y: [N, C, positions…]`
    ///
    /// Padding does not count, unless `count_include_pad` is set; what hangs over it never does. Where padding does not
    /// count, the mean of a window that sees no element is undefined; and so is the result where the padding of SAME_UPPER and
    /// SAME_LOWER would be negative.
    ///
    /// ONNX: [AveragePool](https://onnx.ai/onnx/operators/onnx__AveragePool.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct AveragePool<D> {
        /// How the kernel slides, and its size.
        pub pool: Pooling<D> as part,
        /// Whether padding counts as so many zeros.
        pub count_include_pad: bool = false,
    }
}

impl Single for AveragePool {
    const ROW: Row = Row::new("AveragePool");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let pool = Pooling::draw(d)?;
        Some(AveragePool { pool, count_include_pad: d.flag() })
    }
}

impl<D: Dim> TypeRule<D> for AveragePool<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let y = self.pool.infer(x, r)?;
        self.pool.reach_in(r)?;
        Ok(vec![y])
    }
}

impl Operator for AveragePool {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts { linear: Some(0), ..self.pool.facts(x, self.pool.cells() + 1, vec![(0, Edge::Stall)]) }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let misses = |x: &Type| !self.count_include_pad && self.pool.misses(x);
        undefined_if(x, |x| misses(x) || self.pool.is_open(x))
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        self.pool.effort(self.facts(x).cost.flops(x, y), &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, ty) = (c.arith, c.ty(0));
        let padded = self.count_include_pad.then(|| self.pool.padded_cells(ty, &c.outputs[0]));
        let x: Vec<A::R> = c.real(0).iter().copied().collect();
        let means = Data::Real(self.pool.each(c, |v| {
            match padded.as_ref().map_or(v.taps.len(), |counts| counts[v.position]) {
                0 => a.undefined_real(),
                count => a.average(v.taps.iter().map(|t| x[v.image + t.input]), count),
            }
        }));
        vec![if self.pool.is_open(ty) { means.unspecified(a) } else { means }]
    }
}

#[cfg(test)]
tables! {
    padding_counts_on_demand: "
        x = f64[1, 1, 3] {1, 2, 3}
        AveragePool(x) {kernel_shape = [3], pads = [1, 1]} = f64[1, 1, 3] {1.5, 2, 2.5}
        AveragePool(x) {kernel_shape = [3], pads = [1, 1], count_include_pad = 1} = f64[1, 1, 3] {1, 2, 5/3}
    ";
    pads_beyond_the_kernel_are_zeros_or_nothing: "
        x = f64[1, 1, 3] {1, 2, 3}
        AveragePool(x) {kernel_shape = [2], pads = [2, 0], count_include_pad = 1} = f64[1, 1, 4] {0, 0.5, 1.5, 2.5}
        AveragePool(x) {kernel_shape = [2], pads = [2, 0], count_include_pad = 1} has the hazards []
        // The first window has no mean.
        AveragePool(x) {kernel_shape = [2], pads = [2, 0]} = f64[1, 1, 4] {nan, 1, 1.5, 2.5}
        AveragePool(x) {kernel_shape = [2], pads = [2, 0]} has the hazards [Always]
        AveragePool(x) {kernel_shape = [1], pads = [0, 1], strides = [2]} = f64[1, 1, 2] {1, 3}
        AveragePool(x) {kernel_shape = [1], pads = [0, 1], strides = [2]} has the hazards []
    ";
    overhang_never_counts: "
        // The last window has the elements 3 and 4 and one cell of padding.
        x = f64[1, 1, 4] {1, 2, 3, 4}
        AveragePool(x) {kernel_shape = [3], strides = [2], pads = [0, 1], count_include_pad = 1, ceil_mode = 1} = f64[1, 1, 2] {2, 7/3}
        // Now it has the element 5, the padding, and a cell beyond it.
        x = f64[1, 1, 5] {1, 2, 3, 4, 5}
        AveragePool(x) {kernel_shape = [3], strides = [2], pads = [0, 1], count_include_pad = 1, ceil_mode = 1} = f64[1, 1, 3] {2, 4, 2.5}
    ";
    no_images_cost_nothing_however_many_cells_would_count: "
        AveragePool(f32[0, 1, 1073741824]) {kernel_shape = [1], count_include_pad = 1}: f32[0, 1, 1073741824]
    ";
    same_padding_counts_dilations: "
        x = f64[1, 1, 4] {1, 2, 3, 4}
        AveragePool(x) {kernel_shape = [2], dilations = [2], auto_pad = 'SAME_UPPER'} = f64[1, 1, 4] {2, 2, 3, 3}
    ";
}
