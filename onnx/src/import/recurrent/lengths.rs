//! Sequences that are shorter than others of their batch: behind its end a sequence's state stays what it was, and what
//! is given out is 0.
//!
//! So the last state is that of a sequence's own end, and backwards it begins there. A step of which no sequence is at
//! an end is as without lengths. ONNX does not say what a network gives behind an end; runtimes give 0.

use ir::{DType, Value};

use super::Sizes;
use super::cells::State;
use crate::Error;
use crate::import::read::Lengths;
use crate::import::walk::Walk;
use crate::program::Node;

/// The lengths of the sequences.
pub(super) struct Masks {
    /// That of each; `None` where they have all steps.
    each: Option<Vec<i64>>,
    /// The value that they were read from.
    pub(super) from: Option<Value>,
}

impl Masks {
    pub(super) fn read(walk: &mut Walk<'_, '_>, node: &Node, sizes: Sizes) -> Result<Self, Error> {
        let Some(Lengths { each, from }) = walk.lengths(node, 4, [sizes.batch, sizes.steps])? else {
            return Ok(Self { each: None, from: None });
        };
        if each.contains(&0) {
            let why = "what the last state of a sequence without a step is, ONNX does not say";
            return Err(Error::unsupported("operand 4", why));
        }
        let is_short = each.iter().any(|&length| length < sizes.steps);
        Ok(Self { each: is_short.then_some(each), from })
    }

    /// The state behind a step, of which this would be the next one, and what is given out there.
    pub(super) fn passed(
        &self,
        walk: &mut Walk<'_, '_>,
        step: i64,
        before: State,
        next: State,
    ) -> Result<(State, Value), Error> {
        let short = self.each.as_ref().filter(|each| each.iter().any(|&length| length <= step));
        let Some(each) = short else { return Ok((next, next.hidden)) };
        let is_within = walk.integers(DType::Bool, &[each.len() as i64, 1], |i| (step < each[i]).into())?;
        let mut chosen = |next: Value, other: Value| walk.op("Where", &[is_within, next, other]);
        let hidden = chosen(next.hidden, before.hidden)?;
        let held = match (next.held, before.held) {
            (Some(next), Some(before)) => Some(chosen(next, before)?),
            (next, _) => next,
        };
        let dtype = walk.ty(hidden).dtype;
        let nothing = walk.real(dtype, 0.0)?;
        let shown = walk.op("Where", &[is_within, next.hidden, nothing])?;
        Ok((State { hidden, held }, shown))
    }
}
