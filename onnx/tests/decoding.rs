//! What language models decode with, written out, is what its text says.

use interp::{Profile, Taps, evaluate};
use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, node: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 28]>\nm ({inputs}) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(inputs: &str, node: &str, operands: &[(&[i64], &[f64])]) -> Vec<f64> {
    let model = read(inputs, node).unwrap_or_else(|e| panic!("{e}")).model;
    let tensor =
        |(shape, x): &(&[i64], &[f64])| Tensor::from_f64_fn(&Type::new(DType::F32, *shape), |i| x[i]);
    let operands: Vec<Tensor> = operands.iter().map(tensor).collect();
    interp::evaluate_plain(&model, &operands).expect("values").remove(0).to_f64s()
}

#[track_caller]
fn close(is: &[f64], wanted: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5;
    assert!(is.len() == wanted.len() && is.iter().zip(wanted).all(near), "{is:?} instead of {wanted:?}");
}

fn why(inputs: &str, node: &str) -> String {
    read(inputs, node).expect_err("it is not read").to_string()
}

#[test]
fn a_gate_opens_by_a_sigmoid() {
    let inputs = "float[2] a, float[2] b";
    let operands: [(&[i64], &[f64]); 2] = [(&[2], &[0.0, 2.0]), (&[2], &[5.0, 3.0])];
    let gate = |alpha: f64| 6.0 / (1.0 + (-2.0 * alpha).exp());
    close(&values(inputs, "y = SwiGLU(a, b)", &operands), &[0.0, gate(1.0)]);
    close(&values(inputs, "y = SwiGLU<alpha = 0.5>(a, b)", &operands), &[0.0, gate(0.5)]);
    assert!(why("float[2] a, float[1] b", "y = SwiGLU(a, b)").contains("like the first"));
}

const CONV: &str = "float[1, 2, 3] x, float[2, 1, 2] w";

