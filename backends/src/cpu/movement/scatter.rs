//! ScatterElements and ScatterND: the data copied, and then one update after the other.

use ops::movement::{Reduction, ScatterElements, ScatterNd};

use super::gather::positions;
use super::gather_nd::Slices;
use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, axis_index, dense};

/// The update of each element that is updated goes where an index says along the axis.
pub(crate) fn elements(op: ScatterElements, c: &Call<'_>) -> Outputs {
    let shape = c.shape(0)?;
    let axis = axis_index(op.axis, shape.len())?;
    let mut strides = dense(shape);
    let along = std::mem::take(&mut strides[axis]) as usize;
    let rows = Rows::new(c.shape(1)?, &[strides]);
    let mut positions = positions(c, 1, shape[axis])?.into_iter();
    let mut targets = Vec::with_capacity(positions.len());
    for [start] in rows.starts() {
        let row = (0..rows.len).map(|k| rows.nth(0, start, k));
        targets.extend(row.zip(positions.by_ref()).map(|(at, position)| at + position * along));
    }
    update(op.reduction, c, &targets)
}

/// The updates of each list of indices go where a slice begins, one after the other.
pub(crate) fn slices(op: ScatterNd, c: &Call<'_>) -> Outputs {
    let slices = Slices::new(c, c.shape(0)?)?;
    let targets = slices.starts.iter().flat_map(|start| *start..start + slices.len);
    update(op.reduction, c, &targets.collect::<Vec<_>>())
}

/// The data with each update at its target.
fn update(reduction: Reduction, c: &Call<'_>, targets: &[usize]) -> Outputs {
    match reduction {
        Reduction::None => ir::dispatch!(c.dtype(0)?, T => {
            c.only(updated(c.elements::<T>(0)?.into_owned(), &c.elements::<T>(2)?, targets, |_, update| update)?)
        }),
        Reduction::Add => dispatch_number!(c.dtype(0)?, T => combined::<T>(c, targets, Number::add)),
        Reduction::Mul => dispatch_number!(c.dtype(0)?, T => combined::<T>(c, targets, Number::mul)),
        Reduction::Max => dispatch_number!(c.dtype(0)?, T => combined::<T>(c, targets, Number::larger)),
        Reduction::Min => dispatch_number!(c.dtype(0)?, T => combined::<T>(c, targets, Number::smaller)),
    }
}

/// Numbers are combined in the type that kernels calculate in, and rounded once at the end.
fn combined<T: Numeric>(c: &Call<'_>, targets: &[usize], f: impl Fn(T::Work, T::Work) -> T::Work) -> Outputs {
    let y = updated(c.loaded::<T>(0)?, &c.loaded::<T>(2)?, targets, f)?;
    c.only(y.into_iter().map(T::store).collect())
}

fn updated<T: Copy>(
    mut y: Vec<T>,
    updates: &[T],
    targets: &[usize],
    f: impl Fn(T, T) -> T,
) -> Result<Vec<T>, CpuError> {
    if updates.len() != targets.len() {
        return Err(CpuError::Invalid("it has not one update for each index"));
    }
    for (&target, &update) in targets.iter().zip(updates) {
        y[target] = f(y[target], update);
    }
    Ok(y)
}
