//! ConvTranspose: `x` is `[n, c, …]`, `w` is `[c, m / groups, …]`, the bias is `[m]`. Each element of the result adds up what
//! reaches it.

use ir::Type;
use ops::nn::ConvTranspose;
use ops::nn::window::AutoPad;

use super::window::{slides, three};
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// Three spatial axes, from the outermost, and the channels.
    struct Spread {
        /// The size of the result.
        output: [u32; 3],
        /// The size of the tensor.
        input: [u32; 3],
        /// The size of the window.
        kernel: [u32; 3],
        /// How far apart elements are spread.
        strides: [u32; 3],
        /// How far apart a window's cells lie.
        dilations: [u32; 3],
        /// What is cut off at the beginning of each axis.
        cut: [u32; 3],
        channels: u32,
        channels_per_group: u32,
        maps_per_group: u32,
        maps: u32,
        has_bias: u32,
    }
}

const BODY: Body<Spread> = body!(Spread, "conv_transpose.wgsl");

impl Kernel for ConvTranspose {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype).and(|| slides(x))
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, w, bias, output) = (c.get(0)?, c.get(1)?, c.opt(2), c.output()?.extents());
        let groups = usize::try_from(self.group).unwrap_or(0);
        let fits = w.rank() == x.rank()
            && output.len() == x.rank()
            && w.dtype() == x.dtype()
            && groups > 0
            && w.shape()[0] == x.shape()[1]
            && bias.is_none_or(|b| b.shape() == [w.shape()[1] * groups] && b.dtype() == x.dtype());
        if !fits {
            return Err(c.refuse(format!("{:?} by {:?} in {groups} groups", x.shape(), w.shape())));
        }
        let (channels, maps) = (x.shape()[1], w.shape()[1]);
        let [d, h, v] = three(&w.shape()[2..], 1).map(|k| k as usize);
        let needed = (channels / groups) * (d * h * v + d * h + d + 1);
        if needed > c.gpu.loop_limit() {
            let (what, limit) = ("the sums of a ConvTranspose".to_owned(), c.gpu.loop_limit() as u64);
            return Err(GpuError::TooLarge { what, needed: needed as u64, limit });
        }
        let [strides, dilations] = [&self.window.strides, &self.window.dilations].map(|list| positive(list));
        let params = Spread {
            output: three(&output[2..], 1),
            input: three(&x.shape()[2..], 1),
            kernel: three(&w.shape()[2..], 1),
            strides: three(&strides, 1),
            dilations: three(&dilations, 1),
            cut: three(&cut_before(self, &x.shape()[2..], &w.shape()[2..], &output[2..]), 0),
            channels: channels as u32,
            channels_per_group: (channels / groups) as u32,
            maps_per_group: maps as u32,
            maps: (maps * groups) as u32,
            has_bias: bias.is_some().into(),
        };
        let number = Element::Number(x.dtype());
        let shader = Shader::new(c.name, BODY, x.dtype(), number);
        let shader = shader.reads("x", number).reads("w", number).reads("bias", number);
        let y = c.gpu.alloc(x.dtype(), &output)?;
        c.gpu.launch(&Launch::new(&shader, &[x, w, bias.unwrap_or(w)], params, &y))?;
        one(Ok(y))
    }
}

fn positive(list: &[i64]) -> Vec<usize> {
    list.iter().map(|&v| v.max(1) as usize).collect()
}

/// How much is cut off at the beginning of each spatial axis, for a tensor, a window and a result of these sizes.
fn cut_before(op: &ConvTranspose, input: &[usize], kernel: &[usize], output: &[usize]) -> Vec<usize> {
    let or_one = |list: &[i64], i: usize| list.get(i).map_or(1, |&v| v.max(1) as usize);
    let added =
        |i: usize| op.output_padding.as_ref().and_then(|list| list.get(i)).map_or(0, |&v| v.max(0) as usize);
    let is_stated = op.output_shape.as_ref().is_some_and(|sizes| !sizes.is_empty());
    let on_axis = |i: usize| {
        let spread = (input[i] - input[i].min(1)) * or_one(&op.window.strides, i);
        let span = (kernel[i] - kernel[i].min(1)) * or_one(&op.window.dilations, i) + 1;
        let less = (spread + span + added(i)).saturating_sub(output[i]);
        match (op.window.auto_pad, is_stated) {
            (AutoPad::SameUpper, _) => less / 2,
            (AutoPad::SameLower, _) | (_, true) => less - less / 2,
            (AutoPad::NotSet, false) => op.window.pads.get(i).map_or(0, |&v| v.max(0) as usize),
            (AutoPad::Valid, false) => 0,
        }
    };
    (0..input.len()).map(on_axis).collect()
}
