//! Functions of two or more elements.

use ir::round::round_to;
use ir::{DType, Tensor};
use ops::Op;
use ops::elementwise::{Binary, BinaryFn, BitShift, Direction, Mod};

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, as_signed, picked};

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
    PlantedFault {
        name: "add-aligns-at-the-first-axis",
        operator: "Add",
        does: "lines the second operand up with the first axes, not with the last, where it has fewer elements",
        source: None,
        kernel: |n| {
            let (y, all) = (n.input(1)?, n.more_than(0)?);
            let stretch = all.checked_div(y.len()).filter(|&s| s > 1)?;
            let spread = n.spread(1)?;
            n.with(1, &picked(y, &spread.ty(), |i| Some(i / stretch))?)
        },
    },
    PlantedFault {
        name: "mul-broadcasts-by-remainder",
        operator: "Mul",
        does: "reads the second operand from its beginning whenever it ends, whichever axes broadcast",
        source: None,
        kernel: |n| {
            let y = n.input(1).filter(|y| !y.is_empty())?;
            let spread = n.spread(1)?;
            n.with(1, &picked(y, &spread.ty(), |i| Some(i % y.len()))?)
        },
    },
    PlantedFault {
        name: "div-of-integers-by-a-reciprocal",
        operator: "Div",
        does: "truncates x·(1/y) in f32, which may lie below a whole quotient",
        source: None,
        kernel: |n| {
            let short = |v: f64| round_to(DType::F32, v);
            n.zip_integers(|x, y| short(x as f64 * (short(1.0 / y as f64).next_down())) as i128)
        },
    },
    PlantedFault {
        name: "div-of-the-minimum",
        operator: "Div",
        does: "gives −1 where the least signed integer is divided, because its magnitude is negative again",
        source: Some("tenstorrent/tt-metal#51476"),
        kernel: |n| {
            let (least, _) = n.dtype().filter(|d| d.is_signed() && d.is_int())?.int_range()?;
            n.zip_integers(|x, y| if x == least { -1 } else { x.checked_div(y).unwrap_or(0) })
        },
    },
    PlantedFault {
        name: "pow-of-integers-truncates",
        operator: "Pow",
        does: "truncates e^(y·ln x) in f32, so that 3¹ is 2",
        source: Some("microsoft/onnxruntime#19298"),
        kernel: |n| {
            n.input(1).filter(|y| y.dtype().is_int())?;
            let just_below = |v: f64| v * (1.0 - f64::from(f32::EPSILON));
            n.zip_integers(|x, y| just_below((x as f64).powf(y as f64)) as i128)
        },
    },
    PlantedFault {
        name: "pow-of-negatives-is-nan",
        operator: "Pow",
        does: "is e^(y·ln x), which is NaN where x is negative",
        source: Some("huggingface/candle#2439"),
        kernel: |n| n.zip(|x, y| if x < 0.0 { f64::NAN } else { x.powf(y) }),
    },
    PlantedFault {
        name: "bit-shift-by-one-less",
        operator: "BitShift",
        does: "moves bits by one place less where they move by more than one",
        source: None,
        kernel: |n| {
            let by = n.input(1)?;
            let places = by.to_i128s();
            n.with(
                1,
                &Tensor::from_i128_fn(&by.ty(), |i| if places[i] > 1 { places[i] - 1 } else { places[i] }),
            )
        },
    },
    PlantedFault {
        name: "prelu-takes-slopes-by-channel",
        operator: "PRelu",
        does: "takes a slope of one axis for one per channel, not for one per element of the last axis",
        source: Some("openvinotoolkit/openvino#35958"),
        kernel: |n| {
            let (x, slope) = (n.input(0)?, n.input(1).filter(|s| s.shape().len() == 1 && !s.is_empty())?);
            let inner: usize = x.shape().get(2..)?.iter().product();
            let channels = x.shape()[1];
            n.with(1, &picked(slope, &x.ty(), |i| Some(i / inner % channels % slope.len()))?)
        },
    },
    PlantedFault {
        name: "sum-takes-the-first-shape",
        operator: "Sum",
        does: "takes the first element of each operand that has to broadcast",
        source: None,
        kernel: |n| {
            let shape = n.outputs.first()?.extents();
            let first_only = |x: &Tensor| {
                if x.shape() == shape { Some(x.clone()) } else { picked(x, &x.ty(), |_| Some(0)) }
            };
            let operands: Vec<Tensor> = n.inputs.iter().map(|x| first_only((*x)?)).collect::<Option<_>>()?;
            n.on(&operands.iter().map(Some).collect::<Vec<_>>())
        },
    },
    PlantedFault {
        name: "mean-of-means",
        operator: "Mean",
        does: "takes the mean of what it has and the next operand, again and again",
        source: None,
        kernel: |n| {
            let dtype = n.dtype()?;
            let operands: Vec<Vec<f64>> =
                (0..n.inputs.len()).map(|i| Some(n.spread(i)?.to_f64s())).collect::<Option<_>>()?;
            let running = |i: usize| {
                operands.iter().map(|x| x[i]).reduce(|mean, x| round_to(dtype, f64::midpoint(mean, x)))
            };
            n.edited(|i, y| running(i).unwrap_or(y))
        },
    },
];

fn max_of_numbers(n: &Node<'_>) -> Outputs {
    let operands: Vec<Vec<f64>> =
        (0..n.inputs.len()).map(|i| Some(n.spread(i)?.to_f64s())).collect::<Option<_>>()?;
    n.edited(|i, y| if y.is_nan() { operands.iter().map(|x| x[i]).fold(y, f64::max) } else { y })
}
