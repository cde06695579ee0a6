//! Whom the campaign blames: a fusion that only shows while a value is no output.

use std::sync::atomic::AtomicBool;

use backends::engines::models::{OnModels, Runner};
use backends::worker::{Description, EngineError};
use graphgen::{Settings, Weights};
use ir::{DType, DTypes, NodeKind, Operation, Tensor};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::reference::Reference;
use onnxsmith_campaign::relax::schedule::Levels;
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use onnxsmith_campaign::{Known, Maker, Shard, Store, Target, Values};
use ops::Model;

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
