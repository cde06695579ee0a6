//! GatherND: for each list of indices, a run of elements.

use ops::movement::GatherNd;

use super::gather::{indices, position};
use crate::cpu::call::Call;
use crate::cpu::cells::{Cell, dispatch_cell};
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(op: GatherNd, c: &Call<'_>) -> Outputs {
    dispatch_cell!(c.dtype(0)?, C => gather::<C>(op, c))
}

fn gather<C: Cell>(op: GatherNd, c: &Call<'_>) -> Outputs {
    let (x, shape) = (c.cells::<C>(0)?, c.shape(0)?);
    let batch = usize::try_from(op.batch_dims).ok().filter(|&b| b <= shape.len());
    let batch = batch.ok_or(CpuError::Invalid("its batch has more axes than its operand"))?;
    let (around, inside) = shape.split_at(batch);
    let slices = Slices::new(c, inside)?;
    // The lists of one element of the batch, which is a part of the data of its own.
    let lists = slices.starts.len() / around.iter().product::<usize>().max(1);
    let size: usize = inside.iter().product();
    let mut y = Vec::with_capacity(slices.starts.len() * slices.len);
    for (i, start) in slices.starts.iter().enumerate() {
        let start = i / lists * size + start;
        y.extend_from_slice(&x[start..start + slices.len]);
    }
    c.only_cells(y)
}

/// Runs of elements that lists of indices, operand 1, lead to.
pub(crate) struct Slices {
    /// Where each begins.
    pub(crate) starts: Vec<usize>,
    /// How many elements each has.
    pub(crate) len: usize,
}

impl Slices {
    /// The places that the lists of indices point to, in data of this shape.
    pub(crate) fn new(c: &Call<'_>, shape: &[usize]) -> Result<Self, CpuError> {
        let split = c.shape(1)?.split_last().filter(|(pointed, _)| **pointed <= shape.len());
        let (&pointed, lists) =
            split.ok_or(CpuError::Invalid("its lists of indices are not of its operand's axes"))?;
        let len: usize = shape[pointed..].iter().product();
        let of = |list: &[i64]| {
            list.iter()
                .zip(shape)
                .try_fold(0, |start, (&index, &size)| Ok(start * size + position(index, 1, size)?))
        };
        if pointed == 0 {
            // A list of nothing leads to all there is.
            return Ok(Self { starts: vec![0; lists.iter().product()], len });
        }
        let starts =
            indices(c, 1)?.chunks(pointed).map(|list| Ok(of(list)? * len)).collect::<Result<_, _>>()?;
        Ok(Self { starts, len })
    }
}
