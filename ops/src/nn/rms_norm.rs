//! `RMSNormalization`: the trailing axes divided by their root mean square, then scaled.

use crate::nn::normalize::{draw_epsilon, draw_parameter, edges, some_elements, staged, standardized_apart};
use crate::prelude::*;

attributes! {
    /// The axes from `axis` on over the root of their mean square.
    ///
    /// `x: [a…, b…], scale: broadcasts to x → y: as x, of the dtype of scale`
    ///
    /// x/√(mean of x² + ε)·scale. All but the last product is done in the dtype `stash_type`.
    ///
    /// ONNX: [RMSNormalization](https://onnx.ai/onnx/operators/onnx__RMSNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct RmsNorm {
        /// The first axis of those whose elements are taken together.
        pub axis: i64 = -1,
        /// Added to the mean square.
        pub epsilon: f32 = 1e-5,
        /// The dtype of the first stage: f32 or bf16.
        pub stash: DType as "stash_type" { 1 => DType::F32, 16 => DType::BF16 } = DType::F32,
    }
}

impl Single for RmsNorm {
    const ROW: Row = Row::new("RMSNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let spelled = d.axis(x.rank())?;
        // The standard has a dtype for the scale and the output, another one for X. But its function body multiplies
        // X's with the scale's, and its shape inference gives the output X's: they hold only where the two are equal.
        draw_parameter(d, x.dtype, &x, rule::axis(spelled, x.rank()).ok()?)?;
        let stash = d.stage();
        Some(RmsNorm { axis: spelled, epsilon: draw_epsilon(d), stash })
    }
}

impl<D: Dim> TypeRule<D> for RmsNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, scale) = (x.need(0)?, x.need(1)?);
        let axis = rule::axis(self.axis, data.rank())?;
        some_elements(r, &data.shape[axis..])?;
        rule::broadcast_to(r, &scale.shape, &data.shape)?;
        Ok(vec![data.with_dtype(scale.dtype)])
    }
}

impl Operator for RmsNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(4), standardized_apart(x, self.axis), None, edges(x, self.stash))
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        // `Normalized` goes back to X's dtype before the scale's dtype takes over.
        let (stage, back) = (a.within(self.stash), a.within(c.dtype(0)));
        let axes: Vec<usize> = (c.axis(self.axis)..x.ndim()).collect();
        let normalized = lanes::map(x, &axes, |lane| {
            let lane = staged(a, self.stash, c.dtype(0), lane);
            let squares = stage.dot(lane.iter().map(|&x| (x, x)));
            let mean = stage.div(squares, stage.real(lane.len() as f64));
            let root = stage.call(Fun::Sqrt, stage.add(mean, stage.real(self.epsilon.into())));
            lane.iter().map(|&x| back.round(stage.div(x, root))).collect()
        });
        vec![Data::Real(lanes::zip(&c.extents(0), &normalized, c.real(1), |n, scale| a.mul(n, scale)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, parse, tensor, values};
    use approx::assert_abs_diff_eq;

    #[test]
    fn lanes_are_divided_by_their_root_mean_square() {
        let x = tensor(DType::F16, &[2, 2], &[1., 7., 0., 0.]);
        let scale = tensor(DType::F32, &[2], &[5., 10.]);
        let op = parse::<RmsNorm>("RMSNormalization", &Attributes::new());
        // ε is too small to be seen in f16 next to 25, and keeps 0 / 0 away.
        let y = outputs(op, &[&x, &scale]).unwrap();
        assert_eq!(y[0].dtype(), DType::F32);
        assert_abs_diff_eq!(values(&y[0])[..], [1., 14., 0., 0.][..], epsilon = 1e-5);
    }
}
