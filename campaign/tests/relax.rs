//! Cases that break a rule: our own engines refuse them, one that does not is found out, and nothing depends on threads.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use backends::cpu::CpuEngine;
use backends::engines::models::OnModels;
use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::reference::Reference;
use harness::validity::Validity;
use harness::{Maker, Target, Values};
use ir::{DType, Datum, Tensor, Type};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::replay::{Replay, replay};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use worker::{Case, Description, Engine, EngineError};

/// Takes every model, and answers with zeros.
struct Careless;

impl Engine for Careless {
    fn describe(&self) -> Description {
        Description {
            engine: "careless".to_owned(),
            version: "1.0.0".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: None,
            levels: vec!["only".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let zero = |dtype| Datum::Tensor(Tensor::zeros(&Type::new(dtype, [])));
        Ok(case.outputs.iter().map(|wanted| (wanted.name.clone(), zero(wanted.dtype))).collect())
    }
}

fn campaign(targets: Vec<Target>, choice: Choice, cases: u64, jobs: usize, out: &std::path::Path) -> Report {
    let plan = Plan {
        levels: Levels { choice, rules: Vec::new() },
        jobs,
        cases: Some(cases),
        ..Plan::of(
            Maker {
                values: Values::Plain,
                ..Maker::new(11, Settings { nodes: 4, max_elements: 256, ..Settings::default() })
            },
            targets,
        )
    };
    let mut store = Store::create(out, &Identity::of(&plan)).expect("a store");
    fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

#[test]
fn our_own_engines_refuse_what_is_invalid() {
    let mut targets = Target::here(Box::new(OnModels::new(Reference)));
    targets.extend(Target::here(Box::new(CpuEngine::default())));
    let out = tempfile::tempdir().expect("a folder");
    let report = campaign(targets, Choice::Violate, 200, 2, out.path());
    assert!(report.clusters.is_empty() && report.trouble.is_empty(), "{report:#?}");
    let of = |level| report.levels.cases.get(&level).copied().unwrap_or(0);
    assert_eq!(of(Validity::Valid), 0);
    assert!(of(Validity::Violate) > 120 && of(Validity::Random) > 25, "{:?}", report.levels.cases);
    assert!(report.levels.rules.len() > 20, "{:?}", report.levels.rules.keys());
    assert!(report.levels.random_valid > 0);
}

#[test]
fn silent_acceptance_is_found_by_rule_and_can_be_replayed() {
    let careless = || Target::here(Box::new(Careless));
    let out = tempfile::tempdir().expect("a folder");
    let report = campaign(careless(), Choice::Violate, 60, 1, out.path());
    let accepted: Vec<_> =
        report.clusters.iter().filter(|c| c.signature.contains("accepted an invalid model: ")).collect();
    assert!(accepted.len() > 10, "{:?}", report.levels.rules);
    let cases: Vec<_> = accepted.iter().map(|c| c.smallest.clone().expect("a saved case")).collect();
    let replayed = |targets: &[Target]| replay(&cases, &Replay::on(targets), &|| {});
    let counts = |targets: &[Target]| replayed(targets).backends.into_values().next().expect("a backend");
    assert_eq!(counts(&careless()).accepted, cases.len() as u64);
    let refusing = counts(&Target::here(Box::new(CpuEngine::default())));
    assert_eq!(refusing.pass, cases.len() as u64);
}

#[test]
fn an_adaptive_campaign_does_not_depend_on_threads() {
    let out = tempfile::tempdir().expect("a folder");
    let run = |jobs: usize| {
        let choice = Choice::Adaptive { p: 0.6, alpha: 0.002 };
        let folder = out.path().join(jobs.to_string());
        let report = campaign(Target::here(Box::new(Careless)), choice, 200, jobs, &folder);
        let found: BTreeMap<String, u64> =
            report.clusters.into_iter().map(|c| (c.signature, c.count)).collect();
        (report.levels, found)
    };
    let (levels, found) = run(1);
    assert!(levels.p.as_ref().is_some_and(|path| path.points.len() > 2), "{levels:?}");
    assert_eq!((levels, found), run(4));
}
