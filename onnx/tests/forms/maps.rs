//! `SequenceMap`: its sequences go side by side.

use onnx::Error;
use onnx::program::Program;
use onnx::proto::ModelProto;
use onnxsmith_onnx as onnx;

use super::{floats, run, specialise, whole};

/// The differences of the elements of a sequence of two and of those that another one has.
fn differences(other: &str) -> ModelProto {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[1] x, float[1] z, int64 n) => (y) {{
  s = SequenceConstruct(x, z)
  three = SequenceConstruct(x, z, x)
  two = SequenceErase(three, n)
  one = SequenceConstruct(x)
  u = SequenceMap(s, {other})<body = b (float[1] p, float[1] q) => (float[1] r) {{ r = Sub(p, q) }}>
  y = ConcatFromSequence<axis = 0>(u)
}}
"
    );
    Program::from_text(&text).expect("a text").write()
}

#[test]
fn what_a_map_gives_was_read_from_what_any_of_its_sequences_was() {
    let inputs = [("x", floats(&[5.0])), ("z", floats(&[7.0])), ("n", whole(0))];
    assert_eq!(run(&differences("two"), &inputs), [[-2.0, 2.0]]);
    let graph = specialise(&differences("two"), &inputs).unwrap().model.graph;
    let n = graph.variables().find(|(_, name, _)| *name == "n").unwrap().0;
    let given: Vec<_> =
        graph.node(graph.outputs[0].value.node).given.iter().map(|value| value.node).collect();
    assert_eq!(given, [n]);
}

#[test]
fn the_sequences_of_a_map_are_of_one_length() {
    let inputs = [("x", floats(&[5.0])), ("z", floats(&[7.0])), ("n", whole(0))];
    for (other, length) in [("one", 1), ("three", 3)] {
        let error = specialise(&differences(other), &inputs).unwrap_err();
        let why = format!("it is a sequence of {length}, and the first is one of 2");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("operand 1") && error.to_string().contains(&why), "{error}");
    }
}
