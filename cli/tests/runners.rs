//! Programs of the user's own as engines, `cmd:…`: what they are called, what is kept of what they say.
#![cfg(unix)]

mod program;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use campaign::Store;
use campaign::fuzz::Plan;
use campaign::store::Identity;
use graphgen::Settings;
use harness::Maker;
use program::onnxsmith;
use triage::known::{Date, Known};
use worker::Limits;

const PROGRAM: &str = env!("CARGO_BIN_EXE_onnxsmith");

fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}; {said}"))
}

/// Our CPU kernels, which misbehave at this rate. It says that it is called `chaos`.
fn chaos(rate: &str) -> String {
    format!("cmd:'{PROGRAM}' worker chaos {rate}")
}

/// A campaign with findings on some engines.
fn fuzz(folder: &Path, on: &str, known: Option<&str>) -> serde_json::Value {
    let mut args = vec![
        "fuzz", "--on", on, "--ops", "Add", "--dtypes", "f32", "--nodes", "1", "--cases", "16", "--jobs",
        "1", "--out", "out",
    ];
    args.extend(["--json", "--quiet", "--junit", "junit.xml"]);
    args.extend(known.into_iter().flat_map(|file| ["--known", file]));
    json(&onnxsmith(folder, &args))
}

/// Makes a case of one operator, in `cases`.
fn one_case(folder: &Path) {
    let made =
        onnxsmith(folder, &["gen", "--ops", "Softmax", "--nodes", "1", "--count", "1", "--out", "cases"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The paths of all files of a name below a folder.
fn files(folder: &Path, name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, name));
        } else if path.file_name().is_some_and(|n| n == name) {
            found.push(path);
        }
    }
    found
}

/// What starts the program may have ended children vanish, and a program inherits that.
#[test]
fn how_an_engine_died_is_told_whatever_started_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    one_case(folder.path());
    let engine = chaos("exit-with-words=100");
    let line = format!("trap '' CHLD; exec '{PROGRAM}' run cases --on \"{engine}\" --quiet");
    let ran = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().expect("a shell");
    let [told, said] = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(told.contains("exit at 3"), "{told}{said}");
    assert_eq!(ran.status.code(), Some(1), "{said}");
}

#[test]
fn a_program_is_called_as_it_says_and_replayed_as_it_was_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let engine = chaos("exit-with-words=50");
    let list =
        "[[known]]\nsignature = \"chaos | *exit at 3\"\nfinding = \"here\"\nexpires = \"9999-12-31\"\n";
    fs::write(at.join("known.toml"), list).expect("a file");
    let report = fuzz(at, &engine, Some("known.toml"));
    assert!(report["findings"].as_u64() > Some(0), "{report}");
    assert_eq!(report["known"], report["findings"], "the list is about its name");
    assert_eq!(
        report["by_target"].as_object().map(|all| all.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["chaos:default".into()])
    );
    let text = report.to_string();
    let signatures = report["clusters"]
        .as_array()
        .expect("clusters")
        .iter()
        .map(|c| c["signature"].as_str().unwrap_or(""));
    assert!(signatures.clone().all(|signature| signature.starts_with("chaos | ")), "{text}");

    let shown = onnxsmith(
        at,
        &["report", "out", "--html", "page.html", "--markdown", "issues", "--junit", "new.xml", "--json"],
    );
    assert_eq!(json(&shown)["identity"]["targets"][0]["engine"], engine.as_str());
    let read = |path: &Path| fs::read_to_string(path).expect("a text");
    let issue = files(&at.join("issues"), "issue.md").pop().expect("an issue");
    let unquoted = |text: &str| {
        text.replace(['\'', '"', '\\'], "").replace("&quot;", "").replace("&#39;", "").replace("&amp;", "&")
    };
    let command = unquoted(&format!("--on {engine}"));
    for path in [at.join("page.html"), issue.clone(), at.join("new.xml")] {
        let text = read(&path);
        assert!(unquoted(&text).contains(&command), "{} does not say how to run it: {text}", path.display());
    }
    assert!(read(&at.join("junit.xml")).contains("classname=\"chaos\""));
    assert!(
        issue.parent().and_then(Path::file_name).is_some_and(|n| n.to_string_lossy().starts_with("chaos-"))
    );

    assert!(files(&at.join("issues"), "reproduce.py").is_empty(), "ONNX Runtime shows nothing of a runner");
    assert!(!read(&issue).contains("ONNX Runtime"), "{}", read(&issue));

    // What is pasted runs.
    let case = report["clusters"][0]["smallest"].as_str().expect("a saved case");
    for on in [engine.clone(), format!("{engine} :default")] {
        let ran = onnxsmith(at, &["run", case, "--on", &on, "--json", "--quiet"]);
        assert_eq!(json(&ran)["backends"]["chaos:default"]["crash"], 1);
    }
    let ran = onnxsmith(at, &["run", case, "--on", &format!("{engine} :fast")]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("has no optimisation level `fast`; it has default"), "{said}");
}

