//! One broken model per way of being invalid. Models are in text form where it can express the fault.

mod tiny;

use onnxsmith_ir::validate::{Fault, Invalid};
use onnxsmith_ir::{DType, Function, FunctionId, Graph, Model, NodeId, NodeKind, Type, Value};
use tiny::{Refused, Tiny};

/// What validation says about a main graph of these lines, after these functions.
fn check(functions: &str, graph: &str) -> Result<(), Invalid<Refused>> {
    let text = format!("onnxsmith 1 opset 17 {functions} graph {{ {graph} }}");
    let model: Model<Tiny> = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
    model.validate()
}

/// A fault of a node of the main graph.
fn at(node: u32, what: &str, fault: Fault<Refused>) -> Invalid<Refused> {
    Invalid::Node { node: NodeId(node), what: what.to_owned(), fault }
}

fn f32_of(shape: &[i64]) -> Type {
    Type::new(DType::F32, shape)
}

const IDENTITY: &str = r#"function id { %0: f32[2] = variable "x" return "y" = %0 }"#;

#[test]
fn valid_models_pass() {
    let graph = r#"
        %0: f32[2] = variable "x"
        %1: f32[2] = constant {1, 2}
        %2: f32[2] = Add(%0, %0)
        %3: f32[2] = call id(%2)
        %4: f32[1], f32[1] = Split(%3) {num_outputs = 2}
        %5: f32[1] = Clip(%4.1, _, %1)
        %6 = call none()
        return "x" = %0, "y" = %5, "z" = %4.1"#;
    assert_eq!(check(&format!("{IDENTITY} function none {{ return }}"), graph), Ok(()));
    assert_eq!(check("", "return"), Ok(()));
}

