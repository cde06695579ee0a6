//! Tensor types: a dtype and a shape.

use std::fmt;

use crate::{DType, Dim};

/// The type of a tensor. `Type<i64>` is concrete; `Type<Sym>` is the same thing with dimensions that are not
/// known yet. The rank is always known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type<D = i64> {
    /// The element type.
    pub dtype: DType,
    /// The size of each axis, outermost first; a scalar has none.
    pub shape: Vec<D>,
}

impl<D: Dim> Type<D> {
    /// A type from its parts.
    pub fn new(dtype: DType, shape: impl Into<Vec<D>>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements: the product of the shape.
    pub fn count(&self) -> D {
        D::product(&self.shape)
    }

    /// This shape with another element type.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self { dtype, shape: self.shape.clone() }
    }
}

impl Type {
    /// This type in another number system for dimensions.
    pub fn lift<D: Dim>(&self) -> Type<D> {
        Type { dtype: self.dtype, shape: self.shape.iter().map(|&d| D::from(d)).collect() }
    }

    /// How many bytes the elements take when stored densely, as ONNX's `raw_data` has them.
    pub fn bytes(&self) -> u64 {
        let bits = u128::from(self.count().max(0) as u64) * u128::from(self.dtype.bits());
        u64::try_from(bits.div_ceil(u128::from(u8::BITS))).unwrap_or(u64::MAX)
    }

    /// Whether no part of the shape has more elements than [`LIMIT`](crate::dim::LIMIT). An empty tensor may not hide that a
    /// part of its shape is beyond counting: arrays need the strides.
    pub fn is_countable(&self) -> bool {
        let part = self.shape.iter().filter(|&&d| d != 0).fold(1_i64, |a, &b| a.saturating_mul(b));
        part <= crate::dim::LIMIT
    }

    /// The shape as array extents.
    pub fn extents(&self) -> Vec<usize> {
        self.shape.iter().map(|&d| d.max(0) as usize).collect()
    }
}

impl<D: fmt::Display> fmt::Display for Type<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, d) in self.shape.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}