#[test]
fn a_campaign_in_which_nothing_was_compared_has_not_done_what_was_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // It lacks now what a file says that it has.
    let lacking = chaos("lack=100");
    let has = format!(
        "format = 1\nengine = \"{lacking}\"\nversion = \"{}\"\naccuracy = \"tight\"\nopset = 28\n\
         dtypes = [\"f32\", \"i32\"]\nfunctions = true\noverrides_defaults = true\n",
        env!("CARGO_PKG_VERSION")
    );
    fs::write(at.join("has.toml"), has).expect("a file");
    for (on, reason) in [(lacking.clone(), "; most often: unsupported"), (format!("cpu,{lacking}"), "")] {
        let args =
            ["--ops", "Add", "--nodes", "1", "--cases", "8", "--probed", "has.toml", "--junit", "junit.xml"];
        let output = onnxsmith(at, &[&["fuzz", "--on", &on][..], &args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("nothing was compared on chaos:default{reason}")), "{said}");
        let junit = fs::read_to_string(at.join("junit.xml")).expect("a file");
        let error =
            "classname=\"chaos:default\" name=\"cases are compared\"><error message=\"nothing was compared\"";
        assert!(junit.contains("errors=\"1\"") && junit.contains(error), "{junit}");
    }
}

#[test]
fn what_an_engine_says_before_it_dies_is_kept_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let report = fuzz(at, &chaos("exit-with-words=50"), None);
    assert_eq!(report["clusters"][0]["example"]["stderr"], "giving up", "{report}");
    let cases = files(&at.join("out/findings"), "case.json");
    assert!(!cases.is_empty());
    for path in cases {
        let case: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
        assert_eq!(case["findings"][0]["stderr"], "giving up", "{}", path.display());
    }
    let shown = onnxsmith(at, &["report", "out", "--html", "page.html", "--markdown", "issues"]);
    assert_eq!(shown.status.code(), Some(1), "{}", String::from_utf8_lossy(&shown.stderr));
    let page = fs::read_to_string(at.join("page.html")).expect("a page");
    assert!(page.contains("Standard error (1 line)") && page.contains("giving up"), "{page}");
    let issue =
        fs::read_to_string(files(&at.join("issues"), "issue.md").pop().expect("an issue")).expect("a text");
    assert!(issue.contains("## Standard error\n\n```text\ngiving up\n```"), "{issue}");
}

#[test]
fn two_programs_of_one_name_are_two_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (first, second) = (chaos("exit=50"), chaos("exit-with-words=50"));
    let report = fuzz(at, &format!("{first}, {second}, {first}"), None);
    let targets = report["by_target"].as_object().expect("targets");
    assert_eq!(targets.keys().collect::<Vec<_>>(), ["chaos#2:default", "chaos:default"]);
    let identity = json(&onnxsmith(at, &["report", "out", "--json"]))["identity"].clone();
    let engines: Vec<_> =
        identity["targets"].as_array().expect("targets").iter().map(|t| (&t["name"], &t["engine"])).collect();
    assert_eq!(engines[0], (&"chaos:default".into(), &first.into()));
    assert_eq!(engines[1], (&"chaos#2:default".into(), &second.clone().into()));
    one_case(at);
    let ran = onnxsmith(at, &["run", "cases", "--on", &format!("{},{second}", chaos("lack=0"))]);
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(told.contains(&format!("chaos is {}\nchaos#2 is {second}\n", chaos("lack=0"))), "{told}");
    // Each has its own findings.
    for cluster in report["clusters"].as_array().expect("clusters") {
        let signature = cluster["signature"].as_str().unwrap_or_default();
        let is_second = signature.starts_with("chaos#2 | ");
        assert_eq!(signature.ends_with("exit at 3"), is_second, "{signature}");
    }
}

