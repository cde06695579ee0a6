//! Kernels that keep a processor's vector units busy, for the operators and dtypes that models spend their time in. Every other
//! use has a plain kernel, and so has each of these at the level `cpu:plain`: the two are written apart, and check each other.
//!
//! | module | holds |
//! |---|---|
//! | `wide` | loops that are compiled for each kind of vector and chosen when they run |
//! | `functions` | exponentials and others of `f32`, without a branch |
//! | `halves` | 16-bit floats, converted many at once |
//! | `room` | memory for results, and what several threads write into it |
//! | `fold` | combining along axes: sums, extremes |
//! | `product` | matrix products |
//! | the families | a kernel at the same path as its operator in `ops` |
//!
//! Nothing here depends on the kind of vectors but matrix products: elements are computed one by one, and sums are made
//! in an order that the code states. The number of threads changes no bit of any result.

mod elementwise;
mod fold;
mod functions;
pub(super) mod halves;
mod linear;
mod movement;
mod nn;
mod product;
mod reduction;
mod room;
mod wide;

use ops::Op;

use super::call::Call;
use super::error::Outputs;

/// The outputs of an operator, if there is a kernel here for this use of it. What is not listed has none.
pub(super) fn run(op: &Op, c: &Call<'_>) -> Option<Outputs> {
    match op {
        Op::Unary(op) => elementwise::unary::run(op.0, c),
        Op::Binary(op) => elementwise::binary::run(op.0, c),
        Op::Activation(op) => elementwise::activation::run(op, c),
        Op::Gelu(op) => elementwise::gelu::run(*op, c),
        Op::Cast(op) => elementwise::cast::run(op.to, c),
        Op::CastLike(_) => elementwise::cast::run(c.dtype(1).ok()?, c),
        Op::Transpose(op) => movement::transpose::run(op, c),
        Op::MatMul(_) => linear::matmul::run(c),
        Op::Gemm(op) => linear::gemm::run(*op, c),
        Op::Reduce(op) => reduction::reduce::run(op, c),
        Op::Conv(op) => nn::conv::run(op, c),
        Op::MaxPool(op) => nn::pool::max(op, c),
        Op::AveragePool(op) => nn::pool::average(op, c),
        Op::GlobalPool(op) => nn::pool::global(*op, c),
        Op::LayerNorm(op) => nn::layer_norm::run(*op, c),
        Op::Softmax(op) => nn::softmax::run(*op, c),
        _ => None,
    }
}
