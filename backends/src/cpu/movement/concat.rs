//! Concat: for each place around the axis, a run of elements from each operand.

use ir::tensor::Element;
use ops::movement::Concat;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::strided::{axis_index, split_at};

pub(crate) fn run(op: Concat, c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.dtype(0)?, T => concat::<T>(op, c))
}

fn concat<T: Element>(op: Concat, c: &Call<'_>) -> Outputs {
    let axis = axis_index(op.axis, c.shape(0)?.len())?;
    let (around, total, inside) = split_at(&c.output(0)?.extents(), axis);
    let mut parts = Vec::with_capacity(c.inputs.len());
    for i in 0..c.inputs.len() {
        let (_, size, inside) = split_at(c.shape(i)?, axis_index(op.axis, c.shape(i)?.len())?);
        parts.push((c.elements::<T>(i)?, size * inside));
    }
    let mut out = Vec::with_capacity(around * total * inside);
    for place in 0..around {
        for (x, run) in &parts {
            out.extend_from_slice(&x[place * run..(place + 1) * run]);
        }
    }
    c.only(out)
}
