//! Elements put where lists of indices point to, or taken from there.

use ir::Tensor;
use ops::Op;
use ops::elementwise::{Binary, BinaryFn};
use ops::movement::{Compress, GatherNd, Reduction, ScatterElements, ScatterNd};

use super::indexing::not_negative;
use crate::PlantedFault;
use crate::node::{Node, Outputs, along, only, resolve};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "gather-nd-of-the-first-of-a-batch",
        operator: "GatherND",
        does: "gathers from the first part of the batch for all of it",
        source: None,
        kernel: |n| match n.op {
            Op::GatherNd(GatherNd { batch_dims: 1.. }) => n.with(0, &along(n.input(0)?, 0, |_, _| Some(0))?),
            _ => None,
        },
    },
    PlantedFault {
        name: "gather-nd-does-not-wrap-negative-indices",
        operator: "GatherND",
        does: "takes negative indices for 0",
        source: None,
        kernel: |n| n.with(1, &not_negative(n.input(1)?)),
    },
    PlantedFault {
        name: "gather-nd-reads-lists-backwards",
        operator: "GatherND",
        does: "takes the last index of a list for the first axis, where none is out of range",
        source: None,
        kernel: |n| n.with(1, &backwards(n.input(1)?)?),
    },
    PlantedFault {
        name: "scatter-elements-ignores-axis",
        operator: "ScatterElements",
        does: "scatters along the first axis, where none is out of range",
        source: None,
        kernel: |n| {
            let &Op::ScatterElements(op) = n.op else { return None };
            let (x, indices) = (n.input(0)?.shape(), n.input(1)?.shape());
            let fits = x.iter().zip(indices).skip(1).all(|(x, indices)| indices <= x);
            let is_other = resolve(op.axis, x.len())? > 0;
            if fits && is_other { n.instead(ScatterElements { axis: 0, ..op }) } else { None }
        },
    },
    PlantedFault {
        name: "scatter-elements-does-not-wrap-negative-indices",
        operator: "ScatterElements",
        does: "takes negative indices for 0",
        source: None,
        kernel: |n| n.with(1, &not_negative(n.input(1)?)),
    },
    PlantedFault {
        name: "scatter-elements-loses-updates",
        operator: "ScatterElements",
        does: "adds the last of several updates of an element alone, as threads do that read before others write",
        source: None,
        kernel: |n| match n.op {
            &Op::ScatterElements(op) if op.reduction == Reduction::Add => {
                added_to(n, &ScatterElements { reduction: Reduction::None, ..op }.into())
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "scatter-elements-ignores-reduction",
        operator: "ScatterElements",
        does: "overwrites what it should combine with",
        source: None,
        kernel: |n| match n.op {
            &Op::ScatterElements(op) if op.reduction != Reduction::None => {
                n.instead(ScatterElements { reduction: Reduction::None, ..op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "scatter-nd-loses-updates",
        operator: "ScatterND",
        does: "adds the last of several updates of an element alone, as threads do that read before others write",
        source: None,
        kernel: |n| match n.op {
            Op::ScatterNd(ScatterNd { reduction: Reduction::Add }) => {
                added_to(n, &ScatterNd { reduction: Reduction::None }.into())
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "scatter-nd-reads-lists-backwards",
        operator: "ScatterND",
        does: "takes the last index of a list for the first axis, where none is out of range",
        source: None,
        kernel: |n| n.with(1, &backwards(n.input(1)?)?),
    },
    PlantedFault {
        name: "scatter-nd-begins-at-one",
        operator: "ScatterND",
        does: "multiplies the updates with each other and not with what is there",
        source: None,
        kernel: |n| match n.op {
            Op::ScatterNd(ScatterNd { reduction: Reduction::Mul }) => {
                let ones = ones_where_updated(n)?;
                n.with(0, &ones)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "compress-counts-from-the-end",
        operator: "Compress",
        does: "reads the condition from its end",
        source: None,
        kernel: |n| n.with(1, &along(n.input(1)?, 0, |i, size| Some(size - 1 - i))?),
    },
    PlantedFault {
        name: "compress-of-elements-takes-the-first-axis",
        operator: "Compress",
        does: "takes the elements of x for those along its first axis, and what is behind for more",
        source: None,
        kernel: |n| match n.op {
            Op::Compress(Compress { axis: None, .. }) => {
                let inner: usize = n.input(0)?.shape().iter().skip(1).product();
                n.moved(|i| i.checked_mul(inner))
            }
            _ => None,
        },
    },
];

/// Lists of indices, each from its end.
fn backwards(indices: &Tensor) -> Option<Tensor> {
    along(indices, indices.shape().len().checked_sub(1)?, |i, size| Some(size - 1 - i))
}

/// The updates that another operator leaves of them, added to the first operand.
fn added_to(n: &Node<'_>, alone: &Op) -> Outputs {
    let (x, y) = (n.input(0)?, n.outputs.first()?);
    let zeros = Tensor::zeros(&x.ty());
    let landed = only(alone, &[Some(&zeros), n.input(1), n.input(2)], y)?;
    let add = Op::from(Binary(BinaryFn::Add));
    Some(vec![only(&add, &[Some(x), Some(&landed)], y)?])
}

/// The first operand with 1 where an update goes.
fn ones_where_updated(n: &Node<'_>) -> Option<Tensor> {
    let (x, updates) = (n.input(0)?, n.input(2)?);
    let ones = Tensor::from_i128_fn(&updates.ty(), |_| 1);
    let overwrite = Op::from(ScatterNd { reduction: Reduction::None });
    only(&overwrite, &[Some(x), n.input(1), Some(&ones)], n.outputs.first()?)
}
