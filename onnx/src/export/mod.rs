//! [`ops::Model`] → `ModelProto`.
//!
//! The same model gives the same bytes, and [`mod@crate::import`] gives the model back. Every value inside a graph is
//! declared with its type. An output that is an input, a constant or another output under one more name stands behind
//! an Identity node, marked by its name (see [`crate::names`]): elsewhere in ONNX a value has only one name.

mod body;
pub(crate) mod operator;

use ir::{DType, DatumKind, Type};
use ops::Model;
use prost::Message;

use crate::names::{FUNCTION_DOMAIN, PRODUCER};
use crate::proto::tensor_shape_proto::{Dimension, dimension};
use crate::proto::{
    FunctionProto, GraphProto, ModelProto, OperatorSetIdProto, TensorShapeProto, TypeProto, ValueInfoProto,
    type_proto,
};
use crate::{Error, tensor};

/// The first IR version that has functions.
const FUNCTIONS_SINCE: i64 = 8;

/// The ONNX form of a model.
///
/// Fails where the model is not valid, uses what its opset does not have, or has names that ONNX cannot express: an
/// empty one, or an input and an output that share one but are different values.
pub fn export(model: &Model) -> Result<ModelProto, Error> {
    model.validate().map_err(|e| Error::invalid("model", e.to_string()))?;
    let functions = (0..model.functions.len()).map(|i| function(model, i)).collect::<Result<Vec<_>, _>>()?;
    let mut ir_version = ir_version(model.opset);
    if !functions.is_empty() {
        ir_version = ir_version.max(FUNCTIONS_SINCE);
    }
    Ok(ModelProto {
        ir_version: Some(ir_version),
        opset_import: opsets(model.opset, !functions.is_empty()),
        producer_name: Some(PRODUCER.to_owned()),
        producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        graph: Some(graph(model)?),
        functions,
        ..Default::default()
    })
}

/// The bytes of a model file.
pub fn encode(model: &ModelProto) -> Vec<u8> {
    model.encode_to_vec()
}

/// The IR version of the ONNX release that brought the opset.
const fn ir_version(opset: u32) -> i64 {
    match opset {
        ..=14 => 7,
        15..=18 => 8,
        19..=20 => 9,
        21..=22 => 10,
        23 => 11,
        24 => 12,
        25..=27 => 13,
        28.. => 14,
    }
}

fn opsets(opset: u32, functions: bool) -> Vec<OperatorSetIdProto> {
    let entry = |domain: &str, version| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    let own = functions.then(|| entry(FUNCTION_DOMAIN, 1));
    std::iter::once(entry("", i64::from(opset))).chain(own).collect()
}

fn graph(model: &Model) -> Result<GraphProto, Error> {
    let body = body::write(model, &model.graph, body::Home::Graph)?;
    let output = |o: &ir::Output| value_info(&o.name, model.graph.ty(o.value));
    Ok(GraphProto {
        name: Some("graph".to_owned()),
        node: body.nodes,
        initializer: body.initializers,
        input: model.graph.variables().map(|(_, name, ty)| value_info(name, ty)).collect(),
        output: model.graph.outputs.iter().map(output).collect(),
        value_info: body.value_info,
        ..Default::default()
    })
}

fn function(model: &Model, index: usize) -> Result<FunctionProto, Error> {
    let function = &model.functions[index];
    let inside = |e: Error| e.inside(format!("function `{}`", function.name));
    if function.name.is_empty() {
        return Err(inside(Error::invalid("name", "it is empty")));
    }
    let body = body::write(model, &function.body, body::Home::Function).map_err(inside)?;
    let calls = function.body.nodes.iter().any(|n| matches!(n.kind, ir::NodeKind::Call(_)));
    Ok(FunctionProto {
        name: Some(function.name.clone()),
        domain: Some(FUNCTION_DOMAIN.to_owned()),
        input: function.body.variables().map(|(_, name, _)| name.to_owned()).collect(),
        output: function.body.outputs.iter().map(|o| o.name.clone()).collect(),
        node: body.nodes,
        opset_import: opsets(model.opset, calls),
        // ONNX functions are not typed; this lets import read one that nothing calls.
        value_info: function.body.variables().map(|(_, name, ty)| value_info(name, ty)).collect(),
        ..Default::default()
    })
}

/// A name with a type.
pub fn value_info(name: &str, ty: &Type) -> ValueInfoProto {
    let dim = |&d: &i64| Dimension { value: Some(dimension::Value::DimValue(d)), ..Default::default() };
    let tensor = type_proto::Tensor {
        elem_type: Some(tensor::code_of(ty.dtype)),
        shape: Some(TensorShapeProto { dim: ty.shape.iter().map(dim).collect() }),
    };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { value, ..Default::default() }),
        ..Default::default()
    }
}

/// The type of a value, without the shapes of its tensors.
pub fn open_type(kind: DatumKind, dtype: DType) -> TypeProto {
    use type_proto::Value::{OptionalType, SequenceType, TensorType};
    let ty = |value| TypeProto { value: Some(value), ..Default::default() };
    let elem_type = Some(tensor::code_of(dtype));
    let tensor = || ty(TensorType(type_proto::Tensor { elem_type, shape: None }));
    let sequence =
        || ty(SequenceType(Box::new(type_proto::Sequence { elem_type: Some(Box::new(tensor())) })));
    let optional = |of| ty(OptionalType(Box::new(type_proto::Optional { elem_type: Some(Box::new(of)) })));
    match kind {
        DatumKind::Tensor => tensor(),
        DatumKind::Strings => {
            ty(TensorType(type_proto::Tensor { elem_type: Some(tensor::strings::STRING), shape: None }))
        }
        DatumKind::Sequence => sequence(),
        DatumKind::Optional => optional(tensor()),
        DatumKind::OptionalSequence => optional(sequence()),
    }
}
