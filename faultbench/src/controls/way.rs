//! The ways to calculate: what differs between implementations that keep to the standard, as data.

use super::sums::{Order, Products};

/// A way to calculate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    pub(super) format: Format,
    pub(super) rounding: Rounding,
    pub(super) denormals: Denormals,
    pub(super) zeros: Zeros,
    pub(super) halves: Halves,
    pub(super) integers: Integers,
    pub(super) order: Order,
    pub(super) products: Products,
    pub(super) moments: Moments,
    pub(super) reading: Reading,
    pub(super) functions: Functions,
    pub(super) division: Division,
    pub(super) roots: Roots,
    pub(super) extremes: Extremes,
    pub(super) remainder: Remainder,
}

/// What each step rounds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// The dtype of the node.
    Own,
    /// At least f32.
    Single,
    /// f64.
    Double,
}

/// Which neighbour a number rounds to that the format does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Nearest,
    Up,
    Down,
    TowardsZero,
    /// The one or the other, as the last bit of the unrounded number says.
    Either,
}

/// What becomes of operands and results that are too small for a normal number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Denormals {
    Kept,
    Flushed,
}

/// Whether there are zeros of both signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Zeros {
    Signed,
    Positive,
}

/// How f16 and bf16 are kept between operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Halves {
    Stored,
    /// In f32, until they are outputs.
    Wide,
}

/// What becomes of an integer that does not fit its dtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Integers {
    Wrapped,
    /// The nearest that fits.
    Saturated,
    /// What processors make of a float that does not fit 64 bits: the least of these.
    ThroughFloat,
}

/// How mean and variance of a lane are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moments {
    /// The mean first, then the squares of the differences, in eight parts each.
    TwoPasses,
    /// The same, with a mean that a second pass corrects.
    Corrected,
    /// Running ones (Welford).
    Running,
}

/// Which of two formulas is taken where both are in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    First,
    Other,
    /// The first, with factors and addends folded together.
    Folded,
}

/// How library functions are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Functions {
    /// Correctly rounded but for the last bit of f64.
    Library,
    /// Exponentials and powers by 2ˣ.
    BaseTwo,
    /// By their textbook formulas in terms of exponentials and logarithms.
    Textbook,
    /// erf by a polynomial (Abramowitz and Stegun 7.1.26).
    Polynomial,
    /// As far above, or below, as [`Profile::TIGHT`] grants.
    Above,
    Below,
}

/// How quotients are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Division {
    Quotient,
    /// x·(1/y)
    Reciprocal,
}

/// How square roots are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Roots {
    Root,
    /// x·(1/√x)
    Reciprocal,
}

/// Which of two numbers is the larger or the smaller one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extremes {
    /// NaN if either is, and −0 is less than 0.
    Ieee,
    /// The first if it compares so, else the second: NaN loses to what follows it, and zeros are alike.
    Compared,
}

/// How remainders are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Remainder {
    Exact,
    /// x − y·trunc(x/y), each step rounded.
    Formula,
}

impl Way {
    /// Step by step in the node's dtype, from the first term to the last, everything else as IEEE 754 and libm have it.
    pub(super) const PLAIN: Self = Self {
        format: Format::Own,
        rounding: Rounding::Nearest,
        denormals: Denormals::Kept,
        zeros: Zeros::Signed,
        halves: Halves::Stored,
        integers: Integers::Wrapped,
        order: Order::Given,
        products: Products::Rounded,
        moments: Moments::TwoPasses,
        reading: Reading::First,
        functions: Functions::Library,
        division: Division::Quotient,
        roots: Roots::Root,
        extremes: Extremes::Ieee,
        remainder: Remainder::Exact,
    };
}
