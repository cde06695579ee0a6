//! Wrong usage and broken files: the program says what is wrong with what and what to do, and never panics.

mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

/// Runs the program, which does not panic.
fn onnxsmith(folder: &Path, args: &[&str]) -> Output {
    let output = program::onnxsmith(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{args:?} panics: {said}");
    output
}

/// A folder with a case that is fine (`good`), a broken one (`json`) and things that are no cases.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let made = onnxsmith(
        at,
        &[
            "gen", "--count", "1", "--nodes", "1", "--ops", "Add", "--dtypes", "f32", "--out", "made",
            "--quiet",
        ],
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::rename(at.join("made/case-000000"), at.join("good")).expect("a case");
    let model = fs::read(at.join("good/model.onnx")).expect("a model");
    for (name, bytes) in [
        ("text.onnx", b"hello".as_slice()),
        ("nothing.onnx", b""),
        ("file", b"hello"),
        ("cut.onnx", &model[..model.len() - 1]),
        ("model.onnx", &model),
        ("policy.toml", b"max-dimm = 3"),
        ("filled.toml", b"zero-dims = 0.0"),
    ] {
        fs::write(at.join(name), bytes).expect("a file");
    }
    fs::create_dir_all(at.join("empty")).expect("a folder");
    fs::create_dir_all(at.join("json")).expect("a folder");
    fs::write(at.join("json/model.onnx"), &model).expect("a file");
    fs::write(at.join("json/case.json"), "{\"rtol\": \"small\"}").expect("a file");
    fs::create_dir_all(at.join("made-of/case-000000")).expect("a folder");
    fs::write(at.join("made-of/case-000000/model.onnx"), &model).expect("a file");
    fs::create_dir_all(at.join("notes")).expect("a folder");
    fs::write(at.join("notes/todo.txt"), "keep").expect("a file");
    fs::create_dir_all(at.join("campaign")).expect("a folder");
    fs::write(at.join("campaign").join(campaign::store::FILE), "").expect("a file");
    folder
}

