//! Losses of a classifier, written out, are what their text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// Two samples of three classes at two places, as in the text's examples, labels and weights.
const INPUTS: &str = "float[2, 3, 2] x, int64[2, 2] labels, float[3] weights";

fn read(opset: u32, node: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 8, opset_import: [\"\" : {opset}]>\nm ({INPUTS}) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

const SCORES: [f64; 12] = [1.0, 2.0, 2.0, 2.0, 3.0, 2.0, 0.0, 1.0, 2.0, 2.0, 1.0, 2.0];

fn values(node: &str, labels: [i64; 4], scores: [f64; 12]) -> Vec<f64> {
    let imported = read(13, node).expect("it is read");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 3, 2]), |i| scores[i]);
    let labels = Tensor::from_i128_fn(&Type::new(DType::I64, [2, 2]), |i| labels[i].into());
    let weights = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| [0.5, 0.25, 2.0][i]);
    interp::evaluate_plain(&imported.model, &[x, labels, weights]).expect("values").remove(0).to_f64s()
}

fn likelihood(reduction: &str, operands: &str, ignored: &str) -> String {
    format!("y = NegativeLogLikelihoodLoss<reduction = \"{reduction}\"{ignored}>({operands})")
}

#[test]
fn each_sample_loses_what_stands_at_its_label() {
    let labels = [2, 1, 0, 2];
    assert_eq!(values(&likelihood("none", "x, labels", ""), labels, SCORES), [-3.0, -2.0, 0.0, -2.0]);
    assert_eq!(values(&likelihood("sum", "x, labels", ""), labels, SCORES), [-7.0]);
    assert_eq!(values("y = NegativeLogLikelihoodLoss(x, labels)", labels, SCORES), [-1.75]);
}

#[test]
fn weights_are_those_of_the_labels_and_divide_the_mean() {
    let labels = [2, 1, 0, 2];
    let node = |reduction| likelihood(reduction, "x, labels, weights", "");
    assert_eq!(values(&node("none"), labels, SCORES), [-6.0, -0.5, 0.0, -4.0]);
    assert_eq!(values(&node("sum"), labels, SCORES), [-10.5]);
    let mean = values(&node("mean"), labels, SCORES)[0];
    assert!((mean + 10.5 / 4.75).abs() < 1e-6, "{mean}");
}

#[test]
fn what_is_ignored_loses_nothing_and_does_not_count() {
    let labels = [-100, 1, -100, 2];
    let node = |reduction, operands| likelihood(reduction, operands, ", ignore_index = -100");
    assert_eq!(values(&node("none", "x, labels"), labels, SCORES), [0.0, -2.0, 0.0, -2.0]);
    assert_eq!(values(&node("mean", "x, labels"), labels, SCORES), [-2.0]);
    assert_eq!(values(&node("mean", "x, labels, weights"), labels, SCORES), [-2.0]);
    // Nothing of an ignored sample gets in, however unlikely its first class is.
    let mut scores = SCORES;
    scores[0] = f64::NEG_INFINITY;
    assert_eq!(values(&node("sum", "x, labels"), labels, scores), [-4.0]);
}

/// "Target element value shall be in range of [0, C)", or the one that is ignored.
#[test]
fn a_label_that_is_no_class_has_no_loss() {
    let defined = |node: &str, last: i64| {
        let losses = values(node, [2, 1, 0, last], SCORES);
        losses.iter().map(|loss| !loss.is_nan()).collect::<Vec<_>>()
    };
    let entropy = |operands: &str| format!("y = SoftmaxCrossEntropyLoss<reduction = \"none\">({operands})");
    for operands in ["x, labels", "x, labels, weights"] {
        for node in [likelihood("none", operands, ""), entropy(operands)] {
            assert_eq!(defined(&node, 2), [true; 4]);
            assert!([3, -1, -3].iter().all(|&last| defined(&node, last) == [true, true, true, false]));
        }
    }
    assert_eq!(defined(&likelihood("none", "x, labels", ", ignore_index = -1"), -1), [true; 4]);
}

#[test]
fn the_entropy_is_the_loss_of_a_log_softmax() {
    // Places at which all classes score alike are lost by ln 3.
    let node = "y = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, labels)";
    let even = values(node, [0, 1, 2, 0], [4.0; 12]);
    assert!(even.iter().all(|loss| (loss - 3.0_f64.ln()).abs() < 1e-6), "{even:?}");
    let likelihoods = values("loss, y = SoftmaxCrossEntropyLoss(x, labels)", [0; 4], [4.0; 12]);
    assert!(likelihoods.len() == 12 && (likelihoods[5] + 3.0_f64.ln()).abs() < 1e-6, "{likelihoods:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let why = |node: &str| match read(13, node).expect_err("it is not read") {
        Error::Invalid { what, why } => format!("{what}: {why}"),
        other => panic!("{other} is not invalid"),
    };
    assert!(why("y = NegativeLogLikelihoodLoss(x, x)").contains("operand 1"));
    assert!(why("y = NegativeLogLikelihoodLoss(x)").contains("operand 1"));
    assert!(why("y = NegativeLogLikelihoodLoss(weights, labels)").contains("a batch, classes"));
    assert!(why(&likelihood("none", "x, weights", "")).contains("f32, but must be one of i32"));
    assert!(why(&likelihood("most", "x, labels", "")).contains("no reduction most"));
    assert!(why(&likelihood("none", "x, labels, weights, x", "")).contains("at most 3"));
    assert!(why("y = NegativeLogLikelihoodLoss<reduction = 1>(x, labels)").contains("must be string"));
    assert!(
        why("two = Cast<to = 1>(labels) y = SoftmaxCrossEntropyLoss(x, labels, two)").contains("3 classes")
    );
    assert!(read(12, "y = NegativeLogLikelihoodLoss(x, labels)").is_ok());
    assert!(read(11, "y = NegativeLogLikelihoodLoss(x, labels)").is_err());
}
