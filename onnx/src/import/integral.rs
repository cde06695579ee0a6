//! MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv, written out: products of integers, which are exact, and
//! one rounding.
//!
//! ONNX: [MatMulInteger](https://onnx.ai/onnx/operators/onnx__MatMulInteger.html),
//! [ConvInteger](https://onnx.ai/onnx/operators/onnx__ConvInteger.html),
//! [QLinearMatMul](https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html),
//! [QLinearConv](https://onnx.ai/onnx/operators/onnx__QLinearConv.html). Conv has floats only, so it is one of f64,
//! which holds every sum that 32 bits hold; what its bound leaves open is rounded away. A sum that 32 bits do not hold
//! may be anything.

use ir::{Attributes, DType, Type, Value};

use super::attribute;
use super::frame::Bound;
use super::terms::{misshapen, operands, there};
use super::translation::{SourceNode, Translation, bind};
use super::walk::Walk;
use crate::Error;

/// The function that writes out an operator of this name, if it computes with integers.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "ConvInteger" => Some(conv_integer),
        "MatMulInteger" => Some(matmul_integer),
        "QLinearConv" => Some(quantized_conv),
        "QLinearMatMul" => Some(quantized_matmul),
        _ => None,
    }
}

/// An operand with its zero point, by their positions.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) x: usize,
    pub(super) zero: usize,
}

const INTEGERS: [Side; 2] = [Side { x: 0, zero: 2 }, Side { x: 1, zero: 3 }];
const QUANTIZED: [Side; 2] = [Side { x: 0, zero: 2 }, Side { x: 3, zero: 5 }];

fn matmul_integer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<4>(walk, source)?;
    let y = matmul(walk, &operands, INTEGERS)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn conv_integer<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<4>(walk, source)?;
    let y = conv(walk, source, &operands, INTEGERS, None)?;
    let y = walk.cast(y, DType::I32)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn quantized_matmul<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<8>(walk, source)?;
    let y = matmul(walk, &operands, QUANTIZED)?;
    let mut scales = Vec::with_capacity(2);
    for (i, side) in QUANTIZED.iter().enumerate() {
        let ty = walk.ty(there(&operands, side.x)?);
        scales.push(along_matrix(walk, there(&operands, side.x + 1)?, side.x + 1, &ty, i == 0)?);
    }
    let y = quantized(walk, y, &scales, &operands)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

fn quantized_conv<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let operands = operands::<9>(walk, source)?;
    let y = conv(walk, source, &operands, QUANTIZED, operands[8])?;
    let (x_scale, w_scale, ty) = (there(&operands, 1)?, there(&operands, 4)?, walk.ty(y));
    let x_scale = single(walk, x_scale, 1)?;
    let channels =
        Type::new(ty.dtype, [ty.shape[1]].into_iter().chain(vec![1; ty.rank() - 2]).collect::<Vec<_>>());
    let w_scale = along_channels(walk, w_scale, 4, &channels)?;
    let y = walk.cast(y, DType::I32)?;
    let y = quantized(walk, y, &[x_scale, w_scale], &operands)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Sums of products times the scales of both operands, as what the result's scale and zero point make of it.
fn quantized(
    walk: &mut Walk<'_, '_>,
    sums: Value,
    scales: &[Value],
    operands: &[Option<Value>],
) -> Result<Value, Error> {
    let mut scale = walk.cast(scales[0], DType::F32)?;
    for &other in &scales[1..] {
        let other = walk.cast(other, DType::F32)?;
        scale = walk.op("Mul", &[scale, other])?;
    }
    let sums = walk.cast(sums, DType::F32)?;
    let real = walk.op("Mul", &[sums, scale])?;
    let (y_scale, y_zero) = (single(walk, there(operands, 6)?, 6)?, single(walk, there(operands, 7)?, 7)?);
    let y_scale = walk.cast(y_scale, DType::F32)?;
    walk.op("QuantizeLinear", &[real, y_scale, y_zero])
}

/// The product of two matrices of integers, in i32.
pub(super) fn matmul(
    walk: &mut Walk<'_, '_>,
    operands: &[Option<Value>],
    sides: [Side; 2],
) -> Result<Value, Error> {
    let mut factors = Vec::with_capacity(2);
    for (i, side) in sides.into_iter().enumerate() {
        let x = there(operands, side.x)?;
        let ty = walk.ty(x);
        integers(side.x, &ty)?;
        let zero = match operands[side.zero] {
            Some(zero) => Some(along_matrix(walk, zero, side.zero, &ty, i == 0)?),
            None => None,
        };
        factors.push(centred(walk, x, zero, DType::I32)?);
    }
    walk.op("MatMul", &factors)
}

