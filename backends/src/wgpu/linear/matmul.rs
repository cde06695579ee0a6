//! MatMul, and the product that Gemm takes as well.
//!
//! One invocation computes one element, or a workgroup a [square](super::tile) of them. A long inner dimension is cut into
//! launches that add to the result, because drivers bound the loops of an invocation.

use ir::{DType, Type};
use ops::linear::MatMul;

use super::tile::{is_tiled, tiles};
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::record::{GpuTensor, Launch, View, broadcast_shape, strides, view_params};
use crate::wgpu::wgsl::{Body, Element, KernelForm, Shader, accumulator, body, params};

params! {
    /// The matrices of one batch, and the part of the inner dimension that a launch adds up.
    struct Product {
        /// Rows of the result.
        rows: u32,
        /// Columns of the result.
        columns: u32,
        start: u32,
        end: u32,
        /// How far apart rows and columns lie in memory.
        a_row_step: u32,
        a_column_step: u32,
        b_row_step: u32,
        b_column_step: u32,
    }
}

const BODY: Body<Product> = body!(Product, "matmul.wgsl");
const TILED: Body<Product> = body!(Product, "matmul_tiled.wgsl", "tile.wgsl");

impl Kernel for MatMul {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    /// The last two axes are matrices, the others broadcast; a vector is a row on the left and a column on the right.
    fn run(&self, c: &Call<'_>) -> Outputs {
        let (a, b) = (c.get(0)?, c.get(1)?);
        let (left, right) = match (a.rank(), b.rank()) {
            (0, _) | (_, 0) => return Err(c.refuse("a scalar is no matrix")),
            (1, 1) => (a.reshape(&[1, a.len()])?, b.reshape(&[b.len(), 1])?),
            (1, _) => (a.reshape(&[1, a.len()])?, b.clone()),
            (_, 1) => (a.clone(), b.reshape(&[b.len(), 1])?),
            _ => (a.clone(), b.clone()),
        };
        let (left, right) = (Matrices::new(c, &left, false)?, Matrices::new(c, &right, false)?);
        let product = product(c, &left, &right, a.dtype())?;
        let mut shape = product.shape().to_vec();
        if b.rank() == 1 {
            shape.pop();
        }
        if a.rank() == 1 {
            shape.remove(shape.len() - if b.rank() == 1 { 1 } else { 2 });
        }
        one(product.reshape(&shape))
    }
}

/// A batch of matrices in memory: the batch axes of a tensor and how far apart rows and columns lie.
pub(super) struct Matrices<'a> {
    tensor: &'a GpuTensor,
    batch: &'a [usize],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> Matrices<'a> {
    /// The last two axes of a tensor, as they are or transposed.
    pub(super) fn new(c: &Call<'_>, tensor: &'a GpuTensor, transposed: bool) -> Result<Self, GpuError> {
        let shape = tensor.shape();
        let [batch @ .., rows, columns] = shape else {
            return Err(c.refuse(format!("{shape:?} is no matrix")));
        };
        let own = Self { tensor, batch, rows: *rows, columns: *columns, row_step: *columns, column_step: 1 };
        if !transposed {
            return Ok(own);
        }
        Ok(Self { rows: *columns, columns: *rows, row_step: 1, column_step: *columns, ..own })
    }

    /// The batch axes broadcast to those of the result.
    fn view(&self, c: &Call<'_>, batch: &[usize]) -> Result<View<'a>, GpuError> {
        let mut view = View::whole(self.tensor);
        let size = self.rows * self.columns;
        let mut steps = vec![0; batch.len() - self.batch.len()];
        let own = strides(self.batch);
        steps.extend(self.batch.iter().zip(own).map(|(&d, s)| if d == 1 { 0 } else { s * size as i64 }));
        if steps.len() != batch.len() {
            return Err(c.refuse(format!("batch {:?} does not broadcast to {batch:?}", self.batch)));
        }
        view.strides = steps;
        Ok(view)
    }
}

/// The product of matrices of one dtype, as `to`.
pub(super) fn product(
    c: &Call<'_>,
    a: &Matrices<'_>,
    b: &Matrices<'_>,
    to: DType,
) -> Result<GpuTensor, GpuError> {
    let dtype = a.tensor.dtype();
    if b.tensor.dtype() != dtype || dtype == DType::Bool {
        return Err(c.refuse(format!("operands are {dtype} and {}", b.tensor.dtype())));
    }
    if a.columns != b.rows {
        let why = format!("{:?} and {:?} do not multiply", a.tensor.shape(), b.tensor.shape());
        return Err(c.refuse(why));
    }
    let batch = broadcast_shape(c.name, &[a.batch, b.batch])?;
    let views = view_params(&batch, &[a.view(c, &batch)?, b.view(c, &batch)?]);
    let shape = [&batch[..], &[a.rows, b.columns]].concat();
    let is_tiled = is_tiled(c.gpu, a.rows, b.columns, a.columns);
    // For eight places of the inner dimension an invocation goes round thirteen and more times in a square.
    let stretches = c.stretches(a.columns, if is_tiled { 2 } else { 1 })?;
    // Partial sums must not be rounded to a shorter type.
    let partial = if stretches.len() > 1 { accumulator(dtype) } else { to };
    let output = c.gpu.alloc(partial, &shape)?;
    let (body, form) = if is_tiled { (TILED, KernelForm::Teams) } else { (BODY, KernelForm::Elements) };
    let shader = Shader::new(c.name, body, dtype, Element::Number(partial))
        .reads("a", Element::Number(dtype))
        .reads("b", Element::Number(dtype))
        .views(2)
        .form(form);
    let matrices = batch.iter().product::<usize>();
    let count = if is_tiled { matrices * tiles(a.rows, b.columns) } else { output.len() };
    for stretch in stretches {
        let params = Product {
            rows: a.rows as u32,
            columns: b.columns as u32,
            start: stretch.start,
            end: stretch.end,
            a_row_step: a.row_step as u32,
            a_column_step: a.column_step as u32,
            b_row_step: b.row_step as u32,
            b_column_step: b.column_step as u32,
        };
        let views = views.clone();
        c.gpu.launch(&Launch {
            views,
            count,
            ..Launch::new(&shader, &[a.tensor, b.tensor], params, &output)
        })?;
    }
    if partial == to { Ok(output) } else { c.gpu.cast(&output, to) }
}
