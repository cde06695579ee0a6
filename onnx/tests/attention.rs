//! Attention, written out, is what its text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

mod reading;

use reading::read_in;

/// Two queries of one head, two keys and values of size 1.
const INPUTS: &str = "float[1, 1, 2, 1] q, float[1, 1, 2, 1] k, float[1, 1, 2, 1] v";

fn read(node: &str) -> Result<Imported, Error> {
    read_in(25, INPUTS, node)
}

/// What a node gives for keys that are all 0, so that a query attends all of its keys alike.
fn values(node: &str) -> Vec<f64> {
    let imported = read(node).unwrap_or_else(|e| panic!("{e}"));
    let ty = Type::new(DType::F32, [1, 1, 2, 1]);
    let (q, k) = (Tensor::from_f64_fn(&ty, |_| 3.0), Tensor::zeros(&ty));
    let v = Tensor::from_f64_fn(&ty, |i| [2.0, 6.0][i]);
    interp::evaluate_plain(&imported.model, &[q, k, v]).expect("values").remove(0).to_f64s()
}

fn why(node: &str) -> String {
    read(node).expect_err("it is not read").to_string()
}

#[test]
fn keys_that_are_alike_are_attended_alike() {
    assert_eq!(values("y = Attention(q, k, v)"), [4.0, 4.0]);
    // Each product is q · k · scale; the values are keys here, and the scale 1 of size 1.
    let raw =
        |mode| format!("a, b, c, y = Attention<qk_matmul_output_mode = {mode}, softcap = 2.0>(q, v, v)");
    assert_eq!(values(&raw(0)), [6.0, 18.0, 6.0, 18.0]);
    let capped = values(&raw(1));
    assert!((capped[0] - 2.0 * 3.0_f64.tanh()).abs() < 1e-6 && (capped[1] - 2.0).abs() < 1e-6, "{capped:?}");
    let scaled = values("a, b, c, y = Attention<scale = 0.25>(q, v, v)");
    assert_eq!(scaled, [1.5, 4.5, 1.5, 4.5]);
}

#[test]
fn a_causal_query_sees_no_later_key() {
    assert_eq!(values("y = Attention<is_causal = 1>(q, k, v)"), [2.0, 4.0]);
    // With a key before, each query sees one more.
    let past =
        "p = Constant<value = float[1, 1, 1, 1] {0.0}>() w = Constant<value = float[1, 1, 1, 1] {1.0}>()";
    assert_eq!(values(&format!("{past} y = Attention<is_causal = 1>(q, k, v, , p, w)")), [1.5, 3.0]);
    assert_eq!(values(&format!("{past} a, b, y = Attention(q, k, v, , p, w)")), [1.0, 2.0, 6.0]);
}

/// By the text -∞ is added to the score of a key that is masked, and NaN stays; who leaves the key out has a number.
#[test]
fn a_masked_key_of_nan_is_open() {
    let model = read("y = Attention<is_causal = 1>(q, k, v)").expect("it is read").model;
    let ty = Type::new(DType::F32, [1, 1, 2, 1]);
    let of = |numbers: [f64; 2]| Tensor::from_f64_fn(&ty, |i| numbers[i]);
    let error = |keys: [f64; 2]| {
        let operands = [of([3.0; 2]), of(keys), of([2.0, 6.0])];
        let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
        interp::evaluate(&model, &operands, profile, taps).expect("values").outputs.remove(0).error
    };
    assert_eq!(error([0.0, f64::NAN])[0], f64::INFINITY);
    let finite = error([0.0, 1.0]);
    assert!(finite.iter().all(|&error| error < 1e-3), "{finite:?}");
}

#[test]
fn of_filled_keys_the_last_belong_to_the_queries() {
    let node = |count: i64, rest: &str| {
        format!("n = Constant<value = int64[1] {{{count}}}>() y = Attention{rest}(q, k, v, , , , n)")
    };
    assert_eq!(values(&node(1, "")), [2.0, 2.0]);
    // One key for two queries: the first is before it, and sees none.
    assert_eq!(values(&node(1, "<is_causal = 1>")), [0.0, 2.0]);
    assert_eq!(values(&node(2, "<is_causal = 1>")), [2.0, 4.0]);
}

#[test]
fn windows_have_two_sides() {
    assert_eq!(values("y = Attention<left_window_size = 0>(q, k, v)"), [4.0, 6.0]);
    assert_eq!(values("y = Attention<right_window_size = 0>(q, k, v)"), [2.0, 4.0]);
    assert_eq!(values("y = Attention<right_window_size = 9223372036854775807>(q, k, v)"), [4.0, 4.0]);
    assert!(why("y = Attention<left_window_size = -2>(q, k, v)").contains("left_window_size"));
}

#[test]
fn a_mask_is_of_truth_values_or_added() {
    let masked =
        |mask: &str, rest: &str| format!("m = Constant<value = {mask}>() y = Attention{rest}(q, k, v, m)");
    assert_eq!(values(&masked("bool[2, 2] {1, 0, 0, 1}", "")), [2.0, 6.0]);
    // No key is left for the second.
    assert_eq!(values(&masked("bool[2, 2] {0, 1, 0, 0}", "")), [6.0, 0.0]);
    assert_eq!(values(&masked("float[2] {7.0, 7.0}", "<is_causal = 1>")), [2.0, 4.0]);
    // One for all.
    assert_eq!(values(&masked("float {7.0}", "<is_causal = 1>")), [2.0, 4.0]);
    assert_eq!(values(&masked("bool {0}", "")), [0.0, 0.0]);
    let biased = values(&masked("float[1, 2] {0.0, 1.0}", ""))[0];
    let e = std::f64::consts::E;
    assert!((biased - (2.0 + 6.0 * e) / (1.0 + e)).abs() < 1e-5, "{biased}");
    assert!(why(&masked("bool[3, 1, 2, 2] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}", "")).contains("operand 3"));
    assert!(why(&masked("double[2] {0.0, 0.0}", "")).contains("operand 3"));
    assert!(why(&masked("int8[2] {0, 0}", "")).contains("operand 3"));
    assert!(why(&masked("bool[2, 1] {1, 1}", "")).contains("ONNX does not say"));
}

