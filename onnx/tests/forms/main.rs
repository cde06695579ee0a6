//! Branches, loops, sequences, optionals and computed shapes: what the values lead to is written out, and says from which
//! values it was read.

mod edits;
mod maps;

use std::collections::BTreeMap;

use ir::{DType, Datum, NodeKind, Tensor, Type};
use onnx::import::{Inside, Options, Within, import};
use onnx::program::Program;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
    type_proto,
};
use onnx::{Error, Imported};
use onnxsmith_onnx as onnx;
use ops::Model;

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        name: Some(format!("the {op_type} of {}", outputs.join(" and "))),
        op_type: Some(op_type.to_owned()),
        input: names(inputs),
        output: names(outputs),
        ..Default::default()
    }
}

/// A node with attributes.
fn with(node: NodeProto, attributes: Vec<AttributeProto>) -> NodeProto {
    NodeProto { attribute: attributes, ..node }
}

fn attribute(name: &str, r#type: AttributeType) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), r#type: Some(r#type as i32), ..Default::default() }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

fn held(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto { g: Some(graph), ..attribute(name, AttributeType::Graph) }
}

/// A tensor whose shape is not said.
fn any(name: &str, dtype: DType) -> ValueInfoProto {
    let mut info = onnx::export::value_info(name, &Type::new(dtype, []));
    if let Some(type_proto::Value::TensorType(tensor)) = info.r#type.as_mut().and_then(|t| t.value.as_mut()) {
        tensor.shape = None;
    }
    info
}

/// A value of which nothing is said.
fn some(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: Some(name.to_owned()), ..Default::default() }
}

fn body(inputs: &[&str], nodes: Vec<NodeProto>, outputs: &[&str]) -> GraphProto {
    let all = |names: &[&str]| names.iter().map(|&name| some(name)).collect();
    GraphProto { input: all(inputs), node: nodes, output: all(outputs), ..Default::default() }
}

fn model(inputs: &[(&str, DType)], nodes: Vec<NodeProto>, outputs: &[&str]) -> ModelProto {
    let inputs = inputs.iter().map(|&(name, dtype)| any(name, dtype)).collect();
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(21) }],
        graph: Some(GraphProto { input: inputs, ..body(&[], nodes, outputs) }),
        ..Default::default()
    }
}

fn floats(values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
}

fn whole(value: i64) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| value.into())
}

fn truth(value: bool) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| value.into())
}

fn specialise(model: &ModelProto, inputs: &[(&str, Tensor)]) -> Result<Imported, Error> {
    let known_inputs: BTreeMap<String, Datum> =
        inputs.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone().into())).collect();
    import(model, &Options { known_inputs: &known_inputs, ..Options::default() })
}

/// The outputs of the model that the program leads to.
#[track_caller]
fn run(model: &ModelProto, inputs: &[(&str, Tensor)]) -> Vec<Vec<f64>> {
    let model = specialise(model, inputs).unwrap_or_else(|e| panic!("{e}")).model;
    let named = |(_, name, _): (_, &str, _)| inputs.iter().find(|(n, _)| *n == name).unwrap().1.clone();
    let tensors: Vec<Tensor> = model.graph.variables().map(named).collect();
    interp::evaluate_plain(&model, &tensors).unwrap().iter().map(Tensor::to_f64s).collect()
}

fn operators(model: &Model) -> Vec<&'static str> {
    let name = |node: &ir::Node<ops::Op>| match &node.kind {
        NodeKind::Operator(op) => Some(ir::Operation::name(op)),
        _ => None,
    };
    model.graph.nodes.iter().filter_map(name).collect()
}

/// y = |x| where Σx > 0, and -x otherwise.
fn branching() -> ModelProto {
    let side = |name, op| held(name, body(&[], vec![node(op, &["x"], &["z"])], &["z"]));
    let choice =
        with(node("If", &["c"], &["y"]), vec![side("then_branch", "Abs"), side("else_branch", "Neg")]);
    let keep = int("keepdims", 0);
    let nodes = vec![
        with(node("ReduceSum", &["x"], &["s"]), vec![keep]),
        node("Sub", &["s", "s"], &["zero"]),
        node("Greater", &["s", "zero"], &["c"]),
        choice,
    ];
    model(&[("x", DType::F32)], nodes, &["y"])
}

