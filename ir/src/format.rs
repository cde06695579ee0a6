//! The numbers that a floating-point element type has, as data.
//!
//! A code is a sign, an exponent field and a mantissa field. What the formats of ONNX differ in is how wide the fields are,
//! what the exponent is counted from, which codes stand for no finite number ([`Specials`]), and whether there are numbers
//! besides the positive normal ones ([`Extent`]). Everything else follows from that.

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatFormat {
    /// The width of the mantissa field: the significant bits less the hidden one.
    pub mantissa_bits: i32,
    /// The width of the exponent field.
    pub exponent_bits: i32,
    /// What the exponent field holds more than the exponent.
    pub bias: i32,
    /// The codes that stand for no finite number.
    pub specials: Specials,
    /// The numbers besides the positive normal ones.
    pub extent: Extent,
}

/// Which codes stand for infinities and NaNs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Specials {
    /// All with the largest exponent field: infinities where the mantissa is 0, else NaNs. IEEE 754.
    Exponent,
    /// The one with all bits set but for the sign, a NaN; there are no infinities. ONNX's `FN`, and E8M0.
    AllOnes,
    /// What would be -0, a NaN; there are no infinities and one zero. ONNX's `FNUZ`.
    NegativeZero,
    /// None: every code is a finite number.
    None,
}

/// Which numbers there are besides the positive normal ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// Negative ones, zeros and denormals.
    Full,
    /// None: there is no sign bit, and the exponent field 0 stands for an exponent like any other.
    PositiveNormals,
}

impl FloatFormat {
    /// IEEE 754's binary16.
    pub const F16: Self = Self::ieee(5, 10);
    /// The upper half of binary32.
    pub const BF16: Self = Self::ieee(8, 7);
    /// IEEE 754's binary32.
    pub const F32: Self = Self::ieee(8, 23);
    /// IEEE 754's binary64.
    pub const F64: Self = Self::ieee(11, 52);
    /// The 8 bits of the Open Compute Project with the larger precision.
    pub const F8E4M3FN: Self = Self { specials: Specials::AllOnes, ..Self::ieee(4, 3) };
    /// Graphcore's 8 bits with the larger precision.
    pub const F8E4M3FNUZ: Self = Self { bias: 8, specials: Specials::NegativeZero, ..Self::ieee(4, 3) };
    /// The upper half of binary16.
    pub const F8E5M2: Self = Self::ieee(5, 2);
    /// Graphcore's 8 bits with the larger range.
    pub const F8E5M2FNUZ: Self = Self { bias: 16, specials: Specials::NegativeZero, ..Self::ieee(5, 2) };
    /// The powers of two that microscaling formats have as scales.
    pub const F8E8M0: Self =
        Self { specials: Specials::AllOnes, extent: Extent::PositiveNormals, ..Self::ieee(8, 0) };
    /// The 4 bits of microscaling formats.
    pub const F4E2M1: Self = Self { specials: Specials::None, ..Self::ieee(2, 1) };

    const fn ieee(exponent_bits: i32, mantissa_bits: i32) -> Self {
        let bias = (1 << (exponent_bits - 1)) - 1;
        Self { mantissa_bits, exponent_bits, bias, specials: Specials::Exponent, extent: Extent::Full }
    }

    /// The width of a code.
    #[inline]
    pub const fn bits(self) -> i32 {
        self.has_sign() as i32 + self.exponent_bits + self.mantissa_bits
    }

    /// Significant bits, the hidden one included (p).
    #[inline]
    pub const fn precision(self) -> i32 {
        self.mantissa_bits + 1
    }

    /// The largest integer up to which there is a number for each (2ᵖ).
    #[inline]
    pub const fn whole(self) -> u64 {
        1 << self.precision()
    }

    /// The exponent of the largest finite number (emax).
    #[inline]
    pub const fn max_exponent(self) -> i32 {
        let largest_field = (1 << self.exponent_bits) - 1;
        let reserved = match self.specials {
            Specials::Exponent => 1,
            // The NaN takes one code of those with the largest exponent field; without a mantissa there is no other.
            Specials::AllOnes => (self.mantissa_bits == 0) as i32,
            Specials::NegativeZero | Specials::None => 0,
        };
        largest_field - reserved - self.bias
    }

    /// The exponent of the smallest normal number (emin).
    #[inline]
    pub const fn min_exponent(self) -> i32 {
        match self.extent {
            Extent::Full => 1 - self.bias,
            Extent::PositiveNormals => -self.bias,
        }
    }

    /// Whether there are infinities.
    #[inline]
    pub const fn has_infinities(self) -> bool {
        matches!(self.specials, Specials::Exponent)
    }