#[test]
fn wrong_usage_exits_with_2_and_names_the_thing() {
    let rows: &[(&[&str], &[&str])] = &[
        (&[], &["Usage"]),
        (&["frobnicate"], &["`frobnicate`|'frobnicate'", "--help"]),
        (&["run"], &["<PATHS>"]),
        (&["run", "missing"], &["missing", "No such file"]),
        (&["report", "empty"], &["empty", "no campaign"]),
        (&["report", "missing", "--alike", "2"], &["--alike", "from 0 to 1"]),
        (&["watch", "missing"], &["missing", "no campaign"]),
        (&["run", "empty"], &["empty", "no case folder"]),
        (&["run", "file"], &["file", "neither a folder nor an .onnx or .onnxtxt file"]),
        (&["run", "good", "--on", "nope"], &["`nope`", "interp, cpu", "cmd:"]),
        (&["run", "good", "--on", ""], &["``", "interp"]),
        (&["run", "good", "--on", "interp:fast"], &["`fast`", "reference"]),
        (&["run", "good", "--on", "cmd:"], &["cmd:./runner"]),
        (&["run", "good", "--on", "cmd:./absent"], &["./absent", "No such file"]),
        (
            &["run", "good", "--on", "cmd:./absent:fast"],
            &["./absent:fast", "`fast` is a level", "--on 'cmd:./absent :fast'"],
        ),
        (&["run", "model.onnx", "--dim", "N=1e9"], &["`N=1e9` is no size", "in digits"]),
        (&["run", "model.onnx", "--dim", "N=9999999999"], &["9999999999 is too large", "2147483647"]),
        (&["reduce", "good", "--on", "cpu", "--out", "file/deep"], &["cannot write to file/deep", "--out"]),
        (&["reduce", "text.onnx", "--on", "cpu"], &["text.onnx is not reduced", "invalid model:"]),
        (&["blame", "text.onnx", "--on", "cpu"], &["text.onnx is not judged: invalid model:"]),
        (&["run", "good", "--out", "file"], &["file", "--out takes a folder"]),
        (&["run", "good", "--junit", "absent/x.xml"], &["absent/x.xml", "a folder that exists"]),
        (&["run", "good", "--rtol=-1"], &["-1", "not negative"]),
        (&["run", "good", "--atol", "nan"], &["nan", "not negative"]),
        (&["run", "good", "--timeout", "0s"], &["0s", "10s"]),
        (&["run", "good", "--jobs", "0"], &["--jobs", "1.."]),
        (&["run", "good", "--seed", "x"], &["--seed", "x"]),
        (&["gen", "--ops", "Adds"], &["`Adds`", "onnxsmith ops"]),
        (&["gen", "--ops", "Add", "--exclude", "Add"], &["no operator is left", "--exclude"]),
        (&["gen", "--dtypes", "f7"], &["f7", "f16"]),
        (&["gen", "--opset", "12"], &["12", "13"]),
        (&["gen", "--nodes", "0"], &["--nodes", "5..30"]),
        (&["gen", "--nodes", "9..3"], &["9..3", "5..30"]),
        (&["gen", "--flops", "1e6"], &["1e6", "1e6..1e9"]),
        (&["gen", "--flops", "1K..2K", "--max-flops", "3K"], &["--flops", "--max-flops"]),
        (&["gen", "--ops", "Conv:f33"], &["f33", "f16"]),
        (&["gen", "--ops", "Upsample"], &["`Upsample` is read in models, and cannot be asked for"]),
        (&["gen", "--ops", "Swish", "--opset", "13"], &["no operator is left", "opset 13"]),
        (&["gen", "--policy", "absent.toml"], &["absent.toml", "No such file"]),
        (&["gen", "--policy", "policy.toml"], &["policy.toml", "max-dimm", "`max-dim`"]),
        (
            &["gen", "--ops", "Conv:f32", "--policy", "filled.toml", "--max-memory", "8", "--count", "1"],
            &["nothing can be drawn", "larger budget"],
        ),
        (&["gen", "--count", "1", "--out", "file"], &["file", "--out takes a folder"]),
        (&["gen", "--level", "violate", "--rules", "circle"], &["`circle`", "cycle, unsorted"]),
        (&["gen", "--rules", "cycle"], &["--rules", "--level violate"]),
        (&["gen", "--profile", "loose"], &["`loose`", "tight, wgsl, declared, transforming"]),
        (&["gen", "--profile", "tight", "--no-values"], &["--profile", "--no-values"]),
        (&["gen", "--count", "1", "--out", "made-of"], &["made-of", "holds cases already", "case-000000"]),
        (&["gen", "--count", "1", "--out", "good"], &["good", "is a case", "name another"]),
        (&["gen", "--count", "1", "--out", "campaign"], &["campaign", "is a campaign's"]),
        (&["gen", "--count", "1", "--out", "notes"], &["notes", "not empty", "todo.txt"]),
        (&["gen", "--level", "adaptive"], &["adaptive", "violate"]),
        (&["gen", "--for", "absent.toml"], &["absent.toml", "backends --probe ENGINE --out absent.toml"]),
        (&["gen", "--for", "file"], &["file:1:", "expected `=`"]),
        (&["gen", "--for", "nope"], &["`nope`", "there are interp"]),
        (&["backends", "--out", "x.toml"], &["--probe"]),
        (
            &["backends", "--probe", "cpu", "--out", "absent/x.toml"],
            &["absent/x.toml", "a folder that exists"],
        ),
        (&["fuzz", "--level", "adaptive", "--p", "1.5"], &["1.5", "0.6"]),
        (&["fuzz", "--p", "0.5"], &["--p", "--level adaptive"]),
        (&["fuzz", "--level", "violate", "--alpha", "0.1"], &["--alpha", "--level adaptive"]),
        (&["fuzz", "--rules", "cycle"], &["--rules", "--level violate"]),
        (&["fuzz", "--relations", "fence"], &["relations mean nothing", "metamorphic"]),
        (&["fuzz", "--cases", "0"], &["--cases", "1 or more"]),
        (&["fuzz", "--time", "0s"], &["0s", "no time"]),
        (&["fuzz", "--max-flops", "0"], &["--max-flops", "1 or more"]),
        (&["gen", "--max-memory", "0"], &["--max-memory", "1 or more"]),
        (&["gen", "--count", "0"], &["--count", "1 or more"]),
        (&["gen", "--no-values", "--values", "plain"], &["--no-values", "--values"]),
        (&["ops", "--markdown", "--json"], &["--markdown", "--json"]),
        (&["fuzz", "--shard", "5/4"], &["5/4", "1/4"]),
        (&["fuzz", "--time", "1d"], &["1d", "10m"]),
        (&["fuzz", "--on", "cpu", "--cases", "1", "--out", "file"], &["file", "--out takes a folder"]),
        (&["fuzz", "--on", "cpu", "--cases", "1", "--junit", "absent/x"], &["absent/x", "--junit"]),
        (&["show", "missing"], &["missing", "No such file"]),
        (&["show", "text.onnx"], &["text.onnx", "protobuf"]),
        (&["show", "cut.onnx"], &["cut.onnx", "protobuf"]),
        (&["worker", "nope"], &["`nope`"]),
    ];
    let folder = folder();
    for (args, wanted) in rows {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?} prints on standard output");
        for part in *wanted {
            assert!(part.split('|').any(|p| said.contains(p)), "{args:?} does not say {part}: {said}");
        }
        assert!(said.matches("(os error").count() <= 1, "{args:?} says the cause twice: {said}");
    }
}

