//! Windows that slide over one to three spatial axes.
//!
//! Fewer than three spatial axes are padded with axes of size 1 in front, so one kernel serves all. A kernel's text takes
//! the loops over a window from `window.wgsl` and adds `visit`, what becomes of its `State` at each element.

use std::ops::RangeInclusive;

use ir::{DType, Type};
use ops::nn::window::{AutoPad, Window as Slide};

use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::Call;
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Param, Shader, params};

/// How many spatial axes the kernels slide over.
const SPATIAL_AXES: RangeInclusive<usize> = 1..=3;

params! {
    /// A window's geometry, three spatial axes from the outermost.
    pub(super) struct Geometry {
        /// The size of the result.
        output: [u32; 3],
        /// The size of the tensor.
        input: [u32; 3],
        /// The size of the window.
        kernel: [u32; 3],
        /// How far apart windows start.
        strides: [u32; 3],
        /// How far apart a window's elements lie.
        dilations: [u32; 3],
        /// Padding before the first element of each axis.
        pads: [u32; 3],
    }
}

/// A window's geometry: one number per spatial axis in each list.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The window's size.
    pub(super) kernel: Vec<usize>,
    /// How far apart windows start.
    pub(super) strides: Vec<usize>,
    /// How far apart a window's elements lie.
    pub(super) dilations: Vec<usize>,
    /// Padding before the first element of each axis.
    pub(super) pads_begin: Vec<usize>,
    /// Padding after the last.
    pub(super) pads_end: Vec<usize>,
    /// The result's spatial size.
    pub(super) output: Vec<usize>,
}

/// The answer for a tensor that a window slides over.
pub(super) fn slides(x: &Type) -> Support {
    if x.rank().checked_sub(2).is_some_and(|spatial| SPATIAL_AXES.contains(&spatial)) {
        Support::Yes
    } else {
        Support::No("kernels exist for one to three spatial axes")
    }
}

/// A list of one to three numbers as three, with `fill` in front.
pub(super) fn three(list: &[usize], fill: usize) -> [u32; 3] {
    let mut all = [fill as u32; 3];
    for (to, &from) in all.iter_mut().rev().zip(list.iter().rev()) {
        *to = from as u32;
    }
    all
}

impl Window {
    /// ONNX's attributes with their defaults filled in, and automatic padding worked out from the result's size.
    pub(super) fn new(slide: &Slide, kernel: &[i64], x: &GpuTensor, output: &Type) -> Self {
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
        Self {
            kernel: sized(kernel),
            strides: sized(&strides),
            dilations: sized(&dilations),
            pads_begin: sized(&pads[..spatial]),
            pads_end: sized(&pads[spatial..]),
            output: sized(&sizes),
        }
    }

    /// Refuses a geometry that does not describe the spatial axes of `x`.
    pub(super) fn check(&self, c: &Call<'_>, x: &GpuTensor) -> Result<(), GpuError> {
        let lists =
            [&self.kernel, &self.strides, &self.dilations, &self.pads_begin, &self.pads_end, &self.output];
        let spatial = x.rank().saturating_sub(2);
        let fits = SPATIAL_AXES.contains(&spatial)
            && lists.iter().all(|l| l.len() == spatial)
            && !self.strides.contains(&0);
        if fits {
            Ok(())
        } else {
            Err(c.refuse(format!("{self:?} does not describe {spatial} spatial axes")))
        }
    }

    /// What a kernel is told of it.
    pub(super) fn geometry(&self, input: &[usize]) -> Geometry {
        Geometry {
            output: three(&self.output, 1),
            input: three(input, 1),
            kernel: three(&self.kernel, 1),
            strides: three(&self.strides, 1),
            dilations: three(&self.dilations, 1),
            pads: three(&self.pads_begin, 0),
        }
    }

    /// Iterations of the three nested loops over one window.
    pub(super) fn iterations(&self) -> usize {
        let [d, h, w] = three(&self.kernel, 1).map(|k| k as usize);
        d * h * w + d * h + d
    }
}

/// Launches a pool over `x`, `[n, c, …]`, with one invocation per window.
pub(super) fn pool<P: Param>(
    c: &Call<'_>,
    shader: &Shader<P>,
    x: &GpuTensor,
    window: &Window,
    params: P,
    to: DType,
) -> Result<GpuTensor, GpuError> {
    window.check(c, x)?;
    let limit = c.gpu.loop_limit();
    if window.iterations() > limit {
        let what = format!("the window of a {}", c.name);
        return Err(GpuError::TooLarge { what, needed: window.iterations() as u64, limit: limit as u64 });
    }
    let output = c.gpu.alloc(to, &[&x.shape()[..2], &window.output[..]].concat())?;
    c.gpu.launch(&Launch::new(shader, &[x], params, &output))?;
    Ok(output)
}
