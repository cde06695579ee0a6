//! What findings are called: what is left of their case. Every operator that is wrong is told, whatever else is wrong.

mod verdict;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use backends::engines::models::{OnModels, Runner};
use graphgen::Settings;
use harness::reference::Reference;
use harness::{Maker, Target, Values};
use ir::{Attribute, Attributes, DType, DTypes, NodeKind, Operation, Tensor, Type, Value};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::replay::{Replay, replay};
use onnxsmith_campaign::store::Identity;
use ops::{Graph, Model, Op};
use oracles::Finding;
use triage::blame::Suspect;
use triage::oracle::AskError;
use triage::peel::{NamedFinding, Peeled};
use verdict::{examined, verdict};
use worker::{Description, EngineError};

/// The reference, which takes some nodes for others.
struct Mistaken(Mistake);

/// Whether the engine takes a node for an Identity.
type Mistake = fn(&Model, &Op, Value) -> bool;

impl Runner for Mistaken {
    fn describe(&self) -> Description {
        Description { engine: "mistaken".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let mut wrong = model.clone();
        for (id, node) in model.graph.iter() {
            if let NodeKind::Operator(op) = &node.kind
                && (self.0)(model, op, Value::new(id, 0))
            {
                wrong.graph.nodes[id.index()].kind = NodeKind::Operator(operator("Identity", &[]));
            }
        }
        Reference.run(&wrong, inputs)
    }
}

/// Abs and Floor are always wrong, and so is Exp of an opposite that nobody else sees.
const FUSING: Mistake = |model, op, value| {
    let operand = model.graph.node(value.node).inputs.first().copied().flatten();
    let is_hidden = |value: &Value| model.graph.outputs.iter().all(|output| output.value != *value);
    let fuses = || operand.filter(is_hidden).is_some_and(|value| is_called(model, value, "Neg"));
    ["Abs", "Floor"].contains(&op.name()) || op.name() == "Exp" && fuses()
};

fn is_called(model: &Model, value: Value, name: &str) -> bool {
    matches!(&model.graph.node(value.node).kind, NodeKind::Operator(op) if op.name() == name)
}

fn target(mistake: Mistake) -> Target {
    Target::here(Box::new(OnModels::new(Mistaken(mistake)))).remove(0)
}

fn operator(name: &str, attributes: &[(&str, i64)]) -> Op {
    let attributes = attributes.iter().fold(Attributes::new(), |all, (name, value)| all.int(name, *value));
    Op::parse(name, &attributes).expect("an operator").expect("its attributes")
}

/// Operators with attributes, one after another.
type Chain<'c> = [(&'c str, &'c [(&'c str, i64)])];

/// A chain of operators on a matrix.
fn model(chain: &Chain<'_>) -> (Model, Vec<Tensor>) {
    let mut graph = Graph::new();
    let ty = Type::new(DType::F32, [2, 3]);
    let mut at = graph.variable("x", ty.clone());
    for (name, attributes) in chain {
        at = Value::new(graph.operator(operator(name, attributes), &[Some(at)]).expect("types"), 0);
    }
    graph.output("y", at);
    (Model::new(18, graph), vec![Tensor::from_f64_fn(&ty, |i| i as f64 / 2.0 - 1.25)])
}

/// All that is found in a chain.
fn found(mistake: Mistake, chain: &Chain<'_>) -> Vec<Finding> {
    let (target, (model, inputs)) = (target(mistake), model(chain));
    let suspect = Suspect::new(&model, &inputs, target.profile);
    let peeled = examined(&target, &model, &inputs, |_, exam| {
        suspect.peel(&target, true, exam, &|| false).expect("names")
    });
    match peeled {
        Peeled::Nothing(verdict) => panic!("{verdict:?}"),
        Peeled::Found(first, behind) => {
            std::iter::once(*first).chain(behind).map(|NamedFinding { finding, .. }| finding).collect()
        }
    }
}

fn signatures(findings: &[Finding]) -> Vec<String> {
    let mut names: Vec<String> = findings.iter().map(|finding| finding.signature().to_string()).collect();
    names.sort();
    names
}

const FUSION: &str = "mistaken | Neg + Exp f32 dense | mismatch gross";

#[test]
fn every_operator_that_is_wrong_alone_is_told_whichever_is_blamed() {
    let findings = found(FUSING, &[("Abs", &[]), ("Floor", &[]), ("Sin", &[])]);
    let expected =
        ["mistaken | Abs f32 dense | mismatch gross", "mistaken | Floor f32 dense | mismatch gross"];
    assert_eq!(signatures(&findings), expected);
    assert!(findings.iter().all(|finding| finding.after.is_empty()), "{findings:?}");
}