#[test]
fn what_a_flag_cannot_take_is_told_with_the_flag() {
    let folder = folder();
    let rows: [(&[&str], &[&str]); 9] = [
        (&["run", "good", "--out", "good"], &["--out good", "into good", "another folder"]),
        (&["run", "good", "--out", "."], &["--out .", "into good", "another folder"]),
        (&["run", "made-of", "--out", "made-of"], &["into made-of/case-000000", "another folder"]),
        (
            &["gen", "--memory", "1e6..2e6", "--max-total", "1000"],
            &["1000000 bytes", "1000:", "--memory and --max-total contradict each other"],
        ),
        (
            &["known", "accept", "campaign", "--list", "good"],
            &["good", "it is no file", "--list takes a list"],
        ),
        (&["run", "good", "--junit", "-"], &["--junit takes a file", "/dev/stdout"]),
        (&["fuzz", "--known", "absent.toml"], &["--known", "absent.toml", "No such file"]),
        (&["corpus"], &["no folder corpus", "a checkout"]),
        (
            &["corpus", "made-of"],
            &["made-of holds no findings: neither it nor a folder in it has an engine.toml; give"],
        ),
    ];
    for (args, wanted) in rows {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for part in wanted {
            assert!(said.contains(part), "{args:?} does not say {part}: {said}");
        }
    }
    assert!(!folder.path().join("-").exists(), "a file is called -");
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_no_list() {
    let folder = folder();
    let rows: [(&[&str], &str); 3] = [
        (&["known", "accept", "campaign", "--list", "/dev/full"], "it is no file"),
        (&["known", "migrate", "--list", "/dev/zero"], "it is no file"),
        (&["run", "good", "--known", "/dev/zero"], "it has more than"),
    ];
    for (args, wanted) in rows {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(wanted), "{args:?}: {said}");
    }
}

