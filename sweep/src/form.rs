//! The forms in which an operator is swept: what its operands hold, and how they come to it.

use serde::{Deserialize, Serialize};

/// What an operator is run on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartForm {
    /// An operator that reads one operand element by element, on every number of a dtype of 16 bits or fewer; of wider ones, on
    /// edges and samples.
    Unary,
    /// One that reads two, on every pair of 8-bit numbers; else on pairs of edges, numbers next to each other and samples.
    Pairs,
    /// One that reads more, on edges and samples.
    Several,
    /// One that works element by element, on edges that are initializers: a runtime may compute the result when it loads the
    /// model, and a shader compiler may fold it.
    Constants,
    /// One that adds, multiplies or searches along an axis, which is from 1 to 65,537 long.
    Lengths,
    /// One that works element by element, on shapes about the sizes of vectors, groups and dispatches, and of high ranks.
    Shapes,
    /// One that works element by element and reads two operands or more, on operands of different shapes, one of which
    /// is repeated along axes of the other.
    Broadcast,
    /// Any other, on operands and attributes as campaigns draw them, in growing sizes.
    Drawn,
}

impl PartForm {
    /// All forms, in the order in which they are swept.
    pub const ALL: [Self; 8] = [
        Self::Unary,
        Self::Pairs,
        Self::Several,
        Self::Constants,
        Self::Lengths,
        Self::Shapes,
        Self::Broadcast,
        Self::Drawn,
    ];

    /// Its name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unary => "unary",
            Self::Pairs => "pairs",
            Self::Several => "several",
            Self::Constants => "constants",
            Self::Lengths => "lengths",
            Self::Shapes => "shapes",
            Self::Broadcast => "broadcast",
            Self::Drawn => "drawn",
        }
    }

    /// The form of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}
