//! `run` on models that come without data, and leave sizes open.

mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

use program::onnxsmith;

/// A model with a size that it names, one that it does not say, and a shape that is an input.
const MODEL: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[batch, 3] x, float[?, 3] z, int64[2] shape) => (float[rows, columns] y)
{
    joined = Concat<axis = 0>(x, z)
    y = Reshape(joined, shape)
}
"#;

/// The shape [-1, 1] as NumPy saves it.
fn shape() -> Vec<u8> {
    array("<i8", &[-1i64, 1].map(i64::to_le_bytes).concat())
}

/// Two elements as NumPy saves them.
fn array(dtype: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': (2,), }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

fn run(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    run_on(folder, "cpu", more)
}

fn run_on(folder: &Path, on: &str, more: &[&str]) -> (Option<i32>, String) {
    let args = [&["run", "m.onnxtxt", "--on", on, "--quiet"], more].concat();
    let Output { status, stdout, stderr } = onnxsmith(folder, &args);
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn open_sizes_are_given_by_name_or_drawn_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    fs::write(at.join("shape.npy"), shape()).expect("a shape");
    let given = ["--input", "shape=shape.npy"];

    let (code, text) = run(at, &given);
    assert!(code == Some(0) && text.contains("1 pass"), "{text}");
    assert!(text.contains("sizes drawn: batch=") && text.contains("z[0]="), "{text}");

    let (code, text) = run(at, &[&given[..], &["--dim", "batch=5", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).expect("one JSON object");
    let sizes = json["drawn"][0]["sizes"].as_object().expect("sizes");
    assert!(code == Some(0) && sizes.len() == 1 && sizes.contains_key("z[0]"), "{text}");

    let (code, text) = run(at, &[&given[..], &["--dim", "batch=5", "--dim", "z[0]=0"]].concat());
    assert!(code == Some(0) && !text.contains("drawn"), "{text}");
}

#[test]
fn of_how_many_models_inputs_were_made_up_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    let (code, text) = run(at, &[]);
    assert!(code == Some(0) && text.contains("\ninputs were made up for 1 of 1 cases"), "{text}");
    let (_, text) = run(at, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("one JSON object");
    assert_eq!(json["made_up"], 1, "{text}");
}

#[test]
fn a_case_that_has_lost_its_data_is_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let made = onnxsmith(at, &["gen", "--count", "1", "--nodes", "1", "--out", "cases", "--quiet"]);
    assert!(made.status.success());
    let run = || {
        let output = onnxsmith(at, &["run", "cases", "--on", "cpu", "--quiet"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run().0, Some(0));
    let case = at.join("cases/case-000000");
    fs::remove_dir_all(case.join("test_data_set_0")).expect("data");
    let (code, said) = run();
    assert!(code == Some(2) && said.contains("its data set is missing"), "by its bounds: {said}");
    fs::remove_file(case.join("case.json")).expect("a description");
    let (code, said) = run();
    assert!(code == Some(2) && said.contains("its data set is missing"), "by their folder: {said}");
    fs::remove_dir_all(case.join("bounds_set_0")).expect("bounds");
    assert_eq!(run().0, Some(0), "a model without data is one");
}

#[test]
fn a_value_that_is_given_takes_the_place_of_a_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let with_default = MODEL.replace("int64[2] shape", "int64[2] shape = {4, 4}");
    fs::write(at.join("m.onnxtxt"), with_default).expect("a model");
    fs::write(at.join("shape.npy"), shape()).expect("a shape");
    let sizes = ["--dim", "batch=2", "--dim", "z[0]=1"];
    let (code, text) = run(at, &sizes);
    assert!(code != Some(0) && text.contains("9 must equal 16"), "nine elements are no sixteen: {text}");
    let (code, text) = run(at, &[&sizes[..], &["--input", "shape=shape.npy"]].concat());
    assert!(code == Some(0) && text.contains("1 pass"), "{text}");
}

#[test]
fn what_is_not_of_the_model_is_told_with_what_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    fs::write(at.join("shape.npy"), shape()).expect("a shape");
    fs::write(at.join("strings.npy"), array("<U1", &[b'a', 0, 0, 0, b'b', 0, 0, 0])).expect("an array");
    // A TensorProto of one string, "ab".
    fs::write(at.join("strings.pb"), [0x08, 0x01, 0x10, 0x08, 0x32, 0x02, b'a', b'b']).expect("a tensor");
    for (more, parts) in [
        (&["--dim", "bath=4"][..], ["no open size `bath`", "batch, z[0]"]),
        (&["--input", "size=shape.npy"], ["no input `size`", "x, z, shape"]),
        (&["--input", "shape=strings.npy"], ["no numbers of ONNX", "a `.pb` gives"]),
        (&["--input", "y=strings.pb"], ["no input `y`", "x, z, shape"]),
        (&["--input", "shape=arrays.npz"], ["an .npz holds several arrays", "--input shape=FILE.npy"]),
        (&["--input", "shape=none.npy"], ["none.npy", "No such file"]),
        (&["--input", "shape=m.onnxtxt"], ["m.onnxtxt", "tensor"]),
        (&["--dim", "batch"], ["`batch` is no size", "batch=4"]),
        (&["--dim", "batch=-1"], ["`batch=-1` is no size", "batch=4"]),
        (&["--dim", "batch=2", "--dim", "batch=3"], ["--dim says of `batch` both 2 and 3", "say it once"]),
        (
            &["--input", "shape=shape.npy", "--input", "shape=none.npy"],
            ["--input says of `shape` both shape.npy and none.npy", "say it once"],
        ),
    ] {
        let (code, text) = run(at, more);
        assert!(code == Some(2) && parts.iter().all(|part| text.contains(part)), "{code:?} {text}");
    }
    // What is drawn for the shape is drawn until three elements have it.
    let (code, text) = run(at, &["--dim", "batch=1", "--dim", "z[0]=0", "--json"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\"pass\": 1"), "{text}");
}

#[test]
fn a_size_is_of_one_of_several_models_at_least() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, size) in [("m", "batch"), ("other", "rows")] {
        let model = format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[{size}] x) => (float[{size}] y) {{ y = Abs(x) }}\n"
        );
        fs::write(at.join(format!("{name}.onnxtxt")), model).expect("a model");
    }
    let (code, text) = run(at, &["other.onnxtxt", "--dim", "batch=2"]);
    assert!(code == Some(0) && text.contains("2 pass") && text.contains("sizes drawn: rows="), "{text}");
    assert!(!text.contains("batch="), "{text}");
    let (code, text) = run(at, &["other.onnxtxt", "--dim", "bath=2"]);
    assert!(code == Some(2) && text.matches("no open size `bath`").count() >= 2, "{text}");
}

