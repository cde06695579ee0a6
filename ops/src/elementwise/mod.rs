//! Operators that work element by element: tables of scalar functions.

pub mod activation;
pub mod binary;
pub mod bit_cast;
pub mod bit_shift;
pub mod cast;
pub mod clip;
pub mod compare;
pub mod gelu;
pub mod modulus;
pub mod pow;
pub mod predicate;
pub mod prelu;
pub mod select;
pub mod shrink;
pub mod unary;
pub mod variadic;

pub use activation::{Activation, ActivationFn};
pub use binary::{Binary, BinaryFn};
pub use bit_cast::BitCast;
pub use bit_shift::{BitShift, Direction};
pub(crate) use cast::narrow::stored;
pub use cast::{Cast, CastLike, Rounding};
pub use clip::Clip;
pub use compare::Compare;
pub use gelu::Gelu;
pub use modulus::Mod;
pub use pow::Pow;
pub use predicate::Predicate;
pub use prelu::PRelu;
pub use select::Where;
pub use shrink::Shrink;
pub use unary::{Unary, UnaryFn};
pub use variadic::{Variadic, VariadicFn};
