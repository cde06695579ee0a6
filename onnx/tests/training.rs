//! Steps of optimisers, written out, give what their pseudo code says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

const DOMAIN: &str = "ai.onnx.preview.training";

fn read(inputs: &str, outputs: &str, node: &str) -> Result<Imported, Error> {
    let head = format!("<ir_version: 8, opset_import: [\"\" : 18, \"{DOMAIN}\" : 1]>");
    let text = format!("{head}\nm (float r, int64 t, {inputs}) => ({outputs}) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What a node makes of one number each, by a rate of 0.5 after so many updates.
fn values(names: &str, results: &str, node: &str, updates: i128, numbers: &[f64]) -> Vec<f64> {
    let inputs: Vec<String> = names.split(", ").map(|name| format!("float[1] {name}")).collect();
    let node = format!("{results} = {DOMAIN}.{node}(r, t, {names})");
    let model = read(&inputs.join(", "), results, &node).unwrap_or_else(|e| panic!("{e}")).model;
    let mut operands = vec![
        Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| 0.5),
        Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| updates),
    ];
    operands.extend(numbers.iter().map(|&x| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| x)));
    let results = interp::evaluate_plain(&model, &operands).expect("values");
    results.iter().map(|y| y.to_f64s()[0]).collect()
}

fn is_near(found: &[f64], wanted: &[f64]) {
    let is_near = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(is_near, "{found:?} instead of {wanted:?}");
}

#[test]
fn adagrad_moves_by_the_gradient_over_the_root_of_all_squares() {
    // 1 - 0.5 · 3 / √(16 + 9)
    let plain = values("x, g, h", "y, k", "Adagrad<epsilon = 0.0>", 1, &[1.0, 3.0, 16.0]);
    is_near(&plain, &[0.7, 25.0]);
    // The rate is halved, and the gradient 2 · 1 + 1.
    let node = "Adagrad<epsilon = 0.0, decay_factor = 0.5, norm_coefficient = 2.0>";
    is_near(&values("x, g, h", "y, k", node, 2, &[1.0, 1.0, 16.0]), &[0.85, 25.0]);
}

#[test]
fn adam_corrects_its_rate_after_the_first_update() {
    let node = "Adam<alpha = 0.5, beta = 0.75, epsilon = 0.0>";
    // v = 1.5, h = 0.25 · 9; 1 - 0.5 · 1.5 / 1.5
    is_near(&values("x, g, v, h", "y, w, k", node, 0, &[1.0, 3.0, 0.0, 0.0]), &[0.5, 1.5, 2.25]);
    // By √(1 - 0.75) / (1 - 0.5) = 1 as much.
    is_near(&values("x, g, v, h", "y, w, k", node, 1, &[1.0, 3.0, 0.0, 0.0]), &[0.5, 1.5, 2.25]);
    // By √(1 - 0.5625) / (1 - 0.25).
    let rate = 0.5 * 0.4375_f64.sqrt() / 0.75;
    is_near(&values("x, g, v, h", "y, w, k", node, 2, &[1.0, 3.0, 0.0, 0.0]), &[1.0 - rate, 1.5, 2.25]);
    let after = "Adam<alpha = 0.5, beta = 0.75, epsilon = 0.0, norm_coefficient_post = 0.5>";
    is_near(&values("x, g, v, h", "y, w, k", after, 0, &[1.0, 3.0, 0.0, 0.0])[..1], &[0.25]);
}

#[test]
fn momentum_keeps_a_direction() {
    let node =
        |mode: &str| format!("Momentum<alpha = 0.5, beta = 0.25, norm_coefficient = 0.0, mode = \"{mode}\">");
    // The first update adds the whole gradient: v = 0.5 · 4 + 2.
    is_near(&values("x, g, v", "y, w", &node("standard"), 0, &[1.0, 2.0, 4.0]), &[-1.0, 4.0]);
    // v = 0.5 · 4 + 0.25 · 2
    is_near(&values("x, g, v", "y, w", &node("standard"), 1, &[1.0, 2.0, 4.0]), &[-0.25, 2.5]);
    // 1 - 0.5 · (2 + 0.5 · 2.5)
    is_near(&values("x, g, v", "y, w", &node("nesterov"), 1, &[1.0, 2.0, 4.0]), &[-0.625, 2.5]);
}

#[test]
fn tensors_are_updated_each_for_itself() {
    let found = values(
        "x, z, g, f, h, k",
        "y, u, v, w",
        "Adagrad<epsilon = 0.0>",
        0,
        &[1.0, 2.0, 3.0, 4.0, 16.0, 9.0],
    );
    is_near(&found, &[0.7, 1.6, 25.0, 25.0]);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let why = |inputs: &str, outputs: &str, node: &str| {
        read(inputs, outputs, node).expect_err("it is not read").to_string()
    };
    let three = "float[1] x, float[1] g, float[1] h";
    let call = |node: &str| format!("y, k = {DOMAIN}.{node}");
    assert!(why(three, "y", &call("Adagrad(r, t, x, g)")).contains("belong together"));
    assert!(why(three, "y", &call("Adagrad(r, t)")).contains("`inputs` is missing"));
    assert!(why(three, "y", &call("Adagrad(r, r, x, g, h)")).contains("operand 1"));
    assert!(
        why("float[1] x, float[2] g, float[1] h", "y", &call("Adagrad(r, t, x, g, h)")).contains("operand 3")
    );
    // T1 is the type of the rate, T3 that of the tensors.
    let double = three.replace("float", "double");
    let error = read(&double, "y", &call("Adagrad(r, t, x, g, h)")).expect_err("of two types");
    assert!(
        matches!(error, Error::Unsupported { .. }) && error.to_string().contains("the rate is f32"),
        "{error}"
    );
    assert!(
        why(&three.replace("float", "float16"), "y", &call("Adagrad(r, t, x, g, h)")).contains("invalid")
    );
    let mode = "Momentum<alpha = 0.5, beta = 0.25, norm_coefficient = 0.0, mode = \"none\">(r, t, x, g, h)";
    assert!(why(three, "y", &call(mode)).contains("`none`"));
    assert!(why(three, "y", &call("Momentum(r, t, x, g, h)")).contains("`alpha`"));
    assert!(why(three, "y", &call("Gradient(r, t, x, g, h)")).contains("does not have it"));
}