    /// The distance from 1 to the next number above it: 2^(1-p).
    #[inline]
    pub fn epsilon(self) -> f64 {
        exp2i(-self.mantissa_bits)
    }

    /// The smallest positive normal number: 2^emin.
    #[inline]
    pub fn min_normal(self) -> f64 {
        exp2i(self.min_exponent())
    }

    /// The largest finite number: (2 - 2^(1-p))·2^emax, or the number below it in a format that has its NaN
    /// there.
    #[inline]
    pub fn max_finite(self) -> f64 {
        let is_taken = self.specials == Specials::AllOnes && self.mantissa_bits > 0;
        let below_two = if is_taken { 2.0 * self.epsilon() } else { self.epsilon() };
        (2.0 - below_two) * exp2i(self.max_exponent())
    }

    /// The spacing of numbers around `x` (one ULP): 2^(max(e, emin) - p + 1) where 2^e ≤ |x| < 2^(e+1).
    /// The spacing at 0 and among the denormals is the smallest denormal; NaN and infinities give infinity.
    #[inline]
    pub fn ulp(self, x: f64) -> f64 {
        if !x.is_finite() {
            return f64::INFINITY;
        }
        exp2i(exponent_of(x).max(self.min_exponent()) - self.mantissa_bits)
    }

    /// Whether there are negative numbers.
    #[inline]
    pub const fn has_sign(self) -> bool {
        matches!(self.extent, Extent::Full)
    }

    /// Whether some code is a NaN.
    #[inline]
    pub const fn has_nan(self) -> bool {
        !matches!(self.specials, Specials::None)
    }

    /// The number that a code stands for.
    pub fn decode(self, code: u64) -> f64 {
        let mantissa = code & self.mantissa_mask();
        let field = code >> self.mantissa_bits & self.exponent_mask();
        let is_negative = code & self.sign_mask() != 0;
        let magnitude = match self.special(code, field, mantissa) {
            Some(special) => special,
            None if field == 0 && self.extent == Extent::Full => {
                mantissa as f64 * exp2i(self.min_exponent() - self.mantissa_bits)
            }
            None => (1.0 + mantissa as f64 * self.epsilon()) * exp2i(field as i32 - self.bias),
        };
        if is_negative { -magnitude } else { magnitude }
    }

    /// The code of one of the format's numbers, infinities or NaNs; of the last, the one with the least payload. Where there
    /// is no NaN, it becomes a zero.
    pub fn encode(self, v: f64) -> u64 {
        let sign = if v.is_sign_negative() { self.sign_mask() } else { 0 };
        if v.is_nan() {
            return match self.specials {
                Specials::Exponent => sign | self.exponent_mask() << self.mantissa_bits | self.quiet_bit(),
                Specials::AllOnes => sign | self.exponent_mask() << self.mantissa_bits | self.mantissa_mask(),
                Specials::NegativeZero => self.sign_mask(),
                Specials::None => sign,
            };
        }
        if v.is_infinite() {
            return sign | self.exponent_mask() << self.mantissa_bits;
        }
        let exponent = exponent_of(v).max(self.min_exponent());
        // The hidden bit, where there is one, carries into the exponent field.
        let significand = (v.abs() * exp2i(-exponent) * exp2i(self.mantissa_bits)) as u64;
        let field = (exponent - self.min_exponent()) as u64;
        let carried = match self.extent {
            Extent::Full => significand,
            Extent::PositiveNormals => significand & self.mantissa_mask(),
        };
        sign | ((field << self.mantissa_bits) + carried)
    }

    /// The infinity or NaN that a code stands for, without its sign.
    fn special(self, code: u64, field: u64, mantissa: u64) -> Option<f64> {
        let has_largest_field = field == self.exponent_mask();
        match self.specials {
            Specials::Exponent if has_largest_field && mantissa == 0 => Some(f64::INFINITY),
            Specials::Exponent if has_largest_field => Some(f64::NAN),
            Specials::AllOnes if has_largest_field && mantissa == self.mantissa_mask() => Some(f64::NAN),
            Specials::NegativeZero if code == self.sign_mask() => Some(f64::NAN),
            Specials::Exponent | Specials::AllOnes | Specials::NegativeZero | Specials::None => None,
        }
    }

    const fn sign_mask(self) -> u64 {
        match self.extent {
            Extent::Full => 1 << (self.exponent_bits + self.mantissa_bits),
            Extent::PositiveNormals => 0,
        }
    }

