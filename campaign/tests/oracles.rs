//! Each oracle sees the one thing that an engine does wrong, names it once, and says nothing of a right engine.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use backends::cpu::CpuEngine;
use graphgen::Settings;
use harness::{Maker, Target, Values, case};
use ir::{DType, Datum, Tensor};
use onnx::CaseFolder;
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::Identity;
use triage::folder::About;
use triage::oracle::{Oracles, tally::Answers};
use worker::protocol::WRITTEN;
use worker::{Case, Description, Engine, EngineError};

/// What an engine does wrong: whether its answer is off at a level, the how-manieth run it is.
type Wrong = fn(level: &str, run: u64) -> bool;

/// Our CPU kernels, with levels, that add 1 to each float output where they are wrong.
struct Faulty {
    right: CpuEngine,
    wrong: Wrong,
    runs: u64,
}

impl Engine for Faulty {
    fn describe(&self) -> Description {
        Description {
            engine: "faulty".to_owned(),
            levels: ["none", "basic", "all"].map(str::to_owned).into(),
            written: vec!["all".to_owned()],
            ..self.right.describe()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        self.runs += 1;
        let outputs = self.right.run(&Case { level: "default", ..*case })?;
        if !(self.wrong)(case.level, self.runs) {
            return Ok(outputs);
        }
        let off = |tensor: Tensor| {
            let values = tensor.to_f64s();
            Tensor::from_f64_fn(&tensor.ty(), |i| values[i] + 1.0)
        };
        Ok(outputs.into_iter().map(|(name, value)| (name, value.map(off))).collect())
    }
}

/// What a campaign on all levels of an engine finds.
fn campaign(wrong: Wrong, oracles: &[&str]) -> Report {
    run(&plan(Target::here(Box::new(Faulty { right: CpuEngine::default(), wrong, runs: 0 })), oracles))
}

fn plan(targets: Vec<Target>, oracles: &[&str]) -> Plan<'static> {
    let names: Vec<String> = oracles.iter().map(|&name| name.to_owned()).collect();
    Plan {
        oracles: Oracles::named(&names, &[]).expect("oracles"),
        cases: Some(40),
        ..Plan::of(
            Maker {
                values: Values::Plain,
                ..Maker::new(
                    3,
                    Settings {
                        nodes: 3,
                        max_elements: 64,
                        dtypes: [DType::F32].into_iter().collect(),
                        ..Settings::default()
                    },
                )
            },
            targets,
        )
    }
}