#[test]
fn the_undecidable_share_is_told_of_each_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // How far quotients and means may be off decides which comparisons are open.
    let args = [
        "fuzz",
        "--on",
        "cpu,rten:all",
        "--ops",
        "ReduceMean,Greater,Tanh,Div",
        "--dtypes",
        "f32",
        "--nodes",
        "4",
    ];
    let ran = onnxsmith(at, &[&args[..], &["--cases", "60", "--out", "out", "--json", "--quiet"]].concat());
    let report = json(&ran);
    let elements = &report["elements_by_target"];
    for target in ["cpu:default", "rten:all"] {
        let of = &elements[target];
        let [all, undecidable] =
            [&of["outputs"], &of["undecidable"]].map(|n| n.as_u64().expect("a count") as f64);
        assert!(all > 0.0 && of["undecidable_share"].as_f64() == Some(undecidable / all), "{elements}");
    }
    let share = |target: &str| elements[target]["undecidable"].as_u64();
    assert!(share("cpu:default") < share("rten:all"), "a looser profile decides less: {elements}");
    let shown = onnxsmith(at, &["report", "out", "--html", "page.html", "--quiet"]);
    assert!(matches!(shown.status.code(), Some(0 | 1)));
    let page = fs::read_to_string(at.join("page.html")).expect("a page");
    assert!(page.contains("<th class=\"number\">undecidable</th>"), "{page}");
}

#[test]
fn the_view_tells_new_findings_from_known_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let list = "[[known]]\nsignature = \"chaos | *exit at 3\"\nfinding = \"here\"\nexpires = \"9999-12-31\"\n\
                [[known]]\nsignature = \"elsewhere | *\"\nfinding = \"there\"\nexpires = \"9999-12-31\"\n";
    fs::write(at.join("known.toml"), list).expect("a file");
    fuzz(at, &chaos("exit-with-words=30 exit=30"), None);
    let shown = |args: &[&str]| String::from_utf8_lossy(&onnxsmith(at, args).stdout).into_owned();
    let watched = shown(&["watch", "out", "--known", "known.toml"]);
    let lines = |mark: &str| watched.lines().filter(|line| line.contains(mark)).collect::<Vec<_>>();
    assert!(lines("  new    chaos | ").iter().all(|line| line.ends_with("exit at 0")), "{watched}");
    // The reduced case may exit in the other way; a list covers a finding by the name that it had before as well.
    assert!(lines("  known  chaos | ").iter().any(|line| line.ends_with("exit at 3")), "{watched}");
    assert!(!lines("  new    ").is_empty() && !lines("  known  ").is_empty(), "{watched}");
    assert!(watched.find("  new    ") < watched.find("  known  "), "new ones come first: {watched}");
    assert!(!shown(&["watch", "out"]).contains("  new    "), "without a list nothing is known");
}

/// An engine that always hangs, and notes in a folder's `asked` what it is asked.
fn hanging(folder: &Path) -> String {
    let asked = folder.join("asked");
    format!("cmd:sh -c 'tee -a \"$1\" | \"$0\" worker chaos hang=100' '{PROGRAM}' '{}'", asked.display())
}

/// How long it was given each time, in milliseconds.
fn times_given(folder: &Path) -> Vec<u32> {
    let asked = fs::read(folder.join("asked")).expect("a file");
    let asked = String::from_utf8_lossy(&asked);
    let digits =
        |rest: &str| rest.chars().map_while(|c| c.to_digit(10)).fold(0, |all, digit| all * 10 + digit);
    asked.split("\"timeout_ms\":").skip(1).map(digits).collect()
}

#[test]
fn further_questions_about_what_hangs_get_less_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    one_case(at);
    let engine = hanging(at);
    let ran = json(&onnxsmith(at, &["run", "cases", "--on", &engine, "--timeout", "2s", "--json"]));
    assert_eq!(ran["backends"]["chaos:default"]["timeout"], 1, "{ran}");
    let why = &ran["not_passing"][0]["why"];
    assert_eq!(why, "did not answer in time: it had 2s; --timeout gives it longer");
    let given = times_given(at);
    // The case as it is, and at the end what is left of it.
    let [2000, between @ .., 2000] = &given[..] else { panic!("{given:?}") };
    assert!(!between.is_empty() && between.iter().all(|&time| time == 1000), "{given:?}");
}

