//! Operators that combine elements along axes.

pub mod arg;
pub mod cumulative;
pub mod reduce;
pub mod top_k;

pub use arg::{Arg, ArgFn};
pub use cumulative::{Cumulative, CumulativeFn};
pub use reduce::{REDUCTIONS, Reduce, ReduceFn};
pub use top_k::TopK;
