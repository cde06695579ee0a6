//! Grids of positions, written out, are where the text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, node: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 20]>\nm ({inputs}) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(theta: [f64; 6], node: &str) -> (Vec<usize>, Vec<f64>) {
    let model = read("float[1, 2, 3] t", node).unwrap_or_else(|e| panic!("{e}")).model;
    let theta = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 2, 3]), |i| theta[i]);
    let y = interp::evaluate_plain(&model, &[theta]).expect("values").remove(0);
    (y.shape().to_vec(), y.to_f64s())
}

fn why(inputs: &str, node: &str) -> String {
    read(inputs, node).expect_err("it is not read").to_string()
}

fn grid(sizes: &str, corners: i64) -> String {
    format!("s = Constant<value_ints = [{sizes}]>() y = AffineGrid<align_corners = {corners}>(t, s)")
}

#[test]
fn a_position_has_the_last_axis_first() {
    let same = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    // One row of two elements: at the edges of halves, or in the corners.
    assert_eq!(values(same, &grid("1, 7, 1, 2", 0)), (vec![1, 1, 2, 2], vec![-0.5, 0.0, 0.5, 0.0]));
    let corners = [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
    assert_eq!(values(same, &grid("1, 7, 2, 2", 1)).1, corners);
    // The first number is doubled and moved, the second is the first.
    let moved = [2.0, 0.0, 10.0, 1.0, 0.0, 0.0];
    assert_eq!(values(moved, &grid("1, 7, 1, 2", 0)).1, [9.0, -0.5, 11.0, 0.5]);
}

#[test]
fn what_is_no_grid_is_refused() {
    let refused = |node: &str| why("float[1, 2, 3] t", node);
    assert!(refused(&grid("1, 7, 1, 2", 1)).contains("does not say"));
    assert!(refused(&grid("1, 7, 2, 2, 2", 0)).contains("a matrix for each of 1"));
    assert!(refused(&grid("2, 7, 2, 2", 0)).contains("a matrix for each of 2"));
    assert!(refused(&grid("1, 7, 2", 0)).contains("operand 0"));
    assert!(refused(&grid("1", 0)).contains("sizes of an image"));
    assert!(refused(&grid("1, 7, 100000, 100000", 0)).contains("unsupported"));
}
