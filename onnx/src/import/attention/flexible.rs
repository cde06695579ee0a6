//! FlexAttention of ONNX's domain `ai.onnx.preview`, written out.
//!
//! [FlexAttention](https://onnx.ai/onnx/operators/onnx_aionnxpreview_FlexAttention.html). Scores as Attention has them;
//! what a graph makes of them; their softmax; what another graph makes of that, times the values. All behind the scores
//! is in one precision.

use ir::{Attributes, DType, Value};

use super::{precise, repeated, scores, sizes};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::origin::Inside;
use crate::import::translation::{SourceNode, Translation, bind, tensor};
use crate::import::walk::Walk;

/// The domain.
pub(in crate::import) const DOMAIN: &str = "ai.onnx.preview";

/// What adds an operator of that name of the domain.
pub(in crate::import) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "FlexAttention" => Some(attention),
        _ => None,
    }
}

/// The graphs, in the order in which they are run.
const GRAPHS: [&str; 2] = ["score_mod", "prob_mod"];

fn attention<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (scale, precision) = (given.float("scale"), given.whole("softmax_precision"));
    for name in GRAPHS {
        given.ignore(name);
    }
    given.finish()?;
    if scale.is_some_and(|scale| scale.is_nan() || scale < 0.0) {
        return Err(Error::unsupported("attribute `scale`", "its square root is multiplied with"));
    }
    let node = source.node;
    let (q, keys, values) = (tensor(walk, node, 0)?, tensor(walk, node, 1)?, tensor(walk, node, 2)?);
    let dtype = walk.ty(q).dtype;
    if !dtype.is_float() || walk.ty(keys).dtype != dtype {
        let why = format!("queries are {} and keys {}", walk.ty(q), walk.ty(keys));
        return Err(Error::invalid("operands", why));
    }
    let sizes = sizes(walk, q, keys, values)?;
    let (keys, values) = (repeated(walk, keys, &sizes)?, repeated(walk, values, &sizes)?);
    let usual = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let precision = precise(precision)?.unwrap_or(usual);
    let scores = scores(walk, q, keys, scale)?;
    let scores = walk.cast(scores, precision)?;
    let scores = changed(walk, source, 0, scores)?;
    let shares = walk.op_with("Softmax", &Attributes::new().int("axis", 3), &[scores])?;
    let shares = changed(walk, source, 1, shares)?;
    let values = walk.cast(values, precision)?;
    let y = walk.op("MatMul", &[shares, values])?;
    let y = walk.cast(y, dtype)?;
    bind(walk, node, vec![Bound::Tensor(y)])
}

/// What one of the graphs makes of a tensor, if it is there.
fn changed<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    which: usize,
    x: Value,
) -> Result<Value, Error> {
    let what = || format!("attribute `{}`", GRAPHS[which]);
    let held = source.node.attributes.iter().find(|attribute| attribute.rest.name() == GRAPHS[which]);
    let Some(held) = held else { return Ok(x) };
    let body = held.body.as_ref().ok_or_else(|| Error::invalid(what(), "it holds no graph"))?;
    let results =
        walk.inside(Inside::Stage(which), body, vec![Bound::Tensor(x)]).map_err(|e| e.inside(what()))?;
    let y = match <[Bound; 1]>::try_from(results) {
        Ok([Bound::Tensor(y)]) => y,
        Ok([Bound::Static(tensor)]) => walk.push_constant(tensor, None)?,
        Ok([_]) | Err(_) => return Err(Error::invalid(what(), "it must give one tensor")),
    };
    if walk.ty(y) != walk.ty(x) {
        let why = format!("it makes {} of {}", walk.ty(y), walk.ty(x));
        return Err(Error::invalid(what(), why));
    }
    Ok(y)
}
