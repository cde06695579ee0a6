//! Matrix products.
//!
//! One invocation computes one element. Tiling through workgroup memory would be faster on hardware, but is slower on
//! the CPU drivers most machines test with. A long inner dimension is cut into launches that add to the result, because
//! drivers bound the loops of an invocation.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::record::Launch;
use super::reduce::accumulator;
use super::tensor::GpuTensor;
use super::view::{View, broadcast_shape, index_code, index_params};
use super::wgsl::{Class, kernel, load, storage, store};

/// A batch of matrices in memory: the batch axes of a tensor and how far apart rows and columns lie.
struct Matrices<'a> {
    tensor: &'a GpuTensor,
    batch: &'a [usize],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> Matrices<'a> {
    fn new(name: &str, tensor: &'a GpuTensor, transposed: bool) -> Result<Self, GpuError> {
        let shape = tensor.shape();
        let [batch @ .., rows, columns] = shape else {
            return Err(GpuError::arguments(name, format!("{shape:?} is no matrix")));
        };
        let own = Self { tensor, batch, rows: *rows, columns: *columns, row_step: *columns, column_step: 1 };
        if !transposed {
            return Ok(own);
        }
        Ok(Self { rows: *columns, columns: *rows, row_step: 1, column_step: *columns, ..own })
    }

    /// The batch axes broadcast to those of the result.
    fn view(&self, name: &str, batch: &[usize]) -> Result<View<'a>, GpuError> {
        let mut view = View::whole(self.tensor);
        let size = self.rows * self.columns;
        let mut strides = vec![0; batch.len() - self.batch.len()];
        let own = super::view::strides(self.batch);
        strides.extend(self.batch.iter().zip(own).map(|(&d, s)| if d == 1 { 0 } else { s * size as i64 }));
        if strides.len() != batch.len() {
            return Err(GpuError::arguments(
                name,
                format!("batch {:?} does not broadcast to {batch:?}", self.batch),
            ));
        }
        view.strides = strides;
        Ok(view)
    }
}

/// Whether a factor of integers is one that `i32` holds.
pub(super) fn is_whole(factor: f32) -> bool {
    factor == factor.trunc() && factor.abs() < 1e6
}

impl Gpu {
    /// ONNX `MatMul`: the last two axes are matrices, the others broadcast; a vector is a row on the left and a column
    /// on the right.
    pub fn matmul(&self, a: &GpuTensor, b: &GpuTensor) -> Result<GpuTensor, GpuError> {
        let name = "MatMul";
        let (left, right) = match (a.rank(), b.rank()) {
            (0, _) | (_, 0) => return Err(GpuError::arguments(name, "a scalar is no matrix")),
            (1, 1) => (a.reshape(&[1, a.len()])?, b.reshape(&[b.len(), 1])?),
            (1, _) => (a.reshape(&[1, a.len()])?, b.clone()),
            (_, 1) => (a.clone(), b.reshape(&[b.len(), 1])?),
            _ => (a.clone(), b.clone()),
        };
        let (left, right) = (Matrices::new(name, &left, false)?, Matrices::new(name, &right, false)?);
        let product = self.product(name, &left, &right, a.dtype())?;
        let mut shape = product.shape().to_vec();
        if b.rank() == 1 {
            shape.pop();
        }
        if a.rank() == 1 {
            shape.remove(shape.len() - if b.rank() == 1 { 1 } else { 2 });
        }
        product.reshape(&shape)
    }

