//! 8-bit floats and dtypes of 4 and 2 bits: how a number becomes one of them, and how they lie in bytes.

use ir::format::{Extent, FloatFormat};
use ir::round::{Overflow, RoundMode, round_to};
use ir::{DType, DTypes, Tensor};
use ops::Op;
use ops::elementwise::{Cast, Rounding};

use crate::PlantedFault;
use crate::node::{Node, Outputs, each};

/// What has no infinities and no negative zero.
const UNSIGNED_ZERO: &[DType] = &[DType::F8E4M3FNUZ, DType::F8E5M2FNUZ];

/// What two elements of share a byte.
const HALVES: &[DType] = &[DType::I4, DType::U4, DType::F4E2M1];

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "cast-to-8-bit-floats-by-f16",
        operator: "Cast",
        does: "rounds f32 to f16 on the way to 8-bit floats, as OpenVINO does",
        source: None,
        kernel: |n| {
            narrow_float(n)?;
            n.with(0, &each(n.of(&[DType::F32])?, |v| round_to(DType::F16, v)))
        },
    },
    PlantedFault {
        name: "cast-to-8-bit-floats-ignores-saturate",
        operator: "Cast",
        does: "gives NaN or an infinity for what is too large, whatever `saturate` says, as OpenVINO does",
        source: None,
        kernel: |n| rounding(n, |rounding| Rounding { overflow: Overflow::Escape, ..rounding }),
    },
    PlantedFault {
        name: "cast-to-f8e8m0-ignores-round-mode",
        operator: "Cast",
        does: "rounds to the nearest power of two, whatever `round_mode` says, as OpenVINO does",
        source: None,
        kernel: |n| {
            narrow_float(n).filter(|format| format.extent == Extent::PositiveNormals)?;
            rounding(n, |rounding| Rounding { round_mode: RoundMode::Nearest, ..rounding })
        },
    },
    PlantedFault {
        name: "cast-to-few-bits-rounds-halves-away",
        operator: "Cast",
        does: "rounds floats to integers of 4 and 2 bits, halves away from zero",
        source: Some("openvinotoolkit/openvino#38158"),
        kernel: |n| {
            n.outputs.first().filter(|y| y.dtype.is_int() && y.dtype.bits() < 8)?;
            n.with(0, &each(n.input(0).filter(|x| x.dtype().is_float())?, f64::round))
        },
    },
    PlantedFault {
        name: "cast-of-i4-without-its-sign",
        operator: "Cast",
        does: "reads integers of 4 bits as if they had no sign",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::I4])?.to_i128s();
            let y = n.outputs.first().filter(|y| y.dtype.bits() > 4 && y.dtype != DType::Bool)?;
            Some(vec![Tensor::from_i128_fn(y, |i| x[i] & 15)])
        },
    },
    PlantedFault {
        name: "cast-of-two-in-a-byte-exchanges-them",
        operator: "Cast",
        does: "reads the high half of a byte first",
        source: None,
        kernel: |n| n.with(0, &exchanged(n.of(HALVES)?)),
    },
    PlantedFault {
        name: "cast-like-ignores-round-mode",
        operator: "CastLike",
        does: "becomes a Cast without `round_mode`, as ONNX's function body does",
        source: None,
        kernel: |n| match n.op {
            Op::CastLike(op) if narrow_float(n)?.extent == Extent::PositiveNormals => {
                let rounding = Rounding { round_mode: Rounding::DEFAULT.round_mode, ..op.rounding };
                n.instead(ops::elementwise::CastLike { rounding })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "quantize-to-8-bit-floats-saturates-always",
        operator: "QuantizeLinear",
        does: "gives the largest number for what is too large, whatever `saturate` says, as OpenVINO does",
        source: None,
        kernel: |n| match n.op {
            Op::QuantizeLinear(op) if narrow_float(n).is_some() => {
                let rounding = Rounding { overflow: Overflow::Saturate, ..op.rounding };
                n.instead(ops::quantized::QuantizeLinear { rounding, ..*op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "dequantize-of-two-in-a-byte-exchanges-them",
        operator: "DequantizeLinear",
        does: "reads the high half of a byte first",
        source: None,
        kernel: |n| n.with(0, &exchanged(n.of(HALVES)?)),
    },
    PlantedFault {
        name: "dequantize-of-fnuz-with-the-other-bias",
        operator: "DequantizeLinear",
        does: "reads 8-bit floats without a negative zero as those that have one, which are twice as large",
        source: None,
        kernel: |n| {
            n.of(UNSIGNED_ZERO)?;
            n.edited(|_, y| y * 2.0)
        },
    },
    PlantedFault {
        name: "transpose-of-two-in-a-byte-exchanges-them",
        operator: "Transpose",
        does: "writes the high half of a byte first",
        source: None,
        kernel: |n| {
            n.of(HALVES)?;
            Some(n.right()?.iter().map(exchanged).collect())
        },
    },
    PlantedFault {
        name: "is-nan-of-fnuz-looks-for-all-ones",
        operator: "IsNaN",
        does: "finds no NaN in 8-bit floats whose one NaN is the negative zero's bits",
        source: None,
        kernel: |n| {
            n.of(UNSIGNED_ZERO)?;
            Some(vec![Tensor::zeros(n.outputs.first()?)])
        },
    },
];

/// The format of a result that is a float of 8 bits or less.
fn narrow_float(n: &Node<'_>) -> Option<FloatFormat> {
    let dtype = n.outputs.first()?.dtype;
    dtype.float().filter(|_| DTypes::NARROW.contains(dtype))
}

/// A cast to a narrow float that rounds in another way.
fn rounding(n: &Node<'_>, other: impl Fn(Rounding) -> Rounding) -> Outputs {
    match n.op {
        Op::Cast(op) if narrow_float(n).is_some() => n.instead(Cast { rounding: other(op.rounding), ..*op }),
        _ => None,
    }
}

/// The elements with those of each byte exchanged.
fn exchanged(x: &Tensor) -> Tensor {
    let values = x.to_f64s();
    Tensor::from_f64_fn(&x.ty(), |i| values.get(i ^ 1).copied().unwrap_or(values[i]))
}