/// How long a hanging engine was given each time in a campaign of one case, in milliseconds, where this pattern is known.
fn given_where_known(pattern: &str) -> Vec<u32> {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let list = format!("[[known]]\nsignature = '{pattern}'\nfinding = 'here'\nexpires = '9999-12-31'\n");
    let today = Date::today();
    let known = Known::parse(&list, Path::new("known.toml"), today).expect("a list");
    let limits = Limits { timeout: Duration::from_secs(3), ..Limits::default() };
    let settings = Settings { nodes: 1, operators: ["Softmax"].into(), ..Settings::default() };
    let targets = harness::target::open(&hanging(at), &limits).expect("it starts");
    let plan = Plan { cases: Some(1), known, ..Plan::of(Maker::new(3, settings), targets) };
    let mut store = Store::create(&at.join("out"), &Identity::of(&plan)).expect("a store");
    let report =
        campaign::fuzz::fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert_eq!(report.findings, 1, "{report:?}");
    times_given(at)
}

#[test]
fn a_campaign_on_an_engine_that_lacks_everything_ends_at_once_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let lacking = chaos("lack=100");
    let ops = ["--ops", "Abs,Add", "--dtypes", "f32", "--jobs", "1"];
    let why = "lacks every operator that may be drawn; of Abs, the first, it says: the operator Chaos";
    let fuzz = ["fuzz", "--on", &lacking, "--time", "10m", "--out", "out", "--junit", "junit.xml"];
    for args in [&fuzz[..], &["gen", "--for", &lacking]] {
        let output = onnxsmith(at, &[args, &ops].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("{lacking} {why}")) && !said.contains("case 0"), "{said}");
    }
    assert!(!at.join("out").exists(), "no campaign has begun");
    assert!(fs::read_to_string(at.join("junit.xml")).expect("a file").contains("of Abs, the first"));
    // Beside an engine that has something, the campaign runs, and tells of it in the end.
    let args = ["fuzz", "--on", &format!("cpu,{lacking}"), "--cases", "4", "--json"];
    let output = onnxsmith(at, &[&args[..], &ops].concat());
    assert_eq!((output.status.code(), &json(&output)["cases"]), (Some(2), &4.into()));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("nothing was compared on chaos:default") && !said.contains(why), "{said}");
}

/// Two operators.
const MODEL: &str = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
                     m (float[3] x) => (float[3] y) { a = Abs(x) y = Add(a, x) }\n";

#[test]
fn blame_calls_a_refusal_of_a_valid_model_wrong_and_a_lack_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    for (rate, code, told) in [
        ("reject=100", 1, "end to end: refused: "),
        ("exit-with-words=100", 1, "end to end: failed: "),
        ("lack=100", 2, "end to end: unsupported: "),
        ("lack=0", 0, "end to end: right"),
    ] {
        let engine = chaos(rate);
        for whole in [&["--whole"][..], &[]] {
            let args = [&["blame", "m.onnxtxt", "--on", &engine, "--quiet"], whole].concat();
            let output = onnxsmith(at, &args);
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert_eq!(output.status.code(), Some(code), "{rate}: {said}");
            assert!(said.contains(told), "{said}");
            assert_eq!(said.contains("nothing could be judged on chaos:default"), code == 2, "{said}");
        }
    }
}

/// An engine that misbehaves, and whose hello has f32 alone.
fn of_f32(folder: &Path, rate: &str) -> String {
    let script = format!(
        "'{PROGRAM}' worker chaos {rate} | {{\n\
         IFS= read -r hello\n\
         printf '%s\\n' \"$hello\" | sed 's/\"dtypes\":{{[^}}]*}}/\"dtypes\":{{\"f32\":\"f32\"}}/'\n\
         exec cat\n}}\n"
    );
    let file = folder.join(rate);
    fs::write(&file, script).expect("a file");
    format!("cmd:sh '{}'", file.display())
}

