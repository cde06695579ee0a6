//! Loops for whatever vectors the processor has.
//!
//! A loop that the compiler can vectorise is compiled for the vectors that all processors of a kind have, and for those that
//! later ones have as well; which of them runs is found out when it does. Only what is inlined into it is compiled so, which is
//! why functions and closures that are called in such loops insist on it (`#[inline(always)]`). Floats are neither
//! fused nor reordered: every kind of vectors gives the same bits.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

/// What the processor has.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs statements with the widest vectors that the processor has.
macro_rules! wide {
    ($($statements:tt)*) => {
        $crate::cpu::vector::wide::run(
            #[inline(always)]
            || { $($statements)* },
        )
    };
}
pub(super) use wide;

/// Runs a closure that is always inlined; see [`wide!`].
///
/// It is run once, and yet is no `FnOnce`: what the compiler puts around one of those is not inlined.
pub(super) fn run<R>(run: impl FnMut() -> R) -> R {
    ARCH.dispatch(Loop(run))
}

struct Loop<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Loop<F> {
    type Output = R;

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}