#[test]
fn an_if_takes_the_side_that_its_condition_leads_to() {
    assert_eq!(run(&branching(), &[("x", floats(&[-1.0, 3.0]))]), [[1.0, 3.0]]);
    assert_eq!(run(&branching(), &[("x", floats(&[1.0, -3.0]))]), [[-1.0, 3.0]]);
}

#[test]
fn what_an_if_gives_is_given_its_condition() {
    let imported = specialise(&branching(), &[("x", floats(&[-1.0, 3.0]))]).unwrap();
    let graph = &imported.model.graph;
    assert_eq!(operators(&imported.model), ["ReduceSum", "Sub", "Greater", "Abs", "Identity"]);
    let condition = ir::Value::new(ir::NodeId(3), 0);
    let given: Vec<_> = graph.nodes.iter().map(|node| node.given.clone()).collect();
    assert_eq!(given, [vec![], vec![], vec![], vec![], vec![], vec![condition]]);
    assert_eq!(imported.specialised, ["x"]);
    let origin = &imported.origins[4];
    assert_eq!(origin.path.bodies(), [Within { node: 3, inside: Inside::Branch(true) }]);
    assert_eq!((origin.node, imported.origins[5].path.is_empty()), (0, true));
    // The cone of the output reaches the condition through what is given.
    assert_eq!(ir::cone::members(graph, graph.outputs[0].value), [true; 6]);
}

#[test]
fn a_condition_that_no_input_decides_leaves_no_trace() {
    let mut model = branching();
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.push(onnx::tensor::to_proto("c", &truth(false)));
    graph.node.drain(..3);
    let imported = specialise(&model, &[("x", floats(&[2.0]))]).unwrap();
    assert_eq!(operators(&imported.model), ["Neg"]);
    assert!(imported.specialised.is_empty());
}

#[test]
fn a_condition_that_is_not_known_is_named() {
    let mut model = branching();
    model.graph.as_mut().unwrap().input[0] = onnx::export::value_info("x", &Type::new(DType::F32, [2]));
    let error = specialise(&model, &[]).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("`c`") && error.to_string().contains("the If"), "{error}");
}

/// x goes around n times, doubled each time, until its sum is above 10; each state piles up.
fn doubling() -> ModelProto {
    let nodes = vec![
        node("Add", &["v", "v"], &["w"]),
        with(node("ReduceSum", &["w"], &["s"]), vec![int("keepdims", 0)]),
        node("Less", &["s", "ten"], &["on"]),
        node("Identity", &["w"], &["piece"]),
    ];
    let repeat = with(
        node("Loop", &["n", "c", "x"], &["y", "all"]),
        vec![held("body", body(&["i", "in", "v"], nodes, &["on", "w", "piece"]))],
    );
    let mut model =
        model(&[("x", DType::F32), ("n", DType::I64), ("c", DType::Bool)], vec![repeat], &["y", "all"]);
    let ten = Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| 10.0);
    model.graph.as_mut().unwrap().initializer.push(onnx::tensor::to_proto("ten", &ten));
    model
}

fn doubled(x: &[f64], n: i64, c: bool) -> Vec<Vec<f64>> {
    run(&doubling(), &[("x", floats(x)), ("n", whole(n)), ("c", truth(c))])
}

#[test]
fn a_loop_ends_with_its_count_or_its_condition() {
    assert_eq!(doubled(&[1.0, 0.0], 2, true), [vec![4.0, 0.0], vec![2.0, 0.0, 4.0, 0.0]]);
    assert_eq!(doubled(&[3.0], 9, true), [vec![12.0], vec![6.0, 12.0]], "the sum is above 10");
    assert_eq!(doubled(&[3.0], 0, true), [vec![3.0], vec![]]);
    assert_eq!(doubled(&[3.0], 9, false), [vec![3.0], vec![]]);
}

#[test]
fn what_piles_up_in_no_iteration_has_the_shape_that_one_would_give() {
    let inputs = [("x", floats(&[1.0, 2.0])), ("n", whole(0)), ("c", truth(true))];
    let model = specialise(&doubling(), &inputs).unwrap().model;
    let shapes: Vec<_> = model.graph.outputs.iter().map(|o| model.graph.ty(o.value).shape.clone()).collect();
    assert_eq!(shapes, [vec![2], vec![0, 2]]);
    let counted = |n: i64| specialise(&doubling(), &[inputs[0].clone(), ("n", whole(n)), inputs[2].clone()]);
    assert_eq!(
        counted(2)
            .unwrap()
            .model
            .graph
            .nodes
            .iter()
            .filter(|n| matches!(n.kind, NodeKind::Constant(_)))
            .count(),
        1
    );
}

