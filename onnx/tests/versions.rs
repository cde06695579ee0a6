//! Functions that import another version of the default domain than the model.

use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(model: u32, function: u32, body: &str) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : {model}, \"local\" : 1]>\n\
         m (float[2, 3] x) => (y) {{ a = local.f(x) y = Neg(a) }}\n\
         <opset_import: [\"\" : {function}], domain: \"local\">\n\
         f (x) => (y) {{ {body} }}\n"
    );
    specialise(&Program::from_text(&text)?, &Options::default())
}

#[test]
fn another_version_is_as_good_where_its_operators_are_the_same() {
    for (model, function) in [(21, 20), (18, 20), (21, 21)] {
        let read = read(model, function, "y = Sin(x)").expect("Sin is that of opset 7");
        assert_eq!((read.opset, read.model.opset), (model, model));
    }
}

#[test]
fn an_operator_that_is_another_one_there_is_named() {
    for (model, function, body) in [
        (21, 11, "y = ReduceSum<axes = [1], keepdims = 0>(x)"),
        (13, 20, "y = Gelu(x)"),
        (
            21,
            11,
            "s = Constant<value = bool {1}>() y = If(s) <then_branch = t () => (a) { a = Softmax(x) }, \
                  else_branch = e () => (b) { b = Identity(x) }>",
        ),
    ] {
        let why = read(model, function, body).expect_err("it is not valid").to_string();
        assert!(why.contains("function `f`") && why.contains("is another one there"), "{why}");
    }
}
