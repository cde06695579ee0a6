//! Cases that break a rule: our own engines refuse them, one that does not is found out, and nothing depends on threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use backends::cpu::CpuEngine;
use backends::engines::models::OnModels;
use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::reference::Reference;
use harness::validity::Validity;
use harness::{Maker, Target, Values};
use ir::{DType, Datum, Tensor, Type};
use onnx::CaseFolder;
use onnxsmith_campaign::Store;
use onnxsmith_campaign::corpus::{Standing, revisit};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::migrate::in_case;
use onnxsmith_campaign::replay::{Replay, replay};
use onnxsmith_campaign::report::{Cluster, Report};
use onnxsmith_campaign::store::Identity;
use triage::folder::About;
use triage::known::{Corpus, Covered, ENGINE, FILE, Judgement, Kept, Pattern, Upstream, WriteUp};
use worker::{Case, Description, Engine, EngineError};

/// Takes every model, and answers with zeros, unless it refuses all of them.
enum Careless {
    Takes,
    Refuses,
}

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
        if let Self::Refuses = self {
            return Err(EngineError::Load("no".to_owned()));
        }
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
    let careless = || Target::here(Box::new(Careless::Takes));
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

/// A corpus with one finding: a saved case that breaks a rule.
fn corpus(case: &Path, signature: &str) -> tempfile::TempDir {
    let corpus = tempfile::tempdir().expect("a folder");
    let engine = corpus.path().join("careless-1.0");
    let saved = triage::stored::read(case).expect("a case");
    let About { relaxed, .. } = About::read(&saved).expect("a description");
    let relaxed = relaxed.expect("a rule");
    let finding = WriteUp {
        says: "takes it".to_owned(),
        right: "an error".to_owned(),
        judgement: Judgement::Bug,
        cause: None,
        remarks: None,
        upstream: Upstream::NotReported,
        versions: "1.0".parse().expect("a version"),
        expires: "2099-06-30".parse().expect("a date"),
        signatures: vec![Covered { pattern: Pattern::from(signature.to_owned()), note: None }],
        unmet: None,
        shows: None,
        case: Kept::Bytes { why: relaxed.why.clone(), check: None, relaxed: Some(relaxed) },
    };
    CaseFolder { json: None, ..saved }.write(&engine.join("found")).expect("a folder");
    std::fs::write(engine.join("found").join(FILE), finding.to_string()).expect("a file");
    std::fs::write(engine.join(ENGINE), "title = 'careless'\nengine = 'careless'\nbefore = ''\n")
        .expect("a file");
    corpus
}

#[test]
fn what_is_written_up_of_a_model_that_breaks_a_rule_is_asked_again_and_has_both_names() {
    let out = tempfile::tempdir().expect("a folder");
    let report = campaign(Target::here(Box::new(Careless::Takes)), Choice::Violate, 60, 1, out.path());
    let of_use = |cluster: &&Cluster| cluster.signature.starts_with("careless | violate ");
    let cluster = report.clusters.iter().find(of_use).expect("a rule about the use of an operator");
    let folder = corpus(cluster.smallest.as_ref().expect("a saved case"), &cluster.signature);
    let seen = |engine: Careless| {
        let targets = Target::here(Box::new(engine));
        let findings = Corpus::read(folder.path()).expect("a corpus");
        let revisited = revisit(&findings, folder.path(), &targets, 1, &|| false, &|| {}).remove(0);
        let names = in_case(&folder.path().join("careless-1.0/found"), &targets[0]).expect("names");
        (revisited.standing, names)
    };
    let (standing, names) = seen(Careless::Takes);
    assert_eq!((standing, &names[0].now), (Standing::Shown, &cluster.signature));
    assert!(names[0].former.starts_with("careless | whole graph | accepted"), "{names:?}");
    assert_eq!(seen(Careless::Refuses), (Standing::Gone, Vec::new()));
}

#[test]
fn an_adaptive_campaign_does_not_depend_on_threads() {
    let out = tempfile::tempdir().expect("a folder");
    let run = |jobs: usize| {
        let choice = Choice::Adaptive { p: 0.6, alpha: 0.002 };
        let folder = out.path().join(jobs.to_string());
        let report = campaign(Target::here(Box::new(Careless::Takes)), choice, 200, jobs, &folder);
        let found: BTreeMap<String, u64> =
            report.clusters.into_iter().map(|c| (c.signature, c.count)).collect();
        (report.levels, found)
    };
    let (levels, found) = run(1);
    assert!(levels.p.as_ref().is_some_and(|path| path.points.len() > 2), "{levels:?}");
    assert_eq!((levels, found), run(4));
}
