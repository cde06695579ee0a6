//! The elements of tensors as numbers of the field that ONNX has for their type, and tensors that have them there or as bytes.

use std::borrow::Cow;

use super::{Field, from_proto};
use crate::external::External;
use crate::proto::TensorProto;
use crate::proto::tensor_proto::DataType;

/// The elements of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Elements<'a> {
    /// `int32_data`: also bits of narrow floats, and bytes in which several elements are packed.
    Int32(Cow<'a, [i32]>),
    /// `int64_data`
    Int64(Cow<'a, [i64]>),
    /// `uint64_data`
    Uint64(Cow<'a, [u64]>),
    /// `float_data`: of complex numbers both parts.
    Float(Cow<'a, [f32]>),
    /// `double_data`
    Double(Cow<'a, [f64]>),
    /// `string_data`
    String(&'a [Vec<u8>]),
}

/// The field that ONNX has for elements of a type: the one that elements without bytes would be in.
pub(crate) fn field(dtype: DataType) -> Option<Field> {
    match dtype {
        DataType::String => Some(Field::String),
        dtype => Elements::raw(&[], dtype).map(|none| none.field()),
    }
}

impl<'a> Elements<'a> {
    /// The elements of a tensor of a type; `None` where they are in several places, in another than ONNX has for the type, or
    /// bytes that are no whole number of elements.
    pub(crate) fn of(tensor: &'a TensorProto, dtype: DataType) -> Option<Self> {
        match Field::used_by(tensor)[..] {
            [] => Some(Self::none()),
            [Field::Raw] => Self::raw(tensor.raw_data(), dtype),
            [used] if field(dtype) == Some(used) => Self::typed(tensor, used),
            [_, ..] => None,
        }
    }

    /// No elements.
    pub(crate) fn none() -> Self {
        Self::Int32(Cow::Borrowed(&[]))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Int32(all) => all.is_empty(),
            Self::Int64(all) => all.is_empty(),
            Self::Uint64(all) => all.is_empty(),
            Self::Float(all) => all.is_empty(),
            Self::Double(all) => all.is_empty(),
            Self::String(all) => all.is_empty(),
        }
    }

    fn field(&self) -> Field {
        match self {
            Self::Int32(_) => Field::Int32,
            Self::Int64(_) => Field::Int64,
            Self::Uint64(_) => Field::Uint64,
            Self::Float(_) => Field::Float,
            Self::Double(_) => Field::Double,
            Self::String(_) => Field::String,
        }
    }

    fn typed(tensor: &'a TensorProto, used: Field) -> Option<Self> {
        Some(match used {
            Field::Raw => return None,
            Field::Float => Self::Float((&tensor.float_data).into()),
            Field::Double => Self::Double((&tensor.double_data).into()),
            Field::Int32 => Self::Int32((&tensor.int32_data).into()),
            Field::Int64 => Self::Int64((&tensor.int64_data).into()),
            Field::Uint64 => Self::Uint64((&tensor.uint64_data).into()),
            Field::String => Self::String(&tensor.string_data),
        })
    }

    /// Little-endian bytes as numbers of the field for their type.
    fn raw(bytes: &[u8], dtype: DataType) -> Option<Self> {
        Some(match dtype {
            DataType::Undefined | DataType::String => return None,
            DataType::Float | DataType::Complex64 => Self::Float(numbers(bytes, f32::from_le_bytes)?),
            DataType::Double | DataType::Complex128 => Self::Double(numbers(bytes, f64::from_le_bytes)?),
            DataType::Int64 => Self::Int64(numbers(bytes, i64::from_le_bytes)?),
            DataType::Uint64 => Self::Uint64(numbers(bytes, u64::from_le_bytes)?),
            DataType::Uint32 => Self::Uint64(numbers(bytes, |b| u32::from_le_bytes(b).into())?),
            DataType::Int32 => Self::Int32(numbers(bytes, i32::from_le_bytes)?),
            DataType::Int16 => Self::Int32(numbers(bytes, |b| i16::from_le_bytes(b).into())?),
            DataType::Int8 => Self::Int32(numbers(bytes, |b| i8::from_le_bytes(b).into())?),
            DataType::Uint16 | DataType::Float16 | DataType::Bfloat16 => {
                Self::Int32(numbers(bytes, |b| u16::from_le_bytes(b).into())?)
            }
            DataType::Bool
            | DataType::Uint8
            | DataType::Int2
            | DataType::Int4
            | DataType::Uint2
            | DataType::Uint4
            | DataType::Float8e4m3fn
            | DataType::Float8e4m3fnuz
            | DataType::Float8e5m2
            | DataType::Float8e5m2fnuz
            | DataType::Float8e8m0
            | DataType::Float6e2m3
            | DataType::Float6e3m2
            | DataType::Float4e2m1 => Self::Int32(numbers(bytes, |[b]| b.into())?),
        })
    }
}

/// Bytes as numbers of N bytes each.
fn numbers<'a, T: Clone, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Option<Cow<'a, [T]>> {
    let (whole, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| whole.iter().map(|&bytes| read(bytes)).collect())
}

/// The tensor with its elements in the field that ONNX has for their type; `None` where they are no bytes, or lie in a file.
///
/// ```
/// use ir::{DType, Tensor, Type};
/// use onnxsmith_onnx::tensor::{in_bytes, in_field, to_proto};
///
/// let halves = to_proto("w", &Tensor::from_f64_fn(&Type::new(DType::F16, [2]), |i| i as f64));
/// let written = in_field(&halves).unwrap();
/// assert_eq!((&written.int32_data[..], &written.raw_data), (&[0, 0x3c00][..], &None));
/// assert_eq!(in_bytes(&written), Some(halves));
/// ```
pub fn in_field(tensor: &TensorProto) -> Option<TensorProto> {
    let bytes = || TensorProto { raw_data: None, ..tensor.clone() };
    let dtype = DataType::try_from(tensor.data_type()).ok()?;
    if Field::used_by(tensor) != [Field::Raw] {
        return None;
    }
    Some(match Elements::of(tensor, dtype)? {
        Elements::Int32(all) => TensorProto { int32_data: all.into_owned(), ..bytes() },
        Elements::Int64(all) => TensorProto { int64_data: all.into_owned(), ..bytes() },
        Elements::Uint64(all) => TensorProto { uint64_data: all.into_owned(), ..bytes() },
        Elements::Float(all) => TensorProto { float_data: all.into_owned(), ..bytes() },
        Elements::Double(all) => TensorProto { double_data: all.into_owned(), ..bytes() },
        Elements::String(_) => return None,
    })
}

/// Whether a tensor has its elements in the field of their type, and could have bytes.
pub(crate) fn is_in_field(tensor: &TensorProto) -> bool {
    matches!(Field::used_by(tensor)[..], [field] if !matches!(field, Field::Raw | Field::String))
}

/// The tensor with its elements as bytes; `None` where they are bytes, lie in a file, or are none that tensors here hold.
pub fn in_bytes(tensor: &TensorProto) -> Option<TensorProto> {
    if !is_in_field(tensor) {
        return None;
    }
    let raw_data = from_proto(tensor, External::Refuse).ok()?.to_bytes().into();
    Some(TensorProto {
        int32_data: Vec::new(),
        int64_data: Vec::new(),
        uint64_data: Vec::new(),
        float_data: Vec::new(),
        double_data: Vec::new(),
        raw_data: Some(raw_data),
        ..tensor.clone()
    })
}
