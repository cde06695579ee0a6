//! Tensors without axes and tensors without elements: a scalar taken for something else, nothing taken for garbage.

use ir::{Tensor, Type};
use ops::Op;
use ops::reduction::{Reduce, ReduceFn};

use crate::PlantedFault;
use crate::node::{Node, Outputs, refusal};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "add-of-scalars-is-the-first",
        operator: "Add",
        does: "returns the first of two operands without axes",
        source: None,
        kernel: |n| {
            n.input(1).filter(|y| y.shape().is_empty())?;
            Some(vec![n.scalar()?.clone()])
        },
    },
    PlantedFault {
        name: "where-of-scalars-holds",
        operator: "Where",
        does: "takes a condition without axes for true",
        source: None,
        kernel: |n| {
            let condition = n.scalar()?;
            n.with(0, &Tensor::from_i128_fn(&condition.ty(), |_| 1))
        },
    },
    PlantedFault {
        name: "reduce-prod-refuses-scalars",
        operator: "ReduceProd",
        does: "fails on a tensor without axes",
        source: Some("microsoft/onnxruntime#17041"),
        kernel: |n| n.scalar().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "tile-refuses-scalars",
        operator: "Tile",
        does: "fails on a tensor without axes",
        source: Some("microsoft/onnxruntime#11523"),
        kernel: |n| n.scalar().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "expand-refuses-scalars",
        operator: "Expand",
        does: "fails on a tensor without axes",
        source: Some("tracel-ai/burn-onnx#41"),
        kernel: |n| n.scalar().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "reduce-l2-of-scalars-keeps-the-sign",
        operator: "ReduceL2",
        does: "returns a tensor without axes as it is",
        source: None,
        kernel: |n| Some(vec![n.scalar()?.clone()]),
    },
    PlantedFault {
        name: "matmul-over-nothing-is-garbage",
        operator: "MatMul",
        does: "does not write the sums of no products",
        source: Some("apache/tvm#19578"),
        kernel: |n| {
            n.input(0)?.shape().last().filter(|&&k| k == 0)?;
            garbage(n)
        },
    },
    PlantedFault {
        name: "matmul-refuses-an-empty-batch",
        operator: "MatMul",
        does: "fails where a batch of none meets one of 1",
        source: Some("microsoft/onnxruntime#25663"),
        kernel: |n| {
            let batch = |x: &Tensor| x.shape().iter().rev().skip(2).product::<usize>();
            let (a, b) = (batch(n.input(0)?), batch(n.input(1)?));
            if a.min(b) == 0 && a.max(b) > 0 { refusal() } else { None }
        },
    },
    PlantedFault {
        name: "reduce-sum-over-nothing-is-garbage",
        operator: "ReduceSum",
        does: "does not write the sum of no elements",
        source: Some("apache/tvm#19578"),
        kernel: |n| n.empty().and_then(|_| garbage(n)),
    },
    PlantedFault {
        name: "reduce-prod-over-nothing-is-zero",
        operator: "ReduceProd",
        does: "is 0 of no elements, as a sum is",
        source: None,
        kernel: |n| {
            n.empty()?;
            match n.op {
                Op::Reduce(op) => n.instead(Reduce { function: ReduceFn::Sum, ..op.clone() }),
                _ => None,
            }
        },
    },
    PlantedFault {
        name: "split-refuses-an-empty-part",
        operator: "Split",
        does: "fails where a part has no elements",
        source: Some("microsoft/onnxruntime#25496"),
        kernel: |n| n.outputs.iter().any(|part| part.shape.contains(&0)).then(refusal)?,
    },
    PlantedFault {
        name: "slice-refuses-an-empty-result",
        operator: "Slice",
        does: "fails where nothing is left",
        source: Some("microsoft/onnxruntime#25415"),
        kernel: |n| n.outputs.iter().any(|y| y.shape.contains(&0)).then(refusal)?,
    },
];

/// What memory may hold before it is written to.
fn garbage(n: &Node<'_>) -> Outputs {
    n.more_than(0)?;
    let left = |y: &Type| {
        if y.dtype.is_float() {
            Tensor::from_f64_fn(y, |i| 6.19e4 + i as f64)
        } else {
            Tensor::from_i128_fn(y, |i| 97 + i as i128)
        }
    };
    Some(n.outputs.iter().map(left).collect())
}
