//! Operators that compute each element from elements at the same place.

mod activation;
mod binary;
mod bit_cast;
mod bit_shift;
mod cast;
mod clip;
mod compare;
mod gelu;
mod is_inf;
mod is_nan;
pub(super) mod map;
mod modulus;
mod pow;
mod prelu;
mod select;
mod shrink;
mod unary;
pub(super) mod variadic;
