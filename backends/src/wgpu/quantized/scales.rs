//! Which scale each element has: all the same, those of a place along an axis, or those of a block of places.

use ops::quantized::Granularity;

use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::Call;
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::params;

params! {
    pub(super) struct Scales {
        /// The elements inside of the axis, its size, and how many places on it share a scale.
        inside: u32,
        size: u32,
        block: u32,
        /// How many scales follow each other along the axis.
        along: u32,
        /// Whether those of the axis serve all that is around it.
        is_list: u32,
    }
}

impl Scales {
    /// One for all elements.
    pub(super) fn one(x: &GpuTensor) -> Self {
        let all = x.len().max(1) as u32;
        Self { inside: 1, size: all, block: all, along: 1, is_list: 1 }
    }

    /// The scales in operand 1, for operand 0.
    pub(super) fn new(granularity: Granularity, c: &Call<'_>) -> Result<Self, GpuError> {
        let (x, scales) = (c.get(0)?, c.get(1)?);
        let block = usize::try_from(granularity.block_size).unwrap_or(0);
        // Where the operand is a list, one scale is for all of it, and the axis may be none of its axes.
        let is_for_a_list = x.rank() == 1 && scales.shape() == [1] && block == 0;
        if scales.rank() == 0 || is_for_a_list {
            return Ok(Self::one(x));
        }
        let axis = c.axis(granularity.axis, x.rank())?;
        let is_list = scales.rank() == 1 && block == 0;
        let (size, inside) = (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>());
        let along = scales.shape()[if is_list { 0 } else { axis.min(scales.rank() - 1) }];
        let block = block.max(1);
        let is_of_blocks = scales.rank() == x.rank()
            && (0..x.rank()).all(|a| a == axis || scales.shape()[a] == x.shape()[a])
            && along == size.div_ceil(block);
        if !(is_list && along == size || !is_list && is_of_blocks) {
            return Err(c.refuse(format!("scales {:?} of {:?}", scales.shape(), x.shape())));
        }
        let [inside, size, block, along] = [inside, size, block, along].map(|v| v as u32);
        Ok(Self { inside, size, block, along, is_list: is_list.into() })
    }
}