#[test]
fn a_model_without_outputs_is_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[2] x) => () { y = Relu(x) }\n";
    fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (code, text) = run_on(folder.path(), "cpu,rten", &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("rten:all: 1 unsupported") && text.contains("the model has no outputs"), "{text}");
}

#[test]
fn a_size_that_leaves_no_room_is_told_with_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    fs::write(at.join("shape.npy"), shape()).expect("a shape");
    let (code, text) = run(at, &["--input", "shape=shape.npy", "--dim", "batch=1000000000"]);
    assert_eq!(code, Some(2), "{text}");
    for part in ["input `x` is too large", "3000000000 elements", "at most 33554432", "--dim NAME=N"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn sizes_are_asked_for_where_they_may_help() {
    let of = |nodes: &str| {
        let (code, text) = said(&format!(
            "<ir_version: 10, opset_import: [\"\" : 21, \"my.ops\" : 1]>\nm (float[n, 3] x) => (float[n, 3] y) {{ {nodes} }}\n"
        ));
        assert_eq!(code, Some(2), "{text}");
        text
    };
    let lacking = of("a = my.ops.Foo(x) y = Relu(a)");
    assert!(lacking.contains("my.ops.Foo") && !lacking.contains("--dim"), "no size helps: {lacking}");
    let invalid = of("s = Constant<value_ints = [7, 11]>() a = Reshape(x, s) y = MatMul(a, x)");
    assert!(invalid.contains("--dim NAME=N says what they are"), "{invalid}");
}

#[test]
fn where_a_value_is_undefined_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let model = |divisor: &str| {
        format!(
            "<ir_version: 10, opset_import: [\"\" : 21]>\nm (int64[2] x) => (int64[2] y)\n\
             <int64[2] zeros = {{0, 0}}>\n{{ a = Abs(x) [the_div] q = Div(a, {divisor}) y = Neg(q) }}\n"
        )
    };
    fs::write(at.join("shape.npy"), shape()).expect("a value");
    for (divisor, code, told) in [("zeros", 2, true), ("a", 0, false)] {
        fs::write(at.join("m.onnxtxt"), model(divisor)).expect("a model");
        for on in ["cpu", "rten"] {
            let (is, text) = run_on(at, on, &["--input", "x=shape.npy"]);
            let names = text.contains("undefined for these operands") && text.contains("`the_div` (Div)");
            assert!(is == Some(code) && names == told, "{divisor} on {on}: {is:?} {text}");
        }
    }
}

