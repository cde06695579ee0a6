//! LRN: x over `(bias + alpha · mean square of neighbouring channels) ^ beta`. The neighbours' mean is an average pool over
//! the channel axis with its padding counted.

use ir::{DType, Type};
use ops::nn::Lrn;

use super::average_pool::average;
use super::normalize::square;
use super::window::Window;
use crate::support::Support;
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one, short_floats};
use crate::wgpu::wgsl::{Body, body, params};

params! {
    /// Its attributes.
    struct Attributes {
        alpha: f32,
        beta: f32,
        bias: f32,
    }
}

const BODY: Body<Attributes> = body!(Attributes, "lrn.wgsl");

impl Kernel for Lrn {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        short_floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, size) = (c.get(0)?, usize::try_from(self.size).unwrap_or(0));
        let [batch, channels, rest @ ..] = x.shape() else {
            return Err(c.refuse(format!("{:?} has no channel axis", x.shape())));
        };
        let inner = rest.iter().product();
        let window = Window {
            kernel: vec![size, 1],
            strides: vec![1, 1],
            dilations: vec![1, 1],
            pads_begin: vec![size.saturating_sub(1) / 2, 0],
            pads_end: vec![size / 2, 0],
            output: vec![*channels, inner],
        };
        let square = square(c, x, DType::F32)?.reshape(&[*batch, 1, *channels, inner])?;
        let mean = average(c, &square, &window, true)?.reshape(x.shape())?;
        let attributes = Attributes { alpha: self.alpha, beta: self.beta, bias: self.bias };
        one(c.gpu.map(Map::with(c.name, BODY, "over_power", x.dtype(), attributes), &[x, &mean]))
    }
}
