//! What is read is written again, and names mean what ONNX's scopes say.

use super::Program;
use crate::Error;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto,
    ValueInfoProto,
};

fn info(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: Some(name.to_owned()), doc_string: Some("as is".to_owned()), ..Default::default() }
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        op_type: Some(op_type.to_owned()),
        input: names(inputs),
        output: names(outputs),
        ..Default::default()
    }
}

fn branch(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Graph as i32),
        g: Some(graph),
        ..Default::default()
    }
}

fn model(graph: GraphProto) -> ModelProto {
    ModelProto { ir_version: Some(10), graph: Some(graph), ..Default::default() }
}

/// y = if c then |x| else (x, one more time, under a name of the graph around).
fn branching() -> ModelProto {
    let then =
        GraphProto { node: vec![node("Abs", &["x"], &["z"])], output: vec![info("z")], ..Default::default() };
    let other = GraphProto {
        initializer: vec![TensorProto { name: Some("x".to_owned()), ..Default::default() }],
        node: vec![node("Neg", &["x", "", "w"], &["", "z"])],
        output: vec![info("z")],
        value_info: vec![info("z"), info("nowhere")],
        ..Default::default()
    };
    let mut split = node("If", &["c"], &["y"]);
    split.attribute = vec![branch("then_branch", then), branch("else_branch", other)];
    split.metadata_props = vec![StringStringEntryProto::default()];
    model(GraphProto {
        input: vec![info("c"), info("x"), info("w")],
        initializer: vec![TensorProto { name: Some("w".to_owned()), dims: vec![3], ..Default::default() }],
        node: vec![split],
        output: vec![info("y"), info("w")],
        doc_string: Some("two ways".to_owned()),
        ..Default::default()
    })
}

#[test]
fn what_is_read_is_written_again() {
    let mut model = branching();
    model.functions = vec![FunctionProto {
        name: Some("f".to_owned()),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        attribute: vec!["alpha".to_owned()],
        node: vec![node("Elu", &["x"], &["y"])],
        value_info: vec![info("x")],
        ..Default::default()
    }];
    assert_eq!(Program::read(model.clone()).unwrap().write(), model);
}

#[test]
fn a_body_sees_what_is_around_it_unless_it_has_one_of_that_name() {
    let program = Program::read(branching()).unwrap();
    let body = &program.main.body;
    let [c, x, w] = [0, 1, 2].map(|i| body.inputs[i].value);
    let split = &body.nodes[0];
    assert_eq!(split.inputs, [Some(c)]);
    let [then, other] = [0, 1].map(|i| split.attributes[i].body.as_ref().unwrap());
    assert_eq!(then.nodes[0].inputs, [Some(x)], "a capture");
    let shadow = other.initializers[0].value;
    assert_ne!(shadow, x);
    assert_eq!(program.main.name(shadow), "x");
    assert_eq!(other.nodes[0].inputs, [Some(shadow), None, Some(w)]);
    assert_ne!(then.outputs[0].value, other.outputs[0].value, "two values of one name");
    assert_eq!(other.nodes[0].outputs, [None, Some(other.outputs[0].value)]);
    assert_eq!(other.declared.iter().map(|d| d.value.is_some()).collect::<Vec<_>>(), [true, false]);
    assert_eq!(body.initializers[0].value, w, "the default of an input");
    let mut nodes = Vec::new();
    body.each_node(&mut |node| nodes.push(node.rest.op_type()));
    assert_eq!(nodes, ["If", "Abs", "Neg"]);
}

#[track_caller]
fn why(change: impl FnOnce(&mut GraphProto)) -> String {
    let mut model = branching();
    change(model.graph.as_mut().unwrap());
    match Program::read(model) {
        Err(e @ Error::Invalid { .. }) => e.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_of_a_body_is_not_seen_outside_or_beside_it() {
    let error = why(|g| g.output = vec![info("z")]);
    assert!(error.contains("`z`") && error.contains("no input, initializer or node gives it"), "{error}");
    let then = |g: &mut GraphProto, reads: &str| {
        g.node[0].attribute[0].g.as_mut().unwrap().node[0].input = vec![reads.to_owned()];
    };
    let error = why(|g| then(g, "y"));
    assert!(error.contains("`y`") && error.contains("then_branch") && error.contains("(If)"), "{error}");
    let error = why(|g| then(g, "z"));
    assert!(error.contains("cycle"), "{error}");
}

#[test]
fn a_name_is_given_once_in_a_body() {
    let error = why(|g| g.initializer.push(g.initializer[0].clone()));
    assert!(error.contains("`w`") && error.contains("two"), "a default is given once: {error}");
    assert!(why(|g| g.node.push(node("Abs", &["x"], &["w"]))).contains("`w`"));
    assert!(why(|g| g.input.push(info("x"))).contains("there are two of that name"));
    assert!(why(|g| g.output.push(info(""))).contains("its name is empty"));
    assert!(why(|g| g.input.push(info(""))).contains("it is empty"));
}

/// A value is given once, and may be named as an output several times.
#[test]
fn outputs_of_the_model_alone_must_have_different_names() {
    let mut model = branching();
    let graph = model.graph.as_mut().unwrap();
    graph.output.push(graph.output[0].clone());
    let error = Program::read(model).expect_err("results are told apart by their names");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("there are two of that name"), "{error}");
    let mut model = branching();
    let side = model.graph.as_mut().unwrap().node[0].attribute[0].g.as_mut().unwrap();
    side.output.push(side.output[0].clone());
    Program::read(model).expect("a body names its results by their places");
}

#[test]
fn a_body_gives_no_value_of_what_is_around_it() {
    let program = Program::from_text(
        r#"<ir_version: 8, opset_import: ["" : 17]>
        inside (float[2] x, bool c) => (y) {
            y = If(c) <
                then_branch = same () => (a) { a = Identity(x) },
                else_branch = other () => (b) {
                    n = Neg(x)
                    b = Identity(n)
                }
            >
        }"#,
    )
    .unwrap();
    let [then, other] = [0, 1].map(|attribute| vec![(0, attribute)]);
    assert_eq!(program.without_node(&then, 0, 0), None);
    let shorter = program.without_node(&other, 1, 0).unwrap();
    assert_eq!(shorter.body(&other).unwrap().nodes.len(), 1);
}

#[test]
fn a_body_does_not_give_one_value_twice_after_an_edit() {
    let text = "<ir_version: 8, opset_import: [\"\" : 15]>\n\
                g (bool[5] x, bool[5] s, int64[1] v) => (y, p) {\n  y, p = Scan(s, v) <\n    num_scan_inputs = 1,\n    \
                body = b (bool[5] a, int64 l) => (bool[5] o2, o) {\n      o = And(a, x)\n      o2 = Not(o)\n    }\n  >\n}\n";
    let program = Program::from_text(text).unwrap();
    let [_, body] = &program.ways()[..] else { panic!("a body") };
    assert_eq!(program.without_node(body, 1, 0), None);
    assert!(program.without_node(body, 0, 0).is_some());
}
