//! Operators of `ai.onnx.ml`, written out, give what their text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(node: &str) -> Result<Imported, Error> {
    let head = "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]>";
    let text = format!("{head}\nm (float[2, 2] x) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What a node gives for these two rows.
fn values(node: &str, rows: [f64; 4]) -> Vec<f64> {
    let imported = read(node).expect("it is read");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 2]), |i| rows[i]);
    let y = interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0);
    if y.dtype().is_float() { y.to_f64s() } else { y.to_i128s().into_iter().map(|z| z as f64).collect() }
}

fn why(node: &str) -> String {
    read(node).expect_err("it is not read").to_string()
}

const ROWS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

#[test]
fn a_scaler_takes_away_and_multiplies() {
    let scaled = "y = ai.onnx.ml.Scaler<offset = [1.0, 0.0], scale = [2.0]>(x)";
    let graph = read(scaled).expect("it is read").model.graph;
    let inner = graph.nodes.iter().filter(|node| node.is_inner);
    assert_eq!(inner.count(), 1, "the difference is a step, and the product the result: {graph:?}");
    assert_eq!(values(scaled, ROWS), [0.0, 4.0, 4.0, 8.0]);
    assert!(
        why("y = ai.onnx.ml.Scaler<offset = [1.0, 0.0, 1.0], scale = [2.0]>(x)").contains("3 for 2 features")
    );
    assert!(why("y = ai.onnx.ml.Scaler<offsets = [1.0], scale = [2.0]>(x)").contains("offset"));
}

#[test]
fn integers_become_floats_and_a_binarizer_gives_them_back() {
    let of = |node: &str| {
        let head = "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]>";
        let text = format!("{head}\nm (int64[3] x) => (y) {{ y = ai.onnx.ml.{node}(x) }}\n");
        let program = Program::from_text(&text).expect("a program");
        let imported = specialise(&program, &Options::default()).expect("it is read");
        let x = Tensor::from_i128_fn(&Type::new(DType::I64, [3]), |i| [-1, 1, 4][i]);
        interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0)
    };
    let scaled = of("Scaler<offset = [1.0], scale = [0.5]>");
    assert_eq!((scaled.dtype(), scaled.to_f64s()), (DType::F32, vec![-1.0, 0.0, 1.5]));
    let told = of("Binarizer<threshold = 0.5>");
    assert_eq!((told.dtype(), told.to_i128s()), (DType::I64, vec![0, 1, 1]));
}