#[test]
fn a_loop_without_a_condition_does_not_look_at_what_its_body_says() {
    let mut model = doubling();
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].input[1].clear();
    graph.input.truncate(2);
    assert_eq!(run(&model, &[("x", floats(&[9.0])), ("n", whole(3))])[0], [72.0]);
}

#[test]
fn a_loop_that_goes_on_for_too_long_is_named_with_its_count() {
    let mut model = doubling();
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].input[1].clear();
    graph.input.truncate(2);
    let error = specialise(&model, &[("x", floats(&[0.0])), ("n", whole(i64::MAX))]).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Unsupported { .. }), "{text}");
    assert!(text.contains("the Loop") && text.contains(&i64::MAX.to_string()), "{text}");
}

/// Every second element, as a sequence that a loop fills, in reverse.
fn filling() -> ModelProto {
    let nodes = vec![
        node("Gather", &["x", "i"], &["element"]),
        node("SequenceInsert", &["before", "element", "first"], &["after"]),
        node("Identity", &["in"], &["out"]),
    ];
    let fill = with(
        node("Loop", &["n", "", "empty"], &["filled"]),
        vec![held("body", body(&["i", "in", "before"], nodes, &["out", "after"]))],
    );
    let join =
        with(node("ConcatFromSequence", &["filled"], &["y"]), vec![int("axis", 0), int("new_axis", 1)]);
    let nodes = vec![
        node("SequenceEmpty", &[], &["empty"]),
        fill,
        join,
        node("SequenceLength", &["filled"], &["length"]),
        node("SequenceAt", &["filled", "at"], &["one"]),
    ];
    let mut model =
        model(&[("x", DType::F32), ("n", DType::I64), ("at", DType::I64)], nodes, &["y", "length", "one"]);
    model.graph.as_mut().unwrap().initializer.push(onnx::tensor::to_proto("first", &whole(0)));
    model
}

#[test]
fn a_loop_fills_a_sequence() {
    let inputs = [("x", floats(&[5.0, 6.0, 7.0])), ("n", whole(2)), ("at", whole(-1))];
    assert_eq!(run(&filling(), &inputs), [vec![6.0, 5.0], vec![2.0], vec![5.0]]);
    let model = specialise(&filling(), &inputs).unwrap().model;
    let of = |name: &str| model.graph.variables().find(|(_, n, _)| *n == name).unwrap().0;
    let given = |output: usize| {
        let value = model.graph.outputs[output].value;
        model.graph.node(value.node).given.iter().map(|v| v.node).collect::<Vec<_>>()
    };
    assert_eq!(given(0), [of("n")], "how many there are was read from n");
    assert_eq!(given(1), [of("n")]);
    assert_eq!(given(2), [of("n"), of("at")]);
}

#[test]
fn a_position_outside_of_a_sequence_is_an_error_that_names_it() {
    for at in [2, -3] {
        let inputs = [("x", floats(&[5.0, 6.0, 7.0])), ("n", whole(2)), ("at", whole(at))];
        let error = specialise(&filling(), &inputs).unwrap_err().to_string();
        assert!(error.contains(&format!("position {at}")) && error.contains("the SequenceAt"), "{error}");
    }
}

#[test]
fn a_scan_reads_slices_and_piles_them_up() {
    // Running sums over axis 1, from its end.
    let nodes = vec![node("Add", &["sum", "slice"], &["next"]), node("Identity", &["next"], &["piece"])];
    let list = |name: &str, ints: Vec<i64>| AttributeProto { ints, ..attribute(name, AttributeType::Ints) };
    let scan = with(
        node("Scan", &["start", "x"], &["total", "sums"]),
        vec![
            held("body", body(&["sum", "slice"], nodes, &["next", "piece"])),
            int("num_scan_inputs", 1),
            list("scan_input_axes", vec![-1]),
            list("scan_input_directions", vec![1]),
            list("scan_output_directions", vec![1]),
            list("scan_output_axes", vec![1]),
        ],
    );
    let model = model(&[("start", DType::F32), ("x", DType::F32)], vec![scan], &["total", "sums"]);
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 3]), |i| [1.0, 2.0, 3.0, 10.0, 20.0, 30.0][i]);
    let outputs = run(&model, &[("start", floats(&[0.0, 0.0])), ("x", x)]);
    assert_eq!(outputs, [vec![6.0, 60.0], vec![6.0, 5.0, 3.0, 60.0, 50.0, 30.0]]);
    let none = Tensor::zeros(&Type::new(DType::F32, [2, 0]));
    assert_eq!(run(&model, &[("start", floats(&[1.0, 2.0])), ("x", none)]), [vec![1.0, 2.0], vec![]]);
}

