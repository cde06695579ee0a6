//! Parameters in other words that mean the same for these operands: −1 and 0 in Reshape, 1 in Expand, `INT64_MAX` as an end,
//! starts and axes that count from the other end, the parts of a Split by their number.

use ir::{Choices, Type};
use onnx::program::{Node, ValueId};
use ops::movement::split;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::draft::{Draft, parameters};

/// A parameter in other words.
struct Spelling {
    value: ValueId,
    words: Words,
}

/// How it is said.
#[derive(Clone, Copy)]
enum Words {
    /// By another number at this place.
    Number { at: usize, number: i64 },
    /// Not at all: the sizes into which this node splits its operand follow from their number.
    Count { node: usize },
}

/// Writes the parameters of some nodes in other words.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let all = spellings(&draft);
    // One change for each parameter: of two, each could need what the other takes away.
    let mut open: Vec<ValueId> = all.iter().map(|spelling| spelling.value).collect();
    open.dedup();
    open.shuffle(choices);
    open.truncate(choices.random_range(1..=4));
    for &value in &open {
        let of_it: Vec<Words> =
            all.iter().filter(|spelling| spelling.value == value).map(|spelling| spelling.words).collect();
        let &words = of_it.choose(choices)?;
        match words {
            Words::Number { at, number } => renumber(&mut draft, value, at, number)?,
            Words::Count { node } => count(&mut draft, value, node)?,
        }
    }
    (!open.is_empty()).then_some(draft)
}

/// Puts another number into a parameter.
fn renumber(draft: &mut Draft, value: ValueId, at: usize, number: i64) -> Option<()> {
    let mut numbers = draft.numbers(value)?;
    *numbers.get_mut(at)? = number;
    let shape = draft.ty(value)?.shape.clone();
    let tensor = crate::draft::int64(&shape, &numbers);
    let initializer = draft.body_mut().initializers.iter_mut().find(|i| i.value == value)?;
    initializer.tensor = onnx::proto::TensorProto { name: None, ..onnx::tensor::to_proto("", &tensor) };
    Some(())
}

/// Removes the sizes from a Split, which then goes by the number of its results.
fn count(draft: &mut Draft, sizes: ValueId, node: usize) -> Option<()> {
    let is_said = draft.opset >= split::COUNTED;
    let body = draft.body_mut();
    let split = body.nodes.get_mut(node)?;
    split.inputs.truncate(1);
    if is_said {
        let parts = split.outputs.len() as i64;
        *split = split.clone().with_int("num_outputs", parts);
    }
    body.initializers.retain(|initializer| initializer.value != sizes);
    Some(())
}

fn spellings(draft: &Draft) -> Vec<Spelling> {
    let mut all = Vec::new();
    for (place, node) in draft.body().nodes.iter().enumerate() {
        let Some(x) = node.inputs.first().copied().flatten().and_then(|x| draft.ty(x)) else { continue };
        for (slot, name) in parameters(node, draft.opset) {
            let Some(value) = node.inputs.get(slot).copied().flatten() else { continue };
            let Some(numbers) = draft.numbers(value).filter(|_| draft.uses(value) == 1) else { continue };
            if (node.rest.op_type(), name) == ("Split", "split") {
                let words = Words::Count { node: place };
                let equal = split::equal_parts(numbers.iter().sum(), numbers.len() as i64, draft.opset);
                all.extend((equal.as_ref() == Some(&numbers)).then_some(Spelling { value, words }));
                continue;
            }
            for (at, &number) in numbers.iter().enumerate() {
                let others = in_other_words(draft, node, x, name, &numbers, at, number);
                let words = others.into_iter().map(|number| Words::Number { at, number });
                all.extend(words.map(|words| Spelling { value, words }));
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
    // A size of −1 follows from the other sizes, unless there are no elements.
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
