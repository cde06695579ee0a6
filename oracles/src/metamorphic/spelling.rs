//! Relations between two spellings of one graph in ONNX.

use std::collections::BTreeMap;

use ir::Stream;
use onnx::external::External;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::relation::Subject;

/// Other names for the values inside the graph, and for all nodes.
pub(super) fn rename(model: &mut ModelProto, stream: Stream) -> Option<()> {
    let mut rng = stream.rng();
    let graph = model.graph.as_mut()?;
    let ports = graph.input.iter().chain(&graph.output).map(|port| port.name().to_owned());
    let kept: Vec<String> = ports.collect();
    let initializers = graph.initializer.iter().map(|t| t.name().to_owned());
    let computed = graph.node.iter().flat_map(|n| n.output.iter().cloned());
    let mut names: Vec<String> =
        initializers.chain(computed).filter(|name| !name.is_empty() && !kept.contains(name)).collect();
    // Numbered in another order than before: some engines sort by name.
    names.shuffle(&mut rng);
    let mut fresh = (0..).map(|i| format!("t_{i}")).filter(|name| !kept.contains(name));
    let names: BTreeMap<String, String> = names.into_iter().zip(fresh.by_ref()).collect();
    let rename = |name: &mut String| {
        if let Some(new) = names.get(name) {
            name.clone_from(new);
        }
    };
    for (i, node) in graph.node.iter_mut().enumerate() {
        node.name = Some(format!("op_{i}"));
        node.input.iter_mut().chain(&mut node.output).for_each(rename);
    }
    graph.initializer.iter_mut().filter_map(|t| t.name.as_mut()).for_each(rename);
    graph.value_info.iter_mut().filter_map(|v| v.name.as_mut()).for_each(rename);
    (!names.is_empty()).then_some(())
}

/// Initializers become Constant nodes, with the tensor as `value`, or its numbers as one of the short attributes.
pub(super) fn constant_node(model: &mut ModelProto, stream: Stream) -> Option<()> {
    let mut rng = stream.rng();
    let graph = model.graph.as_mut()?;
    let is_output = |graph: &GraphProto, name: &str| graph.output.iter().any(|port| port.name() == name);
    let (moved, kept): (Vec<TensorProto>, Vec<TensorProto>) = std::mem::take(&mut graph.initializer)
        .into_iter()
        .partition(|tensor| !is_output(graph, tensor.name()) && rng.random_bool(0.7));
    graph.initializer = kept;
    let nodes: Vec<NodeProto> = moved.into_iter().map(|tensor| constant(tensor, &mut rng)).collect();
    let has_moved = !nodes.is_empty();
    graph.node.splice(0..0, nodes);
    has_moved.then_some(())
}

fn constant(mut tensor: TensorProto, rng: &mut impl Rng) -> NodeProto {
    let name = tensor.name.take().unwrap_or_default();
    let short = if rng.random_bool(0.5) { short(&tensor) } else { None };
    let attribute = short.unwrap_or_else(|| AttributeProto {
        name: Some("value".to_owned()),
        r#type: Some(AttributeType::Tensor as i32),
        t: Some(tensor),
        ..AttributeProto::default()
    });
    NodeProto {
        name: Some(format!("constant_{name}")),
        op_type: Some("Constant".to_owned()),
        output: vec![name],
        attribute: vec![attribute],
        ..NodeProto::default()
    }
}

/// The attribute for a scalar or a list of i64 or f32, which is all that there are short ones for.
fn short(proto: &TensorProto) -> Option<AttributeProto> {
    let tensor = onnx::tensor::from_proto(proto, External::Refuse).ok()?;
    let (dtype, rank) = (tensor.dtype(), tensor.shape().len());
    let base = AttributeProto::default();
    let (name, of, attribute) = match (dtype, rank) {
        (ir::DType::I64, 0) => {
            let i = tensor.to_i128s().first().map(|&v| v as i64);
            ("value_int", AttributeType::Int, AttributeProto { i, ..base })
        }
        (ir::DType::I64, 1) => {
            let ints = tensor.to_i128s().into_iter().map(|v| v as i64).collect();
            ("value_ints", AttributeType::Ints, AttributeProto { ints, ..base })
        }
        (ir::DType::F32, 0) => {
            let f = tensor.to_f64s().first().map(|&v| v as f32);
            ("value_float", AttributeType::Float, AttributeProto { f, ..base })
        }
        (ir::DType::F32, 1) => {
            let floats = tensor.to_f64s().into_iter().map(|v| v as f32).collect();
            ("value_floats", AttributeType::Floats, AttributeProto { floats, ..base })
        }
        _ => return None,
    };
    Some(AttributeProto { name: Some(name.to_owned()), r#type: Some(of as i32), ..attribute })
}

/// The graph in an older opset: sizes and axes that are inputs become attributes, and the other way round.
pub(super) fn opset(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut older: Vec<u32> = (*ir::graph::OPSETS.start()..subject.model.opset).collect();
    older.shuffle(&mut stream.rng());
    let mut forms = older.into_iter().map(|opset| {
        let mut changed = subject.clone();
        changed.model.opset = opset;
        changed
    });
    // Export refuses what an opset does not have.
    forms.find(|form| onnx::export::export(&form.model).is_ok())
}
