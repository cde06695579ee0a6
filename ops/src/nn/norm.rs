//! The norm that `LpPool` and `GlobalLpPool` take of elements.

use crate::arith::{Arith, Fun};

/// (Σ|x|ᵖ)^(1/p). The powers are as good as a power is where an implementation has no other way for p of 1 and 2.
pub(super) fn norm<A: Arith>(p: i64, a: &A, xs: impl Iterator<Item = A::R> + Clone) -> A::R {
    match p {
        1 => a.either(a.sum(xs.clone().map(|x| a.abs(x))), || norm_by_powers(p, a, xs)),
        2 => {
            let root = a.call(Fun::Sqrt, a.dot(xs.clone().map(|x| (x, x))));
            a.either(root, || norm_by_powers(p, a, xs))
        }
        _ => norm_by_powers(p, a, xs),
    }
}

fn norm_by_powers<A: Arith>(p: i64, a: &A, xs: impl Iterator<Item = A::R>) -> A::R {
    let p = a.real(p as f64);
    a.pow(a.sum(xs.map(|x| a.pow(a.abs(x), p))), a.div(a.real(1.0), p))
}
