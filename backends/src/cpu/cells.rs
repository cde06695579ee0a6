//! Elements as the bits that they take in memory.
//!
//! What moves elements without looking at them depends on their width alone. So it is compiled for the four widths that
//! there are, and not for each dtype.

use std::borrow::Cow;

use bytemuck::allocation::cast_vec;
use bytemuck::{NoUninit, Pod, cast_slice, pod_read_unaligned};
use half::{bf16, f16};
use ir::tensor::Element;
use ir::{DType, Tensor, Type};

use super::call::Call;
use super::element::Number;
use super::error::{CpuError, Outputs};
use super::strided::{Rows, copy};

/// An integer that is as wide as some elements, and holds their bits.
pub(crate) trait Cell: Number + Pod {
    /// The elements of an operand, which are of this width.
    fn load<'a>(c: &Call<'a>, i: usize) -> Result<Cow<'a, [Self]>, CpuError>;

    /// An output, of elements of this width.
    fn store(c: &Call<'_>, i: usize, cells: Vec<Self>) -> Result<Tensor, CpuError>;
}

/// The zero of a dtype, or what stands for it where there is none: F8E8M0 has powers of two alone.
pub(crate) fn zero<C: Cell>(dtype: DType) -> C {
    let zero = Tensor::zeros(&Type::new(dtype, [1]));
    pod_read_unaligned(&zero.to_bytes())
}

impl<'a> Call<'a> {
    /// The elements of an operand in row-major order, as cells.
    pub(crate) fn cells<C: Cell>(&self, i: usize) -> Result<Cow<'a, [C]>, CpuError> {
        C::load(self, i)
    }

    /// An output with the elements that these cells hold.
    pub(crate) fn store_cells<C: Cell>(&self, i: usize, cells: Vec<C>) -> Result<Tensor, CpuError> {
        C::store(self, i, cells)
    }

    /// The only output, with the elements that these cells hold.
    pub(crate) fn only_cells<C: Cell>(&self, cells: Vec<C>) -> Outputs {
        Ok(vec![self.store_cells(0, cells)?])
    }

    /// The only output: the elements of the first operand at the places that a walk visits.
    pub(crate) fn walk(&self, start: usize, rows: &Rows<1>) -> Outputs {
        let count = self.output(0)?.extents().iter().product();
        dispatch_cell!(self.dtype(0)?, C => self.only_cells(copy(&self.cells::<C>(0)?, start, rows, count)))
    }
}

/// Runs the same expression with `$C` standing for the cell that elements of a dtype fit in.
macro_rules! dispatch_cell {
    ($dtype:expr, $C:ident => $body:expr) => {
        match $dtype.whole_bytes() {
            1 => {
                type $C = u8;
                $body
            }
            2 => {
                type $C = u16;
                $body
            }
            4 => {
                type $C = u32;
                $body
            }
            _ => {
                type $C = u64;
                $body
            }
        }
    };
}
pub(crate) use dispatch_cell;

/// Not every byte is an element of every dtype that takes one, so elements are made of bytes one by one.
impl Cell for u8 {
    fn load<'a>(c: &Call<'a>, i: usize) -> Result<Cow<'a, [u8]>, CpuError> {
        match c.dtype(i)? {
            DType::U8 => c.elements(i),
            DType::I8 => Ok(seen(c.elements::<i8>(i)?)),
            DType::Bool => Ok(seen(c.elements::<bool>(i)?)),
            found if found.whole_bytes() != 1 => Err(CpuError::DType { operand: i, found }),
            narrow => ir::dispatch!(narrow, T => Ok(Cow::Owned(T::bytes_of(&c.elements::<T>(i)?)))),
        }
    }

    fn store(c: &Call<'_>, i: usize, cells: Vec<u8>) -> Result<Tensor, CpuError> {
        match c.output(i)?.dtype {
            DType::U8 => c.store(i, cells),
            DType::I8 => c.store(i, cast_vec::<u8, i8>(cells)),
            DType::Bool => c.store(i, cells.into_iter().map(|cell| cell != 0).collect()),
            wide if wide.whole_bytes() != 1 => Err(OTHER_WIDTH),
            narrow => ir::dispatch!(narrow, T => c.store(i, T::from_bytes(&cells))),
        }
    }
}

const OTHER_WIDTH: CpuError = CpuError::Invalid("its output has elements of another width than its operand");

/// Cells of which all are elements of each dtype.
macro_rules! cells {
    ($($cell:ident: $($variant:ident = $element:ident),*;)*) => {$(
        impl Cell for $cell {
            fn load<'a>(c: &Call<'a>, i: usize) -> Result<Cow<'a, [Self]>, CpuError> {
                match c.dtype(i)? {
                    $(DType::$variant => Ok(seen(c.elements::<$element>(i)?)),)*
                    found => Err(CpuError::DType { operand: i, found }),
                }
            }

            fn store(c: &Call<'_>, i: usize, cells: Vec<Self>) -> Result<Tensor, CpuError> {
                match c.output(i)?.dtype {
                    $(DType::$variant => c.store(i, cast_vec::<$cell, $element>(cells)),)*
                    _ => Err(OTHER_WIDTH),
                }
            }
        }
    )*};
}
cells! {
    u16: U16 = u16, I16 = i16, F16 = f16, BF16 = bf16;
    u32: U32 = u32, I32 = i32, F32 = f32;
    u64: U64 = u64, I64 = i64, F64 = f64;
}

/// Elements as cells, which takes no copy.
fn seen<T: NoUninit, C: Cell>(elements: Cow<'_, [T]>) -> Cow<'_, [C]> {
    match elements {
        Cow::Borrowed(elements) => Cow::Borrowed(cast_slice(elements)),
        Cow::Owned(elements) => Cow::Owned(cast_vec(elements)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Kernels;

    /// What becomes of all elements of a dtype, or many of a wide one, that are moved as cells.
    fn moved(dtype: DType) -> (Tensor, Tensor) {
        let ty = Type::new(dtype, [256]);
        let x = Tensor::from_i128_fn(&ty, |i| i as i128 * 0x0123_4567_89ab_cdef);
        let (inputs, outputs) = ([Some(&x)], [ty]);
        let c = Call { inputs: &inputs, outputs: &outputs, kernels: Kernels::Plain };
        let y = dispatch_cell!(dtype, C => c.cells::<C>(0).and_then(|cells| c.store_cells(0, cells.into_owned())));
        (y.unwrap(), x)
    }

    #[test]
    fn cells_hold_the_elements_of_every_dtype() {
        for dtype in DType::ALL {
            let (y, x) = moved(dtype);
            assert_eq!(y, x, "{dtype}");
        }
    }

    #[test]
    fn the_zero_is_that_of_the_dtype() {
        for dtype in DType::ALL {
            let outputs = [Type::new(dtype, [1])];
            let c = Call { inputs: &[], outputs: &outputs, kernels: Kernels::Plain };
            let zero = dispatch_cell!(dtype, C => c.store_cells(0, vec![zero::<C>(dtype)]));
            assert_eq!(zero, Ok(Tensor::zeros(&outputs[0])), "{dtype}");
        }
    }
}
