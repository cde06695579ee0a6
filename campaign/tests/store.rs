//! A campaign on disk: interrupted, split or run by more threads, it is the same campaign.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::{Maker, Target, Values};
use ir::{DType, Datum, Tensor, Type};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::report::Report;
use onnxsmith_campaign::store::{self, FILE, Identity, StoreError};
use onnxsmith_campaign::{Shard, Store};
use worker::{Case, Description, Engine, EngineError};

/// Answers with zeros; the level `odd` refuses every other model, by its length.
#[derive(Default)]
struct Careless {
    /// After how many more runs it asks for the campaign to stop.
    stops: Option<(u64, Arc<AtomicBool>)>,
}

impl Engine for Careless {
    fn describe(&self) -> Description {
        Description {
            engine: "careless".to_owned(),
            version: "1.0.0".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: None,
            levels: vec!["zero".to_owned(), "odd".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        if let Some((left, stop)) = &mut self.stops {
            *left = left.saturating_sub(1);
            stop.store(*left == 0, Ordering::Relaxed);
        }
        let bytes = case.model.message()?.len();
        if case.level == "odd" && bytes % 2 == 1 {
            return Err(EngineError::Load(format!("no model of {} hundred bytes", bytes / 100)));
        }
        let zero = |dtype| Datum::Tensor(Tensor::zeros(&Type::new(dtype, [])));
        Ok(case.outputs.iter().map(|wanted| (wanted.name.clone(), zero(wanted.dtype))).collect())
    }
}

const CASES: u64 = 60;

/// How many runs of the engine the first session has that is interrupted.
const RUNS: u64 = 250;

fn plan(choice: Choice) -> Plan<'static> {
    Plan {
        levels: Levels { choice, rules: Vec::new() },
        jobs: 2,
        cases: Some(CASES),
        saved_per_signature: 2,
        ..Plan::of(
            Maker {
                values: Values::Plain,
                ..Maker::new(5, Settings { nodes: 2, max_elements: 64, ..Settings::default() })
            },
            Target::here(Box::new(Careless::default())),
        )
    }
}

const ADAPTIVE: Choice = Choice::Adaptive { p: 0.6, alpha: 0.01 };

fn create(folder: &Path, plan: &Plan<'_>) -> Store {
    Store::create(folder, &Identity::of(plan)).expect("a store")
}

/// Runs a campaign to its end.
fn run(folder: &Path, plan: &Plan<'_>) -> Campaign {
    fuzz(plan, &mut create(folder, plan), &AtomicBool::new(false), &mut |_| {}).expect("a report");
    Campaign::read(folder)
}

#[test]
fn a_target_that_never_answered_is_told_as_one_on_which_nothing_was_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = create(folder.path(), &plan(Choice::Valid)).report().expect("a report");
    assert_eq!(report.nothing_compared().collect::<Vec<_>>(), ["careless:odd", "careless:zero"]);
}

/// All that a campaign leaves behind, but for times.
#[derive(PartialEq, Debug)]
struct Campaign {
    report: Report,
    findings: Vec<(u64, String, String)>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Campaign {
    fn read(folder: &Path) -> Self {
        let store = Store::read(folder).expect("a store");
        let mut report = store.report().expect("a report");
        (report.backend_seconds, report.wall_seconds) = (0.0, 0.0);
        for path in report.clusters.iter_mut().flat_map(|c| [&mut c.smallest, &mut c.reduced]).flatten() {
            *path = path.strip_prefix(folder).expect("a path within the folder").to_owned();
        }
        let mut files = BTreeMap::new();
        for part in ["findings", ".cases"] {
            read_all(folder, &folder.join(part), &mut files);
        }
        Self { report, findings: store.findings().expect("findings"), files }
    }
}

fn read_all(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_all(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("a path within").to_owned();
            files.insert(name, fs::read(path).expect("a file"));
        }
    }
}

#[test]
fn nothing_depends_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |jobs: usize| run(&folder.path().join(jobs.to_string()), &Plan { jobs, ..plan(ADAPTIVE) });
    let one = with(1);
    assert!(one.report.cases == CASES && one.report.clusters.len() > 5, "{:?}", one.report);
    assert_eq!(one.findings.len() as u64, one.report.findings);
    assert_eq!(one, with(4));
}

