//! Products of quantised matrices, whose sums are exact, and what is made of them.

use ir::{Attributes, DType, Value};

use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::integral::{Side, along_matrix, matmul, single};
use super::super::opaque;
use super::super::terms::{misshapen, there};
use super::super::translation::{SourceNode, Translation, apply, bind, stack};
use super::super::walk::Walk;
use super::quantized::quantized;
use super::{floats, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "DynamicQuantizeMatMul" => Some(dynamic),
        "MatMulIntegerToFloat" => Some(to_float),
        "MatMulNBits" => Some(by_blocks),
        "QGemm" => Some(gemm),
        _ => None,
    }
}

/// A quantised as DynamicQuantizeLinear has it, times B, and a bias. The description has no more than the operator's
/// name and "matrix multiply results from A * B": A as it is is right as well.
fn dynamic<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let [a, b, b_scale, b_zero, bias] = tensors::<5>(walk, source)?;
    let real = floats(walk, &[a], 0)?;
    let quantized = apply(walk, "DynamicQuantizeLinear", &Attributes::new(), &[real], &[])?;
    let &[a, a_scale, a_zero] = &quantized[..] else {
        unreachable!("DynamicQuantizeLinear has three results")
    };
    let operands = [Some(a), b, Some(a_scale), b_scale, Some(a_zero), b_zero, bias];
    let quantized = scaled(walk, operands)?;
    let exact = unquantized(walk, real, &operands)?;
    let y = walk.between(quantized, exact)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A real matrix times what B stands for, and a bias; the operands are those of [`scaled`].
fn unquantized(walk: &mut Walk<'_, '_>, a: Value, operands: &[Option<Value>; 7]) -> Result<Value, Error> {
    let b = there(operands, 1)?;
    let of = walk.ty(b);
    let mut numbers = walk.cast(b, DType::F32)?;
    if let Some(zero) = operands[5] {
        let zero = along_matrix(walk, zero, 3, &of, false)?;
        let zero = walk.cast(zero, DType::F32)?;
        numbers = walk.op("Sub", &[numbers, zero])?;
    }
    let scale = along_matrix(walk, there(operands, 3)?, 2, &of, false)?;
    let numbers = walk.op("Mul", &[numbers, scale])?;
    let product = walk.op("MatMul", &[a, numbers])?;
    operands[6].map_or(Ok(product), |bias| walk.op("Add", &[product, bias]))
}

/// The product of two quantised matrices, and a bias.
fn to_float<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let operands = tensors::<7>(walk, source)?;
    let y = scaled(walk, operands)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A, B, the scale of each, the zero point of each, a bias → the product of what A and B stand for, and the bias.
fn scaled(walk: &mut Walk<'_, '_>, operands: [Option<Value>; 7]) -> Result<Value, Error> {
    let sums = matmul(walk, &operands, [Side { x: 0, zero: 4 }, Side { x: 1, zero: 5 }])?;
    let mut scales = Vec::with_capacity(2);
    for (x, scale) in [(0, 2), (1, 3)] {
        let of = walk.ty(there(&operands, x)?);
        scales.push(along_matrix(walk, there(&operands, scale)?, scale, &of, x == 0)?);
    }
    let scale = walk.op("Mul", &scales)?;
    let sums = walk.cast(sums, walk.ty(scale).dtype)?;
    let product = walk.op("Mul", &[sums, scale])?;
    operands[6].map_or(Ok(product), |bias| walk.op("Add", &[product, bias]))
}

