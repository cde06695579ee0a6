//! `ArgMax` and `ArgMin`: staged like the reductions, with positions in place of values.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::record::Launch;
use super::reduce::CHUNK_RANGE;
use super::tensor::GpuTensor;
use super::wgsl::{Class, kernel, load, storage};

/// The longest chunk one invocation searches.
const CHUNK: usize = 1024;

impl Gpu {
    /// ONNX `ArgMax` (or `ArgMin`) along one axis, as i64. A NaN is found before any number.
    pub fn arg(
        &self,
        x: &GpuTensor,
        axis: usize,
        keepdims: bool,
        largest: bool,
        select_last: bool,
    ) -> Result<GpuTensor, GpuError> {
        let positions = self.positions(x, axis, largest, select_last)?;
        let mut shape = positions.shape().to_vec();
        if !keepdims {
            shape.remove(axis);
        }
        let output = self.alloc(DType::I64, &shape)?;
        let source = || kernel(&["u32"], "vec2<u32>", "", "out[i] = vec2<u32>(in0[i], 0u);");
        self.launch(&Launch {
            key: "u32 to i64 words".to_owned(),
            source: &source,
            inputs: &[&positions],
            params: &[],
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// ONNX `Hardmax`: 1 at the first of the largest elements along an axis, 0 elsewhere.
    pub fn hardmax(&self, x: &GpuTensor, axis: usize) -> Result<GpuTensor, GpuError> {
        if x.is_empty() {
            return Ok(x.clone());
        }
        let positions = self.positions(x, axis, true, false)?;
        let places = self.places(DType::U32, x.rank(), axis, x.shape()[axis])?;
        let expr = "select(T(0), T(1), a == b)";
        self.map(&Map { name: "Hardmax", expr, dtype: x.dtype(), params: &[] }, &[&places, &positions])
    }

    /// Where along an axis the extreme is, as u32, with the axis kept as 1.
    fn positions(
        &self,
        x: &GpuTensor,
        axis: usize,
        largest: bool,
        last: bool,
    ) -> Result<GpuTensor, GpuError> {
        let name = if largest { "ArgMax" } else { "ArgMin" };
        self.require(name, x.dtype())?;
        let plan = self.reduction_plan(name, x, &[axis])?;
        if plan.n == 0 {
            return Err(GpuError::arguments(name, format!("axis {axis} of {:?} is empty", x.shape())));
        }
        let longest = CHUNK.min(self.loop_limit());
        let mut found: Option<GpuTensor> = None;
        let mut n = plan.n;
        loop {
            let chunks = n.div_ceil(longest);
            let output = self.alloc(DType::U32, &[plan.outer, chunks, plan.inner])?;
            let first = found.is_none();
            let source = || search(x.dtype(), largest, last, first);
            let candidates = found.as_ref().unwrap_or(x);
            self.launch(&Launch {
                key: format!("{name} {} last {last} first stage {first}", x.dtype()),
                source: &source,
                inputs: &[&plan.tensor, candidates],
                params: &[
                    plan.n as u32,
                    n as u32,
                    plan.inner as u32,
                    chunks as u32,
                    n.div_ceil(chunks) as u32,
                ],
                output: &output,
                count: output.len(),
            })?;
            n = chunks;
            found = Some(output);
            if n == 1 {
                break;
            }
        }
        found.map_or_else(
            || Err(GpuError::arguments(name, "nothing was searched")),
            |found| found.reshape(&plan.kept),
        )
    }
}

/// The first stage looks at elements, the later ones at the positions found so far.
fn search(dtype: DType, largest: bool, select_last: bool, first: bool) -> String {
    let class = Class::of(dtype);
    let order = match (largest, select_last) {
        (true, false) => ">",
        (true, true) => ">=",
        (false, false) => "<",
        (false, true) => "<=",
    };
    let better = match class {
        Class::Float | Class::Double => format!(
            "if (is_nan(f32(best))) {{ return {select_last} && is_nan(f32(a)); }}\n    \
             if (is_nan(f32(a))) {{ return true; }}\n    return a {order} best;"
        ),
        _ => format!("return a {order} best;"),
    };
    let position = if first { "k" } else { "in1[base + k * p[4]]" };
    // With one element per chunk of candidates, `base` counts candidates and the tensor's own base is this.
    let body = format!(
        "{CHUNK_RANGE}let own = (i / (p[4] * p[5])) * p[2] * p[4] + i % p[4];\n\
         var k = start;\nvar at = {position};\nvar best = {};\n\
         for (k = start + 1u; k < end; k++) {{\n    let candidate = {position};\n    let a = {};\n    \
         if (better(a, best)) {{\n        best = a;\n        at = candidate;\n    }}\n}}\nout[i] = at;",
        load(dtype, "in0[own + at * p[4]]"),
        load(dtype, "in0[own + candidate * p[4]]"),
    );
    let helpers =
        format!("alias T = {};\nfn better(a: T, best: T) -> bool {{\n    {better}\n}}\n", class.wgsl());
    let unused = if first { storage(dtype) } else { "u32" };
    kernel(&[storage(dtype), unused], "u32", &helpers, &body)
}
