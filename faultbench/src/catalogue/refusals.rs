//! What fails although it should not: a use that was forgotten when another was written.

use ops::Op;
use ops::elementwise::Mod;

use crate::PlantedFault;
use crate::node::refusal;

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "gather-refuses-negative-indices",
        operator: "Gather",
        does: "says that negative indices are out of bounds",
        source: Some("microsoft/onnxruntime#1533"),
        kernel: |n| n.input(1)?.to_i128s().iter().any(|&i| i < 0).then(refusal)?,
    },
    PlantedFault {
        name: "one-hot-refuses-negative-axes",
        operator: "OneHot",
        does: "fails on a negative axis other than −1",
        source: Some("microsoft/onnxruntime#1313"),
        kernel: |n| match n.op {
            Op::OneHot(op) if op.axis < -1 => refusal(),
            _ => None,
        },
    },
    PlantedFault {
        name: "flatten-refuses-negative-axes",
        operator: "Flatten",
        does: "fails on a negative axis",
        source: Some("microsoft/onnxruntime#3440"),
        kernel: |n| match n.op {
            Op::Flatten(op) if op.axis < 0 => refusal(),
            _ => None,
        },
    },
    PlantedFault {
        name: "slice-refuses-long-steps",
        operator: "Slice",
        does: "fails where a step is longer than the axis",
        source: Some("microsoft/onnxruntime#9376"),
        kernel: |n| {
            let (Op::Slice(op), x) = (n.op, n.input(0)?) else { return None };
            let steps = op.steps.as_ref()?;
            let axis = |i: usize| match &op.axes {
                Some(axes) => axes[i].rem_euclid(x.shape().len().max(1) as i64) as usize,
                None => i,
            };
            let is_long = |(i, step): (usize, &i64)| step.unsigned_abs() as usize > x.shape()[axis(i)];
            steps.iter().enumerate().any(is_long).then(refusal)?
        },
    },
    PlantedFault {
        name: "instance-norm-refuses-one-element",
        operator: "InstanceNormalization",
        does: "fails where a channel has one element",
        source: Some("pytorch/pytorch#45687"),
        kernel: |n| (n.input(0)?.shape().get(2..)?.iter().product::<usize>() == 1).then(refusal)?,
    },
    PlantedFault {
        name: "prelu-refuses-slopes-of-several-axes",
        operator: "PRelu",
        does: "fails where the slope has a size other than 1 on more than one axis",
        source: Some("apache/tvm#20149"),
        kernel: |n| {
            let sizes = n.input(1)?.shape();
            (sizes.iter().filter(|&&size| size != 1).count() > 1).then(refusal)?
        },
    },
    PlantedFault {
        name: "cum-sum-refuses-one-element",
        operator: "CumSum",
        does: "overflows in its bookkeeping where exclusive and reverse meet an axis of size 1",
        source: Some("microsoft/onnxruntime#13165"),
        kernel: |n| match n.op {
            Op::Cumulative(op) if op.exclusive && op.reverse => {
                let shape = n.input(0)?.shape();
                let axis = op.axis.rem_euclid(shape.len() as i64) as usize;
                (shape[axis] == 1).then(refusal)?
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "mod-refuses-the-minimum",
        operator: "Mod",
        does: "fails on the least integer by a negative one, as the processor's division does by −1",
        source: Some("microsoft/onnxruntime#32369"),
        kernel: |n| {
            let Op::Mod(Mod { fmod: false }) = n.op else { return None };
            let (least, _) = n.dtype().filter(|d| d.is_signed())?.int_range()?;
            let (x, y) = (n.spread(0)?.to_i128s(), n.spread(1)?.to_i128s());
            x.iter().zip(y).any(|(&x, y)| x == least && y < 0).then(refusal)?
        },
    },
    PlantedFault {
        name: "matmul-refuses-vectors",
        operator: "MatMul",
        does: "fails where an operand has one axis",
        source: None,
        kernel: |n| n.inputs.iter().flatten().any(|x| x.shape().len() == 1).then(refusal)?,
    },
    PlantedFault {
        name: "softmax-refuses-five-axes",
        operator: "Softmax",
        does: "fails on more than four axes",
        source: None,
        kernel: |n| (n.input(0)?.shape().len() > 4).then(refusal)?,
    },
    PlantedFault {
        name: "reduce-mean-refuses-negative-axes",
        operator: "ReduceMean",
        does: "fails on a negative axis",
        source: None,
        kernel: |n| match n.op {
            Op::Reduce(op) => op.axes.as_ref()?.iter().any(|&axis| axis < 0).then(refusal)?,
            _ => None,
        },
    },
    PlantedFault {
        name: "conv-refuses-strides-with-dilations",
        operator: "Conv",
        does: "fails where both a stride and a dilation are more than 1",
        source: None,
        kernel: |n| match n.op {
            Op::Conv(op) => {
                let any = |list: &[i64]| list.iter().any(|&v| v > 1);
                (any(&op.window.strides) && any(&op.window.dilations)).then(refusal)?
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "concat-refuses-one-operand",
        operator: "Concat",
        does: "fails on a single operand",
        source: None,
        kernel: |n| (n.inputs.len() == 1).then(refusal)?,
    },
];
