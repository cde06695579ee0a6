//! Kernels of 16-bit floats: those of `f32`, between two conversions.
//!
//! A kernel that computes with 16-bit floats widens what it reads, computes in `f32` and rounds once what it stores. So none of
//! them is compiled for these.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use ir::tensor::Element;
use ir::{DType, Tensor, Type};
use ops::Op;
use ops::elementwise::UnaryFn;

use super::Kernels;
use super::call::Call;
use super::element::Numeric;
use super::error::{CpuError, Outputs};
use super::vector::halves as vector;

/// The outputs of an operator whose first operand is of 16-bit floats, by the kernel of `f32`; `None` for others, and
/// for operators that only move elements or say how they are converted.
pub(super) fn in_f32(op: &Op, c: &Call<'_>) -> Option<Outputs> {
    let is_half = |dtype: DType| matches!(dtype, DType::F16 | DType::BF16);
    let is_kept = c.kernels == Kernels::Plain && has_plain(op);
    if is_kept || !computes(op) || !is_half(c.opt(0)?.dtype()) {
        return None;
    }
    let wide = |ty: &Type| if is_half(ty.dtype) { ty.with_dtype(DType::F32) } else { ty.clone() };
    let operands: Vec<Option<Tensor>> = c.inputs.iter().map(|x| x.and_then(|x| widened(c, x))).collect();
    let inputs: Vec<Option<&Tensor>> =
        operands.iter().zip(c.inputs).map(|(wide, own)| wide.as_ref().or(*own)).collect();
    let outputs: Vec<Type> = c.outputs.iter().map(wide).collect();
    let found = c.kernels.run(op, &inputs, &outputs);
    Some(found.and_then(|all| all.into_iter().zip(c.outputs).map(|(y, ty)| narrowed(c, y, ty)).collect()))
}

/// Whether an operator calculates with the elements of its first operand.
fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Mod(_)
            | Op::Pow(_)
            | Op::PRelu(_)
            | Op::Variadic(_)
            | Op::Compare(_)
            | Op::IsNaN(_)
            | Op::IsInf(_)
            | Op::Clip(_)
            | Op::Activation(_)
            | Op::Gelu(_)
            | Op::Shrink(_)
            | Op::MatMul(_)
            | Op::Gemm(_)
            | Op::Det(_)
            | Op::Einsum(_)
            | Op::Reduce(_)
            | Op::Arg(_)
            | Op::Cumulative(_)
            | Op::Conv(_)
            | Op::ConvTranspose(_)
            | Op::MaxPool(_)
            | Op::AveragePool(_)
            | Op::LpPool(_)
            | Op::GlobalPool(_)
            | Op::GlobalLpPool(_)
            | Op::BatchNorm(_)
            | Op::LayerNorm(_)
            | Op::InstanceNorm(_)
            | Op::GroupNorm(_)
            | Op::RmsNorm(_)
            | Op::LpNorm(_)
            | Op::MeanVariance(_)
            | Op::Lrn(_)
            | Op::Softmax(_)
    )
}

/// Whether there is a plain kernel of 16-bit floats that gives other bits: it moves them, or it rounds once what is in `f64`.
fn has_plain(op: &Op) -> bool {
    match op {
        Op::Unary(op) => op.0 == UnaryFn::Identity,
        Op::BatchNorm(op) => op.training_mode,
        _ => false,
    }
}

/// 16-bit floats as `f32`; `None` for others.
fn widened(c: &Call<'_>, x: &Tensor) -> Option<Tensor> {
    fn plain<T: Element>(x: &Tensor) -> Option<Tensor>
    where
        [T]: HalfFloatSliceExt,
    {
        let mut wide = vec![0.0; x.len()];
        T::row_major(T::of(x)?).convert_to_f32_slice(&mut wide);
        Tensor::from_elements(&x.ty().shape, wide).ok()
    }
    match (c.kernels, x.dtype()) {
        (Kernels::Vector { .. }, _) => vector::widened(c, x),
        (Kernels::Plain, DType::F16) => plain::<f16>(x),
        (Kernels::Plain, DType::BF16) => plain::<bf16>(x),
        (Kernels::Plain, _) => None,
    }
}

/// `f32` as what the output is declared to be.
fn narrowed(c: &Call<'_>, y: Tensor, ty: &Type) -> Result<Tensor, CpuError> {
    fn plain<T: Numeric<Work = f32>>(y: &Tensor, ty: &Type) -> Result<Tensor, CpuError> {
        let wide = f32::of(y).ok_or(CpuError::Invalid("its output is declared to be of another type"))?;
        let narrow = f32::row_major(wide).iter().map(|&y| T::store(y)).collect();
        let narrow = Tensor::from_elements(&ty.shape, narrow);
        narrow.map_err(|_| CpuError::Invalid("its operands do not fill its output"))
    }
    match (c.kernels, ty.dtype) {
        (Kernels::Vector { .. }, _) => vector::narrowed(c, y, ty),
        (Kernels::Plain, DType::F16) => plain::<f16>(&y, ty),
        (Kernels::Plain, DType::BF16) => plain::<bf16>(&y, ty),
        (Kernels::Plain, _) => Ok(y),
    }
}
