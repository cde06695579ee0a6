//! `LinearRegressor` and `LinearClassifier`: features times weights and an intercept.

use ir::{Attributes, Value};

use super::classes::{Labels, classified};
use super::{constant, one, rows, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// Rows times weights, so many results for each; the weights of a result stand beside each other.
fn sums(
    walk: &mut Walk<'_, '_>,
    x: Value,
    results: i64,
    coefficients: &[f32],
    intercepts: &[f32],
) -> Result<Value, Error> {
    let columns = walk.graph.ty(x).shape[1];
    let weights = constant(walk, &[results, columns], coefficients)?;
    let mut operands = vec![x, weights];
    if !intercepts.is_empty() {
        operands.push(constant(walk, &[results], intercepts)?);
    }
    one(walk, "Gemm", &Attributes::new().int("transB", 1), &operands)
}

/// LinearRegressor: a number for each target.
pub(super) fn regressor<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = rows(walk, source)?;
    let given = GivenAttributes::of(source);
    let (coefficients, intercepts) = (given.floats("coefficients"), given.floats("intercepts"));
    let (targets, transform) = (given.int("targets", 1), given.text("post_transform", "NONE"));
    given.finish()?;
    let sums = sums(walk, x, targets, coefficients, intercepts)?;
    let y = transformed(walk, sums, &transform)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// LinearClassifier: a score for each label, and the label of the highest score. If only one of two labels
/// has weights, the other label's score depends on the transformation, and ONNX's text does not say how.
pub(super) fn classifier<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = rows(walk, source)?;
    let given = GivenAttributes::of(source);
    let (coefficients, intercepts) = (given.floats("coefficients"), given.floats("intercepts"));
    let labels = Labels::read(&given, "classlabels_ints")?;
    let transform = given.text("post_transform", "NONE");
    // One against the rest, or all at once: the same sums.
    given.ignore("multi_class");
    given.finish()?;
    let columns = walk.graph.ty(x).shape[1];
    if labels.len() < 2 || coefficients.len() as i64 != labels.len() as i64 * columns {
        let why =
            format!("there are {} for {} labels and {columns} features", coefficients.len(), labels.len());
        return Err(Error::unsupported("attribute `coefficients`", why));
    }
    let scores = sums(walk, x, labels.len() as i64, coefficients, intercepts)?;
    classified(walk, source, &labels, scores, &transform)
}
