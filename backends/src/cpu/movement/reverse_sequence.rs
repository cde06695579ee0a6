//! ReverseSequence: for each sequence and time, a run of elements from another time.

use ops::movement::ReverseSequence;

use super::gather::indices;
use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: ReverseSequence, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => reverse::<C>(op, c))
}

fn reverse<C: Cell>(op: ReverseSequence, c: &Call<'_>) -> Outputs {
    let (x, lengths) = (c.cells::<C>(0)?, lengths(op, c)?);
    let &[first, second, ref rest @ ..] = c.shape(0)? else {
        return Err(CpuError::Invalid("it has no sequences"));
    };
    let inside: usize = rest.iter().product();
    let mut y = Vec::with_capacity(x.len());
    for i in 0..first {
        for j in 0..second {
            let (batch, time) = if op.batch_first() { (i, j) } else { (j, i) };
            let length = lengths[batch];
            let time = if time < length { length - 1 - time } else { time };
            let (i, j) = if op.batch_first() { (batch, time) } else { (time, batch) };
            let start = (i * second + j) * inside;
            y.extend_from_slice(&x[start..start + inside]);
        }
    }
    c.only_cells(y)
}

/// How much of each sequence is turned round.
fn lengths(op: ReverseSequence, c: &Call<'_>) -> Result<Vec<usize>, CpuError> {
    let &[first, second, ..] = c.shape(0)? else { return Err(CpuError::Invalid("it has no sequences")) };
    let (batch, longest) = if op.batch_first() { (first, second) } else { (second, first) };
    let lengths = indices(c, 1)?;
    if lengths.len() != batch {
        return Err(CpuError::Invalid("it has not a length for each sequence"));
    }
    let within = |index: i64| {
        let length = usize::try_from(index).ok().filter(|&n| n <= longest);
        length.ok_or(CpuError::Index { operand: 1, index, size: longest })
    };
    lengths.into_iter().map(within).collect()
}