    const fn exponent_mask(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    const fn mantissa_mask(self) -> u64 {
        (1 << self.mantissa_bits) - 1
    }

    /// The bit of the mantissa that is set in a quiet NaN.
    const fn quiet_bit(self) -> u64 {
        (self.mantissa_mask() + 1) >> 1
    }
}

/// 2^e, exact for every `e` that `f64` can hold, denormals included.
#[inline]
pub fn exp2i(e: i32) -> f64 {
    match e {
        1024.. => f64::INFINITY,
        -1022..=1023 => f64::from_bits(((e + 1023) as u64) << 52),
        -1074..=-1023 => f64::from_bits(1u64 << (e + 1074)),
        _ => 0.0,
    }
}

/// Whether a normal number is a power of two, or one of them below 0: its mantissa field is 0.
#[inline]
pub fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1
}

/// ⌊log2 |x|⌋ of a finite number; `i32::MIN / 2` for zero.
#[inline]
pub fn exponent_of(x: f64) -> i32 {
    let bits = x.abs().to_bits();
    if bits == 0 {
        return i32::MIN / 2;
    }
    let biased = (bits >> 52) as i32;
    if biased == 0 { -1011 - bits.leading_zeros() as i32 } else { biased - 1023 }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn formats_agree_with_the_standard_library_and_half() {
        assert_eq!(FloatFormat::F32.max_finite(), f64::from(f32::MAX));
        assert_eq!(FloatFormat::F32.min_normal(), f64::from(f32::MIN_POSITIVE));
        assert_eq!(FloatFormat::F32.epsilon(), f64::from(f32::EPSILON));
        assert_eq!(FloatFormat::F64.max_finite(), f64::MAX);
        assert_eq!(FloatFormat::F16.max_finite(), f16::MAX.to_f64());
        assert_eq!(FloatFormat::BF16.min_normal(), bf16::MIN_POSITIVE.to_f64());
    }

    #[test]
    fn codes_of_sixteen_bits_are_those_of_half() {
        for code in 0..=u16::MAX {
            for (format, v) in [
                (FloatFormat::F16, f16::from_bits(code).to_f64()),
                (FloatFormat::BF16, bf16::from_bits(code).to_f64()),
            ] {
                let ours = format.decode(code.into());
                assert!(
                    ours.to_bits() == v.to_bits() || ours.is_nan() && v.is_nan(),
                    "{code:#x}: {ours}, {v}"
                );
                assert!(v.is_nan() || format.encode(v) == u64::from(code), "{code:#x}");
            }
        }
        assert_eq!(FloatFormat::F16.encode(f64::NAN), f16::NAN.to_bits().into());
    }

    #[test]
    fn codes_of_wide_formats_are_those_of_the_standard_library() {
        for v in [0.0, -0.0, 1.0, -0.1, 5e-324, 1e-310, f64::MAX, f64::MIN_POSITIVE, f64::NEG_INFINITY] {
            assert_eq!(FloatFormat::F64.encode(v), v.to_bits(), "{v:e}");
            assert_eq!(FloatFormat::F64.decode(v.to_bits()).to_bits(), v.to_bits(), "{v:e}");
        }
    }

    #[test]
    fn powers_of_two_have_no_mantissa() {
        assert!([1.0, -2.0, 0.25, f64::MIN_POSITIVE].into_iter().all(is_power_of_two));
        let others = [0.0, 3.0, -1.5, f64::from_bits(1), f64::INFINITY, f64::NAN];
        assert!(!others.into_iter().any(is_power_of_two));
    }

    #[test]
    fn ulp_is_the_gap_to_the_next_number() {
        let f = FloatFormat::F32;
        for x in [1.0f32, 1.5, 2.0, 3.0e-39, 1e-45, 1e30, 0.1] {
            assert_eq!(f.ulp(f64::from(x)), f64::from(x.next_up()) - f64::from(x), "{x}");
        }
        assert_eq!(f.ulp(0.0), f64::from(f32::from_bits(1)));
        assert_eq!(FloatFormat::F64.ulp(5e-324), 5e-324);
    }

    #[test]
    fn the_ends_of_narrow_formats_are_those_of_their_specifications() {
        // OCP 8-bit Floating Point Specification, table 1; Graphcore's paper (arXiv 2206.02915), table 1; OCP
        // Microscaling Formats, sections 5.3.3 and 5.4.1.
        let ends = [
            (FloatFormat::F8E4M3FN, 8, 448.0, -6),
            (FloatFormat::F8E4M3FNUZ, 8, 240.0, -7),
            (FloatFormat::F8E5M2, 8, 57344.0, -14),
            (FloatFormat::F8E5M2FNUZ, 8, 57344.0, -15),
            (FloatFormat::F8E8M0, 8, 2f64.powi(127), -127),
            (FloatFormat::F4E2M1, 4, 6.0, 0),
        ];
        for (format, bits, most, least) in ends {
            let found = (format.bits(), format.max_finite(), format.min_normal());
            assert_eq!(found, (bits, most, 2f64.powi(least)), "{format:?}");
        }
    }
}
