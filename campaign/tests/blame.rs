//! Whom the campaign blames: a fusion that only shows while a value is no output, and of several faulty operators the one
//! whose fault is seen.

mod verdict;

use std::sync::atomic::AtomicBool;

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::{OnModels, Runner};
use graphgen::Settings;
use harness::reference::Reference;
use harness::{Maker, Target, Values};
use ir::{Attributes, DType, DTypes, NodeKind, Operation, Tensor, Type, Value};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use ops::{Graph, Model, Op};
use oracles::Verdict;
use triage::blame::blame;
use verdict::verdict;
use worker::{Description, EngineError};

/// The reference, but for a fused operator that is off: an Exp whose operand is an Add that nobody else sees.
struct Fusing;

fn fuses(model: &Model) -> bool {
    let is = |kind: &NodeKind<_>, name| matches!(kind, NodeKind::Operator(op) if Operation::name(op) == name);
    model.graph.iter().any(|(_, node)| {
        is(&node.kind, "Exp")
            && node.inputs.iter().flatten().any(|v| {
                is(&model.graph.node(v.node).kind, "Add") && model.graph.outputs.iter().all(|o| o.value != *v)
            })
    })
}

impl Runner for Fusing {
    fn describe(&self) -> Description {
        Reference.describe()
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let mut outputs = Reference.run(model, inputs)?;
        if fuses(model) {
            for tensor in &mut outputs {
                let values = tensor.to_f64s();
                *tensor = Tensor::from_f64_fn(&tensor.ty(), |i| values[i] + 1.0);
            }
        }
        Ok(outputs)
    }
}

fn campaign() -> Report {
    let settings = Settings {
        nodes: 4,
        operators: ["Add", "Exp"].into(),
        dtypes: DTypes::of(&[DType::F64]),
        max_elements: 64,
        ..Settings::default()
    };
    let values = Values::Plain;
    let out = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        cases: Some(40),
        ..Plan::of(
            Maker { swarm: false, values, ..Maker::new(3, settings) },
            Target::here(Box::new(OnModels::new(Fusing))),
        )
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

#[test]
fn a_fault_that_taps_hide_is_called_by_the_operators_that_are_left() {
    let report = campaign();
    assert!(report.findings > 0);
    for cluster in &report.clusters {
        assert!(cluster.example.hidden_by_taps && cluster.example.culprit.is_none(), "{cluster:?}");
        let former = "interp | whole graph, hidden by taps | mismatch gross";
        assert_eq!(cluster.formerly.keys().collect::<Vec<_>>(), [former]);
    }
    let names: Vec<&str> = report.clusters.iter().map(|c| c.signature.as_str()).collect();
    assert!(names.contains(&"interp | Add + Exp f64 dense | mismatch gross"), "{names:?}");
    assert_eq!(report.by_operator.keys().collect::<Vec<_>>(), ["Add", "Exp"]);
    assert!(report.by_operator["Exp"].elements > 0);
}

/// What a kernel makes of an element of its right answer: the operator, the element, of how many.
type Spoil = fn(&str, usize, usize) -> Option<f64>;

/// Kernels that spoil elements.
struct Spoiling(Spoil);

impl NodeRunner for Spoiling {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        let right = Cpu.run_node(op, inputs, outputs)?;
        let spoilt = |tensor: &Tensor| {
            let values = tensor.to_f64s();
            let off = |i: usize| (self.0)(op.name(), i, values.len()).unwrap_or_default();
            Tensor::from_f64_fn(&tensor.ty(), |i| values[i] + off(i))
        };
        Ok(right.iter().map(spoilt).collect())
    }
}

fn push(graph: &mut Graph, name: &str, operands: &[Value]) -> Value {
    let op = Op::parse(name, &Attributes::new()).expect("an operator").expect("its attributes");
    let operands: Vec<_> = operands.iter().copied().map(Some).collect();
    Value::new(graph.operator(op, &operands).expect("types"), 0)
}

/// The operator that is blamed for a model of three numbers.
fn culprit(spoil: Spoil, build: fn(&mut Graph, Value) -> Value) -> Option<String> {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [3]));
    let y = build(&mut graph, x);
    graph.output("y", y);
    let model = Model::new(17, graph);
    let inputs = [Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| i as f64 + 0.5)];

    let targets = Target::here(Box::new(OnModels::new(GraphRunner::new("two", Spoiling(spoil)))));
    let target = &targets[0];
    let verdict = verdict(target, &model, &inputs);
    let Verdict::Bug(finding) = verdict else { panic!("{verdict:?}") };
    let blamed = blame(target, &model, &inputs, &finding).expect("a culprit");
    blamed.culprit.map(|culprit| culprit.operator)
}

#[test]
fn a_fault_that_does_not_reach_the_output_is_not_blamed() {
    let first_and_last: Spoil = |op, at, len| match op {
        "Neg" => (at == 0).then_some(1.0),
        "Abs" => (at + 1 == len).then_some(1.0),
        _ => None,
    };
    let blamed = culprit(first_and_last, |graph, x| {
        let negative = push(graph, "Neg", &[x]);
        let hundred = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 100.0));
        let larger = push(graph, "Max", &[negative, hundred]);
        push(graph, "Abs", &[larger])
    });
    assert_eq!(blamed.as_deref(), Some("Abs"));
}

#[test]
fn an_operator_that_is_wrong_in_the_same_way_is_blamed_before_one_that_is_wrong_in_another() {
    let number_and_nan: Spoil = |op, at, _| match op {
        "Abs" => (at == 0).then_some(1.0),
        "Neg" => (at == 1).then_some(f64::NAN),
        _ => None,
    };
    let build = |graph: &mut Graph, x| {
        let size = push(graph, "Abs", &[x]);
        push(graph, "Neg", &[size])
    };
    assert_eq!(culprit(number_and_nan, build).as_deref(), Some("Neg"));
    // Where nobody is wrong in the same way, any that is wrong will do.
    let number_alone: Spoil = |op, at, _| (op == "Abs" && at == 0).then_some(f64::INFINITY);
    let build = |graph: &mut Graph, x| {
        let size = push(graph, "Abs", &[x]);
        push(graph, "Sin", &[size])
    };
    assert_eq!(culprit(number_alone, build).as_deref(), Some("Abs"));
}
