//! `known accept` writes what a campaign has found to a list, and a campaign with that list finds nothing new. `known
//! migrate` gives entries the names that what they cover has now.

mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

/// A campaign that finds something.
const FUZZ: &[&str] = &[
    "fuzz",
    "--on",
    "rten:all",
    "--ops",
    "Sign,Relu,Add",
    "--dtypes",
    "f32",
    "--nodes",
    "2",
    "--cases",
    "80",
];

fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    program::onnxsmith(folder, &[args, &["--quiet"]].concat())
}

#[test]
fn what_was_accepted_is_known_and_what_stood_in_the_list_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let found = onnxsmith(at, &[FUZZ, &["--out", "first"]].concat());
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));

    let nothing = onnxsmith(at, &["known", "accept", "first", "--only", "rten | Relu *"]);
    let said = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(nothing.status.code() == Some(2) && said.contains("rten | Relu *"), "{said}");
    assert!(!at.join("known.toml").exists());

    let mine =
        "# Mine.\n\n[[known]]\nsignature = 'rten | Relu *'\nfinding = 'here'\nexpires = '2099-01-01'\n";
    fs::write(at.join("known.toml"), mine).expect("a list");
    let accepted = onnxsmith(at, &["known", "accept", "first", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&accepted.stdout).expect("one JSON object");
    let signatures = json["accepted"].as_array().expect("a list");
    assert!(signatures.contains(&"rten | Sign f32 dense | mismatch gross".into()), "{json}");
    let list = fs::read_to_string(at.join("known.toml")).expect("a list");
    assert!(list.starts_with(mine) && list.contains("versions = '="), "{list}");

    let known = onnxsmith(at, &[FUZZ, &["--out", "second", "--known", "known.toml"]].concat());
    assert_eq!(known.status.code(), Some(0), "{}", String::from_utf8_lossy(&known.stdout));
    let again = onnxsmith(at, &["known", "accept", "second", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).expect("one JSON object");
    assert_eq!(json["accepted"], serde_json::json!([]));
}

#[test]
fn a_campaign_ends_at_the_first_finding_that_is_not_known_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fuzz = |more: &[&str]| {
        let output = onnxsmith(at, &[FUZZ, &["--until-found", "--json"], more].concat());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        (output.status.code(), json)
    };
    let (code, found) = fuzz(&["--out", "first"]);
    let clusters = found["clusters"].as_array().expect("a list");
    assert_eq!(
        (code, &clusters[0]["first"]),
        (Some(1), &(found["cases"].as_u64().expect("cases") - 1).into())
    );
    let (code, two) = fuzz(&["--out", "two", "--jobs", "2"]);
    assert_eq!((code, &two["cases"]), (Some(1), &found["cases"]), "whatever the jobs");
    // What it has met does not end it again.
    let (_, further) = fuzz(&["--out", "first", "--resume"]);
    assert!(further["cases"].as_u64() > found["cases"].as_u64(), "{further}");

    onnxsmith(at, &[FUZZ, &["--out", "all"]].concat());
    onnxsmith(at, &["known", "accept", "all"]);
    let (code, known) = fuzz(&["--out", "known", "--known", "known.toml"]);
    assert_eq!((code, &known["cases"]), (Some(0), &80.into()));
}

/// The same operator is wrong on two dtypes: a campaign on one, and then one on the other.
#[test]
fn what_is_accepted_on_every_dtype_is_known_on_another_and_else_it_is_said_what_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fuzz = |dtype: &str, out: &str, more: &[&str]| {
        let args = ["fuzz", "--on", "rten:all", "--ops", "Sign,Add", "--nodes", "2", "--cases", "60"];
        onnxsmith(at, &[&args[..], &["--dtypes", dtype, "--out", out], more].concat()).status.code()
    };
    assert_eq!((fuzz("f32", "first", &[]), fuzz("i32", "whole", &[])), (Some(1), Some(0)));
    let accepted = onnxsmith(at, &["known", "accept", "first", "--list", "exact.toml"]);
    let said = String::from_utf8_lossy(&accepted.stdout);
    assert!(said.contains("\nrten | Sign f32 dense | mismatch gross\n"), "{said}");
    assert!(said.contains("--every-dtype accepts these\n    rten | Sign * dense | mismatch gross"), "{said}");
    // What is advised there is done afterwards, and once.
    let wider =
        ["known", "accept", "first", "--list", "exact.toml", "--only", "rten | Sign *", "--every-dtype"];
    let added = onnxsmith(at, &wider);
    let said = String::from_utf8_lossy(&added.stdout).into_owned();
    assert!(said.contains("\nrten | Sign * dense | mismatch gross"), "{said}");
    let list = fs::read_to_string(at.join("exact.toml")).expect("a list");
    assert!(list.contains("'rten | Sign f32 dense | mismatch gross'"), "what stood there stays: {list}");
    let again = onnxsmith(at, &wider);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    let covered =
        "already covered by rten | Sign * dense | mismatch gross: rten | Sign f32 dense | mismatch gross";
    assert!(again.status.code() == Some(0) && said.contains(covered), "{said}");
    assert!(said.starts_with("entries added to exact.toml: 0\n"), "{said}");
    assert_eq!(fs::read_to_string(at.join("exact.toml")).expect("a list"), list);
    let args = ["known", "accept", "first", "--list", "every.toml", "--every-dtype", "--json"];
    let json: serde_json::Value =
        serde_json::from_slice(&onnxsmith(at, &args).stdout).expect("one JSON object");
    let signatures = json["accepted"].as_array().expect("a list");
    assert!(signatures.contains(&"rten | Sign * dense | mismatch gross".into()), "{json}");
    assert_eq!(json["every_dtype"], serde_json::json!([]));
    assert_eq!(fuzz("f32", "second", &["--known", "every.toml"]), Some(0));
}

