//! What is written out is what its text says: whatever contradicts that is invalid, so that no runtime that refuses it
//! is blamed, and no size that a model states is believed before it is looked at.

use onnxsmith_onnx::Error;

mod reading;

use reading::read_in;

/// Sizes beyond what there is memory for, of tensors without elements, and what the refusal says.
const TOO_LARGE: [(u32, &str, &str, &str); 13] = [
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
        "float[0, 2147483647, 1] x",
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
    (
        21,
        "float[1] x",
        "y = RandomUniform<shape = [0, 4611686018427387904, 4611686018427387904]>()",
        "span more than 2147483647",
    ),
    (
        21,
        "float[0, 2147483647, 2147483647, 2147483647] x",
        "y = RandomUniformLike(x)",
        "input `x`: it is f32[0, 2147483647, 2147483647, 2147483647]",
    ),
    (
        21,
        "float[0, 3, 4] t",
        "s = Constant<value = int64[5] {0, 1, 0, 4611686018427387904, 4611686018427387904}>() y = AffineGrid(t, s)",
        "span more than 2147483647",
    ),
    (
        21,
        "float[1] x",
        "s = Constant<value = string[0, 4611686018427387904, 4611686018427387904] {}>() y = Equal(s, s)",
        "span more than 2147483647",
    ),
    (
        21,
        "float[2147483647, 2147483647, 2147483647] x",
        "n = Constant<value = int64 {0}>() y = Loop(n)<body = b (int64 i, bool k) => (bool l, c) { l = Identity(k) c = Identity(x) }>",
        "input `x`",
    ),
    // ONNX knows no limit of a size.
    (
        21,
        "float[1] x",
        "y = Constant<value = float[0, 1099511627776, 4] {}>()",
        "dimension 1099511627776 outside",
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

const RNN: &str = "float[3, 2, 1] x, float[1, 4, 1] w, float[1, 4, 4] r";
const LSTM: &str = "float[3, 2, 1] x, float[1, 4, 1] w, float[1, 4, 1] r";
const TWO: &str = "float[2] x, float[2] z";
/// A constant box, and a score.
const BOXES: &str = "float[2] z";

/// What each form must not be, its inputs and nodes, and what the refusal says. The nodes that give operands come first.
const INVALID: [(&str, &str, &str); 30] = [
    (
        TWO,
        "y, w = Split<axis = -9223372036854775808, num_outputs = 2>(x)",
        "axis -9223372036854775808 is outside of rank 1",
    ),
    (
        TWO,
        "y = LayerNormalization<axis = -9223372036854775808>(x, z)",
        "axis -9223372036854775808 is outside of rank 1",
    ),
    (RNN, "y = RNN<hidden_size = 3>(x, w, r)", "`hidden_size`"),
    (LSTM, "y = LSTM<hidden_size = 4>(x, w, r)", "`hidden_size`"),
    (RNN, "l = Constant<value = int32[1] {3}>() y = RNN<hidden_size = 4>(x, w, r, , l)", "operand 4"),
    (RNN, "l = Constant<value = int32[2, 1] {3, 3}>() y = RNN<hidden_size = 4>(x, w, r, , l)", "operand 4"),
    (RNN, "l = Constant<value = int64[2] {3, 3}>() y = RNN<hidden_size = 4>(x, w, r, , l)", "operand 4"),
    (
        "float[3, 2, 1] x, double[1, 4, 1] w, double[1, 4, 4] r",
        "y = RNN<hidden_size = 4>(x, w, r)",
        "operand 1",
    ),
    (
        TWO,
        "s = Constant<value = float[1] {2.0}>() n = Constant<value = int64[1] {4}>() y = Resize(x, , s, n)",
        "both sizes and scales",
    ),
    (TWO, "n = Constant<value = float[1] {4.0}>() y = Resize(x, , , n)", "operand 3"),
    (TWO, "n = Constant<value = int32[1] {4}>() y = Resize(x, , , n)", "operand 3"),
    (TWO, "n = Constant<value = int64[1] {4}>() y = Resize(x, , n)", "operand 2"),
    (TWO, "y = Resize(x)", "neither sizes nor scales"),
    (
        TWO,
        "n = Constant<value = float[2] {1.0, 1.0}>() s = SplitToSequence(x, n) y = SequenceLength(s)",
        "operand 1",
    ),
    (
        TWO,
        "n = Constant<value = int64[2, 1] {1, 1}>() s = SplitToSequence(x, n) y = SequenceLength(s)",
        "operand 1",
    ),
    (TWO, "s = SequenceConstruct(x, z) y = ConcatFromSequence<axis = 0, new_axis = 2>(s)", "`new_axis`"),
    (TWO, "s = SequenceConstruct(x, z) y = ConcatFromSequence<axis = 0, new_axis = -1>(s)", "`new_axis`"),
    (
        TWO,
        "n = Constant<value = int32 {1}>() y = Loop(n, , x)<body = b (int64 i, bool k, float[2] p) => (bool l, float[2] q) \
         { l = Identity(k) q = Neg(p) }>",
        "must be one of i64",
    ),
    (
        TWO,
        "n = Constant<value = int64[2] {1, 1}>() y = Loop(n, , x)<body = b (int64 i, bool k, float[2] p) => \
         (bool l, float[2] q) { l = Identity(k) q = Neg(p) }>",
        "one element of i64",
    ),
    (
        BOXES,
        "x = Constant<value = float[1, 1, 4] {0.0, 0.0, 1.0, 1.0}>() s = Constant<value = float[1, 1, 1] {1.0}>() n = Constant<value = int64[2] {1, 1}>() y = NonMaxSuppression(x, s, n)",
        "operand 2",
    ),
    (
        BOXES,
        "x = Constant<value = float[1, 1, 4] {0.0, 0.0, 1.0, 1.0}>() s = Constant<value = float[1, 1, 1] {1.0}>() t = Constant<value = float {1.5}>() y = NonMaxSuppression(x, s, , t)",
        "operand 3",
    ),
    (
        BOXES,
        "x = Constant<value = float[1, 1, 4] {0.0, 0.0, 1.0, 1.0}>() s = Constant<value = float[1, 1, 1] {1.0}>() t = Constant<value = float {-0.5}>() y = NonMaxSuppression(x, s, , t)",
        "operand 3",
    ),
    (
        BOXES,
        "x = Constant<value = float[1, 1, 4] {0.0, 0.0, 1.0, 1.0}>() s = Constant<value = float[1, 1, 1] {1.0}>() l = Constant<value = float[2] {0.5, 0.5}>() y = NonMaxSuppression(x, s, , , l)",
        "operand 4",
    ),
    (
        TWO,
        "y = Scan<num_scan_inputs = 1, scan_input_axes = [1], body = b (float a) => (float c) { c = Neg(a) }>(x)",
        "attribute `scan_input_axes`",
    ),
    (
        TWO,
        "y = Scan<num_scan_inputs = 1, scan_input_axes = [0, 0], body = b (float a) => (float c) { c = Neg(a) }>(x)",
        "attribute `scan_input_axes` in node #0 (Scan): it has 2 elements instead of 1",
    ),
    (
        TWO,
        "n = Constant<value = int64 {4}>() y = HannWindow<output_datatype = 4294967297>(n)",
        "attribute `output_datatype` in node #1 (HannWindow): it is 4294967297, which is no element type",
    ),
    (
        TWO,
        "s = SequenceEmpty<dtype = 99>() y = SequenceLength(s)",
        "element type 99 in attribute `dtype` in node #0 (SequenceEmpty)",
    ),
    (TWO, "o = Optional<type = double[2]>(x) y = OptionalGetElement(o)", "`type`"),
    (TWO, "o = Optional<type = seq(float[2])>(x) y = OptionalGetElement(o)", "`type`"),
    (
        TWO,
        "c = Constant<value = bool {1}>() y = If(c)<then_branch = t () => (float[2] a) { a = Neg(x) }, \
         else_branch = e () => (double[2] b) { b = Cast<to = 11>(x) }>",
        "not taken",
    ),
];

/// What the text allows, beside it.
const VALID: [(&str, &str); 10] = [
    (RNN, "l = Constant<value = int32[2] {3, 3}>() y = RNN<hidden_size = 4>(x, w, r, , l)"),
    (RNN, "y = RNN(x, w, r)"),
    (TWO, "s = Constant<value = float[0] {}>() n = Constant<value = int64[1] {4}>() y = Resize(x, , s, n)"),
    (TWO, "n = Constant<value = int32[2] {1, 1}>() s = SplitToSequence(x, n) y = SequenceLength(s)"),
    (TWO, "s = SequenceConstruct(x, z) y = ConcatFromSequence<axis = 0, new_axis = 0>(s)"),
    (
        TWO,
        "n = Constant<value = int64[1] {1}>() y = Loop(n, , x)<body = b (int64 i, bool k, float[2] p) => \
         (bool l, float[2] q) { l = Identity(k) q = Neg(p) }>",
    ),
    (TWO, "o = Optional<type = float[2]>(x) y = OptionalGetElement(o)"),
    (
        TWO,
        "s = SequenceConstruct(x, z) o = Optional<type = seq(float[n])>(s) q = OptionalGetElement(o) y = SequenceLength(q)",
    ),
    (
        TWO,
        "c = Constant<value = bool {1}>() y = If(c)<then_branch = t () => (float[2] a) { a = Neg(x) }, \
         else_branch = e () => (float[4] b) { b = Concat<axis = 0>(x, z) }>",
    ),
    (
        TWO,
        "c = Constant<value = bool {1}>() y = If(c)<then_branch = t () => (a) { a = Neg(x) }, else_branch = e () => (b) { b = Neg(z) }>",
    ),
];

/// What ONNX's operators take in no opset, or in later ones alone.
const TOO_EARLY: [(u32, &str, &str, &str); 14] = [
    (7, "float[2] x", "y = Equal(x, x)", "it is f32, but must be one of bool, i32, i64 in opset 7"),
    (8, "int32[2] x", "y = Max(x, x)", "operand 0"),
    (11, "int32[2] x", "y = Clip(x)", "operand 0"),
    (8, "int8[1, 1, 4] x", "y = MaxPool<kernel_shape = [2]>(x)", "operand 0"),
    (7, "int32[2, 2] x", "y = MatMul(x, x)", "operand 0"),
    (10, "int64[2] x", "n = Constant<value = int64[1] {1}>() y, i = TopK(x, n)", "operand 0"),
    (13, "float[2] x", "s = SequenceConstruct(x) y = Identity(s)", "it is a sequence of f32"),
    (15, "float[2] x", "i = Cast<to = 16>(x) y = SequenceConstruct(i)", "it is bf16"),
    (13, "float[2] x", "n = Constant<value = int32[1] {1}>() y = Unsqueeze(x, n)", "it is i32"),
    (13, "float[1] x", "n = Constant<value = int32[1] {2}>() y = Expand(x, n)", "it is i32"),
    (13, "float[2] x", "n = Constant<value = int32[1] {2}>() y = Reshape(x, n)", "it is i32"),
    (13, "float[2] x", "n = Constant<value = int32[1] {2}>() y = Tile(x, n)", "it is i32"),
    (
        13,
        "float[2] x",
        "n = Constant<value = int64[1] {2}>() y = ConstantOfShape<value = bfloat16[1] {1}>(n)",
        "it is bf16",
    ),
    (
        17,
        "float[2] x",
        "n = Constant<value = int64 {4}>() y = HannWindow<output_datatype = 9>(n)",
        "output 0",
    ),
];

#[test]
fn types_are_those_of_the_opset_that_a_model_declares() {
    for (opset, inputs, nodes, why) in TOO_EARLY {
        match read_in(opset, inputs, nodes) {
            Err(error @ Error::Invalid { .. }) => {
                assert!(error.to_string().contains(why), "{nodes}: {error}");
            }
            Err(error) => panic!("{nodes}: {error}"),
            Ok(_) => panic!("{nodes} is read in opset {opset}"),
        }
    }
}

/// The first opset in which all of these have their present attributes and operands.
const OPSET: u32 = 19;

#[test]
fn what_contradicts_the_text_is_invalid() {
    for (inputs, nodes, why) in INVALID {
        match read_in(OPSET, inputs, nodes) {
            Err(error @ Error::Invalid { .. }) => {
                assert!(error.to_string().contains(why), "{nodes}: {error}");
            }
            other => panic!("{nodes}: expected `{why}`, but got {other:?}"),
        }
    }
    for (inputs, nodes) in VALID {
        read_in(OPSET, inputs, nodes).unwrap_or_else(|e| panic!("{nodes}: {e}"));
    }
}

/// "Behavior is undefined if an axis is repeated."
#[test]
fn an_axis_that_is_resized_twice_is_refused() {
    let nodes = "n = Constant<value = int64[2] {4, 4}>() y = Resize<axes = [0, -1]>(x, , , n)";
    let error = read_in(OPSET, TWO, nodes).expect_err("both are the same axis");
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("twice"), "{error}");
}
