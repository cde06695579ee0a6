//! Which keys a query may attend.

use ir::{Attributes, DType, Value};

use super::Sizes;
use crate::Error;
use crate::import::terms::misshapen;
use crate::import::walk::Walk;

/// What the places of query and key have to do with it.
pub(super) struct Places {
    /// How many keys before its own place a query sees.
    pub(super) left: Option<i64>,
    /// How many behind it.
    pub(super) right: Option<i64>,
    /// Whether none behind it.
    pub(super) is_causal: bool,
}

/// What says which keys a query may attend.
pub(super) struct Allowed {
    /// Truth values, which broadcast to the scores.
    is: Option<Value>,
    /// Numbers that are added to the scores.
    bias: Option<Value>,
}

/// More than there are places.
const FAR: i64 = 1 << 40;

impl Allowed {
    /// Reads it from the places, the mask, and how many of the keys are there, in each of the batch. `earlier` keys come
    /// before those of the first query.
    pub(super) fn read(
        walk: &mut Walk<'_, '_>,
        places: &Places,
        sizes: &Sizes,
        mask: Option<Value>,
        filled: Option<Value>,
        earlier: i64,
    ) -> Result<Self, Error> {
        let mut allowed = Self { is: None, bias: None };
        if let Some(mask) = mask {
            let mask = padded(walk, mask, sizes)?;
            match walk.ty(mask).dtype {
                DType::Bool => allowed.is = Some(mask),
                dtype if dtype.is_float() => allowed.bias = Some(mask),
                dtype => {
                    let why = format!("it is {dtype}, of which the text does not say what it masks");
                    return Err(Error::unsupported("operand 3", why));
                }
            }
        }
        let key = walk.integers(DType::I64, &[sizes.keys], |i| i as i128)?;
        let filled = match filled {
            Some(filled) if walk.ty(filled).shape[..] == [sizes.batch] => {
                Some(walk.reshaped(filled, &[sizes.batch, 1, 1, 1])?)
            }
            Some(filled) => {
                return Err(misshapen(6, &walk.ty(filled), &format!("a count for each of {}", sizes.batch)));
            }
            None => None,
        };
        if places.is_causal || places.left.is_some() || places.right.is_some() {
            let first = if filled.is_some() { -i128::from(sizes.queries) } else { earlier.into() };
            let mut query = walk.integers(DType::I64, &[sizes.queries, 1], |i| i as i128 + first)?;
            if let Some(filled) = filled {
                query = walk.op("Add", &[query, filled])?;
            }
            allowed.near(walk, places, query, key)?;
        }
        if let Some(filled) = filled {
            let rule = walk.op("Less", &[key, filled])?;
            allowed.and(walk, rule)?;
        }
        Ok(allowed)
    }

    /// Leaves out the keys that are not near enough to the place of a query.
    fn near(
        &mut self,
        walk: &mut Walk<'_, '_>,
        places: &Places,
        query: Value,
        key: Value,
    ) -> Result<(), Error> {
        let beside = |walk: &mut Walk<'_, '_>, by: i64| -> Result<Value, Error> {
            let by = walk.integers(DType::I64, &[], |_| by.clamp(-FAR, FAR).into())?;
            walk.op("Add", &[query, by])
        };
        if places.is_causal {
            let rule = walk.op("LessOrEqual", &[key, query])?;
            self.and(walk, rule)?;
        }
        if let Some(left) = places.left {
            let first = beside(walk, -left)?;
            let rule = walk.op("GreaterOrEqual", &[key, first])?;
            self.and(walk, rule)?;
        }
        if let Some(right) = places.right {
            let last = beside(walk, right)?;
            let rule = walk.op("LessOrEqual", &[key, last])?;
            self.and(walk, rule)?;
        }
        Ok(())
    }

    fn and(&mut self, walk: &mut Walk<'_, '_>, rule: Value) -> Result<(), Error> {
        self.is = Some(match self.is {
            Some(is) => walk.op("And", &[is, rule])?,
            None => rule,
        });
        Ok(())
    }

    /// Scores with what is added to them, -∞ where a query may not attend a key.
    pub(super) fn scores(&self, walk: &mut Walk<'_, '_>, scores: Value) -> Result<Value, Error> {
        let dtype = walk.ty(scores).dtype;
        let mut scores = scores;
        if let Some(bias) = self.bias {
            if walk.ty(bias).dtype != dtype {
                let why = format!("it is {}, and queries are {dtype}", walk.ty(bias));
                return Err(Error::invalid("operand 3", why));
            }
            scores = walk.op("Add", &[scores, bias])?;
        }
        if let Some(is) = self.is {
            // By the text -∞ is added, and NaN stays; many leave the score out, whatever it is.
            let none = walk.real(dtype, f64::NEG_INFINITY)?;
            let sum = walk.op("Add", &[scores, none])?;
            let masked = walk.either(none, sum)?;
            scores = walk.op("Where", &[is, scores, masked])?;
        }
        Ok(scores)
    }

    /// Probabilities, zeros for a query that may attend no key. A key that -∞ is added to is none.
    pub(super) fn shares(&self, walk: &mut Walk<'_, '_>, shares: Value) -> Result<Value, Error> {
        let mut attended = self.is;
        if let Some(bias) = self.bias {
            let infinite = Attributes::new().int("detect_positive", 0);
            let infinite = walk.op_with("IsInf", &infinite, &[bias])?;
            let finite = walk.op("Not", &[infinite])?;
            attended = Some(match attended {
                Some(is) => walk.op("And", &[is, finite])?,
                None => finite,
            });
        }
        let Some(attended) = attended else { return Ok(shares) };
        let last = Attributes::new().ints("axes", &[-1]).int("keepdims", 1);
        let some = walk.op_with("ReduceMax", &last, &[attended])?;
        let zero = walk.real(walk.ty(shares).dtype, 0.0)?;
        walk.op("Where", &[some, shares, zero])
    }
}

/// A mask for all keys. From opset 24 on it may end before they do, and then masks the rest.
fn padded(walk: &mut Walk<'_, '_>, mask: Value, sizes: &Sizes) -> Result<Value, Error> {
    let ty = walk.ty(mask);
    // One number for all keys broadcasts as any other mask does.
    let Some((&last, before)) = ty.shape.split_last() else { return walk.reshaped(mask, &[1]) };
    if last >= sizes.keys || walk.context.declared < 24 {
        return Ok(mask);
    }
    if last == 1 {
        let why = format!(
            "whether {ty} is repeated for {} keys or masks all but one, ONNX does not say",
            sizes.keys
        );
        return Err(Error::unsupported("operand 3", why));
    }
    let shape = [before, &[sizes.keys - last]].concat();
    let rest = match ty.dtype {
        dtype if dtype.is_float() => walk.reals(dtype, &shape, |_| f64::NEG_INFINITY)?,
        dtype => walk.integers(dtype, &shape, |_| 0)?,
    };
    walk.joined(&[mask, rest], before.len() as i64)
}
