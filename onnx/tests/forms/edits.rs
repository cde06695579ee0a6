//! Programs with one form less.

use onnx::program::Program;
use onnx::proto::{ModelProto, NodeProto};
use onnxsmith_onnx as onnx;

use super::{branching, doubling, floats, run, truth, whole};

fn edited(model: &ModelProto, edit: impl FnOnce(&Program) -> Option<Program>) -> ModelProto {
    edit(&Program::read(model.clone()).unwrap()).expect("the edit applies").pruned().write()
}

fn op_types(model: &ModelProto) -> Vec<&str> {
    model.graph.as_ref().unwrap().node.iter().map(NodeProto::op_type).collect()
}

#[test]
fn a_side_in_place_of_an_if_computes_the_same() {
    let inputs = [("x", floats(&[-1.0, 3.0]))];
    let taken = edited(&branching(), |program| program.with_side(&vec![], 3, "then_branch"));
    assert_eq!(op_types(&taken), ["Abs", "Identity"], "nobody needs the condition");
    assert_eq!(run(&taken, &inputs), run(&branching(), &inputs));
    let other = edited(&branching(), |program| program.with_side(&vec![], 3, "else_branch"));
    assert_eq!(run(&other, &inputs), [[1.0, -3.0]]);
    // What is written can be read by whoever resolves names for himself.
    assert!(Program::read(taken).is_ok());
}

#[test]
fn iterations_in_place_of_a_loop_compute_the_same() {
    let inputs = [("x", floats(&[1.0, 0.5])), ("n", whole(2)), ("c", truth(true))];
    let unrolled = edited(&doubling(), |program| program.with_iterations(&vec![], 0, 2));
    assert!(!op_types(&unrolled).contains(&"Loop"));
    assert_eq!(run(&unrolled, &inputs), run(&doubling(), &inputs));
    let fewer = edited(&doubling(), |program| program.with_count(&vec![], 0, 1));
    assert_eq!(run(&fewer, &inputs), [vec![2.0, 1.0], vec![2.0, 1.0]]);
}

#[test]
fn a_node_of_a_body_is_taken_away() {
    let program = Program::read(doubling()).unwrap();
    let body = program.ways().pop().unwrap();
    assert_eq!(body, [(0, 0)]);
    let model = edited(&doubling(), |program| program.without_node(&body, 0, 0));
    let inputs = [("x", floats(&[1.0])), ("n", whole(3)), ("c", truth(true))];
    assert_eq!(run(&model, &inputs)[0], [1.0], "w is v, so nothing is doubled");
    assert_eq!(program.nodes(), 5);
}
