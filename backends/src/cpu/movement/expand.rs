//! Expand: a walk that stands still on the axes that grow.

use ir::tensor::Element;

use crate::cpu::call::Call;
use crate::cpu::error::Outputs;
use crate::cpu::strided::{Rows, broadcast, copy};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    ir::dispatch!(c.dtype(0)?, T => expand::<T>(c))
}

fn expand<T: Element>(c: &Call<'_>) -> Outputs {
    let shape = c.output(0)?.extents();
    let rows = Rows::new(&shape, &[broadcast(c.shape(0)?, &shape)?]);
    c.only(copy(&c.elements::<T>(0)?, 0, &rows, shape.iter().product()))
}
