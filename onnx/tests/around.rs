//! What goes around a loop keeps its element type, and stays a tensor or a sequence.

use std::collections::BTreeMap;

use ir::{DType, Datum, NodeKind, Tensor, Type};
use onnxsmith_onnx::import::{Options, specialise};
use onnxsmith_onnx::program::Program;

/// The types of what comes out of two iterations that begin with the f32 `x`, or why there is nothing.
fn looped(next: &str) -> Result<Vec<Type>, String> {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (y) <int64 most = {{2}}> {{
  y = Loop(most, \"\", x) <
    body = step (i, on, state) => (still, next) {{
      still = Identity(on)
      {next}
    }}
  >
}}
"
    );
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 1.0);
    let known: BTreeMap<String, Datum> = [("x".to_owned(), x.into())].into();
    let options = Options { known_inputs: &known, ..Options::default() };
    let program = Program::from_text(&text).expect("a program");
    let graph = specialise(&program, &options).map_err(|e| e.to_string())?.model.graph;
    Ok(graph.outputs.iter().map(|output| graph.ty(output.value).clone()).collect())
}

#[test]
fn a_shape_may_change() {
    assert_eq!(looped("next = Concat<axis = 0>(state, state)"), Ok(vec![Type::new(DType::F32, [8])]));
}

#[test]
fn an_element_type_may_not() {
    let why = looped("next = Identity(i)").expect_err("an i64");
    assert!(why.contains("value 0 that goes around is a tensor of f32 and becomes a tensor of i64"), "{why}");
}

#[test]
fn nor_may_a_tensor_become_a_sequence() {
    let why = looped("next = SequenceConstruct(state)").expect_err("a sequence");
    assert!(why.contains("a tensor of f32 and becomes a sequence"), "{why}");
}

#[test]
fn what_comes_into_a_body_has_no_need_of_its_default() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (y) <int64 most = {2}> {
  y = Loop(most, \"\", x) <
    body = step (int64 i, bool on, float[2] state = {9.0, 9.0}) => (still, next) {
      still = Identity(on)
      next = Neg(state)
    }
  >
}
";
    let program = Program::from_text(text).expect("a program");
    let graph = specialise(&program, &Options::default()).expect("a model").model.graph;
    let is_float = |node: &&ir::Node<_>| node.outputs[0].dtype == DType::F32;
    let floats: Vec<_> = graph.nodes.iter().filter(is_float).map(|node| &node.kind).collect();
    let constants = floats.iter().filter(|kind| matches!(kind, NodeKind::Constant(_))).count();
    assert_eq!((constants, floats.len()), (0, 3), "`x` and two times Neg: {floats:?}");
}

#[test]
fn an_input_that_is_given_has_no_need_of_its_default() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (float[2] y) <float[2] x = {9.0, 9.0}> { y = Neg(x) }
";
    let program = Program::from_text(text).expect("a program");
    let variables = |known: &BTreeMap<String, Datum>| {
        let options = Options { known_inputs: known, ..Options::default() };
        let imported = specialise(&program, &options).expect("a model");
        let names: Vec<String> = imported.interface.inputs.into_iter().map(|(name, _)| name).collect();
        (imported.model.graph.variables().count(), names)
    };
    assert_eq!(variables(&BTreeMap::new()), (0, vec![]));
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 1.0);
    assert_eq!(variables(&[("x".to_owned(), x.into())].into()), (1, vec!["x".to_owned()]));
}

/// "cond = ...; // ignored": whether an iteration is given true or what the last one gave, the text does not say.
#[test]
fn without_a_condition_a_body_reads_none_that_is_false() {
    let read = |times: i64, condition: &str, body: &str| {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[2] x) => (y) <int64 n = {{{times}}}, bool c = {{1}}> {{
  y = Loop(n, {condition}, x) < body = b (int64 i, bool on, float[2] v) => (next, w) {{ {body} }} >
}}
"
        );
        specialise(&Program::from_text(&text).expect("a program"), &Options::default()).map(|_| ())
    };
    let turned = "next = Not(on) d = Cast<to = 1>(on) w = Add(v, d)";
    let error = read(3, "\"\"", turned).expect_err("1, 1, 1 or 1, 0, 1");
    assert!(matches!(error, onnxsmith_onnx::Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("reads the condition"), "{error}");
    let ignored = "z = Constant<value_int = 0>() next = Cast<to = 9>(z) w = Neg(v)";
    let kept = "next = Identity(on) d = Cast<to = 1>(on) w = Add(v, d)";
    for (times, condition, body) in
        [(1, "\"\"", turned), (3, "c", turned), (3, "\"\"", ignored), (3, "\"\"", kept)]
    {
        read(times, condition, body).unwrap_or_else(|e| panic!("{body}: {e}"));
    }
}

#[test]
fn a_body_may_give_a_value_twice() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>
m (float[2] x) => (y, z) <int64 n = {2}> {
  y, z = Loop(n, \"\", x) < body = b (int64 i, bool on, float[2] v) => (on, w, w) { w = Neg(v) } >
}
";
    let program = Program::from_text(text).expect("a program");
    let model = specialise(&program, &Options::default()).expect("a model").model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64 + 1.0);
    let found = interp::evaluate_plain(&model, &[x]).expect("values");
    let found: Vec<Vec<f64>> = found.iter().map(Tensor::to_f64s).collect();
    assert_eq!(found, [vec![1.0, 2.0], vec![-1.0, -2.0, 1.0, 2.0]]);
}

/// What a body says that it takes is held against what comes in, whether the body runs or not.
#[test]
fn a_body_that_does_not_run_says_the_types_of_what_comes_in() {
    let read = |iterations: i64, said: &str| {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[1, 6] x, float[1, 1] s) => (y) <int64 n = {{{iterations}}}> {{
  y = Loop(n, \"\", s) <
    body = b (int64 i, bool on, {said} around) => (on2, c) {{
      on2 = Identity(on)
      c = Add(x, around)
    }}
  >
}}
"
        );
        specialise(&Program::from_text(&text).expect("a program"), &Options::default())
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    for iterations in [0, 1] {
        assert_eq!(read(iterations, "float[1, 1]"), Ok(()));
        let why = read(iterations, "float[4, 6]").expect_err("another type");
        assert!(why.contains("it is declared f32[4, 6], but is f32[1, 1]"), "{why}");
    }
}
