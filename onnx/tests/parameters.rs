//! What a call of a function means: what it hands to parameters or leaves out, and which function is called.

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

/// "In case of any conflicts the behavior […] is defined by the runtimes" (onnx.proto).
#[test]
fn a_function_with_the_name_of_an_operator_is_not_called() {
    let read = |opset: u32, domain: &str, name: &str| {
        let head = format!(r#"<ir_version: 10, opset_import: ["" : {opset}, "own" : 1, "ai.onnx.ml" : 3]>"#);
        let call = if domain.is_empty() { name.to_owned() } else { format!("{domain}.{name}") };
        let function = format!(
            "<domain: \"{domain}\", opset_import: [\"\" : {opset}]>\n{name} (a) => (b) {{ b = Abs(a) }}"
        );
        let text = format!("{head}\nm (float[1, 2] x) => (y) {{ y = {call}(x) }}\n{function}\n");
        specialise(&Program::from_text(&text).expect("a text"), &Options::default())
    };
    for (domain, name) in [("", "Neg"), ("ai.onnx", "Neg"), ("ai.onnx.ml", "Binarizer"), ("", "Gelu")] {
        match read(21, domain, name) {
            Err(error @ Error::Unsupported { .. }) => {
                assert!(error.to_string().contains("runtimes define"), "{error}");
            }
            other => panic!("{domain}.{name} is ambiguous, but: {other:?}"),
        }
    }
    // Gelu came with opset 20.
    for (opset, domain, name) in [(21, "own", "Neg"), (21, "", "Mine"), (18, "", "Gelu")] {
        read(opset, domain, name).unwrap_or_else(|e| panic!("{domain}.{name}: {e}"));
    }
}