#[test]
fn a_binarizer_tells_what_is_above() {
    assert_eq!(values("y = ai.onnx.ml.Binarizer<threshold = 2.0>(x)", ROWS), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(values("y = ai.onnx.ml.Binarizer(x)", [-1.0, 0.0, 0.5, 2.0]), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn a_normalizer_divides_by_magnitudes_and_leaves_zeros() {
    let node = |norm: &str| format!("y = ai.onnx.ml.Normalizer<norm = \"{norm}\">(x)");
    assert_eq!(values(&node("L1"), [1.0, 3.0, 0.0, 0.0]), [0.25, 0.75, 0.0, 0.0]);
    assert_eq!(values(&node("L1"), [1.0, -3.0, -2.0, 0.0]), [0.25, -0.75, -1.0, 0.0]);
    assert_eq!(values(&node("L2"), [3.0, -4.0, 0.0, 0.0])[..2], [f64::from(0.6_f32), f64::from(-0.8_f32)]);
    assert!(why(&node("MAX")).contains("largest"));
}

#[test]
fn features_are_chosen_from_the_last_axis() {
    let node = "at = Constant<value = int64[1, 3] {1, 0, 1}>() y = ai.onnx.ml.ArrayFeatureExtractor(x, at)";
    assert_eq!(values(node, ROWS), [2.0, 1.0, 2.0, 4.0, 3.0, 4.0]);
    // "Based on 0 as the first index of any dimension."
    assert!(values(&node.replace("{1, 0, 1}", "{1, -1, -1}"), ROWS)[1].is_nan());
    assert!(why("y = ai.onnx.ml.ArrayFeatureExtractor(x, x)").contains("operand 1"));
}

#[test]
fn a_regressor_has_the_weights_of_a_target_beside_each_other() {
    let node = "y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 10.0, 0.0, 1.0], intercepts = [0.5, 0.0], targets = 2>(x)";
    assert_eq!(values(node, ROWS), [21.5, 2.0, 43.5, 4.0]);
    assert!(why("y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 10.0, 0.0]>(x)").contains("3 numbers"));
}

#[test]
fn a_classifier_gives_the_label_of_the_highest_score() {
    let node = |outputs: &str, transform: &str| {
        format!(
            "{outputs} = ai.onnx.ml.LinearClassifier<classlabels_ints = [7, 9], coefficients = [1.0, 0.0, 0.0, 1.0], \
             intercepts = [0.0, 0.0], post_transform = \"{transform}\">(x)"
        )
    };
    assert_eq!(values(&node("y, scores", "NONE"), [2.0, 1.0, 1.0, 2.0]), [7.0, 9.0]);
    // The first of equal ones.
    assert_eq!(values(&node("y, scores", "NONE"), [1.0; 4]), [7.0, 7.0]);
    assert_eq!(values(&node("label, y", "SOFTMAX"), [0.0; 4]), [0.5; 4]);
    assert_eq!(values(&node("label, y", "LOGISTIC"), [0.0; 4]), [0.5; 4]);
    assert!(why(&node("label, y", "PROBIT")).contains("PROBIT"));
}

/// One tree: the first feature up to 1 or not, and then on the right the second, by a mode; leaves 1, 3 and 4.
fn tree(mode: &str, rest: &str) -> String {
    format!(
        "nodes_treeids = [0, 0, 0, 0, 0], nodes_nodeids = [0, 1, 2, 3, 4], nodes_truenodeids = [1, 0, 3, 0, 0], \
         nodes_falsenodeids = [2, 0, 4, 0, 0], nodes_featureids = [0, 0, 1, 0, 0], nodes_values = [1.0, 0.0, 4.0, 0.0, 0.0], \
         nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"{mode}\", \"LEAF\", \"LEAF\"], {rest}"
    )
}

const TARGETS: &str = "target_treeids = [0, 0, 0], target_nodeids = [1, 3, 4], target_ids = [0, 0, 0], \
     target_weights = [10.0, 20.0, 30.0], n_targets = 1";

#[test]
fn each_row_ends_in_one_leaf() {
    let node = |mode: &str| format!("y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)", tree(mode, TARGETS));
    // The second row goes right, and there it has 4 where the branch has 4.
    assert_eq!(values(&node("BRANCH_LEQ"), ROWS), [10.0, 20.0]);
    assert_eq!(values(&node("BRANCH_LT"), ROWS), [10.0, 30.0]);
    assert_eq!(values(&node("BRANCH_GTE"), ROWS), [10.0, 20.0]);
    assert_eq!(values(&node("BRANCH_GT"), ROWS), [10.0, 30.0]);
    assert_eq!(values(&node("BRANCH_EQ"), ROWS), [10.0, 20.0]);
    assert_eq!(values(&node("BRANCH_NEQ"), ROWS), [10.0, 30.0]);
    assert!(why(&node("BRANCH_NE")).contains("no mode BRANCH_NE"));
}

/// No comparison with NaN holds, whatever the mode.
#[test]
fn nan_goes_the_way_of_what_fails() {
    for mode in ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"] {
        let node = format!("y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)", tree(mode, TARGETS));
        assert_eq!(
            values(&node, [f64::NAN, 4.0, 3.0, f64::NAN]),
            [if mode == "BRANCH_LT" || mode == "BRANCH_GT" { 30.0 } else { 20.0 }, 30.0],
            "{mode}"
        );
    }
}

/// The number before an infinity, or before 0, would be another one.
#[test]
fn a_branch_compares_with_its_own_number() {
    let node = |mode: &str, number: &str| {
        let tree = tree(mode, TARGETS).replace("4.0, 0.0, 0.0]", &format!("{number}, 0.0, 0.0]"));
        format!("y = ai.onnx.ml.TreeEnsembleRegressor<{tree}>(x)")
    };
    let infinity = f64::INFINITY;
    assert_eq!(values(&node("BRANCH_LT", "-inf"), [2.0, -infinity, 2.0, 0.0]), [30.0, 30.0]);
    assert_eq!(values(&node("BRANCH_GT", "inf"), [2.0, infinity, 2.0, 0.0]), [30.0, 30.0]);
    for (mode, wanted) in [("BRANCH_LT", [30.0, 20.0]), ("BRANCH_GT", [30.0, 30.0])] {
        let model = read(&node(mode, "0.0")).expect("it is read").model;
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 2]), |i| [2.0, 0.0, 2.0, -1.0][i]);
        let profile = &interp::Profile::WGSL;
        let y = interp::evaluate(&model, &[x], profile, interp::Taps::Outputs).expect("bounds").outputs;
        assert_eq!((y[0].tensor.to_f64s(), y[0].undecidable()), (wanted.to_vec(), 0), "{mode}");
    }
}

