//! GridSample of images of one to three axes, at positions in f32. What is fewer than three axes has axes of size 1 in front.

use ir::Type;
use ops::nn::GridSample;
use ops::nn::grid_sample::{Mode, Padding};

use super::window::{slides, three};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Class, Element, Shader, body, params};

params! {
    struct Sampling {
        /// The size of an image, and how many axes of it the grid knows.
        space: [u32; 3],
        axes: u32,
        channels: u32,
        /// How many positions there are for an image.
        positions: u32,
        /// The nearest element, those on a line, or those on a curve.
        mode: u32,
        /// Zeros, the border, or reflection.
        padding: u32,
        align_corners: u32,
    }
}

const BODY: Body<Sampling> = body!(Sampling, "grid_sample.wgsl");

impl Kernel for GridSample {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        if Class::of(x.dtype) == Class::Float {
            slides(x)
        } else {
            Support::No("it samples floats of at most 32 bits")
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, grid) = (c.get(0)?, c.get(1)?);
        let ([images, channels, space @ ..], [_, around @ .., axes]) = (x.shape(), grid.shape()) else {
            return Err(c.refuse(format!("{:?} by {:?}", x.shape(), grid.shape())));
        };
        if grid.shape()[0] != *images || *axes != space.len() || space.contains(&0) {
            return Err(c.refuse(format!("{:?} by {:?}", x.shape(), grid.shape())));
        }
        let output = c.gpu.alloc(x.dtype(), &[&[*images, *channels], around].concat())?;
        let sampling = Sampling {
            space: three(space, 1),
            axes: *axes as u32,
            channels: *channels as u32,
            positions: around.iter().product::<usize>() as u32,
            mode: match self.mode {
                Mode::Nearest => 0,
                Mode::Linear => 1,
                Mode::Cubic => 2,
            },
            padding: match self.padding {
                Padding::Zeros => 0,
                Padding::Border => 1,
                Padding::Reflection => 2,
            },
            align_corners: self.align_corners.into(),
        };
        let shader = Shader::new(c.name, BODY, x.dtype(), Element::Number(x.dtype()))
            .reads("x", Element::Number(x.dtype()))
            .reads("grid", Element::Number(grid.dtype()));
        c.gpu.launch(&Launch::new(&shader, &[x, grid], sampling, &output))?;
        one(Ok(output))
    }
}
