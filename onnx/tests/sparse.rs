//! Sparse initializers and constants are read as the dense tensors that they mean, and written as they were.

use onnxsmith_onnx as onnx;

use onnx::import::{Imported, Options};
use onnx::program::Program;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, ModelProto, SparseTensorProto};
use onnx::{Error, import};

fn sparse(name: &str, dims: &[i64], indices: &str, values: &str) -> SparseTensorProto {
    let held = |name: &str, text: &str| Some(onnx::tensor::to_proto(name, &text.parse().expect("a tensor")));
    SparseTensorProto { values: held(name, values), indices: held("", indices), dims: dims.to_vec() }
}

/// x + w, where `w` is this.
fn model(w: SparseTensorProto) -> ModelProto {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]>
        m (float[2, 2] x, float[2, 2] w) => (y) { z = Add(x, w) y = Neg(z) }\n";
    let mut model = Program::from_text(text).expect("a text").write();
    let graph = model.graph.as_mut().expect("a graph");
    graph.input.truncate(1);
    graph.sparse_initializer.push(w);
    model
}

fn values(imported: &Imported) -> Vec<f64> {
    let x = "f32[2, 2] {1.0, 2.0, 3.0, 4.0}".parse().expect("a tensor");
    interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0).to_f64s()
}

#[test]
fn it_is_read_as_what_it_means_and_written_as_it_was() {
    for indices in ["i64[1] {2}", "i64[1, 2] {1, 0}"] {
        let model = model(sparse("w", &[2, 2], indices, "f32[1] {10.0}"));
        assert_eq!(values(&import(&model, &Options::default()).expect("a model")), [-1.0, -2.0, -13.0, -4.0]);
        assert_eq!(Program::read(model.clone()).expect("a program").write(), model);
    }
}

#[test]
fn one_that_is_changed_is_written_as_a_dense_one() {
    let mut program =
        Program::read(model(sparse("w", &[2, 2], "i64[1] {2}", "f32[1] {10.0}"))).expect("a program");
    let ones = "f32[2, 2] {1.0, 1.0, 1.0, 1.0}".parse().expect("a tensor");
    program.main.body.initializers[0].tensor = onnx::tensor::to_proto("", &ones);
    let graph = program.write().graph.expect("a graph");
    assert!(graph.sparse_initializer.is_empty());
    assert_eq!(graph.initializer, [onnx::tensor::to_proto("w", &ones)]);
}

#[test]
fn what_is_wrong_with_it_is_said_by_its_name() {
    let why = |w| match Program::read(model(w)) {
        Err(error @ Error::Invalid { .. }) => error.to_string(),
        other => panic!("expected an invalid model, but got {other:?}"),
    };
    let text = why(sparse("w", &[2, 2], "i64[1] {4}", "f32[1] {10.0}"));
    assert!(text.contains("sparse_initializer `w`") && text.contains("out of range"), "{text}");
    let text = why(sparse("x", &[2, 2], "i64[1] {0}", "f32[1] {10.0}"));
    assert!(text.contains("`w`"), "{text}");
    assert!(why(SparseTensorProto::default()).contains("sparse_initializer"));
}

/// A file of a few bytes must not take more memory than there is.
#[test]
fn what_many_of_them_mean_is_limited() {
    let mut model = model(sparse("w", &[2, 2], "i64[1] {2}", "f32[1] {10.0}"));
    let graph = model.graph.as_mut().expect("a graph");
    for i in 0..8 {
        graph.sparse_initializer.push(sparse(&format!("w{i}"), &[1 << 24], "i64[1] {2}", "f64[1] {10.0}"));
    }
    let error = Program::read(model).expect_err("they are 1 GiB");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn a_constant_may_be_sparse() {
    let mut model = model(sparse("v", &[2, 2], "i64[1] {3}", "f32[1] {1.0}"));
    let graph = model.graph.as_mut().expect("a graph");
    let held = graph.sparse_initializer.pop();
    let attribute = AttributeProto {
        name: Some("sparse_value".to_owned()),
        r#type: Some(AttributeType::SparseTensor as i32),
        sparse_tensor: held,
        ..Default::default()
    };
    let constant = onnx::proto::NodeProto {
        op_type: Some("Constant".to_owned()),
        output: vec!["w".to_owned()],
        attribute: vec![attribute],
        ..Default::default()
    };
    graph.node.insert(0, constant);
    assert_eq!(values(&import(&model, &Options::default()).expect("a model")), [-1.0, -2.0, -3.0, -5.0]);
}