fn run(plan: &Plan<'_>) -> Report {
    let out = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(out.path(), &Identity::of(plan)).expect("a store");
    fuzz(plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report")
}

fn answers(report: &Report, oracle: &str, question: &str) -> Answers {
    report.oracles.0.get(oracle).and_then(|all| all.get(question)).copied().unwrap_or_default()
}

const ALL: &[&str] = &["differential", "optimiser", "determinism", "roundtrip"];

#[test]
fn nobody_blames_a_right_engine() {
    let report = campaign(|_, _| false, ALL);
    assert_eq!((report.findings, &report.trouble[..]), (0, &[][..]), "{:?}", report.clusters);
    for question in ["text", "onnx"] {
        assert_eq!(answers(&report, "roundtrip", question).pass, 40, "{question}: {:?}", report.oracles);
    }
    assert!(answers(&report, "optimiser", "basic").pass > 30, "{:?}", report.oracles);
    for question in ["again", "fresh", "threads"] {
        assert!(answers(&report, "determinism", question).pass > 20, "{:?}", report.oracles);
    }
}

#[test]
fn what_hangs_on_values_is_written_and_read_as_it_is() {
    let settings = Settings {
        operators: ["NonZero", "OneHot", "Abs"].into(),
        nodes: 4,
        function: 0.5,
        ..Settings::default()
    };
    let cpu = Target::here(Box::new(CpuEngine::default()));
    let plan = Plan { maker: Maker::new(5, settings), ..plan(cpu, &["differential", "roundtrip"]) };
    let report = run(&plan);
    assert_eq!((report.findings, &report.trouble[..]), (0, &[][..]), "{:?}", report.clusters);
    for question in ["text", "onnx"] {
        assert_eq!(answers(&report, "roundtrip", question).pass, 40, "{question}: {:?}", report.oracles);
    }
}

#[test]
fn the_first_level_that_is_wrong_is_the_culprit_and_is_told_once() {
    let report = campaign(|level, _| level != "none", &["differential", "optimiser"]);
    assert!(answers(&report, "optimiser", "basic").bug > 30, "{:?}", report.oracles);
    assert_eq!(answers(&report, "optimiser", "all").bug, 0, "{:?}", report.oracles);
    // At two levels, a finding for each case at most: none by the reference alone.
    assert!(report.verdicts.bug <= 80, "{:?}", report.verdicts);
    let blamed = report.clusters.iter().filter_map(|cluster| cluster.example.check.as_ref());
    let blamed: Vec<_> = blamed.map(|check| check.name.as_str()).collect();
    assert_eq!(blamed.len(), report.clusters.len(), "{:?}", report.clusters);
    assert!(blamed.iter().all(|&level| level == "basic"), "{blamed:?}");
}

#[test]
fn what_is_wrong_without_the_optimiser_is_not_its_fault() {
    let report = campaign(|_, _| true, &["differential", "optimiser"]);
    assert_eq!(answers(&report, "optimiser", "all").bug, 0, "{:?}", report.oracles);
    assert!(report.findings > 90, "the reference still tells it: {}", report.findings);
}

/// Our CPU kernels, off by 1 at a level, that refuse everything without the optimiser.
struct Refusing(Faulty);

impl Engine for Refusing {
    fn describe(&self) -> Description {
        Description { engine: "refusing".to_owned(), written: Vec::new(), ..self.0.describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        match case.level {
            "none" => Err(EngineError::Run("no".to_owned())),
            _ => self.0.run(case),
        }
    }
}

#[test]
fn what_the_unoptimised_level_does_not_answer_is_not_the_optimisers_fault() {
    let off = Faulty { right: CpuEngine::default(), wrong: |_, _| true, runs: 0 };
    let report = run(&plan(Target::here(Box::new(Refusing(off))), &["differential", "optimiser"]));
    assert_eq!(answers(&report, "optimiser", "all").bug, 0, "{:?}", report.oracles);
    let told = report.clusters.iter().filter(|cluster| cluster.signature.contains("mismatch"));
    assert!(told.count() > 0, "the reference still tells it: {:?}", report.clusters);
}

#[test]
fn a_reduced_case_takes_what_its_own_model_takes() {
    let off = Faulty { right: CpuEngine::default(), wrong: |_, _| true, runs: 0 };
    let plan = Plan { cases: Some(6), ..plan(Target::here(Box::new(off)), &["differential"]) };
    let out = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    let mut smaller = 0;
    for reduced in report.clusters.iter().filter_map(|cluster| cluster.reduced.as_ref()) {
        let folder = CaseFolder::read(reduced).expect("a case");
        let about = About::read(&folder).expect("what it says of itself");
        let imported = case::import(&folder.model, &case::known_inputs(&folder)).expect("a model");
        let takes = ops::Footprint::of(&imported.model).map(Into::into);
        assert_eq!(about.footprint, takes, "{}", reduced.display());
        smaller += 1;
    }
    assert!(smaller > 2, "{:?}", report.clusters);
}

#[test]
fn an_engine_that_changes_its_mind_is_seen_without_a_reference() {
    let report = campaign(|_, run| run % 2 == 0, &["determinism"]);
    for question in ["again", "fresh"] {
        assert!(answers(&report, "determinism", question).bug > 20, "{question}: {:?}", report.oracles);
    }
    assert!(report.clusters.iter().all(|cluster| cluster.example.check.is_some()), "{:?}", report.clusters);
}

#[test]
fn a_model_that_is_spoilt_on_its_way_out_and_in_is_seen() {
    let report = campaign(|level, _| level.ends_with(WRITTEN), ALL);
    assert!(answers(&report, "roundtrip", "written").bug > 30, "{:?}", report.oracles);
    assert_eq!(report.findings, answers(&report, "roundtrip", "written").bug, "{:?}", report.clusters);
}

/// Our CPU kernels, which say at some levels that they lack something.
struct Lacking {
    right: CpuEngine,
    levels: &'static [&'static str],
}

impl Engine for Lacking {
    fn describe(&self) -> Description {
        Description {
            engine: "lacking".to_owned(),
            levels: ["none", "all"].map(str::to_owned).into(),
            ..self.right.describe()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        if self.levels.contains(&case.level) {
            return Err(EngineError::Unsupported("Square does not support I64".to_owned()));
        }
        self.right.run(&Case { level: "default", ..*case })
    }
}

#[test]
fn what_the_unoptimised_level_runs_is_not_lacking_at_another() {
    let campaign = |levels, oracles: &[&str]| {
        run(&plan(Target::here(Box::new(Lacking { right: CpuEngine::default(), levels })), oracles))
    };
    for oracles in [&["differential"][..], &["differential", "optimiser"]] {
        let report = campaign(&["all"], oracles);
        assert_eq!(report.verdicts.bug, 40, "{:?}", report.by_target);
        let of_optimiser =
            |signature: &str| signature.contains("rejected at optimise: Square does not support");
        assert!(report.clusters.iter().all(|c| of_optimiser(&c.signature)), "{:?}", report.clusters);
        assert!(report.clusters.iter().all(|c| c.example.culprit.as_ref().is_some_and(|c| c.alone)));
        assert!(report.clusters.iter().all(|c| c.example.level == "all"));
    }
    for levels in [&["none", "all"][..], &["none"]] {
        assert_eq!(campaign(levels, &["differential", "optimiser"]).findings, 0, "{levels:?}");
    }
}

/// Our CPU kernels, which take long at a level, or on tensors with an axis of three.
struct Slow {
    right: CpuEngine,
    of_threes: bool,
}

impl Engine for Slow {
    fn describe(&self) -> Description {
        Description {
            engine: "slow".to_owned(),
            levels: ["none", "all"].map(str::to_owned).into(),
            ..self.right.describe()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let outputs = self.right.run(&Case { level: "default", ..*case })?;
        let is_three = |tensor: &Tensor| tensor.ty().shape.contains(&3);
        let is_slow = if self.of_threes {
            case.inputs.iter().any(|(_, value)| value.tensors().any(|tensor| is_three(tensor)))
        } else {
            case.level == "all"
        };
        if is_slow {
            std::thread::sleep(Duration::from_millis(if self.of_threes { 200 } else { 30 }));
        }
        Ok(outputs)
    }
}

fn performance(of_threes: bool, ops: &[&'static str], nodes: usize, cases: u64) -> Report {
    let mut targets = Target::here(Box::new(Slow { right: CpuEngine::default(), of_threes }));
    if of_threes {
        targets.truncate(1);
    }
    let mut plan = plan(targets, &["performance"]);
    plan.maker.settings.operators = ops.iter().copied().collect();
    (plan.maker.settings.nodes, plan.cases) = (nodes, Some(cases));
    run(&plan)
}

#[test]
fn an_optimiser_that_costs_more_than_it_saves_is_slow() {
    let report = performance(false, &["Neg", "Abs"], 2, 6);
    let optimised = answers(&report, "performance", "optimised");
    assert_eq!((optimised.pass, optimised.bug), (0, 6), "{:?}", report.oracles);
    assert_eq!(answers(&report, "performance", "size").bug, 0, "{:?}", report.oracles);
    assert!(report.clusters.iter().all(|c| c.example.backend == "slow" && c.example.level == "all"));
    assert!(report.clusters.iter().all(|c| c.example.culprit.as_ref().is_some_and(|c| c.alone)));
}

#[test]
fn a_size_that_is_much_slower_than_the_next_one_is_seen() {
    let report = performance(true, &["Neg"], 1, 20);
    let size = answers(&report, "performance", "size");
    assert!(size.bug > 0 && size.pass > 0, "{:?}", report.oracles);
    assert_eq!(answers(&report, "performance", "optimised").bug, 0, "{:?}", report.oracles);
}
