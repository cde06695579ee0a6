//! Operators of ONNX's domain for classical machine learning, `ai.onnx.ml`, written out in those of the default one.
//!
//! [ONNX-ML](https://onnx.ai/onnx/operators/index.html#ai-onnx-ml). Of each the part is read that exporters write: of
//! most of them features of f32. What differs between ONNX's text and its own reference implementation, and where both
//! could be meant, is refused and says so.

mod classes;
mod encoded;
mod ensemble;
mod forest;
mod labels;
mod linear;
mod scaling;
mod support;
mod trees;

use ir::{Attributes, DType, Tensor, Value};

use super::terms::bounded;
use super::translation::{SourceNode, Translation, one};
use super::walk::Walk;
use crate::Error;

/// The domain.
pub(super) const DOMAIN: &str = "ai.onnx.ml";

/// What adds an operator of that name of the domain.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "ArrayFeatureExtractor" => Some(scaling::array_feature_extractor),
        "Binarizer" => Some(scaling::binarizer),
        "FeatureVectorizer" => Some(encoded::features),
        "Imputer" => Some(encoded::imputer),
        "LabelEncoder" => Some(labels::encoder),
        "LinearClassifier" => Some(linear::classifier),
        "LinearRegressor" => Some(linear::regressor),
        "Normalizer" => Some(scaling::normalizer),
        "OneHotEncoder" => Some(encoded::one_hot),
        "SVMRegressor" => Some(support::regressor),
        "Scaler" => Some(scaling::scaler),
        "TreeEnsemble" => Some(ensemble::ensemble),
        "TreeEnsembleClassifier" => Some(trees::classifier),
        "TreeEnsembleRegressor" => Some(trees::regressor),
        _ => None,
    }
}

/// The dtypes of features of which operators compute in f32.
const IN_F32: [DType; 3] = [DType::F32, DType::I64, DType::I32];

/// The operand of a node, which must have an axis of features, as f32. Integers become such: what is made of them is. Of f64 the
/// text does not say when it does.
fn features(walk: &mut Walk<'_, '_>, source: &SourceNode<'_, '_>) -> Result<Value, Error> {
    let x = features_of(walk, source, &IN_F32)?;
    walk.cast(x, DType::F32)
}

/// The operand of a node, which must be of one of some dtypes and have an axis of features.
fn features_of(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    among: &[DType],
) -> Result<Value, Error> {
    let x = super::translation::tensor(walk, source.node, 0)?;
    let ty = walk.graph.ty(x);
    if !among.contains(&ty.dtype) {
        let names: Vec<&str> = among.iter().map(|dtype| dtype.name()).collect();
        let why = format!("it is {ty}, and is read where it is one of {}", names.join(", "));
        return Err(Error::unsupported("operand 0", why));
    }
    if ty.rank() == 0 {
        return Err(Error::invalid("operand 0", format!("it is {ty}, without features")));
    }
    Ok(x)
}

/// The operand of a node, which must have rows of features, as f32.
fn rows(walk: &mut Walk<'_, '_>, source: &SourceNode<'_, '_>) -> Result<Value, Error> {
    let x = features(walk, source)?;
    in_rows(walk, x)
}

/// A value, which must have rows of features.
fn in_rows(walk: &Walk<'_, '_>, x: Value) -> Result<Value, Error> {
    let ty = walk.graph.ty(x);
    if ty.rank() != 2 {
        return Err(Error::unsupported("operand 0", format!("it is {ty}, and is read where it has rows")));
    }
    Ok(x)
}

/// A constant of f32.
fn constant(walk: &mut Walk<'_, '_>, shape: &[i64], numbers: &[f32]) -> Result<Value, Error> {
    let ty = bounded(DType::F32, shape)?;
    if ty.count() != numbers.len() as i64 {
        return Err(Error::invalid("attributes", format!("there are {} numbers for {ty}", numbers.len())));
    }
    walk.push_constant(Tensor::from_f64_fn(&ty, |i| numbers[i].into()).into(), None)
}

/// A constant of integers.
fn integers(walk: &mut Walk<'_, '_>, dtype: DType, shape: &[i64], numbers: &[i64]) -> Result<Value, Error> {
    let ty = bounded(dtype, shape)?;
    walk.push_constant(Tensor::from_i128_fn(&ty, |i| numbers[i].into()).into(), None)
}

/// The sums of what the ends weigh that rows reach, for each result. In a product an infinite weight would make NaN of
/// rows that do not get there.
fn chosen(walk: &mut Walk<'_, '_>, reached: Value, weights: Value) -> Result<Value, Error> {
    let dtype = walk.ty(weights).dtype;
    let reached = walk.unsqueezed(reached, &[2])?;
    let nothing = walk.real(dtype, 0.0)?;
    let votes = walk.op("Where", &[reached, weights, nothing])?;
    one(walk, "ReduceSum", &Attributes::new().ints("axes", &[1]).int("keepdims", 0), &[votes])
}

/// What is done to scores at the end.
fn transformed(walk: &mut Walk<'_, '_>, scores: Value, transform: &str) -> Result<Value, Error> {
    match transform {
        "NONE" => Ok(scores),
        "LOGISTIC" => one(walk, "Sigmoid", &Attributes::new(), &[scores]),
        "SOFTMAX" => one(walk, "Softmax", &Attributes::new().int("axis", -1), &[scores]),
        other => Err(Error::unsupported("attribute `post_transform`", format!("{other} is not there"))),
    }
}