/// The convolution of integers, and what is added to it, in f64.
fn conv(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    operands: &[Option<Value>],
    [x, w]: [Side; 2],
    bias: Option<Value>,
) -> Result<Value, Error> {
    let (image, kernel) = (there(operands, x.x)?, there(operands, w.x)?);
    let zero = operands[x.zero].map(|zero| single(walk, zero, x.zero)).transpose()?;
    let kernel_ty = walk.ty(kernel);
    let zeros = operands[w.zero].map(|zero| along_channels(walk, zero, w.zero, &kernel_ty)).transpose()?;
    let mut factors =
        vec![centred(walk, image, zero, DType::F64)?, centred(walk, kernel, zeros, DType::F64)?];
    if let Some(bias) = bias {
        factors.push(walk.cast(bias, DType::F64)?);
    }
    let mut attributes = Attributes::new();
    for proto in source.attributes {
        if let Some(value) = attribute::read(proto, walk.context.options.external)? {
            attributes.set(proto.name(), value);
        }
    }
    let sums = walk.op_with("Conv", &attributes, &factors)?;
    walk.op("Round", &[sums])
}

/// Integers less their zero point.
fn centred(walk: &mut Walk<'_, '_>, x: Value, zero: Option<Value>, dtype: DType) -> Result<Value, Error> {
    let x = walk.cast(x, dtype)?;
    let Some(zero) = zero else { return Ok(x) };
    let zero = walk.cast(zero, dtype)?;
    walk.op("Sub", &[x, zero])
}

fn integers(i: usize, ty: &Type) -> Result<(), Error> {
    if ty.dtype.is_float() {
        return Err(Error::unsupported(
            format!("operand {i}"),
            format!("it is {ty}; how its sums are rounded is not said"),
        ));
    }
    Ok(())
}

/// A scale or zero point of a whole tensor.
pub(super) fn single(walk: &mut Walk<'_, '_>, x: Value, i: usize) -> Result<Value, Error> {
    let ty = walk.ty(x);
    match ty.shape[..] {
        [] => Ok(x),
        [1] => walk.reshaped(x, &[]),
        _ => Err(Error::unsupported(
            format!("operand {i}"),
            format!("it is {ty}, and is read where it is one number"),
        )),
    }
}

/// A scale or zero point of a matrix, or of each of its rows or columns.
pub(super) fn along_matrix(
    walk: &mut Walk<'_, '_>,
    x: Value,
    i: usize,
    of: &Type,
    rows: bool,
) -> Result<Value, Error> {
    let ty = walk.ty(x);
    let rank = of.rank();
    let at = if rows { rank.wrapping_sub(2) } else { rank.wrapping_sub(1) };
    let size = of.shape.get(at).copied();
    match ty.shape[..] {
        [] => Ok(x),
        [1] => walk.reshaped(x, &[]),
        [count] if rank == 2 && Some(count) == size => {
            if rows {
                walk.reshaped(x, &[count, 1])
            } else {
                Ok(x)
            }
        }
        _ if ty.rank() == rank
            && (0..rank).all(|axis| match ty.shape[axis] {
                1 => true,
                size => size == of.shape[axis] && (axis == at || axis + 2 < rank),
            }) =>
        {
            Ok(x)
        }
        _ => Err(misshapen(
            i,
            &ty,
            &format!("one number, or one for each of the {} of {of}", if rows { "rows" } else { "columns" }),
        )),
    }
}

/// A scale or zero point of a kernel, or of each of its channels, which are its first axis.
fn along_channels(walk: &mut Walk<'_, '_>, x: Value, i: usize, of: &Type) -> Result<Value, Error> {
    let ty = walk.ty(x);
    match (&ty.shape[..], &of.shape[..]) {
        ([], _) => Ok(x),
        ([1], _) => walk.reshaped(x, &[]),
        (&[count], &[channels, ..]) if count == channels => {
            let shape: Vec<i64> = std::iter::once(count).chain(vec![1; of.rank() - 1]).collect();
            walk.reshaped(x, &shape)
        }
        _ => Err(misshapen(i, &ty, &format!("one number, or one for each channel of {of}"))),
    }
}
