//! Operators that combine elements along axes.

pub mod arg;
pub mod cum_sum;
pub mod reduce;
pub mod top_k;

pub use arg::{Arg, ArgFn};
pub use cum_sum::CumSum;
pub use reduce::{Reduce, ReduceFn};
pub use top_k::TopK;
