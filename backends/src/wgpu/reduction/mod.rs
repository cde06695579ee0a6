//! Operators that combine elements along axes.

pub(super) mod arg;
mod cumulative;
mod grouped;
pub(super) mod reduce;
mod top_k;