#[test]
fn an_interrupted_campaign_goes_on_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = run(&folder.path().join("whole"), &plan(ADAPTIVE));
    let parts = folder.path().join("parts");
    drop(create(&parts, &plan(ADAPTIVE)));
    // What a process leaves behind that is killed while it saves a case.
    for half in ["findings/0123456789abcdef/.case-aB3dE6/fresh", ".cases/.case-xY7zW8/fresh"] {
        fs::create_dir_all(parts.join(half)).expect("a folder");
        fs::write(parts.join(half).join("model.onnx"), b"half a mod").expect("a file");
    }
    // The engine says when to stop: what a session does until it notices depends on the machine if the events say it.
    let (mut sessions, mut cases, mut runs) = (0, 0, RUNS);
    while cases < CASES {
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Some((runs, Arc::clone(&stop)));
        let plan = Plan { targets: Target::here(Box::new(Careless { stops })), ..plan(ADAPTIVE) };
        let mut store = Store::resume(&parts).expect("a store");
        let before = std::mem::replace(
            &mut cases,
            fuzz(&plan, &mut store, &stop, &mut |_| {}).expect("a report").cases,
        );
        // To reduce one case may take more.
        if cases > before { sessions += 1 } else { runs *= 2 }
    }
    assert!(sessions > 1, "only {sessions} sessions ran cases");
    assert_eq!(Campaign::read(&parts), whole);
    let blocks = Store::read(&parts).expect("a store").blocks().expect("blocks");
    assert!(blocks.windows(2).all(|pair| pair[0].past == pair[1].first), "{blocks:?}");
    assert_eq!((blocks[0].first, blocks[blocks.len() - 1].past), (0, CASES));
}

#[test]
fn merged_shards_are_the_whole_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = run(&folder.path().join("whole"), &Plan { cases: Some(200), ..plan(Choice::Violate) });
    let parts: Vec<PathBuf> = (0..3)
        .map(|index| {
            let path = folder.path().join(format!("part{index}"));
            let shard = Shard::new(index, 3).expect("a part");
            let part = run(&path, &Plan { cases: Some(200), shard, ..plan(Choice::Violate) });
            assert!(part.report.cases >= 64);
            path
        })
        .collect();
    let out = folder.path().join("merged");
    let refused = store::merge(&parts[..2], &out).expect_err("a part is missing").to_string();
    assert!(refused.contains("part 3/3 is missing"), "{refused}");
    let twice = [&parts[..], &parts[..1]].concat();
    let refused = store::merge(&twice, &out).expect_err("a part is there twice").to_string();
    assert!(refused.contains("part 1/3 is there twice"), "{refused}");
    let backwards: Vec<PathBuf> = parts.iter().rev().cloned().collect();
    drop(store::merge(&backwards, &out).expect("a merged campaign"));
    assert_eq!(Campaign::read(&out), whole);
    assert!(matches!(Store::resume(&out), Err(StoreError::Merged { .. })));
    let refused = store::merge(&parts, &out).map(drop).expect_err("there is one");
    // Unlike `Exists`, which can be gone on with.
    assert!(matches!(refused, StoreError::Occupied { .. }), "{refused}");
}

#[test]
fn a_content_is_stored_once_and_a_finding_is_a_folder_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let campaign = run(folder.path(), &plan(Choice::Valid));
    let contents = fs::read_dir(folder.path().join(".cases")).expect("contents").count();
    let places: Vec<&PathBuf> =
        campaign.files.keys().filter(|f| f.starts_with("findings") && f.ends_with("model.onnx")).collect();
    assert!(contents < places.len(), "{contents} contents in {} places", places.len());
    for cluster in &campaign.report.clusters {
        let path = folder.path().join(cluster.smallest.as_ref().expect("a saved case"));
        let case = onnx::CaseFolder::read(&path).expect("a case");
        assert_eq!(case.sets.len(), 1);
        let about = triage::folder::About::read(&case).expect("case.json");
        assert!(about.findings.iter().all(|f| f.signature().to_string() == cluster.signature));
    }
}

