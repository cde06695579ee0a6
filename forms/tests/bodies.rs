//! What bodies are like: how often they run, what they own, and what changes from one iteration to the next.

use std::collections::{BTreeMap, BTreeSet};

use graphgen::Forms;
use ir::{Stream, Tensor};
use onnx::program::{Body, Node, Port, Program, ValueId};
use onnx::proto::tensor_shape_proto::Dimension;
use onnx::proto::tensor_shape_proto::dimension::Value::{DimParam, DimValue};
use onnx::proto::type_proto;
use onnxsmith_forms::write;
use ops::Model;

/// Nodes that keep slices apart, constants that one of them alone uses, and several results.
const MODEL: &str = "onnxsmith 1 opset 17\ngraph {\n  %0: f32[3, 2] = variable \"x\"\n  %1: f32[3, 2] = variable \"z\"\n  \
    %2: f32[2] = constant f32[2] {1, 2}\n  %3: f32[3, 2] = Add(%0, %2)\n  %4: f32[3, 2] = Mul(%3, %1)\n  \
    %5: f32[3, 2] = Softmax(%4) {axis = 1}\n  %6: f32[3, 2] = Neg(%5)\n  %7: f32[2, 3] = Transpose(%6) {perm = [1, 0]}\n  \
    return \"y\" = %7, \"w\" = %4\n}\n";

/// The programs with a form that many seeds give, each with its node that has bodies.
fn each(
    form: &'static str,
    visit: impl Fn(&Program, &Node) -> Vec<&'static str>,
) -> BTreeMap<&'static str, usize> {
    let model: Model = MODEL.parse().expect("a model");
    let inputs: Vec<(String, Tensor)> =
        model.graph.variables().map(|(_, name, ty)| (name.to_owned(), Tensor::zeros(ty))).collect();
    let only = Forms { share: 1.0, each: [(form, 1.0)].into() };
    let mut met = BTreeMap::new();
    for seed in 0..400 {
        let Some(written) = write(&model, &inputs, &[], &only, Stream::new(seed)) else { continue };
        let nodes = &written.program.main.body.nodes;
        let node = nodes.iter().find(|node| node.rest.op_type() == form).expect("the form's node");
        for what in visit(&written.program, node).into_iter().collect::<BTreeSet<_>>() {
            *met.entry(what).or_default() += 1;
        }
    }
    met
}

fn body<'n>(node: &'n Node, name: &str) -> &'n Body {
    let attribute = node.attributes.iter().find(|attribute| attribute.rest.name() == name);
    attribute.and_then(|attribute| attribute.body.as_ref()).expect("a body")
}

fn int(node: &Node, name: &str) -> i64 {
    node.attributes.iter().find(|attribute| attribute.rest.name() == name).map_or(0, |a| a.rest.i())
}

/// The sizes that are said of something; `None` where its shape is not.
fn sizes(port: &Port) -> Option<Vec<Option<i64>>> {
    let Some(type_proto::Value::TensorType(tensor)) = port.declared.r#type.as_ref()?.value.as_ref() else {
        return None;
    };
    let size = |dim: &Dimension| match dim.value {
        Some(DimValue(size)) => Some(size),
        Some(DimParam(_)) | None => None,
    };
    tensor.shape.as_ref().map(|shape| shape.dim.iter().map(size).collect())
}

/// Whether a constant of the main graph is empty.
fn is_empty(program: &Program, value: ValueId) -> bool {
    let found = program.main.body.initializers.iter().find(|i| i.value == value);
    found.is_some_and(|i| i.tensor.dims.contains(&0))
}

#[track_caller]
fn meets(met: &BTreeMap<&str, usize>, wanted: &[(&str, usize)]) {
    for &(what, least) in wanted {
        let met = met.get(what).copied().unwrap_or(0);
        assert!(met >= least, "{what}: {met} programs of {least}");
    }
}

#[test]
fn a_loop_may_never_run_and_one_that_runs_may_change_what_its_nodes_read() {
    let met = each("Loop", |program, node| {
        let body = body(node, "body");
        let mut all = Vec::new();
        let (iteration, condition) = (body.inputs[0].value, node.inputs[1]);
        let constant = |value: Option<ValueId>| {
            let found = program.main.body.initializers.iter().find(|i| Some(i.value) == value);
            found.and_then(|i| onnx::tensor::from_proto(&i.tensor, onnx::external::External::Refuse).ok())
        };
        let is = |value, number| constant(value).is_some_and(|t| t.to_i128s() == [number]);
        if is(node.inputs[0], 0) {
            all.push("no iteration by count");
        }
        if is(condition, 0) {
            all.push("no iteration by condition");
        }
        if !body.initializers.is_empty() {
            all.push("constants of its own");
        }
        let around: Vec<ValueId> = body.inputs[2..].iter().map(|port| port.value).collect();
        let reads = |op_type: &str, value: ValueId| {
            let mut nodes = body.nodes.iter();
            nodes.any(|node| node.rest.op_type() == op_type && node.inputs.contains(&Some(value)))
        };
        if reads("Unsqueeze", iteration) {
            all.push("slices by iteration");
        }
        if around.iter().any(|&value| reads("Add", value) && reads("Unsqueeze", value)) {
            all.push("slices by a number that goes around");
        }
        let begins_empty = node.inputs[2..].iter().flatten().any(|&value| is_empty(program, value));
        if begins_empty && around.iter().any(|&value| reads("Concat", value)) {
            all.push("something that grows");
        }
        all
    });
    meets(
        &met,
        &[
            ("no iteration by count", 5),
            ("no iteration by condition", 3),
            ("constants of its own", 40),
            ("slices by iteration", 20),
            ("slices by a number that goes around", 20),
            ("something that grows", 20),
        ],
    );
}

#[test]
fn a_scan_may_have_no_slices_and_several_operands() {
    let met = each("Scan", |program, node| {
        let count = int(node, "num_scan_inputs") as usize;
        let scanned = &node.inputs[node.inputs.len() - count..];
        let mut all = Vec::new();
        if scanned.iter().flatten().any(|&value| is_empty(program, value)) {
            all.push("no slices");
        }
        if count > 1 {
            all.push("several operands");
        }
        let body = body(node, "body");
        let slices: Vec<ValueId> =
            body.inputs[body.inputs.len() - count..].iter().map(|port| port.value).collect();
        if body.nodes.iter().any(|node| {
            node.rest.op_type() == "Equal" && node.inputs.iter().flatten().any(|value| slices.contains(value))
        }) {
            all.push("a slice that a number tells");
        }
        if !body.initializers.is_empty() {
            all.push("constants of its own");
        }
        all
    });
    meets(
        &met,
        &[
            ("no slices", 20),
            ("several operands", 80),
            ("a slice that a number tells", 30),
            ("constants of its own", 20),
        ],
    );
}

#[test]
fn the_sides_of_a_branch_may_give_other_ranks_and_own_constants() {
    let met = each("If", |_, node| {
        let sides = [body(node, "then_branch"), body(node, "else_branch")];
        let mut all = Vec::new();
        if sides.iter().any(|side| !side.initializers.is_empty()) {
            all.push("constants of its own");
        }
        for (one, other) in sides[0].outputs.iter().zip(&sides[1].outputs) {
            if let (Some(one), Some(other)) = (sizes(one), sizes(other)) {
                if one.len() != other.len() {
                    all.push("another rank");
                } else if one != other {
                    all.push("another shape");
                }
            }
        }
        all
    });
    meets(&met, &[("constants of its own", 60), ("another rank", 6), ("another shape", 1)]);
}