#[test]
fn a_leaf_that_is_not_reached_does_not_count() {
    let infinite = |rest: &str| format!("{}{rest}", TARGETS.replace("20.0", "inf").replace("30.0", "-inf"));
    let node = |rest: &str| {
        format!("y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)", tree("BRANCH_LEQ", &infinite(rest)))
    };
    assert_eq!(values(&node(""), ROWS), [10.0, f64::INFINITY]);
    assert_eq!(values(&node(", base_values = [0.5]"), ROWS), [10.5, f64::INFINITY]);
    let classes = "class_treeids = [0, 0, 0], class_nodeids = [1, 3, 4], class_ids = [0, 2, 1], \
                   class_weights = [1.0, inf, -inf], classlabels_int64s = [5, 6, 7]";
    let classes = tree("BRANCH_LEQ", classes);
    let node = format!("label, y = ai.onnx.ml.TreeEnsembleClassifier<{classes}>(x)");
    assert_eq!(values(&node, ROWS), [1.0, 0.0, 0.0, 0.0, 0.0, f64::INFINITY]);
}

#[test]
fn trees_are_summed_and_classify() {
    let classes = "class_treeids = [0, 0, 0], class_nodeids = [1, 3, 4], class_ids = [0, 2, 1], \
                   class_weights = [1.0, 0.5, 1.0], classlabels_int64s = [5, 6, 7]";
    let node = |outputs: &str| {
        format!("{outputs} = ai.onnx.ml.TreeEnsembleClassifier<{}>(x)", tree("BRANCH_LEQ", classes))
    };
    assert_eq!(values(&node("y, scores"), ROWS), [5.0, 7.0]);
    assert_eq!(values(&node("label, y"), ROWS), [1.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
    let based = tree("BRANCH_LEQ", &format!("{TARGETS}, base_values = [0.5]"));
    assert_eq!(values(&format!("y = ai.onnx.ml.TreeEnsembleRegressor<{based}>(x)"), ROWS), [10.5, 20.5]);
}

#[test]
fn a_target_may_have_no_weights() {
    let node = |targets: &str| {
        let weights = TARGETS
            .replace("target_ids = [0, 0, 0]", "target_ids = [0, 3, 3]")
            .replace("n_targets = 1", &format!("n_targets = {targets}"));
        format!("y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)", tree("BRANCH_LEQ", &weights))
    };
    assert_eq!(values(&node("5"), ROWS), [10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 20.0, 0.0]);
    // What is written out has a number for each leaf and target.
    assert!(why(&node("1099511627776")).contains("3 times 1099511627776"));
    assert!(why(&node("-1")).contains("`n_targets`"));
}

/// What becomes of an attribute of a tree, and what the refusal says.
const BROKEN: [(&str, &str, &str); 10] = [
    ("nodes_truenodeids = [1, 0, 3, 0, 0]", "nodes_truenodeids = [1, 0, 1, 0, 0]", "two branches"),
    ("nodes_featureids = [0, 0, 1", "nodes_featureids = [0, 0, 2", "2 of 2 features"),
    ("target_ids = [0, 0, 0]", "target_ids = [0, 0, 1]", "not there"),
    ("nodes_values = [1.0, 0.0, 4.0, 0.0, 0.0]", "nodes_values = [1.0]", "one length"),
    // A branch, a leaf, and one of each, of one number.
    ("nodes_nodeids = [0, 1, 2, 3, 4]", "nodes_nodeids = [0, 1, 0, 3, 4]", "twice"),
    ("nodes_nodeids = [0, 1, 2, 3, 4]", "nodes_nodeids = [0, 1, 2, 3, 3]", "twice"),
    ("nodes_nodeids = [0, 1, 2, 3, 4]", "nodes_nodeids = [0, 1, 2, 2, 4]", "twice"),
    (
        "nodes_falsenodeids = [2, 0, 4, 0, 0]",
        "nodes_falsenodeids = [2, 0, 5, 0, 0]",
        "(0, 5) is below (0, 2)",
    ),
    ("nodes_truenodeids = [1, 0, 3, 0, 0]", "nodes_truenodeids = [7, 0, 3, 0, 0]", "(0, 7) is below (0, 0)"),
    ("nodes_truenodeids = [1, 0, 3, 0, 0]", "nodes_truenodeids = [1, 0, 0, 0, 0]", "below itself"),
];

#[test]
fn broken_trees_are_invalid() {
    for (from, to, why) in BROKEN {
        let node = format!(
            "y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)",
            tree("BRANCH_LEQ", TARGETS).replace(from, to)
        );
        let error = read(&node).expect_err(to);
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains(why), "{to}: {error}");
    }
}

#[test]
fn a_tree_has_one_root() {
    let six = tree("BRANCH_LEQ", TARGETS)
        .replace("nodes_treeids = [0, 0, 0, 0, 0]", "nodes_treeids = [0, 0, 0, 0, 0, TREE]")
        .replace("[0, 1, 2, 3, 4]", "[0, 1, 2, 3, 4, 5]")
        .replace("[1, 0, 3, 0, 0]", "[1, 0, 3, 0, 0, 0]")
        .replace("[2, 0, 4, 0, 0]", "[2, 0, 4, 0, 0, 0]")
        .replace("nodes_featureids = [0, 0, 1, 0, 0]", "nodes_featureids = [0, 0, 1, 0, 0, 0]")
        .replace("4.0, 0.0, 0.0]", "4.0, 0.0, 0.0, 0.0]")
        .replace("\"LEAF\"], ", "\"LEAF\", \"LEAF\"], ");
    let node = |tree: &str| format!("y = ai.onnx.ml.TreeEnsembleRegressor<{}>(x)", six.replace("TREE", tree));
    // A leaf is a tree by itself, and one beside a tree is not of it.
    assert_eq!(values(&node("1"), ROWS), [10.0, 20.0]);
    assert!(why(&node("0")).contains("is the root"));
}

#[test]
fn support_vectors_are_near_or_far() {
    let node = |kernel: &str| {
        format!(
            "y = ai.onnx.ml.SVMRegressor<kernel_type = \"{kernel}\", kernel_params = [1.0, 0.0, 0.0], n_supports = 2, \
             support_vectors = [1.0, 2.0, 3.0, 4.0], coefficients = [1.0, 0.0], rho = [0.5]>(x)"
        )
    };
    let near = values(&node("RBF"), ROWS);
    assert_eq!(near[0], 1.5);
    assert!((near[1] - 0.5 - (-8.0_f64).exp()).abs() < 1e-6, "{near:?}");
    assert_eq!(values(&node("LINEAR"), ROWS), [5.5, 11.5]);
    assert!(why(&node("POLY")).contains("POLY"));
}

/// What the operators of the domain are not in the version that is imported.
#[test]
fn operators_are_those_of_the_version_that_a_model_imports() {
    let why = |version: u32, input: &str, node: &str| {
        let head = format!("<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : {version}]>");
        let program =
            Program::from_text(&format!("{head}\nm ({input}) => (y) {{ {node} }}\n")).expect("a text");
        match specialise(&program, &Options::default()) {
            Err(error @ Error::Invalid { .. }) => error.to_string(),
            Err(other) => panic!("{node}: {other} is not invalid"),
            Ok(_) => panic!("{node} is read"),
        }
    };
    let scaled = "y = ai.onnx.ml.Scaler<offset = [1.0], scale = [2.0]>";
    assert!(why(3, "float[2, 1] x", &format!("{scaled}(x, x)")).contains("at most 1"));
    assert!(why(3, "bfloat16[2, 1] x", &format!("{scaled}(x)")).contains("in version 3 of ai.onnx.ml"));
    assert!(why(3, "float[2, 1] x", "y = ai.onnx.ml.Scaler<offset = [1]>(x)").contains("its type is INTS"));
    assert!(why(3, "float[2, 1] x", "y = ai.onnx.ml.TreeEnsemble(x)").contains("came with opset 5"));
    assert!(why(5, "float[2, 1] x", "y = ai.onnx.ml.TreeEnsembleRegressor(x)").contains("deprecated"));
    let keys = "y = ai.onnx.ml.LabelEncoder<keys_tensor = int64[1] {1}, values_tensor = int64[1] {2}>(x)";
    assert!(why(2, "int64[2] x", keys).contains("no such attribute"));
    let taken = "n = Constant<value = int64[1] {0}>() y = ai.onnx.ml.ArrayFeatureExtractor(x, n)";
    assert!(why(3, "uint8[2, 3] x", taken).contains("it is u8"));
}

/// By the bits of keys that are attributes: a zero among them leaves nothing open.
#[test]
fn a_key_of_zero_leaves_other_elements_decided() {
    let text = "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 2]>\nm (float[3] x) => (y) { \
                y = ai.onnx.ml.LabelEncoder<keys_floats = [0.0, 2.0], values_int64s = [4, 5], default_int64 = 7>(x) }\n";
    let program = Program::from_text(text).expect("a text");
    let model = specialise(&program, &Options::default()).expect("it is read").model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| [1.5, 2.0, 3.0][i]);
    let evaluated = interp::evaluate(&model, &[x], &interp::Profile::DECLARED, interp::Taps::Outputs);
    let y = evaluated.expect("values").outputs.remove(0);
    assert_eq!((y.tensor.to_i128s(), y.error), (vec![7, 5, 7], Vec::new()));
}

#[test]
fn who_exported_maps_is_told_how_not_to() {
    let why = why("y = ai.onnx.ml.ZipMap<classlabels_int64s = [0, 1]>(x)");
    assert!(why.contains("maps") && why.contains("zipmap"), "{why}");
}