#[test]
fn shapes_that_are_computed_from_values_are_read_from_them() {
    // As many rows as n says.
    let shape = with(node("Concat", &["n", "rest"], &["shape"]), vec![int("axis", 0)]);
    let nodes = vec![shape, node("Reshape", &["x", "shape"], &["y"])];
    let mut model = model(&[("x", DType::F32), ("n", DType::I64)], nodes, &["y"]);
    let rest = Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| -1);
    model.graph.as_mut().unwrap().initializer.push(onnx::tensor::to_proto("rest", &rest));
    let n = Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| 3);
    let imported = specialise(&model, &[("x", floats(&[0.0; 6])), ("n", n)]).unwrap();
    let graph = &imported.model.graph;
    let reshape = graph.node(graph.outputs[0].value.node);
    assert_eq!(reshape.outputs[0].shape, [3, 2]);
    assert_eq!(reshape.given.len(), 1);
    assert_eq!(
        ir::Operation::name(&match &graph.node(reshape.given[0].node).kind {
            NodeKind::Operator(op) => op.clone(),
            other => panic!("{other:?}"),
        }),
        "Concat"
    );
}

#[test]
fn shapes_that_follow_from_shapes_are_read_from_nothing() {
    let nodes = vec![node("Shape", &["x"], &["shape"]), node("Expand", &["x", "shape"], &["y"])];
    let imported = specialise(&model(&[("x", DType::F32)], nodes, &["y"]), &[("x", floats(&[1.0]))]).unwrap();
    assert!(imported.model.graph.nodes.iter().all(|node| node.given.is_empty()));
}

#[test]
fn an_optional_holds_something_or_nothing() {
    let nodes = vec![
        node("Optional", &["x"], &["some"]),
        node("OptionalHasElement", &["some"], &["yes"]),
        node("OptionalGetElement", &["some"], &["y"]),
        with(node("Optional", &[], &["none"]), vec![]),
        node("OptionalHasElement", &["none"], &["no"]),
    ];
    let model = model(&[("x", DType::F32)], nodes, &["y", "yes", "no"]);
    assert_eq!(run(&model, &[("x", floats(&[4.0]))]), [[4.0], [1.0], [0.0]]);
}

#[test]
fn a_function_with_a_branch_is_written_out_where_it_is_called() {
    let mut model = branching();
    let graph = model.graph.as_mut().unwrap();
    let function = FunctionProto {
        name: Some("Choose".to_owned()),
        domain: Some("mine".to_owned()),
        input: vec!["x".to_owned(), "c".to_owned()],
        output: vec!["y".to_owned()],
        node: vec![graph.node.pop().unwrap()],
        opset_import: model.opset_import.clone(),
        ..Default::default()
    };
    let call =
        |c: &str, y: &str| NodeProto { domain: Some("mine".to_owned()), ..node("Choose", &["x", c], &[y]) };
    graph.node.extend([node("Not", &["c"], &["d"]), call("c", "y"), call("d", "z")]);
    graph.output.push(some("z"));
    model.functions.push(function);
    model.opset_import.push(OperatorSetIdProto { domain: Some("mine".to_owned()), version: Some(1) });
    assert_eq!(run(&model, &[("x", floats(&[-1.0, 3.0]))]), [[1.0, 3.0], [1.0, -3.0]]);
    let imported = specialise(&model, &[("x", floats(&[-1.0, 3.0]))]).unwrap();
    assert!(imported.model.functions.is_empty());
    let last = imported.origins.last().unwrap();
    assert_eq!(last.path.bodies(), [Within { node: 5, inside: Inside::Call(0) }]);
}

