//! Pad: elements added before and after each axis, or removed where the amount is negative.

use ir::Type;
use ops::movement::{Pad, PadMode};

use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{GpuTensor, Launch, strides};
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// How the border lies.
    struct Border {
        /// The number of axes.
        rank: u32,
        /// Whether there is a value to fill with; zero otherwise.
        has_value: u32,
        /// Four numbers per axis, the last axis first: the result's size, x's, what is added before, and x's stride.
        axes: Vec<u32>,
    }
}

const BODY: Body<Border> = body!(Border, "pad.wgsl");

impl Kernel for Pad {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let (mut before, mut after) = (vec![0; x.rank()], vec![0; x.rank()]);
        let count = self.pads.len() / 2;
        for i in 0..count {
            let axis = c.axis(self.axes.as_ref().map_or(i as i64, |axes| axes[i]), x.rank())?;
            (before[axis], after[axis]) = (self.pads[i], self.pads[count + i]);
        }
        // Cropping comes first, so that the other modes repeat what is left.
        let cropped = crop(c, x, &before, &after)?;
        let grown = |amounts: Vec<i64>| amounts.into_iter().map(|v| v.max(0)).collect::<Vec<_>>();
        one(grow(c, &cropped, &grown(before), &grown(after), self.mode))
    }
}

/// Removes what negative amounts say.
fn crop(c: &Call<'_>, x: &GpuTensor, before: &[i64], after: &[i64]) -> Result<GpuTensor, GpuError> {
    if before.iter().chain(after).all(|&amount| amount >= 0) {
        return Ok(x.clone());
    }
    let start: Vec<_> = before.iter().map(|&b| (-b).max(0)).collect();
    let left = |a: usize| x.shape()[a] as i64 - start[a] + after[a].min(0);
    let count: Result<Vec<_>, _> = (0..x.rank()).map(|a| usize::try_from(left(a))).collect();
    let count = count.map_err(|_| c.refuse(format!("{:?} has less to remove", x.shape())))?;
    c.gpu.slice(x, &start, &vec![1; x.rank()], &count)
}

/// Adds what the amounts, none of them negative, say.
fn grow(
    c: &Call<'_>,
    x: &GpuTensor,
    before: &[i64],
    after: &[i64],
    mode: PadMode,
) -> Result<GpuTensor, GpuError> {
    let mut shape = Vec::with_capacity(x.rank());
    for (axis, &d) in x.shape().iter().enumerate() {
        let size = d + (before[axis] + after[axis]) as usize;
        if d == 0 && size > 0 && mode != PadMode::Constant {
            return Err(c.refuse(format!("axis {axis} is empty and {mode:?} has nothing to repeat")));
        }
        shape.push(size);
    }
    let value = c.opt(1);
    if value.is_some_and(|v| v.dtype() != x.dtype() || v.len() != 1) {
        return Err(c.refuse("the value is not one element of the same dtype"));
    }
    let output = c.gpu.alloc(x.dtype(), &shape)?;
    let own = strides(x.shape());
    let axis = |a: usize| [shape[a] as u32, x.shape()[a] as u32, before[a] as u32, own[a] as u32];
    let axes = (0..shape.len()).rev().flat_map(axis).collect();
    let border = Border { rank: shape.len() as u32, has_value: value.is_some().into(), axes };
    let source = match mode {
        PadMode::Constant => "nowhere",
        PadMode::Edge => "nearest",
        PadMode::Reflect => "mirrored",
        PadMode::Wrap => "repeated",
    };
    let shader = Shader::mover(c.name, BODY, x.dtype())
        .reads("value", Element::Bits(x.dtype()))
        .means("source", source);
    c.gpu.launch(&Launch::new(&shader, &[x, value.unwrap_or(x)], border, &output))?;
    Ok(output)
}
