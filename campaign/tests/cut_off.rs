//! A campaign whose time is over while a case takes long: the others count, and the last one runs again.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use backends::engines::models::{OnModels, Runner};
use graphgen::{Forms, Settings};
use harness::{Maker, Target};
use ir::{DType, Tensor};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use ops::Model;
use worker::{Description, EngineError};

/// How many cases it knows, of which the first is the one that takes long.
const CASES: u64 = 60;

/// Refuses the first case where it is slow, and takes its time to refuse what is made of it, whatever that is.
struct Slow {
    cases: Vec<Model>,
    is_slow: bool,
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
            Some(0) if self.is_slow => Err(EngineError::Run("no".to_owned())),
            Some(_) => interp::evaluate_plain(model, inputs).map_err(|e| EngineError::Run(e.to_string())),
            None => {
                std::thread::sleep(Duration::from_millis(100));
                Err(EngineError::Run("no".to_owned()))
            }
        }
    }
}

/// A campaign of so many cases, of which the first takes longer than there is time where the engine is slow.
fn plan(cases: u64, time: Option<Duration>, is_slow: bool) -> Plan<'static> {
    let maker = Maker::new(
        3,
        Settings { nodes: 12, max_elements: 64, forms: Forms::default(), ..Settings::default() },
    );
    let known = (0..cases).map(|index| maker.make(index).expect("a case").model).collect();
    let engine = OnModels::new(Slow { cases: known, is_slow });
    Plan { jobs: 2, cases: Some(cases), time, ..Plan::of(maker, Target::here(Box::new(engine))) }
}

fn run(plan: &Plan<'_>, store: &mut Store) -> Report {
    fuzz(plan, store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

const TIME: Duration = Duration::from_secs(2);

#[test]
fn what_is_done_when_the_time_is_over_counts_whatever_is_under_way() {
    let plan = plan(CASES, Some(TIME), true);
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(&folder.path().join("out"), &Identity::of(&plan)).expect("a store");
    let started = Instant::now();
    let report = run(&plan, &mut store);
    assert!(started.elapsed() < 4 * TIME, "{:?}", started.elapsed());
    assert!(report.cases > 1, "{report:?}");
    assert_eq!(report.verdicts.bug, 0, "{report:?}");
    assert!(report.trouble[0].contains("case 0 is not judged"), "{:?}", report.trouble);
}

#[test]
fn what_was_cut_off_last_is_told_and_runs_again_once_there_is_time() {
    let first = plan(1, Some(TIME), true);
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(&folder.path().join("out"), &Identity::of(&first)).expect("a store");
    let report = run(&first, &mut store);
    assert_eq!((report.cases, report.troubles), (0, 1), "{report:?}");
    assert!(report.trouble[0].contains("case 0 is not judged"), "{:?}", report.trouble);
    let report = run(&plan(1, None, false), &mut store);
    assert_eq!((report.cases, report.verdicts.pass, report.troubles), (1, 1, 0), "{report:?}");
}
