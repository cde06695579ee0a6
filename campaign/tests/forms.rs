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
use onnx::proto::{ModelProto, decode};
use onnx::{CaseFolder, encode, text};
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

/// The last place is not found.
fn short(program: &Program) -> Option<Program> {
    let cut = "cut () => () <int64[1] begin = {0}, int64[1] end = {-1}, int64[1] axis = {1}> {
        found = Slice(all, begin, end, axis)
    }";
    let mut cut = text::parse(cut).expect("a text").graph?;
    let mut model = program.write();
    let graph = model.graph.as_mut()?;
    let at = graph.node.iter().position(|node| node.op_type() == "NonZero")?;
    cut.node[0].output = std::mem::replace(&mut graph.node[at].output, vec!["all".to_owned()]);
    graph.node.insert(at + 1, cut.node.remove(0));
    graph.initializer.extend(cut.initializer);
    // What is declared is what should have been found.
    graph.value_info.clear();
    graph.output.iter_mut().for_each(|output| output.r#type = None);
    Program::read(model).ok()
}

/// Both forms, with much around them: z = 2⁴·|−x|, and y = z where z's sum is above 0.
const BOTH: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
both (float[1] x, int64 count) => (e, y, z) <float[1] zero = {0}> {
    n = Neg(x)
    a = Abs(n)
    z = Loop(count, "", a) <
        body = repeat (i, on, v) => (still, twice) {
            r = Relu(v)
            twice = Add(r, v)
            still = Identity(on)
        }
    >
    s = ReduceSum(z)
    above = Greater(s, zero)
    c = Squeeze(above)
    y = If(c) <
        then_branch = same () => (side) { side = Identity(z) },
        else_branch = other () => (side) { side = Neg(z) }
    >
    e = Exp(n)
}"#;

/// A program of the conformance suite.
macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../conformance/programs/", $name, ".onnxtxt"))
    };
}

fn number(value: f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| value)
}

fn row(values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
}

fn whole(value: i128) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| value)
}

/// Writes a case of a program that is text.
fn case(path: &Path, program: &str, inputs: &[(&str, Tensor)]) {
    let model = encode(&text::parse(program).unwrap_or_else(|e| panic!("{e}")));
    let inputs = inputs.iter().map(|(name, tensor)| NamedTensor::new(*name, tensor.clone())).collect();
    let set = DataSet { inputs, ..DataSet::default() };
    CaseFolder { model, sets: vec![set], ..CaseFolder::default() }.write(path).unwrap();
}

/// What the case of both forms has for inputs.
fn both() -> [(&'static str, Tensor); 2] {
    [("x", number(3.0)), ("count", whole(4))]
}

/// What a reduction of the case for an engine comes to, and the operators that are left.
fn reduced(
    wrong: fn(&Program) -> Option<Program>,
    program: &str,
    inputs: &[(&str, Tensor)],
) -> (Reduced, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("case"), folder.path().join("reduced"));
    case(&from, program, inputs);
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
    let (reduced, operators) = reduced(hasty, BOTH, &both());
    assert!(reduced.signature.contains("| form Loop "), "{}", reduced.signature);
    assert_eq!(operators, ["Loop", "Add"], "{reduced:?}");
    assert!(reduced.minimal);
}

#[test]
fn a_fault_in_a_branch_keeps_the_branch_and_is_blamed_on_it() {
    let (reduced, operators) = reduced(contrary, BOTH, &both());
    assert!(reduced.signature.contains("| form If "), "{}", reduced.signature);
    assert_eq!(operators, ["Greater", "If", "Identity", "Neg"], "{reduced:?}");
}

/// The programs of the conformance suite: a branch, a sequence that a loop fills, places that only values tell.
#[test]
fn whatever_the_program_the_form_at_fault_is_kept_and_blamed() {
    let x = ("x", row(&[-1.0, 3.0, 0.5]));
    let (branch, operators) = reduced(contrary, program!("branch"), std::slice::from_ref(&x));
    assert!(branch.signature.contains("| form If "), "{}", branch.signature);
    assert!(operators.contains(&"If".to_owned()), "{operators:?}");
    let (fill, operators) = reduced(hasty, program!("fill"), &[x.clone(), ("n", whole(3))]);
    assert!(fill.signature.contains("| form Loop "), "{}", fill.signature);
    assert!(operators.contains(&"Loop".to_owned()), "{operators:?}");
    let (count, operators) = reduced(short, program!("count"), &[x]);
    assert!(count.signature.contains("| NonZero "), "{}", count.signature);
    assert_eq!(operators, ["NonZero"]);
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
    let (reduced, operators) = reduced(nothing, BOTH, &both());
    assert!(reduced.signature.contains("| Abs "), "{}", reduced.signature);
    assert_eq!(operators, ["Abs"]);
}

#[test]
fn what_a_reduced_program_leads_to_can_be_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    case(&path, BOTH, &both());
    let case = CaseFolder::read(&path).unwrap();
    let inputs: BTreeMap<String, Tensor> =
        case.sets[0].inputs.iter().map(|t| (t.name.clone(), t.tensor.clone())).collect();
    let model = harness::case::import(&case.model, &inputs).unwrap();
    let tensors: Vec<Tensor> = model.graph.variables().map(|(_, name, _)| inputs[name].clone()).collect();
    let outputs = interp::evaluate_plain(&model, &tensors).unwrap();
    assert_eq!(outputs[1].to_f64s(), [48.0], "3 doubled four times, and above 0");
}
