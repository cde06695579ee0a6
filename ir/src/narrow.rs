//! Elements that neither Rust nor `half` has a type for: 2- and 4-bit integers, floats of 8 and 4 bits.
//!
//! Each takes a byte in memory, whatever its width: a slice of them can be indexed, and an element borrowed. Only where
//! bytes are written ([`Tensor::to_bytes`](crate::Tensor::to_bytes)) do several share one. Nothing computes with them: they
//! are read as `f64` or `i128`, and rounded or wrapped when they are stored. They are equal where their codes are, so a NaN
//! equals itself.

use crate::DType;
use crate::format::FloatFormat;
use crate::round::round_to_format;

macro_rules! integers {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(i8);

        impl $name {
            /// The integer of a code, of which only the bits of the type's width count.
            pub const fn from_code(code: u8) -> Self {
                Self::wrapping(code as i128)
            }

            /// The code, in the lowest bits; the others are 0.
            pub const fn code(self) -> u8 {
                self.0 as u8 & (u8::MAX >> (8 - DType::$name.bits()))
            }

            /// The integer modulo two to the type's width.
            pub const fn wrapping(v: i128) -> Self {
                Self(DType::$name.wrap(v) as i8)
            }

            /// The nearest integer of the type towards zero; 0 for NaN.
            pub const fn saturating(v: f64) -> Self {
                let most = u8::MAX >> (8 - DType::$name.bits());
                let (low, high) = if DType::$name.is_signed() {
                    (-(most as i8 / 2) - 1, most as i8 / 2)
                } else {
                    (0, most as i8)
                };
                let near = v as i8;
                Self(if near < low { low } else if near > high { high } else { near })
            }

            /// The value.
            pub const fn get(self) -> i8 {
                self.0
            }
        }
    )*};
}

integers! {
    I4: "ONNX's INT4: -8 to 7.";
    U4: "ONNX's UINT4: 0 to 15.";
    I2: "ONNX's INT2: -2 to 1.";
    U2: "ONNX's UINT2: 0 to 3.";
}

macro_rules! floats {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(u8);

        impl $name {
            const FORMAT: FloatFormat = FloatFormat::$name;

            /// The number of a code, of which only the bits of the type's width count.
            pub const fn from_code(code: u8) -> Self {
                Self(code & (u8::MAX >> (8 - Self::FORMAT.bits())))
            }

            /// The code, in the lowest bits; the others are 0.
            pub const fn code(self) -> u8 {
                self.0
            }

            /// The value, exact.
            pub fn to_f64(self) -> f64 {
                Self::FORMAT.decode(self.0.into())
            }

            /// The value rounded once, as [`round_to_format`] does.
            pub fn from_f64(v: f64) -> Self {
                Self(Self::FORMAT.encode(round_to_format(Self::FORMAT, v)) as u8)
            }
        }
    )*};
}

floats! {
    F8E4M3FN: "ONNX's FLOAT8E4M3FN: to 448, without infinities.";
    F8E4M3FNUZ: "ONNX's FLOAT8E4M3FNUZ: to 240, without infinities and with one zero and one NaN.";
    F8E5M2: "ONNX's FLOAT8E5M2: to 57344, with infinities.";
    F8E5M2FNUZ: "ONNX's FLOAT8E5M2FNUZ: to 57344, without infinities and with one zero and one NaN.";
    F8E8M0: "ONNX's FLOAT8E8M0: the powers of two from 2⁻¹²⁷ to 2¹²⁷ and a NaN.";
    F4E2M1: "ONNX's FLOAT4E2M1: to 6, without infinities and NaN.";
}