/// α·A′·B′ + C of quantised matrices, quantised if a scale for that is there.
fn gemm<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let alpha = given.float("alpha").unwrap_or(1.0);
    let turned = ["transA", "transB"].map(|name| given.int(name, 0) != 0);
    given.finish()?;
    let mut operands = tensors::<9>(walk, source)?;
    for (x, _) in [0, 3].into_iter().zip(turned).filter(|(_, turned)| *turned) {
        operands[x] = Some(walk.transposed(there(&operands, x)?, &[1, 0])?);
    }
    let mut sums = matmul(walk, &operands, [Side { x: 0, zero: 2 }, Side { x: 3, zero: 5 }])?;
    if let Some(bias) = operands[6] {
        sums = walk.op("Add", &[sums, bias])?;
    }
    let of = walk.ty(there(&operands, 3)?);
    let a_scale = single(walk, there(&operands, 1)?, 1)?;
    let b_scale = along_matrix(walk, there(&operands, 4)?, 4, &of, false)?;
    let alpha = walk.real(DType::F32, alpha.into())?;
    let scale = walk.op("Mul", &[a_scale, b_scale])?;
    let scale = walk.op("Mul", &[alpha, scale])?;
    let sums = walk.cast(sums, DType::F32)?;
    let real = walk.op("Mul", &[sums, scale])?;
    let y = match (operands[7], operands[8]) {
        (None, _) => real,
        (_, None) => quantized(walk, real, &operands, 7, DType::U8)?,
        (_, Some(zero)) => quantized(walk, real, &operands, 7, walk.ty(zero).dtype)?,
    };
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A times a matrix that is quantised in blocks, and a bias.
fn by_blocks<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (columns, rows, block) = (given.needed("N")?, given.needed("K")?, given.needed("block_size")?);
    let (bits, accuracy) = (given.int("bits", 4), given.int("accuracy_level", 0));
    // B in an order of the runtime's own.
    let is_packed = given.int("weight_prepacked", 0) != 0;
    given.finish()?;
    let operands = tensors::<6>(walk, source)?;
    if is_packed || operands[4].is_some() || !matches!(bits, 2 | 4 | 8) {
        return opaque::stand_in(
            walk,
            source,
            "this program does not have it with these attributes and operands",
        );
    }
    if [rows, columns, block].iter().any(|size| !(1..=MOST).contains(size)) {
        let why = format!("N, K and block_size must be from 1 to {MOST}");
        return Err(Error::invalid("attributes", why));
    }
    let blocks = Blocks { columns, rows, block, bits };
    let (a, scales) = (floats(walk, &operands, 0)?, floats(walk, &operands, 2)?);
    let matrix = blocks.matrix(walk, there(&operands, 1)?, scales, operands[3])?;
    let a = blocks.loosened(walk, a, accuracy)?;
    let product = walk.op("MatMul", &[a, matrix])?;
    let y = operands[5].map_or(Ok(product), |bias| walk.op("Add", &[product, bias]))?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The most rows or columns of a matrix that is quantised in blocks.
const MOST: i64 = i32::MAX as i64;

/// How a matrix is quantised: each column in blocks of rows, the last of which may end beyond the matrix.
#[derive(Clone, Copy)]
struct Blocks {
    columns: i64,
    rows: i64,
    /// The rows of a block.
    block: i64,
    bits: i64,
}

impl Blocks {
    /// The blocks of a column.
    fn count(self) -> i64 {
        (self.rows - 1) / self.block + 1
    }

    /// A, which may be computed with in fewer digits, as `accuracy_level` has it: by 2 and 3 in f16 and bf16, by 4 in 8 bits for
    /// each block, where each number is off by half of a 127th of the largest.
    fn loosened(self, walk: &mut Walk<'_, '_>, a: Value, accuracy: i64) -> Result<Value, Error> {
        let share = match accuracy {
            2 => 2.0_f64.powi(-11),
            3 => 2.0_f64.powi(-9),
            4 => 1.0 / 254.0,
            _ => return Ok(a),
        };
        let (ty, size) = (walk.ty(a), walk.op("Abs", &[a])?);
        let size = if accuracy == 4 { self.largest(walk, size)? } else { size };
        let share = walk.real(ty.dtype, share)?;
        let off = walk.op("Mul", &[size, share])?;
        let other = walk.op("Add", &[a, off])?;
        let near = walk.between(a, other)?;
        if accuracy != 4 {
            return Ok(near);
        }
        // Of a block with an infinity or NaN nobody can say what 8 bits make.
        let (nothing, infinity) = (walk.real(ty.dtype, 0.0)?, walk.real(ty.dtype, f64::INFINITY)?);
        let (is_finite, any) = (walk.op("Less", &[size, infinity])?, walk.either(a, nothing)?);
        walk.op("Where", &[is_finite, near, any])
    }

