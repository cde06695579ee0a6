//! Tile: whole copies one after the other along every axis.

use ir::Type;
use ops::movement::Tile;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{View, strides};

impl Kernel for Tile {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, shape) = (c.get(0)?, c.output()?.extents());
        let own = x.shape();
        // An empty axis stays empty however often it is repeated.
        let repeats = |axis: usize| match own[axis] {
            0 => Some(0),
            d => shape[axis].is_multiple_of(d).then_some(shape[axis] / d),
        };
        let repeats: Option<Vec<_>> =
            (shape.len() == own.len()).then(|| (0..own.len()).map(repeats).collect()).flatten();
        let repeats = repeats.ok_or_else(|| c.refuse(format!("{own:?} does not repeat to {shape:?}")))?;
        // Each axis is a pair: which copy, which does not change what is read, and where in it.
        let (mut pairs, mut steps) = (Vec::new(), Vec::new());
        for ((&d, stride), repeats) in own.iter().zip(strides(own)).zip(repeats) {
            pairs.extend([repeats, d]);
            steps.extend([0, stride]);
        }
        let view = View { tensor: x, offset: 0, strides: steps };
        one(c.gpu.copy_view(c.name, &view, &pairs)?.reshape(&shape))
    }
}
