//! Concrete tensors: one `ndarray` array per element type.
//!
//! In memory every element has a place of its own. Bytes are as ONNX's `raw_data` has them: elements of less than a byte lie
//! beside each other, the first in the lowest bits, and only the last byte may be filled in part.

use std::borrow::Cow;

use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn};

use crate::narrow::{F4E2M1, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0, I2, I4, U2, U4};
use crate::round::{to_bf16, to_f16};
use crate::{DType, Type};

/// A tensor with its elements.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "one variant per DType")]
pub enum Tensor {
    Bool(ArrayD<bool>),
    I8(ArrayD<i8>),
    I16(ArrayD<i16>),
    I32(ArrayD<i32>),
    I64(ArrayD<i64>),
    U8(ArrayD<u8>),
    U16(ArrayD<u16>),
    U32(ArrayD<u32>),
    U64(ArrayD<u64>),
    F16(ArrayD<f16>),
    BF16(ArrayD<bf16>),
    F32(ArrayD<f32>),
    F64(ArrayD<f64>),
    I4(ArrayD<I4>),
    U4(ArrayD<U4>),
    I2(ArrayD<I2>),
    U2(ArrayD<U2>),
    F8E4M3FN(ArrayD<F8E4M3FN>),
    F8E4M3FNUZ(ArrayD<F8E4M3FNUZ>),
    F8E5M2(ArrayD<F8E5M2>),
    F8E5M2FNUZ(ArrayD<F8E5M2FNUZ>),
    F8E8M0(ArrayD<F8E8M0>),
    F4E2M1(ArrayD<F4E2M1>),
}

/// Runs the same expression on the array inside a [`Tensor`], whatever its element type.
///
/// `each_tensor!(t, a => a.len())`
#[macro_export]
macro_rules! each_tensor {
    ($tensor:expr, $array:ident => $body:expr) => {
        $crate::each_tensor!(
            $tensor, $array => $body;
            Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64
            I4 U4 I2 U2 F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0 F4E2M1
        )
    };
    ($tensor:expr, $array:ident => $body:expr; $($variant:ident)*) => {
        match $tensor {
            $($crate::Tensor::$variant($array) => $body,)*
        }
    };
}

/// A Rust type that is the element of some [`Tensor`] variant.
pub trait Element: Copy + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// The dtype of such elements.
    const DTYPE: DType;
    /// Wraps an array.
    fn wrap(array: ArrayD<Self>) -> Tensor;
    /// The array inside, if the tensor has this element type.
    fn of(tensor: &Tensor) -> Option<&ArrayD<Self>>;
    /// The elements of an array in row-major order. A method, so that it is compiled here and not by each crate that asks.
    fn row_major(array: &ArrayD<Self>) -> Cow<'_, [Self]>;
    /// A tensor of as many elements as the shape has, in row-major order. A method for the same reason.
    fn shaped(shape: &[usize], elements: Vec<Self>) -> Option<Tensor>;
    /// The little-endian bytes of elements; one of less than a byte takes a whole one.
    fn bytes_of(elements: &[Self]) -> Vec<u8>;
    /// The elements that each `DTYPE.whole_bytes()` little-endian bytes hold.
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
    /// The value as `f64`: exact for every float type, rounded for 64-bit integers.
    fn to_f64(self) -> f64;
    /// The value rounded once from `f64`; integers truncate and saturate, `bool` is "not zero".
    fn from_f64(v: f64) -> Self;
    /// The value as an integer; floats truncate and saturate.
    fn to_i128(self) -> i128;
    /// The value from an integer, wrapped to the type's width; floats round once.
    fn from_i128(v: i128) -> Self;
}

