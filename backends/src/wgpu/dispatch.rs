//! From an operator to its file. The match has no wildcard: a new operator does not compile until its file says which
//! uses have kernels, and runs them.

use ir::Type;
use ops::Op;

use super::device::{Gpu, GpuError};
use super::kernel::{Call, Kernel, NOT_STORED};
use super::record::GpuTensor;
use super::wgsl::is_stored;
use crate::support::Support;

/// The operator's own file.
fn kernel(op: &Op) -> &dyn Kernel {
    match op {
        Op::Unary(op) => op,
        Op::Binary(op) => op,
        Op::Mod(op) => op,
        Op::Pow(op) => op,
        Op::BitShift(op) => op,
        Op::PRelu(op) => op,
        Op::Variadic(op) => op,
        Op::Compare(op) => op,
        Op::IsNaN(op) => op,
        Op::IsInf(op) => op,
        Op::Where(op) => op,
        Op::Clip(op) => op,
        Op::Cast(op) => op,
        Op::CastLike(op) => op,
        Op::BitCast(op) => op,
        Op::Activation(op) => op,
        Op::Gelu(op) => op,
        Op::Shrink(op) => op,
        Op::Reshape(op) => op,
        Op::Split(op) => op,
        Op::Transpose(op) => op,
        Op::Concat(op) => op,
        Op::Slice(op) => op,
        Op::Pad(op) => op,
        Op::Expand(op) => op,
        Op::Squeeze(op) => op,
        Op::Unsqueeze(op) => op,
        Op::Flatten(op) => op,
        Op::Gather(op) => op,
        Op::GatherNd(op) => op,
        Op::ScatterElements(op) => op,
        Op::ScatterNd(op) => op,
        Op::Compress(op) => op,
        Op::Trilu(op) => op,
        Op::OneHot(op) => op,
        Op::GatherElements(op) => op,
        Op::Tile(op) => op,
        Op::DepthToSpace(op) => op,
        Op::SpaceToDepth(op) => op,
        Op::ReverseSequence(op) => op,
        Op::EyeLike(op) => op,
        Op::Shape(op) => op,
        Op::NonZero(op) => op,
        Op::Size(op) => op,
        Op::MatMul(op) => op,
        Op::Gemm(op) => op,
        Op::Det(op) => op,
        Op::Einsum(op) => op,
        Op::Reduce(op) => op,
        Op::Arg(op) => op,
        Op::Cumulative(op) => op,
        Op::TopK(op) => op,
        Op::Conv(op) => op,
        Op::ConvTranspose(op) => op,
        Op::MaxPool(op) => op,
        Op::AveragePool(op) => op,
        Op::LpPool(op) => op,
        Op::GlobalPool(op) => op,
        Op::GlobalLpPool(op) => op,
        Op::BatchNorm(op) => op,
        Op::LayerNorm(op) => op,
        Op::InstanceNorm(op) => op,
        Op::GroupNorm(op) => op,
        Op::RmsNorm(op) => op,
        Op::LpNorm(op) => op,
        Op::MeanVariance(op) => op,
        Op::Lrn(op) => op,
        Op::Softmax(op) => op,
        Op::GridSample(op) => op,
        Op::Dropout(op) => op,
        Op::QuantizeLinear(op) => op,
        Op::DequantizeLinear(op) => op,
        Op::DynamicQuantizeLinear(op) => op,
    }
}

/// Whether there are kernels for an operator on operands of these types, on a device with every optional
/// type. Running an operator asks here first, so what is said and what is done cannot differ. Whether a device has 16-
/// and 64-bit types is in its [`Capabilities`](super::Capabilities), and what exceeds its limits is an error when it
/// happens.
pub fn support(op: &Op, inputs: &[Option<&Type>]) -> Support {
    if inputs.iter().flatten().any(|x| !is_stored(x.dtype)) {
        return Support::No(NOT_STORED);
    }
    match inputs.first().copied().flatten() {
        Some(x) => kernel(op).support(x, inputs),
        None => Support::No("its first operand is absent"),
    }
}

/// The error for an operator on operands of types for which there are no kernels.
pub(super) fn refused(op: &Op, inputs: &[Option<&Type>], why: &str) -> GpuError {
    let dtypes: Vec<_> = inputs.iter().flatten().map(|ty| ty.dtype.name()).collect();
    let kernel = format!("{} of {}", ir::Operation::name(op), dtypes.join(", "));
    GpuError::Unsupported { kernel, why: why.to_owned() }
}

impl Gpu {
    /// Runs one operator. `outputs` are the types its type rule gives for these operands.
    pub fn operator(
        &self,
        op: &Op,
        inputs: &[Option<&GpuTensor>],
        outputs: &[Type],
    ) -> Result<Vec<GpuTensor>, GpuError> {
        let name = ir::Operation::name(op);
        let types: Vec<_> = inputs.iter().map(|t| t.map(GpuTensor::ty)).collect();
        let operands: Vec<_> = types.iter().map(Option::as_ref).collect();
        if let Support::No(why) = support(op, &operands) {
            return Err(refused(op, &operands, why));
        }
        kernel(op).run(&Call { gpu: self, name, inputs, outputs })
    }
}
