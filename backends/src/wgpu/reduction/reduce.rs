//! The reductions, as a table: what happens to each element before, how two are combined, what happens to the result.

use ir::{DType, Type};
use ops::reduction::{Reduce, ReduceFn};

use super::grouped::{Grouped, Stage, longest_chunk};
use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::elementwise::map::Map;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Body, Class, Element, KernelForm, Shader, WORKGROUP, accumulator, body, params};

params! {
    /// One stage of a reduction.
    struct Reduction {
        stage: Stage,
        /// The number of elements of the whole reduction.
        total: u32,
    }
}

const BODY: Body<Reduction> = body!(Reduction, "reduce.wgsl", "functions.wgsl", "chunk.wgsl");
const BY_MEMORY: Body<Reduction> =
    body!(Reduction, "reduce_team.wgsl", "functions.wgsl", "chunk.wgsl", "../wgsl/team.wgsl");
const BY_SUBGROUPS: Body<Reduction> = body!(
    Reduction,
    "reduce_team.wgsl",
    "functions.wgsl",
    "chunk.wgsl",
    "../wgsl/team.wgsl",
    "../wgsl/subgroups.wgsl"
);
const LOG_SUM_EXP: Body<()> = body!((), "log_sum_exp.wgsl");

/// Why there is no kernel for a root or a logarithm of integers.
const OF_INTEGERS: &str = "its result needs more digits than f32 has";

impl Kernel for Reduce {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match (has(self.function, x.dtype), x.dtype.is_int()) {
            (false, true) => Support::No(OF_INTEGERS),
            (has, _) => answer(has, x.dtype),
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axes: Vec<_> = match &self.axes {
            Some(axes) if !axes.is_empty() => {
                axes.iter().map(|&a| c.axis(a, x.rank())).collect::<Result<_, _>>()?
            }
            _ if self.noop_with_empty_axes => Vec::new(),
            _ => (0..x.rank()).collect(),
        };
        let kept = c.gpu.reduce(self.function, x, &axes, x.dtype())?;
        one(Ok(if self.keepdims { kept } else { kept.reshape(&without(x.shape(), &axes))? }))
    }
}

/// Whether there is a kernel for a dtype.
pub(crate) fn has(f: ReduceFn, dtype: DType) -> bool {
    let class = Class::of(dtype);
    match f {
        ReduceFn::Max | ReduceFn::Min => true,
        ReduceFn::LogSum | ReduceFn::LogSumExp => class == Class::Float,
        ReduceFn::L2 => class.is_real(),
        ReduceFn::Sum | ReduceFn::Mean | ReduceFn::Prod | ReduceFn::SumSquare | ReduceFn::L1 => {
            class != Class::Bool
        }
    }
}

/// The functions of the text for `before`, `combine`, `neutral` and `after`.
fn functions(f: ReduceFn) -> [&'static str; 4] {
    match f {
        // LogSumExp is composed of others, see `log_sum_exp`.
        ReduceFn::Sum | ReduceFn::LogSumExp => ["itself", "sum", "zero", "itself"],
        ReduceFn::Mean => ["itself", "sum", "zero", "over_total"],
        ReduceFn::Max => ["itself", "largest", "lowest", "itself"],
        ReduceFn::Min => ["itself", "smallest", "highest", "itself"],
        ReduceFn::Prod => ["itself", "product", "one", "itself"],
        ReduceFn::SumSquare => ["square", "sum", "zero", "itself"],
        ReduceFn::L1 => ["magnitude", "sum", "zero", "itself"],
        ReduceFn::L2 => ["square", "sum", "zero", "root"],
        ReduceFn::LogSum => ["itself", "sum", "zero", "logarithm"],
    }
}

/// The sizes of the axes that are not reduced.
fn without(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a]).collect()
}

