//! NonMaxSuppression, written out, selects the boxes that its text says.

use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(nodes: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 13]>\nm () => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// Three boxes of size 1, of which the first two have half in common, with a score each.
fn nodes(scores: &str, most: i64, threshold: f64, least: &str, attributes: &str) -> String {
    let boxes = "0.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 1.5, 4.0, 4.0, 5.0, 5.0";
    format!(
        "b = Constant<value = float[1, 3, 4] {{{boxes}}}>() s = Constant<value = float[1, 1, 3] {{{scores}}}>() \
         n = Constant<value = int64[1] {{{most}}}>() t = Constant<value = float[1] {{{threshold:?}}}>() \
         l = Constant<value = float[1] {{{least}}}>() y = NonMaxSuppression{attributes}(b, s, n, t, l)"
    )
}

fn selected(nodes: &str) -> Vec<i128> {
    let model = read(nodes).unwrap_or_else(|e| panic!("{e}")).model;
    let y = interp::evaluate_plain(&model, &[]).expect("values").remove(0);
    assert_eq!(y.shape().get(1), Some(&3));
    y.to_i128s().chunks_exact(3).map(|box_| box_[2]).collect()
}

#[test]
fn a_box_is_suppressed_by_a_better_one_that_it_covers() {
    // A half of each is a third of both.
    assert_eq!(selected(&nodes("0.5, 0.75, 0.25", 9, 0.3, "0.0", "")), [1, 2]);
    assert_eq!(selected(&nodes("0.5, 0.75, 0.25", 9, 0.4, "0.0", "")), [1, 0, 2]);
    assert_eq!(selected(&nodes("0.5, 0.75, 0.25", 1, 0.4, "0.0", "")), [1]);
    assert_eq!(selected(&nodes("0.5, 0.75, 0.25", 0, 0.4, "0.0", "")), []);
    assert_eq!(selected(&nodes("0.5, 0.75, 0.25", 9, 0.4, "0.6", "")), [1]);
    // Of equal scores the first goes first.
    assert_eq!(selected(&nodes("0.5, 0.5, 0.5", 9, 0.3, "0.0", "")), [0, 2]);
}

#[test]
fn a_box_may_be_given_by_its_middle() {
    // The middles 0 0, 0 1/2 and 4 4, and the sizes 1 1, 1 3/2 and 5 5: the third has nothing in common with the first.
    let middle = nodes("0.75, 0.5, 0.25", 9, 0.3, "0.0", "<center_point_box = 1>");
    let middle =
        middle.replace("0.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0, 1.5", "0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 1.0");
    // Those two have a third in common.
    assert_eq!(selected(&middle), [0, 2]);
}

#[test]
fn what_hangs_on_rounding_or_is_told_in_two_ways_is_refused() {
    let why = |nodes: &str| read(nodes).expect_err("it is not read").to_string();
    let third = nodes("0.5, 0.75, 0.25", 9, f64::from((1.0_f32 / 3.0).next_down()), "0.0", "");
    assert!(why(&third).contains("hangs on how it is rounded"));
    assert!(why(&nodes("0.5, 0.75, 0.25", 9, 0.4, "0.5", "")).contains("keeps"));
    let infinite = nodes("0.5, inf, 0.25", 9, 0.4, "0.5", "");
    assert!(why(&infinite).contains("finite"));
    assert!(why(&nodes("0.5, 0.75, 0.25", 9, 0.4, "0.0", "<center_point_box = 2>")).contains("operand 1"));
    let input = "<ir_version: 10, opset_import: [\"\" : 13]>\nm (float[1, 3, 4] b) => (y) {
        s = Constant<value = float[1, 1, 3] {1.0, 2.0, 3.0}>() y = NonMaxSuppression(b, s) }\n";
    let unknown = specialise(&Program::from_text(input).unwrap(), &Options::default());
    assert!(unknown.expect_err("it is not known").to_string().contains("must be known"));
}