    /// For each number the largest of those in its block.
    fn largest(self, walk: &mut Walk<'_, '_>, sizes: Value) -> Result<Value, Error> {
        let Self { rows, block, .. } = self;
        let ty = walk.ty(sizes);
        let last = ty.rank() as i64 - 1;
        if last < 0 || ty.shape[last as usize] != rows {
            return Err(misshapen(0, &ty, &format!("of {rows} numbers each")));
        }
        let largest = Attributes::new().ints("axes", &[-1]).int("keepdims", 1);
        let mut blocks = Vec::with_capacity(self.count() as usize);
        for from in (0..rows).step_by(block as usize) {
            let part = walk.slice(sizes, last, from, rows.min(from + block))?;
            let most = walk.op_with("ReduceMax", &largest, &[part])?;
            let shape = Attributes::new().ints("shape", &walk.ty(part).shape);
            blocks.push(walk.op_with("Expand", &shape, &[most])?);
        }
        walk.joined(&blocks, last)
    }

    /// The matrix: what is packed less the zero points, which are the middle if there are none, times the scales, by block.
    fn matrix(
        self,
        walk: &mut Walk<'_, '_>,
        packed: Value,
        scales: Value,
        zeros: Option<Value>,
    ) -> Result<Value, Error> {
        let Self { columns, rows, block, bits } = self;
        let (count, dtype, ty) = (self.count(), walk.ty(scales).dtype, walk.ty(packed));
        let shape = [columns, count, block * bits / 8];
        let bytes: i128 = shape.iter().map(|&size| i128::from(size)).product();
        if ty.dtype != DType::U8 || i128::from(ty.count()) != bytes {
            return Err(misshapen(1, &ty, &format!("u8{shape:?}")));
        }
        let numbers = unpacked(walk, packed, bits, &[columns, count, block])?;
        let numbers = walk.cast(numbers, dtype)?;
        let zeros = match zeros {
            None => walk.real(dtype, f64::from(1 << (bits - 1)))?,
            Some(zeros) => self.zeros(walk, zeros, dtype)?,
        };
        let numbers = walk.op("Sub", &[numbers, zeros])?;
        let scales = walk.reshaped(scales, &[columns, count, 1])?;
        let numbers = walk.op("Mul", &[numbers, scales])?;
        let matrix = walk.reshaped(numbers, &[columns, count * block])?;
        let matrix = walk.slice(matrix, 1, 0, rows)?;
        walk.transposed(matrix, &[1, 0])
    }

    /// A zero point for each block: numbers of the dtype, or packed like the matrix, each column for itself.
    fn zeros(self, walk: &mut Walk<'_, '_>, zeros: Value, dtype: DType) -> Result<Value, Error> {
        let Self { columns, bits, .. } = self;
        let count = self.count();
        if walk.ty(zeros).dtype.is_float() {
            return walk.reshaped(zeros, &[columns, count, 1]);
        }
        let held = (count * bits + 7) / 8 * 8 / bits;
        let zeros = unpacked(walk, zeros, bits, &[columns, held])?;
        let zeros = walk.slice(zeros, 1, 0, count)?;
        let zeros = walk.unsqueezed(zeros, &[2])?;
        walk.cast(zeros, dtype)
    }
}

/// The numbers that bytes hold, several in each and the first in its lowest bits.
pub(super) fn unpacked(
    walk: &mut Walk<'_, '_>,
    bytes: Value,
    bits: i64,
    shape: &[i64],
) -> Result<Value, Error> {
    if bits == 8 {
        return walk.reshaped(bytes, shape);
    }
    let mask = walk.integers(DType::U8, &[], |_| (1 << bits) - 1)?;
    let mut parts = Vec::with_capacity((8 / bits) as usize);
    for from in (0..8).step_by(bits as usize) {
        let by = walk.integers(DType::U8, &[], |_| from)?;
        let shifted =
            walk.op_with("BitShift", &Attributes::new().name("direction", "RIGHT"), &[bytes, by])?;
        parts.push(walk.op("BitwiseAnd", &[shifted, mask])?);
    }
    let rank = walk.ty(bytes).rank() as i64;
    let all = stack(walk, &parts, rank, &[])?;
    walk.reshaped(all, shape)
}
