//! `report` and `watch` read what `fuzz` has stored.

mod program;

use std::fs;

use program::onnxsmith;

#[test]
fn a_campaign_is_shown_in_every_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let fuzz = [
        "fuzz",
        "--on",
        "cpu",
        "--cases",
        "8",
        "--ops",
        "Add,Neg,Sign",
        "--jobs",
        "1",
        "--out",
        "out",
        "--quiet",
    ];
    let ran = onnxsmith(at, &fuzz);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

    let forms =
        ["report", "out", "--html", "page.html", "--markdown", "issues", "--junit", "junit.xml", "--json"];
    let shown = onnxsmith(at, &forms);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let json: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("one JSON object");
    assert_eq!(json["cases"], 8);
    assert_eq!(json["groups"], serde_json::json!([]));
    assert_eq!(json["identity"]["targets"][0]["name"], "cpu:default");
    let page = fs::read_to_string(at.join("page.html")).expect("a page");
    assert!(page.contains("Nothing found") && page.ends_with("</html>"), "{page}");
    assert!(fs::read_to_string(at.join("junit.xml")).expect("a file").contains("8 cases ran"));

    let watched = onnxsmith(at, &["watch", "out"]);
    let text = String::from_utf8_lossy(&watched.stdout).into_owned();
    assert!(watched.status.success() && text.contains("8 cases") && text.contains("cpu:default"), "{text}");
}

/// A campaign that finds that rten has another Sign of zero.
const SIGN: &[&str] = &[
    "fuzz", "--on", "cpu,rten", "--ops", "Sign", "--dtypes", "f32", "--nodes", "1", "--out", "out", "--quiet",
];

#[test]
fn each_case_counts_once_for_each_target_and_what_is_new_comes_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let known = "[[known]]\nsignature = 'rten | Relu *'\nfinding = 'here'\nexpires = '2099-01-01'\n";
    fs::write(at.join("known.toml"), known).expect("a list");
    let ran = onnxsmith(at, &[SIGN, &["--cases", "20", "--known", "known.toml"]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let (before, new) = said.split_once("new causes: 1\n").expect("what is new");
    assert!(new.contains("rten | Sign f32 dense | mismatch gross\n"), "{said}");
    assert!(before.contains("1 are not met") && !said.contains("rten | Relu"), "{said}");
    assert!(before.contains("of them in the engines' processes)"), "{said}");

    let shown = onnxsmith(at, &["report", "out", "--known", "known.toml", "--html", "page.html", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("one JSON object");
    assert_eq!(json["known_unseen"], serde_json::json!(["rten | Relu *"]));
    assert!(fs::read_to_string(at.join("page.html")).expect("a page").contains("rten | Relu *"));
    let cluster = &json["clusters"][0];
    // Both levels of rten have it, so there are two findings in each case.
    assert_eq!(cluster["count"].as_u64(), cluster["cases"].as_u64().map(|cases| 2 * cases), "{cluster}");
    for (target, what) in [("cpu:default", "right"), ("rten:all", "same"), ("rten:none", "same")] {
        assert_eq!(cluster["others"][target][what], cluster["cases"], "{target}: {cluster}");
    }

    let resumed = onnxsmith(at, &[SIGN, &["--cases", "24", "--resume"]].concat());
    let said = String::from_utf8_lossy(&resumed.stdout).into_owned();
    assert!(said.contains("s of CPU by this command alone"), "{said}");
}

/// What is shown of a finding is what its case was reduced to.
#[test]
fn every_form_points_at_the_reduced_case_and_issues_are_not_mixed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let ran = onnxsmith(at, &[SIGN, &["--cases", "20", "--junit", "junit.xml"]].concat());
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let case = said.lines().last().map(str::trim).expect("a case");
    assert!(case.ends_with("-alone"), "{said}");
    let junit = fs::read_to_string(at.join("junit.xml")).expect("a file");
    assert!(junit.contains(&format!("onnxsmith run {case} --on rten:")), "{junit}");

    let report = || onnxsmith(at, &["report", "out", "--markdown", "issues"]);
    assert_eq!(report().status.code(), Some(1));
    let again = report();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.code() == Some(2) && said.contains("issues is not empty (rten-sign-"), "{said}");
}