#[test]
fn beyond_the_disk_budget_findings_are_counted_and_not_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let free = run(&path("free"), &plan(Choice::Valid));
    let size = |c: &Campaign| -> usize {
        let counted = c.files.iter().filter(|(f, _)| f.starts_with(".cases") || f.ends_with("case.json"));
        counted.map(|(_, bytes)| bytes.len()).sum()
    };
    let budget = size(&free) as u64 / 3;
    let tight = |jobs| Plan { max_disk: Some(budget), jobs, ..plan(Choice::Valid) };
    let one = run(&path("one"), &tight(1));
    assert!(one.report.not_saved > 0 && free.report.not_saved == 0);
    assert!(size(&one) as u64 <= budget && size(&one) as u64 > budget / 2, "{} of {budget}", size(&one));
    assert_eq!((one.report.findings, &one.findings), (free.report.findings, &free.findings));
    assert!(one.report.clusters.iter().any(|c| c.smallest.is_none()));
    assert_eq!(run(&path("four"), &tight(4)), one);
    // Half of it first: what the shelf holds is known again.
    run(&path("halves"), &Plan { cases: Some(CASES / 2), ..tight(2) });
    let mut store = Store::resume(&path("halves")).expect("a store");
    fuzz(&tight(2), &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert_eq!(Campaign::read(&path("halves")), one);
}

#[test]
fn a_folder_that_is_not_this_campaign_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let plan = Plan { cases: Some(20), ..plan(Choice::Valid) };
    assert!(matches!(Store::resume(at), Err(StoreError::Missing { .. })));
    let before = run(at, &plan);
    assert!(matches!(Store::create(at, &Identity::of(&plan)), Err(StoreError::Exists { .. })));
    let held = Store::resume(at).expect("a store");
    assert!(matches!(Store::resume(at), Err(StoreError::Busy { .. })));
    assert!(Store::read(at).is_ok(), "reading is always possible");
    drop(held);
    let mut other = Plan { saved_per_signature: 7, ..plan };
    other.maker.settings.nodes = 4;
    let mut store = Store::resume(at).expect("a store");
    let refused =
        fuzz(&other, &mut store, &AtomicBool::new(false), &mut |_| {}).expect_err("another campaign");
    let said = refused.to_string();
    assert!(
        said.contains("settings.nodes: 2 there, 4 here")
            && said.contains("saved_per_signature: 2 there, 7 here"),
        "{said}"
    );
    drop(store);
    assert_eq!(Campaign::read(at), before);
}

#[test]
fn a_damaged_or_newer_database_is_named_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    run(at, &Plan { cases: Some(20), ..plan(Choice::Valid) });
    let file = at.join(FILE);
    let good = fs::read(&file).expect("the database");
    let mut holed = good.clone();
    let half = holed.len() / 2;
    holed[4096..half].fill(0xff);
    let text = b"not a database, but long enough to be read as one".to_vec();
    fs::write(&file, &good).expect("written");
    let db = rusqlite::Connection::open(&file).expect("the database");
    db.pragma_update(None, "user_version", 99).expect("a version");
    drop(db);
    let newer = fs::read(&file).expect("the database");
    for (wanted, broken) in [
        ("version 99 of the schema", newer),
        ("damaged", text),
        ("damaged", holed),
        ("damaged", good[..good.len() / 2].to_vec()),
        ("damaged", Vec::new()),
    ] {
        fs::write(&file, &broken).expect("written");
        for opened in [Store::resume(at), Store::read(at)] {
            let said = opened.expect_err(wanted).to_string();
            assert!(said.contains(wanted) && said.contains(FILE), "{said}");
        }
        assert_eq!(fs::read(&file).expect("the database"), broken, "{wanted}");
    }
}

/// Changes the database of a campaign, as whoever sends one may have done.
fn tamper(folder: &Path, sql: &str) {
    let db = rusqlite::Connection::open(folder.join(FILE)).expect("a database");
    assert!(db.execute(sql, []).expect(sql) > 0, "{sql}");
}

