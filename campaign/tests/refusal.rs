//! An engine may refuse what is undefined, and nothing else; and little is undefined.

use std::sync::atomic::AtomicBool;

use backends::cpu::{CpuError, GraphRunner, NodeRunner};
use backends::engines::models::OnModels;
use graphgen::{Settings, Weights};
use ir::{DType, DTypes, Tensor, Type};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::relax::schedule::Levels;
use onnxsmith_campaign::store::Identity;
use onnxsmith_campaign::{Known, Maker, Shard, Store, Target, Values};
use ops::Op;

struct Refusing;

impl NodeRunner for Refusing {
    type Error = CpuError;

    fn run_node(&mut self, _: &Op, _: &[Option<&Tensor>], _: &[Type]) -> Result<Vec<Tensor>, CpuError> {
        Err(CpuError::Invalid("it does not like it"))
    }
}

#[test]
fn refusing_is_a_bug_where_all_is_defined() {
    // A difference of a value with itself is a divisor that no value search can mend: there, an edge is cut.
    let operators = ["Sub", "Div"].into();
    let settings = Settings {
        nodes: 30,
        operators,
        dtypes: DTypes::of(&[DType::I32]),
        max_elements: 256,
        // What is refused inside of a function is refused in other words than alone.
        function: 0.0,
        ..Settings::default()
    };
    let out = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        levels: Levels::default(),
        maker: Maker {
            seed: 7,
            settings,
            opset: None,
            policy: &Weights,
            swarm: true,
            values: Values::default(),
        },
        targets: Target::here(Box::new(OnModels(GraphRunner::new("refusing", Refusing)))),
        oracles: onnxsmith_campaign::oracle::Oracles::default(),
        jobs: 1,
        cases: Some(50),
        time: None,
        shard: Shard::WHOLE,
        max_disk: None,
        saved_per_signature: 1,
        known: Known::default(),
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert_eq!((report.undefined_cases, report.verdicts.incomparable), (0, 0));
    // A case without nodes has nothing to refuse.
    assert!(report.verdicts.bug > 30, "{:?}", report.verdicts);
}
