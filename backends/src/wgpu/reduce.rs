//! Reductions over any axes.
//!
//! A reduction is brought into the form `[outer, n, inner] → [outer, inner]` (by a transpose when the axes are not
//! neighbours), then done in stages: an invocation combines one chunk of `n`, the next stage combines the chunks. So no
//! invocation loops for longer than the driver allows, rounding errors grow with the chunk and not with `n`, and a long
//! reduction has parallel work.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::record::Launch;
use super::tensor::GpuTensor;
use super::wgsl::{Class, integer, kernel, load, storage, store};

/// The longest chunk one invocation combines.
const CHUNK: usize = 1024;

/// An ONNX `Reduce*` operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "ONNX defines the names")]
pub enum Reduce {
    Sum,
    Mean,
    Max,
    Min,
    Prod,
    SumSquare,
    L1,
    L2,
    LogSum,
    LogSumExp,
}

/// How two partial results become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Combine {
    Sum,
    Prod,
    Max,
    Min,
}

/// A tensor seen as `[outer, n, inner]`, to be reduced over `n`.
pub(super) struct Plan {
    pub tensor: GpuTensor,
    pub outer: usize,
    pub n: usize,
    pub inner: usize,
    /// The result's shape with the reduced axes kept as 1.
    pub kept: Vec<usize>,
    /// The result's shape without them.
    pub squeezed: Vec<usize>,
}

impl Reduce {
    /// Every reduction.
    pub const ALL: &'static [Self] = &[
        Self::Sum,
        Self::Mean,
        Self::Max,
        Self::Min,
        Self::Prod,
        Self::SumSquare,
        Self::L1,
        Self::L2,
        Self::LogSum,
        Self::LogSumExp,
    ];

    /// The ONNX name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "ReduceSum",
            Self::Mean => "ReduceMean",
            Self::Max => "ReduceMax",
            Self::Min => "ReduceMin",
            Self::Prod => "ReduceProd",
            Self::SumSquare => "ReduceSumSquare",
            Self::L1 => "ReduceL1",
            Self::L2 => "ReduceL2",
            Self::LogSum => "ReduceLogSum",
            Self::LogSumExp => "ReduceLogSumExp",
        }
    }

    fn combine(self) -> Combine {
        match self {
            Self::Max => Combine::Max,
            Self::Min => Combine::Min,
            Self::Prod => Combine::Prod,
            _ => Combine::Sum,
        }
    }

    /// What happens to each element before the first stage.
    fn before(self, class: Class) -> &'static str {
        match self {
            Self::SumSquare | Self::L2 => "a * a",
            Self::L1 if class == Class::Uint || class == Class::Ulong => "a",
            Self::L1 => "abs(a)",
            _ => "a",
        }
    }

    /// What happens to the result after the last stage; `q` is the number of elements.
    fn after(self, class: Class) -> &'static str {
        match (self, class) {
            (Self::Mean, _) => "r / T(p[2])",
            (Self::L2, Class::Double) => "sqrt(r)",
            (Self::L2, _) => "f_sqrt(r)",
            (Self::LogSum, _) => "f_log(r)",
            _ => "r",
        }
    }

    /// Whether there is a kernel for a dtype.
    pub fn supports(self, dtype: DType) -> bool {
        let class = Class::of(dtype);
        match self {
            Self::Max | Self::Min => true,
            Self::LogSum | Self::LogSumExp => class == Class::Float,
            Self::L2 => matches!(class, Class::Float | Class::Double),
            _ => class != Class::Bool,
        }
    }
}