#[test]
fn a_function_that_only_a_call_leads_through_may_be_called_by_nobody() {
    let text = r#"<ir_version: 10, opset_import: ["" : 21, "own" : 1], producer_name: "onnxsmith">
m (float[2] x) => (y) { y = Abs(x) }
<domain: "own", opset_import: ["" : 21]>
some (p, q) => (r) <float[2] p, bool[2] q> { r = Compress(p, q) }"#;
    let imported =
        onnx::import::specialise(&Program::from_text(text).expect("a program"), &Options::default());
    assert!(imported.is_ok(), "{imported:?}");
    let wrong = text.replace("Compress(p, q)", "Add(p, q)");
    let imported =
        onnx::import::specialise(&Program::from_text(&wrong).expect("a program"), &Options::default());
    assert!(imported.is_err(), "what cannot be is an error all the same");
}

#[test]
fn a_function_that_reads_a_count_from_its_operand_is_written_out_where_it_is_called() {
    let mut model = model(&[("x", DType::F32), ("z", DType::F32)], vec![], &["y", "w"]);
    let mine = || Some("mine".to_owned());
    model.functions.push(FunctionProto {
        name: Some("Places".to_owned()),
        domain: mine(),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        node: vec![node("NonZero", &["x"], &["y"])],
        opset_import: model.opset_import.clone(),
        ..Default::default()
    });
    model.opset_import.push(OperatorSetIdProto { domain: mine(), version: Some(1) });
    let call = |x: &str, y: &str| NodeProto { domain: mine(), ..node("Places", &[x], &[y]) };
    model.graph.as_mut().unwrap().node.extend([call("x", "y"), call("z", "w")]);
    let inputs = [("x", floats(&[0.0, 3.0, 1.0])), ("z", floats(&[5.0, 0.0, 0.0]))];
    assert_eq!(run(&model, &inputs), [vec![1.0, 2.0], vec![0.0]]);
}

/// The program of a model after an edit, as a model.
#[track_caller]
/// The elements of x that are not zero, and what comes behind them in another shape: their number is known when they are.
fn compressing() -> ModelProto {
    let nodes = vec![
        node("NonZero", &["x"], &["places"]),
        node("Squeeze", &["places", "first"], &["at"]),
        node("Gather", &["x", "at"], &["kept"]),
        node("Shape", &["kept"], &["length"]),
        with(node("Concat", &["length", "one"], &["shape"]), vec![int("axis", 0)]),
        node("Reshape", &["kept", "shape"], &["y"]),
    ];
    let mut model = model(&[("x", DType::F32)], nodes, &["y"]);
    let list = |value: i64| Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| value.into());
    let graph = model.graph.as_mut().unwrap();
    graph.initializer =
        vec![onnx::tensor::to_proto("first", &list(0)), onnx::tensor::to_proto("one", &list(1))];
    model
}

#[test]
fn a_number_that_only_values_tell_is_found() {
    let inputs = [("x", floats(&[0.0, 5.0, -0.0, 7.0]))];
    assert_eq!(run(&compressing(), &inputs), [[5.0, 7.0]]);
    let imported = specialise(&compressing(), &inputs).unwrap();
    let graph = &imported.model.graph;
    assert_eq!(graph.ty(graph.outputs[0].value).shape, [2, 1]);
    let written = imported.model.to_string();
    assert!(written.contains("NonZero(%0) {count = 2} given (%"), "{written}");
    // Which elements are zero is what the number was read from, and the shape of what follows was read from that.
    let reshape = graph.node(graph.outputs[0].value.node);
    assert_eq!(reshape.given.len(), 1, "{written}");
    assert_eq!(run(&compressing(), &[("x", floats(&[0.0]))]), [[]]);
}

#[test]
fn a_number_that_is_undecidable_opens_what_follows() {
    // Whether sin(π) is 0 depends on how exact it is; sin(1) is not 0 in any case.
    let pi = f64::from(std::f32::consts::PI);
    let mut model = compressing();
    let graph = model.graph.as_mut().unwrap();
    graph.node.insert(0, node("Sin", &["angle"], &["x"]));
    graph.input[0] = any("angle", DType::F32);
    let is_open = |angle: f64| {
        let inputs = [("angle", floats(&[angle]))];
        let model = specialise(&model, &inputs).unwrap().model;
        let tensors = [inputs[0].1.clone()];
        let taps = interp::Taps::Outputs;
        interp::evaluate(&model, &tensors, &interp::Profile::WGSL, taps).unwrap().outputs[0].is_open
    };
    assert!(is_open(pi) && !is_open(1.0));
}
