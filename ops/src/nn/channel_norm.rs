//! `InstanceNormalization` and `GroupNormalization`: an image's channels standardised, each alone or in groups.

use crate::nn::normalize::{Standard, draw_epsilon, edges, some_elements, staged, standardize};
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

impl Single for InstanceNorm {
    const ROW: Row = Row::new("InstanceNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        operands(d)?;
        Some(InstanceNorm { epsilon: draw_epsilon(d) })
    }
}

impl Single for GroupNorm {
    const ROW: Row = Row::new("GroupNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = operands(d)?;
        let stash = d.stage();
        Some(GroupNorm { num_groups: d.parts(x.shape[1], 8), epsilon: draw_epsilon(d), stash })
    }
}

/// The operands; the image's type.
fn operands<'a>(d: &mut Draw<'_, 'a>) -> Option<Type<Sym<'a>>> {
    let x = d.any(3..=d.limits.max_rank)?;
    for _ in 0..2 {
        d.matching(x.dtype, &[Some(x.shape[1])])?;
    }
    Some(x)
}

fn infer<D: Dim>(x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Type<D>, Reject> {
    let data = x.ranked_from(0, 3)?;
    some_elements(r, &data.shape[2..])?;
    for operand in 1..=2 {
        r.eq(x.ranked(operand, 1..=1)?.shape[0], data.shape[1])?;
        same_dtype(&[data, x.need(operand)?])?;
    }
    Ok(data.clone())
}

/// What holds of both, whatever the attributes; the elements are read in the dtype `stage`.
fn facts(x: &[Option<&Type>], stage: DType) -> Facts {
    Facts::calculates(Cost::PerOutput(7), Batch::apart_if(rank(x, 0) >= 1), None, edges(x, stage))
}

/// The channels standardised `together` at a time in `stage`, then scaled and shifted.
fn eval<A: Arith>(c: &Call<'_, A>, stage: DType, together: usize, epsilon: f32) -> Vec<Data<A>> {
    let (a, x, scale, bias) = (c.arith, c.real(0), c.real(1), c.real(2));
    let items: Vec<A::R> = x.iter().copied().collect();
    let (channels, area) = (x.shape()[1], x.shape()[2..].iter().product::<usize>());
    let lanes = items.chunks((together * area).max(1));
    let normalized = lanes.flat_map(|lane| {
        let read = staged(a, stage, c.dtype(0), lane);
        let Standard { mean, inverse, elements } = standardize(&a.within(stage), &read, epsilon);
        lane.iter().zip(elements).map(move |(&x, n)| (x, n, mean, inverse)).collect::<Vec<_>>()
    });
    let y = normalized.enumerate().map(|(i, (x, n, mean, inverse))| {
        let channel = i / area % channels;
        let (scale, bias) = (scale[[channel].as_slice()], bias[[channel].as_slice()]);
        // As one multiplication and one addition per element where it is not as it is written.
        a.or_folded(a.add(a.mul(a.round(n), scale), bias), || {
            a.affine(x, a.round(mean), a.mul(a.round(inverse), scale), bias)
        })
    });
    vec![Data::Real(array(x.shape(), y.collect()))]
}

impl<D: Dim> TypeRule<D> for InstanceNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![infer(x, r)?])
    }
}

impl<D: Dim> TypeRule<D> for GroupNorm<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let y = infer(x, r)?;
        r.le(D::from(1), self.num_groups)?;
        r.eq(y.shape[1] / self.num_groups * self.num_groups, y.shape[1])?;
        Ok(vec![y])
    }
}

impl Operator for InstanceNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        facts(x, x[0].map_or(DType::F32, |x| x.dtype))
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        eval(c, c.dtype(0), 1, self.epsilon)
    }
}

impl Operator for GroupNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        facts(x, self.stash)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let together = c.real(0).shape()[1] / self.num_groups as usize;
        eval(c, self.stash, together, self.epsilon)
    }
}

#[cfg(test)]
tables! {
    channels_are_standardised_alone_or_in_groups: "
        x = f32[1, 2, 2] {1, 3, 4, 8}; scale = f32[2] {1, 2}; bias = f32[2] {0, 1}
        InstanceNormalization(x, scale, bias) {epsilon = 0.0} = f32[1, 2, 2] {-1, 1, -1, 3}
        GroupNormalization(x, scale, bias) {epsilon = 0.0, num_groups = 2} = f32[1, 2, 2] {-1, 1, -1, 3}
        // Mean 4; variance (9 + 1 + 0 + 16) / 4 = 6.5, ε makes it 9.
        GroupNormalization(x, scale, bias) {epsilon = 2.5, num_groups = 1} = f32[1, 2, 2] {-1, -1/3, 1, 11/3}
        GroupNormalization(x, scale, bias) {epsilon = 0.0, num_groups = 3} is refused
    ";
}
