//! Whether a backend has a kernel for a use of an operator, and if not, why.

use std::fmt;

/// A backend's answer for an operator on operands of some types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// There is a kernel.
    Yes,
    /// There is none.
    No(&'static str),
}

impl Support {
    /// Whether there is a kernel.
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Yes)
    }

    /// This answer, or where it is yes another one.
    #[must_use]
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_yes() { other() } else { self }
    }

    /// Why there is no kernel; `None` where there is one.
    pub const fn why_not(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::No(why) => Some(why),
        }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why_not().unwrap_or("yes"))
    }
}
