//! What a call hands to the parameters of a function, or leaves out.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// A model that calls `f` of two parameters and an optional one, with these operands.
fn read(operands: &str, body: &str) -> Result<Imported, Error> {
    let head = r#"<ir_version: 10, opset_import: ["" : 21, "own" : 1]>"#;
    let function = format!("<domain: \"own\", opset_import: [\"\" : 21]>\nf (a, b, p) => (y) {{ {body} }}\n");
    let text = format!("{head}\nm (float[2] x) => (y) {{ y = own.f({operands}) }}\n{function}");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What such a call gives for 1 and 2.
fn values(operands: &str, body: &str) -> Vec<f64> {
    let model = read(operands, body).unwrap_or_else(|e| panic!("{body}: {e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64 + 1.0);
    interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s()
}

const TWICE: &str = "body = twice (i, c, v) => (d, w) { d = Identity(c) w = Add(v, v) }";

#[test]
fn a_parameter_that_is_left_out_leaves_an_optional_operand_out() {
    let of = |body: &str| values("x, x", body);
    let joined = "y = ConcatFromSequence<axis = 0>(t)";
    let inserted = format!("n = Neg(b) s = SequenceConstruct(a) t = SequenceInsert(s, n, p) {joined}");
    assert_eq!(of(&inserted), [1.0, 2.0, -1.0, -2.0], "at the end");
    let erased = format!("n = Neg(b) s = SequenceConstruct(a, n) t = SequenceErase(s, p) {joined}");
    assert_eq!(of(&erased), [1.0, 2.0], "the last one");
    let split = "s = SplitToSequence<keepdims = 0>(a, p) i = Constant<value_int = 1>() y = SequenceAt(s, i)";
    assert_eq!(of(split), [2.0], "one element each");
    let counted = format!("n = Constant<value_int = 2>() y = Loop<{TWICE}>(n, p, a)");
    assert_eq!(of(&counted), [4.0, 8.0], "without a condition");
    assert_eq!(of("o = Optional<type = float[2]>(p) h = OptionalHasElement(o) y = Cast<to = 1>(h)"), [0.0]);
}

#[test]
fn a_parameter_that_is_there_is_an_operand_as_any_other() {
    let body = "n = Neg(b) s = SequenceConstruct(a) z = Constant<value_int = 0>() \
                t = SequenceInsert(s, n, z) y = ConcatFromSequence<axis = 0>(t)";
    assert_eq!(values("x, x", body), [-1.0, -2.0, 1.0, 2.0]);
    let error = read("x, x", "s = SequenceConstruct(a, p) y = SequenceLength(s)").expect_err("none is there");
    assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("operand 1"), "{error}");
}