#[test]
fn a_part_that_names_files_outside_of_its_folder_is_not_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let part = run(&at("part"), &Plan { cases: Some(20), ..plan(Choice::Valid) });
    let saved = part.report.clusters[0].smallest.clone().expect("a saved case");
    fs::create_dir_all(at("evil")).expect("a folder");
    let outside = at("evil/case-1");
    fs::rename(at("part").join(saved), &outside).expect("a case outside of the campaign");
    let before = fs::read(outside.join("case.json")).expect("case.json");
    for (column, place, said) in [
        ("folder", "../evil/case-1", "a case in `../evil/case-1`, which is no folder of cases"),
        ("hash", "../../evil/case-1", "a content `../../evil/case-1`, which is no hash"),
    ] {
        let good = fs::read(at("part").join(FILE)).expect("the database");
        tamper(&at("part"), &format!("UPDATE saved SET {column} = '{place}'"));
        let refused = store::merge(&[at("part")], &at("out")).expect_err(place).to_string();
        assert!(refused.contains("damaged") && refused.contains(said), "{refused}");
        assert!(!Store::exists(&at("out")), "{place}");
        fs::write(at("part").join(FILE), good).expect("written");
    }
    assert_eq!(fs::read(outside.join("case.json")).expect("case.json"), before);
    tamper(&at("part"), "UPDATE saved SET folder = '/etc'");
    let refused =
        Store::read(&at("part")).expect("a store").report().expect_err("a place outside").to_string();
    assert!(refused.contains("damaged") && refused.contains("`/etc`"), "{refused}");
}

#[test]
fn a_part_that_is_running_is_not_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let part = run(&at("part"), &Plan { cases: Some(20), ..plan(Choice::Valid) });
    let running = Store::resume(&at("part")).expect("a store");
    let merge = || store::merge(&[at("part")], &at("out"));
    assert!(matches!(merge(), Err(StoreError::Busy { folder }) if folder == at("part")));
    assert!(!at("out").exists());
    drop(running);
    drop(merge().expect("a merged campaign"));
    assert_eq!(Campaign::read(&at("out")), part);
    // A copy without the lock.
    fs::remove_file(at("part/campaign.lock")).expect("a lock");
    drop(store::merge(&[at("part")], &at("again")).expect("a merged campaign"));
}

/// Elsewhere such names cannot be.
#[cfg(target_os = "linux")]
#[test]
fn a_part_whose_path_is_no_text_is_merged() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join(OsStr::from_bytes(b"part-\xff"));
    let part = run(&at, &Plan { cases: Some(20), ..plan(Choice::Valid) });
    let out = folder.path().join("out");
    drop(store::merge(&[at], &out).expect("a merged campaign"));
    assert_eq!(Campaign::read(&out), part);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "a database was made");
}

#[test]
fn a_part_of_no_parts_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(create(folder.path(), &plan(Choice::Valid)));
    tamper(
        folder.path(),
        r#"UPDATE campaign SET value = replace(value, '"count":1', '"count":0') WHERE key = 'identity'"#,
    );
    let said = Store::read(folder.path()).expect_err("no part").to_string();
    assert!(said.contains("damaged") && said.contains("no part 0, counted from 0, of 0 parts"), "{said}");
}

/// What has been added to the stored forms since is absent from old campaigns.
#[test]
fn a_campaign_that_an_earlier_version_stored_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let campaign = run(folder.path(), &plan(Choice::Valid));
    assert!(!campaign.report.elements_by_target.is_empty());
    let db = rusqlite::Connection::open(folder.path().join(FILE)).expect("a database");
    let sql = "SELECT value FROM campaign WHERE key = 'report'";
    let text: String = db.query_row(sql, [], |row| row.get(0)).expect("a report");
    let mut report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for key in ["elements_by_target", "known_elsewhere"] {
        assert!(report.as_object_mut().expect("an object").remove(key).is_some(), "{key} is not stored");
    }
    db.execute("UPDATE campaign SET value = ?1 WHERE key = 'report'", [report.to_string()])
        .expect("a change");
    drop(db);
    let old = Campaign::read(folder.path());
    assert_eq!(old.report, Report { elements_by_target: BTreeMap::new(), ..campaign.report });
}
