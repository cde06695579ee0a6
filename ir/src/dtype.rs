//! Element types and sets of them.

use std::fmt;
use std::str::FromStr;

/// The element type of a tensor, in ONNX's terms.
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
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [Self; 13] = [
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
        }
    }

    /// The size of one element in bytes, as ONNX's `raw_data` stores it.
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        DTypes::FLOATS.contains(self)
    }

    /// Whether this is an integer type; `bool` is not.
    pub const fn is_int(self) -> bool {
        DTypes::INTS.contains(self)
    }

    /// Whether negative values exist; false for `bool`.
    pub const fn is_signed(self) -> bool {
        DTypes::SIGNED_INTS.union(DTypes::FLOATS).contains(self)
    }

    /// The smallest and largest value of an integer type (`bool` counts as 0..=1); `None` for floats.
    #[inline]
    pub const fn int_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.size() as u32;
        match self {
            Self::Bool => Some((0, 1)),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some((0, (1 << bits) - 1)),
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => None,
        }
    }

    /// Reduces an integer modulo two to the width of this type, as two's complement hardware does. A non-zero
    /// value becomes 1 in `bool`. Float types return the value unchanged.
    #[inline]
    pub const fn wrap(self, v: i128) -> i128 {
        match self {
            Self::Bool => (v != 0) as i128,
            Self::I8 => v as i8 as i128,
            Self::I16 => v as i16 as i128,
            Self::I32 => v as i32 as i128,
            Self::I64 => v as i64 as i128,
            Self::U8 => v as u8 as i128,
            Self::U16 => v as u16 as i128,
            Self::U32 => v as u32 as i128,
            Self::U64 => v as u64 as i128,
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => v,
        }
    }

    /// The format of a floating-point type; `None` for the others.
    #[inline]
    pub const fn float(self) -> Option<FloatFormat> {
        match self {
            Self::F16 => Some(FloatFormat::F16),
            Self::BF16 => Some(FloatFormat::BF16),
            Self::F32 => Some(FloatFormat::F32),
            Self::F64 => Some(FloatFormat::F64),
            _ => None,
        }
    }
}

/// A binary floating-point format in the terms of IEEE 754.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// Significant bits, the hidden one included (p).
    pub precision: i32,
    /// The exponent of the largest finite number (emax); emin is `1 - emax`.
    pub max_exponent: i32,
}

impl FloatFormat {
    /// IEEE 754's binary16.
    pub const F16: Self = Self { precision: 11, max_exponent: 15 };
    /// The upper half of binary32.
    pub const BF16: Self = Self { precision: 8, max_exponent: 127 };
    /// IEEE 754's binary32.
    pub const F32: Self = Self { precision: 24, max_exponent: 127 };
    /// IEEE 754's binary64.
    pub const F64: Self = Self { precision: 53, max_exponent: 1023 };

    /// The distance from 1 to the next number above it: 2^(1-p).
    #[inline]
    pub fn epsilon(self) -> f64 {
        exp2i(1 - self.precision)
    }

    /// The smallest positive normal number: 2^emin.
    #[inline]
    pub fn min_normal(self) -> f64 {
        exp2i(1 - self.max_exponent)
    }

    /// The largest finite number: (2 - 2^(1-p))·2^emax.
    #[inline]
    pub fn max_finite(self) -> f64 {
        (2.0 - self.epsilon()) * exp2i(self.max_exponent)
    }

    /// The spacing of numbers around `x` (one ULP): 2^(max(e, emin) - p + 1) where 2^e ≤ |x| < 2^(e+1).
    /// The spacing at 0 and among the denormals is the smallest denormal; NaN and infinities give infinity.
    #[inline]
    pub fn ulp(self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::INFINITY;
        }
        let exponent = exponent_of(x).max(1 - self.max_exponent);
        exp2i(exponent - self.precision + 1)
    }
}

