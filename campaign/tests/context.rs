//! Whom the campaign blames where no operator alone shows what the graph shows: one whose wrong type a later one chokes
//! on, and the first to diverge even if an engine does not take every value as an output at once.

mod saved;
mod verdict;

use std::time::Duration;

use backends::cpu::{Cpu, NodeRunner};
use backends::engines::models::{OnModels, Runner};
use harness::Target;
use harness::reference::Reference;
use interp::Profile;
use ir::{Attributes, DType, NodeKind, Operation, Tensor, Type, Value};
use ops::{Graph, Model, Op};
use oracles::{Culprit, Finding, Symptom, Verdict};
use triage::blame::{Blamed, blame};
use triage::invent::UserInputs;
use triage::reduce::{Budget, Reduction, reduce};
use verdict::verdict;
use worker::{Description, EngineError};

/// What running a model shows, and who is blamed for it.
fn blamed(target: &Target, model: &Model, inputs: &[Tensor]) -> (Finding, Blamed) {
    let verdict = verdict(target, model, inputs);
    let Verdict::Bug(mut finding) = verdict else { panic!("{verdict:?}") };
    let blamed = blame(target, model, inputs, &finding).expect("somebody to blame");
    (finding.culprit, finding.hidden_by_taps) = (blamed.culprit.clone(), blamed.hidden_by_taps);
    (*finding, blamed)
}

fn push(graph: &mut Graph, name: &str, operands: &[Value]) -> Value {
    let op = Op::parse(name, &Attributes::new()).expect("an operator").expect("its attributes");
    let operands: Vec<_> = operands.iter().copied().map(Some).collect();
    Value::new(graph.operator(op, &operands).expect("it is well typed"), 0)
}

fn f32s(size: i64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [size]), |i| i as f64 + 0.5)
}

/// An engine of unary operators of which Abs gives a matrix, and the others refuse that, each in words of its own.
struct Matrix {
    /// How many outputs a model may have.
    outputs: usize,
}

impl Runner for Matrix {
    fn describe(&self) -> Description {
        Description { engine: "matrix".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        if model.graph.outputs.len() > self.outputs {
            return Err(EngineError::Load("too many outputs".to_owned()));
        }
        let mut inputs = inputs.iter().cloned();
        let mut values: Vec<Tensor> = Vec::new();
        for (_, node) in model.graph.iter() {
            values.push(match &node.kind {
                NodeKind::Variable { .. } => inputs.next().expect("an input"),
                NodeKind::Constant(tensor) => (**tensor).clone(),
                NodeKind::Operator(op) => {
                    let operand = &values[node.inputs[0].expect("an operand").node.index()];
                    unary(op, operand, &node.outputs).map_err(|why| EngineError::Run(why.to_owned()))?
                }
                other @ NodeKind::Call(_) => panic!("{other:?}"),
            });
        }
        Ok(model.graph.outputs.iter().map(|output| values[output.value.node.index()].clone()).collect())
    }
}

fn unary(op: &Op, operand: &Tensor, outputs: &[Type]) -> Result<Tensor, &'static str> {
    if operand.shape().len() > 1 {
        return Err(match (op.name(), operand.len()) {
            ("Neg", 0..=2) => "a matrix of little has no opposite",
            ("Neg", _) => "no opposite of matrices is known",
            _ => "what a strange rank",
        });
    }
    let right = Cpu.run_node(op, &[Some(operand)], outputs).expect("a kernel").remove(0);
    let values = right.to_f64s();
    let matrix = || Tensor::from_f64_fn(&Type::new(DType::F32, [1, values.len() as i64]), |i| values[i]);
    Ok(if op.name() == "Abs" { matrix() } else { right })
}

fn matrix() -> Target {
    Target::here(Box::new(OnModels::new(Matrix { outputs: 2 }))).remove(0)
}

/// Operators one after another, on a vector.
fn chain(names: &[&str], size: i64) -> (Model, Vec<Tensor>) {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [size]));
    let y = names.iter().fold(x, |at, name| push(&mut graph, name, &[at]));
    graph.output("y", y);
    (Model::new(17, graph), vec![f32s(size)])
}

#[test]
fn a_wrong_type_is_to_blame_for_whatever_refuses_it() {
    for later in ["Neg", "Exp"] {
        let (model, inputs) = chain(&["Floor", "Abs", later, "Sin"], 4);
        let (finding, blamed) = blamed(&matrix(), &model, &inputs);
        assert_eq!(finding.signature().to_string(), "matrix | Abs f32 dense in context | rejected later");
        assert!(blamed.alone.is_none());
    }
    let (model, inputs) = chain(&["Floor", "Abs"], 4);
    let (finding, _) = blamed(&matrix(), &model, &inputs);
    assert_eq!(finding.signature().to_string(), "matrix | Abs f32 dense | wrong type");
}

