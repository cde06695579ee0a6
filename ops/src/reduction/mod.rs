//! Operators that combine elements along axes.

pub mod reduce;

pub use reduce::{Reduce, ReduceFn};
