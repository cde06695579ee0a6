//! Loops for whatever vectors the processor has.
//!
//! A loop that the compiler can vectorise is compiled for the vectors that all processors of a kind have, and for those that
//! later ones have as well; which of them runs is found out when it does. Only what is inlined into it is compiled so, which is
//! why functions and closures that are called in such loops insist on it (`#[inline(always)]`). Floats are neither fused nor reordered: every kind of vectors gives
//! the same bits.

use std::sync::LazyLock;

use pulp::Arch;

/// What the processor has.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs a loop, a closure that is always inlined, with the widest vectors that the processor has.
pub(super) fn wide<R>(run: impl FnOnce() -> R) -> R {
    ARCH.dispatch(run)
}
