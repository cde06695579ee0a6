//! Functions of two or more elements.

use ir::DType;
use ir::round::round_to;
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, BitShift, Direction, Mod};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, as_signed};

/// The integers that an f32 does not hold.
const WIDE: &[DType] = &[DType::I32, DType::I64, DType::U32, DType::U64];

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "add-repeats-the-first-row",
        operator: "Add",
        does: "does not advance the second operand from row to row",
        source: None,
        kernel: |n| n.with(1, &along(n.input(1)?, 0, |_, _| Some(0))?),
    },
    PlantedFault {
        name: "add-of-i64-through-f64",
        operator: "Add",
        does: "adds 64-bit integers as f64",
        source: None,
        kernel: |n| n.through(DType::F64, &[DType::I64, DType::U64]),
    },
    PlantedFault {
        name: "sub-exchanges-what-broadcasts",
        operator: "Sub",
        does: "moves the operand that broadcasts to the right-hand side",
        source: None,
        kernel: |n| {
            let (x, y) = (n.input(0)?.shape(), n.input(1)?.shape());
            if x.iter().product::<usize>() < y.iter().product() { n.exchanging(0, 1) } else { None }
        },
    },
    PlantedFault {
        name: "mul-of-integers-through-f32",
        operator: "Mul",
        does: "multiplies integers as f32",
        source: None,
        kernel: |n| n.through(DType::F32, WIDE),
    },
    PlantedFault {
        name: "mul-flushes-denormals",
        operator: "Mul",
        does: "turns denormal products into 0",
        source: None,
        kernel: |n| {
            let least = n.dtype()?.float()?.min_normal();
            n.edited(|_, y| if y.abs() < least { 0f64.copysign(y) } else { y })
        },
    },
    PlantedFault {
        name: "div-of-integers-floors",
        operator: "Div",
        does: "rounds integer quotients down instead of towards zero",
        source: Some("microsoft/onnxruntime#26997"),
        kernel: |n| {
            n.zip_integers(|x, y| {
                let quotient = x.checked_div(y).unwrap_or(0);
                let is_above = quotient * y != x && (x < 0) != (y < 0);
                quotient - i128::from(is_above)
            })
        },
    },
    PlantedFault {
        name: "div-by-a-short-reciprocal",
        operator: "Div",
        does: "multiplies f64 by a reciprocal in f32",
        source: None,
        kernel: |n| match n.dtype()? {
            DType::F64 => n.zip(|x, y| x * round_to(DType::F32, 1.0 / y)),
            _ => None,
        },
    },
    PlantedFault {
        name: "mod-has-the-sign-of-the-dividend",
        operator: "Mod",
        does: "takes C's remainder also where fmod is 0",
        source: Some("openvinotoolkit/openvino#5173"),
        kernel: |n| n.instead(Mod { fmod: true }),
    },
    PlantedFault {
        name: "fmod-has-the-sign-of-the-divisor",
        operator: "Mod",
        does: "ignores fmod",
        source: Some("apache/tvm#20170"),
        kernel: |n| n.instead(Mod { fmod: false }),
    },
    PlantedFault {
        name: "pow-by-a-short-logarithm",
        operator: "Pow",
        does: "is e^(y·ln x) with ln x in f16",
        source: None,
        kernel: |n| n.zip(|x, y| if x > 0.0 { (y * round_to(DType::F16, x.ln())).exp() } else { x.powf(y) }),
    },
    PlantedFault {
        name: "pow-of-integers-through-f32",
        operator: "Pow",
        does: "raises integers as f32",
        source: Some("tinygrad/tinygrad#13605"),
        kernel: |n| {
            n.input(1).filter(|y| y.dtype().is_int())?;
            n.through(DType::F32, WIDE)
        },
    },
    PlantedFault {
        name: "bit-shift-always-left",
        operator: "BitShift",
        does: "ignores the direction and shifts left",
        source: None,
        kernel: |n| n.instead(BitShift { direction: Direction::Left }),
    },
    PlantedFault {
        name: "bit-shift-keeps-the-sign",
        operator: "BitShift",
        does: "shifts right as if numbers were signed",
        source: Some("flagos-ai/FlagTree#1121"),
        kernel: |n| {
            let Op::BitShift(BitShift { direction: Direction::Right }) = n.op else { return None };
            let bits = n.dtype()?.bits();
            n.zip_integers(|x, by| {
                let unused = 128 - bits;
                let extended = (x << unused) >> unused;
                extended >> by.clamp(0, 127)
            })
        },
    },
    PlantedFault {
        name: "bitwise-xor-is-or",
        operator: "BitwiseXor",
        does: "sets bits that both operands have",
        source: None,
        kernel: |n| n.instead(Binary(BinaryFn::BitwiseOr)),
    },
    PlantedFault {
        name: "xor-is-or",
        operator: "Xor",
        does: "holds where both operands do",
        source: None,
        kernel: |n| n.instead(Binary(BinaryFn::Or)),
    },
    PlantedFault {
        name: "prelu-takes-the-first-slope",
        operator: "PRelu",
        does: "takes the first slope for all elements",
        source: None,
        kernel: |n| {
            let mut slope = n.input(1)?.clone();
            for axis in 0..slope.shape().len() {
                slope = along(&slope, axis, |_, _| Some(0))?;
            }
            n.with(1, &slope)
        },
    },
    PlantedFault {
        name: "max-swallows-nan",
        operator: "Max",
        does: "prefers numbers to NaN",
        source: None,
        kernel: max_of_numbers,
    },
    PlantedFault {
        name: "min-of-unsigned-as-signed",
        operator: "Min",
        does: "compares unsigned integers as signed ones",
        source: None,
        kernel: as_signed,
    },
    PlantedFault {
        name: "sum-drops-the-last-operand",
        operator: "Sum",
        does: "adds two operands, however many there are",
        source: None,
        kernel: |n| if n.inputs.len() > 2 { n.on(&n.inputs[..2]) } else { None },
    },
    PlantedFault {
        name: "mean-halves",
        operator: "Mean",
        does: "divides by 2, however many operands there are",
        source: None,
        kernel: |n| {
            let count = n.inputs.len() as f64;
            n.edited(|_, y| y * count / 2.0)
        },
    },
];

fn max_of_numbers(n: &Node<'_>) -> Outputs {
    let operands: Vec<Vec<f64>> =
        (0..n.inputs.len()).map(|i| Some(n.spread(i)?.to_f64s())).collect::<Option<_>>()?;
    n.edited(|i, y| if y.is_nan() { operands.iter().map(|x| x[i]).fold(y, f64::max) } else { y })
}