/// rten's Sign takes 0 for a positive number, at every level.
#[test]
fn what_the_inputs_do_not_run_is_told_and_what_is_in_a_body_named_by_the_way_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[4] x) => (float[2] y)\n\
                 <bool c = {1}, int64[2] places = {1, 9}>\n\
                 { [branch] y = If(c) <then_branch = t () => (float[2] p) { a = Abs(x) [inside] p = Gather(a, places) }, \
                 else_branch = e () => (float[2] q) { b = Exp(x) q = Gather(b, places) }> }\n";
    fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    let (_, said) = run(folder.path(), &[]);
    assert!(said.contains("what node `branch[then]/inside` (Gather) gives is undefined"), "{said}");
    let told =
        "m.onnxtxt: not judged, as these inputs do not run it: 2 operators in `else_branch` of If `branch`\n";
    assert!(said.contains(told), "{said}");
    let (_, said) = run(folder.path(), &["--json"]);
    assert!(said.contains("\"not_run\"") && said.contains("\"Exp\""), "{said}");
}

#[test]
fn what_is_alike_at_several_levels_is_told_once_with_what_to_ask_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[n, 3] x) => (float[n, 3] y)\n\
                 {\n    zeros = Sub(x, x)\n    y = Sign(zeros)\n}\n";
    fs::write(at.join("m.onnxtxt"), model).expect("a model");
    let (code, text) = run_on(at, "rten,cpu", &["--dim", "n=2", "--seed", "3"]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(text.matches("6 of 6 elements are off").count(), 1, "{text}");
    assert!(text.contains("m.onnxtxt on rten:none, rten:all: mismatch: "), "{text}");
    let command = "onnxsmith blame m.onnxtxt --on rten:none --dim 'n=2' --seed 3";
    assert!(text.lines().any(|line| line.trim() == command), "{text}");
    let pasted: Vec<&str> = command.split(' ').skip(1).map(|word| word.trim_matches('\'')).collect();
    let blamed = onnxsmith(at, &pasted);
    assert!(String::from_utf8_lossy(&blamed.stdout).contains("the first that is wrong is Sign"));
}

fn said(model: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.onnxtxt"), model).expect("a model");
    run(folder.path(), &[])
}

#[test]
fn a_model_that_declares_a_shape_it_does_not_have_is_run_without() {
    let (code, text) = said(
        r#"<ir_version: 10, opset_import: ["" : 21]>
        m (float[batch, 3] x) => (float[1, length] y)
        {
            s = Constant<value_ints = [1, 1, -1]>()
            y = Reshape(x, s)
        }
        "#,
    );
    assert!(code == Some(0) && text.contains("1 pass"), "{text}");
    let told = text.lines().find(|line| line.contains("run without the shapes that it declares"));
    assert!(told.is_some_and(|told| told.contains("`y`") && told.contains("[1, length]")), "{text}");
}

#[test]
fn a_size_that_only_one_number_fits_is_found() {
    let (code, text) = said(
        r#"<ir_version: 10, opset_import: ["" : 21]>
        m (float[batch, height] x) => (float[batch, 2] y)
        {
            s = Constant<value_ints = [48, 2]>()
            w = ConstantOfShape(s)
            y = MatMul(x, w)
        }
        "#,
    );
    assert!(code == Some(0) && text.contains("height=48"), "{text}");
}