#[test]
fn a_wrong_type_without_which_the_refusal_stays_is_no_reason() {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [4]));
    let matrix = push(&mut graph, "Abs", &[x]);
    let negative = push(&mut graph, "Neg", &[matrix]);
    graph.output("x", x);
    graph.output("y", negative);
    let target = Target::here(Box::new(OnModels::new(Matrix { outputs: 1 }))).remove(0);
    let (finding, _) = blamed(&target, &Model::new(17, graph), &[f32s(4)]);
    assert_eq!(finding.signature().to_string(), "matrix | whole graph | rejected at load: too many outputs");
}

#[test]
fn of_two_wrong_types_each_may_be_reason_enough() {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [4]));
    for name in ["y", "z"] {
        let matrix = push(&mut graph, "Abs", &[x]);
        let negative = push(&mut graph, "Neg", &[matrix]);
        graph.output(name, negative);
    }
    let (finding, _) = blamed(&matrix(), &Model::new(17, graph), &[f32s(4)]);
    assert_eq!(finding.signature().to_string(), "matrix | Abs f32 dense in context | rejected later");
}

#[test]
fn the_words_of_the_later_operator_do_not_stop_a_reduction() {
    let (model, inputs) = chain(&["Floor", "Abs", "Neg", "Sin"], 4);
    let at = tempfile::tempdir().expect("a folder");
    let path = saved::save(at.path(), model, inputs, &Profile::DECLARED);
    let targets = [matrix()];
    let budget = Budget { time: Duration::from_hours(1), tries: 20_000, jobs: 2 };
    let reduction =
        Reduction { targets: &targets, seed: 0, given: &UserInputs::default(), budget, stop: &|| false };
    let reduced = reduce(&path, &path.with_extension("reduced"), &reduction, &mut |_| {}).expect("a finding");
    assert_eq!((reduced.nodes_before, reduced.nodes_after), (4, 2), "{reduced:?}");
    // An element for each value: Neg has other words for that.
    assert!(reduced.elements_after <= 3, "{reduced:?}");
}

/// An engine of which ReduceMean keeps axes that it should not, and of which all other operators are right about
/// whatever they get.
struct Keeping;

impl Runner for Keeping {
    fn describe(&self) -> Description {
        Description { engine: "keeping".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let text = model.to_string().replace("axes = [1], keepdims = 0", "axes = [1], keepdims = 1");
        let text = text.replace("f32[2] = ReduceMean", "f32[2, 1] = ReduceMean");
        let text = text.replace("f32[2] = Sub", "f32[2, 2] = Sub").replace("f32[2] = Neg", "f32[2, 1] = Neg");
        Reference.run(&text.parse().map_err(|e| EngineError::Run(format!("{e}")))?, inputs)
    }
}

/// The mean of [2] is [2, 1], and the difference of [2] and that is [2, 2], of which the sum is a number again.
#[test]
fn a_wrong_type_is_to_blame_for_what_a_later_operator_broadcasts_it_into() {
    let model = "onnxsmith 1 opset 18 graph { %0: f32[2, 2] = variable \"x\" %1: f32[2] = variable \"v\" \
                 %2: f32[2] = ReduceMean(%0) {axes = [1], keepdims = 0, noop_with_empty_axes = 0} \
                 %3: f32[2] = Sub(%1, %2) %4: f32[] = ReduceL1(%3) {axes = [], keepdims = 0, noop_with_empty_axes = 0} \
                 return \"y\" = %4 }";
    let model: Model = model.parse().expect("a model");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 2]), |i| i as f64);
    let target = Target::here(Box::new(OnModels::new(Keeping))).remove(0);
    let (finding, blamed) = blamed(&target, &model, &[x, f32s(2)]);
    assert!(matches!(finding.symptom, oracles::Symptom::Mismatch(_)), "{finding:?}");
    assert_eq!(finding.signature().to_string(), "keeping | ReduceMean f32 dense in context | mismatch later");
    assert!(blamed.alone.is_none());
}

/// An engine that refuses two outputs of nodes of one name, and takes Exp of a sum for something else.
struct Picky {
    /// The nodes of which it takes one as an output.
    one_of: &'static str,
    /// Whether the sum being an output stops it from being wrong.
    fuses: bool,
}

fn is_called(model: &Model, value: Value, name: &str) -> bool {
    matches!(&model.graph.node(value.node).kind, NodeKind::Operator(op) if Operation::name(op) == name)
}

