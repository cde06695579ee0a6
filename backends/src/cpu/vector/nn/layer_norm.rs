//! LayerNormalization of `f32` with parameters of `f32`, a lane after the other while it is in the cache.

use ir::DType;
use ops::nn::LayerNorm;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::strided::axis_index;
use crate::cpu::vector::fold::Fold;
use crate::cpu::vector::room::{each_part, zeros};
use crate::cpu::vector::wide::wide;

pub(crate) fn run(op: LayerNorm, c: &Call<'_>) -> Option<Outputs> {
    let is_f32 = |i: usize| c.opt(i).is_none_or(|x| x.dtype() == DType::F32);
    let shape = c.shape(0).ok()?;
    let lane = &shape[axis_index(op.axis, shape.len()).ok()?..];
    // What broadcasts otherwise, and what is saved in a shorter type, is for the plain kernel.
    let fits = |i: usize| c.opt(i).is_none_or(|x| x.shape() == lane);
    let saves = c.outputs.iter().all(|ty| ty.dtype == DType::F32);
    let is_here = [0, 1, 2].into_iter().all(is_f32) && fits(1) && fits(2) && saves;
    let size = lane.iter().product();
    (is_here && size > 0).then(|| layer_norm(op, c, size))
}

/// What is known of a lane: its mean, what that lacks of the exact one, and the inverse of the standard deviation.
struct Moments {
    mean: f32,
    lacks: f32,
    inverse: f32,
}

impl Moments {
    /// In two passes and a half, so that neither a large mean nor its rounding swallows the variance.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
    fn of(lane: &[f32], epsilon: f32) -> Self {
        let count = lane.len() as f32;
        let mean = Fold::total().lane(lane) / count;
        let lacks = Fold::sum(|x: f32| x - mean).lane(lane) / count;
        let squares = Fold::sum(|x: f32| (x - mean - lacks) * (x - mean - lacks)).lane(lane);
        Self { mean, lacks, inverse: 1.0 / (squares / count + epsilon).sqrt() }
    }
}

fn layer_norm(op: LayerNorm, c: &Call<'_>, size: usize) -> Outputs {
    let (x, scale) = (c.elements::<f32>(0)?, c.elements::<f32>(1)?);
    let bias = c.opt(2).map(|_| c.elements::<f32>(2)).transpose()?;
    let lanes = |first: usize| x[first * size..].chunks_exact(size);
    let mut y = zeros(0f32, x.len());
    each_part(c.threads(), &mut y, size, 4 * size, &|first, part| {
        wide!({
            for (y, x) in part.chunks_exact_mut(size).zip(lanes(first)) {
                let Moments { mean, lacks, inverse } = Moments::of(x, op.epsilon);
                for ((y, &x), &scale) in y.iter_mut().zip(x).zip(&scale[..]) {
                    *y = (x - mean - lacks) * inverse * scale;
                }
                if let Some(bias) = &bias {
                    y.iter_mut().zip(&bias[..]).for_each(|(y, &bias)| *y += bias);
                }
            }
        });
    });
    let mut outputs = vec![c.store(0, y)?];
    // Few models ask for these.
    for i in 1..c.outputs.len() {
        let moments = lanes(0).map(|lane| Moments::of(lane, op.epsilon));
        let saved = moments.map(|m| if i == 1 { m.mean } else { m.inverse }).collect();
        outputs.push(c.store(i, saved)?);
    }
    Ok(outputs)
}
