//! What operators of opsets before 13 are called in 13, where they had other words for it.

#![allow(clippy::unnecessary_wraps, reason = "functions of one table have one type")]

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ir::{DType, Tensor, Type};

use crate::program::{Attribute, Initializer, Node, Scope, ValueId};
use crate::proto::AttributeProto;
use crate::tensor::code_of;

/// What a node is read with.
pub(super) struct Reader<'p> {
    /// The opset that it is written in.
    pub(super) former: u32,
    /// The types of first operands, as far as they are known.
    pub(super) types: &'p BTreeMap<ValueId, Type>,
    pub(super) scope: &'p mut Scope,
    pub(super) constants: &'p mut Vec<Initializer>,
}

type Words = fn(&Node, &mut Reader<'_>) -> Option<Vec<Node>>;

/// The operators that had other words, and the opsets that had these.
const WORDS: [(&str, RangeInclusive<u32>, Words); 11] = [
    ("BatchNormalization", 7..=8, batch_normalization),
    ("Clip", 7..=10, clip),
    ("Dropout", 7..=11, dropout),
    ("Hardmax", 7..=12, softmax),
    ("LogSoftmax", 7..=12, softmax),
    ("OneHot", 9..=10, one_hot),
    ("Pad", 7..=10, pad),
    ("Resize", 10..=10, resize),
    ("Scatter", 9..=10, scatter),
    ("Softmax", 7..=12, softmax),
    ("Upsample", 7..=9, resize),
];

fn find(node: &Node, former: u32) -> Option<Words> {
    let is_it = |(name, opsets, _): &&(&str, RangeInclusive<u32>, Words)| {
        node.operator() == *name && opsets.contains(&former)
    };
    WORDS.iter().find(is_it).map(|&(.., words)| words)
}

/// Whether an operator had other words in an opset.
pub(super) fn has_others(node: &Node, former: u32) -> bool {
    find(node, former).is_some()
}

impl Reader<'_> {
    /// The node in words of opset 13; as it is where it has no others, or a type that it would need is not known.
    pub(super) fn read(&mut self, node: Node) -> Vec<Node> {
        let read = find(&node, self.former).and_then(|words| words(&node, self));
        read.unwrap_or_else(|| vec![node])
    }

    fn ty(&self, node: &Node) -> Option<Type> {
        self.types.get(&node.inputs.first().copied().flatten()?).cloned()
    }

    fn constant(&mut self, name: &str, tensor: &Tensor) -> ValueId {
        self.scope.constant(name, tensor, self.constants)
    }

    /// A float of rank 0 in the dtype of the first operand.
    fn float(&mut self, node: &Node, name: &str, default: f32) -> Option<ValueId> {
        let number = attribute(node, name).map_or(default, AttributeProto::f);
        let ty = Type::new(self.ty(node)?.dtype, []);
        Some(self.constant(name, &Tensor::from_f64_fn(&ty, |_| number.into())))
    }
}

fn attribute<'n>(node: &'n Node, name: &str) -> Option<&'n AttributeProto> {
    node.attributes.iter().map(|attribute| &attribute.rest).find(|attribute| attribute.name() == name)
}

/// The node under this name, without some attributes.
fn called(node: &Node, name: &str, without: &[&str]) -> Node {
    let mut called = node.clone();
    called.rest.op_type = Some(name.to_owned());
    let is_left = |attribute: &Attribute| !without.contains(&attribute.rest.name());
    called.attributes.retain(is_left);
    called
}

fn batch_normalization(node: &Node, _: &mut Reader<'_>) -> Option<Vec<Node>> {
    Some(vec![called(node, "BatchNormalization", &["spatial"])])
}

fn clip(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<Node>> {
    let mut clip = called(node, "Clip", &["min", "max"]);
    clip.inputs.push(Some(reader.float(node, "min", f32::MIN)?));
    clip.inputs.push(Some(reader.float(node, "max", f32::MAX)?));
    Some(vec![clip])
}

fn dropout(node: &Node, _: &mut Reader<'_>) -> Option<Vec<Node>> {
    let mut identity = called(node, "Identity", &["ratio", "seed"]);
    identity.outputs.truncate(1);
    Some(vec![identity])
}

/// Negative indices were out of range, as the depth is.
fn one_hot(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<Node>> {
    if !reader.ty(node)?.dtype.is_signed() {
        return None;
    }
    let zero = reader.constant("zero", &Tensor::zeros(&Type::new(DType::I64, [])));
    let [whole, depth, is_before, indices] =
        ["whole", "depth", "is_before", "indices"].map(|name| Some(reader.scope.fresh(name)));
    let cast = |from: usize, to: Option<ValueId>| {
        Node::new("Cast", vec![node.inputs.get(from).copied().flatten()], vec![to])
            .with_int("to", code_of(DType::I64).into())
    };
    let mut hot = node.clone();
    *hot.inputs.first_mut()? = indices;
    Some(vec![
        cast(0, whole),
        cast(1, depth),
        Node::new("Less", vec![whole, Some(zero)], vec![is_before]),
        Node::new("Where", vec![is_before, depth, whole], vec![indices]),
        hot,
    ])
}

/// What were its pads is an operand already.
fn pad(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<Node>> {
    let mut pad = called(node, "Pad", &["value"]);
    pad.inputs.resize(2, None);
    pad.inputs.push(Some(reader.float(node, "value", 0.0)?));
    Some(vec![pad])
}

fn scatter(node: &Node, _: &mut Reader<'_>) -> Option<Vec<Node>> {
    Some(vec![called(node, "ScatterElements", &[])])
}

/// Scales were all that there was, of Upsample as an attribute at first, and coordinates were those of the first corner.
fn resize(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<Node>> {
    let mut resize = called(node, "Resize", &["scales"])
        .with_text("coordinate_transformation_mode", "asymmetric")
        .with_text("nearest_mode", "floor");
    let x = node.inputs.first().copied().flatten()?;
    let scales = match attribute(node, "scales") {
        Some(given) => {
            let ty = Type::new(DType::F32, [given.floats.len() as i64]);
            reader.constant("scales", &Tensor::from_f64_fn(&ty, |i| given.floats[i].into()))
        }
        None => node.inputs.get(1).copied().flatten()?,
    };
    resize.inputs = vec![Some(x), None, Some(scales)];
    Some(vec![resize])
}

/// All axes from one on were one.
fn softmax(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<Node>> {
    let ty = reader.ty(node)?;
    let axis = attribute(node, "axis").map_or(1, AttributeProto::i);
    let last = called(node, node.rest.op_type(), &["axis"]).with_int("axis", -1);
    if axis == -1 || axis + 1 == ty.rank() as i64 {
        return Some(vec![last]);
    }
    let shape = Tensor::from_i128_fn(&Type::new(DType::I64, [ty.rank() as i64]), |i| ty.shape[i].into());
    let shape = reader.constant("shape", &shape);
    let [rows, each] = ["rows", "each"].map(|name| Some(reader.scope.fresh(name)));
    Some(vec![
        Node::new("Flatten", node.inputs.clone(), vec![rows]).with_int("axis", axis),
        Node { inputs: vec![rows], outputs: vec![each], ..last },
        Node::new("Reshape", vec![each, Some(shape)], node.outputs.clone()),
    ])
}