#[test]
fn heads_stand_beside_each_other_and_share_keys() {
    // Two heads of queries share the one of keys; what comes out has both beside each other.
    let inputs = "float[1, 1, 2] q, float[1, 2, 1] k, float[1, 2, 1] v";
    let node = "y = Attention<q_num_heads = 2, kv_num_heads = 1>(q, k, v)";
    let model = read_in(23, inputs, node).unwrap_or_else(|e| panic!("{e}")).model;
    let tensor = |shape: [i64; 3], x: [f64; 2]| Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| x[i]);
    let operands =
        [tensor([1, 1, 2], [0.0, 1.0]), tensor([1, 2, 1], [0.0, 1.0]), tensor([1, 2, 1], [2.0, 6.0])];
    let y = interp::evaluate_plain(&model, &operands).expect("values").remove(0);
    assert_eq!((y.shape(), y.to_f64s()[0]), (&[1, 1, 2][..], 4.0));
    let e = std::f64::consts::E;
    assert!((y.to_f64s()[1] - (2.0 + 6.0 * e) / (1.0 + e)).abs() < 1e-5, "{y:?}");
    let why = |node: &str| read_in(23, inputs, node).expect_err("it is not read").to_string();
    assert!(why("y = Attention(q, k, v)").contains("no count of heads"));
    assert!(why("y = Attention<q_num_heads = 0, kv_num_heads = 1>(q, k, v)").contains("0 heads"));
    assert!(
        why("y = Attention<q_num_heads = 1, kv_num_heads = 1>(q, k, v)").contains("do not belong together")
    );
    let windowed = "y = Attention<q_num_heads = 2, kv_num_heads = 1, left_window_size = 1>(q, k, v)";
    assert!(why(windowed).contains("left_window_size"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    assert!(why("y = Attention(q, k)").contains("operand 2"));
    assert!(why("y = Attention(q, k, v, , k)").contains("must be there together"));
    assert!(
        why("n = Constant<value = int64[1] {1}>() y = Attention(q, k, v, , k, v, n)").contains("past keys")
    );
    assert!(
        why("n = Constant<value = int64[2] {1, 1}>() y = Attention(q, k, v, , , , n)").contains("operand 6")
    );
    assert!(why("y = Attention<qk_matmul_output_mode = 4>(q, k, v)").contains("no mode 4"));
    assert!(why("y = Attention<softmax_precision = 7>(q, k, v)").contains("none of 1"));
    assert!(why("y = Attention<scale = -1.0>(q, k, v)").contains("square root"));
    assert!(why("w = Cast<to = 11>(v) y = Attention(q, k, w)").contains("no such product"));
    assert!(why("y = Attention<q_num_heads = 3>(q, k, v)").contains("3 heads"));
}

#[test]
fn scores_and_shares_are_changed_by_graphs() {
    let read = |node: &str| {
        let head = "<ir_version: 12, opset_import: [\"\" : 26, \"ai.onnx.preview\" : 1]>";
        let text =
            format!("{head}\nm ({INPUTS}) => (y) {{ y = ai.onnx.preview.FlexAttention{node}(q, k, v) }}\n");
        specialise(&Program::from_text(&text)?, &Options::default())
    };
    let values = |node: &str| {
        let model = read(node).unwrap_or_else(|e: Error| panic!("{e}")).model;
        let tensor = |x: [f64; 2]| Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 2, 1]), |i| x[i]);
        let operands = [tensor([3.0, 3.0]), tensor([0.0, 0.0]), tensor([2.0, 6.0])];
        interp::evaluate_plain(&model, &operands).expect("values").remove(0).to_f64s()
    };
    assert_eq!(values(""), [4.0, 4.0]);
    // Shares that are doubled, and a graph that sees no key but the second.
    let graph = |name: &str, nodes: &str| {
        format!("{name} = g (float[1, 1, 2, 2] s) => (float[1, 1, 2, 2] t) {{ {nodes} }}")
    };
    let doubled = graph("prob_mod", "t = Add(s, s)");
    assert_eq!(values(&format!("<{doubled}>")), [8.0, 8.0]);
    let second = graph("score_mod", "m = Constant<value = float[2] {-1e30, 0.0}>() t = Add(s, m)");
    assert_eq!(values(&format!("<{second}>")), [6.0, 6.0]);
    assert_eq!(values(&format!("<{second}, {doubled}>")), [12.0, 12.0]);
    let why = |node: &str| read(node).expect_err("it is not read").to_string();
    let other = "<score_mod = g (float[1, 1, 2, 2] s) => (t) { t = Transpose<perm = [0, 2, 1, 3]>(s) }>";
    assert!(why(other).contains("`score_mod`"));
    assert!(why("<scale = -1.0>").contains("square root"));
}
