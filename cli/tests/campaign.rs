//! Campaigns as a person runs them: killed, interrupted, continued, split, on a disk that is full.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use campaign::Store;
use campaign::report::Report;

/// A campaign that finds something, with models so small that hundreds of cases take a second.
const FLAGS: &[&str] = &[
    "fuzz",
    "--on",
    "cpu,rten:all",
    "--ops",
    "Sign,Relu,Add",
    "--dtypes",
    "f32",
    "--nodes",
    "2",
    "--level",
    "violate",
    "--quiet",
];

fn fuzz(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    command.args(FLAGS).args(args).current_dir(folder);
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    fuzz(folder, args).output().expect("the program starts")
}

/// Runs a campaign that must not go wrong.
fn succeed(folder: &Path, args: &[&str]) {
    let output = run(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(1 | 130)), "{args:?}: {said}");
}

fn start(folder: &Path, args: &[&str]) -> Child {
    fuzz(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// What a campaign has found, but for times.
fn report(folder: &Path, out: &str) -> (Report, Vec<(u64, String, String)>) {
    let store = Store::read(&folder.join(out)).expect("a store");
    let mut report = store.report().expect("a report");
    (report.backend_seconds, report.wall_seconds) = (0.0, 0.0);
    for path in report.clusters.iter_mut().flat_map(|c| [&mut c.smallest, &mut c.reduced]).flatten() {
        *path = path.strip_prefix(folder.join(out)).expect("a path within").to_owned();
    }
    (report, store.findings().expect("findings"))
}

/// Waits until a campaign has stored so many cases. False if it has ended before.
fn has_stored(child: &mut Child, folder: &Path, out: &str, cases: u64) -> bool {
    let until = Instant::now() + Duration::from_mins(5);
    while Instant::now() < until {
        let blocks = Store::read(&folder.join(out)).and_then(|store| store.blocks()).unwrap_or_default();
        if blocks.last().is_some_and(|block| block.past >= cases) {
            return true;
        }
        if child.try_wait().expect("a status").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{out} does not get to {cases} cases");
}

#[test]
fn a_killed_campaign_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["--out", "calm", "--cases", "600"]);
    let args = ["--out", "killed", "--cases", "600", "--resume"];
    for until in [1, 150, 300] {
        let mut child = start(at, &args);
        has_stored(&mut child, at, "killed", until);
        child.kill().expect("a kill");
        child.wait().expect("an end");
    }
    succeed(at, &args);
    let calm = report(at, "calm");
    assert!(calm.0.cases > 500 && calm.0.findings > 0, "{:?}", calm.0);
    assert_eq!(report(at, "killed"), calm);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let mut child = start(at, &["--out", "out", "--time", "1h", "--json"]);
    assert!(has_stored(&mut child, at, "out", 1));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let output = child.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(1 | 130)) && said.contains("stopping"), "{said}");
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(printed["cases"], report(at, "out").0.cases);
}

#[test]
fn a_campaign_is_never_mixed_with_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["--out", "out", "--cases", "20"]);
    let before = report(at, "out");
    let rows: [(&[&str], &str); 3] = [
        (&[], "--resume"),
        (&["--resume", "--seed", "7"], "seed: 0 there, 7 here"),
        (&["--resume", "--shard", "1/2"], "shard.count: 1 there, 2 here"),
    ];
    for (args, wanted) in rows {
        let output = run(at, &[&["--out", "out", "--cases", "20"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(wanted), "{args:?}: {said}");
    }
    assert_eq!(report(at, "out"), before);
}

/// Trying an engine takes minutes.
#[test]
fn another_campaign_is_refused_before_anything_is_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    succeed(folder.path(), &["--out", "out", "--cases", "4"]);
    let args = ["fuzz", "--on", "rten", "--ops", "Sign", "--cases", "4", "--out", "out", "--resume"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    let output = command.args(args).current_dir(folder.path()).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("targets[cpu:default].name: "), "{said}");
    assert!(!said.contains("trying"), "{said}");
}

#[test]
fn without_out_each_campaign_has_a_folder_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["--cases", "40"]);
    succeed(at, &["--cases", "50"]);
    succeed(at, &["--cases", "60", "--resume"]);
    assert_eq!(report(at, "onnxsmith-out/run-1").0.cases, 40);
    assert_eq!(report(at, "onnxsmith-out/run-2").0.cases, 60);
    assert!(!at.join("onnxsmith-out/run-3").exists());
}

