//! Mistakes where the same value is read twice by a node: a buffer bound once, written in place, or taken for a special case.

use ir::Tensor;
use ops::movement::Transpose;

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, only, refusal};

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
        kernel: |n| n.added_in_place(),
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

impl Node<'_> {
    /// The sum of floats, added up in the buffer of the first operand: where that comes again, it is what was added up so far.
    fn added_in_place(&self) -> Outputs {
        let x = self.input(0).filter(|x| x.dtype().is_float())?;
        let y = self.outputs.first().filter(|y| x.ty() == **y)?;
        let mut sums = x.to_f64s();
        for operand in 1..self.inputs.len() {
            if std::ptr::eq(self.input(operand)?, x) {
                for sum in &mut sums {
                    *sum += *sum;
                }
            } else {
                let other = self.spread(operand)?.to_f64s();
                sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            }
        }
        let comes_again = self.inputs.iter().flatten().skip(2).any(|other| std::ptr::eq(*other, x));
        comes_again.then(|| vec![Tensor::from_f64_fn(y, |i| sums[i])])
    }

    /// A function of each element of floats where both operands are the same.
    fn edited_in_place(&self, f: impl Fn(f64) -> f64) -> Outputs {
        let x = self.alias().filter(|x| x.dtype().is_float())?;
        let (values, y) = (x.to_f64s(), self.outputs.first()?);
        (x.ty() == *y).then(|| vec![Tensor::from_f64_fn(y, |i| f(values[i]))])
    }
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};
    use ops::elementwise::{Variadic, VariadicFn};

    use super::*;

    #[test]
    fn a_sum_in_place_doubles_what_was_added_up_where_its_first_operand_comes_again() {
        let ty = Type::new(DType::F32, [2]);
        let tensor = |values: [f64; 2]| Tensor::from_f64_fn(&ty, |i| values[i]);
        let (x, y) = (tensor([1.0, 2.0]), tensor([10.0, 20.0]));
        let op = Variadic(VariadicFn::Sum).into();
        let sum = |inputs: &[Option<&Tensor>]| {
            let node = Node { op: &op, inputs, outputs: std::slice::from_ref(&ty) };
            node.added_in_place().map(|outputs| outputs[0].to_f64s())
        };
        let [x, y] = [&x, &y].map(Some);
        assert_eq!(sum(&[x, y, x]), Some(vec![22.0, 44.0]), "not 12 and 24");
        assert_eq!(sum(&[x, x, x]), Some(vec![4.0, 8.0]));
        assert_eq!([sum(&[x, y, y]), sum(&[x, x])], [None, None], "right");
    }
}
