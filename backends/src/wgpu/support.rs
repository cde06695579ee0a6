//! Which operators there are kernels for, on which dtypes.
//!
//! The answers come from the tables that the kernels are written from, and the dispatch asks here before it launches
//! anything, so what is said and what is done cannot differ. They are about the kernels and need no device: whether a
//! device has 16- and 64-bit types is in its [`Capabilities`](super::Capabilities), and what exceeds its limits is an
//! error when it happens.

use ir::{DType, Type};
use ops::Op;
use ops::elementwise::Predicate;
use ops::nn::{LpPool, Softmax, SoftmaxFn};

use super::binary::Binary;
use super::dispatch::names;
use super::matmul::is_whole;
use super::unary::Unary;
use super::wgsl::Class;
use super::window::SPATIAL_AXES;
use crate::support::Support;

const UNDEFINED: &str = "it is not defined for this dtype";

/// Drivers accept the transcendental functions of f64 and return garbage.
const ARITHMETIC_ONLY: &str = "drivers compute + - * / sqrt and comparisons of f64, and this needs more";

/// Whether there are kernels for an operator on operands and results of these types, on a device with every optional
/// type.
pub fn support(op: &Op, inputs: &[Option<&Type>], _outputs: &[Type]) -> Support {
    let operand = |i: usize| inputs.get(i).copied().flatten();
    let Some(x) = operand(0) else { return Support::No("its first operand is absent") };
    let dtype = x.dtype;
    let unary = |f: Unary| answer(f.supports(dtype), dtype);
    let binary = |f: Binary| answer(f.supports(dtype), dtype);
    let floats = || answer(dtype.is_float(), dtype);
    let short_floats = || answer(Class::of(dtype) == Class::Float, dtype);
    let numbers = || answer(dtype != DType::Bool, dtype);
    match op {
        Op::Unary(op) => names::unary(op.0).map_or_else(|| answer(dtype == DType::Bool, dtype), unary),
        Op::Binary(op) => binary(names::binary(op.0)),
        Op::Mod(op) => binary(names::modulus(*op)),
        Op::Pow(_) => operand(1).map_or(Support::No("it has no exponent"), |y| power(dtype, y.dtype)),
        Op::BitShift(op) => binary(names::shift(*op)),
        Op::PRelu(_) => binary(Binary::PRelu),
        Op::Compare(op) => binary(names::comparison(op.0)),
        Op::Activation(op) => unary(names::activation(op.function)),
        Op::Gelu(op) => unary(names::gelu(*op)),
        Op::Shrink(_) => unary(Unary::Shrink),
        Op::Gemm(op) if !(dtype.is_float() || is_whole(op.alpha) && is_whole(op.beta)) => {
            Support::No("alpha and beta are not whole and the operands are integers")
        }
        Op::Variadic(_) | Op::Clip(_) | Op::MatMul(_) | Op::Gemm(_) | Op::CumSum(_) | Op::TopK(_) => {
            numbers()
        }
        Op::Reduce(op) => answer(names::reduction(op.function).supports(dtype), dtype),
        Op::Conv(_) | Op::AveragePool(_) => both(floats(), || window(x)),
        Op::LpPool(LpPool { p: 1 | 2, .. }) => both(floats(), || window(x)),
        Op::LpPool(_) => Support::No("kernels exist for p = 1 and p = 2"),
        Op::MaxPool(_) => both(numbers(), || window(x)),
        Op::GlobalPool(op) => answer(names::global_pool(op.0).supports(dtype), dtype),
        Op::Softmax(Softmax { function, .. }) => match function {
            SoftmaxFn::Softmax | SoftmaxFn::LogSoftmax => short_floats(),
            SoftmaxFn::Hardmax => numbers(),
        },
        Op::Predicate(Predicate::IsNaN | Predicate::IsInf { .. })
        | Op::BatchNorm(_)
        | Op::LayerNorm(_)
        | Op::InstanceNorm(_)
        | Op::GroupNorm(_)
        | Op::RmsNorm(_)
        | Op::LpNorm(_)
        | Op::MeanVariance(_) => floats(),
        Op::Lrn(_) => short_floats(),
        // They move words, or count, and convert between every two dtypes.
        Op::Where(_)
        | Op::Cast(_)
        | Op::CastLike(_)
        | Op::Reshape(_)
        | Op::Split(_)
        | Op::Transpose(_)
        | Op::Concat(_)
        | Op::Slice(_)
        | Op::Pad(_)
        | Op::Expand(_)
        | Op::Squeeze(_)
        | Op::Unsqueeze(_)
        | Op::Flatten(_)
        | Op::Gather(_)
        | Op::Trilu(_)
        | Op::OneHot(_)
        | Op::GatherElements(_)
        | Op::Tile(_)
        | Op::DepthToSpace(_)
        | Op::SpaceToDepth(_)
        | Op::ReverseSequence(_)
        | Op::EyeLike(_)
        | Op::Shape(_)
        | Op::Size(_)
        | Op::Arg(_) => Support::Yes,
    }
}

fn answer(has: bool, dtype: DType) -> Support {
    match (has, dtype) {
        (true, _) => Support::Yes,
        (false, DType::F64) => Support::No(ARITHMETIC_ONLY),
        (false, _) => Support::No(UNDEFINED),
    }
}

fn both(first: Support, second: impl FnOnce() -> Support) -> Support {
    if first.is_yes() { second() } else { first }
}

/// Operands may differ in dtype: integers compute as i64, short floats as f32.
fn power(base: DType, exponent: DType) -> Support {
    let integers = base.is_int() && exponent.is_int();
    let short = |d| Class::of(d) == Class::Float;
    if base == exponent {
        answer(Binary::Pow.supports(base), base)
    } else if integers || (short(base) && exponent != DType::F64) {
        Support::Yes
    } else {
        Support::No(ARITHMETIC_ONLY)
    }
}

fn window(x: &Type) -> Support {
    if x.rank().checked_sub(2).is_some_and(|spatial| SPATIAL_AXES.contains(&spatial)) {
        Support::Yes
    } else {
        Support::No("kernels exist for one to three spatial axes")
    }
}
