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
    let open = "alone, on the operands that it should have: a value is undefined, and the engine refuses to compute it";
    assert_eq!(said.matches(open).count(), 2, "{said}");
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
fn what_is_wrong_in_a_function_is_named_by_the_way_to_it() {
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
    [s] s = Sign(z)
    e = Add(s, n)
    w = Add(e, v)
}
"#;
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("11 operators: 11 right") && said.contains("Sign `second/s`"), "{said}");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "rten:none"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the first that is wrong is Sign `first/s`"), "{said}");
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

/// Strings, in an operator that gives some and one that gives truth values.
const STRINGS: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (string[2] a, float[2] x) => (float[2] y, string[2] s)
<string[2] b = {"q", "pq"}>
{
    [the_names] s = StringConcat(a, b)
    [the_same] e = Equal(a, b)
    f = Cast<to = 1>(e)
    y = Add(f, x)
}
"#;

/// The strings `p` and `q` as a `TensorProto`: `dims`, `data_type` 8 and two of `string_data`.
const P_AND_Q: &[u8] = &[0x08, 2, 0x10, 8, 0x32, 1, b'p', 0x32, 1, b'q'];

#[test]
fn of_strings_nothing_is_right_that_the_engine_was_not_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.onnxtxt"), STRINGS).expect("a model");
    let blame = |on: &str| blame(folder.path(), &["m.onnxtxt", "--on", on, "--input", "a=a.pb", "--all"]);
    std::fs::write(folder.path().join("a.pb"), P_AND_Q).expect("a tensor");
    let (_, said) = blame("rten:none");
    assert!(said.contains("rten:none: 4 operators: 2 right, 0 suspect, 0 wrong, 0 open, 2 untold"), "{said}");
    for operator in ["StringConcat `the_names`", "Equal `the_same`"] {
        assert!(said.contains(&format!("untold {operator} (%")), "{said}");
    }
    let (code, said) = blame("cpu");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("4 operators: 4 right"), "{said}");
    assert!(said.contains("right StringConcat `the_names` (%0, gives `s`) → strings: alone"), "{said}");
}

/// A branch, a loop without turns, and an operator in a body that is written out in others.
const BODIES: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[2] x, int64 n, bool c) => (float[2] y, float[2] z)
{
    [the_branch] a = If(c) <
        then_branch = t () => (float[2] p) { [inside] p = Neg(x) },
        else_branch = e () => (float[2] q) { q = Exp(x) r = Log(q) s = Sqrt(r) }
    >
    [the_loop] y = Loop(n, , a) <
        body = b (int64 i, bool k, float[2] v) => (bool l, float[2] w) { l = Identity(k) [step] w = Add(v, x) [act] m = Mish(v) }
    >
    [the_other] z = If(c) <
        then_branch = u () => (float[2] o) { i = MatMulInteger(k, k) j = Cast<to = 1>(i) h = Squeeze(j) o = Add(x, h) },
        else_branch = f () => (float[2] d) { d = Abs(x) }
    >
}
"#;

fn bodies(turns: i64, on: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let model = BODIES.replace("int64 n, bool c", "").replace("(float[2] x, )", "(float[2] x)").replace(
        "=> (float[2] y, float[2] z)",
        &format!(
            "=> (float[2] y, float[2] z)\n<int64 n = {{{turns}}}, bool c = {{1}}, uint8[1, 1] k = {{3}}>"
        ),
    );
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    blame(folder.path(), &["m.onnxtxt", "--on", on, "--all"]).1
}

#[test]
fn what_is_in_a_body_is_named_by_the_way_to_it() {
    let said = bodies(2, "cpu");
    assert!(said.contains("right Neg `the_branch[then]/inside`"), "{said}");
    for turn in ["the_loop[0]", "the_loop[1]"] {
        assert!(said.contains(&format!("right Add `{turn}/step`")), "{said}");
        assert!(said.contains(&format!("right Identity `{turn}/Identity#0`")), "{said}");
    }
}

#[test]
fn what_is_written_out_inside_of_a_body_is_not_told() {
    let said = bodies(2, "cpu");
    assert!(said.contains("untold MatMulInteger `the_other[then]/MatMulInteger#0`"), "{said}");
    assert_eq!(said.matches("the_other[then]").count(), 4, "{said}");
}

#[test]
fn an_operator_of_an_older_opset_is_asked_about_as_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 6, opset_import: [\"\" : 11]>\nm (float[2, 3, 2] x) => (float[2, 3, 2] z)\n\
                 { [soft] y = Softmax<axis = 1>(x) [drop] t = Dropout(y) z = Clip(t) }\n";
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 operators: 3 right"), "{said}");
    for operator in ["Softmax `soft`", "Dropout `drop`"] {
        assert!(
            said.contains(&format!("right {operator} (%")) && said.contains("alone, on the operands"),
            "{said}"
        );
    }
}

#[test]
fn what_does_not_run_is_told() {
    let said = bodies(2, "cpu");
    let told = "not judged, as these inputs do not run it: 3 operators in `else_branch` of If `the_branch`; \
                Abs in `else_branch` of If `the_other`\n";
    assert!(said.contains(told), "{said}");
    let said = bodies(0, "cpu");
    assert!(said.contains("; 3 operators in Loop `the_loop`, which has no turn; "), "{said}");
    assert!(!said.contains("step"), "{said}");
}

#[test]
fn an_operator_is_asked_for_the_results_that_the_model_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                 m (float[2, 1, 1] x, float[1, 1, 1] w, float[1, 1, 1] r) => (float[1, 1, 1] z)\n\
                 { y, h = RNN<hidden_size = 1>(x, w, r) z = Neg(h) }\n";
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu", "--all"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("right RNN (%0, gives `y`) → f32[1, 1, 1]: alone"), "{said}");
}

#[test]
fn of_a_model_without_outputs_run_and_blame_say_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 8, opset_import: [\"\" : 17]>\nm (float[2] x) => () { y = Neg(x) }\n";
    std::fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let why = "the model has no outputs: there is nothing to ask for";
    let (_, said) = blame(folder.path(), &["m.onnxtxt", "--on", "cpu"]);
    assert!(said.contains(&format!("end to end: unsupported: {why}")), "{said}");
    let ran = onnxsmith(folder.path(), &["run", "m.onnxtxt", "--on", "cpu"]);
    assert!(String::from_utf8_lossy(&ran.stdout).contains(&format!("unsupported: {why}")));
}