#[test]
fn shards_are_merged_by_a_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["--out", "whole", "--cases", "300"]);
    for part in ["1/2", "2/2"] {
        succeed(at, &["--out", &part.replace('/', "-"), "--cases", "300", "--shard", part]);
    }
    let merge = |parts: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
        let ran =
            command.arg("merge").args(parts).args(["--out", "merged", "--json"]).current_dir(at).output();
        ran.expect("the program starts")
    };
    let refused = merge(&["1-2"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("part 2/2 is missing"), "{said}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
    let into_part = command.args(["merge", "1-2", "2-2", "--out", "1-2"]).current_dir(at).output();
    let into_part = into_part.expect("the program starts");
    let said = String::from_utf8_lossy(&into_part.stderr);
    assert!(
        into_part.status.code() == Some(2)
            && said.contains("1-2 is one of the parts that are merged; give --out"),
        "{said}"
    );
    assert_eq!(merge(&["1-2", "2-2"]).status.code(), Some(1));
    assert_eq!(report(at, "merged"), report(at, "whole"));
    for cluster in report(at, "merged").0.clusters {
        assert!(at.join("merged").join(cluster.smallest.expect("a saved case")).join("model.onnx").is_file());
    }
}

/// A limit on the size of files is the nearest to a full disk that needs no rights: SQLite's writes fail half-way.
#[cfg(target_os = "linux")]
#[test]
fn when_no_more_can_be_written_what_was_stored_is_safe() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["--out", "out", "--cases", "100"]);
    let before = report(at, "out");
    let size = fs::metadata(at.join("out/campaign.db")).expect("the database").len();
    let program = env!("CARGO_BIN_EXE_onnxsmith");
    let all = [FLAGS, &["--out", "out", "--cases", "800", "--resume"]].concat();
    // In blocks of 512 bytes. The signal that comes with it is not to kill the program.
    let script = format!("ulimit -f {}; exec \"$0\" \"$@\"", size / 512 + 1);
    let output =
        Command::new("sh").args(["-c", &script, program]).args(all).current_dir(at).output().expect("sh");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("campaign.db") && !said.contains("panicked"), "{said}");
    let after = report(at, "out");
    assert!(after.0.cases >= before.0.cases);
    succeed(at, &["--out", "out", "--cases", "800", "--resume"]);
    succeed(at, &["--out", "calm", "--cases", "800"]);
    assert_eq!(report(at, "out"), report(at, "calm"));
}

#[test]
fn what_a_file_tells_of_an_engine_is_not_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = include_str!("../../conformance/engines/rten.toml");
    fs::write(folder.path().join("rten.toml"), there).expect("a file");
    fs::write(folder.path().join("old.toml"), there.replace("version = \"0.27.0\"", "version = \"0.1\""))
        .expect("a file");
    let fuzz = |on: &str, file: &str| {
        let args = ["fuzz", "--on", on, "--ops", "Sign", "--cases", "4", "--probed", file, "--out", on];
        let mut command = Command::new(env!("CARGO_BIN_EXE_onnxsmith"));
        let output = command.args(args).current_dir(folder.path()).output().expect("the program starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = fuzz("rten,cpu", "rten.toml");
    assert!(said.contains("trying each operator on cpu") && !said.contains("on rten"), "{said}");
    assert!(fuzz("cpu", "rten.toml").contains("rten.toml tells of rten, and the campaign is on cpu"));
    let said = fuzz("rten", "old.toml");
    assert!(
        said.contains("tells of rten 0.1, and this is 0.27.0; `onnxsmith backends --probe rten --out"),
        "{said}"
    );
}

/// Shells that start a program in the background, or by `nohup`, have it ignore the signal: whoever sends it all the
/// same means it.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_campaign_that_tries_operators_yet() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = env!("CARGO_BIN_EXE_onnxsmith");
    let args = ["fuzz", "--on", "rten", "--cases", "4", "--out", "out", "--junit", "junit.xml"];
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' INT; exec \"$0\" \"$@\"", program]).args(args).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("trying each operator on rten")));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let said: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("an end").code(), Some(130), "{said:?}");
    assert!(said.iter().any(|line| line.contains("stopped while operators were tried on rten")), "{said:?}");
    assert!(
        !said.iter().any(|line| line.contains("rten lacks")),
        "what is tried was not tried to its end: {said:?}"
    );
    let junit = fs::read_to_string(folder.path().join("junit.xml")).expect("a file");
    assert!(junit.contains("errors=\"1\""), "{junit}");
    assert!(!folder.path().join("out").exists(), "no campaign has begun");
}
