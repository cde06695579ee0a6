//! Convolution and pooling: sliding windows over one to three spatial axes.
//!
//! Fewer than three spatial axes are padded with axes of size 1 in front, so one kernel serves all.

use std::ops::RangeInclusive;

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::norm::root;
use super::record::Launch;
use super::reduce::accumulator;
use super::tensor::GpuTensor;
use super::wgsl::{Class, kernel, load, storage, store};

/// How many spatial axes the kernels slide over.
pub(super) const SPATIAL_AXES: RangeInclusive<usize> = 1..=3;

/// A window's geometry: one number per spatial axis in each list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// The window's size.
    pub kernel: Vec<usize>,
    /// How far apart windows start.
    pub strides: Vec<usize>,
    /// How far apart a window's elements lie.
    pub dilations: Vec<usize>,
    /// Padding before the first element of each axis.
    pub pads_begin: Vec<usize>,
    /// Padding after the last.
    pub pads_end: Vec<usize>,
    /// The result's spatial size, which rounding and automatic padding are up to the caller to decide.
    pub output: Vec<usize>,
}

/// What [`Gpu::pool`] takes from each window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pool {
    /// The largest element; padding is never the largest.
    Max,
    /// The mean of the elements, padding left out.
    Average,
    /// The mean of the elements, padding counted as zeros.
    AverageWithPadding,
    /// The sum of magnitudes.
    L1,
    /// The root of the sum of squares.
    L2,
}

impl Pool {
    fn name(self) -> &'static str {
        match self {
            Self::Max => "MaxPool",
            Self::Average | Self::AverageWithPadding => "AveragePool",
            Self::L1 | Self::L2 => "LpPool",
        }
    }
}

/// A list of one to three numbers as three, with `fill` in front.
fn three(list: &[usize], fill: usize) -> [u32; 3] {
    let mut all = [fill as u32; 3];
    for (to, &from) in all.iter_mut().rev().zip(list.iter().rev()) {
        *to = from as u32;
    }
    all
}

impl Window {
    fn check(&self, name: &str, spatial: usize) -> Result<(), GpuError> {
        let lists =
            [&self.kernel, &self.strides, &self.dilations, &self.pads_begin, &self.pads_end, &self.output];
        if !SPATIAL_AXES.contains(&spatial) {
            let why = format!("kernels exist for one to three spatial axes, not {spatial}");
            return Err(GpuError::Unsupported { kernel: name.to_owned(), why });
        }
        if lists.iter().any(|l| l.len() != spatial) || self.strides.contains(&0) {
            return Err(GpuError::arguments(
                name,
                format!("{self:?} does not describe {spatial} spatial axes"),
            ));
        }
        Ok(())
    }

    /// `p[2..]`: output, input, kernel, strides, dilations, pads, each of three numbers, from the outermost axis.
    fn params(&self, input: &[usize]) -> Vec<u32> {
        [
            three(&self.output, 1),
            three(input, 1),
            three(&self.kernel, 1),
            three(&self.strides, 1),
            three(&self.dilations, 1),
            three(&self.pads_begin, 0),
        ]
        .concat()
    }

    /// Iterations of the three nested loops over one window.
    fn iterations(&self) -> usize {
        let [d, h, w] = three(&self.kernel, 1).map(|k| k as usize);
        d * h * w + d * h + d
    }
}

/// Where a window starts: `z0`, `y0`, `x0` is its corner; `c` is the channel of the result and `n` the batch.
const CORNER: &str = "\
let ox = i % p[4];
let oy = (i / p[4]) % p[3];
let oz = (i / (p[4] * p[3])) % p[2];
let c = (i / (p[4] * p[3] * p[2])) % p[20];
let n = i / (p[4] * p[3] * p[2] * p[20]);
let z0 = i32(oz * p[11]) - i32(p[17]);
let y0 = i32(oy * p[12]) - i32(p[18]);
let x0 = i32(ox * p[13]) - i32(p[19]);
";

/// Loops over a window; `EACH` runs for every element inside the tensor, at `at` from the channel's start, and `k` is
/// its number in the window.
const SLIDE: &str = "\
for (var kz = 0u; kz < p[8]; kz++) {
    let z = z0 + i32(kz * p[14]);
    if (z < 0 || z >= i32(p[5])) { continue; }
    for (var ky = 0u; ky < p[9]; ky++) {
        let y = y0 + i32(ky * p[15]);
        if (y < 0 || y >= i32(p[6])) { continue; }
        for (var kx = 0u; kx < p[10]; kx++) {
            let x = x0 + i32(kx * p[16]);
            if (x < 0 || x >= i32(p[7])) { continue; }
            let at = (u32(z) * p[6] + u32(y)) * p[7] + u32(x);
            let k = (kz * p[9] + ky) * p[10] + kx;
            EACH
        }
    }
}
";

