//! Findings in what a program says beyond its model: reduction keeps the form, and the form is blamed.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use backends::engines::models::OnModels;
use harness::Target;
use harness::reference::Reference;
use ir::{DType, Datum, Held, Kind, Tensor, Type};
use onnx::case::{DataSet, NamedDatum};
use onnx::program::Program;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto, decode,
};
use onnx::{CaseFolder, encode};
use onnxsmith_campaign::replay::{Replay, replay};
use triage::reduce::{Budget, Reduced, Reduction, reduce};
use worker::{Case, Description, Engine, EngineError};

/// An engine that has its own way with some programs, and is right about all others.
struct Having(fn(&Program) -> Option<Program>);

impl Engine for Having {
    fn describe(&self) -> Description {
        OnModels(Reference).describe()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let program = decode::<ModelProto>("model", case.model).and_then(Program::read);
        let program = program.map_err(|e| EngineError::Load(e.to_string()))?;
        let wrong = self.0(&program).map(|program| encode(&program.write()));
        OnModels(Reference).run(&Case { model: wrong.as_deref().unwrap_or(case.model), ..*case })
    }
}

/// One iteration is enough for every loop.
fn hasty(program: &Program) -> Option<Program> {
    let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "Loop")?;
    program.with_count(&Vec::new(), at, 1)
}

/// A branch goes where nobody sent it.
fn contrary(program: &Program) -> Option<Program> {
    let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "If")?;
    program.with_side(&Vec::new(), at, "else_branch")
}

/// A sequence gets its last tensor twice.
fn longer(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut nodes = program.main.body.nodes.iter_mut();
    let construct = nodes.find(|node| node.rest.op_type() == "SequenceConstruct")?;
    construct.inputs.extend(construct.inputs.last().copied());
    Some(program)
}

/// An optional is given as one that holds nothing.
fn without_optional(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let pass = program.main.body.nodes.last_mut()?;
    (pass.rest.op_type, pass.inputs) = (Some("Optional".to_owned()), Vec::new());
    Some(program)
}

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    let (input, output) = (names(inputs), names(outputs));
    NodeProto { op_type: Some(op_type.to_owned()), input, output, ..Default::default() }
}

fn holding(node: NodeProto, bodies: Vec<(&str, GraphProto)>) -> NodeProto {
    let attribute = |(name, graph): (&str, GraphProto)| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Graph as i32),
        g: Some(graph),
        ..Default::default()
    };
    NodeProto { attribute: bodies.into_iter().map(attribute).collect(), ..node }
}

fn graph(inputs: &[&str], nodes: Vec<NodeProto>, outputs: &[&str]) -> GraphProto {
    let named = |name: &&str| ValueInfoProto { name: Some((*name).to_owned()), ..Default::default() };
    let (input, output) = (inputs.iter().map(named).collect(), outputs.iter().map(named).collect());
    GraphProto { input, node: nodes, output, ..Default::default() }
}