    /// ONNX `Gemm`: `alpha · A' · B' + beta · C`, with `C` broadcast to the result.
    pub fn gemm(
        &self,
        a: &GpuTensor,
        b: &GpuTensor,
        c: Option<&GpuTensor>,
        transposed: [bool; 2],
        [alpha, beta]: [f32; 2],
    ) -> Result<GpuTensor, GpuError> {
        let name = "Gemm";
        let dtype = a.dtype();
        if !(dtype.is_float() || is_whole(alpha) && is_whole(beta)) {
            return Err(GpuError::dtype(name, dtype, "alpha and beta are not whole"));
        }
        let left = Matrices::new(name, a, transposed[0])?;
        let right = Matrices::new(name, b, transposed[1])?;
        let product = self.product(name, &left, &right, accumulator(dtype))?;
        let factor = |q: &str| if dtype.is_float() { format!("T({q})") } else { format!("T(i32({q}))") };
        let Some(c) = c else {
            let expr = format!("{} * a", factor("q0"));
            return self
                .map(&Map { name: "Gemm without C", expr: &expr, dtype, params: &[alpha] }, &[&product]);
        };
        let expr = format!("{} * a + {} * b", factor("q0"), factor("q1"));
        let result = self.map(&Map { name, expr: &expr, dtype, params: &[alpha, beta] }, &[&product, c])?;
        if result.shape() != product.shape() {
            return Err(GpuError::arguments(
                name,
                format!("C {:?} does not broadcast to the product", c.shape()),
            ));
        }
        Ok(result)
    }

    fn product(
        &self,
        name: &str,
        a: &Matrices<'_>,
        b: &Matrices<'_>,
        to: DType,
    ) -> Result<GpuTensor, GpuError> {
        let dtype = a.tensor.dtype();
        if b.tensor.dtype() != dtype || dtype == DType::Bool {
            return Err(GpuError::arguments(name, format!("operands are {dtype} and {}", b.tensor.dtype())));
        }
        if a.columns != b.rows {
            let why = format!("{:?} and {:?} do not multiply", a.tensor.shape(), b.tensor.shape());
            return Err(GpuError::arguments(name, why));
        }
        self.require(name, dtype)?;
        let batch = broadcast_shape(name, &[a.batch, b.batch])?;
        let views = [a.view(name, &batch)?, b.view(name, &batch)?];
        let shape = [&batch[..], &[a.rows, b.columns]].concat();
        let (k, longest) = (a.columns, self.loop_limit());
        // Partial sums must not be rounded to a shorter type.
        let partial = if k > longest { accumulator(dtype) } else { to };
        let output = self.alloc(partial, &shape)?;
        let index = index_params(&batch, &views);
        for start in (0..k.max(1)).step_by(longest) {
            let end = k.min(start + longest);
            let steps = [a.row_step, a.column_step, b.row_step, b.column_step].map(|s| s as u32);
            let mut params = vec![a.rows as u32, b.columns as u32, start as u32, end as u32];
            params.extend(steps);
            params.extend(&index);
            let source = || source(dtype, partial);
            self.launch(&Launch {
                key: format!("matmul {dtype} -> {partial}"),
                source: &source,
                inputs: &[a.tensor, b.tensor],
                params: &params,
                output: &output,
                count: output.len(),
            })?;
        }
        if partial == to { Ok(output) } else { self.cast(&output, to) }
    }
}

fn source(dtype: DType, to: DType) -> String {
    let body = format!(
        "let column = i % p[3];\nlet row = (i / p[3]) % p[2];\n{}\
         var at = x0 + row * p[6] + p[4] * p[7];\nvar bt = x1 + column * p[9] + p[4] * p[8];\n\
         var r = T(0);\nif (p[4] > 0u) {{ r = {}; }}\n\
         for (var k = p[4]; k < p[5]; k++) {{\n    r += {} * {};\n    at += p[7];\n    bt += p[8];\n}}\n\
         out[i] = {};",
        index_code("i / (p[2] * p[3])", 2, 10),
        load(to, "out[i]"),
        load(dtype, "in0[at]"),
        load(dtype, "in1[bt]"),
        store(to, "r"),
    );
    let helpers = format!("alias T = {};\n", Class::of(dtype).wgsl());
    kernel(&[storage(dtype), storage(dtype)], storage(to), &helpers, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_reads_well() {
        insta::assert_snapshot!(source(DType::F32, DType::F32));
    }
}