/// A list that covers a finding which is written up by the name that it had before findings were reduced.
const FORMER: &str = "# Mine.

[[known]]
signature = 'rten | Conv f32 * | mismatch gross'
finding = 'mine/conv'
expires = '2099-01-01'
note = 'The pads are at the wrong end.'

[[known]]
signature = 'rten | Relu *'
finding = 'mine/relu'
expires = '2099-01-01'
";

#[test]
fn entries_get_the_names_that_what_they_cover_has_now() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/rten-0.27/conv-same-lower/finding.toml");
    let write_up = fs::read_to_string(corpus).expect("a finding");
    let signatures = write_up.find("[[signatures]]").expect("signatures");
    let case = write_up.find("[case]").expect("a case");
    let before = format!(
        "{}[[signatures]]\npattern = 'rten | Conv f32 * | mismatch gross'\n\n{}",
        &write_up[..signatures],
        &write_up[case..]
    );
    fs::create_dir_all(at.join("mine/conv")).expect("a folder");
    fs::write(at.join("mine/conv/finding.toml"), &before).expect("a finding");
    fs::write(at.join("known.toml"), FORMER).expect("a list");

    let migrated = onnxsmith(at, &["known", "migrate", "--on", "rten:all", "--json"]);
    assert_eq!(migrated.status.code(), Some(0), "{}", String::from_utf8_lossy(&migrated.stderr));
    let json: serde_json::Value = serde_json::from_slice(&migrated.stdout).expect("one JSON object");
    let now = "rten | Conv(auto_pad=SAME_LOWER,kernel_shape) f32 * | mismatch gross";
    let rewritten = serde_json::json!([{ "before": "rten | Conv f32 * | mismatch gross", "after": [now] }]);
    assert_eq!((&json["rewritten"], &json["unseen"]), (&rewritten, &serde_json::json!(["rten | Relu *"])));
    assert!(json["not_run"]["mine/relu"].is_string(), "{json}");

    let list = fs::read_to_string(at.join("known.toml")).expect("a list");
    assert_eq!(list, FORMER.replace("rten | Conv f32 * | mismatch gross", now));
    let after = fs::read_to_string(at.join("mine/conv/finding.toml")).expect("a finding");
    assert_eq!(after, before.replace("rten | Conv f32 * | mismatch gross", now));

    let again = onnxsmith(at, &["known", "migrate", "--on", "rten:all", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).expect("one JSON object");
    assert_eq!(json["rewritten"], serde_json::json!([]));
}

/// A list has the name that a runner gives itself.
#[test]
fn migrating_a_list_about_a_runner_says_how_to_name_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("known.toml"), FORMER.replace("rten", "mine")).expect("a list");
    let migrated = onnxsmith(folder.path(), &["known", "migrate"]);
    let said = String::from_utf8_lossy(&migrated.stderr).into_owned();
    assert!(said.contains("if it is a runner of yours, --on 'cmd:…' says how it is started"), "{said}");
}

/// rten's Sign takes 0 for a positive number.
const SIGN_OF_ZERO: &str = "<ir_version: 10, opset_import: [\"\" : 21]>
m (float[2] x) => (float[2] y) <float[2] zeros = {0, 0}> { y = Sign(zeros) }
";

/// A saved case, a case with outputs and a fixed tolerance, and a model without data, of which rten gets the same wrong.
fn cases_of_sign(at: &Path) {
    let finding = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/rten-0.27/sign-zero");
    for place in ["cases/saved", "cases/fixed"] {
        let shown = onnxsmith(at, &["show", &finding.display().to_string(), "--out", place]);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    }
    for ours in ["case.json", "bounds_set_0"] {
        let ours = at.join("cases/fixed").join(ours);
        let removed = if ours.is_dir() { fs::remove_dir_all(&ours) } else { fs::remove_file(&ours) };
        removed.or_else(|e| if ours.exists() { Err(e) } else { Ok(()) }).expect("it is removed");
    }
    fs::write(at.join("cases/m.onnxtxt"), SIGN_OF_ZERO).expect("a model");
}

#[test]
fn a_run_in_which_nothing_but_what_is_known_is_wrong_ends_with_0() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    cases_of_sign(at);
    let entry = |signature: &str| {
        format!("[[known]]\nsignature = '{signature}'\nfinding = 'here'\nexpires = '2099-01-01'\n")
    };
    fs::write(at.join("sign.toml"), entry("rten | Sign *")).expect("a list");
    fs::write(at.join("other.toml"), entry("rten | Relu *")).expect("a list");
    let run = |more: &[&str]| {
        let output = onnxsmith(at, &[&["run", "cases", "--on", "rten:all"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(run(&[]).0, Some(1));
    assert_eq!(run(&["--known", "other.toml"]).0, Some(1));

    let (code, told) = run(&["--known", "sign.toml", "--junit", "junit.xml"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("\n3 of 3 wrong answers are known\n"), "{told}");
    assert_eq!(told.matches("\n    known: here\n").count(), 3, "{told}");
    let junit = fs::read_to_string(at.join("junit.xml")).expect("a file");
    assert!(junit.contains("known: here") && !junit.contains("<failure"), "{junit}");

    let (_, told) = run(&["--known", "sign.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!((&json["known"], &json["not_passing"][2]["known"]), (&3.into(), &"here".into()), "{json}");
    let (_, told) = run(&["--known", "other.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert_eq!((&json["known"], &json["not_passing"][2]["known"]), (&0.into(), &serde_json::Value::Null));

    let missing = onnxsmith(at, &["run", "cases", "--known", "missing.toml"]);
    assert_eq!(missing.status.code(), Some(2));
}
