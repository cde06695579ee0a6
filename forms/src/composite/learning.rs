//! Classical models, of the domain `ai.onnx.ml`.

mod trees;

use super::Composite;
use super::piece::Piece;
use ir::{DType, DTypes};

/// What a LabelEncoder has for numbers, in tensors.
const LABELS: DTypes = DTypes::of(&[DType::F32, DType::I64, DType::F64, DType::I32, DType::I16]);

/// Features of the newer trees.
const TREES: DTypes = DTypes::of(&[DType::F32, DType::F64]);

/// Features that are computed with in f32.
const FEATURES: DTypes = DTypes::of(&[DType::F32, DType::I64, DType::I32]);

/// Features of all dtypes that there are.
const ANY_FEATURES: DTypes = FEATURES.union(DTypes::of(&[DType::F64]));

pub(super) const ALL: &[Composite] = &[
    Composite::learning("ArrayFeatureExtractor", ANY_FEATURES, array_feature_extractor),
    Composite::learning("Binarizer", FEATURES, binarizer),
    Composite { version: 4, ..Composite::learning("LabelEncoder", LABELS, label_encoder) },
    Composite::learning("LinearClassifier", FEATURES, linear_classifier),
    Composite::learning("LinearRegressor", FEATURES, linear_regressor),
    Composite::learning("Normalizer", FEATURES, normalizer),
    Composite::learning("SVMRegressor", FEATURES, svm_regressor),
    Composite::learning("Scaler", FEATURES, scaler),
    Composite { version: 5, ..Composite::learning("TreeEnsemble", TREES, trees::ensemble) },
    Composite::learning("TreeEnsembleClassifier", ANY_FEATURES, trees::classifier),
    Composite::learning("TreeEnsembleRegressor", ANY_FEATURES, trees::regressor),
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
    let (rows, features, targets) = (p.count(1..=4), p.size(1..=5), p.size(1..=3));
    p.of(dtype, &[rows, features]);
    let coefficients = p.quarters(features * targets);
    p.floats("coefficients", &coefficients);
    if p.chance(0.6) {
        let intercepts = p.quarters(targets);
        p.floats("intercepts", &intercepts);
    }
    p.int("targets", targets);
    regressed(p)
}

/// What becomes of the sums of a regression.
fn regressed(p: &mut Piece<'_>) -> Option<()> {
    if p.chance(0.4) {
        p.word("post_transform", &["NONE", "SOFTMAX", "LOGISTIC"])?;
    }
    Some(())
}

fn normalizer(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features) = (p.count(1..=4), p.size(1..=5));
    p.of(dtype, &[rows, features]);
    // Whether MAX means the largest element or the largest magnitude, nobody says.
    let norm = p.choose(&["L1", "L2"])?;
    p.text("norm", norm);
    Some(())
}

fn svm_regressor(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features) = (p.count(1..=4), p.size(1..=4));
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
    regressed(p)
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

/// Adds `count` labels as an attribute of this name, and asks for the results of a classifier: the label and
/// the scores.
fn labelled(p: &mut Piece<'_>, name: &str, count: i64) {
    let (first, step) = (p.size(-5..=5), p.size(1..=3));
    let labels: Vec<i64> = (0..count).map(|at| first + at * step).collect();
    p.ints(name, &labels);
    p.results = 2;
}

fn linear_classifier(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (rows, features, labels) = (p.count(1..=4), p.size(1..=5), p.size(2..=4));
    p.of(dtype, &[rows, features]);
    let coefficients = p.quarters(features * labels);
    p.floats("coefficients", &coefficients);
    // Without them ONNX's own inference takes the number of classes for 0.
    let intercepts = p.quarters(labels);
    p.floats("intercepts", &intercepts);
    labelled(p, "classlabels_ints", labels);
    let transform = p.word("post_transform", &["NONE", "SOFTMAX", "LOGISTIC"])?;
    if transform != "NONE" {
        p.int("multi_class", 1);
    }
    Some(())
}

/// Values for keys, of numbers or strings, in lists or, as of all dtypes but two, in tensors.
fn label_encoder(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let count = p.size(1..=5);
    let shape: Vec<i64> = (0..p.size(1..=2)).map(|_| p.size(1..=4)).collect();
    let elements: i64 = shape.iter().product();
    let keys: Vec<i64> = (0..count).collect();
    if dtype == DType::F32 && p.chance(0.4) {
        let words = ["a", "b", "Ab", "", "你好"];
        let texts: Vec<String> =
            (0..elements).map(|_| p.choose(&words).map(str::to_owned)).collect::<Option<_>>()?;
        p.strings(&shape, &texts)?;
        p.texts("keys_strings", &words[..count as usize]);
        return labels(p, count);
    }
    if !p.chance(0.7) {
        p.of(dtype, &shape);
    } else if dtype.is_float() {
        let numbers: Vec<f64> = (0..elements).map(|_| p.size(0..=6) as f64).collect();
        p.reals(dtype, &shape, &numbers);
    } else {
        let numbers: Vec<i64> = (0..elements).map(|_| p.size(0..=6)).collect();
        p.integers(dtype, &shape, &numbers);
    }
    let real = |n: &i64| *n as f64;
    match dtype {
        DType::F32 if p.chance(0.7) => {
            p.floats("keys_floats", &keys.iter().map(|&key| key as f32).collect::<Vec<_>>());
        }
        DType::I64 if p.chance(0.7) => p.ints("keys_int64s", &keys),
        _ => p.tensor("keys_tensor", dtype, &[count], &keys.iter().map(real).collect::<Vec<_>>()),
    }
    labels(p, count)
}

/// So many values of a LabelEncoder, and what there is where there is no key.
fn labels(p: &mut Piece<'_>, count: i64) -> Option<()> {
    let values: Vec<i64> = (0..count).map(|key| 7 - 3 * key).collect();
    match p.choose(&["values_int64s", "values_floats", "values_tensor"])? {
        "values_int64s" => {
            p.ints("values_int64s", &values);
            p.int("default_int64", 9);
        }
        "values_floats" => {
            p.floats("values_floats", &values.iter().map(|&value| value as f32).collect::<Vec<_>>());
            p.float("default_float", 2.5);
        }
        _ => {
            let dtype = p.other_dtype(LABELS)?;
            let numbers: Vec<f64> = values.iter().map(|&value| value as f64).collect();
            p.tensor("values_tensor", dtype, &[count], &numbers);
            p.tensor("default_tensor", dtype, &[1], &[9.0]);
        }
    }
    Some(())
}