#[test]
fn a_causal_kernel_sees_what_was_before() {
    let operands: [(&[i64], &[f64]); 2] =
        [(&[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), (&[2, 1, 2], &[10.0, 1.0, 1.0, 0.0])];
    let node = "y, after = CausalConvWithState(x, w)";
    assert_eq!(values(CONV, node, &operands), [1.0, 12.0, 23.0, 0.0, 4.0, 5.0]);
    assert_eq!(values(CONV, "z, y = CausalConvWithState(x, w)", &operands), [3.0, 6.0]);
    let past =
        "b = Constant<value = float[2] {100.0, 0.0}>() p = Constant<value = float[1, 2, 1] {7.0, 8.0}>()";
    let node = format!("{past} y, after = CausalConvWithState(x, w, b, p)");
    assert_eq!(values(CONV, &node, &operands), [171.0, 112.0, 123.0, 8.0, 4.0, 5.0]);
    let none = CONV.replace("[1, 2, 3]", "[1, 2, 0]");
    let operands_without: [(&[i64], &[f64]); 2] = [(&[1, 2, 0], &[]), operands[1]];
    assert_eq!(values(&none, &node, &operands_without), []);
    assert_eq!(values(&none, "z, y = CausalConvWithState(x, w)", &operands_without), [0.0, 0.0]);
    let kept = node.replace("y, after", "z, y");
    assert_eq!(values(&none, &kept, &operands_without), [7.0, 8.0]);
    let swish = values(CONV, "y, after = CausalConvWithState<activation = \"silu\">(x, w)", &operands);
    assert!((swish[0] - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-5, "{swish:?}");
}

#[test]
fn a_kernel_belongs_to_a_channel() {
    assert!(
        why(CONV, "y, s = CausalConvWithState<activation = \"relu\">(x, w)").contains("no activation relu")
    );
    assert!(why(CONV, "y, s = CausalConvWithState(x, x)").contains("a kernel for each of 2 channels"));
    assert!(why(CONV, "y, s = CausalConvWithState(x, w, , x)").contains("operand 3"));
    assert!(why(CONV, "y, s = CausalConvWithState(x, w, x)").contains("invalid"));
}

/// One place, one head of four numbers, turned by a quarter and not at all.
const ROTARY: &str = "float[1, 1, 1, 4] x, float[1, 1, 2] cos, float[1, 1, 2] sin";

#[test]
fn pairs_are_turned() {
    let operands: [(&[i64], &[f64]); 3] =
        [(&[1, 1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), (&[1, 1, 2], &[0.0, 1.0]), (&[1, 1, 2], &[1.0, 0.0])];
    assert_eq!(values(ROTARY, "y = RotaryEmbedding(x, cos, sin)", &operands), [-3.0, 2.0, 1.0, 4.0]);
    let node = "y = RotaryEmbedding<interleaved = 1>(x, cos, sin)";
    assert_eq!(values(ROTARY, node, &operands), [-2.0, 1.0, 3.0, 4.0]);
    // Of one pair the rest stays, and the places are looked up.
    let node = "c = Constant<value = float[3, 1] {9.0, 9.0, 0.0}>() s = Constant<value = float[3, 1] {9.0, 9.0, 1.0}>() \
                at = Constant<value = int64[1, 1] {2}>() y = RotaryEmbedding<rotary_embedding_dim = 2>(x, c, s, at)";
    assert_eq!(values(ROTARY, node, &operands), [-2.0, 1.0, 3.0, 4.0]);
}

/// The text has no place but those that the tables have.
#[test]
fn a_place_before_the_first_has_no_angle() {
    let operands: [(&[i64], &[f64]); 3] =
        [(&[1, 1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), (&[1, 1, 2], &[0.0, 1.0]), (&[1, 1, 2], &[1.0, 0.0])];
    let turned = |at: i64| {
        let table = "c = Constant<value = float[3, 2] {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}>()";
        let node =
            format!("{table} at = Constant<value = int64[1, 1] {{{at}}}>() y = RotaryEmbedding(x, c, c, at)");
        values(ROTARY, &node, &operands)
    };
    assert_eq!(turned(2), [0.0; 4]);
    assert!([3, -1].iter().all(|&at| turned(at).iter().all(|y| y.is_nan())));
}

#[test]
fn heads_may_stand_beside_each_other() {
    let inputs = "float[1, 1, 4] x, float[1, 1, 1] cos, float[1, 1, 1] sin";
    let operands: [(&[i64], &[f64]); 3] =
        [(&[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), (&[1, 1, 1], &[0.0]), (&[1, 1, 1], &[1.0])];
    let node = "y = RotaryEmbedding<num_heads = 2>(x, cos, sin)";
    assert_eq!(values(inputs, node, &operands), [-2.0, 1.0, -4.0, 3.0]);
    assert!(why(inputs, "y = RotaryEmbedding(x, cos, sin)").contains("no count of heads"));
    assert!(why(inputs, "y = RotaryEmbedding<num_heads = 1>(x, cos, sin)").contains("[1, 1, 2]"));
    assert!(why(inputs, "y = RotaryEmbedding<num_heads = 4>(x, cos, sin)").contains("not in pairs"));
    let far = "y = RotaryEmbedding<num_heads = 2, rotary_embedding_dim = 4>(x, cos, sin)";
    assert!(why(inputs, far).contains("4 of 2 numbers"));
    let looked =
        "at = Constant<value = int64[1, 1] {0}>() y = RotaryEmbedding<num_heads = 2>(x, cos, sin, at)";
    assert!(why(inputs, looked).contains("tables with two axes"));
}

/// Two steps of one head with keys and values of size 1.
const LINEAR: &str =
    "float[1, 2, 1] q, float[1, 2, 1] k, float[1, 2, 1] v, float[1, 2, 1] g, float[1, 2, 1] b";

fn linear(outputs: &str, rule: &str, operands: &str) -> Vec<f64> {
    let shape: &[i64] = &[1, 2, 1];
    let tensors: [(&[i64], &[f64]); 5] = [
        (shape, &[1.0, 2.0]),
        (shape, &[1.0, 3.0]),
        (shape, &[5.0, 7.0]),
        (shape, &[0.0, -1.0]),
        (shape, &[1.0, 0.5]),
    ];
    let heads = "q_num_heads = 1, kv_num_heads = 1";
    let node = format!("{outputs} = LinearAttention<{heads}, update_rule = \"{rule}\">({operands})");
    values(LINEAR, &node, &tensors)
}

#[test]
fn a_state_is_written_to_and_read_from() {
    // The state is 5, and then 5 + 3 · 7.
    close(&linear("y, s", "linear", "q, k, v"), &[5.0, 52.0]);
    close(&linear("o, y", "linear", "q, k, v"), &[26.0]);
    // It fades to 5 / e before the second step.
    let faded = 5.0 / std::f64::consts::E;
    close(&linear("o, y", "gated", "q, k, v, , g"), &[faded + 21.0]);
    // What the key reads, 15, is no longer written: 5 + 0.5 · 3 · (7 - 15).
    close(&linear("o, y", "delta", "q, k, v, , , b"), &[-7.0]);
    close(&linear("o, y", "gated_delta", "q, k, v, , g, b"), &[faded + 1.5 * (7.0 - 3.0 * faded)]);
}

#[test]
fn queries_share_a_state_that_goes_on() {
    let inputs = "float[1, 1, 2] q, float[1, 1, 1] k, float[1, 1, 1] v, float[1, 1, 1, 1] s";
    let operands: [(&[i64], &[f64]); 4] =
        [(&[1, 1, 2], &[1.0, 10.0]), (&[1, 1, 1], &[2.0]), (&[1, 1, 1], &[3.0]), (&[1, 1, 1, 1], &[4.0])];
    let node = |rest: &str| format!("y, t = LinearAttention<{rest}>(q, k, v, s)");
    let shared = "q_num_heads = 2, kv_num_heads = 1, update_rule = \"linear\", scale = 0.5";
    close(&values(inputs, &node(shared), &operands), &[5.0, 50.0]);
    assert!(why(inputs, &node("q_num_heads = 2, kv_num_heads = 1")).contains("the rule needs it"));
    assert!(why(inputs, &node("q_num_heads = 1, kv_num_heads = 2")).contains("do not share"));
    assert!(why(inputs, &node("q_num_heads = 2")).contains("kv_num_heads"));
    assert!(
        why(inputs, &node("q_num_heads = 1, kv_num_heads = 1, update_rule = \"linear\"")).contains("belong")
    );
    assert!(
        why(inputs, &node("q_num_heads = 2, kv_num_heads = 1, update_rule = \"odd\"")).contains("no odd")
    );
    let useless =
        "y, t = LinearAttention<q_num_heads = 2, kv_num_heads = 1, update_rule = \"linear\">(q, k, v, s, k)";
    assert!(why(inputs, useless).contains("no use for it"));
}

/// "May be implemented using chunk-parallel algorithms": by sums of decays, which are larger than each and are rounded.
#[test]
fn decays_may_be_differences_of_their_sums() {
    let inputs = "float[1, 3, 1] q, float[1, 3, 1] k, float[1, 3, 1] v, float[1, 3, 1] g";
    let node = "y, s = LinearAttention<q_num_heads = 1, kv_num_heads = 1, scale = 1.0, update_rule = \"gated\">(q, k, v, , g)";
    let model = read(inputs, node).expect("it is read").model;
    let reals = |numbers: [f64; 3]| Tensor::from_f64_fn(&Type::new(DType::F32, [1, 3, 1]), |i| numbers[i]);
    let decays = [-0.3f32, -100.0, -0.7];
    let y = |decays: [f32; 3]| {
        let operands = [[1.0; 3], [1.0; 3], [1.0, 1.0, 0.0], decays.map(f64::from)].map(reals);
        let evaluated = evaluate(&model, &operands, &Profile::DECLARED, Taps::Outputs).expect("values");
        (evaluated.outputs[0].tensor.to_f64s()[2], evaluated.outputs[0].error_at(2))
    };
    let (value, error) = y(decays);
    let sums = [decays[0] + decays[1], decays[0] + decays[1] + decays[2]];
    let by_sums = f64::from(sums[1] - sums[0]).exp();
    assert!((by_sums - value).abs() > 1e-6 && (by_sums - value).abs() <= error && error < 1e-4, "{error:e}");
    // No such algorithm is right behind a decay of −∞.
    let (value, error) = y([-0.3, f32::NEG_INFINITY, -0.7]);
    assert!(error < 1e-5 && (value - (-0.7f64).exp()).abs() < 1e-6, "{value} ± {error:e}");
}
