//! TreeEnsembleRegressor of several trees: where NaN goes, and what becomes of what the trees give. The numbers are
//! those of ONNX Runtime and of ONNX's reference implementation, which agree on them.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// Two trees of one branch: the first feature with 1, the second with 4, by a mode.
fn read(mode: &str, targets: &str, rest: &str) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]>
        m (float[4, 2] x) => (y) {{ y = ai.onnx.ml.TreeEnsembleRegressor<
            nodes_treeids = [0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 0, 1, 2],
            nodes_truenodeids = [1, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 0, 2, 0, 0],
            nodes_featureids = [0, 0, 0, 1, 0, 0], nodes_values = [1.0, 0.0, 0.0, 4.0, 0.0, 0.0],
            nodes_modes = [\"{mode}\", \"LEAF\", \"LEAF\", \"{mode}\", \"LEAF\", \"LEAF\"], {targets}{rest}>(x) }}\n"
    );
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(imported: &Imported, rows: [f64; 8]) -> Vec<f64> {
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [4, 2]), |i| rows[i]);
    interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0).to_f64s()
}

/// One target, of which each leaf weighs.
const ONE: &str = "n_targets = 1, target_treeids = [0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 0, 0, 0], \
     target_weights = [10.0, 20.0, -5.0, 7.0]";

/// Two targets, each of one tree.
const TWO: &str = "n_targets = 2, target_treeids = [0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 0, 1, 1], \
     target_weights = [10.0, 20.0, -5.0, 7.0], base_values = [1.0, 2.0]";

const ROWS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 1.0, 9.0, 3.0, 9.0];

#[test]
fn what_the_trees_give_is_aggregated_before_a_base_is_added() {
    let cases = [
        ("SUM", [5.0, 15.0, 17.0, 27.0]),
        ("AVERAGE", [2.5, 7.5, 8.5, 13.5]),
        ("MIN", [-5.0, -5.0, 7.0, 7.0]),
        ("MAX", [10.0, 20.0, 10.0, 20.0]),
    ];
    for (how, wanted) in cases {
        let rest = format!(", aggregate_function = \"{how}\"");
        assert_eq!(values(&read("BRANCH_LEQ", ONE, &rest).expect(how), ROWS), wanted, "{how}");
        let based = read("BRANCH_LEQ", ONE, &format!("{rest}, base_values = [0.5]")).expect(how);
        assert_eq!(values(&based, ROWS), wanted.map(|y| y + 0.5), "{how}");
    }
    let why = read("BRANCH_LEQ", ONE, ", aggregate_function = \"MEDIAN\"").expect_err("there is none");
    assert!(matches!(why, Error::Invalid { .. }) && why.to_string().contains("MEDIAN"), "{why}");
}

#[test]
fn each_target_has_the_least_of_its_own() {
    let each = [11.0, -3.0, 21.0, -3.0, 11.0, 9.0, 21.0, 9.0];
    for how in ["SUM", "MIN", "MAX"] {
        let rest = format!(", aggregate_function = \"{how}\"");
        assert_eq!(values(&read("BRANCH_LEQ", TWO, &rest).expect(how), ROWS), each, "{how}");
    }
    let average = read("BRANCH_LEQ", TWO, ", aggregate_function = \"AVERAGE\"").expect("it is read");
    assert_eq!(values(&average, ROWS), [6.0, -0.5, 11.0, -0.5, 6.0, 5.5, 11.0, 5.5]);
}

/// ONNX Runtime has 0, and ONNX's reference implementation the largest number that there is.
#[test]
fn the_least_of_no_weight_is_open() {
    let open = TWO
        .replace("[0, 0, 1, 1], target_nodeids = [1, 2, 1, 2]", "[0, 1, 1], target_nodeids = [1, 1, 2]")
        .replace("[0, 0, 1, 1]", "[0, 1, 1]")
        .replace("[10.0, 20.0, -5.0, 7.0]", "[10.0, -5.0, 7.0]");
    for how in ["MIN", "MAX"] {
        let why = read("BRANCH_LEQ", &open, &format!(", aggregate_function = \"{how}\"")).expect_err(how);
        assert!(matches!(why, Error::Unsupported { .. }), "{why}");
        assert!(
            why.to_string().contains("TreeEnsembleRegressor") && why.to_string().contains("target 0"),
            "{why}"
        );
    }
    let sum = read("BRANCH_LEQ", &open, "").expect("it is read");
    assert_eq!(values(&sum, ROWS), [11.0, -3.0, 1.0, -3.0, 11.0, 9.0, 1.0, 9.0]);
}