impl Runner for Picky {
    fn describe(&self) -> Description {
        Description { engine: "picky".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let outputs = || model.graph.outputs.iter().map(|output| output.value);
        if outputs().filter(|v| is_called(model, *v, self.one_of)).count() > 1 {
            return Err(EngineError::Load("outputs are not unique".to_owned()));
        }
        let mut wrong = model.clone();
        for (id, node) in model.graph.iter().filter(|(id, _)| is_called(model, Value::new(*id, 0), "Exp")) {
            let operand = node.inputs[0].expect("an operand");
            let is_seen = outputs().any(|output| output == operand);
            if is_called(model, operand, "Add") && !(self.fuses && is_seen) {
                let op = Op::parse("Neg", &Attributes::new()).expect("an operator").expect("its attributes");
                wrong.graph.nodes[id.index()].kind = NodeKind::Operator(op);
            }
        }
        Reference.run(&wrong, inputs)
    }
}

/// Whom a picky engine is blamed for, in the words of a signature.
fn picked(picky: Picky) -> String {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [3]));
    let mut at = x;
    for _ in 0..3 {
        push(&mut graph, "Size", &[at]);
        at = push(&mut graph, "Neg", &[at]);
    }
    let sum = push(&mut graph, "Add", &[at, x]);
    let sum = push(&mut graph, "Add", &[sum, x]);
    let y = push(&mut graph, "Exp", &[sum]);
    graph.output("y", y);
    let target = Target::here(Box::new(OnModels::new(picky))).remove(0);
    blamed(&target, &Model::new(17, graph), &[f32s(3)]).0.signature().to_string()
}

#[test]
fn values_that_are_no_outputs_together_are_tapped_apart() {
    for one_of in ["If", "Size", "Neg"] {
        let blamed = picked(Picky { one_of, fuses: false });
        assert_eq!(blamed, "picky | Exp f32 dense in context | mismatch gross", "{one_of}");
        let blamed = picked(Picky { one_of, fuses: true });
        assert_eq!(blamed, "picky | whole graph, hidden by taps | mismatch gross", "{one_of}");
    }
}

/// An engine that is wrong once about a graph of several operators, and right ever after.
struct Fickle {
    was_wrong: bool,
}

impl Runner for Fickle {
    fn describe(&self) -> Description {
        Description { engine: "fickle".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let outputs = Reference.run(model, inputs)?;
        if std::mem::replace(&mut self.was_wrong, true) {
            return Ok(outputs);
        }
        Ok(outputs.iter().map(|output| Tensor::from_f64_fn(&output.ty(), |_| f64::NAN)).collect())
    }
}

#[test]
fn what_does_not_come_again_is_hidden_by_nothing() {
    let (model, inputs) = chain(&["Floor", "Neg"], 4);
    let target = Target::here(Box::new(OnModels::new(Fickle { was_wrong: false }))).remove(0);
    let (finding, _) = blamed(&target, &model, &inputs);
    assert_eq!(finding.signature().to_string(), "fickle | whole graph | mismatch nan");
}

/// The wrong type is what its operator does alone, and what a later one makes of it follows from that.
#[test]
fn of_two_findings_the_one_that_the_folder_names_first_is_reduced() {
    let (targets, folder) = ([matrix()], tempfile::tempdir().expect("a folder"));
    let (model, inputs) = chain(&["Floor", "Abs", "Neg", "Sin"], 4);
    let reduced = |named: &[Finding]| {
        let path = saved::save(folder.path(), model.clone(), inputs.clone(), targets[0].profile);
        let at = path.join("case.json");
        let mut about: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&at).expect("a file")).expect("JSON");
        about["findings"] = serde_json::json!(named);
        std::fs::write(&at, about.to_string()).expect("a file");
        let budget = Budget { time: Duration::from_hours(1), tries: 200, jobs: 1 };
        let given = UserInputs::default();
        let how = Reduction { targets: &targets, seed: 0, given: &given, budget, stop: &|| false };
        let reduced = reduce(&path, &folder.path().join("reduced"), &how, &mut |_| {});
        let reduced = reduced.expect("there is a finding");
        (reduced.signature, reduced.nodes_before, reduced.nodes_after)
    };
    let found = |culprit: &str| {
        let verdict = Verdict::bug(&targets[0].backend, &targets[0].level, Symptom::WrongType, String::new());
        let Verdict::Bug(finding) = verdict else { panic!("{verdict:?}") };
        let operand = Type::new(DType::F32, [4]);
        Finding { culprit: Some(Culprit::alone(culprit, &[Some(&operand)])), ..*finding }
    };
    let later = ("matrix | Abs f32 dense in context | rejected later".to_owned(), 4, 2);
    assert_eq!(reduced(&[]), later);
    assert_eq!(reduced(&[found("Abs")]), ("matrix | Abs f32 dense | wrong type".to_owned(), 4, 1));
    // Of what is not shown any more nothing can be reduced.
    assert_eq!(reduced(&[found("Sin")]), later);
    assert_eq!(reduced(&[found("Sin"), found("Abs")]).2, 1);
}
