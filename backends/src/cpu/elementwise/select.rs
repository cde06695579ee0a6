//! Where.

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::Outputs;
use crate::cpu::strided::{Rows, broadcast};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(1)?, C => select::<C>(c))
}

fn select<C: Cell>(c: &Call<'_>) -> Outputs {
    let shape = c.output(0)?.extents();
    let (condition, x, y) = (c.elements::<bool>(0)?, c.cells::<C>(1)?, c.cells::<C>(2)?);
    let strides = |i| broadcast(c.shape(i)?, &shape);
    let rows = Rows::new(&shape, &[strides(0)?, strides(1)?, strides(2)?]);
    let mut out = Vec::with_capacity(shape.iter().product());
    for [z, i, j] in rows.starts() {
        for k in 0..rows.len {
            let holds = condition[rows.nth(0, z, k)];
            out.push(if holds { x[rows.nth(1, i, k)] } else { y[rows.nth(2, j, k)] });
        }
    }
    c.only_cells(out)
}
