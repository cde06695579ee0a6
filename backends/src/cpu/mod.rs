//! Operators on the CPU: kernels of our own, written for speed and independent of the reference semantics.
//!
//! | module | holds |
//! |---|---|
//! | [`run_node`], [`Kernels`], [`support`] | which kernel runs an operator: an exhaustive match, no wildcard |
//! | [`model`] | running whole models, whatever runs the nodes |
//! | [`engine`] | a node runner behind the worker protocol |
//! | `element` | the numbers kernels calculate with |
//! | `halves` | kernels of 16-bit floats, which are those of `f32` |
//! | `cells` | elements as what they take in memory, for what only moves them |
//! | `call`, `strided`, `lanes`, `gemm` | what kernels share: typed operands, walks, reductions, matrix products |
//! | the families | a plain kernel at the same path as its operator in `ops` |
//! | `vector` | kernels that keep the vector units busy, for what models spend their time in |
//!
//! Kernels share no code with `ops`' reference semantics, not even for axes, padding or broadcasting: a shared
//! mistake would be invisible. They take attributes and declared output types, and nothing else. On a validated
//! node no kernel panics.

mod call;
mod cells;
mod element;
mod elementwise;
pub mod engine;
pub mod error;
mod functions;
mod gemm;
mod halves;
mod lanes;
mod linear;
pub mod model;
mod movement;
mod nn;
mod nothing;
mod quantized;
mod reduction;
mod strided;
mod vector;

pub use engine::{CpuEngine, CpuRunner, GraphRunner};
pub use error::{CpuError, RunError};
pub use model::{NodeRunner, run_model, run_model_on};

use ir::{Tensor, Type};
use ops::Op;

use crate::support::Support;
use call::Call;

/// The CPU as a node runner: [`run_node`].
#[derive(Clone, Copy, Default, Debug)]
pub struct Cpu;

impl NodeRunner for Cpu {
    type Error = CpuError;

    fn support(&self, op: &Op, inputs: &[Option<&Type>]) -> Support {
        support(op, inputs)
    }

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        run_node(op, inputs, outputs)
    }
}

/// Which kernels run an operator, and on how many threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernels {
    /// Kernels with vectors, if an operator has one. The others run on one thread.
    Vector {
        /// How many threads a kernel may use, itself included.
        threads: usize,
    },
    /// The plain ones alone.
    Plain,
}

impl Default for Kernels {
    fn default() -> Self {
        Self::Vector { threads: 1 }
    }
}

impl Kernels {
    /// The outputs, of the types given, of a validated operator.
    pub fn run(self, op: &Op, inputs: &[Option<&Tensor>], outputs: &[Type]) -> Result<Vec<Tensor>, CpuError> {
        if let Some(nothing) = nothing::outputs(op, outputs) {
            return Ok(nothing);
        }
        let c = &Call { inputs, outputs, kernels: self };
        if let Some(outputs) = halves::in_f32(op, c) {
            return outputs;
        }
        match self {
            Self::Vector { .. } => vector::run(op, c).unwrap_or_else(|| plain(op, c)),
            Self::Plain => plain(op, c),
        }
    }
}

impl NodeRunner for Kernels {
    type Error = CpuError;

    fn support(&self, op: &Op, inputs: &[Option<&Type>]) -> Support {
        support(op, inputs)
    }

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        self.run(op, inputs, outputs)
    }
}

/// Whether there is a kernel for an operator on operands of these types. Every operator has a plain one (`plain` would
/// not compile otherwise), and there is no use that it does not take.
pub const fn support(_: &Op, _: &[Option<&Type>]) -> Support {
    Support::Yes
}

/// The outputs, of the types given, of a validated operator, by the kernels of the level `default` on one thread.
pub fn run_node(op: &Op, inputs: &[Option<&Tensor>], outputs: &[Type]) -> Result<Vec<Tensor>, CpuError> {
    Kernels::default().run(op, inputs, outputs)
}

