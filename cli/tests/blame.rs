//! `blame`: which operators of a model a backend gets wrong.

mod program;

use std::path::Path;
use std::process::Output;

use program::onnxsmith;

fn blame(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = onnxsmith(folder, &[&["blame"], args, &["--quiet"]].concat());
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// Three operators; rten's Sign takes 0 for a positive number.
const MODEL: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[batch, 3] x) => (float[batch, 3] y)
{
    zeros = Sub(x, x)
    [the_sign] signs = Sign(zeros)
    y = Add(signs, x)
}
"#;

#[test]
fn the_operator_that_is_wrong_is_named_as_the_model_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "rten:none", "--dim", "batch=2"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("rten:none: 3 operators: 2 right, 0 suspect, 1 wrong"), "{said}");
    assert!(said.contains("the first that is wrong is Sign `the_sign`"), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_the_elements_that_were_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).expect("a model");
    let args = ["m.onnxtxt", "--on", "rten:none", "--dim", "batch=2", "--json"];
    let (code, said) = blame(folder.path(), &args);
    let json: serde_json::Value = serde_json::from_str(&said).expect("one JSON object");
    let sign = &json["targets"][0]["operators"][1];
    assert_eq!((code, &sign["op"], &sign["standing"]), (Some(1), &"Sign".into(), &"wrong".into()));
    assert_eq!((&sign["elements"], &sign["undecided"]), (&6.into(), &0.into()), "{sign}");
}

#[test]
fn what_is_undefined_may_be_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[4] x) => (float[2] y)\n\
                 <int64[2] places = {1, 9}>\n{ a = Abs(x) y = Gather(a, places) }\n";
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu,rten:none", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("2 operators: 1 right, 0 suspect, 0 wrong, 1 open").count(), 2, "{said}");
    assert!(said.contains("it is undefined on these operands, and may be refused"), "{said}");
}

#[test]
fn nothing_is_wrong_with_right_kernels_and_everything_is_shown_where_that_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("right Sign `the_sign`") && said.contains("sizes drawn: batch="), "{said}");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--dim", "x=2"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no open size `x`"), "{said}");
}

#[test]
fn the_model_is_judged_end_to_end_too() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).expect("a model");
    let (code, said) =
        blame(folder.path(), &["m.onnxtxt", "--on", "rten:none", "--dim", "batch=2", "--whole"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("end to end: wrong") && !said.contains("operators"), "{said}");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("end to end: right") && !said.contains("says nothing"), "{said}");
}

#[test]
fn what_is_wrong_in_a_function_has_the_name_of_its_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = r#"<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
m (float[3] x) => (float[3] y)
{
    [before] a = Abs(x)
    [first] b = f.g(a)
    [second] y = f.g(b)
}
<domain: "f", opset_import: ["" : 21]>
g (v) => (w)
{
    n = Neg(v)
    z = Sub(n, n)
    s = Sign(z)
    e = Add(s, n)
    w = Add(e, v)
}
"#;
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("11 operators: 11 right") && said.contains("Sign `second`"), "{said}");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "rten:none"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the first that is wrong is Sign `first`"), "{said}");
}

#[test]
fn a_bound_that_says_nothing_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let far = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
               m (float[3] x) => (y) { k = Constant<value = float {1e30}>() s = Sigmoid(x) e = Exp(s) far = Mul(e, k) y = Sin(far) }\n";
    std::fs::write(folder.path().join("m.onnxtxt"), far).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the bound of `y` says nothing"), "{said}");
}