#[test]
fn every_fault_that_text_can_express_is_found() {
    let x = r#"%0: f32[2] = variable "x" "#;
    let table = [
        // Edges.
        ("%0: f32[2] = Add(%0, %0) return", at(0, "Add", Fault::Order { used: 0 })),
        ("%0: f32[2] = Add(%7, %0) return", at(0, "Add", Fault::Order { used: 7 })),
        ("%0: f32[2] = Add(%4294967295.4294967295) return", at(0, "Add", Fault::Order { used: u32::MAX })),
        ("{x} %1: f32[2] = Add(%0, %0.1) return", at(1, "Add", Fault::Port { used: 0, port: 1, outputs: 1 })),
        ("{x} %1: f32[2] = Add(%0, %0) given (%3) return", at(1, "Add", Fault::Order { used: 3 })),
        ("{x} return \"y\" = %1", Invalid::Output { name: "y".into() }),
        ("{x} return \"y\" = %0.1", Invalid::Output { name: "y".into() }),
        // Types.
        (r#"%0 = variable "x" return"#, at(0, "variable `x`", Fault::Single { outputs: 0 })),
        ("%0 = constant f32[] {1} return", at(0, "constant", Fault::Single { outputs: 0 })),
        ("%0: f32[1], f32[1] = constant {1} return", at(0, "constant", Fault::Single { outputs: 2 })),
        (
            "%0: f32[2] = constant f32[1] {1} return",
            at(0, "constant", Fault::Constant { found: f32_of(&[1]), declared: f32_of(&[2]) }),
        ),
        (r#"%0: f32[2, -1] = variable "x" return"#, at(0, "variable `x`", Fault::Dim { dim: -1 })),
        (r#"%0: f32[2147483648] = variable "x" return"#, at(0, "variable `x`", Fault::Dim { dim: 1 << 31 })),
        ("{x} %1: f32[2] = Add(%0) return", at(1, "Add", Fault::Rejected(Refused))),
        (
            "{x} %1: f32[3] = Add(%0, %0) return",
            at(1, "Add", Fault::Declared { port: 0, declared: f32_of(&[3]), inferred: f32_of(&[2]) }),
        ),
        ("{x} %1 = Add(%0, %0) return", at(1, "Add", Fault::OutputCount { declared: 0, inferred: 1 })),
        // Calls.
        ("%0: f32[2] = call @1() return", at(0, "call", Fault::UnknownFunction { function: 1 })),
        ("%0: f32[2] = call id() return", at(0, "call of `id`", Fault::Arity { given: 0, wanted: 1 })),
        (
            "{x} %1: f32[2] = call id(%0, %0) return",
            at(1, "call of `id`", Fault::Arity { given: 2, wanted: 1 }),
        ),
        (
            "%0: i64[2] = constant {1, 2} %1: f32[2] = call id(%0) return",
            at(1, "call of `id`", Fault::Argument { port: 0, given: "i64[2]".into(), wanted: f32_of(&[2]) }),
        ),
        (
            "{x} %1: f32[1] = call id(%0) return",
            at(
                1,
                "call of `id`",
                Fault::Declared { port: 0, declared: f32_of(&[1]), inferred: f32_of(&[2]) },
            ),
        ),
        // Names.
        (r#"{x} %1: f32[2] = variable "x" return"#, Invalid::DuplicateName("x".into())),
        (r#"{x} return "y" = %0, "y" = %0"#, Invalid::DuplicateName("y".into())),
    ];
    for (graph, fault) in table {
        assert_eq!(check(IDENTITY, &graph.replace("{x}", x)), Err(fault), "{graph}");
    }
}

#[test]
fn messages_name_the_node_and_what_it_is() {
    let said = |graph: &str| check(IDENTITY, graph).expect_err("a broken graph").to_string();
    let x = r#"%0: f32[2] = variable "x""#;
    assert_eq!(
        said(&format!("{x} %1: f32[3] = Add(%0, %0) return")),
        "node %1 (Add): output 0 is declared f32[3] but is f32[2]"
    );
    assert_eq!(
        said(&format!("{x} %1: f32[2] = call id() return")),
        "node %1 (call of `id`): it has 0 operands instead of 1"
    );
    let large = said(r#"%0: f32[65536, 65536] = variable "x" return"#);
    assert!(large.starts_with("node %0 (variable `x`): it is f32[65536, 65536]"), "{large}");
}

#[test]
fn faults_in_functions_name_the_function() {
    let broken = "function f { %0: f32[2] = Add() return }";
    let cause = Box::new(at(0, "Add", Fault::Rejected(Refused)));
    assert_eq!(check(broken, "return"), Err(Invalid::Function { function: "f".into(), cause }));

    let twice = "function f { return } function f { return }";
    assert_eq!(check(twice, "return"), Err(Invalid::DuplicateName("f".into())));
}

#[test]
fn functions_call_only_functions_before_them() {
    // Calling itself or a later one would be recursion, and the callee's types would not have been checked yet.
    for callee in [0, 1] {
        let text = format!("function f {{ %0: f32[2] = call @{callee}() return }} function g {{ return }}");
        let cause = Box::new(at(0, "call", Fault::UnknownFunction { function: callee }));
        assert_eq!(check(&text, "return"), Err(Invalid::Function { function: "f".into(), cause }));
    }
}

#[test]
fn a_callee_with_dangling_outputs_is_found_before_its_types_are_read() {
    let fault = check(r#"function f { return "y" = %9 }"#, "%0: f32[2] = call f() return");
    let cause = Box::new(Invalid::Output { name: "y".into() });
    assert_eq!(fault, Err(Invalid::Function { function: "f".into(), cause }));
}

#[test]
fn only_known_opsets_pass() {
    for opset in [0, 12, 29] {
        assert_eq!(Model::<Tiny>::new(opset, Graph::new()).validate(), Err(Invalid::Opset(opset)));
    }
    assert_eq!(Model::<Tiny>::new(13, Graph::new()).validate(), Ok(()));
}

/// A graph with one input and one more node that is stored as given.
fn with_node(kind: NodeKind<Tiny>, inputs: Vec<Option<Value>>) -> Model<Tiny> {
    let mut graph = Graph::new();
    graph.variable("x", f32_of(&[2]));
    let node = graph.push(kind, vec![], vec![f32_of(&[2])]);
    graph.nodes[node.index()].inputs = inputs;
    Model::new(17, graph)
}

#[test]
fn inputs_and_constants_take_no_operands() {
    let x = Some(Value::new(NodeId(0), 0));
    let constant = onnxsmith_ir::Tensor::zeros(&f32_of(&[2]));
    let variable = NodeKind::Variable { name: "y".into() };
    for (kind, what) in [(variable, "variable `y`"), (NodeKind::Constant(constant.into()), "constant")] {
        assert_eq!(with_node(kind, vec![x]).validate(), Err(at(1, what, Fault::Operands)));
    }
}

#[test]
fn absent_operands_are_not_stored_at_the_end() {
    let x = Some(Value::new(NodeId(0), 0));
    let clip = |inputs| with_node(NodeKind::Operator(Tiny::Clip), inputs).validate();
    assert_eq!(clip(vec![x, None]), Err(at(1, "Clip", Fault::Trailing)));
    assert_eq!(clip(vec![x, None, x]), Ok(()));
}

#[test]
fn a_required_argument_of_a_call_may_not_be_absent() {
    let mut body = Graph::new();
    let a = body.variable("a", f32_of(&[2]));
    body.variable("b", f32_of(&[2]));
    body.output("y", a);
    let mut model = with_node(NodeKind::Call(FunctionId(0)), vec![None, Some(Value::new(NodeId(0), 0))]);
    model.functions.push(Function { name: "f".into(), body });
    let fault = Fault::Argument { port: 0, given: "absent".into(), wanted: f32_of(&[2]) };
    assert_eq!(model.validate(), Err(at(1, "call of `f`", fault)));
}

#[test]
fn pushing_drops_absent_operands_at_the_end() {
    let mut graph = Graph::new();
    let x = graph.variable("x", f32_of(&[2]));
    let id = graph.operator(Tiny::Clip, &[Some(x), None, None]).unwrap();
    assert_eq!(graph.node(id).inputs, [Some(x)]);
    assert_eq!(graph.operator(Tiny::Add, &[Some(x), None]), Err(Refused));
}