impl Combine {
    fn expr(self, class: Class) -> &'static str {
        match (self, class) {
            (Self::Sum, _) => "r + a",
            (Self::Prod, _) => "r * a",
            (Self::Max, Class::Float) => "f_max(r, a)",
            (Self::Min, Class::Float) => "f_min(r, a)",
            (Self::Max, Class::Double) => "d_max(r, a)",
            (Self::Min, Class::Double) => "d_min(r, a)",
            (Self::Max, _) => "max(r, a)",
            (Self::Min, _) => "min(r, a)",
        }
    }

    /// The value that changes nothing, for the range of `dtype`.
    fn identity(self, dtype: DType) -> String {
        let class = Class::of(dtype);
        let extreme = |lowest: bool| match dtype.int_range() {
            Some((low, high)) => integer(class, if lowest { low } else { high }),
            None => format!("{}({}inf())", class.wgsl(), if lowest { "-" } else { "" }),
        };
        match self {
            Self::Sum => "T(0)".to_owned(),
            Self::Prod => "T(1)".to_owned(),
            Self::Max => extreme(true),
            Self::Min => extreme(false),
        }
    }
}

/// The dtype partial results are kept in: wide enough that storing them loses nothing.
pub(super) fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}

/// One stage of a reduction.
struct Stage<'s> {
    label: &'s str,
    before: &'s str,
    combine: Combine,
    after: &'s str,
    /// The dtype whose range the identity of max and min is taken from.
    range: DType,
    to: DType,
}

impl Gpu {
    /// Brings a reduction into the form of the stages.
    pub(super) fn reduction_plan(&self, name: &str, x: &GpuTensor, axes: &[usize]) -> Result<Plan, GpuError> {
        let rank = x.rank();
        if axes.iter().any(|&a| a >= rank) {
            return Err(GpuError::arguments(name, format!("axes {axes:?} of a tensor of rank {rank}")));
        }
        let reduced = |a: &usize| axes.contains(a);
        let size = |axes: &mut dyn Iterator<Item = usize>| axes.map(|a| x.shape()[a]).product::<usize>();
        let kept = (0..rank).map(|a| if reduced(&a) { 1 } else { x.shape()[a] }).collect();
        let squeezed = (0..rank).filter(|a| !reduced(a)).map(|a| x.shape()[a]).collect();
        let real: Vec<_> = (0..rank).filter(|a| reduced(a) && x.shape()[*a] != 1).collect();
        let (first, last) = (real.first().copied().unwrap_or(rank), real.last().map_or(rank, |l| l + 1));
        let n = size(&mut real.iter().copied());
        let neighbours = (first..last).all(|a| reduced(&a) || x.shape()[a] == 1);
        if neighbours {
            let (outer, inner) = (size(&mut (0..first)), size(&mut (last..rank)));
            return Ok(Plan { tensor: x.clone(), outer, n, inner, kept, squeezed });
        }
        let perm: Vec<_> = (0..rank).filter(|a| !reduced(a)).chain((0..rank).filter(reduced)).collect();
        let outer = size(&mut (0..rank).filter(|a| !reduced(a)));
        Ok(Plan { tensor: self.transpose(x, &perm)?, outer, n, inner: 1, kept, squeezed })
    }

    /// An ONNX `Reduce*` over some axes (none of them means none: the caller decides what an absent list means).
    pub fn reduce(
        &self,
        f: Reduce,
        x: &GpuTensor,
        axes: &[usize],
        keepdims: bool,
    ) -> Result<GpuTensor, GpuError> {
        self.reduce_to(f, x, axes, keepdims, x.dtype())
    }

    /// [`Gpu::reduce`] with a result of another dtype of the same class.
    pub(super) fn reduce_to(
        &self,
        f: Reduce,
        x: &GpuTensor,
        axes: &[usize],
        keepdims: bool,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let class = Class::of(x.dtype());
        if !f.supports(x.dtype()) {
            let why = "it needs a function that WGSL does not have for this dtype";
            return Err(GpuError::dtype(f.name(), x.dtype(), why));
        }
        self.require(f.name(), x.dtype())?;
        if f == Reduce::LogSumExp {
            return self.log_sum_exp(x, axes, keepdims, to);
        }
        let plan = self.reduction_plan(f.name(), x, axes)?;
        let stage = Stage {
            label: f.name(),
            before: f.before(class),
            combine: f.combine(),
            after: f.after(class),
            range: x.dtype(),
            to,
        };
        self.stages(&plan, &stage)?.reshape(if keepdims { &plan.kept } else { &plan.squeezed })
    }

