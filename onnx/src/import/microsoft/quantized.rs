//! Operators on quantised tensors: operands are dequantised, an operator of ONNX computes on floats, and its result is quantised.

use ir::{Attributes, DType, Value};

use super::super::frame::Bound;
use super::super::given::GivenAttributes;
use super::super::integral::single;
use super::super::terms::{misshapen, there};
use super::super::translation::{SourceNode, Translation, bind, tensor};
use super::super::walk::Walk;
use super::{shared, tensors};
use crate::Error;

pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "QLinearAdd" => Some(|walk, source| binary(walk, source, "Add")),
        "QLinearAveragePool" => Some(average_pool),
        "QLinearConcat" => Some(concat),
        "QLinearGlobalAveragePool" => Some(global_average_pool),
        "QLinearLeakyRelu" => Some(|walk, source| unary(walk, source, "LeakyRelu", &["alpha"])),
        "QLinearMul" => Some(|walk, source| binary(walk, source, "Mul")),
        "QLinearReduceMean" => Some(|walk, source| unary(walk, source, "ReduceMean", &["axes", "keepdims"])),
        "QLinearSigmoid" => Some(|walk, source| unary(walk, source, "Sigmoid", &[])),
        "QLinearSoftmax" => Some(softmax),
        "QLinearWhere" => Some(choice),
        _ => None,
    }
}

/// A + B or A · B.
fn binary<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>, name: &str) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let operands = tensors::<8>(walk, source)?;
    let (a, b) = (dequantized(walk, &operands, 0)?, dequantized(walk, &operands, 3)?);
    let real = walk.op(name, &[a, b])?;
    let y = quantized(walk, real, &operands, 6, dtype_of(walk, &operands, 0)?)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// A function of one tensor, with the attributes that it has.
fn unary<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    name: &str,
    own: &[&str],
) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let shared = shared(walk, source, &given, own)?;
    given.finish()?;
    around(walk, source, |walk, x| walk.op_with(name, &shared, &[x]))
}

/// What is made of a dequantised tensor, quantised.
fn around<'p>(
    walk: &mut Walk<'p, '_>,
    source: &SourceNode<'p, '_>,
    f: impl FnOnce(&mut Walk<'p, '_>, Value) -> Result<Value, Error>,
) -> Result<(), Error> {
    let operands = tensors::<5>(walk, source)?;
    let x = dequantized(walk, &operands, 0)?;
    let real = f(walk, x)?;
    let y = quantized(walk, real, &operands, 3, dtype_of(walk, &operands, 0)?)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// The mean of windows, or of the channels that come last.
fn average_pool<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    const OWN: [&str; 6] = ["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"];
    let given = GivenAttributes::of(source);
    let shared = shared(walk, source, &given, &OWN)?;
    let layout = Layout::of(&given)?;
    around(walk, source, |walk, x| layout.applied(walk, x, "AveragePool", &shared))
}

/// The mean of each channel.
fn global_average_pool<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let layout = Layout::of(&GivenAttributes::of(source))?;
    around(walk, source, |walk, x| layout.applied(walk, x, "GlobalAveragePool", &Attributes::new()))
}

/// Where the channels of an image are.
#[derive(Clone, Copy)]
enum Layout {
    ChannelsFirst,
    ChannelsLast,
}

impl Layout {
    /// The layout that a node says. No other attribute may be left.
    fn of(given: &GivenAttributes<'_>) -> Result<Self, Error> {
        let is_last = given.int("channels_last", 0) != 0;
        given.finish()?;
        Ok(if is_last { Self::ChannelsLast } else { Self::ChannelsFirst })
    }

    /// What an operator that has the channels first makes of an image.
    fn applied(
        self,
        walk: &mut Walk<'_, '_>,
        x: Value,
        name: &str,
        attributes: &Attributes,
    ) -> Result<Value, Error> {
        let rank = walk.ty(x).rank() as i64;
        match self {
            Self::ChannelsLast if rank > 2 => {
                let first: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
                let last: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
                let x = walk.transposed(x, &first)?;
                let y = walk.op_with(name, attributes, &[x])?;
                walk.transposed(y, &last)
            }
            _ => walk.op_with(name, attributes, &[x]),
        }
    }
}

