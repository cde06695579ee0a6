//! What an opset does not have, or means differently, is not written.

use ir::{Attributes, DType, NodeKind, Operation, Type};
use onnx::export;
use onnxsmith_onnx as onnx;
use ops::{Graph, Model, Op};

/// Writes a model of one operator on x, f32 of this shape.
fn written(opset: u32, name: &str, attributes: &Attributes, shape: &[i64]) -> Result<(), String> {
    let op = Op::parse(name, attributes).unwrap().unwrap();
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, shape));
    let types = ir::Operation::infer(&op, &[Some(graph.ty(x))]).unwrap();
    let node = graph.push(NodeKind::Operator(op), vec![Some(x)], types);
    graph.output("y", ir::Value::new(node, 0));
    export(&Model::new(opset, graph)).map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn a_mode_that_came_later() {
    let pad = |mode| Attributes::new().name("mode", mode).ints("pads", &[1, 1]);
    assert_eq!(written(13, "Pad", &pad("reflect"), &[3]), Ok(()));
    assert_eq!(written(19, "Pad", &pad("wrap"), &[3]), Ok(()));
    let error = written(18, "Pad", &pad("wrap"), &[3]).unwrap_err();
    assert!(error.contains("mode = \"wrap\"") && error.contains("came with opset 19"), "{error}");
}

#[test]
fn positions_that_older_opsets_count() {
    let pool = |pads: &[i64]| {
        let pool = Attributes::new().ints("kernel_shape", &[2]).ints("strides", &[3]);
        pool.ints("pads", pads).int("ceil_mode", 1)
    };
    for name in ["MaxPool", "AveragePool"] {
        // The second position starts at 2, behind the only element: counted by opset 21, not by 22.
        assert!(written(21, name, &pool(&[1, 1]), &[1, 1, 1]).unwrap_err().contains("came with opset 22"));
        assert_eq!(written(22, name, &pool(&[1, 1]), &[1, 1, 1]), Ok(()));
        // Here it starts at the last element and hangs over: both count it.
        assert_eq!(written(21, name, &pool(&[0, 0]), &[1, 1, 4]), Ok(()));
    }
}
