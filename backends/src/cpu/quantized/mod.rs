//! Kernels of numbers as few integers.

pub(crate) mod dequantize_linear;
pub(crate) mod dynamic;
pub(crate) mod quantize_linear;

use ops::quantized::Granularity;

use crate::cpu::call::Call;
use crate::cpu::error::CpuError;
use crate::cpu::strided::axis_index;

/// Which scale each element has, for elements in row-major order.
pub(crate) struct Scales {
    /// The elements inside of the axis, its size, and how many on it share a scale.
    inside: usize,
    size: usize,
    block: usize,
    /// How many scales follow each other along the axis, and whether those of one place around it serve all.
    along: usize,
    are_shared: bool,
    /// Whether those of one place inside of the axis serve all.
    is_list: bool,
}

impl Scales {
    /// The scales in operand 1, for the first operand.
    pub(crate) fn new(granularity: Granularity, c: &Call<'_>) -> Result<Self, CpuError> {
        let (shape, scales) = (c.shape(0)?, c.shape(1)?);
        let block = usize::try_from(granularity.block_size).unwrap_or(0);
        // Where the operand is a list, one scale is for all of it, and the axis may be none of its axes.
        let is_for_a_list = shape.len() == 1 && scales == [1] && block == 0;
        if scales.is_empty() || is_for_a_list {
            let all = c.tensor(0)?.len().max(1);
            return Ok(Self { inside: 1, size: all, block: all, along: 1, are_shared: true, is_list: true });
        }
        let axis = axis_index(granularity.axis, shape.len())?;
        let is_list = scales.len() == 1;
        let fits = (is_list && block == 0) || (scales.len() == shape.len() && block > 0);
        if !fits {
            return Err(CpuError::Invalid("its scales are neither one, nor a list, nor of blocks"));
        }
        let along = if is_list { scales[0] } else { scales[axis] };
        let inside = shape[axis + 1..].iter().product();
        Ok(Self { inside, size: shape[axis], block: block.max(1), along, are_shared: is_list, is_list })
    }

    /// The number of the scale of an element.
    pub(crate) fn of(&self, element: usize) -> usize {
        let (within, outer) = (element % self.inside, element / self.inside);
        let (place, around) = (outer % self.size, outer / self.size);
        let scale = place / self.block + if self.are_shared { 0 } else { around * self.along };
        if self.is_list { scale } else { scale * self.inside + within }
    }
}
