//! Scan as of opset 8, for each of a batch along the second axis.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// Running sums and their last, of slices of two.
fn read(lengths: &str, rest: &str) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 8]>
m (float[2, 2] s, float[2, 3, 2] x) => (y, ys) {{
  {lengths}
  y, ys = Scan<num_scan_inputs = 1{rest}, body = step (float[2] state, float[2] slice) => (float[2] next, float[2] sum) {{
    sum = Add(state, slice)
    next = Identity(sum)
  }}>(l, s, x)
}}
"
    );
    let text = if lengths.is_empty() { text.replace("(l, s, x)", "(, s, x)") } else { text };
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(lengths: &str, rest: &str) -> Vec<Vec<f64>> {
    let model = read(lengths, rest).unwrap_or_else(|e| panic!("{e}")).model;
    let operand =
        |shape: &[i64], add: f64| Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| i as f64 + add);
    let operands = [operand(&[2, 2], 10.0), operand(&[2, 3, 2], 0.0)];
    interp::evaluate_plain(&model, &operands).expect("values").iter().map(Tensor::to_f64s).collect()
}

#[test]
fn each_of_a_batch_is_scanned_for_itself() {
    let sums = [10.0, 12.0, 12.0, 15.0, 16.0, 20.0, 18.0, 20.0, 26.0, 29.0, 36.0, 40.0];
    let last = [16.0, 20.0, 36.0, 40.0];
    assert_eq!(values("", ""), [last.to_vec(), sums.to_vec()]);
    let whole = "l = Constant<value = int64[2] {3, 3}>()";
    assert_eq!(values(whole, "")[1], sums);
}

/// What goes round too often is called by its name, or where it has none by its operator.
#[test]
fn a_loop_is_named_where_it_is_too_long() {
    let why = |name: &str| {
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (float[2] y) {{
  n = Constant<value_int = 1000000000>()
  {name} y = Loop<body = b (int64 i, bool c, float[2] a) => (bool c_, float[2] a_) {{ c_ = Identity(c) a_ = Neg(a) }}>(n, , x)
}}
"
        );
        specialise(&Program::from_text(&text).expect("a model"), &Options::default())
            .expect_err("it is long")
            .to_string()
    };
    assert!(why("").contains("Loop after "), "{}", why(""));
    assert!(why("[around]").contains("Loop `around` after "), "{}", why("[around]"));
}

/// The bodies add no node, so that no limit of nodes ends this.
#[test]
fn nested_loops_share_one_budget_of_iterations() {
    let nested = |times: usize| {
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (float[2] y) <int64 n = {{{times}}}> {{
  y = Loop<body = outer (int64 i, bool c, float[2] p) => (bool t, float[2] q) <bool t = {{1}}> {{
    q = Loop<body = inner (int64 j, bool d, float[2] r) => (bool u, float[2] r) <bool u = {{1}}> {{}}>(n, , p)
  }}>(n, , x)
}}
"
        );
        specialise(&Program::from_text(&text).expect("a model"), &Options::default())
    };
    assert!(nested(300).is_ok(), "90,300 iterations");
    let why = nested(1000).expect_err("a million iterations");
    assert!(matches!(why, Error::Unsupported { .. }), "{why:?}");
    assert!(why.to_string().contains("100000 iterations together"), "{why}");
}

/// A scan adds nodes for its slices, and 2,000 slices are within the limit of nodes. The loop inside it adds none.
#[test]
fn a_scan_takes_from_the_same_budget() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] s, float[2000] x) => (float[2] y) <int64 n = {60}> {
  y = Scan<num_scan_inputs = 1, body = step (float[2] p, float slice) => (float[2] q) {
    q = Loop<body = inner (int64 j, bool d, float[2] r) => (bool u, float[2] r) <bool u = {1}> {}>(n, , p)
  }>(s, x)
}
";
    let why = specialise(&Program::from_text(text).expect("a model"), &Options::default());
    let why = why.expect_err("122,000 iterations").to_string();
    assert!(why.contains("100000 iterations together"), "{why}");
}

#[test]
fn a_direction_begins_at_the_end() {
    let sums = [14.0, 16.0, 16.0, 19.0, 16.0, 20.0, 22.0, 24.0, 30.0, 33.0, 36.0, 40.0];
    assert_eq!(values("", ", directions = [1]")[1], sums);
}

#[test]
fn shorter_sequences_and_other_bodies_are_refused() {
    let why = |lengths: &str, rest: &str| read(lengths, rest).expect_err("it is not read").to_string();
    assert!(why("l = Constant<value = int64[2] {3, 2}>()", "").contains("shorter"));
    assert!(why("", ", directions = [1, 0]").contains("`directions`"));
    for lengths in ["int64[1] {3}", "int64[2, 1] {3, 3}", "int32[2] {3, 3}"] {
        let error = read(&format!("l = Constant<value = {lengths}>()"), "").expect_err("they are no lengths");
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("operand 0"), "{error}");
    }
}

/// A Scan of current opsets over a value `t`, whose state is added to `x`.
fn added(state: &str, slices: usize) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[{state}] s, float[1, 6] x, float[{slices}] t) => (y, ys) {{
  y, ys = Scan<num_scan_inputs = 1, body = b (float[p, q] around, float e) => (next, e_) {{
    next = Add(x, around)
    e_ = Identity(e)
  }}>(s, t)
}}
"
    );
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// ONNX: "All the output tensors (state as well as scan_output) are required to have the same shape in each iteration".
#[test]
fn the_state_of_a_scan_keeps_its_shape() {
    for slices in [0, 1, 3] {
        added("1, 6", slices).unwrap_or_else(|e| panic!("{slices} slices: {e}"));
        let error = added("1, 1", slices).expect_err("the state changes its shape");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        let why = error.to_string();
        assert!(why.contains("a tensor f32[1, 1] and becomes a tensor f32[1, 6]"), "{why}");
    }
}

/// A Loop asks for no more than the element type.
#[test]
fn what_goes_around_a_loop_may_change_its_shape() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[1, 1] s, float[1, 6] x) => (y) {
  n = Constant<value_int = 2>()
  y = Loop<body = b (int64 i, bool c, float[p, q] around) => (c_, next) { c_ = Identity(c) next = Add(x, around) }>(n, , s)
}
";
    let read = specialise(&Program::from_text(text).expect("a model"), &Options::default());
    read.unwrap_or_else(|e| panic!("{e}"));
}
