//! Slice: on each axis, elements from a start, a step apart. The step may be negative.

use ir::Type;
use ops::movement::Slice;

use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{GpuTensor, View, strides};

impl Kernel for Slice {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    /// Bounds as the standard states them: counted from the end if negative, then clamped to what the axis has.
    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let (mut start, mut step) = (vec![0; x.rank()], vec![1; x.rank()]);
        for (i, &first) in self.starts.iter().enumerate() {
            let axis = c.axis(self.axes.as_ref().map_or(i as i64, |axes| axes[i]), x.rank())?;
            let size = x.shape()[axis] as i64;
            let by = self.steps.as_ref().map_or(1, |steps| steps[i]);
            let first = if first < 0 { first + size } else { first };
            start[axis] = first.clamp(0, if by < 0 { (size - 1).max(0) } else { size });
            step[axis] = by;
        }
        one(c.gpu.slice(x, &start, &step, &c.output()?.extents()))
    }
}

impl Gpu {
    /// Part of a tensor: on each axis, `count` elements from `start`, `step` apart.
    pub(crate) fn slice(
        &self,
        x: &GpuTensor,
        start: &[i64],
        step: &[i64],
        count: &[usize],
    ) -> Result<GpuTensor, GpuError> {
        let rank = x.rank();
        if [start.len(), step.len(), count.len()] != [rank; 3] {
            let why = format!("a start, step and count for each of {rank} axes");
            return Err(GpuError::arguments("Slice", why));
        }
        let whole = strides(x.shape());
        let mut view = View { tensor: x, offset: 0, strides: Vec::with_capacity(rank) };
        for axis in 0..rank {
            let last = start[axis] + step[axis] * (count[axis] as i64 - 1);
            let inside = |at: i64| (0..x.shape()[axis] as i64).contains(&at);
            if count[axis] > 0 && !(inside(start[axis]) && inside(last)) {
                let why = format!("{}..={last} leaves axis {axis} of {:?}", start[axis], x.shape());
                return Err(GpuError::arguments("Slice", why));
            }
            view.offset += start[axis] * whole[axis];
            view.strides.push(step[axis] * whole[axis]);
        }
        self.copy_view("Slice", &view, count)
    }
}
