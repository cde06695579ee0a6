//! Unique, written out, gives what is there once or more.

use ir::Tensor;
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, node: &str) -> Result<Imported, Error> {
    let text =
        format!("<ir_version: 10, opset_import: [\"\" : 13]>\nm ({inputs}) => (y, i, v, c) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(x: &str, attributes: &str) -> Vec<Vec<f64>> {
    let node = format!("x = Constant<value = {x}>() y, i, v, c = Unique{attributes}(x)");
    let model = read("", &node).unwrap_or_else(|e| panic!("{e}")).model;
    let numbers = |y: &Tensor| -> Vec<f64> {
        if y.dtype().is_float() {
            return y.to_f64s();
        }
        y.to_i128s().into_iter().map(|z| z as f64).collect()
    };
    interp::evaluate_plain(&model, &[]).expect("values").iter().map(numbers).collect()
}

#[test]
fn elements_are_sorted_or_in_the_order_of_their_first() {
    let x = "float[5] {2.0, -1.0, 1.0, 2.0, -3.0}";
    let sorted: [&[f64]; 4] =
        [&[-3.0, -1.0, 1.0, 2.0], &[4.0, 1.0, 2.0, 0.0], &[3.0, 1.0, 2.0, 3.0, 0.0], &[1.0, 1.0, 1.0, 2.0]];
    assert_eq!(values(x, ""), sorted);
    let first: [&[f64]; 4] =
        [&[2.0, -1.0, 1.0, -3.0], &[0.0, 1.0, 2.0, 4.0], &[0.0, 1.0, 2.0, 0.0, 3.0], &[2.0, 1.0, 1.0, 1.0]];
    assert_eq!(values(x, "<sorted = 0>"), first);
}

#[test]
fn what_lies_along_an_axis_is_compared_as_a_whole() {
    let x = "int32[3, 2] {3, 0, 1, 5, 3, 0}";
    let rows: [&[f64]; 4] = [&[1.0, 5.0, 3.0, 0.0], &[1.0, 0.0], &[1.0, 0.0, 1.0], &[1.0, 2.0]];
    assert_eq!(values(x, "<axis = 0>"), rows);
    assert_eq!(values(x, "<axis = -1>")[0], [0.0, 3.0, 5.0, 1.0, 0.0, 3.0]);
    assert_eq!(values(x, "")[0], [0.0, 1.0, 3.0, 5.0]);
}

#[test]
fn what_is_not_known_or_no_axis_is_refused() {
    let why = |inputs: &str, node: &str| read(inputs, node).expect_err("it is not read").to_string();
    assert!(why("float[2] x", "y, i, v, c = Unique(x)").contains("must be known"));
    let axis = "x = Constant<value_floats = [1.0]>() y, i, v, c = Unique<axis = 1>(x)";
    assert!(why("", axis).contains("attribute `axis`"));
}