macro_rules! elements {
    ($($rust:ty, $variant:ident, $get:expr, $put:expr, $to_f:expr, $from_f:expr, $to_i:expr, $from_i:expr;)*) => {$(
        impl Element for $rust {
            const DTYPE: DType = DType::$variant;
            fn wrap(array: ArrayD<Self>) -> Tensor {
                Tensor::$variant(array)
            }
            fn of(tensor: &Tensor) -> Option<&ArrayD<Self>> {
                match tensor {
                    Tensor::$variant(a) => Some(a),
                    _ => None,
                }
            }
            fn row_major(array: &ArrayD<Self>) -> Cow<'_, [Self]> {
                match array.as_slice() {
                    Some(elements) => Cow::Borrowed(elements),
                    None => Cow::Owned(array.iter().copied().collect()),
                }
            }
            fn shaped(shape: &[usize], elements: Vec<Self>) -> Option<Tensor> {
                ArrayD::from_shape_vec(IxDyn(shape), elements).ok().map(Tensor::$variant)
            }
            // Plain loops over arrays of a known size, which become copies.
            fn bytes_of(elements: &[Self]) -> Vec<u8> {
                let mut out = vec![0; elements.len() * size_of::<Self>()];
                for (bytes, &element) in out.as_chunks_mut().0.iter_mut().zip(elements) {
                    *bytes = $put(element);
                }
                out
            }
            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|&chunk| $get(chunk)).collect()
            }
            fn to_f64(self) -> f64 {
                $to_f(self)
            }
            fn from_f64(v: f64) -> Self {
                $from_f(v)
            }
            fn to_i128(self) -> i128 {
                $to_i(self)
            }
            fn from_i128(v: i128) -> Self {
                $from_i(v)
            }
        }
    )*};
}

elements! {
    bool, Bool, |b: [u8; 1]| b[0] != 0, |v| [u8::from(v)], |v| f64::from(u8::from(v)), |v| v != 0.0, i128::from, |v| v != 0;
    i8, I8, i8::from_le_bytes, i8::to_le_bytes, f64::from, |v| v as i8, i128::from, |v| v as i8;
    i16, I16, i16::from_le_bytes, i16::to_le_bytes, f64::from, |v| v as i16, i128::from, |v| v as i16;
    i32, I32, i32::from_le_bytes, i32::to_le_bytes, f64::from, |v| v as i32, i128::from, |v| v as i32;
    i64, I64, i64::from_le_bytes, i64::to_le_bytes, |v| v as f64, |v| v as i64, i128::from, |v| v as i64;
    u8, U8, u8::from_le_bytes, u8::to_le_bytes, f64::from, |v| v as u8, i128::from, |v| v as u8;
    u16, U16, u16::from_le_bytes, u16::to_le_bytes, f64::from, |v| v as u16, i128::from, |v| v as u16;
    u32, U32, u32::from_le_bytes, u32::to_le_bytes, f64::from, |v| v as u32, i128::from, |v| v as u32;
    u64, U64, u64::from_le_bytes, u64::to_le_bytes, |v| v as f64, |v| v as u64, i128::from, |v| v as u64;
    f16, F16, f16::from_le_bytes, f16::to_le_bytes, f16::to_f64, to_f16, |v: f16| v.to_f64() as i128, |v| to_f16(v as f64);
    bf16, BF16, bf16::from_le_bytes, bf16::to_le_bytes, bf16::to_f64, to_bf16, |v: bf16| v.to_f64() as i128, |v| to_bf16(v as f64);
    f32, F32, f32::from_le_bytes, f32::to_le_bytes, f64::from, |v| v as f32, |v| v as i128, |v| v as f32;
    f64, F64, f64::from_le_bytes, f64::to_le_bytes, |v| v, |v| v, |v| v as i128, |v| v as f64;
}

macro_rules! narrow_elements {
    (integers $($name:ident)*) => {
        elements! {$(
            $name, $name, |[b]: [u8; 1]| $name::from_code(b), |v: $name| [v.code()],
            |v: $name| f64::from(v.get()), $name::saturating, |v: $name| i128::from(v.get()), $name::wrapping;
        )*}
    };
    (floats $($name:ident)*) => {
        elements! {$(
            $name, $name, |[b]: [u8; 1]| $name::from_code(b), |v: $name| [v.code()],
            $name::to_f64, $name::from_f64, |v: $name| v.to_f64() as i128, |v| $name::from_f64(v as f64);
        )*}
    };
}

narrow_elements!(integers I4 U4 I2 U2);
narrow_elements!(floats F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0 F4E2M1);

/// The number of bytes does not fit the type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tensor {ty} {}", misfit(ty, format!("needs {needed} bytes of data but has {given}")))]
pub struct WrongSize {
    /// The type the data was meant for.
    pub ty: Type,
    /// The bytes that type takes, where its sizes are those of a tensor.
    pub needed: u64,
    /// The bytes at hand.
    pub given: u64,
}

