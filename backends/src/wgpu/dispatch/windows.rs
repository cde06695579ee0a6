//! Convolution and pools: from ONNX's attributes to a [`Window`].

use ir::Type;
use ops::nn::window::{AutoPad, Window as Slide};
use ops::nn::{AveragePool, Conv, LpPool, MaxPool};

use super::Call;
use crate::wgpu::device::Gpu;
use crate::wgpu::error::GpuError;
use crate::wgpu::tensor::GpuTensor;
use crate::wgpu::window::{Pool, Window};

impl Gpu {
    pub(super) fn run_conv(&self, op: &Conv, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let (x, w) = (c.get(0)?, c.get(1)?);
        let kernel: Vec<_> = w.shape().iter().skip(2).map(|&d| d as i64).collect();
        let window = window(&op.window, &kernel, x, c.output()?);
        self.conv(x, w, c.opt(2), &window, op.group.max(0) as usize)
    }

    pub(super) fn run_max_pool(&self, op: &MaxPool, c: &Call<'_>) -> Result<Vec<GpuTensor>, GpuError> {
        let x = c.get(0)?;
        let window = window(&op.window, &op.kernel_shape, x, c.output()?);
        let mut outputs = vec![self.pool(Pool::Max, x, &window)?];
        if c.outputs.len() > 1 {
            outputs.push(self.max_pool_indices(x, &window, op.column_major)?);
        }
        Ok(outputs)
    }

    pub(super) fn run_average_pool(&self, op: &AveragePool, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let pool = if op.count_include_pad { Pool::AverageWithPadding } else { Pool::Average };
        self.pool(pool, x, &window(&op.window, &op.kernel_shape, x, c.output()?))
    }

    pub(super) fn run_lp_pool(&self, op: &LpPool, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let pool = if op.p == 1 { Pool::L1 } else { Pool::L2 };
        self.pool(pool, x, &window(&op.window, &op.kernel_shape, x, c.output()?))
    }
}

/// A window with its defaults filled in and automatic padding worked out from the result's size.
fn window(slide: &Slide, kernel: &[i64], x: &GpuTensor, output: &Type) -> Window {
    let spatial = kernel.len();
    let or = |list: &[i64], default: i64| -> Vec<i64> {
        if list.is_empty() { vec![default; spatial] } else { list.to_vec() }
    };
    let (strides, dilations) = (or(&slide.strides, 1), or(&slide.dilations, 1));
    let sizes: Vec<i64> = output.shape.iter().skip(2).copied().collect();
    let mut pads = if slide.pads.is_empty() { vec![0; 2 * spatial] } else { slide.pads.clone() };
    if slide.auto_pad != AutoPad::NotSet {
        pads = vec![0; 2 * spatial];
    }
    if matches!(slide.auto_pad, AutoPad::SameUpper | AutoPad::SameLower) {
        for i in 0..spatial {
            let reach = (sizes[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
            let missing = (reach - x.shape()[i + 2] as i64).max(0);
            let (less, more) = (missing / 2, missing - missing / 2);
            let upper = slide.auto_pad == AutoPad::SameUpper;
            (pads[i], pads[spatial + i]) = if upper { (less, more) } else { (more, less) };
        }
    }
    let sized = |list: &[i64]| list.iter().map(|&v| v.max(0) as usize).collect::<Vec<_>>();
    Window {
        kernel: sized(kernel),
        strides: sized(&strides),
        dilations: sized(&dilations),
        pads_begin: sized(&pads[..spatial]),
        pads_end: sized(&pads[spatial..]),
        output: sized(&sizes),
    }
}
