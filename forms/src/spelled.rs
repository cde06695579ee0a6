//! Parameters in other words that mean the same for these operands: −1 and 0 in Reshape, 1 in Expand, `INT64_MAX` as an end,
//! starts and axes that count from the other end.

use ir::{Choices, Type};
use onnx::program::{Node, ValueId};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::{Draft, parameters};

/// A number of a parameter that may be another one.
struct Spelling {
    value: ValueId,
    at: usize,
    number: i64,
}

/// The parameters of some nodes in other words.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let all = spellings(&draft);
    let mut open: Vec<&Spelling> = all.iter().collect();
    let mut is_new = false;
    for _ in 0..choices.random_range(1..=4) {
        let Some(&Spelling { value, at, number }) = open.choose(choices).copied() else { break };
        // One change a parameter: two could each need what the other takes away.
        open.retain(|other| other.value != value);
        let mut numbers = draft.numbers(value)?;
        *numbers.get_mut(at)? = number;
        let shape = draft.ty(value)?.shape.clone();
        let tensor = crate::draft::int64(&shape, &numbers);
        let initializer = draft.body_mut().initializers.iter_mut().find(|i| i.value == value)?;
        initializer.tensor = onnx::proto::TensorProto { name: None, ..onnx::tensor::to_proto("", &tensor) };
        is_new = true;
    }
    is_new.then_some(draft)
}

fn spellings(draft: &Draft) -> Vec<Spelling> {
    let mut all = Vec::new();
    for node in &draft.body().nodes {
        let Some(x) = node.inputs.first().copied().flatten().and_then(|x| draft.ty(x)) else { continue };
        for (slot, name) in parameters(node, draft.opset) {
            let Some(value) = node.inputs.get(slot).copied().flatten() else { continue };
            let Some(numbers) = draft.numbers(value).filter(|_| draft.uses(value) == 1) else { continue };
            for (at, &number) in numbers.iter().enumerate() {
                let others = in_other_words(draft, node, x, name, &numbers, at, number);
                all.extend(others.into_iter().map(|number| Spelling { value, at, number }));
            }
        }
    }
    all
}

/// The numbers that mean the same in place of one.
fn in_other_words(
    draft: &Draft,
    node: &Node,
    x: &Type,
    parameter: &str,
    numbers: &[i64],
    at: usize,
    number: i64,
) -> Vec<i64> {
    match (node.rest.op_type(), parameter) {
        ("Reshape", "shape") => reshaped(node, x, numbers, at),
        ("Expand", "shape") => expanded(x, numbers, at),
        ("Slice", "starts" | "ends") => cut(draft, node, x, parameter, at, number),
        ("Unsqueeze", "axes") => {
            let rank = node.outputs.first().copied().flatten().and_then(|y| draft.ty(y)).map(Type::rank);
            rank.map(|rank| from_other_end(number, rank)).into_iter().collect()
        }
        (_, "axes" | "axis") if x.rank() > 0 => vec![from_other_end(number, x.rank())],
        _ => Vec::new(),
    }
}

fn from_other_end(axis: i64, rank: usize) -> i64 {
    if axis < 0 { axis + rank as i64 } else { axis - rank as i64 }
}

fn reshaped(node: &Node, x: &Type, shape: &[i64], at: usize) -> Vec<i64> {
    let mut all = Vec::new();
    if node.attributes.iter().any(|a| a.rest.name() == "allowzero" && a.rest.i() != 0) {
        return all;
    }
    if x.shape.get(at) == Some(&shape[at]) {
        all.push(0);
    }
    // What is left over is told by the others, unless they have no elements.
    if shape.iter().all(|&d| d > 0) {
        all.push(-1);
    }
    all
}

/// A 1 stands for the operand's size.
fn expanded(x: &Type, shape: &[i64], at: usize) -> Vec<i64> {
    let from_end = shape.len() - at;
    let size = x.rank().checked_sub(from_end).map(|axis| x.shape[axis]);
    (size == Some(shape[at]) && shape[at] != 1).then_some(1).into_iter().collect()
}

/// Starts and ends of Slice: beyond all elements, or from the other end.
fn cut(draft: &Draft, node: &Node, x: &Type, parameter: &str, at: usize, number: i64) -> Vec<i64> {
    let operand = |slot: usize| node.inputs.get(slot).copied().flatten();
    let list = |slot: usize| operand(slot).map(|value| draft.numbers(value));
    let (axis, step) = match (list(3), list(4)) {
        (Some(None), _) | (_, Some(None)) => return Vec::new(),
        (axes, steps) => {
            (axes.flatten().map_or(at as i64, |axes| axes[at]), steps.flatten().map_or(1, |steps| steps[at]))
        }
    };
    let axis = if axis < 0 { axis + x.rank() as i64 } else { axis };
    let Some(&size) = usize::try_from(axis).ok().and_then(|axis| x.shape.get(axis)) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    if parameter == "ends" && step > 0 && number >= size {
        all.extend([i64::MAX, i64::from(i32::MAX)]);
    }
    if parameter == "ends" && step < 0 && number < -size {
        all.push(i64::MIN);
    }
    if (0..size).contains(&number) {
        all.push(number - size);
    }
    if (-size..0).contains(&number) {
        all.push(number + size);
    }
    all
}
