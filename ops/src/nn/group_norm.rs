//! `GroupNormalization`: groups of an image's channels standardised together.

use super::channel_norm;
use super::normalize::draw_epsilon;
use crate::prelude::*;

attributes! {
    /// Groups of channels of each image standardised by their own mean and variance.
    ///
    /// `x: [N, C, spatial…], scale, bias: [C] → y: as x`
    ///
    /// (x - mean)/√(variance + ε)·scale + bias, as it is since opset 21: scale and bias by channel. The number of
    /// groups divides C. The standardisation is done in the dtype `stash_type`.
    ///
    /// ONNX: [GroupNormalization](https://onnx.ai/onnx/operators/onnx__GroupNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct GroupNorm<D> {
        /// How many groups the channels fall into.
        pub num_groups: D as size,
        /// Added to the variance.
        pub epsilon: f32 = 1e-5,
        /// The dtype of the standardisation: f32 or bf16.
        pub stash: DType as "stash_type" { 1 => DType::F32, 16 => DType::BF16 } = DType::F32,
    }
}

impl Single for GroupNorm {
    const ROW: Row = Row::new("GroupNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = channel_norm::operands(d)?;
        let stash = d.stage();
        Some(GroupNorm { num_groups: d.parts(x.shape[1], 8), epsilon: draw_epsilon(d), stash })
    }
}

impl<D: Dim> TypeRule<D> for GroupNorm<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let y = channel_norm::infer(x, r)?;
        r.le(D::from(1), self.num_groups)?;
        r.eq(y.shape[1] / self.num_groups * self.num_groups, y.shape[1])?;
        Ok(vec![y])
    }
}

impl Operator for GroupNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        channel_norm::facts(x, self.stash)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let together = c.real(0).shape()[1] / self.num_groups as usize;
        channel_norm::eval(c, self.stash, together, self.epsilon)
    }
}

#[cfg(test)]
tables! {
    channels_are_standardised_in_groups: "
        x = f32[1, 2, 2] {1, 3, 4, 8}; scale = f32[2] {1, 2}; bias = f32[2] {0, 1}
        GroupNormalization(x, scale, bias) {epsilon = 0.0, num_groups = 2} = f32[1, 2, 2] {-1, 1, -1, 3}
        // Mean 4; variance (9 + 1 + 0 + 16) / 4 = 6.5, ε makes it 9.
        GroupNormalization(x, scale, bias) {epsilon = 2.5, num_groups = 1} = f32[1, 2, 2] {-1, -1/3, 1, 11/3}
        GroupNormalization(x, scale, bias) {epsilon = 0.0, num_groups = 3} is refused
    ";
}
