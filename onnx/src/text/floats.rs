//! Floats as the text has them.

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