/// Both forms, with much around them: z = 2⁴·|−x|, and y = z where z's sum is above 0.
fn case(path: &Path) {
    let body = vec![
        node("Relu", &["v"], &["r"]),
        node("Add", &["r", "v"], &["twice"]),
        node("Identity", &["on"], &["still"]),
    ];
    let repeat = ("body", graph(&["i", "on", "v"], body, &["still", "twice"]));
    let side = |op| graph(&[], vec![node(op, &["z"], &["side"])], &["side"]);
    let nodes = vec![
        node("Neg", &["x"], &["n"]),
        node("Abs", &["n"], &["a"]),
        holding(node("Loop", &["count", "", "a"], &["z"]), vec![repeat]),
        node("ReduceSum", &["z"], &["s"]),
        node("Greater", &["s", "zero"], &["above"]),
        node("Squeeze", &["above"], &["c"]),
        holding(
            node("If", &["c"], &["y"]),
            vec![("then_branch", side("Identity")), ("else_branch", side("Neg"))],
        ),
        node("Exp", &["n"], &["e"]),
    ];
    let (x, count) = (Type::new(DType::F32, [1]), Type::new(DType::I64, []));
    let mut graph = graph(&[], nodes, &["e", "y", "z"]);
    graph.input = vec![onnx::export::value_info("x", &x), onnx::export::value_info("count", &count)];
    graph.initializer = vec![onnx::tensor::to_proto("zero", &Tensor::from_f64_fn(&x, |_| 0.0))];
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(17) }],
        graph: Some(graph),
        ..Default::default()
    };
    let inputs = vec![
        NamedDatum::new("x", Tensor::from_f64_fn(&x, |_| 3.0)),
        NamedDatum::new("count", Tensor::from_i128_fn(&count, |_| 4)),
    ];
    let set = DataSet { inputs, ..DataSet::default() };
    CaseFolder { model: encode(&model), sets: vec![set], ..CaseFolder::default() }.write(path).unwrap();
}

/// A loop between sequences, and an optional that passes by: ys = (2⁴·xs[0], xs[1]), p = o.
fn sequences(path: &Path) {
    let body = vec![node("Add", &["v", "v"], &["twice"]), node("Identity", &["on"], &["still"])];
    let repeat = ("body", graph(&["i", "on", "v"], body, &["still", "twice"]));
    let nodes = vec![
        node("SequenceAt", &["xs", "first"], &["a"]),
        node("SequenceAt", &["xs", "second"], &["b"]),
        holding(node("Loop", &["count", "", "a"], &["z"]), vec![repeat]),
        node("SequenceConstruct", &["z", "b"], &["ys"]),
        node("Identity", &["o"], &["p"]),
    ];
    let port = |name: &str, kind| ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(onnx::export::open_type(kind, DType::F32)),
        ..Default::default()
    };
    let whole = |value| Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| value);
    let mut graph = graph(&[], nodes, &[]);
    let count = onnx::export::value_info("count", &whole(4).ty());
    graph.input = vec![port("xs", Kind::Sequence), port("o", Kind::OptionalSequence), count];
    graph.output = vec![port("ys", Kind::Sequence), port("p", Kind::OptionalSequence)];
    graph.initializer =
        [("first", 0), ("second", 1)].map(|(name, value)| onnx::tensor::to_proto(name, &whole(value))).into();
    let model = ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(17) }],
        graph: Some(graph),
        ..Default::default()
    };
    let floats = |length, value: f64| Tensor::from_f64_fn(&Type::new(DType::F32, [length]), |_| value);
    let inputs = vec![
        NamedDatum::new("xs", Datum::Sequence(vec![floats(2, 3.0), floats(1, 5.0)])),
        NamedDatum::new("o", Datum::Optional(Some(Held::Sequence(vec![floats(3, 1.0)])))),
        NamedDatum::new("count", whole(4)),
    ];
    let set = DataSet { inputs, ..DataSet::default() };
    CaseFolder { model: encode(&model), sets: vec![set], ..CaseFolder::default() }.write(path).unwrap();
}

/// What a reduction of the case for an engine comes to, and the operators that are left.
fn reduced(wrong: fn(&Program) -> Option<Program>) -> (Reduced, Vec<String>) {
    let (reduced, operators, _) = reduced_of(case, wrong);
    (reduced, operators)
}

/// What a reduction of some case for an engine comes to, the operators that are left, and the case.
fn reduced_of(
    write: fn(&Path),
    wrong: fn(&Program) -> Option<Program>,
) -> (Reduced, Vec<String>, CaseFolder) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("case"), folder.path().join("reduced"));
    write(&from);
    let targets = Target::here(Box::new(Having(wrong)));
    let stop = AtomicBool::new(false);
    let plan = Reduction { targets: &targets, seed: 1, budget: Budget::default(), stop: &stop };
    let reduced = reduce(&from, &to, &plan, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let case = CaseFolder::read(&to).unwrap();
    let program = case.decode().and_then(Program::read).unwrap();
    let mut operators = Vec::new();
    program.main.body.each_node(&mut |node| operators.push(node.rest.op_type().to_owned()));
    (reduced, operators, case)
}

