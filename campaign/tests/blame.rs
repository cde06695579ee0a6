//! Whom the campaign blames: a fusion that only shows while a value is no output, and of several faulty operators the one
//! whose fault is seen.

use std::sync::atomic::AtomicBool;

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::{OnModels, Runner};
use backends::worker::{Description, EngineError};
use graphgen::{Settings, Weights};
use interp::Taps;
use ir::{Attributes, DType, DTypes, NodeKind, Operation, Tensor, Type, Value};
use onnxsmith_campaign::blame::blame;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::reference::Reference;
use onnxsmith_campaign::relax::schedule::Levels;
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use onnxsmith_campaign::{Known, Maker, Shard, Store, Target, Values, case};
use ops::{Graph, Model, Op};
use oracles::{Expected, Verdict, judge};

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
        levels: Levels::default(),
        maker: Maker { seed: 3, settings, opset: None, policy: &Weights, swarm: false, values },
        targets: Target::here(Box::new(OnModels(Fusing))),
        oracles: onnxsmith_campaign::oracle::Oracles::default(),
        jobs: 1,
        cases: Some(40),
        time: None,
        shard: Shard::WHOLE,
        max_disk: None,
        saved_per_signature: 1,
        known: Known::default(),
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

#[test]
fn a_fault_that_taps_hide_is_reported_as_such() {
    let report = campaign();
    assert!(report.findings > 0);
    for cluster in &report.clusters {
        assert!(cluster.example.hidden_by_taps && cluster.example.culprit.is_none(), "{cluster:?}");
        assert!(cluster.signature.contains("hidden by taps"), "{}", cluster.signature);
    }
    assert_eq!(report.by_operator.keys().collect::<Vec<_>>(), ["Add", "Exp"]);
    assert!(report.by_operator["Exp"].elements > 0);
}

/// Kernels of which Neg spoils the first element and Abs the last one.
struct TwoFaults;

impl NodeRunner for TwoFaults {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        let right = Cpu.run_node(op, inputs, outputs)?;
        let spoilt = |tensor: &Tensor, at: usize| {
            let values = tensor.to_f64s();
            Tensor::from_f64_fn(&tensor.ty(), |i| if i == at { values[i] + 1.0 } else { values[i] })
        };
        Ok(match op.name() {
            "Neg" => vec![spoilt(&right[0], 0)],
            "Abs" => vec![spoilt(&right[0], right[0].len() - 1)],
            _ => right,
        })
    }
}

#[test]
fn a_fault_that_does_not_reach_the_output_is_not_blamed() {
    let op = |name| Op::parse(name, &Attributes::new()).expect("an operator").expect("its attributes");
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [3]));
    let negative = graph.operator(op("Neg"), &[Some(x)]).expect("types");
    let hundred = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 100.0));
    let larger = graph.operator(op("Max"), &[Some(Value::new(negative, 0)), Some(hundred)]).expect("types");
    let size = graph.operator(op("Abs"), &[Some(Value::new(larger, 0))]).expect("types");
    graph.output("y", Value::new(size, 0));
    let model = Model::new(17, graph);
    let inputs = [Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| i as f64 + 0.5)];

    let targets = Target::here(Box::new(OnModels(GraphRunner::new("two", TwoFaults))));
    let target = &targets[0];
    let onnx = case::export(&model).expect("a model");
    let ran =
        target.run(&onnx, &case::named(&model, inputs.to_vec()), &case::outputs(&model)).expect("a run");
    let evaluation = interp::evaluate(&model, &inputs, target.profile, Taps::Outputs).expect("a reference");
    let names = ["y".to_owned()];
    let expected = Expected { names: &names, outputs: &evaluation.outputs, profile: target.profile };
    let Verdict::Bug(finding) = judge("two", &target.level, &ran.outcome, &expected) else {
        panic!("{:?}", ran.outcome)
    };
    let blamed = blame(target, &model, &inputs, &finding).expect("a culprit");
    assert_eq!(blamed.culprit.map(|culprit| culprit.operator).as_deref(), Some("Abs"));
}