#[test]
fn what_is_wrong_everywhere_shadows_nothing_behind_it() {
    let chain: &Chain<'_> =
        &[("Abs", &[]), ("Sin", &[]), ("Neg", &[]), ("Exp", &[]), ("Floor", &[]), ("Cos", &[])];
    let findings = found(FUSING, chain);
    assert!(signatures(&findings).contains(&FUSION.to_owned()), "{:?}", signatures(&findings));
    let behind = findings.iter().find(|finding| finding.signature().to_string() == FUSION);
    assert_eq!(behind.map(|finding| finding.after.clone()), Some(vec!["Abs".to_owned(), "Floor".to_owned()]));
    assert_eq!(findings.len(), 3, "{:?}", signatures(&findings));
}

#[test]
fn a_name_does_not_depend_on_what_is_around_the_fault() {
    let around: [&Chain<'_>; 3] = [
        &[("Neg", &[]), ("Exp", &[])],
        &[("Sin", &[]), ("Cos", &[]), ("Neg", &[]), ("Exp", &[]), ("Neg", &[])],
        &[("Neg", &[]), ("Exp", &[]), ("Sigmoid", &[]), ("Neg", &[]), ("Exp", &[]), ("Tanh", &[])],
    ];
    for chain in around {
        assert_eq!(signatures(&found(FUSING, chain)), [FUSION], "{chain:?}");
    }
}

#[test]
fn a_name_has_the_attributes_without_which_the_fault_is_gone() {
    let chain: &Chain<'_> = &[("Softmax", &[("axis", 0)]), ("Sin", &[])];
    let always = found(|_, op, _| op.name() == "Softmax", chain);
    assert_eq!(signatures(&always), ["mistaken | Softmax f32 dense | mismatch gross"]);
    let of_rows: Mistake = |_, op, _| {
        op.name() == "Softmax" && Operation::attributes(op).get("axis") == Some(&Attribute::Int(0))
    };
    assert_eq!(signatures(&found(of_rows, chain)), ["mistaken | Softmax(axis) f32 dense | mismatch gross"]);
}

#[test]
fn there_is_no_name_where_a_stop_cuts_it() {
    let (target, (model, inputs)) = (target(FUSING), model(&[("Sin", &[]), ("Neg", &[]), ("Exp", &[])]));
    assert!(matches!(verdict(&target, &model, &inputs), oracles::Verdict::Bug(_)));
    let suspect = Suspect::new(&model, &inputs, target.profile);
    let cut = examined(&target, &model, &inputs, |_, exam| suspect.peel(&target, true, exam, &|| true));
    assert!(matches!(cut, Err(AskError::Stopped)));
}

fn plan() -> Plan<'static> {
    let settings = Settings {
        nodes: 6,
        operators: ["Abs", "Neg", "Exp", "Add"].into(),
        dtypes: DTypes::of(&[DType::F64]),
        max_elements: 16,
        ..Settings::default()
    };
    Plan {
        jobs: 2,
        cases: Some(150),
        ..Plan::of(
            Maker { swarm: false, values: Values::Plain, ..Maker::new(3, settings) },
            vec![target(FUSING)],
        )
    }
}

#[test]
fn a_saved_case_and_what_it_was_reduced_to_have_the_name_of_their_campaign() {
    let (out, plan) = (tempfile::tempdir().expect("a folder"), plan());
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    let names: Vec<&str> = report.clusters.iter().map(|cluster| cluster.signature.as_str()).collect();
    for name in
        ["mistaken | Abs f64 dense | mismatch gross", "mistaken | Neg + Exp f64 dense | mismatch gross"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(report.naming.behind > 0 && report.naming.tries > 0, "{:?} {names:?}", report.naming);
    for cluster in &report.clusters {
        let forms: Vec<PathBuf> =
            [&cluster.smallest, &cluster.reduced].into_iter().flatten().cloned().collect();
        assert_eq!(forms.len(), 2, "{cluster:?}");
        let how = Replay::on(&plan.targets);
        let replayed = replay(&forms, &how, &|| {});
        assert_eq!(replayed.not_passing.len(), 2, "{:?}", replayed.not_passing);
        for case in &replayed.not_passing {
            assert!(case.signatures.contains(&cluster.signature), "{cluster:?}: {:?}", case.signatures);
        }
    }
}