/// Layers after which a vector is about as long as before, and its bound wider: than the values after ten, than all
/// numbers after some eighty.
fn layers(count: usize) -> String {
    let mut state = 12345u64;
    let mut weight = || {
        state = (state * 1_103_515_245 + 12345) % (1 << 31);
        format!("{:.4}", (state as f64 / f64::from(1u32 << 31) - 0.5) * 0.866)
    };
    let weights: Vec<String> = (0..256).map(|_| weight()).collect();
    let more: Vec<String> = (1..count).map(|i| format!("    a{i} = MatMul(a{}, w)\n", i - 1)).collect();
    format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[1, 16] x) => (float[1, 16] y)\n\
         <float[16, 16] w = {{{}}}>\n{{\n    a0 = MatMul(x, w)\n{}    y = Identity(a{})\n}}\n",
        weights.join(", "),
        more.concat(),
        count - 1
    )
}

#[test]
fn what_is_as_near_as_good_implementations_are_is_plausible_where_bounds_say_nothing() {
    for (count, outcome, why) in [
        (2, "1 pass", ""),
        (60, "1 plausible", "bounds are wider than the values; of 16, 16 are"),
        (85, "1 plausible", "every element is undecidable; of 16, 16 are"),
    ] {
        let (code, text) = said(&layers(count));
        assert!(code == Some(0) && text.contains(outcome) && text.contains(why), "{count}: {text}");
    }
    // That it answers the same twice does not make an answer right.
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.onnxtxt"), layers(85)).expect("a model");
    let (code, text) = run(folder.path(), &["--oracles", "differential,determinism"]);
    assert!(code == Some(0) && text.contains("1 plausible"), "{text}");
}

/// Of a number that is rounded, the bits are anybody's guess.
#[test]
fn an_output_that_is_wholly_undecidable_is_told_beside_others_that_are_right() {
    let (code, text) = said(
        r#"<ir_version: 10, opset_import: ["" : 26]>
        m (float[2] x) => (float[2] y, int32[2] z)
        {
            y = Exp(x)
            z = BitCast<to = 6>(y)
        }
        "#,
    );
    assert!(code == Some(0) && text.contains("1 plausible") && text.contains("`z` is undecidable"), "{text}");
}

#[test]
fn a_tolerance_on_the_command_line_overrules_the_bounds_of_a_model_without_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let model =
        "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[8] x) => (float[8] y)\n{\n    y = Exp(x)\n}\n";
    fs::write(at.join("m.onnxtxt"), model).expect("a model");
    let (code, text) = run(at, &["--rtol", "0", "--atol", "0"]);
    assert!(code == Some(1) && text.contains("1 mismatch"), "f32 is not f64: {text}");
    let (code, text) = run(at, &["--rtol", "1e-5"]);
    assert!(code == Some(0) && text.contains("1 pass"), "{text}");
}

#[test]
fn other_oracles_ask_all_their_questions_about_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    fs::write(at.join("shape.npy"), shape()).expect("a shape");
    let given = ["--input", "shape=shape.npy", "--dim", "batch=2", "--dim", "z[0]=1"];
    let oracles = ["--oracles", "differential,metamorphic,determinism,optimiser,roundtrip"];

    let (code, text) = run(at, &[&given[..], &oracles].concat());
    assert!(code == Some(0) && text.contains("1 pass"), "{text}");
    assert!(text.contains("m.onnxtxt on cpu:default: determinism: 3 pass\n"), "{text}");
    assert!(text.contains("m.onnxtxt on cpu:default: roundtrip: 2 pass\n"), "{text}");

    let (_, text) = run(at, &[&given[..], &oracles, &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).expect("one JSON object");
    let asked = json["asked"].as_array().expect("what was asked");
    let of = |oracle: &str, outcome: &str| {
        let wanted = |each: &&serde_json::Value| each["oracle"] == oracle && each["outcome"] == outcome;
        asked.iter().filter(wanted).count()
    };
    assert!(of("metamorphic", "pass") > 3 && of("metamorphic", "mismatch") == 0, "{text}");
    assert_eq!(of("determinism", "pass"), 3, "{text}");

    let (code, text) = run(at, &[&given[..], &["--oracles", "metamorphism"]].concat());
    assert!(code == Some(2) && text.contains("there is no oracle `metamorphism`"), "{text}");
}
