//! Kernels that work element by element.

pub(crate) mod activation;
pub(crate) mod binary;
pub(crate) mod bit_cast;
pub(crate) mod bit_shift;
pub(crate) mod cast;
pub(crate) mod clip;
pub(crate) mod compare;
pub(crate) mod gelu;
pub(crate) mod is_inf;
pub(crate) mod is_nan;
pub(crate) mod modulus;
pub(crate) mod pow;
pub(crate) mod prelu;
pub(crate) mod select;
mod short_floats;
pub(crate) mod shrink;
pub(crate) mod unary;
pub(crate) mod variadic;
