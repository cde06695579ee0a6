//! `TensorProto` ↔ [`Tensor`].
//!
//! Written tensors keep their elements in `raw_data`, so equal tensors have equal bytes. Read tensors may use any of
//! ONNX's fields, or a file beside the model (see [`crate::external`]). The size a tensor claims is compared with the
//! data at hand before anything is allocated.

pub(crate) mod each;
pub(crate) mod elements;
pub mod strings;

use half::{bf16, f16};
use prost::Message as _;

use ir::tensor::Element;
use ir::{DType, DTypes, Tensor, Type};
use ndarray::{ArrayD, IxDyn};

use crate::Error;
use crate::external::{self, External};
use crate::proto::TensorProto;
use crate::proto::tensor_proto::{DataLocation, DataType};
pub use elements::{in_bytes, in_field};

/// ONNX's code of a dtype, as in `TensorProto.data_type` and the `to` of Cast.
pub const fn code_of(dtype: DType) -> i32 {
    let code = match dtype {
        DType::Bool => DataType::Bool,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::U8 => DataType::Uint8,
        DType::U16 => DataType::Uint16,
        DType::U32 => DataType::Uint32,
        DType::U64 => DataType::Uint64,
        DType::F16 => DataType::Float16,
        DType::BF16 => DataType::Bfloat16,
        DType::F32 => DataType::Float,
        DType::F64 => DataType::Double,
        DType::I4 => DataType::Int4,
        DType::U4 => DataType::Uint4,
        DType::I2 => DataType::Int2,
        DType::U2 => DataType::Uint2,
        DType::F8E4M3FN => DataType::Float8e4m3fn,
        DType::F8E4M3FNUZ => DataType::Float8e4m3fnuz,
        DType::F8E5M2 => DataType::Float8e5m2,
        DType::F8E5M2FNUZ => DataType::Float8e5m2fnuz,
        DType::F8E8M0 => DataType::Float8e8m0,
        DType::F4E2M1 => DataType::Float4e2m1,
    };
    code as i32
}

/// The dtype of an ONNX code. Codes ONNX defines and we lack are unsupported, others are invalid.
pub fn dtype_of(code: i32) -> Result<DType, Error> {
    if let Some(dtype) = DType::ALL.into_iter().find(|&d| code_of(d) == code) {
        return Ok(dtype);
    }
    match DataType::try_from(code) {
        Ok(DataType::Undefined) => Err(Error::invalid("element type 0", "it is not defined")),
        Ok(known) => Err(Error::unsupported(
            format!("element type {}", known.as_str_name()),
            format!("tensors hold {}", DTypes::IR13),
        )),
        Err(_) => Err(Error::invalid(format!("element type {code}"), "ONNX defines no such code")),
    }
}

/// The message of a tensor. The same tensor gives the same bytes.
pub fn to_proto(name: &str, tensor: &Tensor) -> TensorProto {
    TensorProto {
        dims: tensor.shape().iter().map(|&d| d as i64).collect(),
        data_type: Some(code_of(tensor.dtype())),
        name: Some(name.to_owned()),
        raw_data: Some(tensor.to_bytes().into()),
        ..Default::default()
    }
}

/// The bytes of a tensor's message, as `.pb` files hold them.
pub fn encode(name: &str, tensor: &Tensor) -> Vec<u8> {
    to_proto(name, tensor).encode_to_vec()
}

/// The type a message declares, without a look at its data.
pub fn type_of(proto: &TensorProto) -> Result<Type, Error> {
    declared_type(proto).map_err(|e| named(e, proto))
}

/// The tensor of a message. `external` says where data outside the message may lie.
pub fn from_proto(proto: &TensorProto, external: External<'_>) -> Result<Tensor, Error> {
    read(proto, external).map_err(|e| named(e, proto))
}

/// What is wrong, with the name of the tensor. One without a name is told by what holds it.
fn named(error: Error, proto: &TensorProto) -> Error {
    match proto.name() {
        "" => error,
        name => error.inside(format!("tensor `{name}`")),
    }
}

fn declared_type(proto: &TensorProto) -> Result<Type, Error> {
    let dtype = dtype_of(proto.data_type())?;
    let shape = || format!("shape {:?}", proto.dims);
    if proto.dims.iter().any(|&d| d < 0) {
        return Err(Error::invalid(shape(), "a dimension is negative"));
    }
    // A zero among the dims makes any size small, but the other strides must be representable all the same.
    let mut extents = proto.dims.iter().filter(|&&d| d != 0);
    let strides = extents.try_fold(dtype.whole_bytes() as i64, |n, &d| n.checked_mul(d));
    if strides.is_none_or(|n| isize::try_from(n).is_err()) {
        return Err(Error::invalid(shape(), "the number of elements overflows"));
    }
    Ok(Type::new(dtype, proto.dims.clone()))
}

fn read(proto: &TensorProto, external: External<'_>) -> Result<Tensor, Error> {
    let ty = declared_type(proto)?;
    if proto.segment.is_some() {
        return Err(Error::unsupported("segment", "tensors split into segments cannot be read"));
    }
    let used = Field::used_by(proto);
    if proto.data_location() == DataLocation::External {
        return match used[..] {
            [] => raw(&ty, &external::read(&proto.external_data, &ty, external)?, "external data"),
            [field, ..] => Err(Error::invalid(field.name(), "the data is external, yet there is data here")),
        };
    }
    match used[..] {
        [] if ty.count() == 0 => raw(&ty, &[], Field::Raw.name()),
        [] => Err(Error::invalid("data", format!("a tensor {ty} has elements, but there are none here"))),
        [Field::Raw] => raw(&ty, proto.raw_data(), Field::Raw.name()),
        [field] if field == Field::of(ty.dtype) => typed(&ty, proto),
        [field] => Err(Error::invalid(
            field.name(),
            format!("elements of type {} belong in `{}`", ty.dtype, Field::of(ty.dtype).name()),
        )),
        [one, two, ..] => {
            Err(Error::invalid(one.name(), format!("there is data both here and in `{}`", two.name())))
        }
    }
}