/// The same by the plain kernel. There is one for every operator and no wildcard here.
fn plain(op: &Op, c: &Call<'_>) -> Result<Vec<Tensor>, CpuError> {
    match op {
        Op::Unary(op) => elementwise::unary::run(op.0, c),
        Op::Binary(op) => elementwise::binary::run(op.0, c),
        Op::Mod(op) => elementwise::modulus::run(*op, c),
        Op::Pow(_) => elementwise::pow::run(c),
        Op::BitShift(op) => elementwise::bit_shift::run(*op, c),
        Op::PRelu(_) => elementwise::prelu::run(c),
        Op::Variadic(op) => elementwise::variadic::run(op.0, c),
        Op::Compare(op) => elementwise::compare::run(op.0, c),
        Op::IsNaN(_) => elementwise::is_nan::run(c),
        Op::IsInf(op) => elementwise::is_inf::run(*op, c),
        Op::Where(_) => elementwise::select::run(c),
        Op::Clip(_) => elementwise::clip::run(c),
        Op::Cast(op) => elementwise::cast::run(op.to, op.rounding, c),
        Op::CastLike(op) => elementwise::cast::run(c.dtype(1)?, op.rounding, c),
        Op::BitCast(_) => elementwise::bit_cast::run(c),
        Op::Activation(op) => elementwise::activation::run(op, c),
        Op::Gelu(op) => elementwise::gelu::run(*op, c),
        Op::Shrink(op) => elementwise::shrink::run(*op, c),
        Op::Reshape(_) | Op::Flatten(_) | Op::Squeeze(_) | Op::Unsqueeze(_) => movement::reshape::run(c),
        Op::Split(op) => movement::split::run(op, c),
        Op::Transpose(op) => movement::transpose::run(op, c),
        Op::Concat(op) => movement::concat::run(*op, c),
        Op::Slice(op) => movement::slice::run(op, c),
        Op::Pad(op) => movement::pad::run(op, c),
        Op::Expand(_) => movement::expand::run(c),
        Op::Gather(op) => movement::gather::run(*op, c),
        Op::GatherNd(op) => movement::gather_nd::run(*op, c),
        Op::ScatterElements(op) => movement::scatter::elements(*op, c),
        Op::ScatterNd(op) => movement::scatter::slices(*op, c),
        Op::Compress(op) => movement::compress::run(*op, c),
        Op::Trilu(op) => movement::trilu::run(*op, c),
        Op::OneHot(op) => movement::one_hot::run(*op, c),
        Op::GatherElements(op) => movement::gather_elements::run(*op, c),
        Op::Tile(op) => movement::tile::run(op, c),
        Op::DepthToSpace(op) => movement::depth_space::to_space(*op, c),
        Op::SpaceToDepth(op) => movement::depth_space::to_depth(*op, c),
        Op::ReverseSequence(op) => movement::reverse_sequence::run(*op, c),
        Op::EyeLike(op) => movement::eye_like::run(*op, c),
        Op::Shape(op) => movement::shape::shape(*op, c),
        Op::NonZero(_) => movement::non_zero::run(c),
        Op::Size(_) => movement::shape::size(c),
        Op::MatMul(_) => linear::matmul::run(c),
        Op::Gemm(op) => linear::gemm::run(*op, c),
        Op::Det(_) => linear::det::run(c),
        Op::Einsum(op) => linear::einsum::run(op, c),
        Op::Reduce(op) => reduction::reduce::run(op, c),
        Op::Arg(op) => reduction::arg::run(*op, c),
        Op::Cumulative(op) => reduction::cumulative::run(*op, c),
        Op::TopK(op) => reduction::top_k::run(*op, c),
        Op::Conv(op) => nn::conv::run(op, c),
        Op::ConvTranspose(op) => nn::conv_transpose::run(op, c),
        Op::MaxPool(op) => nn::max_pool::run(op, c),
        Op::AveragePool(op) => nn::average_pool::run(op, c),
        Op::LpPool(op) => nn::lp_pool::run(op, c),
        Op::GlobalPool(op) => nn::global_pool::run(*op, c),
        Op::GlobalLpPool(op) => nn::global_lp_pool::run(*op, c),
        Op::BatchNorm(op) => nn::batch_norm::run(*op, c),
        Op::LayerNorm(op) => nn::layer_norm::run(*op, c),
        Op::InstanceNorm(op) => nn::channel_norm::instance(*op, c),
        Op::GroupNorm(op) => nn::channel_norm::group(*op, c),
        Op::RmsNorm(op) => nn::rms_norm::run(*op, c),
        Op::LpNorm(op) => nn::lp_norm::run(*op, c),
        Op::MeanVariance(op) => nn::mean_variance::run(op, c),
        Op::Lrn(op) => nn::lrn::run(*op, c),
        Op::Softmax(op) => nn::softmax::run(*op, c),
        Op::GridSample(op) => nn::grid_sample::run(*op, c),
        Op::Dropout(op) => nn::dropout::run(*op, c),
        Op::QuantizeLinear(op) => quantized::quantize_linear::run(*op, c),
        Op::DequantizeLinear(op) => quantized::dequantize_linear::run(*op, c),
        Op::DynamicQuantizeLinear(_) => quantized::dynamic::run(c),
    }
}
