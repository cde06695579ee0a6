//! One use of an operator, as a kernel sees it: typed slices in, tensors out.

use std::borrow::Cow;

use ir::tensor::Element;
use ir::{DType, Tensor, Type};

use super::Kernels;
use super::element::Numeric;
use super::error::{CpuError, Outputs};
use super::strided::{Rows, broadcast};

/// The operands of a node and the types of its outputs.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) inputs: &'a [Option<&'a Tensor>],
    pub(crate) outputs: &'a [Type],
    /// Which kernels run, should this one need others.
    pub(crate) kernels: Kernels,
}

impl<'a> Call<'a> {
    /// How many threads the kernel may use.
    pub(crate) fn threads(&self) -> usize {
        match self.kernels {
            Kernels::Vector { threads } => threads.max(1),
            Kernels::Plain => 1,
        }
    }

    /// An operand that may be absent.
    pub(crate) fn opt(&self, i: usize) -> Option<&'a Tensor> {
        self.inputs.get(i).copied().flatten()
    }

    /// An operand.
    pub(crate) fn tensor(&self, i: usize) -> Result<&'a Tensor, CpuError> {
        self.opt(i).ok_or(CpuError::Missing(i))
    }

    /// The dtype of an operand.
    pub(crate) fn dtype(&self, i: usize) -> Result<DType, CpuError> {
        Ok(self.tensor(i)?.dtype())
    }

    /// The size of each axis of an operand.
    pub(crate) fn shape(&self, i: usize) -> Result<&'a [usize], CpuError> {
        Ok(self.tensor(i)?.shape())
    }

    /// The elements of an operand in row-major order.
    pub(crate) fn elements<T: Element>(&self, i: usize) -> Result<Cow<'a, [T]>, CpuError> {
        let tensor = self.tensor(i)?;
        let array = T::of(tensor).ok_or(CpuError::DType { operand: i, found: tensor.dtype() })?;
        Ok(T::row_major(array))
    }

    /// The elements of an operand in row-major order, in the type kernels calculate in.
    pub(crate) fn loaded<T: Numeric>(&self, i: usize) -> Result<Vec<T::Work>, CpuError> {
        Ok(self.elements::<T>(i)?.iter().map(|&x| x.load()).collect())
    }

    /// The only output, with these numbers.
    pub(crate) fn only_numbers<T: Numeric>(&self, numbers: Vec<T::Work>) -> Outputs {
        self.only(numbers.into_iter().map(T::store).collect())
    }

    /// The type of an output.
    pub(crate) fn output(&self, i: usize) -> Result<&'a Type, CpuError> {
        self.outputs.get(i).ok_or(CpuError::Invalid("it declares too few outputs"))
    }

    /// An output with these elements.
    pub(crate) fn store<T: Element>(&self, i: usize, elements: Vec<T>) -> Result<Tensor, CpuError> {
        let tensor = T::shaped(&self.output(i)?.extents(), elements);
        tensor.ok_or(CpuError::Invalid("its operands do not fill its output"))
    }

    /// The only output, with these elements.
    pub(crate) fn only<T: Element>(&self, elements: Vec<T>) -> Outputs {
        Ok(vec![self.store(0, elements)?])
    }

    /// The only output: a function of each element of the first operand.
    ///
    /// Of this, as of `zip`, the loop alone is compiled for every function.
    pub(crate) fn map<T: Element, U: Element>(&self, f: impl Fn(T) -> U) -> Outputs {
        self.in_one_run(&|x: &[T], out: &mut [U]| {
            for (y, &x) in out.iter_mut().zip(x) {
                *y = f(x);
            }
        })
    }

    /// The only output, which a loop over the elements of the first operand writes.
    fn in_one_run<T: Element, U: Element>(&self, run: &dyn Fn(&[T], &mut [U])) -> Outputs {
        let x = self.elements::<T>(0)?;
        let mut out = blank(x.len());
        run(&x, &mut out);
        self.only(out)
    }

    /// The only output: a function of each number of the first operand.
    pub(crate) fn map_numbers<T: Numeric>(&self, f: impl Fn(T::Work) -> T::Work) -> Outputs {
        self.map::<T, T>(|x| T::store(f(x.load())))
    }

    /// The only output: a function of two elements, of operands that broadcast.
    pub(crate) fn zip<T: Element, U: Element, V: Element>(&self, f: impl Fn(T, U) -> V) -> Outputs {
        self.in_rows_of(&row(f))
    }

    /// As `zip`, of the operands' elements as something else.
    pub(crate) fn zip_slices<X: Copy, Y: Copy, V: Element>(
        &self,
        x: &[X],
        y: &[Y],
        f: impl Fn(X, Y) -> V,
    ) -> Outputs {
        self.in_rows(x, y, &row(f))
    }

    /// The only output, whose rows a loop writes over those of the first two operands.
    fn in_rows_of<T: Element, U: Element, V: Element>(&self, run: &Row<'_, T, U, V>) -> Outputs {
        self.in_rows(&self.elements::<T>(0)?, &self.elements::<U>(1)?, run)
    }

    /// The same over slices.
    fn in_rows<X, Y, V: Element>(&self, x: &[X], y: &[Y], run: &Row<'_, X, Y, V>) -> Outputs {
        let (rows, count) = self.pairs()?;
        let mut out = blank(count);
        for (row, [i, j]) in out.chunks_mut(rows.len.max(1)).zip(rows.starts()) {
            run(&x[rows.part(0, i)], &y[rows.part(1, j)], row);
        }
        self.only(out)
    }

    /// How the first two operands are walked in step with the output, and how many elements that has.
    fn pairs(&self) -> Result<(Rows<2>, usize), CpuError> {
        let shape = self.output(0)?.extents();
        let strides = [broadcast(self.shape(0)?, &shape)?, broadcast(self.shape(1)?, &shape)?];
        let rows = Rows::new(&shape, &strides);
        if rows.step == [0, 0] {
            return Err(CpuError::Invalid("its output is larger than both of its operands"));
        }
        Ok((rows, shape.iter().product()))
    }

    /// The only output: a function of two numbers, of operands that broadcast.
    pub(crate) fn zip_numbers<T: Numeric>(&self, f: impl Fn(T::Work, T::Work) -> T::Work) -> Outputs {
        self.zip::<T, T, T>(|x, y| T::store(f(x.load(), y.load())))
    }
}

/// A loop over a row of two operands and of the result.
type Row<'f, X, Y, V> = dyn Fn(&[X], &[Y], &mut [V]) + 'f;

/// A loop that combines the numbers of a result with elements of an operand.
pub(crate) type Join<'f, W, T> = dyn Fn(&mut [W], &[T]) + 'f;

/// A loop over a row: a function of two elements each. One that stands alone stands for as many as there are of the others.
fn row<X: Copy, Y: Copy, V>(f: impl Fn(X, Y) -> V) -> impl Fn(&[X], &[Y], &mut [V]) {
    move |x, y, row| match (x, y) {
        (&[x], y) => {
            for (z, &y) in row.iter_mut().zip(y) {
                *z = f(x, y);
            }
        }
        (x, &[y]) => {
            for (z, &x) in row.iter_mut().zip(x) {
                *z = f(x, y);
            }
        }
        (x, y) => {
            for ((z, &x), &y) in row.iter_mut().zip(x).zip(y) {
                *z = f(x, y);
            }
        }
    }
}

/// Room for elements, all of which will be written.
fn blank<T: Element>(count: usize) -> Vec<T> {
    vec![T::from_i128(0); count]
}
