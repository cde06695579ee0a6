//! What is read from values that nodes compute: the program says more than the model then.

use onnxsmith_onnx::import::{Options, specialise};
use onnxsmith_onnx::program::Program;

#[test]
fn a_shape_that_is_computed_from_constants_says_more_than_the_shape() {
    let says_more = |shape: &str| {
        let text = format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[6] x) => (float[2, 3] y) <int64[2] sizes = {{2, 3}}> {{
  {shape}
  y = Reshape(x, shape)
}}
"
        );
        let program = Program::from_text(&text).expect("a program");
        specialise(&program, &Options::default()).expect("a model").is_specialised
    };
    assert!(says_more("shape = Abs(sizes)"));
    assert!(!says_more("shape = Constant<value = int64[2] {2, 3}>()"));
}
