//! Operators that nobody here knows, as runtimes have them in domains of their own: numbers stand for what they give.
//!
//! The model must declare the types of their outputs, unless their operands tell them; sizes that are names have what
//! other values show them to be. The numbers are small and stand behind an open value, as if they were read from it:
//! whatever follows from them is not judged, and all else of the model is.

use ir::{Attributes, DType, Type, Value};

use super::context::domain;
use super::frame::Bound;
use super::microsoft;
use super::random::in_any_order;
use super::translation::{SourceNode, apply, bind};
use super::walk::Walk;
use crate::Error;

/// What is done about operators that nobody here knows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Unknown {
    /// The model is not read: whoever runs it needs them.
    #[default]
    Refuse,
    /// Constants stand for the operator's results. A judge must say nothing of what depends on them.
    StandIn,
}

/// Adds what stands for the outputs of a node, or says why nothing does: `why` nobody here knows it.
pub(super) fn stand_in<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    why: &str,
) -> Result<(), Error> {
    let name = source.node.operator();
    let lack = |more: &str| Error::unsupported(format!("operator {name}"), format!("{why}{more}"));
    if walk.context.options.unknown == Unknown::Refuse {
        return Err(lack(""));
    }
    let types = if domain(source.node.rest.domain()) == microsoft::DOMAIN {
        microsoft::types(walk, source)?
    } else {
        None
    };
    let mut results = Vec::with_capacity(source.node.outputs.len());
    for (i, output) in source.node.outputs.iter().enumerate() {
        let Some(output) = *output else {
            results.push(Bound::Absent);
            continue;
        };
        let known = types.as_ref().and_then(|types| types.get(i).cloned());
        let ty = walk.declared_type(output).or(known).ok_or_else(|| {
            let of = walk.frame.scope.name(output);
            lack(&format!(", and the model does not declare its output `{of}` as a tensor of known sizes"))
        })?;
        results.push(Bound::Tensor(open(walk, &ty)?));
    }
    walk.context.unknown.insert(name);
    walk.context.is_written_out = true;
    bind(walk, source.node, results)
}

/// Small numbers of a type, of which none is certain.
fn open(walk: &mut Walk<'_, '_>, ty: &Type) -> Result<Value, Error> {
    let two = walk.reals(DType::F32, &[2], |i| i as f64)?;
    let either = in_any_order(walk, two, 2)?;
    let numbers = walk.reals(ty.dtype, &ty.shape, |i| {
        if ty.dtype.is_float() { (i % 7) as f64 / 8.0 } else { (i % 2) as f64 }
    })?;
    Ok(apply(walk, "Identity", &Attributes::new(), &[numbers], &[either])?[0])
}
