//! What a model says about the types of its values, which may be less than everything.

use std::fmt;

use ir::{DType, Type};

use crate::proto::tensor_shape_proto::dimension;
use crate::proto::{ValueInfoProto, type_proto};
use crate::{Error, tensor};

/// A tensor type with unknowns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Declared {
    /// What it is, where it is no tensor.
    other: Option<&'static str>,
    /// The element type; `None` if it is not said.
    dtype: Option<DType>,
    /// The shape; `None` if not even the rank is said. A size that is named or not said at all is `None`.
    shape: Option<Vec<Option<i64>>>,
}

impl Declared {
    /// What an entry says of the value of that name.
    pub(super) fn read(name: &str, info: &ValueInfoProto) -> Result<Self, Error> {
        Self::of(info).map_err(|e| e.inside(format!("the type of `{name}`")))
    }

    fn of(info: &ValueInfoProto) -> Result<Self, Error> {
        let value = info.r#type.as_ref().and_then(|t| t.value.as_ref());
        let kind = match value {
            None => return Ok(Self { other: None, dtype: None, shape: None }),
            Some(type_proto::Value::TensorType(tensor)) => return Self::of_tensor(tensor),
            Some(type_proto::Value::SequenceType(_)) => "a sequence",
            Some(type_proto::Value::OptionalType(_)) => "an optional",
            Some(type_proto::Value::MapType(_)) => "a map",
            Some(type_proto::Value::SparseTensorType(_)) => "a sparse tensor",
            Some(type_proto::Value::OpaqueType(_)) => "an opaque type",
        };
        Ok(Self { other: Some(kind), dtype: None, shape: None })
    }

    /// Why there is no type of a tensor here.
    pub(super) fn not_a_tensor(&self, what: String) -> Error {
        match self.other {
            Some(kind) => {
                Error::unsupported(what, format!("it is {kind}, and values that come in are tensors"))
            }
            None => Error::invalid(what, "it has no element type"),
        }
    }

    fn of_tensor(ty: &type_proto::Tensor) -> Result<Self, Error> {
        let dtype = match ty.elem_type() {
            0 => None,
            code => Some(tensor::dtype_of(code)?),
        };
        let size = |dim: &crate::proto::tensor_shape_proto::Dimension| match &dim.value {
            Some(dimension::Value::DimValue(d)) if *d < 0 => {
                Err(Error::invalid(format!("dimension {d}"), "it is negative"))
            }
            Some(dimension::Value::DimValue(d)) if *d > ir::dim::LIMIT => {
                Err(Error::unsupported(format!("dimension {d}"), "it is too large"))
            }
            Some(dimension::Value::DimValue(d)) => Ok(Some(*d)),
            Some(dimension::Value::DimParam(_)) | None => Ok(None),
        };
        let shape = ty.shape.as_ref().map(|s| s.dim.iter().map(size).collect()).transpose()?;
        Ok(Self { other: None, dtype, shape })
    }

    /// The type, if nothing is unknown.
    pub(super) fn complete(&self) -> Option<Type> {
        let shape: Option<Vec<i64>> = self.shape.as_ref()?.iter().copied().collect();
        Some(Type::new(self.dtype?, shape?))
    }

    /// Whether the element type is said.
    pub(super) const fn has_dtype(&self) -> bool {
        self.dtype.is_some()
    }

    /// Requires that a type is one of those that this stands for.
    pub(super) fn check(&self, name: &str, ty: &Type) -> Result<(), Error> {
        let same_dtype = self.other.is_none() && self.dtype.is_none_or(|d| d == ty.dtype);
        let same_shape = self.shape.as_ref().is_none_or(|shape| {
            let mut pairs = shape.iter().zip(&ty.shape);
            shape.len() == ty.shape.len() && pairs.all(|(said, is)| said.is_none_or(|said| said == *is))
        });
        if same_dtype && same_shape {
            return Ok(());
        }
        Err(Error::invalid(format!("value `{name}`"), format!("it is declared {self}, but is {ty}")))
    }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.other, self.dtype) {
            (Some(kind), _) => return f.write_str(kind),
            (None, Some(dtype)) => write!(f, "{dtype}")?,
            (None, None) => f.write_str("?")?,
        }
        let Some(shape) = &self.shape else { return f.write_str(" of unknown rank") };
        let size = |d: &Option<i64>| d.map_or_else(|| "?".to_owned(), |d| d.to_string());
        write!(f, "[{}]", shape.iter().map(size).collect::<Vec<_>>().join(", "))
    }
}