    /// Shifted by the maximum, so that it overflows only where the result does; an infinite maximum shifts nothing.
    fn log_sum_exp(
        &self,
        x: &GpuTensor,
        axes: &[usize],
        keepdims: bool,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let wide = DType::F32;
        let max = self.reduce_to(Reduce::Max, x, axes, true, wide)?;
        let shift = "f_exp(a - select(b, 0.0, is_inf(b)))";
        let exp =
            self.map(&Map { name: "exp of difference", expr: shift, dtype: wide, params: &[] }, &[x, &max])?;
        let sum = self.reduce_to(Reduce::Sum, &exp, axes, true, wide)?;
        let back = "f_log(a) + select(b, 0.0, is_inf(b))";
        let result =
            self.map(&Map { name: "log and shift", expr: back, dtype: to, params: &[] }, &[&sum, &max])?;
        let squeezed = self.reduction_plan("ReduceLogSumExp", &max, &[])?;
        let without: Vec<_> = (0..x.rank()).filter(|a| !axes.contains(a)).map(|a| x.shape()[a]).collect();
        result.reshape(if keepdims { &squeezed.kept } else { &without })
    }

    fn stages(&self, plan: &Plan, stage: &Stage<'_>) -> Result<GpuTensor, GpuError> {
        let longest = CHUNK.min(self.loop_limit());
        let wide = accumulator(plan.tensor.dtype());
        let (mut tensor, mut n, mut before) = (plan.tensor.clone(), plan.n, stage.before);
        while n > longest {
            let partial = Stage { label: "partial", before, after: "r", to: wide, ..*stage };
            let chunks = n.div_ceil(longest);
            tensor = self.stage(&partial, &tensor, [plan.outer, n, plan.inner], chunks, plan.n)?;
            (n, before) = (chunks, "a");
        }
        self.stage(&Stage { before, ..*stage }, &tensor, [plan.outer, n, plan.inner], 1, plan.n)
    }

    /// Combines `[outer, n, inner]` to `[outer, chunks, inner]`. `total` is the number of elements of the whole reduction.
    fn stage(
        &self,
        stage: &Stage<'_>,
        x: &GpuTensor,
        [outer, n, inner]: [usize; 3],
        chunks: usize,
        total: usize,
    ) -> Result<GpuTensor, GpuError> {
        let output = self.alloc(stage.to, &[outer, chunks, inner])?;
        let source = || stage.source(x.dtype());
        self.launch(&Launch {
            key: format!(
                "{} {:?} of {} {} -> {}",
                stage.label,
                stage.combine,
                stage.before,
                x.dtype(),
                stage.to
            ),
            source: &source,
            inputs: &[x],
            params: &[total as u32, n as u32, inner as u32, chunks as u32, n.div_ceil(chunks) as u32],
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }
}

impl Stage<'_> {
    fn source(&self, from: DType) -> String {
        let class = Class::of(from);
        let body = format!(
            "{CHUNK_RANGE}var r = {};\nfor (var k = start; k < end; k++) {{\n    let x = {};\n    let a = before(x);\n    r = {};\n}}\n\
             out[i] = {};",
            self.combine.identity(self.range),
            load(from, "in0[base + k * p[4]]"),
            self.combine.expr(class),
            store(self.to, self.after),
        );
        let helpers =
            format!("alias T = {};\nfn before(a: T) -> T {{ return {}; }}\n", class.wgsl(), self.before);
        kernel(&[storage(from)], storage(self.to), &helpers, &body)
    }
}

/// The chunk of element `i` of `[outer, chunks, inner]`: `p` holds total, n, inner, chunks and the chunk's length.
pub(super) const CHUNK_RANGE: &str = "\
let base = (i / (p[4] * p[5])) * p[3] * p[4] + i % p[4];
let start = ((i / p[4]) % p[5]) * p[6];
let end = min(start + p[6], p[3]);
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_reads_well() {
        let stage = Stage {
            label: "ReduceMax",
            before: "a",
            combine: Combine::Max,
            after: "r",
            range: DType::I8,
            to: DType::I8,
        };
        insta::assert_snapshot!(stage.source(DType::I8));
    }
}