/// What an engine gave is no tensor.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WrongBytes {
    /// There are too few or too many.
    #[error(transparent)]
    Size(#[from] WrongSize),
    /// A truth value is neither 0 nor 1.
    #[error("element {at} is the byte {byte}, and a truth value is 0 or 1")]
    Truth {
        /// The row-major position.
        at: usize,
        /// What it is.
        byte: u8,
    },
}

/// The number of elements does not fit the type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a tensor {ty} {}", misfit(ty, format!("has {} elements but {given} are given", ty.count())))]
pub struct WrongCount {
    /// The type the elements were meant for.
    pub ty: Type,
    /// How many there are.
    pub given: usize,
}

/// Why no tensor is of a type however much data there is, and otherwise what is said of the amount.
fn misfit(ty: &Type, amount: String) -> String {
    let mut sizes = ty.shape.iter().filter(|&&d| d != 0);
    if sizes.clone().any(|&d| d < 0) {
        return "has a size below 0".to_owned();
    }
    // An empty one has strides, too.
    let is_counted = sizes.try_fold(1_i64, |a, &b| a.checked_mul(b)).is_some();
    if is_counted { amount } else { "has sizes too large for any tensor".to_owned() }
}

impl Tensor {
    /// The element type.
    pub fn dtype(&self) -> DType {
        fn dtype<T: Element>(_: &ArrayD<T>) -> DType {
            T::DTYPE
        }
        each_tensor!(self, a => dtype(a))
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        each_tensor!(self, a => a.shape())
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        each_tensor!(self, a => a.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of this tensor.
    pub fn ty(&self) -> Type {
        Type::new(self.dtype(), self.shape().iter().map(|&d| d as i64).collect::<Vec<_>>())
    }

    /// A tensor of zeros; of NaNs where the dtype is f8e8m0, which has no zero.
    pub fn zeros(ty: &Type) -> Self {
        Self::from_i128_fn(ty, |_| 0)
    }

    /// A tensor whose element at row-major position `i` is `f(i)`, rounded to the dtype.
    pub fn from_f64_fn(ty: &Type, mut f: impl FnMut(usize) -> f64) -> Self {
        Self::from_f64s(ty, &mut f)
    }

    /// Compiled once, and not for each closure and dtype. The trait is named because `half` has a `from_f64` that rounds twice.
    fn from_f64s(ty: &Type, f: &mut dyn FnMut(usize) -> f64) -> Self {
        dispatch!(ty.dtype, T => filled::<T>(ty, |i| Element::from_f64(f(i))))
    }

    /// A tensor whose element at row-major position `i` is `f(i)`, wrapped to the dtype.
    pub fn from_i128_fn(ty: &Type, mut f: impl FnMut(usize) -> i128) -> Self {
        Self::from_i128s(ty, &mut f)
    }

    /// Compiled once, as [`Self::from_f64s`].
    fn from_i128s(ty: &Type, f: &mut dyn FnMut(usize) -> i128) -> Self {
        dispatch!(ty.dtype, T => filled::<T>(ty, |i| Element::from_i128(f(i))))
    }

    /// A tensor from its elements in row-major order.
    pub fn from_elements<T: Element>(shape: &[i64], elements: Vec<T>) -> Result<Self, WrongCount> {
        let ty = Type::new(T::DTYPE, shape);
        let given = elements.len();
        if shape.iter().any(|&d| d < 0) || usize::try_from(ty.count()) != Ok(given) {
            return Err(WrongCount { ty, given });
        }
        T::shaped(&ty.extents(), elements).ok_or(WrongCount { ty, given })
    }

    /// A tensor from row-major little-endian bytes, as ONNX's `raw_data` holds them. What the last byte holds more than
    /// elements is passed over.
    pub fn from_bytes(ty: &Type, bytes: &[u8]) -> Result<Self, WrongSize> {
        fn build<T: Element>(ty: &Type, bytes: &[u8]) -> Option<Tensor> {
            T::shaped(&ty.extents(), T::from_bytes(bytes))
        }
        let wrong = || WrongSize { ty: ty.clone(), needed: ty.bytes(), given: bytes.len() as u64 };
        if ty.shape.iter().any(|&d| d < 0) || ty.bytes() != bytes.len() as u64 {
            return Err(wrong());
        }
        let bytes = apart(ty, bytes);
        dispatch!(ty.dtype, T => build::<T>(ty, &bytes)).ok_or_else(wrong)
    }

    /// What an engine gives as these bytes: as [`from_bytes`](Self::from_bytes), but that a truth value has to be 0 or 1. In a
    /// model's data any other byte is true as well; of an engine it is what a mask of SIMD leaves, say.
    pub fn answered(ty: &Type, bytes: &[u8]) -> Result<Self, WrongBytes> {
        if ty.dtype == DType::Bool
            && let Some(at) = bytes.iter().position(|&byte| byte > 1)
        {
            return Err(WrongBytes::Truth { at, byte: bytes[at] });
        }
        Ok(Self::from_bytes(ty, bytes)?)
    }

    /// The elements in row-major order as little-endian bytes. Unused bits of the last byte are 0.
    pub fn to_bytes(&self) -> Vec<u8> {
        fn bytes<T: Element>(array: &ArrayD<T>) -> Vec<u8> {
            together(T::DTYPE.bits(), T::bytes_of(&T::row_major(array)))
        }
        each_tensor!(self, a => bytes(a))
    }

    /// The elements in row-major order as `f64`; 64-bit integers round.
    pub fn to_f64s(&self) -> Vec<f64> {
        fn values<T: Element>(array: &ArrayD<T>) -> Vec<f64> {
            T::row_major(array).iter().map(|v| v.to_f64()).collect()
        }
        each_tensor!(self, a => values(a))
    }

    /// The elements in row-major order as integers; floats truncate.
    pub fn to_i128s(&self) -> Vec<i128> {
        fn values<T: Element>(array: &ArrayD<T>) -> Vec<i128> {
            T::row_major(array).iter().map(|v| v.to_i128()).collect()
        }
        each_tensor!(self, a => values(a))
    }
}

/// A tensor whose element at row-major position `i` is `f(i)`.
fn filled<T: Element>(ty: &Type, f: impl FnMut(usize) -> T) -> Tensor {
    let extents = ty.extents();
    let elements = (0..extents.iter().product()).map(f).collect();
    T::shaped(&extents, elements).expect("as many elements as the shape has places")
}

/// Elements of less than a byte, taken out of the bytes that several of them share. Others are left as they are.
fn apart<'b>(ty: &Type, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    let bits = ty.dtype.bits();
    if bits >= u8::BITS {
        return Cow::Borrowed(bytes);
    }
    let places = |&byte: &u8| (0..u8::BITS).step_by(bits as usize).map(move |place| byte >> place);
    bytes.iter().flat_map(places).take(ty.count() as usize).collect()
}

/// The reverse of [`apart`]: the first of several elements in the lowest bits of a byte.
fn together(bits: u32, elements: Vec<u8>) -> Vec<u8> {
    if bits >= u8::BITS {
        return elements;
    }
    let byte = |shared: &[u8]| shared.iter().rev().fold(0, |byte, element| byte << bits | element);
    elements.chunks((u8::BITS / bits) as usize).map(byte).collect()
}

/// Equality is bit for bit: a NaN equals the same NaN, +0 differs from -0.
impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.dtype() == other.dtype() && self.shape() == other.shape() && self.to_bytes() == other.to_bytes()
    }
}

