//! How each dtype is stored, and what it is computed with.
//!
//! | dtype | stored as | computed as |
//! |---|---|---|
//! | bool, i8, i16, i32 | `i32` | `i32`, wrapped to its width at each store |
//! | u8, u16, u32 | `u32` | `u32`, wrapped likewise |
//! | i64, u64 | itself | itself |
//! | f16 | `f16` | `f32`, rounded to nearest even at each store |
//! | bf16, f32 | `f32` | `f32`, bf16 rounded likewise |
//! | f64 | itself | itself |
//!
//! There are no tensors of the narrower types on a device ([`is_stored`]); what they would be computed with is said for
//! completeness.
//!
//! `f32` computes + − × ÷ and square roots of 11- and 8-bit significands to more than twice their width plus two bits,
//! so rounding its result once more is rounding the exact result once.

use ir::{DType, DTypes};

/// The WGSL type a dtype is computed with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    /// 0 or 1 in an `i32`.
    Bool,
    /// `i32`.
    Int,
    /// `u32`.
    Uint,
    /// `i64`.
    Long,
    /// `u64`.
    Ulong,
    /// `f32`.
    Float,
    /// `f64`.
    Double,
}

impl Class {
    /// What a dtype is computed with.
    pub(crate) fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool,
            DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 => Self::Int,
            DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 => Self::Uint,
            DType::I64 => Self::Long,
            DType::U64 => Self::Ulong,
            DType::F16
            | DType::BF16
            | DType::F32
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E5M2
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
            | DType::F4E2M1 => Self::Float,
            DType::F64 => Self::Double,
        }
    }

    /// The name of the type in WGSL.
    pub(crate) fn wgsl(self) -> &'static str {
        match self {
            Self::Bool | Self::Int => "i32",
            Self::Uint => "u32",
            Self::Long => "i64",
            Self::Ulong => "u64",
            Self::Float => "f32",
            Self::Double => "f64",
        }
    }

    /// Whether it is an integer; bool is none.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Long | Self::Ulong)
    }

    /// Whether it is an integer with a sign.
    pub(crate) fn is_signed_integer(self) -> bool {
        matches!(self, Self::Int | Self::Long)
    }

    /// Whether it is `f32` or `f64`.
    pub(crate) fn is_real(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }
}

/// The dtype partial results are kept in: wide enough that storing them loses nothing.
pub(crate) fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}

/// Whether tensors of the dtype can be in device memory.
pub(crate) fn is_stored(dtype: DType) -> bool {
    DTypes::IR4.contains(dtype)
}

/// The bytes one element takes on the device.
pub(crate) fn stored_size(dtype: DType) -> usize {
    match dtype {
        DType::F16 => 2,
        _ => dtype.whole_bytes().max(4),
    }
}

/// What a kernel sees of the elements of one tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Element {
    /// Numbers, in the type they are computed with.
    Number(DType),
    /// Bits, for kernels that move elements and compute nothing: every bit arrives, also of NaNs, and 64-bit elements
    /// move without `SHADER_INT64`.
    Bits(DType),
    /// The low 32 bits of an integer, as `u32`: tensors have fewer elements than that. A store clears the others.
    Low(DType),
}

impl Element {
    /// The WGSL type in memory.
    pub(super) fn stored(self) -> &'static str {
        match self {
            Self::Number(DType::F16) => "f16",
            Self::Number(dtype) => Class::of(dtype).wgsl(),
            Self::Bits(dtype) | Self::Low(dtype) => match stored_size(dtype) {
                2 => "f16",
                8 => "vec2<u32>",
                _ => "u32",
            },
        }
    }

    /// The WGSL type a kernel handles.
    pub(super) fn handled(self) -> &'static str {
        match self {
            Self::Number(dtype) => Class::of(dtype).wgsl(),
            Self::Bits(_) => self.stored(),
            Self::Low(_) => "u32",
        }
    }

    /// What is in memory at `place`, as a kernel handles it.
    pub(super) fn load(self, place: &str) -> String {
        match self {
            Self::Number(DType::F16) => format!("f32({place})"),
            Self::Low(dtype) if dtype.bits() == 64 => format!("{place}.x"),
            Self::Number(_) | Self::Bits(_) | Self::Low(_) => place.to_owned(),
        }
    }

    /// What a kernel hands over, as it goes to memory: wrapped or rounded to the dtype.
    pub(super) fn store(self, value: &str) -> String {
        match self {
            Self::Number(DType::Bool) => format!("select(0, 1, {value} != 0)"),
            Self::Number(DType::I8) => format!("(({value} << 24u) >> 24u)"),
            Self::Number(DType::I16) => format!("(({value} << 16u) >> 16u)"),
            Self::Number(DType::U8) => format!("({value} & 0xffu)"),
            Self::Number(DType::U16) => format!("({value} & 0xffffu)"),
            Self::Number(DType::F16) => format!("f16(round_f16({value}))"),
            Self::Number(DType::BF16) => format!("round_bf16({value})"),
            Self::Low(dtype) if dtype.bits() == 64 => format!("vec2<u32>({value}, 0u)"),
            Self::Number(_) | Self::Bits(_) | Self::Low(_) => value.to_owned(),
        }
    }

    /// The dtype that a device must have for a kernel on such elements. Moving bits needs a feature only where they
    /// are moved as `f16`.
    pub(crate) fn needs(self) -> Option<DType> {
        match self {
            Self::Number(dtype) => Some(dtype),
            Self::Bits(DType::F16) => Some(DType::F16),
            Self::Bits(_) | Self::Low(_) => None,
        }
    }
}

/// An integer as a WGSL constant. The lowest of a signed type has no literal: its sign is an operator.
pub(super) fn integer(class: Class, value: i128) -> String {
    let suffix = match class {
        Class::Long => "li",
        Class::Ulong => "lu",
        Class::Uint => "u",
        Class::Bool | Class::Int | Class::Float | Class::Double => "i",
    };
    if value < 0 { format!("(-{}{suffix} - 1{suffix})", -(value + 1)) } else { format!("{value}{suffix}") }
}
