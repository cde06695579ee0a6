//! Nodes have the operands, outputs and attributes that the signatures of their operators ask for, wherever they are.

use onnxsmith_onnx as onnx;

use onnx::import::{Imported, Options, specialise};
use onnx::program::Program;
use onnx::proto::{GraphProto, ModelProto};
use onnx::{Error, import};

fn message(inputs: &str, nodes: &str) -> ModelProto {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm ({inputs}) => (y) {{ {nodes} }}\n");
    Program::from_text(&text).expect("a text").write()
}

fn read(inputs: &str, nodes: &str) -> Result<Imported, Error> {
    import(&message(inputs, nodes), &Options::default())
}

/// The model with this change is invalid, and the message has these words.
#[track_caller]
fn refused(inputs: &str, nodes: &str, words: &[&str], change: impl FnOnce(&mut ModelProto, &mut GraphProto)) {
    let mut model = message(inputs, nodes);
    let mut graph = model.graph.take().expect("a graph");
    change(&mut model, &mut graph);
    model.graph = Some(graph);
    match import(&model, &Options::default()) {
        Err(error @ Error::Invalid { .. }) => {
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{words:?} are not in: {text}");
        }
        other => panic!("expected an invalid model with {words:?}, but got {other:?}"),
    }
}

#[test]
fn an_output_that_an_operator_must_give_has_a_name() {
    let nodes = "z = Relu(x) y = Neg(x)";
    let missing = ["output 0", "`Y` is missing", "Relu"];
    refused("float[2] x", nodes, &missing, |_, g| g.node[0].output[0].clear());
    refused("float[2] x", nodes, &missing, |_, g| g.node[0].output.clear());
    let top = "k = Constant<value = int64[1] {1}>() v, y = TopK(x, k)";
    refused("float[2] x", top, &["`Values` is missing", "TopK"], |_, g| g.node[1].output[0].clear());
    refused("float[2] x", nodes, &["outputs", "2 are named", "at most 1"], |_, g| {
        g.node[0].output.push(String::new());
    });
    // What an operator may give it need not give; of outputs that are repeated, none needs a name.
    assert!(read("float[4] x", ", y = Split<num_outputs = 2>(x)").is_ok());
    assert!(read("float[1, 2, 4, 4] x", "y = MaxPool<kernel_shape = [2, 2]>(x)").is_ok());
}

#[test]
fn an_operator_has_no_more_operands_than_its_schema_and_all_that_are_repeated() {
    let filled = "s = Constant<value = int64[1] {2}>() y = ConstantOfShape(s)";
    refused("float[2] x", filled, &["operands", "ConstantOfShape", "at most 1"], |_, g| {
        g.node[1].input.push("s".to_owned());
    });
    let joined = "y = Concat<axis = 0>(x, x)";
    refused("float[2] x", joined, &["operand 1", "`inputs` is missing"], |_, g| g.node[0].input[1].clear());
    refused("float[2] x", joined, &["operand 0", "`inputs` is missing"], |_, g| g.node[0].input.clear());
    // Nothing needs to go around a loop.
    let counted = "n = Constant<value = int64 {3}>() c = Constant<value = bool {1}>()
        y = Loop(n, c)<body = b (int64 i, bool k) => (bool l, float[2] z) { l = Identity(k) z = Neg(x) }>";
    assert!(read("float[2] x", counted).is_ok());
}

/// `c` decides, and is true.
fn branches(other: &str) -> String {
    format!(
        "c = Constant<value = bool {{1}}>()
        y = If(c)<then_branch = t () => (float[2] a) {{ a = Neg(x) }}, else_branch = e () => (float[2] b) {{ {other} }}>"
    )
}

#[test]
fn what_nothing_leads_to_is_valid_too() {
    assert!(read("float[2] x", &branches("b = Abs(x)")).is_ok());
    let says = |other: &str, words: &[&str]| refused("float[2] x", &branches(other), words, |_, _| ());
    says("b = Frobnicate(x)", &["Frobnicate", "no such operator", "(If)"]);
    says("b = Upsample(x)", &["Upsample", "deprecated"]);
    says("b = Add(x)", &["operand 1", "`B` is missing"]);
    says("b = Abs<alpha = 1.0>(x)", &["`alpha`", "no such attribute"]);
    says("b = Cast(x)", &["`to`", "must be there"]);
    says("b = Cast<to = 1.0>(x)", &["`to`", "must be int"]);
}

#[test]
fn so_is_a_function_that_nothing_calls() {
    let text = |node: &str| {
        let head = r#"<ir_version: 10, opset_import: ["" : 21, "f" : 1]>"#;
        let function = r#"<domain: "f", opset_import: ["" : 21]>"#;
        format!("{head}\nm (float[2] x) => (y) {{ y = Neg(x) }}\n{function}\nF (a) => (b) {{ b = {node} }}\n")
    };
    let read = |node: &str| specialise(&Program::from_text(&text(node))?, &Options::default());
    assert!(read("Abs(a)").is_ok());
    let why = read("Abs(a, a)").expect_err("two operands").to_string();
    assert!(why.contains("function `F`") && why.contains("at most 1"), "{why}");
}

#[test]
fn a_node_in_a_body_gives_no_name_that_a_graph_around_has() {
    let words = ["value `x`", "a graph around"];
    let text = branches("x = Abs(x) b = Neg(x)");
    let shadowed = || {
        Program::from_text(&format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[2] x) => (y) {{ {text} }}\n"
        ))
    };
    let why = shadowed().expect_err("x is there already").to_string();
    assert!(words.iter().all(|word| why.contains(word)), "{why}");
    // Two bodies may give the same name.
    assert!(read("float[2] x", &branches("a = Abs(x) b = Neg(a)")).is_ok());
}

#[test]
fn a_default_is_what_its_input_is_declared() {
    let head = r#"<ir_version: 10, opset_import: ["" : 21]>"#;
    let read = |ty: &str| {
        let text = format!(
            "{head}\nm (float[3] x, {ty} w) => (y) <float[3] w = {{1.0, 2.0, 3.0}}> {{ y = Add(x, w) }}\n"
        );
        specialise(&Program::from_text(&text)?, &Options::default())
    };
    assert!(read("float[3]").is_ok() && read("float[n]").is_ok());
    for ty in ["float[2, 3]", "float[4]", "double[3]"] {
        let why = read(ty).expect_err("it is another one").to_string();
        assert!(why.contains("value `w`") && why.contains("it is declared"), "{why}");
    }
}

#[test]
fn an_output_that_is_declared_a_tensor_has_an_element_type() {
    let mut model = message("float[2] x", "y = Neg(x)");
    let output = &mut model.graph.as_mut().expect("a graph").output[0];
    output.r#type = Some(onnx::proto::TypeProto {
        value: Some(onnx::proto::type_proto::Value::TensorType(onnx::proto::type_proto::Tensor::default())),
        ..Default::default()
    });
    let why = import(&model, &Options::default()).expect_err("it has none").to_string();
    assert!(why.contains("output `y`") && why.contains("no element type"), "{why}");
}

#[test]
fn what_a_size_is_compared_with_is_said_by_the_attributes() {
    let words = ["(MaxPool)", "must not exceed", "strides = [0, 1]"];
    refused(
        "float[1, 2, 4, 4] x",
        "y = MaxPool<kernel_shape = [2, 2], strides = [0, 1]>(x)",
        &words,
        |_, _| (),
    );
}
