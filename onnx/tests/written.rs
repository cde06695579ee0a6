//! What is written out says what it cannot be written out for: no size that a model states is believed before it is looked at.

use onnxsmith_onnx::Error;

mod reading;

use reading::read_in;

/// Sizes beyond what there is memory for, of tensors without elements, and what the refusal says.
const TOO_LARGE: [(u32, &str, &str, &str); 7] = [
    (
        21,
        "float[2147483647, 0, 1] x, float[1, 2, 1] w, float[1, 2, 2] r",
        "y = RNN<hidden_size = 2>(x, w, r)",
        "2147483647 steps",
    ),
    (
        21,
        "float[1, 2147483647, 0] x, float[1, 2, 0] w, float[1, 2, 2] r",
        "y = RNN<hidden_size = 2>(x, w, r)",
        "a constant of more than",
    ),
    (
        28,
        "float[0, 2147483647, 2] x",
        "y, state = LinearAttention<q_num_heads = 1, kv_num_heads = 1, update_rule = \"linear\">(x, x, x)",
        "2147483647 steps",
    ),
    (
        22,
        "float[1, 0, 1, 1] x, float[0, 0, 1, 1] w",
        "o = Constant<value = float[1, 2, 1, 1] {0.0, 0.0}>() y = DeformConv<group = 1099511627776>(x, w, o)",
        "1099511627776 groups",
    ),
    (21, "float[2147483647, 0] x", "s = SplitToSequence(x) y = SequenceLength(s)", "2147483647 tensors"),
    (
        21,
        "float[0] x",
        "n = Constant<value = int64[1] {1000000}>() z = ConstantOfShape<value = int64[1] {0}>(n) \
         s = SplitToSequence(x, z) y = SequenceLength(s)",
        "1000000 tensors",
    ),
    (
        21,
        "float[0, 2147483647] x",
        "y = Scan<num_scan_inputs = 1, body = b (float[n] a) => (float[n] c) { c = Neg(a) }>(x)",
        "a constant of more than",
    ),
];

#[test]
fn nothing_is_made_of_a_size_that_is_too_large() {
    for (opset, inputs, nodes, why) in TOO_LARGE {
        match read_in(opset, inputs, nodes) {
            Err(error @ Error::Unsupported { .. }) => {
                assert!(error.to_string().contains(why), "{nodes}: {error}");
            }
            other => panic!("{nodes}: expected `{why}`, but got {other:?}"),
        }
    }
}
