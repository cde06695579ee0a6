//! What functions are like: whose attributes they have, who calls them, and with what.

use std::collections::BTreeMap;

use graphgen::Forms;
use ir::{Stream, Tensor};
use onnx::program::{Function, Node, Program};
use onnxsmith_forms::write;
use ops::Model;

/// Nodes that are alike but for attributes, and one with an operand that may be left out.
const MODEL: &str = "onnxsmith 1 opset 22\ngraph {\n  %0: f32[3, 2] = variable \"x\"\n  %1: f32[] = constant f32[] {0}\n  \
    %2: f32[3, 2] = Elu(%0) {alpha = 0.5}\n  %3: f32[3, 2] = Elu(%2) {alpha = 2.0}\n  %4: f32[3, 2] = Clip(%3, %1)\n  \
    %5: f32[3, 2] = Softmax(%4) {axis = 1}\n  %6: f32[3, 2] = Softmax(%5) {axis = 0}\n  %7: f32[3, 2] = Neg(%6)\n  return \"y\" = %7\n}\n";

fn programs() -> Vec<Program> {
    let model: Model = MODEL.parse().expect("a model");
    let inputs = [("x".to_owned(), Tensor::zeros(&model.graph.nodes[0].outputs[0]))];
    let only = Forms { share: 1.0, each: [("function", 1.0)].into() };
    let written = (0..300).filter_map(|seed| write(&model, &inputs, &[], &only, Stream::new(seed)));
    written.map(|written| written.program).collect()
}

/// The calls of a function, in the main graph and in other functions.
fn calls<'p>(program: &'p Program, function: &Function) -> Vec<&'p Node> {
    let bodies = program.functions.iter().map(|f| &f.scope.body).chain([&program.main.body]);
    let called = |node: &&Node| {
        (node.rest.domain(), node.rest.op_type(), node.rest.overload())
            == (function.rest.domain(), function.rest.name(), function.rest.overload())
    };
    bodies.flat_map(|body| &body.nodes).filter(called).collect()
}

fn kinds(program: &Program, met: &mut BTreeMap<&'static str, usize>) {
    let mut meet = |what, is: bool| *met.entry(what).or_default() += usize::from(is);
    for function in &program.functions {
        let calls = calls(program, function);
        assert!(!calls.is_empty(), "nothing calls it: {}", program.to_text());
        let attributes = |node: &Node| node.attributes.iter().map(|a| a.rest.clone()).collect::<Vec<_>>();
        let inner = &function.scope.body.nodes;
        let references = |node: &&Node| node.attributes.iter().any(|a| !a.rest.ref_attr_name().is_empty());
        meet("an attribute", !function.rest.attribute.is_empty());
        meet("a default", !function.rest.attribute_proto.is_empty());
        meet(
            "another call with other attributes",
            calls.iter().any(|c| attributes(c) != attributes(calls[0])),
        );
        meet("a call in a function", inner.iter().any(|node| node.rest.domain() == function.rest.domain()));
        let hands_on = inner.iter().filter(references).any(|node| !node.rest.domain().is_empty());
        meet("attributes that are handed on", hands_on);
        let parameters = function.scope.body.inputs.len();
        let leaves_out = |call: &&Node| call.inputs.len() < parameters || call.inputs.contains(&None);
        meet("a parameter that is left out", calls.iter().any(leaves_out));
        meet("an overload", !function.rest.overload().is_empty());
        let own = function.rest.opset_import.iter().find(|entry| entry.domain().is_empty());
        meet("another opset", own.is_some_and(|entry| entry.version() != 22));
        meet("a constant of its own", inner.iter().any(|node| node.rest.op_type() == "Constant"));
        meet("the name of an operator", ops::find(function.rest.name()).is_some());
    }
}

#[test]
fn functions_have_attributes_defaults_and_several_calls() {
    let mut met = BTreeMap::new();
    let programs = programs();
    assert!(programs.len() > 280, "{}", programs.len());
    for program in &programs {
        kinds(program, &mut met);
    }
    for what in [
        "an attribute",
        "a default",
        "another call with other attributes",
        "a call in a function",
        "attributes that are handed on",
        "a parameter that is left out",
        "an overload",
        "another opset",
        "a constant of its own",
        "the name of an operator",
    ] {
        assert!(met[what] >= 15, "{what}: {} of {} functions", met[what], programs.len());
    }
}
