//! The metamorphic oracle: relations hold, and see what comparison with the reference cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use backends::cpu::{CpuEngine, run_node};
use backends::engines::models::{OnModels, Runner};
use graphgen::{Forms, Settings};
use harness::{Maker, Target, Values, case};
use interp::{Profile, Taps};
use ir::inline::inline;
use ir::{DType, DTypes, NodeKind, Tensor, Value};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::replay::{Grade, Replay, replay};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use ops::elementwise::unary::{Unary, UnaryFn};
use ops::{Graph, Model, Op};
use oracles::metamorphic::{ALL, Fidelity, Holds, Subject};
use triage::oracle::Oracles;
use worker::{Description, Engine, EngineError};

fn maker(settings: Settings) -> Maker<'static> {
    let values = Values::default();
    Maker { values, ..Maker::new(11, settings) }
}

fn small() -> Settings {
    Settings { max_elements: 64, function: 0.3, ..Settings::default() }
}

/// The outputs of a model in ONNX by the reference, by name.
fn outputs(onnx: &[u8], inputs: &[(String, Tensor)]) -> BTreeMap<String, interp::Bounded> {
    let known = inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let model = case::import(onnx, &known).expect("our own models are valid").model;
    let inputs = harness::reference::bind(&model, &known).expect("all inputs are there");
    let evaluation = interp::evaluate(&model, &inputs, &Profile::TIGHT, Taps::Outputs).expect("a reference");
    model.graph.outputs.iter().map(|o| o.name.clone()).zip(evaluation.outputs).collect()
}

/// Whether an element of a rewritten model is what it must be.
fn agrees(holds: Holds, a: &interp::Bounded, b: &interp::Bounded, i: usize) -> bool {
    let (x, y) = (a.tensor.to_f64s()[i], b.tensor.to_f64s()[i]);
    let is_same = x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    let reach = a.error_at(i) + b.error_at(i);
    match holds {
        Holds::Exactly => is_same,
        Holds::WithinBounds => is_same || x == y || (x - y).abs() <= reach || reach.is_infinite(),
    }
}

#[test]
fn the_reference_keeps_every_relation() {
    // What a relation puts in has to take narrow dtypes as well, or to pass over them.
    let (usual, narrow) = (maker(small()), maker(Settings { narrow: 1.0, ..small() }));
    let mut applied: BTreeMap<&str, usize> = ALL.iter().map(|relation| (relation.name, 0)).collect();
    for index in 0..60 {
        let maker = if index % 3 == 0 { &narrow } else { &usual };
        let case = maker.make(index).expect("a case");
        let subject = Subject { model: case.model.clone(), inputs: case::tensors(&case.inputs) };
        let original = outputs(&case.onnx, &case.inputs);
        for relation in ALL {
            let stream = ir::Stream::new(index).child(relation.name);
            let Some(form) = relation.apply(&subject, stream).expect("a valid model") else { continue };
            *applied.entry(relation.name).or_default() += 1;
            let named = case::named(&form.subject.model, form.subject.inputs.clone());
            let rewritten = outputs(&form.onnx, &named);
            for (name, a) in &original {
                let b = &rewritten[name];
                assert_eq!(a.tensor.ty(), b.tensor.ty(), "case {index}, {}, {name}", relation.name);
                let off = (0..a.tensor.len())
                    .filter(|i| a.undefined.binary_search(i).is_err())
                    .find(|&i| a.tensor.dtype().is_float() && !agrees(relation.holds, a, b, i));
                assert_eq!(off, None, "case {index}, {}, {name}", relation.name);
                let is_exact = a.tensor.dtype().is_float() || !a.undefined.is_empty() || a.tensor == b.tensor;
                assert!(is_exact || relation.holds == Holds::WithinBounds, "case {index}, {}", relation.name);
            }
        }
    }
    assert!(applied.values().all(|&n| n > 0), "some never apply: {applied:?}");
}

