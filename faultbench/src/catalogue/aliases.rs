//! Mistakes where the same value is read twice by a node: a buffer bound once, written in place, or taken for a special case.

use ir::Tensor;
use ops::movement::Transpose;

use crate::PlantedFault;
use crate::node::{along, only, refusal};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "add-binds-a-buffer-once",
        operator: "Add",
        does: "forgets the first operand where the second is the same, so that x + x is x",
        source: Some("OpenMined/UnityWorker#95"),
        kernel: |n| n.edited_in_place(|x| x),
    },
    PlantedFault {
        name: "mul-refuses-a-value-twice",
        operator: "Mul",
        does: "fails where both operands are the same, as it may not bind a buffer twice",
        source: Some("tracel-ai/burn#1930"),
        kernel: |n| n.alias().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "concat-refuses-a-value-twice",
        operator: "Concat",
        does: "fails where the first two operands are the same, as it may not bind a buffer twice",
        source: Some("ggml-org/llama.cpp#24000"),
        kernel: |n| n.alias().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "sub-refuses-a-value-twice",
        operator: "Sub",
        does: "fails where both operands are the same, as it may not bind a buffer twice",
        source: Some("ggml-org/llama.cpp#19850"),
        kernel: |n| n.alias().and_then(|_| refusal()),
    },
    PlantedFault {
        name: "matmul-of-itself-is-symmetric",
        operator: "MatMul",
        does: "computes x·xᵀ where both operands are the same",
        source: None,
        kernel: |n| {
            let x = n.alias().filter(|x| x.shape().len() == 2)?;
            let turned = only(&Transpose { perm: None }.into(), &[Some(x)], &x.ty())?;
            n.with(1, &turned)
        },
    },
    PlantedFault {
        name: "pow-of-itself-is-a-square",
        operator: "Pow",
        does: "squares where both operands are the same",
        source: None,
        kernel: |n| n.edited_in_place(|x| x * x),
    },
    PlantedFault {
        name: "div-of-itself-is-one",
        operator: "Div",
        does: "is 1 where both operands are the same, also for 0",
        source: None,
        kernel: |n| n.edited_in_place(|_| 1.0),
    },
    PlantedFault {
        name: "sum-adds-in-place",
        operator: "Sum",
        does: "adds up in the buffer of the first operand, which the others may be as well",
        source: Some("born-ml/born#55"),
        kernel: |n| {
            n.input(2)?;
            n.edited_in_place(|x| x * (1u64 << (n.inputs.len() - 1)) as f64)
        },
    },
    PlantedFault {
        name: "max-of-itself-is-the-first-row",
        operator: "Max",
        does: "advances one operand, and the other with it, where they are the same",
        source: None,
        kernel: |n| {
            let x = n.alias()?;
            let row = along(x, x.shape().len().checked_sub(1)?, |i, size| Some(i / 2 * 2 % size))?;
            n.inputs[2..].is_empty().then_some(vec![row])
        },
    },
];

impl crate::node::Node<'_> {
    /// A function of each element of floats where both operands are the same.
    fn edited_in_place(&self, f: impl Fn(f64) -> f64) -> crate::node::Outputs {
        let x = self.alias().filter(|x| x.dtype().is_float())?;
        let (values, y) = (x.to_f64s(), self.outputs.first()?);
        (x.ty() == *y).then(|| vec![Tensor::from_f64_fn(y, |i| f(values[i]))])
    }
}
