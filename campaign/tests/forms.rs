//! Findings in what a program says beyond its model: reduction keeps the form, and the form is blamed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use backends::engines::models::OnModels;
use harness::Target;
use harness::reference::Reference;
use ir::{DType, Tensor, Type};
use onnx::case::{DataSet, NamedTensor};
use onnx::program::Program;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto, decode,
};
use onnx::{CaseFolder, encode};
use triage::reduce::{Budget, Reduced, Reduction, reduce};
use worker::{Case, Description, Engine, EngineError};

/// An engine that has its own way with some programs, and is right about all others.
struct Having(fn(&Program) -> Option<Program>);

impl Engine for Having {
    fn describe(&self) -> Description {
        OnModels(Reference).describe()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Tensor)>, EngineError> {
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
        NamedTensor::new("x", Tensor::from_f64_fn(&x, |_| 3.0)),
        NamedTensor::new("count", Tensor::from_i128_fn(&count, |_| 4)),
    ];
    let set = DataSet { inputs, ..DataSet::default() };
    CaseFolder { model: encode(&model), sets: vec![set], ..CaseFolder::default() }.write(path).unwrap();
}

/// What a reduction of the case for an engine comes to, and the operators that are left.
fn reduced(wrong: fn(&Program) -> Option<Program>) -> (Reduced, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("case"), folder.path().join("reduced"));
    case(&from);
    let targets = Target::here(Box::new(Having(wrong)));
    let stop = AtomicBool::new(false);
    let plan = Reduction { targets: &targets, seed: 1, budget: Budget::default(), stop: &stop };
    let reduced = reduce(&from, &to, &plan, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let program = CaseFolder::read(&to).and_then(|case| case.decode()).and_then(Program::read).unwrap();
    let mut operators = Vec::new();
    program.main.body.each_node(&mut |node| operators.push(node.rest.op_type().to_owned()));
    (reduced, operators)
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
    let inputs: BTreeMap<String, Tensor> =
        case.sets[0].inputs.iter().map(|t| (t.name.clone(), t.tensor.clone())).collect();
    let model = harness::case::import(&case.model, &inputs).unwrap();
    let tensors: Vec<Tensor> = model.graph.variables().map(|(_, name, _)| inputs[name].clone()).collect();
    let outputs = interp::evaluate_plain(&model, &tensors).unwrap();
    assert_eq!(outputs[1].to_f64s(), [48.0], "3 doubled four times, and above 0");
}
