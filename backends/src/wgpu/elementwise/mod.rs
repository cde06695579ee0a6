//! Operators that compute each element from elements at the same place.

mod activation;
mod binary;
mod bit_cast;
mod bit_shift;
mod cast;
mod clip;
mod compare;
mod gelu;
pub(super) mod map;
mod modulus;
mod pow;
mod predicate;
mod prelu;
mod select;
mod shrink;
mod unary;
pub(super) mod variadic;
