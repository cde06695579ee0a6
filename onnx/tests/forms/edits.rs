//! Programs with one form less.

use ir::{DType, Tensor, Type};
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
    let unrolled = edited(&doubling(), |program| program.with_iterations(&vec![], 0, 2, &|_| None));
    assert!(!op_types(&unrolled).contains(&"Loop"));
    assert_eq!(run(&unrolled, &inputs), run(&doubling(), &inputs));
    let fewer = edited(&doubling(), |program| program.with_count(&vec![], 0, 1));
    assert_eq!(run(&fewer, &inputs), [vec![2.0, 1.0], vec![2.0, 1.0]]);
}

#[test]
fn what_nothing_has_piled_up_in_is_as_the_body_says() {
    let text = r#"<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, float[0, 2] none) => (float[0, 2] y, float[2, 0] z) {
    zero = Constant <value_int = 0> ()
    y = Loop (zero, "") <body = b (int64 i, bool on) => (bool on_, float[2] piece) { on_ = Identity(on) piece = Neg(x) }>
    z = Scan (none) <num_scan_inputs = 1, scan_output_axes = [-1],
        body = b (float[2] s) => (float[2] t) { t = Neg(s) }>
}
"#;
    let program = Program::from_text(text).expect("a program");
    let program = program.with_iterations(&vec![], 1, 0, &|_| None).expect("a loop");
    let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "Scan").expect("a scan");
    let model = program.with_slices(&vec![], at, 0, &|_| None).expect("a scan").pruned().write();
    assert_eq!(op_types(&model), ["Identity", "Identity"]);
    let inputs = [("x", floats(&[1.0, 2.0])), ("none", Tensor::zeros(&Type::new(DType::F32, [0, 2])))];
    assert_eq!(run(&model, &inputs), [Vec::<f64>::new(), Vec::new()]);
}

#[test]
fn what_nothing_has_piled_up_in_is_as_it_is_known_where_the_body_says_no_sizes() {
    let text = r#"<ir_version: 8, opset_import: ["" : 17]>
g (float[0, 2] none) => (float[0, 2] y) {
    y = Scan (none) <num_scan_inputs = 1, body = b (float[n] s) => (float[m] t) { t = Neg(s) }>
}
"#;
    let program = Program::from_text(text).expect("a program");
    assert_eq!(program.with_slices(&vec![], 0, 0, &|_| None), None);
    let known = |_| Some(Type::new(DType::F32, [0, 2]));
    let model = program.with_slices(&vec![], 0, 0, &known).expect("a scan").pruned().write();
    assert_eq!(op_types(&model), ["Identity"]);
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