impl Gpu {
    /// ONNX `Conv`: `x` is `[n, c, …]`, `w` is `[m, c / groups, …]`, `bias` is `[m]`.
    pub fn conv(
        &self,
        x: &GpuTensor,
        w: &GpuTensor,
        bias: Option<&GpuTensor>,
        window: &Window,
        groups: usize,
    ) -> Result<GpuTensor, GpuError> {
        let name = "Conv";
        let dtype = x.dtype();
        window.check(name, x.rank().saturating_sub(2))?;
        if !dtype.is_float() || w.dtype() != dtype || bias.is_some_and(|b| b.dtype() != dtype) {
            return Err(GpuError::dtype(name, dtype, "operands are floats of one dtype"));
        }
        let (channels, maps) = (x.shape()[1], w.shape().first().copied().unwrap_or(0));
        let fits = w.rank() == x.rank()
            && groups > 0
            && w.shape()[1] * groups == channels
            && maps % groups == 0
            && w.shape()[2..] == window.kernel[..]
            && bias.is_none_or(|b| b.shape() == [maps]);
        if !fits {
            let why = format!("{:?} by {:?} in {groups} groups with {window:?}", x.shape(), w.shape());
            return Err(GpuError::arguments(name, why));
        }
        self.require(name, dtype)?;
        let per_group = w.shape()[1];
        let each = window.iterations() + 1;
        let longest = self.loop_limit() / each;
        if longest == 0 {
            let what = "the window of a Conv".to_owned();
            return Err(GpuError::TooLarge { what, needed: each as u64, limit: self.loop_limit() as u64 });
        }
        let partial = if per_group > longest { accumulator(dtype) } else { dtype };
        let shape = [&[x.shape()[0], maps], &window.output[..]].concat();
        let output = self.alloc(partial, &shape)?;
        let base = window.params(&x.shape()[2..]);
        for start in (0..per_group.max(1)).step_by(longest) {
            let end = per_group.min(start + longest);
            let more =
                [maps, channels, per_group, maps / groups.max(1), start, end, usize::from(bias.is_some())];
            let params: Vec<u32> = base.iter().copied().chain(more.map(|v| v as u32)).collect();
            let source = || conv_source(dtype, partial);
            self.launch(&Launch {
                key: format!("conv {dtype} -> {partial}"),
                source: &source,
                inputs: &[x, w, bias.unwrap_or(w)],
                params: &params,
                output: &output,
                count: output.len(),
            })?;
        }
        if partial == dtype { Ok(output) } else { self.cast(&output, dtype) }
    }

    /// ONNX `MaxPool`, `AveragePool` and `LpPool` over `[n, c, …]`.
    pub fn pool(&self, pool: Pool, x: &GpuTensor, window: &Window) -> Result<GpuTensor, GpuError> {
        let name = pool.name();
        if pool != Pool::Max && !x.dtype().is_float() {
            return Err(GpuError::dtype(name, x.dtype(), "it is defined for floats"));
        }
        let source = || pool_source(pool, x.dtype());
        self.slide(name, &format!("pool {pool:?}"), &source, x, window, false, x.dtype())
    }

    /// The second output of ONNX `MaxPool`: the number of each window's largest element in `x`, as i64. Within an
    /// image, elements are numbered along the last axis first, or along the first (`column_major`).
    pub fn max_pool_indices(
        &self,
        x: &GpuTensor,
        window: &Window,
        column_major: bool,
    ) -> Result<GpuTensor, GpuError> {
        let source = || place_source(x.dtype());
        self.slide("MaxPool", "pool indices", &source, x, window, column_major, DType::I64)
    }

