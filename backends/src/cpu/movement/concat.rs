//! Concat: for each place around the axis, a run of elements from each operand.

use ops::movement::Concat;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::Outputs;
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: Concat, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => concat::<C>(op, c))
}

fn concat<C: Cell>(op: Concat, c: &Call<'_>) -> Outputs {
    let axis = axis_index(op.axis, c.shape(0)?.len())?;
    let (around, total, inside) = split_at(&c.output(0)?.extents(), axis);
    let mut parts = Vec::with_capacity(c.inputs.len());
    for i in 0..c.inputs.len() {
        let (_, size, inside) = split_at(c.shape(i)?, axis_index(op.axis, c.shape(i)?.len())?);
        parts.push((c.cells::<C>(i)?, size * inside));
    }
    let mut out = Vec::with_capacity(around * total * inside);
    for place in 0..around {
        for (x, run) in &parts {
            out.extend_from_slice(&x[place * run..(place + 1) * run]);
        }
    }
    c.only_cells(out)
}
