//! Operators that work element by element: tables of scalar functions.

pub mod binary;
pub mod unary;

pub use binary::{Binary, BinaryFn};
pub use unary::{Unary, UnaryFn};
