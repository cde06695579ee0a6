//! Operands and attributes: absent ones read as present, present ones lost, defaults of another opset or of another operator.

use ir::{NodeKind, Value, rewrite::Rewrite};
use ops::elementwise::{Activation, Gelu};
use ops::movement::Unsqueeze;
use ops::nn::{GroupNorm, InstanceNorm, LayerNorm, RmsNorm, Softmax};
use ops::{Graph, Op};

use super::site::Site;
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "absent-operands-are-skipped",
        does: "moves an operand to the place of the absent one before it",
        source: Some("microsoft/onnxscript#3014"),
        pass: Pass::Each(skipped_absent),
    },
    WrongRewriting {
        name: "last-optional-operand-is-lost",
        does: "drops the last operand wherever the operator can do without",
        source: Some("hidet-org/hidet#97"),
        pass: Pass::Each(lost_optional),
    },
    WrongRewriting {
        name: "softmax-has-the-default-axis-of-opset-11",
        does: "takes axis −1, the default, for 1, the default before opset 13",
        source: Some("robertknight/rten#1414"),
        pass: Pass::Each(old_default_axis),
    },
    WrongRewriting {
        name: "gelu-is-rebuilt-without-its-attribute",
        does: "makes a Gelu by tanh into an exact one",
        source: None,
        pass: Pass::Each(exact_gelu),
    },
    WrongRewriting {
        name: "activations-are-rebuilt-with-default-parameters",
        does: "replaces an activation by one with the parameters' defaults",
        source: None,
        pass: Pass::Each(default_parameters),
    },
    WrongRewriting {
        name: "normalizations-are-fused-with-one-epsilon",
        does: "gives every fused normalisation an epsilon of 1e-12",
        source: None,
        pass: Pass::Each(one_epsilon),
    },
    WrongRewriting {
        name: "vectors-are-aligned-with-the-first-axis-that-fits",
        does: "broadcasts a vector along the first axis of its size instead of the last one",
        source: None,
        pass: Pass::Each(vector_on_first_axis),
    },
    WrongRewriting {
        name: "second-result-is-read-for-the-first",
        does: "removes the second output as dead, and those that read it get the first where it has the same type",
        source: None,
        pass: Pass::Whole(dead_second_output),
    },
];

fn skipped_absent(s: &mut Site<'_, '_>) -> Option<Value> {
    let operands = s.all_now(s.operands())?;
    let there: Vec<Option<Value>> = operands.iter().flatten().map(|&x| Some(x)).collect();
    if there.len() == operands.len() { None } else { s.push_some(s.op, &there) }
}

fn lost_optional(s: &mut Site<'_, '_>) -> Option<Value> {
    // The operands of these are as many as one likes.
    if matches!(s.op, Op::Variadic(_) | Op::Concat(_)) {
        return None;
    }
    let operands = s.all_now(s.operands())?;
    let (_, others) = operands.split_last()?;
    s.push_some(s.op, others)
}

fn old_default_axis(s: &mut Site<'_, '_>) -> Option<Value> {
    let Op::Softmax(op @ Softmax { axis: -1, .. }) = *s.op else { return None };
    let x = s.x(0)?;
    s.push(Softmax { axis: 1, ..op }, &[x])
}

fn exact_gelu(s: &mut Site<'_, '_>) -> Option<Value> {
    let Op::Gelu(Gelu { tanh: true }) = *s.op else { return None };
    let x = s.x(0)?;
    s.push(Gelu { tanh: false }, &[x])
}

fn default_parameters(s: &mut Site<'_, '_>) -> Option<Value> {
    let Op::Activation(op) = s.op else { return None };
    let parameters: Vec<f32> = op.function.attributes().iter().map(|(_, default)| *default).collect();
    let x = s.x(0)?;
    if parameters == op.parameters { None } else { s.push(Activation { parameters, ..op.clone() }, &[x]) }
}

fn one_epsilon(s: &mut Site<'_, '_>) -> Option<Value> {
    const EPSILON: f32 = 1e-12;
    let op: Op = match *s.op {
        Op::LayerNorm(op) => LayerNorm { epsilon: EPSILON, ..op }.into(),
        Op::InstanceNorm(_) => InstanceNorm { epsilon: EPSILON }.into(),
        Op::GroupNorm(op) => GroupNorm { epsilon: EPSILON, ..op }.into(),
        Op::RmsNorm(op) => RmsNorm { epsilon: EPSILON, ..op }.into(),
        _ => return None,
    };
    let operands = s.all_now(s.operands())?;
    s.push_some(&op, &operands)
}

fn vector_on_first_axis(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Binary(_) | Op::Compare(_) | Op::Pow(_) | Op::PRelu(_)) = s.op else { return None };
    let shape = s.result().shape.clone();
    let vector = s.operand_ty(1).filter(|ty| ty.shape.len() == 1 && ty.count() > 1)?;
    let first = shape.iter().position(|size| *size == vector.shape[0])?;
    let axes: Vec<i64> = (1..(shape.len() - first) as i64).collect();
    if axes.is_empty() {
        return None;
    }
    let (x, vector) = (s.x(0)?, s.x(1)?);
    let aligned = s.push(Unsqueeze { axes }, &[vector])?;
    s.push(s.op.clone(), &[x, aligned])
}

fn dead_second_output(graph: &Graph) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, node) in graph.iter() {
        let new = rewrite.keep(id)?;
        if let (NodeKind::Operator(_), [first, second, ..]) = (&node.kind, &node.outputs[..])
            && first == second
        {
            rewrite.replace(Value::new(id, 1), Value::new(new, 0));
            holds = true;
        }
    }
    rewrite.finish().filter(|_| holds)
}
