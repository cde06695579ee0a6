//! Matrix products.

use ir::{DType, Type};
use ops::Op;
use ops::linear::Gemm;

use crate::PlantedFault;
use crate::node::{Node, Outputs, along, only, picked};

/// The integers that an f32 does not hold.
const WIDE: &[DType] = &[DType::I32, DType::I64, DType::U32, DType::U64];

pub(super) const FAULTS: &[PlantedFault] = &[
    PlantedFault {
        name: "matmul-drops-the-tail",
        operator: "MatMul",
        does: "sums four products at a time and drops those that are left",
        source: None,
        kernel: |n| {
            let x = n.input(0)?;
            n.with(0, &along(x, x.shape().len().checked_sub(1)?, |k, size| (k < size / 4 * 4).then_some(k))?)
        },
    },
    PlantedFault {
        name: "matmul-repeats-the-first-matrix",
        operator: "MatMul",
        does: "multiplies the whole batch with the first matrix of B",
        source: None,
        kernel: |n| {
            let mut b = n.input(1)?.clone();
            for axis in 0..b.shape().len().checked_sub(2)? {
                b = along(&b, axis, |_, _| Some(0))?;
            }
            n.with(1, &b)
        },
    },
    PlantedFault {
        name: "matmul-in-bf16",
        operator: "MatMul",
        does: "rounds f32 operands to bf16",
        source: None,
        kernel: |n| n.with_bits(8, DType::F32),
    },
    PlantedFault {
        name: "matmul-of-f64-in-f32",
        operator: "MatMul",
        does: "computes f64 in f32",
        source: None,
        kernel: |n| n.through(DType::F32, &[DType::F64]),
    },
    PlantedFault {
        name: "matmul-of-integers-through-f32",
        operator: "MatMul",
        does: "computes integers in f32",
        source: None,
        kernel: |n| n.through(DType::F32, WIDE),
    },
    PlantedFault {
        name: "det-loses-the-sign",
        operator: "Det",
        does: "gives the absolute value",
        source: None,
        kernel: |n| n.edited(|_, v| v.abs()),
    },
    PlantedFault {
        name: "gemm-forgets-the-addend",
        operator: "Gemm",
        does: "does not add C",
        source: None,
        kernel: |n| n.on(&n.inputs[..2]),
    },
    PlantedFault {
        name: "gemm-scales-the-addend",
        operator: "Gemm",
        does: "is alpha·(A·B + C): the factor comes after the sum",
        source: None,
        kernel: |n| match *n.op {
            Op::Gemm(op) => n.instead(Gemm { beta: op.alpha * op.beta, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "gemm-ignores-beta",
        operator: "Gemm",
        does: "takes 1 for beta",
        source: None,
        kernel: |n| match *n.op {
            Op::Gemm(op) => n.instead(Gemm { beta: 1.0, ..op }),
            _ => None,
        },
    },
    PlantedFault {
        name: "gemm-does-not-transpose-b",
        operator: "Gemm",
        does: "ignores transB where B is square",
        source: None,
        kernel: |n| match *n.op {
            Op::Gemm(op) if n.input(1)?.shape()[0] == n.input(1)?.shape()[1] => {
                n.instead(Gemm { trans_b: false, ..op })
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "gemm-accumulates-in-f16",
        operator: "Gemm",
        does: "sums the products of f32 in f16",
        source: None,
        kernel: gemm_accumulating_in_f16,
    },
    PlantedFault {
        name: "gemm-indexes-the-bias-by-row",
        operator: "Gemm",
        does: "reads C at the number of the row where it has an element per column",
        source: Some("kraiskil/onnx2c#12"),
        kernel: |n| {
            let (c, y) = (n.input(2).filter(|c| c.shape().len() == 1 && !c.is_empty())?, n.outputs.first()?);
            let columns = y.extents()[1].max(1);
            let whole = Type::new(c.dtype(), y.shape.clone());
            n.with(2, &picked(c, &whole, |i| Some(i / columns % c.len()))?)
        },
    },
    PlantedFault {
        name: "gemm-packs-whole-stripes-only",
        operator: "Gemm",
        does: "packs four rows at a time of an A that is transposed, and leaves out those that remain",
        source: Some("ooples/AiDotNet.Tensors#402"),
        kernel: |n| match n.op {
            Op::Gemm(Gemm { trans_a: true, .. }) => {
                n.with(0, &along(n.input(0)?, 1, |i, size| (i < size / 4 * 4).then_some(i))?)
            }
            _ => None,
        },
    },
    PlantedFault {
        name: "matmul-folds-the-batch-into-columns",
        operator: "MatMul",
        does: "multiplies a single A with the whole batch of B as one matrix, and leaves most rows unwritten",
        source: Some("huggingface/candle#3744"),
        kernel: |n| {
            let (a, b) = (n.input(0)?.shape(), n.input(1)?.shape());
            let &[ref before_a @ .., rows, _] = a else { return None };
            let &[ref before_b @ .., _, columns] = b else { return None };
            let batch: usize = before_b.iter().product();
            if batch < 2 || rows == 0 || before_a.iter().any(|&size| size != 1) {
                return None;
            }
            n.moved(|i| (i < (rows - 1) * columns + batch * columns).then_some(i))
        },
    },
    PlantedFault {
        name: "matmul-loads-a-vector-of-a",
        operator: "MatMul",
        does: "reads so many elements of A in a row where it should repeat one, where there are 16 columns and more",
        source: Some("Mojo-Numerics-and-Algorithms-group/NuMojo#382"),
        kernel: |n| {
            let columns = *n.outputs.first()?.extents().last().filter(|&&columns| columns >= 16)?;
            let along_k = n.input(0)?.shape().len().checked_sub(1)?;
            let shifted = along(n.input(0)?, along_k, |k, size| Some((k + 1).min(size - 1)))?;
            n.patched(n.with(0, &shifted)?.first()?, |i| i % columns % 16 != 0)
        },
    },
    PlantedFault {
        name: "det-of-pivots-in-place",
        operator: "Det",
        does: "counts no exchange of rows, so that the sign is another where the first pivot is not the largest",
        source: None,
        kernel: |n| {
            let x = n.input(0)?;
            let &[.., rows, columns] = x.shape() else { return None };
            let values = x.to_f64s();
            let exchanges = |i: usize| {
                let first = |row: usize| values[i * rows * columns + row * columns].abs();
                (1..rows).any(|row| first(row) > first(0))
            };
            n.edited(|i, det| if rows > 1 && exchanges(i) { -det } else { det })
        },
    },
    PlantedFault {
        name: "gemm-takes-beta-for-alpha",
        operator: "Gemm",
        does: "scales the product by beta",
        source: None,
        kernel: |n| match *n.op {
            Op::Gemm(op) => n.instead(Gemm { alpha: op.beta, ..op }),
            _ => None,
        },
    },
];

/// One product of each sum after the other, the sums kept in f16; C is added as it should be.
fn gemm_accumulating_in_f16(n: &Node<'_>) -> Outputs {
    let &Op::Gemm(op) = n.op else { return None };
    let (a, b) = (n.input(0).filter(|a| a.dtype() == DType::F32)?, n.input(1)?);
    let along_a = usize::from(!op.trans_a);
    let product = Gemm { alpha: 1.0, beta: 1.0, ..op }.into();
    let y = n.outputs.first()?;
    let mut sums = vec![0.0; y.extents().iter().product()];
    for k in 0..a.shape()[along_a] {
        let one = along(a, along_a, |i, _| (i == k).then_some(i))?;
        let terms = only(&product, &[Some(&one), Some(b)], y)?.to_f64s();
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum = ir::round::round_to(DType::F16, *sum + term);
        }
    }
    let alpha = f64::from(op.alpha);
    // What is left of the right result without its products is beta·C.
    let zeros = ir::Tensor::zeros(&a.ty());
    let addend = n.with(0, &zeros)?.pop()?.to_f64s();
    Some(vec![ir::Tensor::from_f64_fn(y, |i| alpha * sums[i] + addend[i])])
}
