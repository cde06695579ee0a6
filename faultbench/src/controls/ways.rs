//! Controls that calculate in another way in every operator.

use interp::Profile;

use super::sums::{Order, Products};
use super::way::{
    Denormals, Division, Extremes, Format, Functions, Halves, Integers, Moments, Reading, Remainder, Roots,
    Rounding, Way, Zeros,
};
use super::{ALL, Control, DECLARED, Difference, LOOSE, OPEN_CL, WGSL};

/// A control that conforms to the profiles in `conforms`.
const fn control(
    name: &'static str,
    does: &'static str,
    conforms: &'static [&'static Profile],
    way: Way,
) -> Control {
    Control { name, does, conforms, kind: Difference::Way(way), open: None }
}

const FUSED: Products = Products::Fused;

pub(super) const CONTROLS: &[Control] = &[
    control(
        "sums-in-order",
        "rounds each step to the dtype and sums from the first term on",
        ALL,
        Way::PLAIN,
    ),
    control("sums-reversed", "sums from the last term on", ALL, Way { order: Order::Reversed, ..Way::PLAIN }),
    control("sums-pairwise", "sums halves on their own", ALL, Way { order: Order::Pairwise, ..Way::PLAIN }),
    control("sums-in-2-lanes", "sums in 2 lanes", ALL, Way { order: Order::Lanes(2), ..Way::PLAIN }),
    control("sums-in-8-lanes", "sums in 8 lanes", ALL, Way { order: Order::Lanes(8), ..Way::PLAIN }),
    control("sums-in-16-lanes", "sums in 16 lanes", ALL, Way { order: Order::Lanes(16), ..Way::PLAIN }),
    control(
        "sums-in-blocks-of-8",
        "sums 8 terms at a time",
        ALL,
        Way { order: Order::Blocks(8), ..Way::PLAIN },
    ),
    control(
        "sums-in-blocks-of-64",
        "sums 64 terms at a time",
        ALL,
        Way { order: Order::Blocks(64), ..Way::PLAIN },
    ),
    control(
        "sums-ascending",
        "sums from the smallest magnitude on",
        ALL,
        Way { order: Order::Ascending, ..Way::PLAIN },
    ),
    control(
        "sums-descending",
        "sums from the largest magnitude on",
        ALL,
        Way { order: Order::Descending, ..Way::PLAIN },
    ),
    control(
        "sums-compensated",
        "sums by Kahan's algorithm",
        ALL,
        Way { order: Order::Compensated, ..Way::PLAIN },
    ),
    control("products-fused", "adds products as they are (FMA)", ALL, Way { products: FUSED, ..Way::PLAIN }),
    control(
        "products-fused-reversed",
        "adds products as they are, the last first",
        ALL,
        Way { products: FUSED, order: Order::Reversed, ..Way::PLAIN },
    ),
    control(
        "products-fused-in-8-lanes",
        "adds products as they are in 8 lanes",
        ALL,
        Way { products: FUSED, order: Order::Lanes(8), ..Way::PLAIN },
    ),
    control(
        "products-fused-in-blocks-of-16",
        "adds products as they are, 16 at a time",
        ALL,
        Way { products: FUSED, order: Order::Blocks(16), ..Way::PLAIN },
    ),
    control(
        "halves-computed-in-f32",
        "computes f16 and bf16 in f32 and rounds at the end",
        ALL,
        Way { format: Format::Single, ..Way::PLAIN },
    ),
    control(
        "halves-computed-in-f32-pairwise",
        "computes f16 and bf16 in f32 and sums halves on their own",
        ALL,
        Way { format: Format::Single, order: Order::Pairwise, products: FUSED, ..Way::PLAIN },
    ),
    control(
        "computed-in-f64",
        "computes everything in f64 and rounds at the end",
        ALL,
        Way { format: Format::Double, ..Way::PLAIN },
    ),
    control(
        "computed-in-f64-reversed",
        "computes everything in f64 from the last term on",
        ALL,
        Way { format: Format::Double, order: Order::Reversed, ..Way::PLAIN },
    ),
    control(
        "halves-kept-wide",
        "keeps f16 and bf16 in f32 between operators",
        DECLARED,
        Way { format: Format::Single, halves: Halves::Wide, ..Way::PLAIN },
    ),
    control(
        "other-readings",
        "takes the other of two formulas where both are in use",
        ALL,
        Way { reading: Reading::Other, ..Way::PLAIN },
    ),
    control(
        "other-readings-fused-reversed",
        "takes the other of two formulas, and fuses from the last product on",
        ALL,
        Way { reading: Reading::Other, products: FUSED, order: Order::Reversed, ..Way::PLAIN },
    ),
    control(
        "other-readings-in-f64",
        "takes the other of two formulas, in f64",
        ALL,
        Way { reading: Reading::Other, format: Format::Double, ..Way::PLAIN },
    ),
    control(
        "folded",
        "folds scales and addends together, and scales the terms of means",
        DECLARED,
        Way { reading: Reading::Folded, ..Way::PLAIN },
    ),
    control(
        "folded-fused",
        "folds scales and addends together and fuses products",
        DECLARED,
        Way { reading: Reading::Folded, products: FUSED, ..Way::PLAIN },
    ),
    control(
        "folded-in-f64",
        "folds scales and addends together, in f64",
        DECLARED,
        Way { reading: Reading::Folded, format: Format::Double, ..Way::PLAIN },
    ),
    control(
        "means-corrected",
        "corrects the mean of a normalisation by a second pass",
        ALL,
        Way { moments: Moments::Corrected, ..Way::PLAIN },
    ),
    control(
        "moments-running",
        "takes running means and variances (Welford)",
        DECLARED,
        Way { moments: Moments::Running, ..Way::PLAIN },
    ),
    control(
        "moments-running-in-f64",
        "takes running means and variances in f64",
        ALL,
        Way { moments: Moments::Running, format: Format::Double, ..Way::PLAIN },
    ),
    control(
        "denormals-flushed",
        "takes denormal operands and results of every step for 0",
        LOOSE,
        Way { denormals: Denormals::Flushed, ..Way::PLAIN },
    ),
    control(
        "denormals-flushed-fused-in-lanes",
        "takes denormals for 0, and fuses products in 8 lanes",
        LOOSE,
        Way { denormals: Denormals::Flushed, products: FUSED, order: Order::Lanes(8), ..Way::PLAIN },
    ),
    control(
        "denormals-flushed-without-signs",
        "takes denormals for 0, which has no sign",
        LOOSE,
        Way { denormals: Denormals::Flushed, zeros: Zeros::Positive, ..Way::PLAIN },
    ),
    control("zeros-without-sign", "has no −0", LOOSE, Way { zeros: Zeros::Positive, ..Way::PLAIN }),
    control("rounded-up", "rounds each step up", WGSL, Way { rounding: Rounding::Up, ..Way::PLAIN }),
    control(
        "rounded-down",
        "rounds each step down, and sums from the last term on",
        WGSL,
        Way { rounding: Rounding::Down, order: Order::Reversed, ..Way::PLAIN },
    ),
    control(
        "rounded-towards-zero",
        "rounds each step towards 0",
        WGSL,
        Way { rounding: Rounding::TowardsZero, ..Way::PLAIN },
    ),
    control(
        "rounded-to-either-side",
        "rounds each step up or down, as it comes",
        WGSL,
        Way { rounding: Rounding::Either, ..Way::PLAIN },
    ),
    control(
        "rounded-to-either-side-flushed",
        "rounds to either side, fuses, and takes denormals for 0",
        WGSL,
        Way { rounding: Rounding::Either, denormals: Denormals::Flushed, products: FUSED, ..Way::PLAIN },
    ),
    control(
        "division-by-reciprocal",
        "divides by multiplying with a rounded reciprocal",
        LOOSE,
        Way { division: Division::Reciprocal, ..Way::PLAIN },
    ),
    control(
        "roots-by-reciprocal-root",
        "takes √x for x·(1/√x)",
        LOOSE,
        Way { roots: Roots::Reciprocal, ..Way::PLAIN },
    ),
    control(
        "exponentials-base-two",
        "takes eˣ for 2^(x·log₂e), and powers and Sigmoid by it",
        LOOSE,
        Way { functions: Functions::BaseTwo, ..Way::PLAIN },
    ),
    control(
        "functions-by-textbook",
        "takes hyperbolic functions and their like by exponentials and logarithms",
        DECLARED,
        Way { functions: Functions::Textbook, ..Way::PLAIN },
    ),
    control(
        "erf-by-polynomial",
        "takes erf by Abramowitz and Stegun 7.1.26",
        LOOSE,
        Way { functions: Functions::Polynomial, ..Way::PLAIN },
    ),
    control(
        "functions-above",
        "has every function as far above as OpenCL grants",
        OPEN_CL,
        Way { functions: Functions::Above, ..Way::PLAIN },
    ),
    control(
        "functions-below",
        "has every function as far below as OpenCL grants",
        OPEN_CL,
        Way { functions: Functions::Below, ..Way::PLAIN },
    ),
    control(
        "extremes-by-comparison",
        "takes the larger and the smaller by comparing, so that NaN may lose and zeros are alike",
        LOOSE,
        Way { extremes: Extremes::Compared, ..Way::PLAIN },
    ),
    control(
        "remainder-by-formula",
        "takes remainders for x − y·trunc(x/y)",
        WGSL,
        Way { remainder: Remainder::Formula, ..Way::PLAIN },
    ),
    control(
        "integers-saturate",
        "takes the nearest integer that fits where one does not",
        DECLARED,
        Way { integers: Integers::Saturated, ..Way::PLAIN },
    ),
    control(
        "integers-through-floats",
        "takes what a converted float gives where an integer does not fit",
        DECLARED,
        Way { integers: Integers::ThroughFloat, ..Way::PLAIN },
    ),
];
