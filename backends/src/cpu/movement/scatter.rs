//! ScatterElements and ScatterND: the data copied, and then one update after the other.

use ops::movement::{Reduction, ScatterElements, ScatterNd};

use super::gather_elements::places;
use super::gather_nd::Slices;
use crate::cpu::call::{Call, Join};
use crate::cpu::cells::dispatch_cell;
use crate::cpu::element::{Number, Numeric, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};

/// The update of each element that is updated goes where an index says along the axis.
pub(crate) fn elements(op: ScatterElements, c: &Call<'_>) -> Outputs {
    update(op.reduction, c, &places(op.axis, c)?)
}

/// The updates of each list of indices go where a slice begins, one after the other.
pub(crate) fn slices(op: ScatterNd, c: &Call<'_>) -> Outputs {
    let slices = Slices::new(c, c.shape(0)?)?;
    let targets = slices.starts.iter().flat_map(|start| *start..start + slices.len);
    update(op.reduction, c, &targets.collect::<Vec<_>>())
}

/// The data with each update at its target.
fn update(reduction: Reduction, c: &Call<'_>, targets: &[usize]) -> Outputs {
    if c.tensor(2)?.len() != targets.len() {
        return Err(CpuError::Invalid("it has not one update for each index"));
    }
    match reduction {
        Reduction::None => dispatch_cell!(c.dtype(0)?, C => {
            let mut y = c.cells::<C>(0)?.into_owned();
            join(&mut y, &c.cells::<C>(2)?, targets, |_, update| update);
            c.only_cells(y)
        }),
        Reduction::Add => {
            dispatch_number!(c.dtype(0)?, T => combined::<T>(c, &|y, x| join(y, x, targets, Number::add)))
        }
        Reduction::Mul => {
            dispatch_number!(c.dtype(0)?, T => combined::<T>(c, &|y, x| join(y, x, targets, Number::mul)))
        }
        Reduction::Max => {
            dispatch_number!(c.dtype(0)?, T => combined::<T>(c, &|y, x| join(y, x, targets, Number::larger)))
        }
        Reduction::Min => {
            dispatch_number!(c.dtype(0)?, T => combined::<T>(c, &|y, x| join(y, x, targets, Number::smaller)))
        }
    }
}

/// Numbers are combined in the type that kernels calculate in, and rounded once at the end.
fn combined<T: Numeric>(c: &Call<'_>, join: &Join<'_, T::Work, T::Work>) -> Outputs {
    let mut y = c.loaded::<T>(0)?;
    join(&mut y, &c.loaded::<T>(2)?);
    c.only_numbers::<T>(y)
}

fn join<T: Copy>(y: &mut [T], updates: &[T], targets: &[usize], f: impl Fn(T, T) -> T) {
    for (&target, &update) in targets.iter().zip(updates) {
        y[target] = f(y[target], update);
    }
}
