//! `LpPool`: the norm of the elements under a window.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};

use crate::arith::{Arith, Fun};
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes::array;
use crate::nn::window::{AutoPad, Window, taps};
use crate::operator::{Hazard, Operator, TypeRule, elements};
use crate::rule::{Args, Reject, Rule};
use crate::spec::Row;

/// `LpPool` over X `[N, C, spatial…]`. Padding is zeros, so a window that sees nothing else has the norm 0.
#[derive(Clone, PartialEq, Debug)]
pub struct LpPool<D = i64> {
    /// How the kernel slides.
    pub window: Window<D>,
    /// The size of the kernel on each spatial axis.
    pub kernel_shape: Vec<D>,
    /// The norm is (Σ|x|ᵖ)^(1/p); at least 1.
    pub p: i64,
}

impl Single for LpPool {
    type Over<D: Dim> = LpPool<D>;
    const ROW: Row = Row::new("LpPool");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let n = d.any(3..=5)?.rank() - 2;
        let since_18 = d.limits.opset >= 18;
        let mut window = Window::draw(d, n, since_18, since_18);
        if !since_18 {
            window.dilations.clear();
        }
        let kernel_shape = (0..n).map(|_| d.unknown(1, 4)).collect();
        Some(LpPool { window, kernel_shape, p: d.choose(&[1, 2, 2, 3])? })
    }

    fn parse(a: &Attributes) -> Result<Self, BadAttribute> {
        let p = a.get_int("p", Some(2))?;
        if p < 1 {
            let (name, wanted) = ("p".to_owned(), "1 or more".to_owned());
            return Err(BadAttribute::Value { name, value: p.to_string(), wanted });
        }
        Ok(LpPool { window: Window::parse(a)?, kernel_shape: a.need_ints("kernel_shape")?, p })
    }
}

impl<D: Dim> LpPool<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> LpPool<E> {
        LpPool {
            window: self.window.map(f),
            kernel_shape: self.kernel_shape.iter().map(|&d| f(d)).collect(),
            p: self.p,
        }
    }
}

impl<D: Dim> TypeRule<D> for LpPool<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 3..=usize::from(u8::MAX))?;
        let mut shape = x.shape[..2].to_vec();
        shape.extend(self.window.positions(r, &x.shape[2..], &self.kernel_shape)?);
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl LpPool {
    /// Whether the standard leaves open which cells the windows see: its text for this operator takes the kernel without
    /// its dilations when it pads automatically, and then promises as many positions as with them.
    fn is_open(&self, input: &[i64]) -> bool {
        let is_same = matches!(self.window.auto_pad, AutoPad::SameUpper | AutoPad::SameLower);
        let is_dilated = self.window.dilations.iter().zip(&self.kernel_shape).any(|(&d, &k)| d > 1 && k > 1);
        (is_same && is_dilated) || self.window.is_open(input, &self.kernel_shape)
    }

    fn norm<A: Arith>(&self, a: &A, xs: impl Iterator<Item = A::R>) -> A::R {
        match self.p {
            1 => a.sum(xs.map(|x| a.abs(x))),
            2 => a.call(Fun::Sqrt, a.dot(xs.map(|x| (x, x)))),
            p => {
                let p = a.real(p as f64);
                a.pow(a.sum(xs.map(|x| a.pow(a.abs(x), p))), a.div(a.real(1.0), p))
            }
        }
    }
}

impl Operator for LpPool {
    fn attributes(&self) -> Attributes {
        self.window
            .attributes()
            .flag("ceil_mode", self.window.ceil_mode)
            .ints("kernel_shape", &self.kernel_shape)
            .int("p", self.p)
    }

    fn since(&self, x: &[Option<&Type>]) -> u32 {
        self.window.since(x, &self.kernel_shape)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (kernel, output) = (&self.kernel_shape, &c.outputs[0].shape[2..]);
        let input: Vec<i64> = c.real(0).shape()[2..].iter().map(|&d| d as i64).collect();
        let cells = taps(&self.window.axes(&input, kernel), &input, kernel, output);
        let x: Vec<A::R> = c.real(0).iter().copied().collect();
        let area = i64::product(&input).max(1) as usize;
        let norms = x.chunks_exact(area).flat_map(|image| {
            cells.iter().map(|taps| self.norm(c.arith, taps.iter().map(|t| image[t.input])))
        });
        let norms = Data::Real(array(&c.extents(0), norms.collect()));
        vec![if self.is_open(&input) { norms.unspecified(c.arith) } else { norms }]
    }

    fn flops(&self, _: &[Option<&Type>], y: &[Type]) -> u64 {
        let cells = i64::product(&self.kernel_shape).max(0) as u64;
        elements(&y[0]).saturating_mul(2 * cells + 1)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let is_open = x.first().is_some_and(|x| x.is_some_and(|x| self.is_open(&x.shape[2..])));
        is_open.then_some(Hazard::Always).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use ir::{DType, Tensor};

    use super::*;
    use crate::testing::evaluate;

    /// `LpPool` of -1, -2, -3 … in one row.
    fn pool(size: i64, attributes: &Attributes) -> Vec<f64> {
        let x = Tensor::from_f64_fn(&Type::new(DType::F64, [1, 1, size]), |i| -1.0 - i as f64);
        evaluate(&<LpPool as Single>::parse(attributes).unwrap(), &[Some(&x)]).unwrap()[0].to_f64s()
    }

    #[test]
    fn every_norm_ignores_signs() {
        let pairs = Attributes::new().ints("kernel_shape", &[2]);
        assert_eq!(pool(3, &pairs), [5f64.sqrt(), 13f64.sqrt()]);
        assert_eq!(pool(3, &pairs.clone().int("p", 1)), [3.0, 5.0]);
        let cubes = pool(3, &pairs.clone().int("p", 3));
        assert_abs_diff_eq!(cubes[..], [9f64.cbrt(), 35f64.cbrt()][..], epsilon = 1e-12);
        assert!(<LpPool as Single>::parse(&pairs.int("p", 0)).is_err());
    }

    #[test]
    fn padding_is_zeros() {
        let padded = Attributes::new().ints("kernel_shape", &[2]).ints("pads", &[2, 0]).int("p", 1);
        assert_eq!(pool(2, &padded), [0.0, 1.0, 3.0]);
        let dilated = Attributes::new().ints("kernel_shape", &[2]).ints("dilations", &[2]).int("p", 1);
        assert_eq!(pool(3, &dilated), [4.0]);
    }
}
