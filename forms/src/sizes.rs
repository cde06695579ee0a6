//! Sizes of inputs that are names, or not said.
//!
//! Equal sizes may share a name, in one input or in several; different sizes never do. Sizes that depend on such sizes
//! have no number any more. So no shapes are declared for values inside, and only the ranks of outputs.

use std::collections::BTreeMap;

use ir::{Choices, DType};
use onnx::program::{Node, Port};
use onnx::proto::ValueInfoProto;
use onnx::proto::tensor_shape_proto::{Dimension, dimension};
use onnx::proto::type_proto;
use rand::RngExt;

use crate::draft::{Draft, parameters};

/// Names of sizes, as exporters give them.
const NAMES: [&str; 8] = ["N", "batch", "seq_len", "height", "width", "s0", "dim_0", "past"];

/// The share of a case's sizes that are open.
const SHARE: f64 = 0.6;

/// What is said of a size in place of its number.
#[derive(Clone)]
enum Open {
    Named(String),
    Unsaid,
}

/// Names for some sizes of the inputs.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut namer = Namer::default();
    let mut is_new = false;
    let mut inputs = std::mem::take(&mut draft.body_mut().inputs);
    for port in inputs.iter_mut().filter(|port| !is_fixed(&draft, port)) {
        for dim in dims(&mut port.declared) {
            let Some(dimension::Value::DimValue(size)) = dim.value else { continue };
            if choices.random_bool(SHARE) {
                let open = if choices.random_bool(0.1) { Open::Unsaid } else { namer.name(size, choices) };
                dim.value = open.value();
                is_new = true;
            }
        }
    }
    draft.body_mut().inputs = inputs;
    if !is_new {
        return None;
    }
    draft.body_mut().declared.clear();
    draft.body_mut().nodes.iter_mut().for_each(forget);
    let held = draft.program.functions.iter_mut().flat_map(|function| &mut function.scope.body.nodes);
    held.for_each(forget);
    for (i, port) in draft.body_mut().outputs.iter_mut().enumerate() {
        for (axis, dim) in dims(&mut port.declared).iter_mut().enumerate() {
            // A name of its own says nothing either.
            let open =
                if choices.random_bool(0.3) { Open::Named(format!("y{i}_{axis}")) } else { Open::Unsaid };
            dim.value = open.value();
        }
    }
    Some(draft)
}

/// Says no sizes in the bodies of a node.
fn forget(node: &mut Node) {
    for body in node.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut()) {
        body.declared.clear();
        for port in body.inputs.iter_mut().chain(&mut body.outputs) {
            for dim in dims(&mut port.declared) {
                dim.value = None;
            }
        }
        body.nodes.iter_mut().for_each(forget);
    }
}

/// Whether an input keeps its sizes: it has a default, or it is a parameter whose length is a rank.
fn is_fixed(draft: &Draft, port: &Port) -> bool {
    let is_default = draft.body().initializers.iter().any(|i| i.value == port.value);
    let tells = |(slot, node): (usize, &Node)| node.inputs.get(slot).copied().flatten() == Some(port.value);
    let mut parameters = draft
        .body()
        .nodes
        .iter()
        .flat_map(|node| parameters(node, draft.opset).into_iter().map(move |(slot, _)| (slot, node)));
    let is_whole = draft.ty(port.value).is_none_or(|ty| ty.dtype == DType::I64 && ty.rank() <= 1);
    is_default || (is_whole && parameters.any(tells))
}

impl Open {
    fn value(self) -> Option<dimension::Value> {
        match self {
            Self::Named(name) => Some(dimension::Value::DimParam(name)),
            Self::Unsaid => None,
        }
    }
}

/// Gives names to sizes.
#[derive(Default)]
struct Namer {
    by_size: BTreeMap<i64, Vec<String>>,
    given: usize,
}

impl Namer {
    /// A name for a size: one that stands for this size already, or a new one.
    fn name(&mut self, size: i64, choices: &mut Choices) -> Open {
        let known = self.by_size.entry(size).or_default();
        if known.is_empty() || choices.random_bool(0.2) {
            let name = NAMES.get(self.given).map_or_else(|| format!("d{}", self.given), |n| (*n).to_owned());
            self.given += 1;
            known.push(name);
        }
        Open::Named(known[choices.random_range(0..known.len())].clone())
    }
}

/// The sizes that are said of a tensor.
pub(crate) fn dims(info: &mut ValueInfoProto) -> &mut [Dimension] {
    let ty = info.r#type.as_mut().and_then(|ty| ty.value.as_mut());
    match ty {
        Some(type_proto::Value::TensorType(tensor)) => {
            tensor.shape.as_mut().map_or(&mut [], |shape| &mut shape.dim[..])
        }
        _ => &mut [],
    }
}
