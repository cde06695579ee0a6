//! Arithmetic on two operands of one shape. Those that broadcast are walked by the plain kernels, whose rows are long enough.

use ops::elementwise::BinaryFn;

use crate::cpu::call::Call;
use crate::cpu::element::Number;
use crate::cpu::error::Outputs;
use crate::cpu::vector::room::zip;

pub(crate) fn run(function: BinaryFn, c: &Call<'_>) -> Option<Outputs> {
    match c.dtype(0).ok()? {
        ir::DType::F32 => run_on::<f32>(function, c),
        ir::DType::F64 => run_on::<f64>(function, c),
        ir::DType::I32 => run_on::<i32>(function, c),
        ir::DType::I64 => run_on::<i64>(function, c),
        _ => None,
    }
}

fn run_on<T: Number + ir::tensor::Element>(function: BinaryFn, c: &Call<'_>) -> Option<Outputs> {
    if c.shape(0).ok()? != c.shape(1).ok()? {
        return None;
    }
    let (x, y) = (c.elements::<T>(0).ok()?, c.elements::<T>(1).ok()?);
    let (x, y, threads) = (&x[..], &y[..], c.threads());
    Some(c.only(match function {
        BinaryFn::Add => zip(threads, x, y, T::add),
        BinaryFn::Sub => zip(threads, x, y, T::sub),
        BinaryFn::Mul => zip(threads, x, y, T::mul),
        BinaryFn::Div if T::DTYPE.is_float() => zip(threads, x, y, T::div),
        BinaryFn::Div
        | BinaryFn::And
        | BinaryFn::Or
        | BinaryFn::Xor
        | BinaryFn::BitwiseAnd
        | BinaryFn::BitwiseOr
        | BinaryFn::BitwiseXor => return None,
    }))
}
