//! Elements of tensors as text, exact in both directions.

use std::fmt;

use crate::DType;
use crate::round::round_to_precision;
use crate::tensor::Element;

/// An element as it is written.
pub(super) struct Literal<T>(pub(super) T);

impl<T: Element> fmt::Display for Literal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0.to_f64();
        match T::DTYPE {
            DType::Bool => write!(f, "{}", v != 0.0),
            dtype if !dtype.is_float() => write!(f, "{}", self.0.to_i128()),
            _ if v.is_nan() => write!(f, "nan({:#x})", bits(self.0)),
            DType::F64 => write!(f, "{v:?}"),
            DType::F32 => write!(f, "{:?}", v as f32),
            _ => write!(f, "{:?}", shortest::<T>(v)),
        }
    }
}

/// The decimal with the fewest digits that still rounds to `v` in the type of `T`.
///
/// Each candidate is the decimal nearest to `v` with that many digits, so at most beside a power of two, where
/// numbers lie half as dense on one side, a digit more than needed comes out.
fn shortest<T: Element>(v: f64) -> f64 {
    let decimal = |digits| format!("{v:.digits$e}").parse::<f64>().ok();
    (0..16).filter_map(decimal).find(|&d| bits(T::from_f64(d)) == bits(T::from_f64(v))).unwrap_or(v)
}

/// The element that a word or number stands for, `None` if it stands for none of this type. NaNs have the
/// notation of [`from_nan_bits`] instead.
pub(super) fn read<T: Element>(text: &str) -> Option<T> {
    match T::DTYPE {
        DType::Bool => text.parse().ok().map(|b: bool| T::from_i128(b.into())),
        DType::F32 => finite_or_spelled(text, text.parse::<f32>().ok()? as f64),
        dtype if dtype.is_float() => finite_or_spelled(text, text.parse().ok()?),
        dtype => {
            let v: i128 = text.parse().ok()?;
            let (low, high) = dtype.int_range()?;
            (low..=high).contains(&v).then(|| T::from_i128(v))
        }
    }
}

/// Only `inf` is infinite: a number that is too large for the type is a mistake. So is one that the type has no neighbour of
/// on one side, and an infinity where there is none.
fn finite_or_spelled<T: Element>(text: &str, v: f64) -> Option<T> {
    let format = T::DTYPE.float()?;
    let rounded = T::from_f64(v);
    let found = rounded.to_f64();
    let is_within = round_to_precision(format, v).abs() <= format.max_finite() && found.is_finite();
    let is_spelled = matches!(text, "inf" | "-inf") && found.is_infinite();
    (is_spelled || is_within).then_some(rounded)
}

/// The NaN with these bits, `None` if they are no NaN.
pub(super) fn from_nan_bits<T: Element>(bits: u64) -> Option<T> {
    let bytes = bits.to_le_bytes();
    let (used, unused) = bytes.split_at(T::DTYPE.whole_bytes());
    let element = *T::from_bytes(used).first()?;
    (unused.iter().all(|&b| b == 0) && element.to_f64().is_nan()).then_some(element)
}

fn bits<T: Element>(v: T) -> u64 {
    T::bytes_of(&[v]).iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b))
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn round_trip<T: Element>(v: T) -> bool {
        let text = Literal(v).to_string();
        let back = match text.strip_prefix("nan(0x").and_then(|t| t.strip_suffix(')')) {
            Some(hex) => u64::from_str_radix(hex, 16).ok().and_then(from_nan_bits::<T>),
            None => read(&text),
        };
        back.is_some_and(|back| bits(back) == bits(v))
    }

    #[test]
    fn every_half_precision_number_round_trips() {
        for bits in 0..=u16::MAX {
            assert!(round_trip(f16::from_bits(bits)), "f16 {bits:#x}");
            assert!(round_trip(bf16::from_bits(bits)), "bf16 {bits:#x}");
        }
    }

    #[test]
    fn notable_numbers_of_the_wider_types_round_trip() {
        for bits in
            [0, 1, 0x8000_0000, 0x7f7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x7f80_0001, u32::MAX]
        {
            assert!(round_trip(f32::from_bits(bits)), "f32 {bits:#x}");
        }
        for v in [0.1, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            assert!(round_trip(v), "f64 {v:?}");
        }
        for v in [i64::MIN, i64::MAX] {
            assert!(round_trip(v));
        }
        assert!(round_trip(u64::MAX) && round_trip(i8::MIN) && round_trip(true));
    }

    #[test]
    fn half_precision_is_short() {
        assert_eq!(Literal(f16::from_f64(0.1)).to_string(), "0.1");
        assert_eq!(Literal(bf16::MAX).to_string(), "3.39e38");
        assert_eq!(Literal(f16::MIN).to_string(), "-65500.0");
        assert_eq!(Literal(f16::NAN).to_string(), "nan(0x7e00)");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(read::<f16>("65520"), None);
        assert_eq!(read::<f32>("1e39"), None);
        assert_eq!(read::<f64>("1e309"), None);
        assert_eq!(read::<f64>("nan"), None);
        assert_eq!(read::<f64>("infinity"), None);
        assert_eq!(read::<i8>("128"), None);
        assert_eq!(read::<u8>("-1"), None);
        assert_eq!(read::<i32>("1.0"), None);
        assert_eq!(read::<bool>("1"), None);
        assert_eq!(from_nan_bits::<f32>(0x7f80_0000), None);
        assert_eq!(from_nan_bits::<f16>(0x1_7e00), None);
    }
}
