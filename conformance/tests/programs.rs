//! The programs: what their texts say, and where their inputs lead.

use std::path::Path;

use onnx::proto::{ModelProto, decode};
use onnx::{encode, text};
use onnxsmith_conformance::{Problem, made};

fn programs() -> impl Iterator<Item = Problem> {
    made::all().into_iter().filter(|problem| problem.name.starts_with("program "))
}

#[test]
fn a_program_is_the_same_as_text_and_as_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let written = std::fs::read_to_string(entry.expect("a file").path()).expect("a text");
        let model = text::parse(&written).unwrap_or_else(|e| panic!("{e}"));
        let printed = text::print(&model);
        assert!(printed.left_out.is_empty(), "{printed}");
        assert_eq!(text::parse(&printed.to_string()).as_ref(), Ok(&model));
        assert_eq!(decode::<ModelProto>("model", &encode(&model)).expect("a model"), model);
        files += 1;
    }
    assert_eq!(files, 5);
}

/// What only carries values from one place to the next.
const GLUE: [&str; 3] = ["Identity", "Unsqueeze", "Cast"];

#[test]
fn the_inputs_decide_what_a_program_computes() {
    let trace = |problem: Problem| {
        let operators: Vec<_> = problem.operators().filter(|operator| !GLUE.contains(operator)).collect();
        (problem.name, operators.join(" "))
    };
    let traces: Vec<_> = programs().map(trace).collect();
    // One iteration doubles 1 to 2, which is not below 1.5; four of them get to 16, which is not below 10.
    let step = "Add ReduceMax Less";
    let expected = [
        ("branch 0", "ReduceSum Greater Exp Mul".to_owned()),
        ("branch 1", "ReduceSum Greater Neg".to_owned()),
        ("fill 0", "Gather Sin Concat".to_owned()),
        ("fill 1", "Gather Sin Gather Sin Gather Sin Concat".to_owned()),
        ("until 0", format!("{step} Concat")),
        ("until 1", format!("{step} {step} {step} {step} Concat")),
        ("shape 0", "Shape ReduceProd Div Concat Reshape Tanh".to_owned()),
        ("count 0", "Relu NonZero Squeeze Gather Reshape".to_owned()),
        ("count 1", "Relu NonZero Squeeze Gather Reshape".to_owned()),
    ];
    assert_eq!(traces, expected.map(|(name, operators)| (format!("program {name}"), operators)));
}