/// 2^e, exact for every `e` that `f64` can hold, denormals included.
#[inline]
pub(crate) fn exp2i(e: i32) -> f64 {
    match e {
        1024.. => f64::INFINITY,
        -1022..=1023 => f64::from_bits(((e + 1023) as u64) << 52),
        -1074..=-1023 => f64::from_bits(1u64 << (e + 1074)),
        _ => 0.0,
    }
}

/// ⌊log2 |x|⌋ of a finite number; `i32::MIN / 2` for zero.
#[inline]
pub(crate) fn exponent_of(x: f64) -> i32 {
    let bits = x.abs().to_bits();
    if bits == 0 {
        return i32::MIN / 2;
    }
    let biased = (bits >> 52) as i32;
    if biased == 0 { -1011 - bits.leading_zeros() as i32 } else { biased - 1023 }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not one of [`DType::ALL`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown dtype `{0}`; known are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64")]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;
    fn from_str(s: &str) -> Result<Self, UnknownDType> {
        Self::ALL.into_iter().find(|d| d.name() == s).ok_or_else(|| UnknownDType(s.to_owned()))
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DTypes(u16);

impl DTypes {
    /// No type.
    pub const NONE: Self = Self(0);
    /// Every type.
    pub const ALL: Self = Self::of(&DType::ALL);
    /// `bool` alone.
    pub const BOOL: Self = Self::of(&[DType::Bool]);
    /// i8, i16, i32, i64.
    pub const SIGNED_INTS: Self = Self::of(&[DType::I8, DType::I16, DType::I32, DType::I64]);
    /// u8, u16, u32, u64.
    pub const UNSIGNED_INTS: Self = Self::of(&[DType::U8, DType::U16, DType::U32, DType::U64]);
    /// Signed and unsigned integers.
    pub const INTS: Self = Self::SIGNED_INTS.union(Self::UNSIGNED_INTS);
    /// f16, f32, f64: ONNX's `float` types before bfloat16 joined them.
    pub const IEEE_FLOATS: Self = Self::of(&[DType::F16, DType::F32, DType::F64]);
    /// f16, bf16, f32, f64.
    pub const FLOATS: Self = Self::IEEE_FLOATS.with(DType::BF16);
    /// Integers and floats, not `bool`.
    pub const NUMERIC: Self = Self::INTS.union(Self::FLOATS);

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
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&d| self.contains(d))
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
    fn formats_agree_with_the_standard_library_and_half() {
        let f32_format = DType::F32.float().unwrap();
        assert_eq!(f32_format.max_finite(), f64::from(f32::MAX));
        assert_eq!(f32_format.min_normal(), f64::from(f32::MIN_POSITIVE));
        assert_eq!(f32_format.epsilon(), f64::from(f32::EPSILON));
        assert_eq!(DType::F64.float().unwrap().max_finite(), f64::MAX);
        assert_eq!(DType::F16.float().unwrap().max_finite(), half::f16::MAX.to_f64());
        assert_eq!(DType::BF16.float().unwrap().min_normal(), half::bf16::MIN_POSITIVE.to_f64());
    }

    #[test]
    fn ulp_is_the_gap_to_the_next_number() {
        let f = DType::F32.float().unwrap();
        for x in [1.0f32, 1.5, 2.0, 3.0e-39, 1e-45, 1e30, 0.1] {
            assert_eq!(f.ulp(f64::from(x)), f64::from(x.next_up()) - f64::from(x), "{x}");
        }
        assert_eq!(f.ulp(0.0), f64::from(f32::from_bits(1)));
        assert_eq!(DType::F64.float().unwrap().ulp(5e-324), 5e-324);
    }

    #[test]
    fn wrapping_is_two_complement() {
        assert_eq!(DType::I8.wrap(128), -128);
        assert_eq!(DType::U8.wrap(-1), 255);
        assert_eq!(DType::U64.wrap(-1), u64::MAX as i128);
        assert_eq!(DType::Bool.wrap(7), 1);
        assert_eq!(DType::I64.int_range(), Some((i64::MIN as i128, i64::MAX as i128)));
    }
}
