//! Type rules: stated once, read twice.
//!
//! An operator says how the shapes of its operands, its attributes and its outputs relate by calling a
//! [`Rule`]. Over `i64` the rule is [`Check`]: every requirement is tested on the spot and the first broken one
//! comes back as a [`Reject`]. Over symbolic dimensions the same calls post constraints to a solver.

use ir::dim::LIMIT;
use ir::{BadAttribute, DType, DTypes, Dim, Type};

/// Takes the requirements of a type rule.
pub trait Rule<D: Dim> {
    /// `a` and `b` are the same.
    fn eq(&mut self, a: D, b: D) -> Result<(), Reject>;
    /// `a` is not greater than `b`.
    fn le(&mut self, a: D, b: D) -> Result<(), Reject>;
    /// `a` is not to be greater than `b` where sizes are chosen. Of what is given nothing is required: it means something, or is
    /// told to be undefined, either way.
    fn seek_le(&mut self, _: D, _: D) -> Result<(), Reject> {
        Ok(())
    }
    /// `a` and `b` broadcast: they are the same, or one of them is 1. Gives the common size.
    fn broadcast(&mut self, a: D, b: D) -> Result<D, Reject>;
    /// The number that a size is which a rank follows from, and which therefore cannot stay open: an unknown becomes the
    /// least that it may be.
    fn known(&mut self, size: D) -> Result<i64, Reject>;
}

/// Why operands and attributes do not make a well-typed operator.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Reject {
    #[error("operand {0} is missing")]
    Missing(usize),
    #[error("there are {given} operands, but at most {most} are allowed")]
    TooMany { given: usize, most: usize },
    #[error("operand {operand} is {found}, but must be one of {allowed}")]
    DType { operand: usize, found: DType, allowed: DTypes },
    #[error("operands must have one dtype, but are {0} and {1}")]
    MixedDTypes(DType, DType),
    #[error("operand {operand} has rank {found}, but must have {wanted}")]
    Rank { operand: usize, found: usize, wanted: String },
    #[error("{0} must equal {1}")]
    NotEqual(i64, i64),
    #[error("{0} must not exceed {1}")]
    Exceeds(i64, i64),
    #[error("dimensions {0} and {1} do not broadcast")]
    NoBroadcast(i64, i64),
    #[error("axis {axis} is outside of rank {rank}")]
    Axis { axis: i64, rank: usize },
    #[error("axis {0} is named twice")]
    RepeatedAxis(i64),
    #[error("`{name}` has {found} entries instead of {wanted}")]
    Length { name: &'static str, found: usize, wanted: usize },
    #[error("a rank follows from a size that follows from others")]
    Open,
    #[error("an output would have an axis of size {0}")]
    Negative(i64),
    #[error("a size, or a number that sizes follow from, exceeds {LIMIT}")]
    Overflow,
    #[error("the standard does not say {0}")]
    Unsaid(&'static str),
    #[error(transparent)]
    Attribute(#[from] BadAttribute),
}

/// The rule over known numbers: tests each requirement at once.
#[derive(Clone, Copy, Default, Debug)]
pub struct Check;

impl Rule<i64> for Check {
    fn eq(&mut self, a: i64, b: i64) -> Result<(), Reject> {
        if a == b { Ok(()) } else { Err(Reject::NotEqual(a, b)) }
    }

    fn le(&mut self, a: i64, b: i64) -> Result<(), Reject> {
        if a <= b { Ok(()) } else { Err(Reject::Exceeds(a, b)) }
    }

    fn broadcast(&mut self, a: i64, b: i64) -> Result<i64, Reject> {
        match (a, b) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(Reject::NoBroadcast(a, b)),
        }
    }

    fn known(&mut self, size: i64) -> Result<i64, Reject> {
        Ok(size)
    }
}

/// The operands' types, as a type rule sees them.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a, D>(pub &'a [Option<&'a Type<D>>]);

impl<'a, D: Dim> Args<'a, D> {
    /// The type of an operand that must be there.
    pub fn need(&self, i: usize) -> Result<&'a Type<D>, Reject> {
        self.opt(i).ok_or(Reject::Missing(i))
    }

    /// The type of an operand that may be absent.
    pub fn opt(&self, i: usize) -> Option<&'a Type<D>> {
        self.0.get(i).copied().flatten()
    }

    /// How many operands there are, absent ones in between included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The operands, all of which must be there; at least one.
    pub fn all(&self) -> Result<Vec<&'a Type<D>>, Reject> {
        self.need(0)?;
        (0..self.len()).map(|i| self.need(i)).collect()
    }

    /// An operand that must have so many axes or more.
    pub fn ranked_from(&self, i: usize, least: usize) -> Result<&'a Type<D>, Reject> {
        self.ranked(i, least..=MOST_RANK)
    }

    /// An image `[N, C, spatial…]`, of whatever is made of its spatial axes.
    pub fn image(&self, i: usize) -> Result<&'a Type<D>, Reject> {
        let x = self.ranked_from(i, 2)?;
        // "For non image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)": ONNX's inference lets n be 0.
        if x.rank() == 2 {
            Err(Reject::Unsaid("what becomes of an image that has no spatial axes"))
        } else {
            Ok(x)
        }
    }

    /// An operand whose rank must be in the range.
    pub fn ranked(&self, i: usize, ranks: std::ops::RangeInclusive<usize>) -> Result<&'a Type<D>, Reject> {
        let x = self.need(i)?;
        if ranks.contains(&x.rank()) {
            return Ok(x);
        }
        let wanted = match (*ranks.start(), *ranks.end()) {
            (a, b) if a == b => format!("rank {a}"),
            (a, MOST_RANK) => format!("rank {a} or more"),
            (a, b) => format!("rank {a} to {b}"),
        };
        Err(Reject::Rank { operand: i, found: x.rank(), wanted })
    }
}