#[test]
fn a_fault_between_sequences_is_reduced_with_those_that_it_needs() {
    let (reduced, operators, case) = reduced_of(sequences, hasty);
    assert!(reduced.signature.contains("| form Loop "), "{}", reduced.signature);
    assert_eq!(operators, ["SequenceAt", "Loop", "Add"], "{reduced:?}");
    let kept: Vec<(&str, usize)> = case.sets[0]
        .inputs
        .iter()
        .map(|value| (value.name.as_str(), value.datum.tensors().count()))
        .collect();
    // The count has become a constant.
    assert_eq!(kept, [("xs", 2)]);
}

#[test]
fn sequences_and_optionals_are_judged_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    sequences(&path);
    let verdict = |wrong| {
        let targets = Target::here(Box::new(Having(wrong)));
        let how = Replay { targets: &targets, jobs: 1, out: None, tolerance: None, seed: 1 };
        let replayed = replay(std::slice::from_ref(&path), &how, &|| {});
        replayed.not_passing.into_iter().map(|failure| failure.why).collect::<Vec<String>>()
    };
    assert_eq!(verdict(|_| None), [""; 0]);
    let [why] = &verdict(hasty)[..] else { panic!("it is right") };
    assert!(why.contains("output `ys[0]`: 2 of 2 elements are off"), "{why}");
    // One more, and one that should not be there at all.
    let [why] = &verdict(longer)[..] else { panic!("it is right") };
    assert!(why.contains("output `SequenceLength(ys)`") && why.contains("3.0 where 2.0"), "{why}");
    let [why] = &verdict(without_optional)[..] else { panic!("it is right") };
    assert!(why.contains("output `OptionalHasElement(p)`"), "{why}");
}

#[test]
fn a_fault_in_a_loop_keeps_the_loop_and_is_blamed_on_it() {
    let (reduced, operators) = reduced(hasty);
    assert!(reduced.signature.contains("| form Loop "), "{}", reduced.signature);
    assert_eq!(operators, ["Loop", "Add"], "{reduced:?}");
    assert!(reduced.minimal);
}

#[test]
fn a_fault_in_a_branch_keeps_the_branch_and_is_blamed_on_it() {
    let (reduced, operators) = reduced(contrary);
    assert!(reduced.signature.contains("| form If "), "{}", reduced.signature);
    assert_eq!(operators, ["Greater", "If", "Identity", "Neg"], "{reduced:?}");
}

#[test]
fn a_fault_that_the_flat_model_shows_is_reduced_as_any_other() {
    // What is wrong with Abs has nothing to do with the program around it.
    fn nothing(program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let mut nodes = program.main.body.nodes.iter_mut();
        nodes.find(|node| node.rest.op_type() == "Abs")?.rest.op_type = Some("Relu".to_owned());
        Some(program)
    }
    let (reduced, operators) = reduced(nothing);
    assert!(reduced.signature.contains("| Abs "), "{}", reduced.signature);
    assert_eq!(operators, ["Abs"]);
}

#[test]
fn what_a_reduced_program_leads_to_can_be_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    case(&path);
    let case = CaseFolder::read(&path).unwrap();
    let inputs = harness::case::known_inputs(&case);
    let model = harness::case::import(&case.model, &inputs).unwrap().model;
    let tensors = harness::reference::bind(&model, &inputs).unwrap();
    let outputs = interp::evaluate_plain(&model, &tensors).unwrap();
    assert_eq!(outputs[1].to_f64s(), [48.0], "3 doubled four times, and above 0");
}
