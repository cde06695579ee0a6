//! Programs with one output, read from their text.

use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// What a program with these inputs, and nodes that give `y`, computes.
pub(crate) fn read_in(opset: u32, inputs: &str, nodes: &str) -> Result<Imported, Error> {
    let text =
        format!("<ir_version: 10, opset_import: [\"\" : {opset}]>\nm ({inputs}) => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}
