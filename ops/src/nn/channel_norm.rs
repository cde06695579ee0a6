//! What `InstanceNormalization` and `GroupNormalization` share: an image's channels standardised, each alone or in groups.

use super::normalize::{Standard, edges, some_elements, staged, standardize};
use crate::prelude::*;

/// The operands; the image's type.
pub(super) fn operands<'a>(d: &mut Draw<'_, 'a>) -> Option<Type<Sym<'a>>> {
    let x = d.any(3..=d.limits.max_rank)?;
    for _ in 0..2 {
        d.matching(x.dtype, &[Some(x.shape[1])])?;
    }
    Some(x)
}

/// The type of the result, for operands as both require them.
pub(super) fn infer<D: Dim>(x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Type<D>, Reject> {
    let data = x.image(0)?;
    some_elements(r, &data.shape[2..])?;
    for operand in 1..=2 {
        r.eq(x.ranked(operand, 1..=1)?.shape[0], data.shape[1])?;
        rule::same_dtype(&[data, x.need(operand)?])?;
    }
    Ok(data.clone())
}

/// What holds of both, whatever the attributes; the elements are read in the dtype `stage`.
pub(super) fn facts(x: &[Option<&Type>], stage: DType) -> Facts {
    Facts::calculates(Cost::PerOutput(7), Batch::meeting(x, &[]), None, edges(x, stage))
}

/// The channels standardised `together` at a time in `stage`, then scaled and shifted.
pub(super) fn eval<A: Arith>(c: &Call<'_, A>, stage: DType, together: usize, epsilon: f32) -> Vec<Data<A>> {
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
    vec![Data::Real(lanes::array(x.shape(), y.collect()))]
}
