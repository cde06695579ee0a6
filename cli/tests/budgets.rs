//! What is asked of generated models is what they are: operators, dtypes, sizes, budgets.

mod program;

use std::path::Path;

use serde_json::Value;

/// What `gen --json` says.
fn made(folder: &Path, args: &[&str]) -> Value {
    let output = program::onnxsmith(folder, &[&["gen", "--json", "--quiet"], args].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn number(of: &Value, path: &str) -> u64 {
    of.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} is no number in {of}"))
}

/// An operator that needs other dtypes has them, one that came late is drawn in the opsets that have it, and no model is
/// empty.
#[test]
fn what_is_asked_for_alone_is_in_every_model() {
    let folder = tempfile::tempdir().expect("a folder");
    for (ops, dtypes) in [
        ("ArgMax", Some("f32")),
        ("Abs", Some("f32")),
        ("Where", Some("i8")),
        ("Swish", None),
        ("TopK:f16", None),
        ("Cast:bf16", None),
    ] {
        let mut args = vec!["--nodes", "1", "--count", "20", "--seed", "3", "--ops", ops];
        args.extend(dtypes.into_iter().flat_map(|dtypes| ["--dtypes", dtypes]));
        let name = ops.split(':').next().unwrap_or(ops);
        assert_eq!(number(&made(folder.path(), &args), &format!("/operators/{name}")), 20, "{args:?}");
    }
}

/// A campaign may run fewer cases than it was asked for.
#[test]
fn cases_that_cannot_be_made_are_counted_and_the_first_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let args =
        ["fuzz", "--on", "cpu", "--ops", "Conv:f32", "--nodes", "1", "--max-memory", "40", "--cases", "20"];
    let output = program::onnxsmith(folder.path(), &args);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let troubles: Vec<&str> = said.lines().filter(|line| line.contains("nothing can be drawn")).collect();
    let names_it_once =
        |line: &&str| line.starts_with("trouble: case ") && line.matches("case ").count() == 1;
    assert!(!troubles.is_empty() && troubles.iter().all(names_it_once), "{said}");
    let words = |before: &str| told.lines().find_map(|line| line.strip_prefix(before)).unwrap_or(&told);
    let left_out = words("not made, or not judged on an engine: ");
    assert!(
        left_out.contains(" cases, the first: case ") && left_out.contains("nothing can be drawn"),
        "{told}"
    );
    let count = |text: &str| text.split(' ').next().and_then(|count| count.parse::<u64>().ok());
    assert_eq!(count(&told).zip(count(left_out)).map(|(ran, left_out)| ran + left_out), Some(20), "{told}");
}

/// The inputs that value search adds count as well.
#[test]
fn budgets_hold_with_values() {
    let folder = tempfile::tempdir().expect("a folder");
    for (flag, key) in
        [("--max-flops", "flops"), ("--max-memory", "peak_bytes"), ("--max-total", "total_bytes")]
    {
        let made = made(folder.path(), &["--nodes", "20", "--count", "20", flag, "2K"]);
        assert!(number(&made, &format!("/footprints/{key}/most")) <= 2000, "{made}");
        assert_eq!(number(&made, "/generated"), 20);
    }
}

#[test]
fn a_policy_file_says_what_flags_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = "nodes = 3\nops = [\"Conv\", \"Relu\"]\npatterns = [[\"y = Conv\", \"Relu(y)\"]]\npattern-share = 1.0\n";
    std::fs::write(folder.path().join("gates.toml"), policy).expect("a file");
    // Forms write some nodes twice, or none.
    let args = ["--policy", "gates.toml", "--count", "10", "--forms", "0", "--flops", "1e5..1e6"];
    let made = made(folder.path(), &args);
    assert_eq!(number(&made, "/nodes"), 30);
    assert!(number(&made, "/operators/Conv") >= 10);
    assert!(number(&made, "/footprints/flops/inside") >= 9, "{made}");
}
