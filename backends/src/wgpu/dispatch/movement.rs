//! Operators that move elements: from ONNX's attributes to starts, steps and permutations.

use ir::{DType, Tensor, Type};
use ops::movement::{DepthToSpace, Pad, Shape, Slice, SpaceToDepth, Split, Transpose};

use super::Call;
use crate::wgpu::device::Gpu;
use crate::wgpu::error::GpuError;
use crate::wgpu::movement::PadMode;
use crate::wgpu::tensor::GpuTensor;

impl Gpu {
    pub(super) fn run_transpose(&self, op: &Transpose, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let perm: Vec<_> = match &op.perm {
            Some(perm) => perm.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?,
            None => (0..x.rank()).rev().collect(),
        };
        self.transpose(x, &perm)
    }

    pub(super) fn run_split(&self, op: &Split, c: &Call<'_>) -> Result<Vec<GpuTensor>, GpuError> {
        let x = c.get(0)?;
        let axis = c.axis(op.axis, x.rank())?;
        let mut start = vec![0; x.rank()];
        let step = vec![1; x.rank()];
        let part = |ty: &Type| {
            let part = self.slice(x, &start, &step, &ty.extents());
            start[axis] += ty.shape.get(axis).copied().unwrap_or(0);
            part
        };
        c.outputs.iter().map(part).collect()
    }

    /// Bounds as the standard states them: counted from the end if negative, then clamped to what the axis has.
    pub(super) fn run_slice(&self, op: &Slice, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let (mut start, mut step) = (vec![0; x.rank()], vec![1; x.rank()]);
        for (i, &first) in op.starts.iter().enumerate() {
            let axis = c.axis(op.axes.as_ref().map_or(i as i64, |axes| axes[i]), x.rank())?;
            let size = x.shape()[axis] as i64;
            let by = op.steps.as_ref().map_or(1, |steps| steps[i]);
            let first = if first < 0 { first + size } else { first };
            start[axis] = first.clamp(0, if by < 0 { (size - 1).max(0) } else { size });
            step[axis] = by;
        }
        self.slice(x, &start, &step, &c.output()?.extents())
    }

    pub(super) fn run_pad(&self, op: &Pad, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let mode = match op.mode {
            ops::movement::PadMode::Constant => PadMode::Constant,
            ops::movement::PadMode::Reflect => PadMode::Reflect,
            ops::movement::PadMode::Edge => PadMode::Edge,
            ops::movement::PadMode::Wrap => PadMode::Wrap,
        };
        let (mut before, mut after) = (vec![0; x.rank()], vec![0; x.rank()]);
        let count = op.pads.len() / 2;
        for i in 0..count {
            let axis = c.axis(op.axes.as_ref().map_or(i as i64, |axes| axes[i]), x.rank())?;
            (before[axis], after[axis]) = (op.pads[i], op.pads[count + i]);
        }
        self.pad(x, &before, &after, mode, c.opt(1))
    }

    /// Depth becomes blocks: the channel's number splits into the place in the block and the depth, in either order.
    pub(super) fn run_depth_to_space(&self, op: DepthToSpace, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let side = op.blocksize.max(1) as usize;
        let &[n, channels, h, w] = x.shape() else { return c.unsupported("it needs four axes") };
        let depth = channels / (side * side);
        let (split, perm) = if op.depth_first {
            ([n, depth, side, side, h, w], [0, 1, 4, 2, 5, 3])
        } else {
            ([n, side, side, depth, h, w], [0, 3, 4, 1, 5, 2])
        };
        self.transpose(&x.reshape(&split)?, &perm)?.reshape(&c.output()?.extents())
    }

    /// Blocks become depth: the channel's number is the place in the block, then the depth.
    pub(super) fn run_space_to_depth(&self, op: SpaceToDepth, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let side = op.blocksize.max(1) as usize;
        let &[n, depth, h, w] = x.shape() else { return c.unsupported("it needs four axes") };
        let split = x.reshape(&[n, depth, h / side, side, w / side, side])?;
        self.transpose(&split, &[0, 3, 5, 1, 2, 4])?.reshape(&c.output()?.extents())
    }

    pub(super) fn run_shape(&self, op: Shape, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let shape = c.get(0)?.shape();
        let rank = shape.len() as i64;
        let clamp = |axis: i64| (if axis < 0 { axis + rank } else { axis }).clamp(0, rank) as usize;
        let (start, end) = (clamp(op.start), op.end.map_or(shape.len(), clamp));
        let sizes = shape.get(start..end).unwrap_or_default();
        self.upload_sizes(sizes, &[sizes.len()])
    }

    /// Sizes that the host knows, as a tensor.
    pub(super) fn upload_sizes(&self, sizes: &[usize], shape: &[usize]) -> Result<GpuTensor, GpuError> {
        let ty = Type::new(DType::I64, shape.iter().map(|&d| d as i64).collect::<Vec<_>>());
        self.upload(&Tensor::from_i128_fn(&ty, |i| sizes[i] as i128))
    }
}
