//! What a model says about the types of its values, which may be less than everything.

use std::collections::BTreeMap;
use std::fmt;

use ir::{DType, Datum, DatumKind, Held, Strings, Type};

use crate::proto::tensor_shape_proto::dimension;
use crate::proto::{TypeProto, ValueInfoProto, type_proto};
use crate::tensor::strings::STRING;
use crate::{Error, tensor};

/// The declared type of a value. Parts of it may be unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Declared {
    is: Is,
    /// The element type; `None` if it is not said.
    dtype: Option<DType>,
    /// The shape; `None` if not even the rank is said.
    shape: Option<Vec<Size>>,
}

/// What a model says about one size of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Size {
    /// What it is.
    Said(i64),
    /// A name, which stands for the same size wherever the model has it.
    Named(String),
    /// Nothing.
    Unsaid,
}

impl Size {
    /// The size, if the model says it.
    pub const fn said(&self) -> Option<i64> {
        match self {
            Self::Said(size) => Some(*size),
            Self::Named(_) | Self::Unsaid => None,
        }
    }
}

/// What a value is said to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    /// Nothing is said.
    Unsaid,
    /// It is of this kind.
    Kind(DatumKind),
    /// It is nothing that this program has.
    Other(&'static str),
}

impl Is {
    fn of(ty: &TypeProto) -> Self {
        let inside = |ty: &Option<Box<TypeProto>>| ty.as_deref().map_or(Self::Unsaid, Self::of);
        match &ty.value {
            None => Self::Unsaid,
            Some(type_proto::Value::TensorType(tensor)) if tensor.elem_type() == STRING => {
                Self::Kind(DatumKind::Strings)
            }
            Some(type_proto::Value::TensorType(_)) => Self::Kind(DatumKind::Tensor),
            Some(type_proto::Value::SequenceType(of)) => match inside(&of.elem_type) {
                Self::Kind(DatumKind::Tensor) => Self::Kind(DatumKind::Sequence),
                Self::Unsaid | Self::Kind(_) | Self::Other(_) => {
                    Self::Other("a sequence of what are no tensors")
                }
            },
            Some(type_proto::Value::OptionalType(of)) => match inside(&of.elem_type) {
                Self::Kind(DatumKind::Tensor) => Self::Kind(DatumKind::Optional),
                Self::Kind(DatumKind::Sequence) => Self::Kind(DatumKind::OptionalSequence),
                Self::Unsaid | Self::Kind(_) | Self::Other(_) => {
                    Self::Other("an optional of what is neither a tensor nor a sequence")
                }
            },
            Some(type_proto::Value::MapType(_)) => Self::Other("a map"),
            Some(type_proto::Value::SparseTensorType(_)) => Self::Other("a sparse tensor"),
            Some(type_proto::Value::OpaqueType(_)) => Self::Other("an opaque type"),
        }
    }

    /// The kind; `None` if the model does not say it. Fails if it is a kind that this program does not have.
    /// `what` names the value.
    fn kind(self, what: impl Into<String>) -> Result<Option<DatumKind>, Error> {
        match self {
            Self::Unsaid => Ok(None),
            Self::Kind(kind) => Ok(Some(kind)),
            Self::Other(other) => Err(Error::unsupported(
                what,
                format!("it is {other}; inputs and outputs are tensors, sequences and optionals of them"),
            )),
        }
    }
}

/// The type of the tensors in a value.
fn tensors(ty: &TypeProto) -> Option<&type_proto::Tensor> {
    match ty.value.as_ref()? {
        type_proto::Value::TensorType(tensor) => Some(tensor),
        type_proto::Value::SequenceType(of) => tensors(of.elem_type.as_deref()?),
        type_proto::Value::OptionalType(of) => tensors(of.elem_type.as_deref()?),
        type_proto::Value::MapType(_)
        | type_proto::Value::SparseTensorType(_)
        | type_proto::Value::OpaqueType(_) => None,
    }
}

