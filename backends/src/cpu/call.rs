//! One use of an operator, as a kernel sees it: typed slices in, tensors out.

use std::borrow::Cow;

use ir::tensor::Element;
use ir::{DType, Tensor, Type};
use ndarray::{ArrayD, IxDyn};

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
        Ok(match array.as_slice() {
            Some(elements) => Cow::Borrowed(elements),
            None => Cow::Owned(array.iter().copied().collect()),
        })
    }

    /// The elements of an operand in row-major order, in the type kernels calculate in.
    pub(crate) fn loaded<T: Numeric>(&self, i: usize) -> Result<Vec<T::Work>, CpuError> {
        Ok(self.elements::<T>(i)?.iter().map(|&x| x.load()).collect())
    }

    /// The type of an output.
    pub(crate) fn output(&self, i: usize) -> Result<&'a Type, CpuError> {
        self.outputs.get(i).ok_or(CpuError::Invalid("it declares too few outputs"))
    }

    /// An output with these elements.
    pub(crate) fn store<T: Element>(&self, i: usize, elements: Vec<T>) -> Result<Tensor, CpuError> {
        let array = ArrayD::from_shape_vec(IxDyn(&self.output(i)?.extents()), elements);
        array.map(T::wrap).map_err(|_| CpuError::Invalid("its operands do not fill its output"))
    }

    /// The only output, with these elements.
    pub(crate) fn only<T: Element>(&self, elements: Vec<T>) -> Outputs {
        Ok(vec![self.store(0, elements)?])
    }

    /// The only output: a function of each element of the first operand.
    ///
    /// Compiled for every function and dtype, as `zip` is: plain loops over what is there cost a compiler a fraction of
    /// what chains of iterators do.
    pub(crate) fn map<T: Element, U: Element>(&self, f: impl Fn(T) -> U) -> Outputs {
        let x = self.elements::<T>(0)?;
        let mut out = blank(x.len());
        for (y, &x) in out.iter_mut().zip(x.iter()) {
            *y = f(x);
        }
        self.only(out)
    }

    /// The only output: a function of each number of the first operand.
    pub(crate) fn map_numbers<T: Numeric>(&self, f: impl Fn(T::Work) -> T::Work) -> Outputs {
        self.map::<T, T>(|x| T::store(f(x.load())))
    }

    /// The only output: a function of two elements, of operands that broadcast.
    pub(crate) fn zip<T: Element, U: Element, V: Element>(&self, f: impl Fn(T, U) -> V) -> Outputs {
        self.zip_slices(&self.elements::<T>(0)?, &self.elements::<U>(1)?, f)
    }

    /// As `zip`, of the operands' elements as something else.
    pub(crate) fn zip_slices<X: Copy, Y: Copy, V: Element>(
        &self,
        x: &[X],
        y: &[Y],
        f: impl Fn(X, Y) -> V,
    ) -> Outputs {
        let (rows, count) = self.pairs()?;
        let mut out = blank(count);
        for (row, [i, j]) in out.chunks_mut(rows.len.max(1)).zip(rows.starts()) {
            match rows.step {
                [1, 1] => {
                    for ((z, &x), &y) in row.iter_mut().zip(&x[i..]).zip(&y[j..]) {
                        *z = f(x, y);
                    }
                }
                [1, 0] => {
                    for (z, &x) in row.iter_mut().zip(&x[i..]) {
                        *z = f(x, y[j]);
                    }
                }
                [0, 1] => {
                    for (z, &y) in row.iter_mut().zip(&y[j..]) {
                        *z = f(x[i], y);
                    }
                }
                _ => {
                    for (k, z) in row.iter_mut().enumerate() {
                        *z = f(x[rows.nth(0, i, k)], y[rows.nth(1, j, k)]);
                    }
                }
            }
        }
        self.only(out)
    }

    /// How the first two operands are walked in step with the output, and how many elements that has.
    fn pairs(&self) -> Result<(Rows<2>, usize), CpuError> {
        let shape = self.output(0)?.extents();
        let strides = [broadcast(self.shape(0)?, &shape)?, broadcast(self.shape(1)?, &shape)?];
        Ok((Rows::new(&shape, &strides), shape.iter().product()))
    }

    /// The only output: a function of two numbers, of operands that broadcast.
    pub(crate) fn zip_numbers<T: Numeric>(&self, f: impl Fn(T::Work, T::Work) -> T::Work) -> Outputs {
        self.zip::<T, T, T>(|x, y| T::store(f(x.load(), y.load())))
    }
}

/// Room for elements, all of which will be written.
fn blank<T: Element>(count: usize) -> Vec<T> {
    vec![T::from_i128(0); count]
}
