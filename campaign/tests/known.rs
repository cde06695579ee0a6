//! A campaign tells known findings from new ones.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use graphgen::Settings;
use harness::{Maker, Target};
use ir::{DType, Datum};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use triage::known::Known;
use worker::{Case, Description, Engine, EngineError};

/// An engine that refuses everything.
struct Broken;

impl Engine for Broken {
    fn describe(&self) -> Description {
        Description {
            engine: "broken".to_owned(),
            version: "1.2".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: None,
            levels: vec!["only".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, _: &Case<'_>) -> Result<Vec<(String, Datum)>, EngineError> {
        Err(EngineError::Load("not today".to_owned()))
    }
}

fn campaign(list: &str) -> Report {
    let today = "2026-01-01".parse().expect("a date");
    let out = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        cases: Some(4),
        saved_per_signature: 0,
        known: Known::parse(list, Path::new("known.toml"), today).expect("a list"),
        ..Plan::of(
            Maker { swarm: false, ..Maker::new(0, Settings::default()) },
            Target::here(Box::new(Broken)),
        )
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

fn entry(signature: &str, versions: &str, expires: &str) -> String {
    format!(
        "[[known]]\nsignature = \"{signature}\"\nversions = \"{versions}\"\nfinding = \"here\"\nexpires = \"{expires}\"\n"
    )
}

#[test]
fn known_findings_are_counted_and_the_rest_of_the_list_is_named() {
    let all = "broken | * | rejected at load: not today";
    let list = entry(all, "1.2", "2026-01-01")
        + &entry("broken | * | wrong type", "1.2", "2026-01-01")
        + &entry("broken | *", "1.2", "2025-12-31");
    let report = campaign(&list);
    assert!(report.findings > 0, "{report:?}");
    assert_eq!(report.known, report.findings);
    assert!(report.clusters.iter().all(|c| c.known.as_deref() == Some("here")), "{:?}", report.clusters);
    assert_eq!(report.known_unseen, ["broken | * | wrong type"]);
    assert_eq!(report.known_elsewhere, 0);
    assert_eq!(report.known_expired, ["broken | *"]);
}

#[test]
fn another_version_is_another_finding() {
    let report = campaign(&entry("broken | *", ">=1.3", "2026-01-01"));
    assert!(report.findings > 0 && report.known == 0, "{report:?}");
    assert!(report.known_unseen.is_empty() && report.known_elsewhere == 1, "{report:?}");
}

#[test]
fn only_entries_about_what_ran_are_missed() {
    let list = entry("broken | * | slow", "1.2", "2026-01-01")
        + &entry("rten | *", "*", "2026-01-01")
        + &entry("rten | Sign f32 dense | slow", "1.2", "2026-01-01")
        + &entry("broken | Sign *", "<1.2", "2026-01-01");
    let report = campaign(&list);
    assert_eq!(report.known_unseen, ["broken | * | slow"]);
    assert_eq!(report.known_elsewhere, 3);
}
