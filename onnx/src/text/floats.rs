//! The elements of tensors, as the text has them: those of the field that ONNX has for their type.

use std::borrow::Cow;

use crate::proto::TensorProto;
use crate::proto::tensor_proto::DataType;
use crate::tensor::Field;

/// The elements of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Elements<'a> {
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
pub(super) fn field(dtype: DataType) -> Option<Field> {
    match dtype {
        DataType::String => Some(Field::String),
        dtype => Elements::raw(&[], dtype).map(|none| none.field()),
    }
}

impl<'a> Elements<'a> {
    /// The elements of a tensor of a type; `None` where they are in several places, in another than ONNX has for the type, or
    /// bytes that are no whole number of elements.
    pub(super) fn of(tensor: &'a TensorProto, dtype: DataType) -> Option<Self> {
        match Field::used_by(tensor)[..] {
            [] => Some(Self::none()),
            [Field::Raw] => Self::raw(tensor.raw_data(), dtype),
            [used] if field(dtype) == Some(used) => Self::typed(tensor, used),
            [_, ..] => None,
        }
    }

    /// No elements.
    pub(super) fn none() -> Self {
        Self::Int32(Cow::Borrowed(&[]))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
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

/// A float as it is written: the shortest decimal that reads back to the same bits.
pub(super) trait Float: Copy + PartialEq + std::fmt::Debug + std::str::FromStr {
    /// What the type is called.
    const NAME: &'static str;
    /// The bits of `nan`; those of `-nan` have the sign set.
    const NAN: u64;
    /// The sign among the bits.
    const SIGN: u64;

    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Option<Self>;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;

    fn shown(self) -> String {
        match self.bits() {
            bits if bits == Self::NAN => "nan".to_owned(),
            bits if bits == Self::NAN | Self::SIGN => "-nan".to_owned(),
            bits if self.is_nan() => format!("nan({bits:#x})"),
            _ => format!("{self:?}"),
        }
    }

    /// The number of a word or number. One that is too large for the type is a mistake: only a word is infinite.
    fn read(text: &str) -> Option<Self> {
        let (sign, word) = text.strip_prefix('-').map_or((0, text), |word| (Self::SIGN, word));
        if word.eq_ignore_ascii_case("nan") {
            return Self::from_bits(Self::NAN | sign);
        }
        let number: Self = text.parse().ok()?;
        (!number.is_infinite() || super::names::spells_number(word)).then_some(number)
    }
}

impl Float for f32 {
    const NAME: &'static str = "float";
    const NAN: u64 = 0x7fc0_0000;
    const SIGN: u64 = 1 << 31;

    fn bits(self) -> u64 {
        self.to_bits().into()
    }

    fn from_bits(bits: u64) -> Option<Self> {
        bits.try_into().ok().map(Self::from_bits)
    }

    fn is_nan(self) -> bool {
        self.is_nan()
    }

    fn is_infinite(self) -> bool {
        self.is_infinite()
    }
}

impl Float for f64 {
    const NAME: &'static str = "double";
    const NAN: u64 = 0x7ff8_0000_0000_0000;
    const SIGN: u64 = 1 << 63;

    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn from_bits(bits: u64) -> Option<Self> {
        Some(Self::from_bits(bits))
    }

    fn is_nan(self) -> bool {
        self.is_nan()
    }

    fn is_infinite(self) -> bool {
        self.is_infinite()
    }
}