impl Eq for Tensor {}

/// Runs the same expression with `$T` standing for the Rust element type of a [`DType`].
///
/// `dispatch!(dtype, T => size_of::<T>())`
#[macro_export]
macro_rules! dispatch {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dispatch!(
            $dtype, $T => $body;
            Bool = bool, I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8, U16 = u16, U32 = u32, U64 = u64,
            F16 = $crate::tensor::F16, BF16 = $crate::tensor::BF16, F32 = f32, F64 = f64,
            I4 = $crate::narrow::I4, U4 = $crate::narrow::U4, I2 = $crate::narrow::I2, U2 = $crate::narrow::U2,
            F8E4M3FN = $crate::narrow::F8E4M3FN, F8E4M3FNUZ = $crate::narrow::F8E4M3FNUZ,
            F8E5M2 = $crate::narrow::F8E5M2, F8E5M2FNUZ = $crate::narrow::F8E5M2FNUZ,
            F8E8M0 = $crate::narrow::F8E8M0, F4E2M1 = $crate::narrow::F4E2M1
        )
    };
    ($dtype:expr, $T:ident => $body:expr; $($variant:ident = $rust:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $rust;
                $body
            })*
        }
    };
}
pub(crate) use dispatch;

/// `half`'s binary16, under the name of its dtype.
pub type F16 = f16;
/// `half`'s bfloat16, under the name of its dtype.
pub type BF16 = bf16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Halfway between two numbers of the format once it is rounded to f32, but not before.
    #[test]
    fn an_engine_gives_truth_values_as_0_and_1() {
        let ty = Type::new(DType::Bool, [3]);
        assert_eq!(Tensor::answered(&ty, &[1, 0, 1]), Ok(Tensor::from_bytes(&ty, &[9, 0, 1]).unwrap()));
        let wrong = Tensor::answered(&ty, &[1, 255, 0]).unwrap_err().to_string();
        assert!(wrong.contains("element 1 is the byte 255"), "{wrong}");
        assert!(Tensor::answered(&ty, &[1]).is_err());
    }

    #[test]
    fn numbers_are_rounded_once() {
        for (dtype, place) in [(DType::F16, -11), (DType::BF16, -8)] {
            let trap = 1.0 + 2f64.powi(place) + 2f64.powi(-40);
            let rounded = Tensor::from_f64_fn(&Type::new(dtype, []), |_| trap);
            assert_eq!(rounded.to_f64s(), [1.0 + 2f64.powi(place + 1)]);
        }
    }

    #[test]
    fn zeros_are_zeros_of_every_dtype_that_has_one() {
        for dtype in DType::ALL {
            let has_none = dtype == DType::F8E8M0;
            let ty = Type::new(dtype, [2]);
            let zeros = Tensor::zeros(&ty);
            assert!(zeros.to_f64s().iter().all(|&x| if has_none { x.is_nan() } else { x == 0.0 }), "{dtype}");
            assert_eq!(zeros, Tensor::from_f64_fn(&ty, |_| 0.0));
        }
    }

    #[test]
    fn bytes_round_trip_for_every_dtype() {
        for dtype in DType::ALL {
            for shape in [vec![], vec![0], vec![2, 0, 3], vec![2, 3]] {
                let ty = Type::new(dtype, shape);
                let t = Tensor::from_i128_fn(&ty, |i| i as i128 % 2);
                assert_eq!(Tensor::from_bytes(&ty, &t.to_bytes()), Ok(t));
            }
        }
    }

    #[test]
    fn elements_of_less_than_a_byte_share_it_from_the_lowest_bits_on() {
        let i4s = Tensor::from_i128_fn(&Type::new(DType::I4, [3]), |i| [1, -2, 7][i]);
        assert_eq!(i4s.to_bytes(), [0xe1, 0x07]);
        let u2s = Tensor::from_i128_fn(&Type::new(DType::U2, [5]), |i| [3, 0, 2, 1, 2][i]);
        assert_eq!(u2s.to_bytes(), [0b0110_0011, 0b10]);
        // What pads the last byte says nothing.
        assert_eq!(Tensor::from_bytes(&u2s.ty(), &[0b0110_0011, 0b0101_0110]), Ok(u2s));
    }

    #[test]
    fn the_elements_must_be_as_many_as_the_type_has() {
        assert!(Tensor::from_elements(&[2, 1], vec![1u8, 2]).is_ok());
        assert_eq!(Tensor::from_elements(&[2, 2], vec![1u8]).unwrap_err().given, 1);
        let wrong = Tensor::from_elements::<u8>(&[-1, 0], vec![]).unwrap_err();
        assert_eq!(wrong.to_string(), "a tensor u8[-1, 0] has a size below 0");
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let ty = Type::new(DType::F32, [2, 3]);
        assert_eq!(Tensor::from_bytes(&ty, &[0; 23]).unwrap_err().needed, 24);
        let why =
            |shape: &[i64]| Tensor::from_bytes(&Type::new(DType::F32, shape), &[]).unwrap_err().to_string();
        assert_eq!(why(&[2]), "a tensor f32[2] needs 8 bytes of data but has 0");
        assert_eq!(why(&[-1]), "a tensor f32[-1] has a size below 0");
        assert!(why(&[0, i64::MAX, 9]).ends_with("has sizes too large for any tensor"));
    }

    #[test]
    fn equality_is_bitwise() {
        let ty = Type::new(DType::F32, []);
        let t = |v: f64| Tensor::from_f64_fn(&ty, |_| v);
        assert_eq!(t(f64::NAN), t(f64::NAN));
        assert_ne!(t(0.0), t(-0.0));
    }
}
