//! Mistakes in one dtype alone: the wrong width, the wrong sign, the wrong interpretation of bits.

use ir::{DType, Tensor};
use ops::Op;

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, as_signed, column_major, each, keep_bits, picked, reshaped};

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "abs-of-i8-clears-the-sign-bit",
        operator: "Abs",
        does: "clears the highest bit of bytes, as is right for floats",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::I8])?.to_i128s();
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |i| x[i] & 0x7f)])
        },
    },
    PlantedFault {
        name: "neg-of-i16-is-the-complement",
        operator: "Neg",
        does: "inverts the bits of 16-bit integers and adds nothing",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::I16])?.to_i128s();
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, |i| !x[i])])
        },
    },
    PlantedFault {
        name: "sub-of-f16-through-bf16",
        operator: "Sub",
        does: "subtracts halves as bf16",
        source: None,
        kernel: |n| n.through(DType::BF16, &[DType::F16]),
    },
    PlantedFault {
        name: "add-of-bf16-in-f8",
        operator: "Add",
        does: "keeps four significant bits of operands in bf16",
        source: None,
        kernel: |n| n.with_bits(4, DType::BF16),
    },
    PlantedFault {
        name: "mul-of-f64-in-f32",
        operator: "Mul",
        does: "rounds operands of 64 bits to 32",
        source: None,
        kernel: |n| n.through(DType::F32, &[DType::F64]),
    },
    PlantedFault {
        name: "min-of-signed-as-unsigned",
        operator: "Min",
        does: "compares signed bytes as unsigned ones, so that negative ones are large",
        source: None,
        kernel: |n| {
            n.of(&[DType::I8])?;
            let operands: Vec<Vec<i128>> =
                (0..n.inputs.len()).map(|i| Some(n.spread(i)?.to_i128s())).collect::<Option<_>>()?;
            let least = |i: usize| operands.iter().map(|x| x[i]).min_by_key(|v| v & 0xff).unwrap_or(0);
            Some(vec![Tensor::from_i128_fn(n.outputs.first()?, least)])
        },
    },
    PlantedFault {
        name: "sign-of-unsigned-as-signed",
        operator: "Sign",
        does: "takes large unsigned integers for negative ones",
        source: None,
        kernel: as_signed,
    },
    PlantedFault {
        name: "ceil-of-f16-through-the-integer-part",
        operator: "Ceil",
        does: "is the integer part of halves, and one more unless they are whole, also below 0",
        source: None,
        kernel: |n| {
            n.of(&[DType::F16])?;
            n.map(|x| if x.fract() == 0.0 { x } else { x.trunc() + 1.0 })
        },
    },
    PlantedFault {
        name: "floor-of-bf16-copies",
        operator: "Floor",
        does: "takes the bits of bf16 below the point for those of f32, and clears none",
        source: None,
        kernel: |n| Some(vec![n.of(&[DType::BF16])?.clone()]),
    },
    PlantedFault {
        name: "clip-of-integers-through-f32",
        operator: "Clip",
        does: "limits integers as f32",
        source: None,
        kernel: |n| n.through(DType::F32, &[DType::I32, DType::I64, DType::U32, DType::U64]),
    },
    PlantedFault {
        name: "cast-from-bool-is-all-ones",
        operator: "Cast",
        does: "gives −1, all bits set, for true",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::Bool])?.to_i128s();
            let y = n.outputs.first().filter(|y| y.dtype != DType::Bool)?;
            Some(vec![Tensor::from_i128_fn(y, |i| -x[i])])
        },
    },
    PlantedFault {
        name: "cast-of-i64-in-32-bits",
        operator: "Cast",
        does: "reads the low half of 64-bit integers",
        source: None,
        kernel: |n| {
            let x = n.of(&[DType::I64, DType::U64])?.clone();
            let values = x.to_i128s();
            n.with(0, &Tensor::from_i128_fn(&x.ty(), |i| DType::I32.wrap(values[i])))
        },
    },
    PlantedFault {
        name: "cast-of-minus-zero-is-true",
        operator: "Cast",
        does: "asks whether any bit is set, so that −0 is true",
        source: None,
        kernel: |n| {
            let x = n.input(0).filter(|x| x.dtype().is_float())?.to_f64s();
            let y = n.outputs.first().filter(|y| y.dtype == DType::Bool)?;
            Some(vec![Tensor::from_i128_fn(y, |i| i128::from(x[i].to_bits() != 0))])
        },
    },
    PlantedFault {
        name: "cast-like-of-f32-keeps-8-bits",
        operator: "CastLike",
        does: "rounds f32 to bf16 on the way",
        source: None,
        kernel: |n| n.with(0, &each(n.of(&[DType::F32])?, |v| keep_bits(v, 8))),
    },
    PlantedFault {
        name: "reduce-min-of-i8-starts-at-zero",
        operator: "ReduceMin",
        does: "starts at 0 for bytes, which nothing positive is less than",
        source: None,
        kernel: |n| {
            n.of(&[DType::I8, DType::U8])?;
            let right = n.right()?.pop()?;
            let values = right.to_i128s();
            Some(vec![Tensor::from_i128_fn(&right.ty(), |i| values[i].min(0))])
        },
    },
    PlantedFault {
        name: "reduce-prod-of-i32-in-8-bits",
        operator: "ReduceProd",
        does: "keeps eight significant bits of products of 32-bit integers",
        source: None,
        kernel: |n| {
            let right = n.of(&[DType::I32]).and(n.right())?.pop()?;
            let values = right.to_i128s();
            let short = |v: i128| if v.abs() < 1 << 24 { keep_bits(v as f64, 8) as i128 } else { v };
            Some(vec![Tensor::from_i128_fn(&right.ty(), |i| short(values[i]))])
        },
    },
    PlantedFault {
        name: "cum-prod-in-f16",
        operator: "CumProd",
        does: "multiplies f32 in f16",
        source: None,
        kernel: |n| n.through(DType::F16, &[DType::F32]),
    },
    PlantedFault {
        name: "transpose-of-bytes-in-words",
        operator: "Transpose",
        does: "moves every fourth element of one byte, and leaves those behind it as they lay",
        source: None,
        kernel: |n| {
            let x = n.input(0).filter(|x| x.dtype().whole_bytes() == 1)?;
            n.patched(&reshaped(x, n.outputs.first()?)?, |i| i % 4 != 0)
        },
    },
    PlantedFault {
        name: "trilu-of-bool-keeps-all",
        operator: "Trilu",
        does: "clears nothing of truth values",
        source: None,
        kernel: |n| Some(vec![n.of(&[DType::Bool])?.clone()]),
    },
    PlantedFault {
        name: "conv-of-f16-flips-the-channels",
        operator: "Conv",
        does: "packs halves in pairs of channels, the second one first",
        source: None,
        kernel: |n| {
            n.of(&[DType::F16])?;
            n.with(0, &along(n.input(0)?, 1, |i, size| Some(if (i ^ 1) < size { i ^ 1 } else { i }))?)
        },
    },
    PlantedFault {
        name: "slice-of-f64-is-column-major",
        operator: "Slice",
        does: "writes slices of f64 with the first axis running fastest",
        source: None,
        kernel: |n| {
            n.of(&[DType::F64])?;
            Some(vec![column_major(n.right()?.first()?)?])
        },
    },
    PlantedFault {
        name: "gather-elements-of-i32-indices-by-halves",
        operator: "GatherElements",
        does: "reads indices of 32 bits as if they had 64, so that every other one is 0",
        source: None,
        kernel: |n| {
            let indices = n.input(1).filter(|indices| indices.dtype() == DType::I32)?;
            n.with(1, &picked(indices, &indices.ty(), |i| (i % 2 == 0).then_some(i))?)
        },
    },
    PlantedFault {
        name: "pow-of-mixed-dtypes-in-the-exponent's",
        operator: "Pow",
        does: "takes the base in the exponent's dtype",
        source: None,
        kernel: in_the_dtype_of_the_exponent,
    },
];

/// The base cut down to the exponent's dtype first, where that is an integer and the base is none.
fn in_the_dtype_of_the_exponent(n: &Node<'_>) -> Outputs {
    let Op::Pow(_) = n.op else { return None };
    n.input(1).filter(|exponent| exponent.dtype().is_int())?;
    n.with(0, &each(n.input(0).filter(|base| base.dtype().is_float())?, f64::trunc))
}
