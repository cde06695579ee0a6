//! A sum of what comes in and what skipped a layer, and its normalisation along the last axis.

use ir::{Attributes, Value};

use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::translation::{SourceNode, Translation, apply, bind};
use super::super::walk::Walk;
use super::{floats, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "SkipLayerNormalization" => Some(layer),
        "SkipSimplifiedLayerNormalization" => Some(root_mean_square),
        _ => None,
    }
}

/// The simplified normalisation alone.
pub(super) fn in_default_domain(op_type: &str) -> Option<Translation> {
    (op_type == "SimplifiedLayerNormalization").then_some(simplified)
}

/// The normalisation of X by the root of the mean square, times the scale. No other result has a description.
fn simplified<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let attributes = Attributes::new()
        .int("axis", given.int("axis", -1))
        .float("epsilon", given.float("epsilon").unwrap_or(1e-5))
        .int("stash_type", given.int("stash_type", 1));
    given.finish()?;
    let operands = tensors::<2>(walk, source)?;
    let factors = [floats(walk, &operands, 0)?, floats(walk, &operands, 1)?];
    let y = walk.op_with("RMSNormalization", &attributes, &factors)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The normalisation by mean and deviation.
fn layer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let attributes = attributes(source)?.int("outputs", 3);
    let operands = tensors::<5>(walk, source)?;
    let gamma = floats(walk, &operands, 2)?;
    let sum = sum(walk, &operands, operands[4])?;
    let factors: Vec<Value> = [sum, gamma].into_iter().chain(operands[3]).collect();
    let normalized = apply(walk, "LayerNormalization", &attributes, &factors, &[])?;
    let results = normalized.into_iter().chain([sum]).map(Bound::Tensor).collect();
    bind(walk, source.node, results)
}

/// The normalisation by the root of the mean square. No runtime gives what stands between it and the sum.
fn root_mean_square<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let attributes = attributes(source)?;
    let operands = tensors::<4>(walk, source)?;
    let gamma = floats(walk, &operands, 2)?;
    let sum = sum(walk, &operands, operands[3])?;
    let y = walk.op_with("RMSNormalization", &attributes, &[sum, gamma])?;
    bind(walk, source.node, vec![Bound::Tensor(y), Bound::Absent, Bound::Absent, Bound::Tensor(sum)])
}

/// The attributes of the normalisation, which computes in f32, whatever the dtype is.
fn attributes(source: &SourceNode<'_, '_>) -> Result<Attributes, Error> {
    let given = GivenAttributes::of(source);
    let epsilon = given.float("epsilon").unwrap_or(1e-12);
    given.finish()?;
    Ok(Attributes::new().int("axis", -1).float("epsilon", epsilon))
}

/// Input + skip, and a bias.
fn sum(walk: &mut Walk<'_, '_>, operands: &[Option<Value>], bias: Option<Value>) -> Result<Value, Error> {
    let (input, skip) = (floats(walk, operands, 0)?, floats(walk, operands, 1)?);
    let mut sum = walk.op("Add", &[input, skip])?;
    if let Some(bias) = bias {
        sum = walk.op("Add", &[sum, bias])?;
    }
    Ok(sum)
}
