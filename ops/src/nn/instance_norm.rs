//! `InstanceNormalization`: each channel of an image standardised alone.

use super::channel_norm;
use super::normalize::draw_epsilon;
use crate::prelude::*;

attributes! {
    /// Each channel of each image standardised by its own mean and variance.
    ///
    /// `x: [N, C, spatial…], scale, bias: [C] → y: as x`
    ///
    /// (x - mean)/√(variance + ε)·scale + bias. There must be elements to take the mean of.
    ///
    /// ONNX: [InstanceNormalization](https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct InstanceNorm {
        /// Added to the variance.
        pub epsilon: f32 = 1e-5,
    }
}

impl Single for InstanceNorm {
    const ROW: Row = Row::new("InstanceNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        channel_norm::operands(d)?;
        Some(InstanceNorm { epsilon: draw_epsilon(d) })
    }
}

impl<D: Dim> TypeRule<D> for InstanceNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![channel_norm::infer(x, r)?])
    }
}

impl Operator for InstanceNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        channel_norm::facts(x, x[0].map_or(DType::F32, |x| x.dtype))
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        channel_norm::eval(c, c.dtype(0), 1, self.epsilon)
    }
}

#[cfg(test)]
tables! {
    channels_are_standardised_alone: "
        x = f32[1, 2, 2] {1, 3, 4, 8}; scale = f32[2] {1, 2}; bias = f32[2] {0, 1}
        InstanceNormalization(x, scale, bias) {epsilon = 0.0} = f32[1, 2, 2] {-1, 1, -1, 3}
    ";
}
