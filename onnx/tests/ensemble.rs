//! TreeEnsemble, written out, sends each row where its branches say.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(node: &str) -> Result<Imported, Error> {
    let head = "<ir_version: 10, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 5]>";
    let text = format!("{head}\nm (float[4, 1] x) => (y) {{ y = ai.onnx.ml.TreeEnsemble<{node}>(x) }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(node: &str, rows: [f64; 4]) -> Vec<f64> {
    let model = read(node).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [4, 1]), |i| rows[i]);
    interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s()
}

/// One branch of a mode over two leaves: 10 for a yes, 1 for a no.
fn branch(mode: u8, split: &str, rest: &str) -> String {
    format!(
        "n_targets = 1, tree_roots = [0], nodes_featureids = [0], nodes_modes = uint8[1] {{{mode}}}, \
         nodes_splits = float[1] {{{split}}}, nodes_truenodeids = [0], nodes_trueleafs = [1], \
         nodes_falsenodeids = [1], nodes_falseleafs = [1], leaf_targetids = [0, 0], \
         leaf_weights = float[2] {{10.0, 1.0}}{rest}"
    )
}

#[test]
fn a_branch_compares_in_its_mode() {
    let rows = [1.0, 2.0, 3.0, 2.0];
    let ways = [
        (0, [10.0, 10.0, 1.0, 10.0]),
        (1, [10.0, 1.0, 1.0, 1.0]),
        (2, [1.0, 10.0, 10.0, 10.0]),
        (3, [1.0, 1.0, 10.0, 1.0]),
        (4, [1.0, 10.0, 1.0, 10.0]),
        (5, [10.0, 1.0, 10.0, 1.0]),
    ];
    for (mode, wanted) in ways {
        assert_eq!(values(&branch(mode, "2.0", ""), rows), wanted, "mode {mode}");
    }
}

#[test]
fn a_branch_asks_for_members_of_a_set() {
    let members = ", membership_values = float[3] {1.0, 3.0, nan}";
    assert_eq!(values(&branch(6, "0.0", members), [1.0, 2.0, 3.0, 0.0]), [10.0, 1.0, 10.0, 1.0]);
}

#[test]
fn what_is_no_number_goes_where_the_branch_says() {
    let rows = [f64::NAN, 1.0, 3.0, f64::NAN];
    assert_eq!(values(&branch(0, "2.0", ""), rows), [1.0, 10.0, 1.0, 1.0]);
    let yes = ", nodes_missing_value_tracks_true = [1]";
    assert_eq!(values(&branch(0, "2.0", yes), rows), [10.0, 10.0, 1.0, 10.0]);
}

/// By the text it is a no where the branch does not take it, and by ONNX's evaluator and ONNX Runtime a yes.
#[test]
fn whether_nan_is_another_number_is_open() {
    let bounds = |rest: &str| {
        let model = read(&branch(5, "2.0", rest)).expect("it is read").model;
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [4, 1]), |i| [f64::NAN, 2.0, 3.0, -1.0][i]);
        let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
        let y = interp::evaluate(&model, &[x], profile, taps).expect("bounds").outputs.remove(0);
        (y.tensor.to_f64s(), [0, 1, 2, 3].map(|i| y.error_at(i)))
    };
    assert_eq!(bounds(""), (vec![1.0, 1.0, 10.0, 10.0], [f64::INFINITY, 0.0, 0.0, 0.0]));
    let yes = ", nodes_missing_value_tracks_true = [1]";
    assert_eq!(bounds(yes), (vec![10.0, 1.0, 10.0, 10.0], [0.0; 4]));
}

#[test]
fn a_leaf_that_is_not_reached_does_not_count() {
    let infinite = branch(0, "2.0", "").replace("1.0}", "inf}");
    for node in [infinite.clone(), format!("{infinite}, aggregate_function = 0")] {
        assert_eq!(values(&node, [1.0, 3.0, 2.0, 4.0]), [10.0, f64::INFINITY, 10.0, f64::INFINITY]);
    }
}

#[test]
fn trees_are_added_up_or_their_mean_is_taken() {
    // The first has a branch behind its first one, and both trees have a leaf in common.
    let two = "n_targets = 2, tree_roots = [0, 2], nodes_featureids = [0, 0, 0], nodes_modes = uint8[3] {0, 0, 0}, \
               nodes_splits = float[3] {2.0, 3.0, 3.0}, nodes_truenodeids = [0, 1, 1], nodes_trueleafs = [1, 1, 1], \
               nodes_falsenodeids = [1, 2, 2], nodes_falseleafs = [0, 1, 1], leaf_targetids = [0, 1, 1], \
               leaf_weights = float[3] {8.0, 4.0, 2.0}";
    let rows = [1.0, 2.5, 4.0, 2.0];
    let sum = [8.0, 4.0, 0.0, 8.0, 0.0, 4.0, 8.0, 4.0];
    assert_eq!(values(two, rows), sum);
    let mean: Vec<f64> = sum.iter().map(|x| x / 2.0).collect();
    assert_eq!(values(&format!("{two}, aggregate_function = 0"), rows), mean);
}

/// The least or greatest of what the trees give for a target, of the leaves that a row ends in alone.
#[test]
fn the_least_and_the_greatest_are_taken() {
    let two = "n_targets = 1, tree_roots = [0, 1], nodes_featureids = [0, 0], nodes_modes = uint8[2] {0, 0}, \
               nodes_splits = float[2] {2.0, 3.0}, nodes_truenodeids = [0, 2], nodes_trueleafs = [1, 1], \
               nodes_falsenodeids = [1, 3], nodes_falseleafs = [1, 1], leaf_targetids = [0, 0, 0, 0], \
               leaf_weights = float[4] {8.0, 1.0, 4.0, inf}";
    let rows = [1.0, 2.5, 4.0, 2.0];
    assert_eq!(values(&format!("{two}, aggregate_function = 2"), rows), [4.0, 1.0, 1.0, 4.0]);
    assert_eq!(values(&format!("{two}, aggregate_function = 3"), rows), [8.0, 4.0, f64::INFINITY, 8.0]);
}

#[test]
fn what_leads_nowhere_or_round_is_refused() {
    let why = |node: &str| read(node).expect_err("it is not read").to_string();
    let good = branch(0, "2.0", "");
    assert!(why(&good.replace("nodes_trueleafs = [1]", "nodes_trueleafs = [0]")).contains("branch"));
    why(&good.replace("nodes_truenodeids = [0]", "nodes_truenodeids = [7]"));
    why(&good.replace("nodes_featureids = [0]", "nodes_featureids = [3]"));
    why(&good.replace("tree_roots = [0]", "tree_roots = [5]"));
    why(&good.replace("leaf_targetids = [0, 0]", "leaf_targetids = [0, 9]"));
    let twice = branch(0, "2.0", "").replace("tree_roots = [0]", "tree_roots = [0, 0]");
    assert!(why(&twice).contains("two ways"));
    why(&branch(9, "2.0", ""));
    assert!(why(&branch(0, "2.0", ", post_transform = 4")).contains("post_transform"));
    assert!(why(&branch(0, "2.0", ", aggregate_function = 4")).contains("aggregate_function"));
}
