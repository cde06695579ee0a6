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

/// The positions of an axis in f32, by the formulas of others: steps from the first on, and a linear space between
/// corners made smaller.
fn positions_of_others(size: u16, corners: i64) -> Vec<Vec<f32>> {
    let n = f32::from(size);
    let steps =
        |step: f32, before: f32| (0..size).map(|i| f32::from(i) * step - before).collect::<Vec<f32>>();
    if corners != 0 {
        return vec![steps(2.0 / (n - 1.0), 1.0)];
    }
    let smaller = steps(2.0 / (n - 1.0), 1.0).into_iter().map(|x| x * (n - 1.0) / n).collect();
    vec![steps(2.0 / n, 1.0 - 2.0 / n / 2.0), smaller]
}

#[test]
fn who_computes_positions_by_another_formula_is_right() {
    let theta = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 2, 3]), |i| [7.0, 0.0, 0.0, 0.0, 7.0, 0.0][i]);
    for (size, corners) in (2..40).flat_map(|size| [(size, 0), (size, 1)]) {
        // Of two rows the second is at the edge as well.
        let model =
            read("float[1, 2, 3] t", &grid(&format!("1, 7, 2, {size}"), corners)).expect("it is read").model;
        let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
        let expected = interp::evaluate(&model, std::slice::from_ref(&theta), profile, taps).expect("values");
        let expected = &expected.outputs[0];
        assert!(expected.error.iter().all(|&error| error < 1e-4), "{size}, {corners}: {:?}", expected.error);
        for positions in positions_of_others(size, corners) {
            for (i, &position) in positions.iter().enumerate() {
                let (right, error) = (expected.tensor.to_f64s()[2 * i], expected.error_at(2 * i));
                let off = (f64::from(7.0 * position) - right).abs();
                assert!(
                    off <= error,
                    "{i} of {size}, corners {corners}: {position} is off by {off}, and {error} is allowed"
                );
            }
        }
    }
}
