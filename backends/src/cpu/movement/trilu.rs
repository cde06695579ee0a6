//! Trilu: of each row a part is set to zero.

use ops::movement::Trilu;

use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell, zero};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: Trilu, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => trilu::<C>(op, c))
}

fn trilu<C: Cell>(op: Trilu, c: &Call<'_>) -> Outputs {
    let &[.., rows, columns] = c.shape(0)? else { return Err(CpuError::Invalid("it has no matrices")) };
    let (mut y, zero) = (c.cells::<C>(0)?.into_owned(), zero(c.dtype(0)?));
    for (i, row) in y.chunks_exact_mut(columns.max(1)).enumerate() {
        let diagonal = ((i % rows) as i64).saturating_add(op.k);
        if op.upper {
            row[..diagonal.clamp(0, columns as i64) as usize].fill(zero);
        } else {
            row[diagonal.saturating_add(1).clamp(0, columns as i64) as usize..].fill(zero);
        }
    }
    c.only_cells(y)
}
