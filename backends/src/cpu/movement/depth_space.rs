//! DepthToSpace and SpaceToDepth: walks in which the place in a block has two axes of its own.

use ops::movement::{DepthToSpace, SpaceToDepth};

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::Rows;

pub(crate) fn to_space(op: DepthToSpace, c: &Call<'_>) -> Outputs {
    let [n, channels, h, w] = images(c)?;
    let side = block(op.blocksize)?;
    let depth = channels / side / side;
    let area = h * w;
    // How far apart the channels of neighbouring places in a block, and of neighbouring depths, are.
    let (row, column, next) = if op.depth_first {
        (side * area, area, side * side * area)
    } else {
        (side * depth * area, depth * area, area)
    };
    walk(c, &[(n, channels * area), (depth, next), (h, w), (side, row), (w, 1), (side, column)])
}

pub(crate) fn to_depth(op: SpaceToDepth, c: &Call<'_>) -> Outputs {
    let [n, channels, h, w] = images(c)?;
    let (side, area) = (block(op.blocksize)?, h * w);
    let blocks = [(h / side, side * w), (w / side, side)];
    let (batch, depth, place) = ((n, channels * area), (channels, area), [(side, w), (side, 1)]);
    if op.depth_first {
        walk(c, &[batch, depth, place[0], place[1], blocks[0], blocks[1]])
    } else {
        walk(c, &[batch, place[0], place[1], depth, blocks[0], blocks[1]])
    }
}

fn images(c: &Call<'_>) -> Result<[usize; 4], CpuError> {
    c.shape(0)?.try_into().map_err(|_| CpuError::Invalid("its operand has not four axes"))
}

fn block(side: i64) -> Result<usize, CpuError> {
    usize::try_from(side).ok().filter(|&s| s > 0).ok_or(CpuError::Invalid("its blocks have no size"))
}

/// The output's elements: a walk over axes, each a size and a stride in the operand.
fn walk(c: &Call<'_>, axes: &[(usize, usize)]) -> Outputs {
    let (sizes, strides): (Vec<usize>, Vec<isize>) = axes.iter().map(|&(n, s)| (n, s as isize)).unzip();
    c.walk(0, &Rows::new(&sizes, &[strides]))
}
