//! `AveragePool`: the mean of the elements under a window.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes::array;
use crate::nn::window::{Window, padded_cells, taps};
use crate::operator::{Edge, Hazard, Operator, TypeRule, elements};
use crate::rule::{Args, Reject, Rule};
use crate::spec::Row;

/// `AveragePool` over X `[N, C, spatial…]`. The mean of a window that sees no element, which only dilations can
/// bring about, is undefined.
#[derive(Clone, PartialEq, Debug)]
pub struct AveragePool<D = i64> {
    /// How the kernel slides.
    pub window: Window<D>,
    /// The size of the kernel on each spatial axis.
    pub kernel_shape: Vec<D>,
    /// Whether padding counts as so many zeros.
    pub count_include_pad: bool,
}

impl Single for AveragePool {
    type Over<D: Dim> = AveragePool<D>;
    const ROW: Row = Row::new("AveragePool");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let n = d.any(3..=5)?.rank() - 2;
        let dilations_exist = d.limits.opset >= 19;
        let mut window = Window::draw(d, n, dilations_exist, true);
        if !dilations_exist {
            window.dilations.clear();
        }
        let kernel_shape = (0..n).map(|_| d.unknown(1, 4)).collect();
        Some(AveragePool { window, kernel_shape, count_include_pad: d.chance(0.5) })
    }

    fn parse(a: &Attributes) -> Result<Self, BadAttribute> {
        Ok(AveragePool {
            window: Window::parse(a)?,
            kernel_shape: a.need_ints("kernel_shape")?,
            count_include_pad: a.get_flag("count_include_pad", false)?,
        })
    }
}

impl<D: Dim> AveragePool<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> AveragePool<E> {
        AveragePool {
            window: self.window.map(f),
            kernel_shape: self.kernel_shape.iter().map(|&d| f(d)).collect(),
            count_include_pad: self.count_include_pad,
        }
    }
}

impl<D: Dim> TypeRule<D> for AveragePool<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 3..=usize::from(u8::MAX))?;
        let mut shape = x.shape[..2].to_vec();
        shape.extend(self.window.positions(r, &x.shape[2..], &self.kernel_shape)?);
        self.window.reach_in(r, &self.kernel_shape)?;
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Operator for AveragePool {
    fn attributes(&self) -> Attributes {
        self.window
            .attributes()
            .flag("ceil_mode", self.window.ceil_mode)
            .ints("kernel_shape", &self.kernel_shape)
            .flag("count_include_pad", self.count_include_pad)
    }

    fn since(&self, x: &[Option<&Type>]) -> u32 {
        self.window.since(x, &self.kernel_shape)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, kernel, output) = (c.arith, &self.kernel_shape, &c.outputs[0].shape[2..]);
        let input: Vec<i64> = c.real(0).shape()[2..].iter().map(|&d| d as i64).collect();
        let (axes, is_open) = (self.window.axes(&input, kernel), self.window.is_open(&input, kernel));
        let cells = taps(&axes, &input, kernel, output);
        let counts = if self.count_include_pad {
            padded_cells(&axes, &input, kernel, output)
        } else {
            cells.iter().map(Vec::len).collect()
        };
        let x: Vec<A::R> = c.real(0).iter().copied().collect();
        let area = i64::product(&input).max(1) as usize;
        let means = x.chunks_exact(area).flat_map(|image| {
            cells.iter().zip(&counts).map(|(taps, &count)| match count {
                0 => a.undefined_real(),
                _ => a.div(a.sum(taps.iter().map(|t| image[t.input])), a.real(count as f64)),
            })
        });
        let means = Data::Real(array(&c.extents(0), means.collect()));
        vec![if is_open { means.unspecified(a) } else { means }]
    }

    fn flops(&self, _: &[Option<&Type>], y: &[Type]) -> u64 {
        let cells = i64::product(&self.kernel_shape).max(0) as u64;
        elements(&y[0]).saturating_mul(cells + 1)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let Some(Some(x)) = x.first() else { return Vec::new() };
        let (input, kernel) = (&x.shape[2..], &self.kernel_shape);
        let misses = !self.count_include_pad && self.window.misses(input, kernel);
        (misses || self.window.is_open(input, kernel)).then_some(Hazard::Always).into_iter().collect()
    }

    fn edges(&self, _: &[Option<&Type>]) -> Vec<(usize, Edge)> {
        vec![(0, Edge::Stall)]
    }
}

#[cfg(test)]
mod tests {
    use ir::{DType, Tensor};

    use super::*;
    use crate::testing::evaluate;

    /// `AveragePool` of 1, 2, 3 … in one row.
    fn pool(size: i64, attributes: &Attributes) -> Vec<f64> {
        let x = Tensor::from_f64_fn(&Type::new(DType::F64, [1, 1, size]), |i| i as f64 + 1.0);
        evaluate(&<AveragePool as Single>::parse(attributes).unwrap(), &[Some(&x)]).unwrap()[0].to_f64s()
    }

    #[test]
    fn padding_counts_on_demand() {
        let padded = Attributes::new().ints("kernel_shape", &[3]).ints("pads", &[1, 1]);
        assert_eq!(pool(3, &padded), [1.5, 2.0, 2.5]);
        assert_eq!(pool(3, &padded.int("count_include_pad", 1)), [1.0, 2.0, 5.0 / 3.0]);
    }

    #[test]
    fn overhang_never_counts() {
        let overhanging = Attributes::new()
            .ints("kernel_shape", &[3])
            .ints("strides", &[2])
            .ints("pads", &[0, 1])
            .int("count_include_pad", 1)
            .int("ceil_mode", 1);
        // The last window has the elements 3 and 4 and one cell of padding.
        assert_eq!(pool(4, &overhanging), [2.0, 7.0 / 3.0]);
        // Now it has the element 5, the padding, and a cell beyond it.
        assert_eq!(pool(5, &overhanging), [2.0, 4.0, 2.5]);
    }

    #[test]
    fn same_padding_counts_dilations() {
        let same = Attributes::new()
            .ints("kernel_shape", &[2])
            .ints("dilations", &[2])
            .name("auto_pad", "SAME_UPPER");
        assert_eq!(pool(4, &same), [2.0, 2.0, 3.0, 3.0]);
    }
}
