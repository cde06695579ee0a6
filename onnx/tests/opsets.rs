//! What an opset does not have, or means differently, is neither written nor read.

use ir::{Attributes, DType, NodeKind, Operation, Tensor, Type};
use onnx::export;
use onnx::import::{Options, specialise};
use onnx::program::Program;
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

/// Reads a model of one operator.
fn read(opset: u32, inputs: &str, node: &str) -> Result<Model, String> {
    let ir_version = if opset > 26 { 14 } else { 10 };
    let head = format!("<ir_version: {ir_version}, opset_import: [\"\" : {opset}]>");
    let program = Program::from_text(&format!("{head}\nm ({inputs}) => (y) {{ {node} }}\n"));
    let read = program.and_then(|program| specialise(&program, &Options::default()));
    read.map(|imported| imported.model).map_err(|e| e.to_string())
}

#[test]
fn dtypes_that_came_later() {
    let signed = "y = BitShift<direction = \"RIGHT\">(x, n)";
    assert!(read(28, "int8[1] x, int8[1] n", signed).is_ok());
    let error = read(27, "int8[1] x, int8[1] n", signed).unwrap_err();
    assert!(error.contains("i8") && error.contains("27"), "{error}");
    assert!(read(27, "uint8[1] x, uint8[1] n", signed).is_ok());
    let four = "y = QuantizeLinear<output_dtype = 22>(x, s)";
    assert!(read(21, "float[1] x, float s", four).is_ok());
    assert!(read(20, "float[1] x, float s", four).is_err());
}

#[test]
fn a_remainder_of_floats_has_the_sign_of_the_divisor_in_a_late_opset() {
    let inputs = "float[1] x, float[1] n";
    let model = read(28, inputs, "y = Mod(x, n)").unwrap();
    let number = |x: f64| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| x);
    let of = |x, n| interp::evaluate_plain(&model, &[number(x), number(n)]).unwrap()[0].to_f64s()[0];
    assert_eq!([of(-3.5, 2.0), of(3.5, -2.0), of(3.5, 2.0)], [0.5, -0.5, 1.5]);
    assert!(read(27, inputs, "y = Mod(x, n)").unwrap_err().contains("came with opset 28"));
    assert!(read(27, inputs, "y = Mod<fmod = 1>(x, n)").is_ok());
}

#[test]
fn names_of_modes_that_changed() {
    let inputs = "float[1, 1, 2, 2] x, float[1, 1, 1, 2] at";
    let node = |mode: &str| format!("y = GridSample<mode = \"{mode}\">(x, at)");
    assert!(read(16, inputs, &node("bilinear")).is_ok() && read(20, inputs, &node("linear")).is_ok());
    assert!(read(16, inputs, &node("linear")).unwrap_err().contains("`bilinear`"));
    assert!(read(20, inputs, &node("bilinear")).unwrap_err().contains("`bilinear`"));
    assert!(read(16, inputs, "y = GridSample(x, at)").is_ok() && read(16, inputs, &node("nearest")).is_ok());
    let deep = "float[1, 1, 2, 2, 2] x, float[1, 1, 1, 1, 3] at";
    assert!(read(16, deep, &node("bilinear")).unwrap_err().contains("came with opset 20"));
    assert!(read(20, deep, &node("linear")).is_ok());
}
