//! Operators that combine elements along axes.

pub(super) mod arg;
mod cum_sum;
mod grouped;
pub(super) mod reduce;
mod top_k;
