//! Operators that read or write where an index tensor says.

use ir::{DType, Tensor, Type};

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::movement::word;
use super::record::Launch;
use super::tensor::GpuTensor;
use super::view::{View, index_code, index_params};
use super::wgsl::kernel;

impl Gpu {
    /// ONNX `Gather`: the slices of `x` along `axis` that `indices` (i32 or i64, negative from the end) names. An index
    /// out of range reads the nearest slice.
    pub fn gather(&self, x: &GpuTensor, indices: &GpuTensor, axis: usize) -> Result<GpuTensor, GpuError> {
        let Some(&extent) = x.shape().get(axis) else {
            return Err(GpuError::arguments("Gather", format!("no axis {axis} in {:?}", x.shape())));
        };
        if extent == 0 && !indices.is_empty() {
            return Err(GpuError::arguments("Gather", format!("axis {axis} of {:?} is empty", x.shape())));
        }
        self.require_words("Gather", x.dtype())?;
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
        let output = self.alloc(x.dtype(), &shape)?;
        let (index, low) = index_word("Gather", indices.dtype())?;
        let word = word(x.dtype());
        let body = format!(
            "let inner = i % p[2];\nlet k = (i / p[2]) % p[3];\nlet outer = i / (p[2] * p[3]);\n\
             let at = wrap_index(in1[k]{low}, p[4]);\nout[i] = in0[(outer * p[4] + at) * p[2] + inner];"
        );
        let source = || kernel(&[word, index], word, "", &body);
        self.launch(&Launch {
            key: format!("gather {word} {index}"),
            source: &source,
            inputs: &[x, indices],
            params: &[inner as u32, indices.len() as u32, extent as u32],
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// ONNX `GatherElements`: element `[.., k, ..]` of the result is element `[.., indices[.., k, ..], ..]` of `x`.
    pub fn gather_elements(
        &self,
        x: &GpuTensor,
        indices: &GpuTensor,
        axis: usize,
    ) -> Result<GpuTensor, GpuError> {
        let fits = axis < x.rank()
            && indices.rank() == x.rank()
            && (0..x.rank()).all(|a| a == axis || indices.shape()[a] <= x.shape()[a])
            && (indices.is_empty() || x.shape()[axis] > 0);
        if !fits {
            let why = format!("indices {:?} into {:?} along axis {axis}", indices.shape(), x.shape());
            return Err(GpuError::arguments("GatherElements", why));
        }
        self.require_words("GatherElements", x.dtype())?;
        let output = self.alloc(x.dtype(), indices.shape())?;
        let mut view = View::whole(x);
        let step = std::mem::replace(&mut view.strides[axis], 0);
        let mut params = vec![x.shape()[axis] as u32, step as u32];
        params.extend(index_params(indices.shape(), &[view]));
        let (index, low) = index_word("GatherElements", indices.dtype())?;
        let word = word(x.dtype());
        let body =
            format!("{}out[i] = in0[x0 + wrap_index(in1[i]{low}, p[2]) * p[3]];", index_code("i", 1, 4));
        let source = || kernel(&[word, index], word, "", &body);
        self.launch(&Launch {
            key: format!("gather elements {word} {index}"),
            source: &source,
            inputs: &[x, indices],
            params: &params,
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// ONNX `ReverseSequence`: of each batch, the first `lengths` (i64) steps in time backwards. The batch is axis 0 and
    /// time axis 1 (`batch_first`), or the other way round.
    pub fn reverse_sequence(
        &self,
        x: &GpuTensor,
        lengths: &GpuTensor,
        batch_first: bool,
    ) -> Result<GpuTensor, GpuError> {
        let name = "ReverseSequence";
        let [first, second, rest @ ..] = x.shape() else {
            return Err(GpuError::arguments(name, format!("{:?} has no batch and time", x.shape())));
        };
        let batch = if batch_first { *first } else { *second };
        if lengths.dtype() != DType::I64 || lengths.shape() != [batch] {
            let why =
                format!("lengths are {:?} of {}, the batch is {batch}", lengths.shape(), lengths.dtype());
            return Err(GpuError::arguments(name, why));
        }
        self.require_words(name, x.dtype())?;
        let output = self.alloc(x.dtype(), x.shape())?;
        let inner: usize = rest.iter().product();
        let word = word(x.dtype());
        let axes =
            if batch_first { ("a0", "a1", "a0 * p[3] + step") } else { ("a1", "a0", "step * p[3] + a1") };
        let (batch, time, row) = axes;
        let body = format!(
            "let inner = i % p[4];\nlet a1 = (i / p[4]) % p[3];\nlet a0 = i / (p[4] * p[3]);\n\
             let time = {time};\nlet length = min(in1[{batch}].x, p[5]);\n\
             let step = select(time, length - 1u - time, time < length);\nout[i] = in0[({row}) * p[4] + inner];"
        );
        let source = || kernel(&[word, "vec2<u32>"], word, "", &body);
        let steps = if batch_first { *second } else { *first };
        self.launch(&Launch {
            key: format!("reverse sequence {word} batch first {batch_first}"),
            source: &source,
            inputs: &[x, lengths],
            params: &[*first as u32, *second as u32, inner as u32, steps as u32],
            output: &output,
            count: output.len(),
        })?;
        Ok(output)
    }

    /// ONNX `EyeLike`: ones on the diagonal `k` above the main one, zeros elsewhere.
    pub fn eye(&self, dtype: DType, shape: &[usize], k: i64) -> Result<GpuTensor, GpuError> {
        let &[rows, columns] = shape else {
            return Err(GpuError::arguments("EyeLike", format!("{shape:?} is no matrix")));
        };
        let (rows, columns) = (self.places(DType::I32, 2, 0, rows)?, self.places(DType::I32, 2, 1, columns)?);
        // A diagonal outside the matrix is nowhere, however far it is.
        let most = (rows.len() + columns.len()) as i64;
        let k = self.upload(&Tensor::from_i128_fn(&Type::new(DType::I32, []), |_| {
            i128::from(k.clamp(-most, most))
        }))?;
        let map = Map { name: "EyeLike", expr: "select(T(0), T(1), b - a == c)", dtype, params: &[] };
        self.map(&map, &[&rows, &columns, &k])
    }

    /// 0, 1, 2, … along one axis of a tensor of that rank; the other axes are 1.
    pub(super) fn places(
        &self,
        dtype: DType,
        rank: usize,
        axis: usize,
        n: usize,
    ) -> Result<GpuTensor, GpuError> {
        let mut shape = vec![1i64; rank];
        shape[axis] = n as i64;
        self.upload(&Tensor::from_i128_fn(&Type::new(dtype, shape), |i| i as i128))
    }

    /// ONNX `OneHot`: along a new axis of `depth`, the second of `values` where an index points and the first
    /// elsewhere. Indices of any numeric dtype are truncated, and count from the end if negative.
    pub fn one_hot(
        &self,
        indices: &GpuTensor,
        values: &GpuTensor,
        depth: usize,
        axis: usize,
    ) -> Result<GpuTensor, GpuError> {
        let name = "OneHot";
        if axis > indices.rank() || values.shape() != [2] {
            let why = format!("axis {axis} for indices {:?}, values {:?}", indices.shape(), values.shape());
            return Err(GpuError::arguments(name, why));
        }
        let mut shape = indices.shape().to_vec();
        shape.insert(axis, 1);
        // As i64, the largest of u64 would count from the end.
        let unsigned = indices.dtype() == DType::U64;
        let whole = if unsigned { DType::U64 } else { DType::I64 };
        let indices = self.cast(indices, whole)?.reshape(&shape)?;
        let places = self.places(whole, shape.len(), axis, depth)?;
        let depth = self.upload(&Tensor::from_i128_fn(&Type::new(whole, []), |_| depth as i128))?;
        let value = |i| self.slice(values, &[i], &[1], &[1])?.reshape(&[]);
        let expr =
            if unsigned { "select(c, d, a == b)" } else { "select(c, d, a == select(b, b + e, b < i64(0)))" };
        let map = Map { name, expr, dtype: values.dtype(), params: &[] };
        self.map(&map, &[&places, &indices, &value(0)?, &value(1)?, &depth])
    }
}

/// The WGSL type of an index tensor and how its low 32 bits are reached: tensors are smaller than that.
fn index_word(kernel: &str, dtype: DType) -> Result<(&'static str, &'static str), GpuError> {
    match dtype {
        DType::I32 => Ok(("u32", "")),
        DType::I64 => Ok(("vec2<u32>", ".x")),
        _ => Err(GpuError::dtype(kernel, dtype, "indices are i32 or i64")),
    }
}