/// As in most trees that gradient boosting makes.
#[test]
fn nan_goes_where_the_branch_says() {
    let rows = [f64::NAN, 4.0, 1.0, f64::NAN, f64::NAN, f64::NAN, 3.0, 4.0];
    let first = ", nodes_missing_value_tracks_true = [1, 0, 0, 0, 0, 0]";
    let all = ", nodes_missing_value_tracks_true = [1, 1, 1, 1, 1, 1]";
    let cases = [
        ("BRANCH_LEQ", "", [15.0, 17.0, 27.0, 15.0]),
        ("BRANCH_LEQ", first, [5.0, 17.0, 17.0, 15.0]),
        ("BRANCH_LEQ", all, [5.0, 5.0, 5.0, 15.0]),
        ("BRANCH_LT", first, [17.0, 27.0, 17.0, 27.0]),
        ("BRANCH_LT", all, [17.0, 15.0, 5.0, 27.0]),
        ("BRANCH_GTE", all, [5.0, 5.0, 5.0, 5.0]),
        ("BRANCH_GT", "", [27.0, 27.0, 27.0, 17.0]),
        ("BRANCH_GT", all, [17.0, 15.0, 5.0, 17.0]),
        ("BRANCH_EQ", "", [15.0, 17.0, 27.0, 15.0]),
        ("BRANCH_EQ", first, [5.0, 17.0, 17.0, 15.0]),
        ("BRANCH_EQ", all, [5.0, 5.0, 5.0, 15.0]),
        ("BRANCH_NEQ", all, [17.0, 15.0, 5.0, 17.0]),
    ];
    for (mode, rest, wanted) in cases {
        assert_eq!(values(&read(mode, ONE, rest).expect(mode), rows), wanted, "{mode}{rest}");
    }
}

/// One tree of one branch at a number next to 0.1, whose numbers are in tensors of f64, on features of a dtype.
fn read_double(dtype: &str, more: &str) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]>
        m ({dtype}[3, 1] x) => (y) {{ y = ai.onnx.ml.TreeEnsembleRegressor<
            nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_truenodeids = [1, 0, 0],
            nodes_falsenodeids = [2, 0, 0], nodes_featureids = [0, 0, 0],
            nodes_values_as_tensor = double[3] {{0.10000000000000002, 0.0, 0.0}},
            nodes_modes = [\"BRANCH_LT\", \"LEAF\", \"LEAF\"], n_targets = 1, target_treeids = [0, 0],
            target_nodeids = [1, 2], target_ids = [0, 0], target_weights_as_tensor = double[2] {{16777217.0, 2.0}},
            base_values_as_tensor = double[1] {{-16777216.0}}{more}>(x) }}\n"
    );
    specialise(&Program::from_text(&text)?, &Options::default())
}

#[test]
fn trees_of_f64_compare_and_add_in_it() {
    let imported = read_double("double", "").expect("it is read");
    let features = [0.1, 0.100_000_000_000_000_03, 0.0];
    let x = Tensor::from_f64_fn(&Type::new(DType::F64, [3, 1]), |i| features[i]);
    let y = interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0);
    // In f32 the first two are one number, and what is left of the sum is 0.
    assert_eq!((y.dtype(), y.to_f64s()), (DType::F32, vec![1.0, -16_777_214.0, 1.0]));
    let why = read_double("double", ", target_weights = [1.0, 2.0]").expect_err("they are there twice");
    assert!(why.to_string().contains("target_weights_as_tensor"), "{why}");
}

#[test]
fn features_may_be_integers() {
    let imported = read_double("int64", "").expect("it is read");
    let x = Tensor::from_i128_fn(&Type::new(DType::I64, [3, 1]), |i| [0, 1, -1][i]);
    let y = interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0);
    assert_eq!(y.to_f64s(), [1.0, -16_777_214.0, 1.0]);
}
