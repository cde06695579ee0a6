//! Operators in the words of opsets before 13, which had other words for the same meaning.
//!
//! Each node is written twice: in today's words, as what the old definition means, and in the old words. Softmax is an
//! example. The old one took all axes from one on as a single axis, so a Softmax over one axis is written as an old one
//! over several, into which that axis is split.

#![allow(clippy::unnecessary_wraps, reason = "functions of one table have one type")]

use std::ops::RangeInclusive;

use ir::{Choices, Tensor, Type};
use onnx::program::{Node, ValueId};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::Draft;

/// A node in other words.
pub(super) struct Said {
    /// In words of today.
    pub(super) today: Vec<Node>,
    /// In words of the former opset, with the same meaning.
    pub(super) former: Vec<Node>,
}

/// What putting a node into words needs.
pub(super) struct Speaker<'d> {
    /// The program. Values between nodes are added to it.
    pub(super) draft: &'d mut Draft,
    pub(super) opset: u32,
    pub(super) choices: &'d mut Choices,
}

type Words = fn(&Node, &mut Speaker<'_>) -> Option<Said>;

/// The operators that had other words, and the opsets in which they had them.
const WORDS: [(&str, RangeInclusive<u32>, Words); 10] = [
    ("BatchNormalization", 7..=8, batch_normalization),
    ("Clip", 7..=10, clip),
    ("Dropout", 7..=11, dropout),
    ("Hardmax", 7..=12, softmax),
    ("Identity", 7..=11, identity),
    ("LogSoftmax", 7..=12, softmax),
    ("Pad", 7..=10, pad),
    ("Resize", 9..=10, resize),
    ("ScatterElements", 9..=10, scatter),
    ("Softmax", 7..=12, softmax),
];

impl Speaker<'_> {
    /// The node in the words of the opset. It stays as it is if the opset has no other words for it.
    pub(super) fn say(&mut self, node: Node) -> Said {
        let is_it = |(name, opsets, _): &&(&str, RangeInclusive<u32>, Words)| {
            node.rest.domain().is_empty() && *name == node.rest.op_type() && opsets.contains(&self.opset)
        };
        let said = WORDS.iter().find(is_it).and_then(|(.., words)| words(&node, self));
        said.unwrap_or_else(|| Said { today: vec![node.clone()], former: vec![node] })
    }

    /// The number in a constant float that has one element, if the f32 of an attribute can hold it.
    fn float(&self, value: ValueId) -> Option<f32> {
        let tensor = self.draft.tensor(value).filter(|tensor| tensor.dtype().is_float())?;
        match tensor.to_f64s()[..] {
            [number] if f64::from(number as f32) == number => Some(number as f32),
            _ => None,
        }
    }
}

/// A node that stays as it is today, and was one node in former words.
fn one(node: &Node, former: Node) -> Option<Said> {
    Some(Said { today: vec![node.clone()], former: vec![former] })
}

/// The node under the name of another operator, and on other operands.
fn called(node: &Node, name: &str, operands: &[Option<ValueId>]) -> Node {
    let mut called = node.clone();
    called.rest.op_type = Some(name.to_owned());
    called.inputs = operands.to_vec();
    called
}

fn operand(node: &Node, slot: usize) -> Option<ValueId> {
    node.inputs.get(slot).copied().flatten()
}

fn int(node: &Node, name: &str) -> Option<i64> {
    node.attributes.iter().find(|attribute| attribute.rest.name() == name).map(|attribute| attribute.rest.i())
}

/// Bounds were attributes. What holds where they cross was not defined.
fn clip(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let [low, high] = [1, 2].map(|slot| operand(node, slot).and_then(|bound| speaker.float(bound)));
    let (low, high) = (low?, high?);
    (low <= high)
        .then(|| called(node, "Clip", &node.inputs[..1]).with_float("min", low).with_float("max", high))
        .and_then(|former| one(node, former))
}

/// The value was an attribute, and 0 where there was none.
fn pad(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let dtype = speaker.draft.ty(operand(node, 0)?)?.dtype;
    let kept = node.inputs.get(..2)?;
    let (value, number) = match operand(node, 2) {
        Some(value) => (value, speaker.float(value)?),
        None => (speaker.draft.constant("zero", &Tensor::from_f64_fn(&Type::new(dtype, []), |_| 0.0)), 0.0),
    };
    let today = called(node, "Pad", &[kept, &[Some(value)]].concat());
    one(&today, called(node, "Pad", kept).with_float("value", number))
}

/// Models for training keep their Dropout, which does nothing.
fn identity(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let ratio = *[0.1, 0.25, 0.5].choose(speaker.choices)?;
    speaker.choices.random_bool(0.5).then_some(())?;
    one(node, called(node, "Dropout", &node.inputs).with_float("ratio", ratio))
}

/// The content of its mask was not defined.
fn dropout(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let is_read = node.outputs.iter().skip(1).flatten().any(|&mask| speaker.draft.uses(mask) > 0);
    let is_off = |mode| speaker.draft.tensor(mode).is_some_and(|mode| mode.to_i128s() == [0]);
    if is_read || !operand(node, 2).is_none_or(is_off) {
        return None;
    }
    let mut today = Node::new("Identity", node.inputs[..1].to_vec(), node.outputs[..1].to_vec());
    today.rest.name.clone_from(&node.rest.name);
    let mut former = called(node, "Dropout", &node.inputs[..1]);
    former.outputs.truncate(1);
    if let Some(ratio) = operand(node, 1).and_then(|ratio| speaker.float(ratio)) {
        former = former.with_float("ratio", ratio);
    }
    one(&today, former)
}