impl Gpu {
    /// A reduction over some axes, which stay as 1, with a result of another dtype of the same class. No axes mean none:
    /// what an absent list means is up to the caller.
    pub(crate) fn reduce(
        &self,
        f: ReduceFn,
        x: &GpuTensor,
        axes: &[usize],
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        if f == ReduceFn::LogSumExp {
            return self.log_sum_exp(x, axes, to);
        }
        let name = "Reduce";
        let grouped = Grouped::new(self, name, x, axes)?;
        let [first, combine, neutral, last] = functions(f);
        let team = team(self, &grouped, x.dtype());
        let each = if team == KernelForm::Elements { 1 } else { WORKGROUP as usize };
        let (longest, wide) = (each * longest_chunk(self), accumulator(x.dtype()));
        let (mut tensor, mut n, mut before) = (grouped.tensor.clone(), grouped.n, first);
        while n > longest {
            let chunks = n.div_ceil(longest);
            let functions = [before, combine, neutral, "itself"];
            tensor = self.stage(&grouped, team, functions, &tensor, [n, chunks], wide)?;
            (n, before) = (chunks, "itself");
        }
        let functions = [before, combine, neutral, last];
        self.stage(&grouped, team, functions, &tensor, [n, 1], to)?.reshape(&grouped.kept)
    }

    /// Combines `[outer, n, inner]` to `[outer, chunks, inner]`.
    fn stage(
        &self,
        grouped: &Grouped,
        form: KernelForm,
        functions: [&'static str; 4],
        x: &GpuTensor,
        [n, chunks]: [usize; 2],
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let output = self.alloc(to, &[grouped.outer, chunks, grouped.inner])?;
        let params = Reduction { stage: Stage::new(n, grouped.inner, chunks), total: grouped.n as u32 };
        self.launch(&Launch::new(&shader(form, functions, x.dtype(), to), &[x], params, &output))?;
        Ok(output)
    }

    /// Shifted by the maximum, so that it overflows only where the result does; an infinite maximum shifts nothing.
    fn log_sum_exp(&self, x: &GpuTensor, axes: &[usize], to: DType) -> Result<GpuTensor, GpuError> {
        let (name, wide) = ("ReduceLogSumExp", DType::F32);
        let max = self.reduce(ReduceFn::Max, x, axes, wide)?;
        let exp = self.map(Map::new(name, LOG_SUM_EXP, "shifted", wide), &[x, &max])?;
        let sum = self.reduce(ReduceFn::Sum, &exp, axes, wide)?;
        self.map(Map::new(name, LOG_SUM_EXP, "shifted_back", to), &[&sum, &max])
    }
}

/// The fewest elements of a lane that a workgroup combines together: each invocation has some.
const LONG: usize = 4 * WORKGROUP as usize;

/// Who combines the elements of a lane. Where lanes lie beside each other, neighbouring invocations read neighbouring
/// elements as it is, each of its own lane.
fn team(gpu: &Gpu, grouped: &Grouped, dtype: DType) -> KernelForm {
    let is_team = grouped.inner == 1 && grouped.n >= gpu.team_from(LONG);
    match (is_team, gpu.capabilities().subgroups && accumulator(dtype).bits() == 32) {
        (false, _) => KernelForm::Elements,
        (true, false) => KernelForm::Teams,
        (true, true) => KernelForm::Subgroups,
    }
}

fn shader(form: KernelForm, functions: [&'static str; 4], from: DType, to: DType) -> Shader<Reduction> {
    let [before, combine, neutral, after] = functions;
    let (body, together) = match form {
        KernelForm::Elements => (BODY, "by_memory"),
        KernelForm::Teams => (BY_MEMORY, "by_memory"),
        KernelForm::Subgroups => (BY_SUBGROUPS, "by_subgroups"),
    };
    Shader::new("Reduce", body, from, Element::Number(to))
        .form(form)
        .means("together", together)
        .reads("x", Element::Number(from))
        .means("before", before)
        .means("combine", combine)
        .means("neutral", neutral)
        .means("after", after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgpu::Functions;

    #[test]
    fn a_stage_reads_well() {
        insta::assert_snapshot!(
            shader(KernelForm::Elements, functions(ReduceFn::Max), DType::I8, DType::I8)
                .parts()
                .source(Functions::Own)
        );
    }

    #[test]
    fn a_stage_of_a_workgroup_reads_well() {
        insta::assert_snapshot!(
            shader(KernelForm::Subgroups, functions(ReduceFn::Mean), DType::F16, DType::F16)
                .parts()
                .source(Functions::Own)
        );
    }
}
