//! NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, written out.
//!
//! ONNX: [NegativeLogLikelihoodLoss](https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html),
//! [SoftmaxCrossEntropyLoss](https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html). The second is the
//! first of a LogSoftmax. What has the label that is ignored has no loss, whatever is in the scores there, and does not
//! count in the mean: the text says so of weights alone, ONNX's function body and tests of all.

use ir::{Attributes, DType, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it is a loss.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "NegativeLogLikelihoodLoss" => Some(likelihood),
        "SoftmaxCrossEntropyLoss" => Some(entropy),
        _ => None,
    }
}

fn likelihood<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let loss = loss(walk, source, operands, there(&operands, 0)?)?;
    bind(walk, source.node, vec![Bound::Tensor(loss)])
}

fn entropy<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<3>(walk, source)?;
    let scores = there(&operands, 0)?;
    let likelihoods = walk.op_with("LogSoftmax", &Attributes::new().int("axis", 1), &[scores])?;
    let loss = loss(walk, source, operands, likelihoods)?;
    bind(walk, source.node, vec![Bound::Tensor(loss), Bound::Tensor(likelihoods)])
}

/// The loss of logarithms of likelihoods: what stands at the labels, negated, times the labels' weights.
fn loss(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    operands: [Option<Value>; 3],
    x: Value,
) -> Result<Value, Error> {
    let given = GivenAttributes::of(source);
    let (reduction, ignored) = (given.text("reduction", "mean"), given.whole("ignore_index"));
    given.finish()?;
    let (ty, labels) = (walk.ty(x), there(&operands, 1)?);
    let label_ty = walk.ty(labels);
    let &[batch, classes, ref rest @ ..] = &ty.shape[..] else {
        return Err(misshapen(0, &ty, "of a batch, classes and what else there is"));
    };
    if label_ty.shape[..] != [&[batch], rest].concat()[..] {
        return Err(misshapen(1, &label_ty, &format!("as {ty} without classes")));
    }
    // 32 bits hold every label, but not every index that is ignored.
    let mut labels = walk.cast(labels, DType::I64)?;
    let mut is_ignored = None;
    if let Some(ignored) = ignored {
        let ignored = walk.integers(DType::I64, &[], |_| ignored.into())?;
        let first = walk.integers(DType::I64, &[], |_| 0)?;
        let equal = walk.op("Equal", &[labels, ignored])?;
        labels = walk.op("Where", &[equal, first, labels])?;
        is_ignored = Some(equal);
    }
    // "Target element value shall be in range of [0, C)."
    let labels = walk.counted_from_first(labels, classes)?;
    let places = walk.unsqueezed(labels, &[1])?;
    let chosen = walk.op_with("GatherElements", &Attributes::new().int("axis", 1), &[x, places])?;
    let chosen = walk.squeezed(chosen, 1)?;
    let mut losses = walk.op("Neg", &[chosen])?;
    let mut weights = None;
    if let Some(weight) = operands[2] {
        let weight_ty = walk.ty(weight);
        if weight_ty.shape[..] != [classes] {
            return Err(misshapen(2, &weight_ty, &format!("a weight for each of {classes} classes")));
        }
        let each = walk.op_with("Gather", &Attributes::new().int("axis", 0), &[weight, labels])?;
        losses = walk.op("Mul", &[losses, each])?;
        weights = Some(each);
    }
    if let Some(is_ignored) = is_ignored {
        let (none, full) = (walk.real(ty.dtype, 0.0)?, walk.real(ty.dtype, 1.0)?);
        losses = walk.op("Where", &[is_ignored, none, losses])?;
        weights = Some(walk.op("Where", &[is_ignored, none, weights.unwrap_or(full)])?);
    }
    match (reduction.as_str(), weights) {
        ("none", _) => Ok(losses),
        ("sum", _) => walk.reduced("ReduceSum", losses),
        ("mean", None) => walk.reduced("ReduceMean", losses),
        ("mean", Some(weights)) => {
            let (loss, weight) = (walk.reduced("ReduceSum", losses)?, walk.reduced("ReduceSum", weights)?);
            walk.op("Div", &[loss, weight])
        }
        (other, _) => Err(Error::invalid("attribute `reduction`", format!("there is no reduction {other}"))),
    }
}