/// Softmax along an axis; as opsets before 13 have it, of all axes from there on together.
fn softmax<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (axis, opset) = (given.int("axis", -1), given.int("opset", 13));
    given.finish()?;
    around(walk, source, |walk, x| {
        let shape = walk.ty(x).shape;
        let rank = shape.len() as i64;
        let from = if axis < 0 { axis + rank } else { axis };
        if opset >= 13 || from == rank - 1 {
            return walk.op_with("Softmax", &Attributes::new().int("axis", axis), &[x]);
        }
        let rows = shape.get(..usize::try_from(from).unwrap_or(usize::MAX));
        let rows =
            rows.ok_or_else(|| Error::invalid("attribute `axis`", format!("there are {rank} axes")))?;
        let rows: i64 = rows.iter().product();
        let columns: i64 = shape[from as usize..].iter().product();
        let matrix = walk.reshaped(x, &[rows, columns])?;
        let y = walk.op_with("Softmax", &Attributes::new().int("axis", 1), &[matrix])?;
        walk.reshaped(y, &shape)
    })
}

/// Tensors one behind the other, each with a scale and a zero point of its own, under those of the result.
fn concat<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let axis = given.needed("axis")?;
    given.finish()?;
    let count = source.node.inputs.len();
    if count < 5 || !(count - 2).is_multiple_of(3) {
        let why = format!("there are {count}, but must be a scale, a zero point, and three for each tensor");
        return Err(Error::invalid("operands", why));
    }
    let operands = (0..count).map(|i| tensor(walk, source.node, i).map(Some));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let parts = (2..count).step_by(3).map(|i| dequantized(walk, &operands, i));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let real = walk.joined(&parts, axis)?;
    let y = quantized(walk, real, &operands, 0, dtype_of(walk, &operands, 1)?)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// X where a condition holds, and Y elsewhere.
fn choice<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    GivenAttributes::of(source).finish()?;
    let operands = tensors::<9>(walk, source)?;
    let condition = there(&operands, 0)?;
    let (x, y) = (dequantized(walk, &operands, 1)?, dequantized(walk, &operands, 4)?);
    let real = walk.op("Where", &[condition, x, y])?;
    let z = quantized(walk, real, &operands, 7, dtype_of(walk, &operands, 1)?)?;
    bind(walk, source.node, vec![Bound::Tensor(z)])
}

/// The dtype of a quantised operand.
fn dtype_of(walk: &Walk<'_, '_>, operands: &[Option<Value>], i: usize) -> Result<DType, Error> {
    let ty = walk.ty(there(operands, i)?);
    match ty.dtype {
        DType::U8 | DType::I8 => Ok(ty.dtype),
        _ => Err(misshapen(i, &ty, "of u8 or i8")),
    }
}

/// The numbers of the tensor at a position, by the scale and the zero point behind it.
fn dequantized(walk: &mut Walk<'_, '_>, operands: &[Option<Value>], i: usize) -> Result<Value, Error> {
    dtype_of(walk, operands, i)?;
    let mut all = vec![there(operands, i)?, single(walk, there(operands, i + 1)?, i + 1)?];
    if let Some(zero) = operands[i + 2] {
        all.push(single(walk, zero, i + 2)?);
    }
    walk.op("DequantizeLinear", &all)
}

/// Numbers as integers, by the scale at a position and the zero point behind it, which is 0 where it is left out.
pub(super) fn quantized(
    walk: &mut Walk<'_, '_>,
    real: Value,
    operands: &[Option<Value>],
    i: usize,
    dtype: DType,
) -> Result<Value, Error> {
    let scale = single(walk, there(operands, i)?, i)?;
    let zero = match operands[i + 1] {
        Some(zero) => single(walk, zero, i + 1)?,
        None => walk.integers(dtype, &[], |_| 0)?,
    };
    walk.op("QuantizeLinear", &[real, scale, zero])
}