fn campaign(target: Vec<Target>, settings: Settings, oracles: &[&str], cases: u64, out: &Path) -> Report {
    let names: Vec<String> = oracles.iter().map(ToString::to_string).collect();
    let plan = Plan {
        oracles: Oracles::named(&names, &[]).expect("these oracles"),
        jobs: 2,
        cases: Some(cases),
        ..Plan::of(Maker { values: Values::Plain, swarm: false, ..maker(settings) }, target)
    };
    let mut store = Store::create(out, &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert!(report.trouble.is_empty(), "{:?}", report.trouble);
    report
}

#[test]
fn the_cpu_keeps_every_relation() {
    let out = tempfile::tempdir().expect("a folder");
    let cpu: Vec<Target> = Target::here(Box::new(CpuEngine::default()));
    assert_eq!(cpu[0].fidelity, Fidelity::Repeats);
    let report = campaign(cpu, small(), &["differential", "metamorphic"], 120, out.path());
    assert_eq!(report.findings, 0, "{:?}", report.clusters);
    let asked: u64 = report.oracles.0["metamorphic"].values().map(|answers| answers.asked).sum();
    assert!(asked > 110, "{asked}");
}

/// Kernels behind an optimiser with a fault: Exp(Neg(x)) becomes Reciprocal(Exp(x)), whose first rounding counts twice.
/// It folds Identity nodes and pairs that undo each other beforehand, and inlines functions, as a good optimiser does.
struct Contracting;

impl Contracting {
    /// What a value is when Identity nodes and pairs of movements that undo each other are gone.
    fn origin(graph: &Graph, value: Value) -> Value {
        let node = graph.node(value.node);
        let (NodeKind::Operator(op), Some(Some(operand))) = (&node.kind, node.inputs.first()) else {
            return value;
        };
        let behind = Self::origin(graph, *operand);
        match op {
            Op::Unary(Unary(UnaryFn::Identity)) => behind,
            Op::Transpose(_) | Op::Reshape(_) | Op::Squeeze(_) | Op::Unsqueeze(_) => {
                let inner = graph.node(behind.node);
                let NodeKind::Operator(first) = &inner.kind else { return value };
                let Some(Some(start)) = inner.inputs.first() else { return value };
                let undoes = match (first, op) {
                    (Op::Transpose(a), Op::Transpose(b)) => {
                        let rank = node.outputs[0].rank();
                        let (a, b) = (a.order(rank).unwrap_or_default(), b.order(rank).unwrap_or_default());
                        b.iter().map(|&axis| a[axis]).eq(0..rank)
                    }
                    (Op::Transpose(_), _) | (_, Op::Transpose(_)) => false,
                    (Op::Reshape(_) | Op::Squeeze(_) | Op::Unsqueeze(_), _) => {
                        graph.ty(*start) == &node.outputs[0]
                    }
                    _ => false,
                };
                if undoes { Self::origin(graph, *start) } else { value }
            }
            _ => value,
        }
    }

    /// The operand of a Neg that a value comes from.
    fn negated(graph: &Graph, value: Value) -> Option<Value> {
        let node = graph.node(Self::origin(graph, value).node);
        match node.kind {
            NodeKind::Operator(Op::Unary(Unary(UnaryFn::Neg))) => node.inputs[0],
            _ => None,
        }
    }

    /// Whether neither the exponential nor its inverse overflows: it is that careful.
    fn is_safe(x: &Tensor) -> bool {
        x.to_f64s().iter().all(|x| x.abs() < 8.0)
    }
}

impl Runner for Contracting {
    fn describe(&self) -> Description {
        Description { engine: "contracting".to_owned(), ..CpuEngine::default().describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let graph = inline(model).expect("a small model");
        let mut inputs = inputs.iter();
        let mut values: BTreeMap<Value, Tensor> = BTreeMap::new();
        for (id, node) in graph.iter() {
            let run = |op: &Op, operands: &[Option<&Tensor>]| {
                run_node(op, operands, &node.outputs).map_err(|e| EngineError::Run(e.to_string()))
            };
            let operands: Vec<Option<&Tensor>> = node.inputs.iter().map(|v| v.map(|v| &values[&v])).collect();
            let results = match &node.kind {
                NodeKind::Variable { .. } => vec![inputs.next().expect("an input").clone()],
                NodeKind::Constant(tensor) => vec![(**tensor).clone()],
                NodeKind::Operator(op @ Op::Unary(Unary(UnaryFn::Exp))) => {
                    let x = node.inputs[0].and_then(|v| Self::negated(&graph, v)).map(|v| &values[&v]);
                    match x.filter(|x| Self::is_safe(x)) {
                        Some(x) => {
                            let exp = run(op, &[Some(x)])?;
                            run(&Unary(UnaryFn::Reciprocal).into(), &[Some(&exp[0])])?
                        }
                        None => run(op, &operands)?,
                    }
                }
                NodeKind::Operator(op) => run(op, &operands)?,
                NodeKind::Call(_) => unreachable!("the graph is flat"),
            };
            values.extend(results.into_iter().enumerate().map(|(port, t)| (Value::new(id, port), t)));
        }
        Ok(graph.outputs.iter().map(|o| values[&o.value].clone()).collect())
    }
}

fn contracting() -> Vec<Target> {
    let mut targets = Target::here(Box::new(OnModels::new(Contracting)));
    for target in &mut targets {
        (target.profile, target.fidelity) = (&Profile::TIGHT, Fidelity::Repeats);
    }
    targets
}

/// What goes through the slices of an 8-bit tensor leads to a Gather of them, which no opset has.
#[test]
fn where_the_graph_of_a_program_cannot_be_written_no_relation_is_asked() {
    let forms = Forms { share: 1.0, each: [("Scan", 1.0)].into() };
    let settings = Settings { narrow: 1.0, forms, ..small() };
    let maker = Maker { values: Values::Plain, swarm: false, ..maker(settings.clone()) };
    let is_met = |index: &u64| {
        let case = maker.make(*index).expect("a case");
        case.program.is_some() && case::export(&case.model).is_err()
    };
    let met = (0..300).find(is_met).expect("such a graph");
    let cpu = Target::here(Box::new(CpuEngine::default()));
    let folder = tempfile::tempdir().expect("a folder");
    let report = campaign(cpu, settings, &["metamorphic"], met + 1, &folder.path().join("out"));
    assert_eq!((report.cases, report.findings), (met + 1, 0), "{:?}", report.clusters);
}

#[test]
fn a_fusion_within_the_bounds_is_seen_by_the_one_relation_that_it_does_not_see_through() {
    // In halves: the relation `scale` leaves them out.
    let settings = Settings {
        nodes: 4,
        operators: ["Neg", "Exp", "Transpose"].into(),
        dtypes: DTypes::of(&[DType::F16]),
        max_elements: 64,
        ..Settings::default()
    };
    let out = tempfile::tempdir().expect("a folder");
    let by_reference =
        campaign(contracting(), settings.clone(), &["differential"], 200, &out.path().join("by-reference"));
    assert_eq!(by_reference.findings, 0, "{:?}", by_reference.clusters);
    let report = campaign(contracting(), settings, &["metamorphic"], 1500, &out.path().join("by-relation"));
    let answers = &report.oracles.0["metamorphic"];
    let seen: BTreeSet<&str> =
        answers.iter().filter(|(_, a)| a.bug > 0).map(|(name, _)| name.as_str()).collect();
    assert_eq!(seen, ["barrier"].into(), "{answers:?}");

    // The saved case shows the same once more, and nothing on kernels without the fault.
    let [cluster] = report.clusters.as_slice() else { panic!("{:?}", report.clusters) };
    assert!(cluster.signature.contains("metamorphic barrier"), "{}", cluster.signature);
    let saved = cluster.smallest.clone().expect("a saved case");
    assert!(saved.join("rewritten/model.onnx").is_file());
    let mut targets = contracting();
    targets.extend(Target::here(Box::new(CpuEngine::default())));
    let how = Replay::on(&targets);
    let again = replay(std::slice::from_ref(&saved), &how, &|| {});
    let [only] = again.not_passing.as_slice() else { panic!("{:?}", again.not_passing) };
    assert_eq!((only.backend.as_str(), only.outcome), ("contracting:default", Grade::Mismatch));
    assert!(only.why.contains("the original"), "{}", only.why);
}
