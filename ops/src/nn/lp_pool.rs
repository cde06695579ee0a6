//! `LpPool`: the norm of the elements under a window.

use crate::nn::norm::norm;
use crate::nn::pooling::{Pooling, View, undefined_if};
use crate::prelude::*;

attributes! {
    /// The norm of the elements under a window that slides over each channel.
    ///
    /// `x: [N, C, spatial…] → y: [N, C, positions…]`
    ///
    /// (Σ|x|ᵖ)^(1/p). Padding is zeros, so a window that sees nothing else has the norm 0. Dilations with SAME_UPPER
    /// and SAME_LOWER, or negative padding by them, leave open what the windows see.
    ///
    /// ONNX: [LpPool](https://onnx.ai/onnx/operators/onnx__LpPool.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct LpPool<D> {
        /// How the kernel slides, and its size.
        pub pool: Pooling<D> as part,
        /// The norm is (Σ|x|ᵖ)^(1/p).
        pub p: i64 { 1.. } = 2,
    }
}

impl Single for LpPool {
    const ROW: Row = Row::new("LpPool");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let pool = Pooling::draw(d)?;
        Some(LpPool { pool, p: d.choose(&[1, 2, 2, 3])? })
    }
}

impl<D: Dim> TypeRule<D> for LpPool<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![self.pool.infer(x, r)?])
    }
}

impl LpPool {
    /// Whether the standard leaves open which cells the windows see: its text for this operator takes the kernel without
    /// its dilations when it pads automatically, and then promises as many positions as with them.
    fn is_open(&self, x: &Type) -> bool {
        let Pooling { window, kernel_shape } = &self.pool;
        let is_dilated = window.dilations.iter().zip(kernel_shape).any(|(&d, &k)| d > 1 && k > 1);
        (window.auto_pad.is_same() && is_dilated) || self.pool.is_open(x)
    }
}

impl Operator for LpPool {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        self.pool.facts(x, 2 * self.pool.cells() + 1, Vec::new())
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        undefined_if(x, |x| self.is_open(x))
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        self.pool.effort(self.facts(x).cost.flops(x, y), &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let x: Vec<A::R> = c.real(0).iter().copied().collect();
        let norm = |v: View<'_>| norm(self.p, c.arith, v.taps.iter().map(|t| x[v.image + t.input]));
        let norms = Data::Real(self.pool.each(c, norm));
        vec![if self.is_open(c.ty(0)) { norms.unspecified(c.arith) } else { norms }]
    }
}

#[cfg(test)]
tables! {
    every_norm_ignores_signs: "
        x = f64[1, 1, 3] {-1, -2, -3}
        LpPool(x) {kernel_shape = [2]} = f64[1, 1, 2] {√5, √13}
        LpPool(x) {kernel_shape = [2], p = 1} = f64[1, 1, 2] {3, 5}
        // The third roots of 9 and 35.
        LpPool(x) {kernel_shape = [2], p = 3} ≈ f64[1, 1, 2] {2.0800838230519041, 3.2710663101885897}
        LpPool(x) {kernel_shape = [2], p = 0} is refused: attribute `p` is 0; it must be 1 or more
    ";
    padding_is_zeros: "
        x = f64[1, 1, 2] {-1, -2}; y = f64[1, 1, 3] {-1, -2, -3}
        LpPool(x) {kernel_shape = [2], pads = [2, 0], p = 1} = f64[1, 1, 3] {0, 1, 3}
        LpPool(y) {kernel_shape = [2], dilations = [2], p = 1} = f64[1, 1, 1] {4}
        // Of windows at -2, 1, 4 and 7, two would start in the padding at the end, or one.
        LpPool(f32[1, 1, 4]) {kernel_shape = [1], strides = [3], pads = [2, 2], ceil_mode = 1} has the hazards [Always]
        LpPool(f32[1, 1, 5]) {kernel_shape = [1], strides = [3], pads = [2, 2], ceil_mode = 1} has the hazards []
        LpPool(f32[1, 1, 4]) {kernel_shape = [1], strides = [3], pads = [2, 2]} has the hazards []
    ";
}