#[test]
fn a_command_that_fails_leaves_its_error_in_place_of_earlier_results() {
    let folder = folder();
    let file = folder.path().join("results.xml");
    for args in [
        &["fuzz", "--on", "cmd:./absent", "--cases", "1"][..],
        &["run", "good", "--on", "cmd:./absent"],
        &["run", "empty", "--on", "cpu"],
    ] {
        fs::write(&file, "yesterday's").expect("a file");
        let output = onnxsmith(folder.path(), &[args, &["--junit", "results.xml"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        let written = fs::read_to_string(&file).expect("a file");
        let why = said.trim_end().strip_prefix("onnxsmith: ").expect("an error");
        assert!(written.contains("tests=\"1\"") && written.contains("errors=\"1\""), "{written}");
        assert!(written.contains(&format!("results\">{why}</error>")), "{why} is not in {written}");
    }
}

#[test]
fn a_broken_case_is_named_and_does_not_hide_the_others() {
    let folder = folder();
    for (path, wanted) in [
        ("text.onnx", "not a protobuf message"),
        ("cut.onnx", "not a protobuf message"),
        ("nothing.onnx", "no ir_version"),
        ("json", "case.json cannot be read"),
    ] {
        let output = onnxsmith(folder.path(), &["run", path, "good", "--json", "--quiet"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(said.contains(path) && said.contains(wanted), "{said}");
        assert!(!said.contains("model.onnx"), "a name that nobody gave: {said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(report["backends"]["interp:reference"]["pass"], 1, "the other case still runs");
        assert_eq!(report["backends"]["interp:reference"]["rejected"], 0, "no backend was asked");
        let row = &report["not_passing"][0];
        assert_eq!((row["case"].as_str(), row["outcome"].as_str()), (Some(path), Some("broken")));
        assert!(row["why"].as_str().is_some_and(|why| why.contains(wanted)), "{row}");
    }
}

#[test]
fn a_broken_description_of_a_case_is_told_by_every_command_that_takes_one() {
    let folder = folder();
    let commands: &[&[&str]] = &[
        &["run", "json", "--on", "cpu"],
        &["reduce", "json", "--on", "cpu"],
        &["blame", "json", "--on", "cpu"],
        &["show", "json"],
        &["show", "json", "--out", "shown"],
    ];
    for (json, wanted) in [
        (r#"{"rtol": "small"}"#, "invalid type"),
        (r#"{"tolerance": "bogus"}"#, "there is no tolerance `bogus`; it is `derived` or null"),
        (r#"{"profile": "bogus"}"#, "there is no profile `bogus`; there are tight, "),
    ] {
        fs::write(folder.path().join("json/case.json"), json).expect("a file");
        for args in commands {
            let output = onnxsmith(folder.path(), args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains("case.json cannot be read") && said.contains(wanted), "{args:?}: {said}");
        }
    }
    assert!(!folder.path().join("shown").exists());
}

#[test]
fn the_folder_of_one_engine_is_a_corpus_of_its_findings() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/rten-0.27");
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("rten-0.27");
    fs::create_dir_all(at.join("sign-zero")).expect("a folder");
    for file in ["engine.toml", "sign-zero/finding.toml"] {
        fs::copy(corpus.join(file), at.join(file)).expect("a file that is text");
    }
    let found = |path: &str, from: &Path| {
        let output = onnxsmith(from, &["corpus", path, "--on", "rten", "--json", "--quiet"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let all: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}; {said}"));
        all["findings"][0].clone()
    };
    let whole = found(".", folder.path());
    assert_eq!(whole["finding"], "rten-0.27/sign-zero");
    // The same without the time that it took, by whatever path.
    for (path, from) in [("rten-0.27", folder.path()), (".", &at)] {
        let alone = found(path, from);
        for key in ["finding", "standing", "seen"] {
            assert_eq!(alone[key], whole[key], "{key}: {alone}");
        }
    }
}

#[test]
fn a_run_that_compares_nothing_says_so() {
    let folder = folder();
    let made = onnxsmith(
        folder.path(),
        &[
            "gen",
            "--count",
            "1",
            "--nodes",
            "1",
            "--ops",
            "ReduceLogSum",
            "--dtypes",
            "f32",
            "--opset",
            "20",
            "--out",
            "had",
            "--quiet",
        ],
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // An operator that this program does not have, of the same length: it does not decode images.
    let mut other = fs::read(folder.path().join("had/case-000000/model.onnx")).expect("a model");
    let at = other.windows(12).position(|part| part == b"ReduceLogSum").expect("the operator");
    other[at..at + 12].copy_from_slice(b"ImageDecoder");
    fs::write(folder.path().join("other.onnx"), other).expect("a file");
    let output = onnxsmith(folder.path(), &["run", "other.onnx", "--on", "interp,cpu", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was compared: other.onnx") && said.contains("ImageDecoder"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["backends"]["cpu:default"]["no_reference"], 1);
    assert_eq!(report["nothing_compared"], serde_json::json!(["cpu:default", "interp:reference"]));
    // With a case that can be compared beside it, the run is what it was.
    let output = onnxsmith(folder.path(), &["run", "other.onnx", "good", "--on", "interp"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_model_beyond_any_budget_is_refused_before_it_is_run() {
    let folder = folder();
    // y = x + x of 2^30 elements: in bytes, a model of one node and one type.
    let text = |field: u8, text: &[u8]| [&[field << 3 | 2, text.len() as u8], text].concat();
    let dim = text(1, b"\x08\x80\x80\x80\x80\x04");
    let tensor = text(1, &[b"\x08\x01".as_slice(), &text(2, &dim)].concat());
    let value = |field, name: &[u8]| text(field, &[text(1, name), text(2, &tensor)].concat());
    let node = [text(1, b"x"), text(1, b"x"), text(2, b"y"), text(4, b"Add")].concat();
    let graph = [text(1, &node), text(2, b"g"), value(11, b"x"), value(12, b"y")].concat();
    let model = [b"\x08\x08".as_slice(), &text(7, &graph), &text(8, b"\x10\x11")].concat();
    fs::write(folder.path().join("large.onnx"), model).expect("a file");
    let output = onnxsmith(folder.path(), &["run", "large.onnx", "--json", "--on", "interp,cpu"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let why = report["not_passing"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("too large for the reference: 2147483648 tensor elements"), "{report}");
    assert_eq!(report["not_passing"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["backends"]["cpu:default"]["no_reference"], 1, "nothing is wrong with the backends");
    assert_eq!(output.status.code(), Some(2), "and nothing was compared");
}

#[test]
fn a_backend_named_twice_runs_once() {
    let folder = folder();
    let output = onnxsmith(folder.path(), &["run", "good", "--on", "cpu,cpu:default", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["backends"]["cpu:default"]["pass"], 1);
}

#[test]
fn a_library_that_nothing_loads_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("none.so"), "none").expect("a file");
    let said_of = |args: &[&str]| {
        let output = onnxsmith(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = said_of(&["ops", "--ort-lib", "absent.so"]);
    if !cfg!(feature = "ort") {
        assert!(said.contains("the cargo feature ort adds it"), "{said}");
        return;
    }
    assert!(said.contains("--ort-lib names absent.so, which cannot be read: No such file"), "{said}");
    let said = said_of(&["run", ".", "--on", "ort", "--ort-lib", "none.so"]);
    assert!(said.contains("no case folder"), "{said}");
    fs::create_dir(folder.path().join("case")).expect("a folder");
    fs::write(folder.path().join("case/model.onnx"), "").expect("a file");
    let said = said_of(&["run", "case", "--on", "ort", "--ort-lib", "none.so"]);
    assert!(
        said.contains("none.so`, which --ort-lib or else ORT_DYLIB_PATH names, cannot be used"),
        "{said}"
    );
}

#[test]
fn a_campaign_that_is_refused_leaves_no_folder() {
    let folder = folder();
    let at = folder.path();
    for (args, left) in [
        (&["--on", "nope", "--out", "new/deep"][..], "new"),
        (&["--on", "cmd:./absent", "--out", "new"], "new"),
        (&["--on", "cpu", "--probed", "absent.toml", "--out", "new"], "new"),
        (&["--on", "nope"], "onnxsmith-out"),
    ] {
        let output = onnxsmith(at, &[&["fuzz", "--cases", "1"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!at.join(left).exists(), "{args:?} leaves {left}");
    }
    onnxsmith(at, &["fuzz", "--cases", "1", "--on", "nope", "--out", "empty"]);
    assert!(at.join("empty").is_dir(), "what was there stays");
}

#[test]
fn a_list_may_have_spaces_around_its_commas() {
    let folder = folder();
    let ran = |args: &[&str]| {
        let output = onnxsmith(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one JSON object")
    };
    let report = ran(&["run", "good", "--on", " cpu , interp", "--json"]);
    assert_eq!(report["backends"].as_object().map(serde_json::Map::len), Some(2), "{report}");
    for lists in [
        ["--ops", "Add, Neg", "--exclude", "Mul , Neg", "--dtypes", "f32, f16", "--level", "valid"],
        ["--ops", "Add", "--dtypes", " f32", "--level", "violate", "--rules", "cycle, unsorted"],
    ] {
        ran(&[&["gen", "--count", "2", "--nodes", "2", "--json"], &lists[..]].concat());
    }
    let oracles = ["--oracles", "differential, metamorphic", "--relations", "reshape-pair , dead-branch"];
    let output = onnxsmith(folder.path(), &[&["fuzz", "--on", "cpu", "--cases", "1"], &oracles[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("no oracle") && !said.contains("` reshape"), "{said}");
}

#[test]
fn a_case_that_breaks_a_rule_says_so_and_is_judged_by_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let made = onnxsmith(
        at,
        &["gen", "--level", "violate", "--rules", "cycle", "--count", "3", "--out", "cases", "--quiet"],
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let json = fs::read_to_string(at.join("cases/case-000001/case.json")).expect("case.json");
    for part in ["\"level\": \"violate\"", "\"rule\": \"cycle\"", "\"expected\": \"refusal\""] {
        assert!(json.contains(part), "`{part}` is not in {json}");
    }
    let ran = onnxsmith(at, &["run", "cases", "--on", "cpu,interp", "--quiet"]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && said.contains("3 pass"), "{said}");
}
