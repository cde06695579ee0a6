//! Classical models, of the domain `ai.onnx.ml`.

use super::Composite;
use super::piece::Piece;
use ir::DType;

pub(super) const ALL: &[Composite] = &[
    Composite::learning("ArrayFeatureExtractor", array_feature_extractor),
    Composite::learning("Binarizer", binarizer),
    Composite::learning("LinearRegressor", linear_regressor),
    Composite::learning("Normalizer", normalizer),
    Composite::learning("SVMRegressor", svm_regressor),
    Composite::learning("Scaler", scaler),
    Composite::learning("TreeEnsembleRegressor", tree_ensemble_regressor),
];

fn array_feature_extractor(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 1..=3);
    let last = *x.shape.last()?;
    let places: Vec<i64> = (0..p.size(1..=4)).map(|_| p.size(0..=last - 1)).collect();
    p.list(&places);
    Some(())
}

fn binarizer(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    p.any(dtype, 1..=3);
    let threshold = p.quarters(1)[0];
    p.float("threshold", threshold);
    Some(())
}

fn linear_regressor(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features, targets) = (p.size(1..=4), p.size(1..=5), p.size(1..=3));
    p.of(dtype, &[rows, features]);
    let coefficients = p.quarters(features * targets);
    p.floats("coefficients", &coefficients);
    if p.chance(0.6) {
        let intercepts = p.quarters(targets);
        p.floats("intercepts", &intercepts);
    }
    p.int("targets", targets);
    Some(())
}

fn normalizer(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features) = (p.size(1..=4), p.size(1..=5));
    p.of(dtype, &[rows, features]);
    // Whether MAX means the largest element or the largest magnitude, nobody says.
    let norm = p.choose(&["L1", "L2"])?;
    p.text("norm", norm);
    Some(())
}

fn svm_regressor(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features) = (p.size(1..=4), p.size(1..=4));
    p.of(dtype, &[rows, features]);
    let kernel = p.word("kernel_type", &["LINEAR", "RBF"])?;
    let supports = p.size(1..=3);
    let vectors = p.quarters(supports * features);
    let coefficients = p.quarters(supports);
    p.int("n_supports", supports);
    p.floats("support_vectors", &vectors);
    p.floats("coefficients", &coefficients);
    let rho = p.quarters(1);
    p.floats("rho", &rho);
    if kernel == "RBF" {
        p.floats("kernel_params", &[0.5, 0.0, 3.0]);
    }
    Some(())
}

fn scaler(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let x = p.any(dtype, 2..=2);
    let features = x.shape[1];
    let count = if p.chance(0.5) { features } else { 1 };
    let (offset, scale) = (p.quarters(count), p.quarters(count));
    p.floats("offset", &offset);
    p.floats("scale", &scale);
    Some(())
}

/// Trees with one decision each, and the leaves of it.
fn tree_ensemble_regressor(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    if dtype != DType::F32 {
        return None;
    }
    let (rows, features, trees, targets) = (p.size(1..=4), p.size(1..=4), p.size(1..=3), p.size(1..=2));
    p.of(dtype, &[rows, features]);
    let each = |of: &dyn Fn(i64) -> [i64; 3]| (0..trees).flat_map(of).collect::<Vec<i64>>();
    let features: Vec<i64> = (0..trees).flat_map(|_| [p.size(0..=features - 1), 0, 0]).collect();
    let splits: Vec<f32> = (0..trees).flat_map(|_| [p.quarters(1)[0] + 0.125, 0.0, 0.0]).collect();
    let decision = p.choose(&["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])?;
    p.ints("nodes_treeids", &each(&|tree| [tree; 3]));
    p.ints("nodes_nodeids", &each(&|_| [0, 1, 2]));
    p.ints("nodes_featureids", &features);
    p.floats("nodes_values", &splits);
    p.texts("nodes_modes", &(0..trees).flat_map(|_| [decision, "LEAF", "LEAF"]).collect::<Vec<_>>());
    p.ints("nodes_truenodeids", &each(&|_| [1, 0, 0]));
    p.ints("nodes_falsenodeids", &each(&|_| [2, 0, 0]));
    let leaves = |of: &dyn Fn(i64) -> [i64; 2]| (0..trees).flat_map(of).collect::<Vec<i64>>();
    let ids: Vec<i64> = (0..2 * trees).map(|_| p.size(0..=targets - 1)).collect();
    let weights: Vec<f32> = (0..2 * trees).map(|_| p.size(-999..=999) as f32 / 250.0).collect();
    p.ints("target_treeids", &leaves(&|tree| [tree; 2]));
    p.ints("target_nodeids", &leaves(&|_| [1, 2]));
    p.ints("target_ids", &ids);
    p.floats("target_weights", &weights);
    p.int("n_targets", targets);
    Some(())
}