/// The kind that an entry declares, whatever it says else. `what` names the value.
pub(super) fn kind(what: impl Into<String>, info: &ValueInfoProto) -> Result<Option<DatumKind>, Error> {
    info.r#type.as_ref().map_or(Is::Unsaid, Is::of).kind(what)
}

impl Declared {
    /// What an entry says of the value of that name.
    pub(super) fn read(name: &str, info: &ValueInfoProto) -> Result<Self, Error> {
        match &info.r#type {
            Some(ty) => Self::of(name, ty),
            None => Ok(Self { is: Is::Unsaid, dtype: None, shape: None }),
        }
    }

    /// What a type says of the value of that name.
    pub(super) fn of(name: &str, ty: &TypeProto) -> Result<Self, Error> {
        let is = Is::of(ty);
        match tensors(ty).filter(|_| matches!(is, Is::Kind(_))) {
            Some(tensor) => {
                Self::of_tensors(is, tensor).map_err(|e| e.inside(format!("the type of `{name}`")))
            }
            None => Ok(Self { is, dtype: None, shape: None }),
        }
    }

    /// The same without a shape.
    pub(super) fn of_any_shape(self) -> Self {
        Self { shape: None, ..self }
    }

    /// The kind of the value; `None` if the model does not say it. Fails if it is a kind that this program
    /// does not have. `what` names the value.
    pub(super) fn kind(&self, what: impl Into<String>) -> Result<Option<DatumKind>, Error> {
        self.is.kind(what)
    }

    fn of_tensors(is: Is, ty: &type_proto::Tensor) -> Result<Self, Error> {
        let dtype = match ty.elem_type() {
            0 => None,
            // Their bytes.
            STRING => Some(DType::U8),
            code => Some(tensor::dtype_of(code)?),
        };
        let size = |dim: &crate::proto::tensor_shape_proto::Dimension| match &dim.value {
            // Not ONNX's way to say nothing, but that of some exporters, which runtimes take.
            Some(dimension::Value::DimValue(-1)) => Ok(Size::Unsaid),
            Some(dimension::Value::DimValue(d)) if *d < 0 => {
                Err(Error::invalid(format!("dimension {d}"), "it is negative"))
            }
            Some(dimension::Value::DimValue(d)) if *d > ir::dim::LIMIT => {
                Err(Error::unsupported(format!("dimension {d}"), "it is too large"))
            }
            Some(dimension::Value::DimValue(d)) => Ok(Size::Said(*d)),
            Some(dimension::Value::DimParam(name)) if !name.is_empty() => Ok(Size::Named(name.clone())),
            Some(dimension::Value::DimParam(_)) | None => Ok(Size::Unsaid),
        };
        let shape = ty.shape.as_ref().map(|s| s.dim.iter().map(size).collect()).transpose()?;
        Ok(Self { is, dtype, shape })
    }

    /// The type, if it is a tensor of which nothing is unknown.
    pub(super) fn complete(&self) -> Option<Type> {
        let shape: Option<Vec<i64>> = self.shape.as_ref()?.iter().map(Size::said).collect();
        (self.is == Is::Kind(DatumKind::Tensor)).then_some(Type::new(self.dtype?, shape?))
    }

    /// The type, if it is a tensor of which nothing is unknown once names have these sizes.
    pub(super) fn with(&self, sizes: &BTreeMap<String, i64>) -> Option<Type> {
        let size = |size: &Size| match size {
            Size::Said(size) => Some(*size),
            Size::Named(name) => sizes.get(name).copied(),
            Size::Unsaid => None,
        };
        let shape: Option<Vec<i64>> = self.shape.as_ref()?.iter().map(size).collect();
        (self.is == Is::Kind(DatumKind::Tensor)).then_some(Type::new(self.dtype?, shape?))
    }

    /// Notes the sizes of a value that have a name in its declaration.
    pub(super) fn tell(&self, is: &Datum<Type>, sizes: &mut BTreeMap<String, i64>) {
        let (Some(shape), Datum::Tensor(ty)) = (&self.shape, is) else { return };
        for (size, is) in shape.iter().zip(&ty.shape) {
            if let Size::Named(name) = size
                && !sizes.contains_key(name)
            {
                sizes.insert(name.clone(), *is);
            }
        }
    }

    /// The sizes of its tensors; `None` if not even the rank is said.
    pub(super) fn sizes(&self) -> Option<&[Size]> {
        self.shape.as_deref()
    }

    /// The element type, if it is said.
    pub(super) const fn dtype(&self) -> Option<DType> {
        self.dtype
    }

    /// Checks that a value has the declared type. Where an optional is declared, the value that it may hold is accepted
    /// too.
    pub(super) fn check(&self, name: &str, is: &Datum<Type>) -> Result<(), Error> {
        let is_kind = match self.is {
            Is::Unsaid => true,
            Is::Kind(kind) => kind.admits(is) || kind.may_hold(is),
            Is::Other(_) => false,
        };
        let admits = |ty: &Type| match is {
            Datum::Tensor(_) | Datum::Optional(Some(Held::Tensor(_)) | None) => {
                self.has_dtype_of(ty) && self.has_shape_of(ty)
            }
            // ONNX's own tests declare one shape for elements of several, and no runtime minds.
            Datum::Sequence(_) | Datum::Optional(Some(Held::Sequence(_))) => self.has_dtype_of(ty),
            // Their lengths are not declared.
            Datum::Strings(_) => true,
        };
        let is_shaped = match is {
            Datum::Strings(Strings { shape, .. }) => self.has_shape_of(&Type::new(DType::U8, shape.clone())),
            Datum::Tensor(_) | Datum::Sequence(_) | Datum::Optional(_) => true,
        };
        if is_kind && is_shaped && is.tensors().all(admits) {
            return Ok(());
        }
        Err(Error::invalid(format!("value `{name}`"), format!("it is declared {self}, but is {is}")))
    }

    fn has_dtype_of(&self, ty: &Type) -> bool {
        self.dtype.is_none_or(|dtype| dtype == ty.dtype)
    }

    fn has_shape_of(&self, ty: &Type) -> bool {
        self.shape.as_ref().is_none_or(|shape| are_sizes_of(shape, &ty.shape))
    }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is {
            Is::Other(other) => return f.write_str(other),
            Is::Unsaid | Is::Kind(DatumKind::Tensor) => {}
            Is::Kind(DatumKind::Strings) => f.write_str("strings")?,
            Is::Kind(kind) => write!(f, "{kind} of ")?,
        }
        match self.dtype {
            _ if self.is == Is::Kind(DatumKind::Strings) => {}
            Some(dtype) => write!(f, "{dtype}")?,
            None => f.write_str("?")?,
        }
        write_sizes(f, self.shape.as_deref())
    }
}

/// Writes what is said of a shape behind a dtype, such as `[batch, 3, ?]`.
pub(super) fn write_sizes(f: &mut fmt::Formatter<'_>, sizes: Option<&[Size]>) -> fmt::Result {
    let Some(sizes) = sizes else { return f.write_str(" of unknown rank") };
    let size = |size: &Size| match size {
        Size::Said(size) => size.to_string(),
        Size::Named(name) => name.clone(),
        Size::Unsaid => "?".to_owned(),
    };
    write!(f, "[{}]", sizes.iter().map(size).collect::<Vec<_>>().join(", "))
}

/// Whether a shape is as it is said to be.
pub(super) fn are_sizes_of(sizes: &[Size], shape: &[i64]) -> bool {
    let mut pairs = sizes.iter().zip(shape);
    sizes.len() == shape.len() && pairs.all(|(size, is)| size.said().is_none_or(|said| said == *is))
}