/// Statistics were per channel, unless the attribute `spatial` said otherwise.
fn batch_normalization(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let is_said = speaker.choices.random_bool(0.5);
    is_said.then(|| one(node, node.clone().with_int("spatial", 1))).flatten()
}

/// Scatter was its name.
fn scatter(node: &Node, _: &mut Speaker<'_>) -> Option<Said> {
    one(node, called(node, "Scatter", &node.inputs))
}

/// There were scales but no sizes, and there was one way to find coordinates. Whether that is the way of this node
/// shows when the model is read again.
fn resize(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let name = if speaker.opset == 9 { "Upsample" } else { "Resize" };
    one(node, called(node, name, &[Some(operand(node, 0)?), Some(operand(node, 2)?)]))
}

/// The share of nodes whose axis is split, where its size is a product.
const SPLIT: f64 = 0.8;

/// All axes from `axis` on were taken as one. So the axis has to be the last one, or to have only axes of size 1 behind
/// it; any other axis changes places with the last one, as exporters did it. An axis whose size is a product may be
/// split into two.
fn softmax(node: &Node, speaker: &mut Speaker<'_>) -> Option<Said> {
    let x = operand(node, 0)?;
    let ty = speaker.draft.ty(x).filter(|ty| !ty.shape.contains(&0))?.clone();
    let rank = ty.rank();
    let axis = ops::rule::axis(int(node, "axis").unwrap_or(-1), rank).ok()?;
    let at = if ty.shape[axis + 1..].iter().all(|&size| size == 1) { axis } else { rank - 1 };
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(axis, at);
    let mut line = Line { speaker, value: x, ty, said: Said { today: Vec::new(), former: Vec::new() } };
    line.turn(&order);
    let shape = line.ty.shape.clone();
    let parts: Vec<i64> = (2..shape[at]).filter(|part| shape[at] % part == 0).collect();
    if let Some(&part) =
        parts.choose(line.speaker.choices).filter(|_| line.speaker.choices.random_bool(SPLIT))
    {
        line.reshape(&[&shape[..at], &[part, shape[at] / part], &shape[at + 1..]].concat());
    }
    line.along_the_rest(node, at);
    line.reshape(&shape);
    line.turn(&order);
    let result = node.outputs.first().copied();
    let Said { today, former } = &mut line.said;
    for last in [today, former].into_iter().filter_map(|nodes| nodes.last_mut()) {
        last.outputs = result.into_iter().collect();
    }
    Some(line.said)
}

/// A chain of nodes with one operand each.
struct Line<'s, 'd> {
    speaker: &'s mut Speaker<'d>,
    /// The result of the last node.
    value: ValueId,
    ty: Type,
    said: Said,
}

impl Line<'_, '_> {
    /// Adds a node that is the same in the words of both opsets.
    fn then(&mut self, node: Node, shape: Vec<i64>) {
        self.ty = Type::new(self.ty.dtype, shape);
        self.value = self.speaker.draft.fresh("between", self.ty.clone());
        let node = Node { outputs: vec![Some(self.value)], ..node };
        self.said.today.push(node.clone());
        self.said.former.push(node);
    }

    /// Adds a transposition in which two axes change places.
    fn turn(&mut self, order: &[usize]) {
        if !order.is_sorted() {
            let shape = order.iter().map(|&axis| self.ty.shape[axis]).collect();
            let order = order.iter().map(|&axis| axis as i64).collect();
            self.then(
                Node::new("Transpose", vec![Some(self.value)], Vec::new()).with_ints("perm", order),
                shape,
            );
        }
    }

    fn reshape(&mut self, shape: &[i64]) {
        if self.ty.shape != shape {
            let list = self.speaker.draft.list("shape", shape);
            self.then(Node::new("Reshape", vec![Some(self.value), Some(list)], Vec::new()), shape.to_vec());
        }
    }

    /// Adds the operator itself, along all axes from `at` on.
    fn along_the_rest(&mut self, node: &Node, at: usize) {
        let Speaker { draft, opset, choices } = &mut *self.speaker;
        let ty = self.ty.clone();
        let from_the_end = *opset >= 11 && choices.random_bool(0.3);
        let axis = if from_the_end { at as i64 - ty.rank() as i64 } else { at as i64 };
        let given = draft.fresh("between", ty.clone());
        let plain = Node { inputs: vec![Some(self.value)], outputs: vec![Some(given)], ..node.clone() };
        let plain = without(plain, "axis");
        let is_default = axis == 1 && choices.random_bool(0.5);
        self.said.former.push(if is_default { plain.clone() } else { plain.clone().with_int("axis", axis) });
        let last = plain.with_int("axis", -1);
        if at + 1 == ty.rank() {
            self.said.today.push(last);
        } else {
            let [before, rest] = [&ty.shape[..at], &ty.shape[at..]].map(|sizes| sizes.iter().product());
            let flat = Type::new(ty.dtype, [before, rest]);
            let [rows, each] = ["rows", "each"].map(|name| draft.fresh(name, flat.clone()));
            let list = draft.list("shape", &ty.shape);
            self.said.today.extend([
                Node::new("Flatten", vec![Some(self.value)], vec![Some(rows)]).with_int("axis", axis),
                Node { inputs: vec![Some(rows)], outputs: vec![Some(each)], ..last },
                Node::new("Reshape", vec![Some(each), Some(list)], vec![Some(given)]),
            ]);
        }
        self.value = given;
    }
}

fn without(mut node: Node, name: &str) -> Node {
    node.attributes.retain(|attribute| attribute.rest.name() != name);
    node
}
