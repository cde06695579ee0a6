//! `AveragePool`: the mean of the elements under a window.

use crate::nn::pooling::{Pooling, undefined_if};
use crate::nn::window;
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
        Facts {
            since: self.pool.since(x),
            reads: Reads::Elements,
            cost: Cost::PerOutput(self.pool.cells() + 1),
            batch: Batch::apart_if(rank(x, 0) >= 1),
            linear: None,
            edges: vec![(0, Edge::Stall)],
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let misses = |x: &Type| !self.count_include_pad && self.pool.misses(x);
        undefined_if(x, |x| misses(x) || self.pool.is_open(x))
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        window::effort(self.facts(x).cost.flops(x, y), &self.pool.kernel_shape, &y[0].shape[2..], &y[0])
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
mod tests {
    use super::*;
    use crate::testing::evaluate;
    use ir::Tensor;

    /// `AveragePool` of 1, 2, 3 … in one row.
    fn pool(size: i64, attributes: &Attributes) -> Vec<f64> {
        let x = Tensor::from_f64_fn(&Type::new(DType::F64, [1, 1, size]), |i| i as f64 + 1.0);
        evaluate(&AveragePool::parse((), attributes).unwrap(), &[Some(&x)]).unwrap()[0].to_f64s()
    }

    #[test]
    fn padding_counts_on_demand() {
        let padded = Attributes::new().ints("kernel_shape", &[3]).ints("pads", &[1, 1]);
        assert_eq!(pool(3, &padded), [1.5, 2.0, 2.5]);
        assert_eq!(pool(3, &padded.int("count_include_pad", 1)), [1.0, 2.0, 5.0 / 3.0]);
    }

    #[test]
    fn pads_beyond_the_kernel_are_zeros_or_nothing() {
        let padded = Attributes::new().ints("kernel_shape", &[2]).ints("pads", &[2, 0]);
        assert_eq!(pool(3, &padded.clone().int("count_include_pad", 1)), [0.0, 0.5, 1.5, 2.5]);
        // The first window has no mean.
        assert_eq!(pool(3, &padded)[1..], [1.0, 1.5, 2.5]);
        let hazards = |attributes: &Attributes| {
            let op: AveragePool = AveragePool::parse((), attributes).unwrap();
            op.hazards(&[Some(&Type::new(DType::F64, [1, 1, 3]))])
        };
        assert_eq!(hazards(&padded), [Hazard::Always]);
        assert_eq!(hazards(&padded.int("count_include_pad", 1)), []);
        let after = Attributes::new().ints("kernel_shape", &[1]).ints("pads", &[0, 1]).ints("strides", &[2]);
        assert_eq!((pool(3, &after), hazards(&after)), (vec![1.0, 3.0], vec![]));
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
    fn no_images_cost_nothing_however_many_cells_would_count() {
        let counting = Attributes::new().ints("kernel_shape", &[1]).int("count_include_pad", 1);
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [0, 1, 1 << 30]), |_| 0.0);
        let y = evaluate(&AveragePool::parse((), &counting).unwrap(), &[Some(&x)]).unwrap();
        assert_eq!(y[0].shape(), [0, 1, 1 << 30]);
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
