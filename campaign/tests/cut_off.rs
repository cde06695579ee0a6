//! A campaign whose time is over while a case takes long: the others count.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use backends::engines::models::{OnModels, Runner};
use graphgen::{Forms, Settings};
use harness::{Maker, Target};
use ir::{DType, Tensor};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::store::Identity;
use ops::Model;
use worker::{Description, EngineError};

/// How many cases it knows, of which the first is the one that takes long.
const CASES: u64 = 60;

/// Refuses the first case, and takes its time to refuse what is made of it, whatever that is.
struct Slow {
    cases: Vec<Model>,
}

impl Runner for Slow {
    fn describe(&self) -> Description {
        Description {
            engine: "slow".to_owned(),
            version: "1".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            levels: vec!["only".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        match self.cases.iter().position(|case| case.graph == model.graph) {
            Some(1..) => interp::evaluate_plain(model, inputs).map_err(|e| EngineError::Run(e.to_string())),
            Some(0) => Err(EngineError::Run("no".to_owned())),
            None => {
                std::thread::sleep(Duration::from_millis(100));
                Err(EngineError::Run("no".to_owned()))
            }
        }
    }
}

#[test]
fn what_is_done_when_the_time_is_over_counts_whatever_is_under_way() {
    let time = Duration::from_secs(2);
    let maker = Maker::new(
        3,
        Settings { nodes: 12, max_elements: 64, forms: Forms::default(), ..Settings::default() },
    );
    let cases = (0..CASES).map(|index| maker.make(index).expect("a case").model).collect();
    let plan = Plan {
        jobs: 2,
        cases: Some(CASES),
        time: Some(time),
        ..Plan::of(maker, Target::here(Box::new(OnModels::new(Slow { cases }))))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(&folder.path().join("out"), &Identity::of(&plan)).expect("a store");
    let started = Instant::now();
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert!(started.elapsed() < 4 * time, "{:?}", started.elapsed());
    assert!(report.cases > 1, "{report:?}");
    assert_eq!(report.verdicts.bug, 0, "{report:?}");
    assert!(report.trouble[0].contains("case 0 is not judged"), "{:?}", report.trouble);
}