/// A place in the message where elements can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Raw,
    Float,
    Double,
    Int32,
    Int64,
    Uint64,
    String,
}

impl Field {
    /// The fields that hold something. An empty `raw_data` holds nothing.
    pub(crate) fn used_by(proto: &TensorProto) -> Vec<Self> {
        let lengths = [
            (Self::Raw, proto.raw_data().len()),
            (Self::Float, proto.float_data.len()),
            (Self::Double, proto.double_data.len()),
            (Self::Int32, proto.int32_data.len()),
            (Self::Int64, proto.int64_data.len()),
            (Self::Uint64, proto.uint64_data.len()),
            (Self::String, proto.string_data.len()),
        ];
        lengths.into_iter().filter(|&(_, n)| n > 0).map(|(field, _)| field).collect()
    }

    /// The typed field ONNX prescribes for a dtype.
    const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 => Self::Float,
            DType::F64 => Self::Double,
            DType::I64 => Self::Int64,
            DType::U32 | DType::U64 => Self::Uint64,
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::U8
            | DType::U16
            | DType::F16
            | DType::BF16
            | DType::I4
            | DType::U4
            | DType::I2
            | DType::U2
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E5M2
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
            | DType::F4E2M1 => Self::Int32,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw_data",
            Self::Float => "float_data",
            Self::Double => "double_data",
            Self::Int32 => "int32_data",
            Self::Int64 => "int64_data",
            Self::Uint64 => "uint64_data",
            Self::String => "string_data",
        }
    }
}

/// A tensor from little-endian bytes; `place` is where they were.
fn raw(ty: &Type, bytes: &[u8], place: &str) -> Result<Tensor, Error> {
    Tensor::from_bytes(ty, bytes).map_err(|e| Error::invalid(place, e.to_string()))
}

/// A tensor from the typed field of its dtype.
fn typed(ty: &Type, proto: &TensorProto) -> Result<Tensor, Error> {
    match ty.dtype {
        DType::F32 => elements(ty, &proto.float_data, |&v| Some(v)),
        DType::F64 => elements(ty, &proto.double_data, |&v| Some(v)),
        DType::I64 => elements(ty, &proto.int64_data, |&v| Some(v)),
        DType::U64 => elements(ty, &proto.uint64_data, |&v| Some(v)),
        DType::U32 => elements(ty, &proto.uint64_data, |&v| u32::try_from(v).ok()),
        DType::I32 => elements(ty, &proto.int32_data, |&v| Some(v)),
        DType::I16 => elements(ty, &proto.int32_data, |&v| i16::try_from(v).ok()),
        DType::I8 => elements(ty, &proto.int32_data, |&v| i8::try_from(v).ok()),
        DType::U16 => elements(ty, &proto.int32_data, |&v| u16::try_from(v).ok()),
        DType::U8 => elements(ty, &proto.int32_data, |&v| u8::try_from(v).ok()),
        // onnx.proto has no range for them, and whoever reads them takes any but 0 for true.
        DType::Bool => elements(ty, &proto.int32_data, |&v| Some(v != 0)),
        DType::F16 => elements(ty, &proto.int32_data, |&v| u16::try_from(v).ok().map(f16::from_bits)),
        DType::BF16 => elements(ty, &proto.int32_data, |&v| u16::try_from(v).ok().map(bf16::from_bits)),
        DType::I4
        | DType::U4
        | DType::I2
        | DType::U2
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0
        | DType::F4E2M1 => bytes(ty, &proto.int32_data),
    }
}

/// A tensor from the bytes of its elements, one in each integer: as many elements as fit share it, as in `raw_data`.
fn bytes(ty: &Type, stored: &[i32]) -> Result<Tensor, Error> {
    let place = Field::of(ty.dtype).name();
    let byte = |&v: &i32| {
        let why =
            || Error::invalid(place, format!("{v} is no byte, as tensors of type {} hold here", ty.dtype));
        u8::try_from(v).map_err(|_| why())
    };
    raw(ty, &stored.iter().map(byte).collect::<Result<Vec<_>, _>>()?, place)
}

/// A tensor from one value of a typed field per element. `convert` refuses what the dtype cannot hold.
fn elements<S: Copy + std::fmt::Display, T: Element>(
    ty: &Type,
    stored: &[S],
    convert: impl Fn(&S) -> Option<T>,
) -> Result<Tensor, Error> {
    let field = Field::of(ty.dtype);
    let wrong_count = || {
        Error::invalid(
            field.name(),
            format!("a tensor {ty} needs {} elements but has {}", ty.count(), stored.len()),
        )
    };
    if ty.count() != stored.len() as i64 {
        return Err(wrong_count());
    }
    let values: Vec<T> = stored
        .iter()
        .map(|v| convert(v).ok_or_else(|| out_of_range(field.name(), v, ty.dtype)))
        .collect::<Result<_, _>>()?;
    ArrayD::from_shape_vec(IxDyn(&ty.extents()), values).map(T::wrap).map_err(|_| wrong_count())
}

fn out_of_range(place: &str, value: impl std::fmt::Display, dtype: DType) -> Error {
    Error::invalid(place, format!("{value} is not a value of type {dtype}"))
}

#[cfg(test)]
mod tests;
