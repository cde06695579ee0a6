//! Operators that move elements without looking at them.

pub mod reshape;
pub mod split;

pub use reshape::Reshape;
pub use split::Split;
