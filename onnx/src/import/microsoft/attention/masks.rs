//! Which keys a query may attend, in the forms that ONNX Runtime's operators are told it.

use ir::{Attributes, DType, Value};

use super::super::super::attention::Sizes;
use super::super::super::terms::misshapen;
use super::super::super::walk::Walk;
use crate::Error;

/// What is left out of the scores.
#[derive(Default)]
pub(super) struct Mask {
    /// The keys that a query may attend by its place: truth values, which broadcast to the scores. Others score −∞.
    near: Option<Value>,
    /// Those that are no padding. To the scores of others a number is added.
    real: Option<(Value, f32)>,
}

impl Mask {
    /// Reads which keys are padding: `operand` is a count or a truth value for each, as 32-bit integers. `None` is a form
    /// whose meaning the description does not say.
    pub(super) fn read(
        walk: &mut Walk<'_, '_>,
        (operand, mask): (usize, Value),
        filter: f32,
        sizes: &Sizes,
    ) -> Result<Option<Self>, Error> {
        let ty = walk.ty(mask);
        if ty.dtype != DType::I32 {
            return Err(misshapen(operand, &ty, "of i32"));
        }
        let Sizes { batch, queries, keys, .. } = *sizes;
        let real = match ty.shape[..] {
            [count] if count == batch => before(walk, mask, sizes)?,
            [count] if count == 2 * batch => {
                let last = walk.slice(mask, 0, 0, batch)?;
                let until = before(walk, last, sizes)?;
                let starts = walk.slice(mask, 0, batch, 2 * batch)?;
                let earlier = before(walk, starts, sizes)?;
                let from = walk.op("Not", &[earlier])?;
                walk.op("And", &[until, from])?
            }
            [a, b] if [a, b] == [batch, keys] => {
                let truth = truth(walk, mask)?;
                walk.reshaped(truth, &[batch, 1, 1, keys])?
            }
            [a, b, c] if [a, b, c] == [batch, queries, keys] => {
                let truth = truth(walk, mask)?;
                walk.reshaped(truth, &[batch, 1, queries, keys])?
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { near: None, real: Some((real, filter)) }))
    }

    /// Leaves out keys behind the query's own place as well, and those so many places before it. `earlier` keys come before
    /// those of the first query.
    pub(super) fn keep_near(
        &mut self,
        walk: &mut Walk<'_, '_>,
        sizes: &Sizes,
        earlier: i64,
        window: Option<i64>,
    ) -> Result<(), Error> {
        let query = walk.integers(DType::I64, &[sizes.queries, 1], |i| i as i128 + i128::from(earlier))?;
        let key = walk.integers(DType::I64, &[sizes.keys], |i| i as i128)?;
        let rule = walk.op("LessOrEqual", &[key, query])?;
        self.and_near(walk, rule)?;
        if let Some(window) = window {
            let by = walk.integers(DType::I64, &[], |_| window.into())?;
            let first = walk.op("Sub", &[query, by])?;
            let rule = walk.op("Greater", &[key, first])?;
            self.and_near(walk, rule)?;
        }
        Ok(())
    }

    /// Leaves out keys by one more rule.
    pub(super) fn and_near(&mut self, walk: &mut Walk<'_, '_>, rule: Value) -> Result<(), Error> {
        self.near = Some(match self.near {
            Some(near) => walk.op("And", &[near, rule])?,
            None => rule,
        });
        Ok(())
    }

    /// Scores without what is left out.
    pub(super) fn applied(&self, walk: &mut Walk<'_, '_>, scores: Value) -> Result<Value, Error> {
        let dtype = walk.ty(scores).dtype;
        let mut scores = scores;
        if let Some((real, filter)) = self.real {
            let [nothing, filter] = [0.0, filter].map(|number| walk.real(dtype, number.into()));
            let added = walk.op("Where", &[real, nothing?, filter?])?;
            scores = walk.op("Add", &[scores, added])?;
        }
        if let Some(near) = self.near {
            let none = walk.real(dtype, f64::NEG_INFINITY)?;
            scores = walk.op("Where", &[near, scores, none])?;
        }
        Ok(scores)
    }
}

/// The keys before the end of each of a batch.
fn before(walk: &mut Walk<'_, '_>, ends: Value, sizes: &Sizes) -> Result<Value, Error> {
    // Not beyond the keys that there are.
    let counts = walk.integers(DType::I64, &[sizes.keys + 1], |i| i as i128)?;
    let at = walk.cast(ends, DType::I64)?;
    let at = walk.counted_from_first(at, sizes.keys + 1)?;
    let ends = walk.op_with("Gather", &Attributes::new().int("axis", 0), &[counts, at])?;
    let ends = walk.reshaped(ends, &[sizes.batch, 1, 1, 1])?;
    let key = walk.integers(DType::I64, &[sizes.keys], |i| i as i128)?;
    walk.op("Less", &[key, ends])
}

/// Truth values that are told as 0 and 1. No other number is one.
fn truth(walk: &mut Walk<'_, '_>, told: Value) -> Result<Value, Error> {
    let both = walk.integers(DType::Bool, &[2], |i| i as i128)?;
    let at = walk.cast(told, DType::I64)?;
    let at = walk.counted_from_first(at, 2)?;
    walk.op_with("Gather", &Attributes::new().int("axis", 0), &[both, at])
}