/// The highest rank of an operand of which a rule asks for no more than a least one.
const MOST_RANK: usize = usize::MAX;

/// The one dtype that all these operands have.
pub fn same_dtype<D: Dim>(types: &[&Type<D>]) -> Result<DType, Reject> {
    let first = types.first().ok_or(Reject::Missing(0))?.dtype;
    match types.iter().find(|t| t.dtype != first) {
        Some(other) => Err(Reject::MixedDTypes(first, other.dtype)),
        None => Ok(first),
    }
}

/// Requires two shapes to be the same.
pub fn same_shape<D: Dim>(r: &mut dyn Rule<D>, a: &[D], b: &[D]) -> Result<(), Reject> {
    if a.len() != b.len() {
        return Err(Reject::Length { name: "shape", found: b.len(), wanted: a.len() });
    }
    a.iter().zip(b).try_for_each(|(&a, &b)| r.eq(a, b))
}

/// The shape that several shapes broadcast to, aligned at the last axis (ONNX's multidirectional broadcasting).
pub fn broadcast_shapes<D: Dim>(r: &mut dyn Rule<D>, shapes: &[&[D]]) -> Result<Vec<D>, Reject> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = Vec::with_capacity(rank);
    for axis in 0..rank {
        let mut size = None;
        for shape in shapes {
            if let Some(i) = (axis + shape.len()).checked_sub(rank) {
                size = Some(match size {
                    None => shape[i],
                    Some(size) => r.broadcast(size, shape[i])?,
                });
            }
        }
        out.push(size.unwrap_or_else(|| D::from(1)));
    }
    Ok(out)
}

/// The type that operands of one dtype broadcast to.
pub fn broadcast<D: Dim>(r: &mut dyn Rule<D>, operands: &[&Type<D>]) -> Result<Type<D>, Reject> {
    let dtype = same_dtype(operands)?;
    let shapes: Vec<&[D]> = operands.iter().map(|t| t.shape.as_slice()).collect();
    Ok(Type::new(dtype, broadcast_shapes(r, &shapes)?))
}

/// Requires `shape` to broadcast to `target` without changing it (ONNX's unidirectional broadcasting).
pub fn broadcast_to<D: Dim>(r: &mut dyn Rule<D>, shape: &[D], target: &[D]) -> Result<(), Reject> {
    let Some(skip) = target.len().checked_sub(shape.len()) else {
        return Err(Reject::Length { name: "shape", found: shape.len(), wanted: target.len() });
    };
    for (&a, &b) in shape.iter().zip(&target[skip..]) {
        let c = r.broadcast(a, b)?;
        r.eq(c, b)?;
    }
    Ok(())
}

/// The axis as an index; negative axes count from the end.
pub fn axis(axis: i64, rank: usize) -> Result<usize, Reject> {
    let index = if axis < 0 { axis + rank as i64 } else { axis };
    if (0..rank as i64).contains(&index) { Ok(index as usize) } else { Err(Reject::Axis { axis, rank }) }
}

/// What a type rule works out, of operands that it has accepted.
///
/// # Panics
/// If it does not accept them after all: a meaning that went on with another axis would be wrong and nobody would see it.
#[track_caller]
pub fn accepted<T>(worked_out: Result<T, Reject>) -> T {
    worked_out.expect("the type rule has accepted these operands and attributes")
}

/// The axes as indices, in the order given; each may be named once.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, Reject> {
    let mut out = Vec::with_capacity(list.len());
    for &a in list {
        let index = axis(a, rank)?;
        if out.contains(&index) {
            return Err(Reject::RepeatedAxis(a));
        }
        out.push(index);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_least_rank_has_no_end() {
        let deep = Type::new(DType::F32, vec![1i64; 300]);
        assert!(Args(&[Some(&deep)]).ranked_from(0, 2).is_ok());
        let why = |ranks| Args(&[Some(&deep)]).ranked(0, ranks).unwrap_err().to_string();
        assert_eq!(why(0..=1), "operand 0 has rank 300, but must have rank 0 to 1");
    }
}