    /// Launches a kernel with one invocation per window.
    #[allow(clippy::too_many_arguments, reason = "the two callers differ in all of these")]
    fn slide(
        &self,
        name: &str,
        key: &str,
        source: &dyn Fn() -> String,
        x: &GpuTensor,
        window: &Window,
        column_major: bool,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let dtype = x.dtype();
        window.check(name, x.rank().saturating_sub(2))?;
        if dtype == DType::Bool {
            return Err(GpuError::dtype(name, dtype, "it is not defined for bool"));
        }
        self.require(name, dtype)?;
        if window.iterations() > self.loop_limit() {
            let what = format!("the window of a {name}");
            let (needed, limit) = (window.iterations() as u64, self.loop_limit() as u64);
            return Err(GpuError::TooLarge { what, needed, limit });
        }
        let shape = [&x.shape()[..2], &window.output[..]].concat();
        let output = self.alloc(to, &shape)?;
        let mut params = window.params(&x.shape()[2..]);
        params.push(x.shape()[1] as u32);
        params.extend(three(&window.pads_end, 0));
        params.push(u32::from(column_major));
        self.launch(&Launch {
            key: format!("{key} {dtype}"),
            source,
            inputs: &[x],
            params: &params,
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }
}

/// `p[20..]`: channels, padding at the end (unused), whether numbers run along the first axis first.
fn place_source(dtype: DType) -> String {
    let better = match Class::of(dtype) {
        Class::Float | Class::Double => "!is_nan(f32(r)) && (is_nan(f32(a)) || a > r)",
        _ => "a > r",
    };
    let each = format!(
        "let a = {}; if (count == 0u || ({better})) {{ r = a; place = select(at, (u32(x) * p[6] + u32(y)) * p[5] + u32(z), p[24] == 1u); }} count = 1u;",
        load(dtype, "in0[xc + at]"),
    );
    let body = format!(
        "{CORNER}let xc = (n * p[20] + c) * p[5] * p[6] * p[7];\nvar r = T(0);\nvar place = 0u;\nvar count = 0u;\n{}\
         out[i] = vec2<u32>(xc + place, 0u);",
        SLIDE.replace("EACH", &each),
    );
    kernel(&[storage(dtype)], "vec2<u32>", &format!("alias T = {};\n", Class::of(dtype).wgsl()), &body)
}

/// `p[20..]`: maps, channels, channels per group, maps per group, the channels of this launch, whether there is a bias.
fn conv_source(dtype: DType, to: DType) -> String {
    let each = format!("r += {} * {};", load(dtype, "in0[xc + at]"), load(dtype, "in1[wc + k]"));
    let body = format!(
        "{CORNER}var r = T(0);\nif (p[24] > 0u) {{\n    r = {};\n}} else if (p[26] == 1u) {{\n    r = {};\n}}\n\
         let first = (c / p[23]) * p[22];\nlet volume = p[5] * p[6] * p[7];\nlet size = p[8] * p[9] * p[10];\n\
         for (var g = p[24]; g < p[25]; g++) {{\n\
         let xc = (n * p[21] + first + g) * volume;\nlet wc = (c * p[22] + g) * size;\n{}}}\nout[i] = {};",
        load(to, "out[i]"),
        load(dtype, "in2[c]"),
        SLIDE.replace("EACH", &each),
        store(to, "r"),
    );
    let helpers = format!("alias T = {};\n", Class::of(dtype).wgsl());
    let input = storage(dtype);
    kernel(&[input, input, input], storage(to), &helpers, &body)
}

/// `p[20..]`: channels, padding at the end.
fn pool_source(pool: Pool, dtype: DType) -> String {
    let class = Class::of(dtype);
    let element = load(dtype, "in0[xc + at]");
    let max = match class {
        Class::Float => "f_max(r, a)",
        Class::Double => "d_max(r, a)",
        _ => "max(r, a)",
    };
    let (each, result) = match pool {
        Pool::Max => {
            let each = format!("let a = {element}; r = select({max}, a, count == 0u); count = 1u;");
            (each, "r".to_owned())
        }
        Pool::Average => (format!("r += {element}; count += 1u;"), "r / T(count)".to_owned()),
        Pool::AverageWithPadding => {
            // A window that rounding up pushed past the padding is divided by the part inside the padding.
            let counted = "T(inside(z0, 0u) * inside(y0, 1u) * inside(x0, 2u))";
            (format!("r += {element};"), format!("r / {counted}"))
        }
        Pool::L1 => (format!("r += abs({element});"), "r".to_owned()),
        Pool::L2 => (format!("let a = {element}; r += a * a;"), format!("{}(r)", root(dtype))),
    };
    let body = format!(
        "{CORNER}let xc = (n * p[20] + c) * p[5] * p[6] * p[7];\nvar r = T(0);\nvar count = 0u;\n{}out[i] = {};",
        SLIDE.replace("EACH", &each),
        store(dtype, &result),
    );
    let inside = "fn inside(corner: i32, axis: u32) -> u32 {\n    \
                  let room = i32(p[5u + axis] + p[21u + axis]) - 1 - corner;\n    \
                  return min(p[8u + axis], u32(max(room, 0)) / p[14u + axis] + 1u);\n}\n";
    let helpers = format!(
        "alias T = {};\n{}",
        class.wgsl(),
        if pool == Pool::AverageWithPadding { inside } else { "" }
    );
    kernel(&[storage(dtype)], storage(dtype), &helpers, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_read_well() {
        insta::assert_snapshot!("conv", conv_source(DType::F32, DType::F32));
        insta::assert_snapshot!("pool", pool_source(Pool::AverageWithPadding, DType::F16));
    }
}
