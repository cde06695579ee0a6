//! Operators that move elements and compute nothing: they work on words, so every bit arrives, also of NaNs.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::record::Launch;
use super::tensor::{GpuTensor, stored_size};
use super::view::{View, index_code, index_params, strides};
use super::wgsl::kernel;

/// How [`Gpu::pad`] fills the border.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PadMode {
    /// With one value.
    Constant,
    /// With the nearest element.
    Edge,
    /// With the tensor mirrored at its first and last element, which are not repeated.
    Reflect,
    /// With the tensor repeated.
    Wrap,
}

/// The WGSL type that holds the bits of one stored element. 64-bit elements move without `SHADER_INT64`.
pub(super) fn word(dtype: DType) -> &'static str {
    match stored_size(dtype) {
        2 => "f16",
        8 => "vec2<u32>",
        _ => "u32",
    }
}

impl Gpu {
    /// Reads a strided view into a new tensor.
    pub(super) fn gather_view(
        &self,
        kernel_name: &str,
        view: &View<'_>,
        shape: &[usize],
    ) -> Result<GpuTensor, GpuError> {
        let dtype = view.tensor.dtype();
        self.require_words(kernel_name, dtype)?;
        let output = self.alloc(dtype, shape)?;
        let word = word(dtype);
        let source = || kernel(&[word], word, "", &format!("{}out[i] = in0[x0];", index_code("i", 1, 2)));
        self.launch(&Launch {
            key: format!("strided copy {word}"),
            source: &source,
            inputs: &[view.tensor],
            params: &index_params(shape, std::slice::from_ref(view)),
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// Moving words needs a feature only where words are f16.
    pub(super) fn require_words(&self, kernel_name: &str, dtype: DType) -> Result<(), GpuError> {
        if dtype == DType::F16 { self.require(kernel_name, dtype) } else { Ok(()) }
    }

    /// ONNX `Transpose`: axis `a` of the result is axis `perm[a]` of `x`.
    pub fn transpose(&self, x: &GpuTensor, perm: &[usize]) -> Result<GpuTensor, GpuError> {
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..x.rank()) {
            return Err(GpuError::arguments(
                "Transpose",
                format!("{perm:?} is no permutation of {} axes", x.rank()),
            ));
        }
        let whole = strides(x.shape());
        let shape: Vec<_> = perm.iter().map(|&a| x.shape()[a]).collect();
        let view = View { tensor: x, offset: 0, strides: perm.iter().map(|&a| whole[a]).collect() };
        self.gather_view("Transpose", &view, &shape)
    }

    /// ONNX `Expand`: broadcasting in both directions.
    pub fn expand(&self, x: &GpuTensor, shape: &[usize]) -> Result<GpuTensor, GpuError> {
        let shape = super::view::broadcast_shape("Expand", &[x.shape(), shape])?;
        self.gather_view("Expand", &View::broadcast("Expand", x, &shape)?, &shape)
    }

    /// ONNX `Tile`: whole copies one after the other along every axis, up to `shape`.
    pub fn tile(&self, x: &GpuTensor, shape: &[usize]) -> Result<GpuTensor, GpuError> {
        let own = x.shape();
        // An empty axis stays empty however often it is repeated.
        let repeats = |axis: usize| match own[axis] {
            0 => Some(0),
            d => shape[axis].is_multiple_of(d).then_some(shape[axis] / d),
        };
        let repeats: Option<Vec<_>> =
            (shape.len() == own.len()).then(|| (0..own.len()).map(repeats).collect()).flatten();
        let repeats = repeats
            .ok_or_else(|| GpuError::arguments("Tile", format!("{own:?} does not repeat to {shape:?}")))?;
        // Each axis is a pair: which copy, which does not change what is read, and where in it.
        let (mut pairs, mut steps) = (Vec::new(), Vec::new());
        for ((&d, stride), repeats) in own.iter().zip(strides(own)).zip(repeats) {
            pairs.extend([repeats, d]);
            steps.extend([0, stride]);
        }
        self.gather_view("Tile", &View { tensor: x, offset: 0, strides: steps }, &pairs)?.reshape(shape)
    }

    /// Part of a tensor: on each axis, `count` elements from `start`, `step` apart. `step` may be negative. ONNX
    /// `Slice` and `Split` after their bounds are clamped.
    pub fn slice(
        &self,
        x: &GpuTensor,
        start: &[i64],
        step: &[i64],
        count: &[usize],
    ) -> Result<GpuTensor, GpuError> {
        let rank = x.rank();
        if [start.len(), step.len(), count.len()] != [rank; 3] {
            return Err(GpuError::arguments(
                "Slice",
                format!("a start, step and count for each of {rank} axes"),
            ));
        }
        let whole = strides(x.shape());
        let mut view = View { tensor: x, offset: 0, strides: Vec::with_capacity(rank) };
        for axis in 0..rank {
            let last = start[axis] + step[axis] * (count[axis] as i64 - 1);
            let inside = |at: i64| (0..x.shape()[axis] as i64).contains(&at);
            if count[axis] > 0 && !(inside(start[axis]) && inside(last)) {
                let why = format!("{}..={last} leaves axis {axis} of {:?}", start[axis], x.shape());
                return Err(GpuError::arguments("Slice", why));
            }
            view.offset += start[axis] * whole[axis];
            view.strides.push(step[axis] * whole[axis]);
        }
        self.gather_view("Slice", &view, count)
    }

    /// ONNX `Concat`.
    pub fn concat(&self, parts: &[&GpuTensor], axis: usize) -> Result<GpuTensor, GpuError> {
        let first = parts.first().ok_or_else(|| GpuError::arguments("Concat", "no operand"))?;
        let mut shape = first.shape().to_vec();
        let alike = |t: &GpuTensor| {
            let others = |s: &[usize]| {
                s.iter().enumerate().filter(|(a, _)| *a != axis).map(|(_, &d)| d).collect::<Vec<_>>()
            };
            t.dtype() == first.dtype()
                && t.rank() == first.rank()
                && others(t.shape()) == others(first.shape())
        };
        if axis >= shape.len() || !parts.iter().all(|t| alike(t)) {
            let shapes: Vec<_> = parts.iter().map(|t| t.shape()).collect();
            return Err(GpuError::arguments("Concat", format!("{shapes:?} do not join at axis {axis}")));
        }
        self.require_words("Concat", first.dtype())?;
        shape[axis] = parts.iter().map(|t| t.shape()[axis]).sum();
        let output = self.alloc(first.dtype(), &shape)?;
        let word = word(first.dtype());
        let inner: usize = shape[axis + 1..].iter().product();
        let row = shape[axis] * inner;
        let mut start = 0;
        for part in parts {
            let own = part.shape()[axis] * inner;
            let source = || kernel(&[word], word, "", "out[(i / p[2]) * p[3] + p[4] + i % p[2]] = in0[i];");
            self.launch(&Launch {
                key: format!("concat {word}"),
                source: &source,
                inputs: &[part],
                params: &[own as u32, row as u32, start as u32],
                output: &output,
                count: part.len(),
            })?;
            start += own;
        }
        Ok(output)
    }

    /// ONNX `Pad`: `before` and `after` on each axis; negative amounts remove elements. `value` is a scalar of the same
    /// dtype for [`PadMode::Constant`]; zero if absent.
    pub fn pad(
        &self,
        x: &GpuTensor,
        before: &[i64],
        after: &[i64],
        mode: PadMode,
        value: Option<&GpuTensor>,
    ) -> Result<GpuTensor, GpuError> {
        let refuse = |why: String| GpuError::arguments("Pad", why);
        if before.len() != x.rank() || after.len() != x.rank() {
            return Err(refuse(format!(
                "{} and {} amounts for {} axes",
                before.len(),
                after.len(),
                x.rank()
            )));
        }
        // Cropping comes first, so that the other modes repeat what is left.
        if before.iter().chain(after).any(|&amount| amount < 0) {
            let crop: Vec<_> = before.iter().map(|&b| (-b).max(0)).collect();
            let left = |a: usize| x.shape()[a] as i64 - crop[a] + after[a].min(0);
            let count: Result<Vec<_>, _> = (0..x.rank()).map(|a| usize::try_from(left(a))).collect();
            let count = count.map_err(|_| refuse(format!("{:?} has less to remove", x.shape())))?;
            let cropped = self.slice(x, &crop, &vec![1; x.rank()], &count)?;
            let grown = |amounts: &[i64]| amounts.iter().map(|&v| v.max(0)).collect::<Vec<_>>();
            return self.pad(&cropped, &grown(before), &grown(after), mode, value);
        }
        let mut shape = Vec::with_capacity(x.rank());
        for (axis, &d) in x.shape().iter().enumerate() {
            let padded = d as i64 + before[axis] + after[axis];
            let size = usize::try_from(padded)
                .map_err(|_| refuse(format!("axis {axis} of {d} ends up as {padded}")))?;
            if d == 0 && size > 0 && mode != PadMode::Constant {
                return Err(refuse(format!("axis {axis} is empty and {mode:?} has nothing to repeat")));
            }
            shape.push(size);
        }
        if value.is_some_and(|v| v.dtype() != x.dtype() || v.len() != 1) {
            return Err(refuse("the value is not one element of the same dtype".to_owned()));
        }
        self.require_words("Pad", x.dtype())?;
        let output = self.alloc(x.dtype(), &shape)?;
        let own = strides(x.shape());
        let mut params = vec![shape.len() as u32, u32::from(value.is_some())];
        for axis in (0..shape.len()).rev() {
            params.extend([
                shape[axis] as u32,
                x.shape()[axis] as u32,
                before[axis] as u32,
                own[axis] as u32,
            ]);
        }
        let word = word(x.dtype());
        let source = || kernel(&[word, word], word, pad_source(mode), &pad_body(word));
        self.launch(&Launch {
            key: format!("pad {mode:?} {word}"),
            source: &source,
            inputs: &[x, value.unwrap_or(x)],
            params: &params,
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// ONNX `Trilu`: the elements on one side of a diagonal of the last two axes, zeros on the other. The diagonal, `k`
    /// above the main one, stays.
    pub fn trilu(&self, x: &GpuTensor, upper: bool, k: i64) -> Result<GpuTensor, GpuError> {
        let [.., rows, columns] = x.shape() else {
            return Err(GpuError::arguments("Trilu", format!("{:?} is no matrix", x.shape())));
        };
        self.require_words("Trilu", x.dtype())?;
        let output = self.alloc(x.dtype(), x.shape())?;
        // A diagonal outside the matrix keeps all or nothing, however far it is.
        let most = (rows + columns) as i64;
        let word = word(x.dtype());
        let body = format!(
            "let column = i32(i % p[3]);\nlet edge = i32((i / p[3]) % p[2]) + i32(p[4]);\n\
             let inside = select(column <= edge, column >= edge, p[5] == 1u);\n\
             if (inside) {{ out[i] = in0[i]; }} else {{ out[i] = {word}(); }}"
        );
        let source = || kernel(&[word], word, "", &body);
        self.launch(&Launch {
            key: format!("trilu {word}"),
            source: &source,
            inputs: &[x],
            params: &[*rows as u32, *columns as u32, k.clamp(-most, most) as u32, u32::from(upper)],
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }
}

fn pad_body(word: &str) -> String {
    format!(
        "var rest = i;\nvar at = 0u;\nvar outside = false;\n\
         for (var a = 0u; a < p[2]; a++) {{\n    let axis = 4u + 4u * a;\n\
         \x20   let c = i32(rest % p[axis]) - i32(p[axis + 2u]);\n    rest = rest / p[axis];\n\
         \x20   let n = i32(p[axis + 1u]);\n    let s = border(c, n);\n\
         \x20   outside = outside || s < 0 || s >= n;\n    at += u32(s) * p[axis + 3u];\n}}\n\
         if (!outside) {{\n    out[i] = in0[at];\n}} else if (p[3] == 1u) {{\n    out[i] = in1[0];\n}} else {{\n    out[i] = {word}();\n}}"
    )
}

/// Which element of an axis of `n` position `c` reads.
fn pad_source(mode: PadMode) -> &'static str {
    match mode {
        PadMode::Constant => "fn border(c: i32, n: i32) -> i32 { return c; }\n",
        PadMode::Edge => "fn border(c: i32, n: i32) -> i32 { return clamp(c, 0, n - 1); }\n",
        PadMode::Reflect => {
            "fn border(c: i32, n: i32) -> i32 {\n    let period = max(2 * n - 2, 1);\n    \
             let m = u32(select(c, -c, c < 0)) % u32(period);\n    return select(i32(m), period - i32(m), i32(m) >= n);\n}\n"
        }
        PadMode::Wrap => {
            "fn border(c: i32, n: i32) -> i32 {\n    if (c >= 0) { return i32(u32(c) % u32(n)); }\n    \
             return n - 1 - i32(u32(-c - 1) % u32(n));\n}\n"
        }
    }
}
