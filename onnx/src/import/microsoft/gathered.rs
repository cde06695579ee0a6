//! What is gathered from a tensor that is quantised in blocks.

use ir::{Attributes, DType, Type, Value};

use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::opaque;
use super::super::terms::{axis_of, misshapen, there};
use super::super::translation::{SourceNode, Translation, bind};
use super::super::walk::Walk;
use super::products::unpacked;
use super::{floats, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "GatherBlockQuantized" => Some(gathered),
        _ => None,
    }
}

/// The numbers that are stored, less the zero points of their blocks, times the scales of these; then what indices point to, and
/// zeros where one points to nothing.
fn gathered<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (bits, block) = (given.int("bits", 4), given.int("block_size", 128));
    let axes = [given.int("gather_axis", 0), given.int("quantize_axis", 1)];
    given.finish()?;
    let operands = tensors::<4>(walk, source)?;
    let (data, at) = (there(&operands, 0)?, there(&operands, 1)?);
    let scales = floats(walk, &operands, 2)?;
    let is_packed = match walk.ty(data).dtype {
        DType::U8 => true,
        DType::U4 | DType::I4 => false,
        _ => return opaque::stand_in(walk, source, "this program does not have it of these numbers"),
    };
    if !matches!(bits, 2 | 4 | 8) || block < 1 {
        return Err(Error::invalid("attributes", format!("{bits} bits in blocks of {block}")));
    }
    let stored = if is_packed { numbers(walk, data, bits)? } else { data };
    let ty = walk.ty(stored);
    let [gather, quantize] = [("gather_axis", axes[0]), ("quantize_axis", axes[1])]
        .map(|(name, axis)| axis_of(name, axis, ty.rank()));
    let (gather, quantize) = (gather?, quantize?);
    if is_packed && gather != 0 {
        return Err(Error::invalid("attribute `gather_axis`", "of bytes it must be 0"));
    }
    let blocks = Blocks { stored: ty, axis: quantize, block };
    let middle = if is_packed { 1 << (bits - 1) } else { 0 };
    let zeros = match operands[3] {
        None => Zeros::All(middle),
        Some(zeros) if is_packed => Zeros::Each(numbers(walk, zeros, bits)?),
        Some(zeros) => Zeros::Each(zeros),
    };
    let table = blocks.numbers(walk, stored, scales, zeros)?;
    let y = picked(walk, table, at, gather)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The numbers that bytes hold along the last axis.
fn numbers(walk: &mut Walk<'_, '_>, bytes: Value, bits: i64) -> Result<Value, Error> {
    let mut shape = walk.ty(bytes).shape;
    if let Some(last) = shape.last_mut() {
        *last = last.saturating_mul(8 / bits);
    }
    unpacked(walk, bytes, bits, &shape)
}

/// What is stored for zero.
#[derive(Clone, Copy)]
enum Zeros {
    /// One number for all blocks.
    All(i64),
    Each(Value),
}

/// How a tensor is quantised: along an axis, in blocks of which the last may be shorter.
struct Blocks {
    stored: Type,
    axis: usize,
    block: i64,
}

impl Blocks {
    fn numbers(
        &self,
        walk: &mut Walk<'_, '_>,
        stored: Value,
        scales: Value,
        zeros: Zeros,
    ) -> Result<Value, Error> {
        let mut shape = self.stored.shape.clone();
        shape[self.axis] = (shape[self.axis] + self.block - 1) / self.block;
        let ty = walk.ty(scales);
        if ty.shape != shape {
            return Err(misshapen(2, &ty, &format!("a scale for each block, {shape:?}")));
        }
        let zeros = match zeros {
            Zeros::All(zero) => walk.real(ty.dtype, zero as f64)?,
            Zeros::Each(zeros) => {
                // Bytes may hold more than there are blocks.
                let last = shape.len() - 1;
                let zeros = walk.slice(zeros, last as i64, 0, shape[last])?;
                if walk.ty(zeros).shape != shape {
                    return Err(misshapen(3, &walk.ty(zeros), &format!("{shape:?}")));
                }
                let zeros = walk.cast(zeros, ty.dtype)?;
                self.spread(walk, zeros)?
            }
        };
        let scales = self.spread(walk, scales)?;
        let numbers = walk.cast(stored, ty.dtype)?;
        let numbers = walk.op("Sub", &[numbers, zeros])?;
        walk.op("Mul", &[numbers, scales])
    }

    /// For each element what its block has.
    fn spread(&self, walk: &mut Walk<'_, '_>, of_blocks: Value) -> Result<Value, Error> {
        let block = self.block as usize;
        let at = walk.integers(DType::I64, &[self.stored.shape[self.axis]], |i| (i / block) as i128)?;
        walk.op_with("Gather", &Attributes::new().int("axis", self.axis as i64), &[of_blocks, at])
    }
}

/// What indices point to along an axis, where negative ones count from its end, and zeros for others.
fn picked(walk: &mut Walk<'_, '_>, table: Value, at: Value, axis: usize) -> Result<Value, Error> {
    let ty = walk.ty(table);
    let at = walk.cast(at, DType::I64)?;
    let [first, beyond] =
        [-ty.shape[axis], ty.shape[axis]].map(|end| walk.integers(DType::I64, &[], |_| end.into()));
    let (from, below) = (walk.op("GreaterOrEqual", &[at, first?])?, walk.op("Less", &[at, beyond?])?);
    let is_there = walk.op("And", &[from, below])?;
    let nothing = walk.integers(DType::I64, &[], |_| 0)?;
    let inside = walk.op("Where", &[is_there, at, nothing])?;
    let picked = walk.op_with("Gather", &Attributes::new().int("axis", axis as i64), &[table, inside])?;
    // The axes of the indices stand where the axis was; those behind it are behind them.
    let shape = [&walk.ty(at).shape[..], &vec![1; ty.rank() - 1 - axis]].concat();
    let is_there = walk.reshaped(is_there, &shape)?;
    let zero = walk.real(ty.dtype, 0.0)?;
    walk.op("Where", &[is_there, picked, zero])
}
