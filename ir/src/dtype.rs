//! Element types and sets of them.

use std::fmt;
use std::str::FromStr;

use crate::format::FloatFormat;

/// The element type of a tensor, in ONNX's terms.
///
/// ONNX's complex numbers are not among them: no operator of the default domain computes with them, so there would be
/// nothing to test. Neither are the floats of 6 bits, which came with IR version 14, nor strings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    I4,
    U4,
    I2,
    U2,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0,
    F4E2M1,
}

/// What the codes of an element type stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Truth values: 0 is false.
    Bool,
    /// Integers in two's complement.
    Signed,
    /// Integers from 0 on.
    Unsigned,
    /// The numbers of a floating-point format.
    Float(FloatFormat),
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [Self; 23] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::I4,
        Self::U4,
        Self::I2,
        Self::U2,
        Self::F8E4M3FN,
        Self::F8E4M3FNUZ,
        Self::F8E5M2,
        Self::F8E5M2FNUZ,
        Self::F8E8M0,
        Self::F4E2M1,
    ];

    /// The short name used in text forms, reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I4 => "i4",
            Self::U4 => "u4",
            Self::I2 => "i2",
            Self::U2 => "u2",
            Self::F8E4M3FN => "f8e4m3fn",
            Self::F8E4M3FNUZ => "f8e4m3fnuz",
            Self::F8E5M2 => "f8e5m2",
            Self::F8E5M2FNUZ => "f8e5m2fnuz",
            Self::F8E8M0 => "f8e8m0",
            Self::F4E2M1 => "f4e2m1",
        }
    }

    /// The width of one element in bits, as ONNX's `raw_data` stores it: elements of less than a byte lie beside each
    /// other, the first in the lowest bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::I2 | Self::U2 => 2,
            Self::I4 | Self::U4 | Self::F4E2M1 => 4,
            Self::Bool
            | Self::I8
            | Self::U8
            | Self::F8E4M3FN
            | Self::F8E4M3FNUZ
            | Self::F8E5M2
            | Self::F8E5M2FNUZ
            | Self::F8E8M0 => 8,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// The bytes of an element that stands alone: elements of less than a byte take a whole one each.
    pub const fn whole_bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// What the codes of this type stand for.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Bool => Kind::Bool,
            Self::I2 | Self::I4 | Self::I8 | Self::I16 | Self::I32 | Self::I64 => Kind::Signed,
            Self::U2 | Self::U4 | Self::U8 | Self::U16 | Self::U32 | Self::U64 => Kind::Unsigned,
            Self::F16 => Kind::Float(FloatFormat::F16),
            Self::BF16 => Kind::Float(FloatFormat::BF16),
            Self::F32 => Kind::Float(FloatFormat::F32),
            Self::F64 => Kind::Float(FloatFormat::F64),
            Self::F8E4M3FN => Kind::Float(FloatFormat::F8E4M3FN),
            Self::F8E4M3FNUZ => Kind::Float(FloatFormat::F8E4M3FNUZ),
            Self::F8E5M2 => Kind::Float(FloatFormat::F8E5M2),
            Self::F8E5M2FNUZ => Kind::Float(FloatFormat::F8E5M2FNUZ),
            Self::F8E8M0 => Kind::Float(FloatFormat::F8E8M0),
            Self::F4E2M1 => Kind::Float(FloatFormat::F4E2M1),
        }
    }

    /// Whether this is a floating-point type.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float(_))
    }

    /// Whether this is an integer type; `bool` is not.
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Whether negative values exist; false for `bool`.
    pub const fn is_signed(self) -> bool {
        match self.kind() {
            Kind::Signed => true,
            Kind::Bool | Kind::Unsigned => false,
            Kind::Float(format) => format.has_sign(),
        }
    }

    /// The smallest and largest value of an integer type (`bool` counts as 0..=1); `None` for floats.
    #[inline]
    pub const fn int_range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.kind() {
            Kind::Bool => Some((0, 1)),
            Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Unsigned => Some((0, (1 << bits) - 1)),
            Kind::Float(_) => None,
        }
    }

    /// Reduces an integer modulo two to the width of this type, as two's complement hardware does. A non-zero
    /// value becomes 1 in `bool`. Float types return the value unchanged.
    #[inline]
    pub const fn wrap(self, v: i128) -> i128 {
        let unused = i128::BITS - self.bits();
        match self.kind() {
            Kind::Bool => (v != 0) as i128,
            Kind::Signed => v << unused >> unused,
            Kind::Unsigned => ((v as u128) << unused >> unused) as i128,
            Kind::Float(_) => v,
        }
    }

    /// The format of a floating-point type; `None` for the others.
    #[inline]
    pub const fn float(self) -> Option<FloatFormat> {
        match self.kind() {
            Kind::Float(format) => Some(format),
            Kind::Bool | Kind::Signed | Kind::Unsigned => None,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not one of [`DType::ALL`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown dtype `{0}`; known are {known}", known = DTypes::IR13)]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;
    fn from_str(s: &str) -> Result<Self, UnknownDType> {
        Self::ALL.into_iter().find(|d| d.name() == s).ok_or_else(|| UnknownDType(s.to_owned()))
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DTypes(u32);

impl DTypes {
    /// No type.
    pub const NONE: Self = Self(0);
    /// `bool` alone.
    pub const BOOL: Self = Self::of(&[DType::Bool]);
    /// i8, i16, i32, i64.
    pub const SIGNED_INTS: Self = Self::of(&[DType::I8, DType::I16, DType::I32, DType::I64]);
    /// u8, u16, u32, u64.
    pub const UNSIGNED_INTS: Self = Self::of(&[DType::U8, DType::U16, DType::U32, DType::U64]);
    /// The integers that operators compute with: signed and unsigned ones of 8 bits and more.
    pub const INTS: Self = Self::SIGNED_INTS.union(Self::UNSIGNED_INTS);
    /// f16, f32, f64: ONNX's `float` types before bfloat16 joined them.
    pub const IEEE_FLOATS: Self = Self::of(&[DType::F16, DType::F32, DType::F64]);
    /// The floats that operators compute with: f16, bf16, f32, f64.
    pub const FLOATS: Self = Self::IEEE_FLOATS.with(DType::BF16);
    /// Integers and floats that operators compute with, not `bool`.
    pub const NUMERIC: Self = Self::INTS.union(Self::FLOATS);

    /// The types of ONNX's IR version 4, which most operators move as of opset 13: `bool` and what operators compute with.
    /// Strings and complex numbers, which that version has as well, are left out.
    pub const IR4: Self = Self::NUMERIC.union(Self::BOOL);
    /// Those of IR version 9: the 8-bit floats join.
    pub const IR9: Self =
        Self::IR4.union(Self::of(&[DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ]));
    /// Those of IR version 10: the 4-bit integers join.
    pub const IR10: Self = Self::IR9.with(DType::I4).with(DType::U4);
    /// Those of IR version 11: the 4-bit float joins.
    pub const IR11: Self = Self::IR10.with(DType::F4E2M1);
    /// Those of IR version 12: the powers of two join.
    pub const IR12: Self = Self::IR11.with(DType::F8E8M0);
    /// Those of IR version 13: the 2-bit integers join.
    pub const IR13: Self = Self::IR12.with(DType::I2).with(DType::U2);
    /// Those that joined after IR version 4: numbers are stored in them, and nothing computes in them.
    pub const NARROW: Self = Self::IR13.difference(Self::IR4);

    /// The set of the listed types.
    pub const fn of(list: &[DType]) -> Self {
        let mut set = Self(0);
        let mut i = 0;
        while i < list.len() {
            set = set.with(list[i]);
            i += 1;
        }
        set
    }

    /// This set and one more type.
    pub const fn with(self, d: DType) -> Self {
        Self(self.0 | 1 << d as u8)
    }

    /// This set less one type.
    pub const fn without(self, d: DType) -> Self {
        Self(self.0 & !(1 << d as u8))
    }

    /// Types in either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Types in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Types in this set and not in the other.
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the type is in the set.
    pub const fn contains(self, d: DType) -> bool {
        self.0 & (1 << d as u8) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many types are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The types, in declaration order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = DType> {
        // By its bits, not by asking for each of the types: generators walk over such sets all the time.
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lowest = DType::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(*lowest)
        })
    }
}

impl FromIterator<DType> for DTypes {
    fn from_iter<I: IntoIterator<Item = DType>>(iter: I) -> Self {
        iter.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for DTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(DType::name)).finish()
    }
}

impl fmt::Display for DTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            f.write_str(d.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for d in DType::ALL {
            assert_eq!(d.name().parse::<DType>(), Ok(d));
        }
        assert!("float".parse::<DType>().is_err());
    }

    #[test]
    fn wrapping_is_two_complement() {
        assert_eq!(DType::I8.wrap(128), -128);
        assert_eq!(DType::U8.wrap(-1), 255);
        assert_eq!(DType::U64.wrap(-1), u64::MAX as i128);
        assert_eq!(DType::Bool.wrap(7), 1);
        assert_eq!([DType::I4, DType::U4, DType::I2, DType::U2].map(|d| d.wrap(-9)), [7, 7, -1, 3]);
        assert_eq!((DType::I2.int_range(), DType::U4.int_range()), (Some((-2, 1)), Some((0, 15))));
        assert_eq!(DType::I64.int_range(), Some((i64::MIN as i128, i64::MAX as i128)));
    }

    #[test]
    fn a_float_is_as_wide_as_its_format() {
        for d in DType::ALL {
            assert!(d.float().is_none_or(|format| format.bits() as u32 == d.bits()), "{d}");
        }
    }

    #[test]
    fn the_versions_of_the_standard_end_with_every_type() {
        assert_eq!(DTypes::IR13, DType::ALL.into_iter().collect());
        assert_eq!(
            [DTypes::IR4, DTypes::IR9, DTypes::IR10, DTypes::IR11, DTypes::IR12].map(DTypes::len),
            [13, 17, 19, 20, 21]
        );
    }
}
