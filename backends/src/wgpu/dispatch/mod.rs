//! From an operator to its kernels. The match has no wildcard: a new operator does not compile until it is answered
//! here, by a kernel, and in [`super::support()`], by whether there is one.

mod movement;
pub(super) mod names;
mod norms;
mod windows;

use ir::{DType, Type};
use ops::Op;
use ops::elementwise as elem;
use ops::linear::Gemm;
use ops::nn::{Softmax, SoftmaxFn};
use ops::reduction::{Arg, ArgFn, CumSum, Reduce as ReduceOp};

use crate::support::Support;
use crate::wgpu::binary::Binary;
use crate::wgpu::device::Gpu;
use crate::wgpu::error::GpuError;
use crate::wgpu::map::Map;
use crate::wgpu::reduce::accumulator;
use crate::wgpu::support::support;
use crate::wgpu::tensor::GpuTensor;
use crate::wgpu::unary::Unary;

/// The operands of one operator and the types its results must have.
struct Call<'a> {
    name: &'static str,
    inputs: &'a [Option<&'a GpuTensor>],
    outputs: &'a [Type],
}

impl<'a> Call<'a> {
    fn opt(&self, i: usize) -> Option<&'a GpuTensor> {
        self.inputs.get(i).copied().flatten()
    }

    fn get(&self, i: usize) -> Result<&'a GpuTensor, GpuError> {
        self.opt(i).ok_or_else(|| GpuError::arguments(self.name, format!("operand {i} is absent")))
    }

    fn all(&self) -> Result<Vec<&'a GpuTensor>, GpuError> {
        (0..self.inputs.len()).map(|i| self.get(i)).collect()
    }

    fn output(&self) -> Result<&'a Type, GpuError> {
        self.outputs.first().ok_or_else(|| GpuError::arguments(self.name, "it has no output"))
    }

    /// An axis counted from the end if negative.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, GpuError> {
        let from_start = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(from_start)
            .ok()
            .filter(|&a| a < rank)
            .ok_or_else(|| GpuError::arguments(self.name, format!("no axis {axis} in rank {rank}")))
    }

    fn unsupported<T>(&self, why: &str) -> Result<T, GpuError> {
        Err(GpuError::Unsupported { kernel: self.name.to_owned(), why: why.to_owned() })
    }
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
        if let Support::No(why) = support(op, &operands, outputs) {
            let dtypes: Vec<_> = operands.iter().flatten().map(|t| t.dtype.name()).collect();
            let kernel = format!("{name} of {}", dtypes.join(", "));
            return Err(GpuError::Unsupported { kernel, why: why.to_owned() });
        }
        let c = Call { name, inputs, outputs };
        match op {
            Op::Split(op) => self.run_split(op, &c),
            Op::MaxPool(op) => self.run_max_pool(op, &c),
            Op::LayerNorm(op) => self.run_layer_norm(op, &c),
            Op::TopK(op) => {
                let x = c.get(0)?;
                self.top_k(x, op.k.max(0) as usize, c.axis(op.axis, x.rank())?, op.largest).map(Vec::from)
            }
            op => self.single(op, &c).map(|output| vec![output]),
        }
    }

    /// The operators with one output.
    #[allow(clippy::too_many_lines, reason = "one arm per operator")]
    fn single(&self, op: &Op, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        match op {
            Op::Unary(op) => match names::unary(op.0) {
                Some(Unary::Identity) => Ok(c.get(0)?.clone()),
                Some(f) => self.unary(f, c.get(0)?, &[]),
                None => self.not(c.get(0)?),
            },
            Op::Binary(op) => self.binary(names::binary(op.0), c.get(0)?, c.get(1)?),
            Op::Mod(op) => self.binary(names::modulus(*op), c.get(0)?, c.get(1)?),
            Op::Pow(elem::Pow) => self.run_pow(c),
            Op::BitShift(op) => self.binary(names::shift(*op), c.get(0)?, c.get(1)?),
            Op::PRelu(elem::PRelu) => self.binary(Binary::PRelu, c.get(0)?, c.get(1)?),
            Op::Variadic(op) => self.run_variadic(*op, c),
            Op::Compare(op) => self.binary(names::comparison(op.0), c.get(0)?, c.get(1)?),
            Op::Predicate(elem::Predicate::IsNaN) => self.is_nan(c.get(0)?),
            Op::Predicate(elem::Predicate::IsInf { detect_negative, detect_positive }) => {
                self.is_inf(c.get(0)?, *detect_negative, *detect_positive)
            }
            Op::Where(elem::Where) => self.select(c.get(0)?, c.get(1)?, c.get(2)?),
            Op::Clip(elem::Clip) => self.clip(c.get(0)?, c.opt(1), c.opt(2)),
            Op::Cast(_) | Op::CastLike(_) => self.cast(c.get(0)?, c.output()?.dtype),
            Op::Activation(op) => self.unary(names::activation(op.function), c.get(0)?, &op.parameters),
            Op::Gelu(op) => self.unary(names::gelu(*op), c.get(0)?, &[]),
            Op::Shrink(op) => self.unary(Unary::Shrink, c.get(0)?, &[op.bias, op.lambd]),
            Op::Reshape(_) | Op::Squeeze(_) | Op::Unsqueeze(_) | Op::Flatten(_) => {
                c.get(0)?.reshape(&c.output()?.extents())
            }
            Op::Transpose(op) => self.run_transpose(op, c),
            Op::Concat(op) => {
                let parts = c.all()?;
                self.concat(&parts, c.axis(op.axis, c.output()?.rank())?)
            }
            Op::Slice(op) => self.run_slice(op, c),
            Op::Pad(op) => self.run_pad(op, c),
            Op::Expand(_) => self.expand(c.get(0)?, &c.output()?.extents()),
            Op::Gather(op) => self.gather(c.get(0)?, c.get(1)?, c.axis(op.axis, c.get(0)?.rank())?),
            Op::Trilu(op) => self.trilu(c.get(0)?, op.upper, op.k),
            Op::OneHot(op) => {
                let axis = c.axis(op.axis, c.output()?.rank())?;
                self.one_hot(c.get(0)?, c.get(1)?, op.depth.max(0) as usize, axis)
            }
            Op::GatherElements(op) => {
                self.gather_elements(c.get(0)?, c.get(1)?, c.axis(op.axis, c.get(0)?.rank())?)
            }
            Op::Tile(_) => self.tile(c.get(0)?, &c.output()?.extents()),
            Op::DepthToSpace(op) => self.run_depth_to_space(*op, c),
            Op::SpaceToDepth(op) => self.run_space_to_depth(*op, c),
            Op::ReverseSequence(op) => self.reverse_sequence(c.get(0)?, c.get(1)?, op.batch_first),
            Op::EyeLike(op) => self.eye(c.output()?.dtype, &c.output()?.extents(), op.k),
            Op::Shape(op) => self.run_shape(*op, c),
            Op::Size(_) => self.upload_sizes(&[c.get(0)?.len()], &[]),
            Op::MatMul(_) => self.matmul(c.get(0)?, c.get(1)?),
            Op::Gemm(Gemm { alpha, beta, trans_a, trans_b }) => {
                self.gemm(c.get(0)?, c.get(1)?, c.opt(2), [*trans_a, *trans_b], [*alpha, *beta])
            }
            Op::Reduce(op) => self.run_reduce(op, c),
            Op::Arg(Arg { function, axis, keepdims, select_last_index }) => {
                let x = c.get(0)?;
                self.arg(x, c.axis(*axis, x.rank())?, *keepdims, *function == ArgFn::Max, *select_last_index)
            }
            Op::CumSum(CumSum { axis, exclusive, reverse }) => {
                let x = c.get(0)?;
                self.cum_sum(x, c.axis(*axis, x.rank())?, *exclusive, *reverse)
            }
            Op::Conv(op) => self.run_conv(op, c),
            Op::AveragePool(op) => self.run_average_pool(op, c),
            Op::LpPool(op) => self.run_lp_pool(op, c),
            Op::GlobalPool(op) => {
                let x = c.get(0)?;
                self.reduce(names::global_pool(op.0), x, &(2..x.rank()).collect::<Vec<_>>(), true)
            }
            Op::Softmax(Softmax { function, axis }) => {
                let x = c.get(0)?;
                let axis = c.axis(*axis, x.rank())?;
                match function {
                    SoftmaxFn::Softmax => self.softmax(x, axis, false),
                    SoftmaxFn::LogSoftmax => self.softmax(x, axis, true),
                    SoftmaxFn::Hardmax => self.hardmax(x, axis),
                }
            }
            Op::BatchNorm(op) => {
                let parameters = [c.get(1)?, c.get(2)?, c.get(3)?, c.get(4)?];
                self.batch_normalization(c.get(0)?, parameters, op.epsilon)
            }
            Op::InstanceNorm(op) => self.run_instance_norm(*op, c),
            Op::GroupNorm(op) => self.run_group_norm(op, c),
            Op::RmsNorm(op) => self.run_rms_norm(op, c),
            Op::LpNorm(op) => {
                self.lp_normalization(c.get(0)?, c.axis(op.axis, c.get(0)?.rank())?, op.taxicab)
            }
            Op::MeanVariance(op) => self.run_mean_variance(op, c),
            Op::Lrn(op) => self.run_lrn(op, c),
            Op::Split(_) | Op::MaxPool(_) | Op::LayerNorm(_) | Op::TopK(_) => {
                c.unsupported("it has several outputs")
            }
        }
    }

    /// Operands may differ in dtype; the result has that of the base.
    fn run_pow(&self, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let (base, exponent) = (c.get(0)?, c.get(1)?);
        let dtype = base.dtype();
        if dtype == exponent.dtype() {
            return self.binary(Binary::Pow, base, exponent);
        }
        if dtype.is_int() && exponent.dtype().is_int() {
            let wide = |t| self.cast(t, DType::I64);
            return self.cast(&self.binary(Binary::Pow, &wide(base)?, &wide(exponent)?)?, dtype);
        }
        let wide = |t| self.cast(t, DType::F32);
        self.cast(&self.binary(Binary::Pow, &wide(base)?, &wide(exponent)?)?, dtype)
    }

    fn run_variadic(&self, op: elem::Variadic, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let operands = c.all()?;
        let [first, rest @ ..] = &operands[..] else { return c.unsupported("it has no operand") };
        let dtype = first.dtype();
        let fold =
            |f, first: GpuTensor| rest.iter().try_fold(first, |so_far, next| self.binary(f, &so_far, next));
        let sum = |dtype| -> Result<GpuTensor, GpuError> {
            let map = Map { name: "wide sum", expr: "T(a) + T(b)", dtype, params: &[] };
            rest.iter().try_fold(self.cast(first, dtype)?, |so_far, next| self.map(&map, &[&so_far, next]))
        };
        match op.0 {
            elem::VariadicFn::Min => fold(Binary::Min, (*first).clone()),
            elem::VariadicFn::Max => fold(Binary::Max, (*first).clone()),
            elem::VariadicFn::Sum => self.cast(&sum(accumulator(dtype))?, dtype),
            elem::VariadicFn::Mean => {
                let map = Map { name: "Mean", expr: "T(a / T(q0))", dtype, params: &[operands.len() as f32] };
                self.map(&map, &[&sum(accumulator(dtype))?])
            }
        }
    }

    fn run_reduce(&self, op: &ReduceOp, c: &Call<'_>) -> Result<GpuTensor, GpuError> {
        let x = c.get(0)?;
        let axes: Vec<_> = match &op.axes {
            Some(axes) if !axes.is_empty() => {
                axes.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?
            }
            _ if op.noop_with_empty_axes => Vec::new(),
            _ => (0..x.rank()).collect(),
        };
        self.reduce(names::reduction(op.function), x, &axes, op.keepdims)
    }
}
