//! What the reference may take for a model of a few bytes: more with `--large`, and not without an end.

mod program;

use std::fs;

use program::onnxsmith;

/// A product of matrices that are computed: 2⁴⁰ operations, and no weights.
const MODEL: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[1] x) => (float[1] y)
<int64[2] sizes = {8192, 8192}>
{
    a = ConstantOfShape(sizes)
    b = MatMul(a, a)
    c = ReduceSum(b)
    y = Add(c, x)
}
"#;

#[test]
fn reduce_takes_as_much_as_run_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("m.onnxtxt"), MODEL).expect("a model");
    let made = onnxsmith(at, &["show", "m.onnxtxt", "--out", "case", "--quiet"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let told = |command: &str, more: &[&str]| {
        let output = onnxsmith(at, &[&[command, "case", "--on", "interp", "--quiet"], more].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for command in ["run", "reduce"] {
        let [usual, large] = [&[][..], &["--large"]].map(|more| told(command, more));
        assert!(usual.contains("at most 2147") && !usual.contains("274877906944"), "{usual}");
        assert!(large.contains("at most 274877906944"), "{large}");
    }
}