#[test]
fn what_comes_of_a_dtype_that_the_hello_lacks_is_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, dtype) in [("bool", "bool"), ("f32", "float")] {
        let model = format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>\nm ({dtype}[3] x) => ({dtype}[3] y) {{ y = Identity(x) }}\n"
        );
        fs::write(at.join(format!("{name}.onnxtxt")), model).expect("a model");
    }
    for rate in ["exit-with-words=100", "other-shape=100"] {
        let engine = of_f32(at, rate);
        for (args, told) in [
            (&["run", "bool.onnxtxt"][..], "1 unsupported"),
            (&["blame", "bool.onnxtxt"], "end to end: unsupported: chaos does not say that it takes bool"),
            (
                &["sweep", "--ops", "Identity", "--dtypes", "bool", "--forms", "unary"],
                "chaos lacks on bool: Identity",
            ),
            (
                &["sweep", "--ops", "Abs,Neg", "--dtypes", "i32,i64", "--forms", "unary"],
                "chaos lacks every operator on i32, i64\n",
            ),
        ] {
            let output = onnxsmith(at, &[args, &["--on", &engine, "--quiet"]].concat());
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.code() == Some(2) && said.contains(told), "{args:?}: {said}");
        }
        for command in ["run", "blame"] {
            let output = onnxsmith(at, &[command, "f32.onnxtxt", "--on", &engine, "--quiet"]);
            assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn blame_says_how_long_what_hangs_had() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    one_case(at);
    let args = ["blame", "cases/case-000000", "--on", &chaos("hang=100"), "--timeout", "1s", "--quiet"];
    let said = String::from_utf8_lossy(&onnxsmith(at, &args).stdout).into_owned();
    assert_eq!(
        said.matches("did not answer in time: it had 1s; --timeout gives it longer").count(),
        2,
        "{said}"
    );
}

#[test]
fn nobody_waits_for_a_hang_that_is_listed() {
    let given = given_where_known("chaos | Softmax* | timeout");
    assert!(!given.is_empty() && given.iter().all(|&time| time < 3000), "{given:?}");
    // What is known of another operator says nothing of this one.
    let given = given_where_known("chaos | Conv* | timeout");
    assert_eq!(given.iter().filter(|&&time| time == 3000).count(), 2, "{given:?}");
    // Nor does it that it is wrong in another way.
    let given = given_where_known("chaos | Softmax* | mismatch *");
    assert_eq!(given.iter().filter(|&&time| time == 3000).count(), 2, "{given:?}");
}

#[test]
fn the_end_of_a_campaign_does_not_wait_for_what_hangs() {
    let started = Instant::now();
    // A third of all cases hangs, and may for ten minutes.
    let limits = Limits { timeout: Duration::from_mins(10), ..Limits::default() };
    let plan = Plan {
        jobs: 2,
        time: Some(Duration::from_secs(2)),
        ..Plan::of(
            Maker::new(3, Settings { nodes: 2, max_elements: 64, ..Settings::default() }),
            harness::target::open(&chaos("hang=33"), &limits).expect("it starts"),
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::create(&folder.path().join("out"), &Identity::of(&plan)).expect("a store");
    let report =
        campaign::fuzz::fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert!(report.trouble.iter().any(|told| told.contains("the time was over")), "{report:?}");
    // Nobody has waited long enough to know that it hangs.
    assert_eq!(report.findings, 0, "{report:?}");
    assert!(started.elapsed() < Duration::from_mins(2), "{:?}", started.elapsed());
}

/// An engine whose first process is wrong about everything, as if it had gone wrong before, and whose others are right;
/// or one that is always wrong.
fn wrong(always: bool) -> String {
    let wrong = if always { "set -- other-shape=100" } else { "test -e first || set -- other-shape=100" };
    format!("cmd:sh -c '{wrong}; touch first; exec \"$0\" worker chaos $1' '{PROGRAM}'")
}

#[test]
fn what_only_a_process_with_a_past_shows_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    one_case(at);
    for steady in [false, true] {
        let _ = fs::remove_file(at.join("first"));
        let out = steady.to_string();
        let args = ["reduce", "cases/case-000000", "--on", &wrong(steady), "--out", &out, "--json"];
        let reduced = json(&onnxsmith(at, &args));
        assert_eq!(reduced["steady"], steady, "{reduced}");
    }
}

#[test]
fn a_campaign_saves_no_reduced_case_that_only_a_process_with_a_past_shows() {
    for steady in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let report = fuzz(folder.path(), &wrong(steady), None);
        let clusters = report["clusters"].as_array().expect("a list");
        assert!(!clusters.is_empty(), "{report}");
        for cluster in clusters {
            assert_eq!(
                (&cluster["steady"], cluster["reduced"].is_null()),
                (&steady.into(), !steady),
                "{cluster}"
            );
        }
        let told = onnxsmith(folder.path(), &["report", "out"]);
        let told = String::from_utf8_lossy(&told.stdout);
        assert_eq!(told.contains("models that ran before may have a part in it"), !steady, "{told}");
    }
}
