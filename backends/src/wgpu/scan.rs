//! `CumSum`: one invocation walks one lane. A lane longer than a loop may run continues in the next launch from the
//! last sum of the one before.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::record::Launch;
use super::reduce::accumulator;
use super::tensor::GpuTensor;
use super::wgsl::{Class, kernel, load, storage, store};

impl Gpu {
    /// ONNX `CumSum` along an axis; `exclusive` leaves out each element's own place, `reverse` sums from the end.
    pub fn cum_sum(
        &self,
        x: &GpuTensor,
        axis: usize,
        exclusive: bool,
        reverse: bool,
    ) -> Result<GpuTensor, GpuError> {
        let name = "CumSum";
        let dtype = x.dtype();
        let Some(&n) = x.shape().get(axis) else {
            return Err(GpuError::arguments(name, format!("no axis {axis} in {:?}", x.shape())));
        };
        if dtype == DType::Bool {
            return Err(GpuError::dtype(name, dtype, "it is not defined for bool"));
        }
        self.require(name, dtype)?;
        let wide = accumulator(dtype);
        let output = self.alloc(wide, x.shape())?;
        let outer: usize = x.shape()[..axis].iter().product();
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let longest = self.loop_limit();
        for start in (0..n).step_by(longest) {
            let end = n.min(start + longest);
            let flags = [exclusive, reverse].map(u32::from);
            let source = || source(dtype, wide);
            self.launch(&Launch {
                key: format!("cumsum {dtype}"),
                source: &source,
                inputs: &[x],
                params: &[n as u32, inner as u32, start as u32, end as u32, flags[0], flags[1]],
                output: &output,
                count: outer * inner,
            })?;
        }
        self.cast(&output, dtype)
    }
}

/// `p[2..]`: n, inner, the places of this launch, exclusive, reverse.
fn source(dtype: DType, to: DType) -> String {
    let body = format!(
        "let base = (i / p[3]) * p[2] * p[3] + i % p[3];\nvar r = T(0);\n\
         if (p[4] > 0u) {{\n    let last = base + place(p[4] - 1u) * p[3];\n    r = {};\n    \
         if (p[6] == 1u) {{ r += {}; }}\n}}\n\
         for (var k = p[4]; k < p[5]; k++) {{\n    let at = base + place(k) * p[3];\n    let a = {};\n    \
         let before = r;\n    r += a;\n    let sum = select(r, before, p[6] == 1u);\n    out[at] = {};\n}}",
        load(to, "out[last]"),
        load(dtype, "in0[last]"),
        load(dtype, "in0[at]"),
        store(to, "sum"),
    );
    let helpers = format!(
        "alias T = {};\nfn place(k: u32) -> u32 {{ return select(k, p[2] - 1u - k, p[7] == 1u); }}\n",
        Class::of(dtype).wgsl()
    );
    kernel(&[storage(dtype)], storage(to), &helpers, &body)
}
