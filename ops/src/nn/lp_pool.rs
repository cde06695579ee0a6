//! `LpPool`: the norm of the elements under a window.

use crate::nn::pooling::{Pooling, View, undefined_if};
use crate::nn::window;
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

/// (Σ|x|ᵖ)^(1/p). The powers are as good as a power is where an implementation has no other way for p of 1 and 2.
pub(super) fn norm<A: Arith>(p: i64, a: &A, xs: impl Iterator<Item = A::R> + Clone) -> A::R {
    match p {
        1 => a.either(a.sum(xs.clone().map(|x| a.abs(x))), || norm_by_powers(p, a, xs)),
        2 => {
            let root = a.call(Fun::Sqrt, a.dot(xs.clone().map(|x| (x, x))));
            a.either(root, || norm_by_powers(p, a, xs))
        }
        _ => norm_by_powers(p, a, xs),
    }
}

fn norm_by_powers<A: Arith>(p: i64, a: &A, xs: impl Iterator<Item = A::R>) -> A::R {
    let p = a.real(p as f64);
    a.pow(a.sum(xs.map(|x| a.pow(a.abs(x), p))), a.div(a.real(1.0), p))
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
        Facts {
            since: self.pool.since(x),
            reads: Reads::Elements,
            cost: Cost::PerOutput(2 * self.pool.cells() + 1),
            batch: Batch::apart_if(rank(x, 0) >= 1),
            linear: None,
            edges: Vec::new(),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        undefined_if(x, |x| self.is_open(x))
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        window::effort(self.facts(x).cost.flops(x, y), &self.pool.kernel_shape, &y[0].shape[2..], &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let x: Vec<A::R> = c.real(0).iter().copied().collect();
        let norm = |v: View<'_>| norm(self.p, c.arith, v.taps.iter().map(|t| x[v.image + t.input]));
        let norms = Data::Real(self.pool.each(c, norm));
        vec![if self.is_open(c.ty(0)) { norms.unspecified(c.arith) } else { norms }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_where_several_windows_would_start_in_the_padding_at_the_end() {
        let late = |size: i64, ceil_mode: i64| {
            let wide =
                Attributes::new().ints("kernel_shape", &[1]).ints("strides", &[3]).ints("pads", &[2, 2]);
            let op: LpPool = LpPool::parse((), &wide.int("ceil_mode", ceil_mode)).unwrap();
            let x = Type::new(DType::F32, [1, 1, size]);
            (op.pool.window.late(&[size], &[1]), op.is_open(&x))
        };
        // Of four windows, at -2, 1, 4 and 7, one or two.
        assert_eq!(late(4, 1), (2, true));
        assert_eq!(late(5, 1), (1, false));
        assert_eq!(late(4, 0), (0, false));
    }

    tables! {
        every_norm_ignores_signs: "
            x = f64[1, 1, 3] {-1, -2, -3}
            LpPool(x) {kernel_shape = [2]} = f64[1, 1, 2] {√5, √13}
            LpPool(x) {kernel_shape = [2], p = 1} = f64[1, 1, 2] {3, 5}
            // The third roots of 9 and 35.
            LpPool(x) {kernel_shape = [2], p = 3} ≈ f64[1, 1, 2] {2.0800838230519041, 3.2710663101885897}
            LpPool(x) {kernel_shape = [2], p = 0} is refused
        ";
        padding_is_zeros: "
            x = f64[1, 1, 2] {-1, -2}; y = f64[1, 1, 3] {-1, -2, -3}
            LpPool(x) {kernel_shape = [2], pads = [2, 0], p = 1} = f64[1, 1, 3] {0, 1, 3}
            LpPool(y) {kernel_shape = [2], dilations = [2], p = 1} = f64[1, 1, 1] {4}
        ";
    }
}
