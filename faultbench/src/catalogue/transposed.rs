//! Convolutions seen from the result, and sums that an equation says.

use ir::Operation;
use ops::Op;
use ops::linear::Einsum;
use ops::linear::equation::{Equation, Label};
use ops::nn::window::AutoPad;
use ops::nn::{ConvTranspose, Dropout};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, only, reshaped};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "conv-transpose-turns-its-kernel",
        operator: "ConvTranspose",
        does: "reads the kernel from its end along the last axis",
        source: None,
        kernel: |n| {
            let w = n.input(1)?;
            n.with(1, &along(w, w.shape().len().checked_sub(1)?, |i, size| Some(size - 1 - i))?)
        },
    },
    PlantedFault {
        name: "conv-transpose-ignores-dilations",
        operator: "ConvTranspose",
        does: "spreads without gaps and leaves the rest of the result at the bias",
        source: None,
        kernel: |n| spread(n, |op| op.window.dilations.iter_mut().for_each(|d| *d = 1)),
    },
    PlantedFault {
        name: "conv-transpose-cuts-the-odd-cell-at-the-other-end",
        operator: "ConvTranspose",
        does: "takes SAME_UPPER for SAME_LOWER, and the other way round",
        source: None,
        kernel: |n| {
            spread(n, |op| {
                op.window.auto_pad = match op.window.auto_pad {
                    AutoPad::SameUpper => AutoPad::SameLower,
                    AutoPad::SameLower => AutoPad::SameUpper,
                    other => other,
                }
            })
        },
    },
    PlantedFault {
        name: "conv-transpose-of-a-stated-size-cuts-at-the-end",
        operator: "ConvTranspose",
        does: "cuts an odd cell off at the end where the size is stated",
        source: None,
        kernel: |n| match n.op {
            Op::ConvTranspose(op) if op.output_shape.is_some() => {
                spread(n, |op| op.window.auto_pad = AutoPad::SameUpper)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-transpose-forgets-its-bias",
        operator: "ConvTranspose",
        does: "adds no bias where there are groups",
        source: None,
        kernel: |n| match n.op {
            Op::ConvTranspose(op) if op.group > 1 => {
                n.input(2)?;
                Some(vec![only(n.op, &n.inputs[..2], n.outputs.first()?)?])
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "einsum-sums-all-of-a-matrix-for-its-diagonal",
        operator: "Einsum",
        does: "sums an operand along an axis that has the same letter as another of its axes",
        source: None,
        kernel: |n| {
            let Op::Einsum(op) = n.op else { return None };
            let mut equation = explicit(&op.equation);
            let labels = equation.operands.first_mut()?;
            let twice = (1..labels.len()).find(|&i| labels[..i].contains(&labels[i]))?;
            labels[twice] = Label::Letter('z');
            n.instead(Einsum { equation })
        },
    },
    PlantedFault {
        name: "einsum-gives-axes-in-the-order-of-the-alphabet",
        operator: "Einsum",
        does: "sorts the letters of the result, and sets the shape as asked for",
        source: None,
        kernel: |n| {
            let Op::Einsum(op) = n.op else { return None };
            let mut equation = explicit(&op.equation);
            equation.result.as_mut()?.sort_unstable();
            let sorted = Op::from(Einsum { equation });
            let types: Vec<_> = n.inputs.iter().map(|x| x.map(ir::Tensor::ty)).collect();
            let types: Vec<_> = types.iter().map(Option::as_ref).collect();
            let ty = sorted.infer(&types).ok()?.pop()?;
            Some(vec![reshaped(&only(&sorted, n.inputs, &ty)?, n.outputs.first()?)?])
        },
    },
    PlantedFault {
        name: "einsum-forgets-the-third-operand",
        operator: "Einsum",
        does: "multiplies the first two operands of three",
        source: None,
        kernel: |n| {
            let ones = ir::Tensor::from_i128_fn(&n.input(2)?.ty(), |_| 1);
            n.with(2, &ones)
        },
    },
    PlantedFault {
        name: "dropout-scales-at-inference",
        operator: "Dropout",
        does: "makes up for what it does not leave out",
        source: None,
        kernel: |n| {
            let ratio = n.input(1)?.to_f64s().first().copied()?;
            n.edited(|_, y| y / (1.0 - ratio))
        },
    },
    PlantedFault {
        name: "dropout-gives-no-mask",
        operator: "Dropout",
        does: "leaves the mask unwritten",
        source: None,
        kernel: |n| {
            let Op::Dropout(Dropout { outputs: 2, .. }) = n.op else { return None };
            let mut right = n.right()?;
            let mask = right.get_mut(1)?;
            *mask = ir::Tensor::zeros(&mask.ty());
            Some(right)
        },
    },
];

/// The right outputs of a use with something changed.
fn spread(n: &Node<'_>, change: impl Fn(&mut ConvTranspose)) -> Outputs {
    let Op::ConvTranspose(op) = n.op else { return None };
    let mut changed = op.clone();
    change(&mut changed);
    if changed == *op { None } else { n.instead(changed) }
}

/// The equation with its result said.
fn explicit(equation: &Equation) -> Equation {
    Equation { result: Some(equation.results()), ..equation.clone() }
}
