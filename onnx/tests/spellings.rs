//! The many ways in which other tools spell what this program has one form for.

use ir::{DType, NodeKind, Tensor, Type};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::tensor_shape_proto::{Dimension, dimension};
use onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto,
    ValueInfoProto, type_proto,
};
use onnx::{Imported, import};
use onnxsmith_onnx as onnx;

fn node(op_type: &str, input: &[&str], output: &[&str], attribute: &[AttributeProto]) -> NodeProto {
    let strings = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
    NodeProto {
        op_type: Some(op_type.into()),
        input: strings(input),
        output: strings(output),
        attribute: attribute.to_vec(),
        ..Default::default()
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto { name: Some(name.into()), r#type: Some(kind as i32), ..Default::default() }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name, AttributeType::Int) }
}

fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { ints: values.to_vec(), ..attribute(name, AttributeType::Ints) }
}

/// A graph on `x`, f32 of this shape; outputs are declared without types.
fn read(opset: i64, shape: &[i64], nodes: Vec<NodeProto>, outputs: &[&str]) -> Imported {
    import(&model(opset, shape, nodes, outputs), &onnx::import::Options::default()).unwrap()
}

fn model(opset: i64, shape: &[i64], nodes: Vec<NodeProto>, outputs: &[&str]) -> ModelProto {
    let dim = |&d: &i64| Dimension { value: Some(dimension::Value::DimValue(d)), ..Default::default() };
    let tensor = type_proto::Tensor {
        elem_type: Some(onnx::tensor::code_of(DType::F32)),
        shape: Some(TensorShapeProto { dim: shape.iter().map(dim).collect() }),
    };
    let value = Some(type_proto::Value::TensorType(tensor));
    let named = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
    let x = ValueInfoProto { r#type: Some(TypeProto { value, ..Default::default() }), ..named("x") };
    let graph = GraphProto {
        node: nodes,
        input: vec![x],
        output: outputs.iter().map(|o| named(o)).collect(),
        ..Default::default()
    };
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(opset) }],
        graph: Some(graph),
        ..Default::default()
    }
}

fn output_shapes(imported: &Imported) -> Vec<Vec<i64>> {
    let graph = &imported.model.graph;
    graph.outputs.iter().map(|o| graph.ty(o.value).shape.clone()).collect()
}

#[test]
fn split_in_equal_parts() {
    let old = read(13, &[6], vec![node("Split", &["x"], &["a", "b", "c"], &[])], &["a", "c"]);
    assert_eq!(output_shapes(&old), [[2], [2]]);
    let split = node("Split", &["x"], &["a", "b", "c"], &[int("num_outputs", 3)]);
    let new = read(18, &[7], vec![split], &["a", "b", "c"]);
    assert_eq!(output_shapes(&new), [[3], [3], [1]]);
}

#[test]
fn constants_of_every_kind() {
    let float = AttributeProto { f: Some(2.5), ..attribute("value_float", AttributeType::Float) };
    let floats =
        AttributeProto { floats: vec![1.0, 2.0], ..attribute("value_floats", AttributeType::Floats) };
    let nodes = vec![
        node("Constant", &[], &["a"], &[int("value_int", 7)]),
        node("Constant", &[], &["b"], &[ints("value_ints", &[1, -2])]),
        node("Constant", &[], &["c"], &[float]),
        node("Constant", &[], &["d"], &[floats]),
    ];
    let imported = read(21, &[1], nodes, &["a", "b", "c", "d"]);
    let graph = &imported.model.graph;
    let constants = graph.nodes.iter().filter_map(|n| match &n.kind {
        NodeKind::Constant(tensor) => Some((tensor.ty(), tensor.to_f64s())),
        _ => None,
    });
    let expected = [
        (Type::new(DType::I64, []), vec![7.0]),
        (Type::new(DType::I64, [2]), vec![1.0, -2.0]),
        (Type::new(DType::F32, []), vec![2.5]),
        (Type::new(DType::F32, [2]), vec![1.0, 2.0]),
    ];
    assert_eq!(constants.collect::<Vec<_>>(), expected);
}

/// A shape that the model computes from the operand's: how exporters write `x.reshape(x.shape[0], -1)`.
#[test]
fn computed_shapes_are_followed() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"], &[]),
        node("Constant", &[], &["zero"], &[ints("value_ints", &[0])]),
        node("Constant", &[], &["minus one"], &[ints("value_ints", &[-1])]),
        node("Gather", &["shape", "zero"], &["first"], &[int("axis", 0)]),
        node("Concat", &["first", "minus one"], &["to"], &[int("axis", 0)]),
        node("Reshape", &["x", "to"], &["y"], &[]),
    ];
    let imported = read(21, &[2, 3, 4], nodes, &["y"]);
    assert_eq!(output_shapes(&imported), [[2, 12]]);
    assert!(imported.specialised.is_empty());
}

#[test]
fn outputs_may_go_unnamed() {
    let split = node("Split", &["x"], &["", "b"], &[int("num_outputs", 2)]);
    assert_eq!(output_shapes(&read(18, &[4], vec![split], &["b"])), [[2]]);
}

/// Before IR version 4 every initializer had to be an input as well.
#[test]
fn an_input_with_a_default_value_is_a_constant() {
    let mut model = ModelProto {
        ir_version: Some(3),
        opset_import: vec![OperatorSetIdProto { domain: Some("ai.onnx".into()), version: Some(13) }],
        ..Default::default()
    };
    let tensor = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 1.0);
    let named = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
    model.graph = Some(GraphProto {
        node: vec![node("Neg", &["w"], &["y"], &[])],
        input: vec![named("w")],
        output: vec![named("y")],
        initializer: vec![onnx::tensor::to_proto("w", &tensor)],
        ..Default::default()
    });
    let graph = import(&model, &onnx::import::Options::default()).unwrap().model.graph;
    assert_eq!(graph.variables().count(), 0);
    assert!(matches!(graph.nodes[0].kind, NodeKind::Constant(_)));
}

/// Definitions from before the first known opset are good while unchanged.
#[test]
fn neighbouring_opsets() {
    for (declared, used) in [(28, 28), (13, 13), (9, 13)] {
        let imported = read(declared, &[2, 2], vec![node("Sinh", &["x"], &["y"], &[])], &["y"]);
        assert_eq!((imported.opset, imported.model.opset), (declared as u32, used));
    }
}

/// What an operator came to mean later is not read in an opset before.
#[test]
fn a_use_is_read_from_the_opset_on_that_has_it() {
    let read = |opset| {
        let node = node("Mod", &["x", "x"], &["y"], &[]);
        import(&model(opset, &[2, 2], vec![node], &["y"]), &onnx::import::Options::default())
    };
    let refused = read(27).unwrap_err().to_string();
    assert!(refused.contains("such a use came with opset 28, but the model has 27"), "{refused}");
    assert_eq!(read(28).unwrap().model.opset, 28);
}
