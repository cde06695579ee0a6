//! Every rule can be broken, and import refuses every model that breaks one, with an error that names it.

use std::collections::{BTreeMap, BTreeSet};

use graphgen::{Settings, Weights, generate};
use ir::Stream;
use onnx::proto::{ModelProto, NodeProto};
use onnx::violate::{NotRefused, Scope, rules};
use onnxsmith_onnx as onnx;
use rand::RngExt;

mod uncounted;

use uncounted::settings;

/// How many models the rules are tried on.
const MODELS: u64 = 600;

fn model(stream: Stream) -> ModelProto {
    let opset = stream.child("opset").rng().random_range(ir::graph::OPSETS);
    let settings = Settings { opset, function: 0.5, ..settings() }.swarm(stream);
    let settings = Settings { nodes: 6, ..settings };
    let model = generate(&settings, &Weights, stream.child("structure")).model;
    onnx::export(&model).expect("a generated model can be written")
}

#[test]
fn import_names_the_rule_that_a_model_breaks() {
    let mut broken: BTreeMap<&str, usize> = rules().map(|rule| (rule.name, 0)).collect();
    let mut wrong: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for index in 0..MODELS {
        let stream = Stream::new(7).at(index);
        let valid = model(stream);
        for rule in rules() {
            let Some(violation) = rule.violate(&valid, stream) else { continue };
            *broken.entry(rule.name).or_default() += 1;
            if let Err(e) = violation.refusal(&std::collections::BTreeMap::new()) {
                let text = match &e {
                    NotRefused::Accepted { .. } | NotRefused::Unnamed { .. } => e.to_string(),
                };
                wrong.entry(rule.name).or_default().insert(format!("{index}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{broken:?}");
    let rare: Vec<_> = broken.iter().filter(|(_, n)| **n < 10).collect();
    assert!(rare.is_empty(), "rules that hardly ever apply: {rare:?}");
}

#[test]
fn what_breaks_a_rule_about_the_use_of_an_operator_is_a_node_with_that_operator() {
    let mut operators: BTreeSet<String> = BTreeSet::new();
    for index in 0..60 {
        let stream = Stream::new(8).at(index);
        let valid = model(stream);
        for violation in rules().filter_map(|rule| rule.violate(&valid, stream)) {
            let nodes = &valid.graph.as_ref().expect("a graph").node;
            let of_node = nodes.iter().find(|node| node.name() == violation.subject).map(NodeProto::op_type);
            let expected = match violation.rule.scope {
                Scope::Model => None,
                Scope::Operator => Some(of_node.expect("a node of the valid model")),
            };
            assert_eq!(
                violation.operator.as_deref(),
                expected,
                "{}: {}",
                violation.rule.name,
                violation.edit
            );
            operators.extend(violation.operator);
        }
    }
    assert!(operators.len() > 40, "{operators:?}");
}

#[test]
fn names_differ() {
    let names: BTreeSet<&str> = rules().map(|rule| rule.name).collect();
    assert_eq!(names.len(), rules().count());
    assert!(names.len() >= 16);
}

#[test]
fn the_same_stream_breaks_the_same() {
    let stream = Stream::new(3);
    let valid = model(stream);
    for rule in rules() {
        let [a, b] = [(); 2].map(|()| rule.violate(&valid, stream).map(|v| onnx::encode(&v.model)));
        assert_eq!(a, b, "{}", rule.name);
        assert_ne!(a, Some(onnx::encode(&valid)), "{} changes nothing", rule.name);
    }
}
