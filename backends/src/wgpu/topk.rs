//! `TopK` by counting: an element's place in the order is the number of elements before it. That is quadratic in the
//! length of the axis, but every element counts for itself, in any order, without exchanging anything.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::movement::word;
use super::record::Launch;
use super::tensor::GpuTensor;
use super::wgsl::{Class, kernel, load, storage};

impl Gpu {
    /// ONNX `TopK`: the first `k` elements along an axis, in order, and their positions as i64. Of equal elements the
    /// one with the lower position comes first; a NaN is larger than every number.
    pub fn top_k(
        &self,
        x: &GpuTensor,
        k: usize,
        axis: usize,
        largest: bool,
    ) -> Result<[GpuTensor; 2], GpuError> {
        let name = "TopK";
        let dtype = x.dtype();
        let n = x.shape().get(axis).copied().unwrap_or(0);
        if axis >= x.rank() || k > n || dtype == DType::Bool {
            let why = format!("{k} elements of {dtype} along axis {axis} of {:?}", x.shape());
            return Err(GpuError::arguments(name, why));
        }
        self.require(name, dtype)?;
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let rank = self.alloc(DType::U32, x.shape())?;
        let longest = self.loop_limit();
        for start in (0..n).step_by(longest) {
            let source = || count_source(dtype, largest);
            self.launch(&Launch {
                key: format!("topk count {dtype} largest {largest}"),
                source: &source,
                inputs: &[x],
                params: &[n as u32, inner as u32, start as u32, n.min(start + longest) as u32],
                output: &rank,
                count: rank.len(),
            })?;
        }
        let mut shape = x.shape().to_vec();
        shape[axis] = k;
        let params = [n as u32, inner as u32, k as u32];
        let place = |word: &str, input: &str, value: &str| {
            let body = format!(
                "let r = in1[i];\nif (r >= p[4]) {{ return; }}\nlet inner = i % p[3];\nlet outer = i / (p[2] * p[3]);\n\
                 out[(outer * p[4] + r) * p[3] + inner] = {value};"
            );
            kernel(&[input, "u32"], word, "", &body)
        };
        let word = word(dtype);
        let outputs = [
            (dtype, format!("topk values {word}"), place(word, word, "in0[i]")),
            (
                DType::I64,
                format!("topk places {word}"),
                place("vec2<u32>", word, "vec2<u32>((i / p[3]) % p[2], 0u)"),
            ),
        ];
        let [values, places] = outputs.map(|(dtype, key, text)| {
            let output = self.alloc(dtype, &shape)?;
            let source = || text.clone();
            let inputs = [x, &rank];
            self.launch(&Launch {
                key,
                source: &source,
                inputs: &inputs,
                params: &params,
                output: &output,
                count: x.len(),
            })?;
            Ok(output)
        });
        Ok([values?, places?])
    }
}

/// Adds up, over the places of this launch, how many elements come before the invocation's own.
fn count_source(dtype: DType, largest: bool) -> String {
    let class = Class::of(dtype);
    let order = if largest { "a > b" } else { "a < b" };
    let before = match class {
        Class::Float | Class::Double => format!(
            "let na = is_nan(f32(a));\n    let nb = is_nan(f32(b));\n    \
             if (na || nb) {{ return select(select(!na, na, {largest}), tie, na && nb); }}\n    \
             return {order} || (a == b && tie);"
        ),
        _ => format!("return {order} || (a == b && tie);"),
    };
    let body = format!(
        "let own = (i / p[3]) % p[2];\nlet base = (i / (p[2] * p[3])) * p[2] * p[3] + i % p[3];\nlet b = {};\n\
         var count = 0u;\nif (p[4] > 0u) {{ count = out[i]; }}\n\
         for (var k = p[4]; k < p[5]; k++) {{\n    let a = {};\n    if (before(a, b, k < own)) {{ count++; }}\n}}\nout[i] = count;",
        load(dtype, "in0[i]"),
        load(dtype, "in0[base + k * p[3]]"),
    );
    let helpers = format!(
        "alias T = {};\nfn before(a: T, b: T, tie: bool) -> bool {{\n    {before}\n}}\n",
        class.wgsl()
    );
    kernel(&[storage(dtype)], "u32", &helpers, &body)
}
