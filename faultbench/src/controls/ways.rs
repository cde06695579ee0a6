//! Controls that calculate in another way in every operator.

use super::arithmetic::{
    Denormals, Division, Extremes, Format, Functions, Halves, Integers, Moments, Reading, Remainder, Roots,
    Rounding, Way, Zeros,
};
use super::sums::{Order, Products};
use super::{ALL, Control, DECLARED, Kind, LOOSE, OPEN_CL, WGSL};

/// One that conforms where `conforms` says.
macro_rules! way {
    ($name:literal, $does:literal, $conforms:expr, $($difference:tt)*) => {
        Control {
            name: $name,
            does: $does,
            conforms: $conforms,
            kind: Kind::Way(Way { $($difference)*, ..Way::PLAIN }),
            open: None,
        }
    };
}

const FUSED: Products = Products::Fused;

pub(super) const CONTROLS: &[Control] = &[
    way!("sums-in-order", "rounds each step to the dtype and sums from the first term on", ALL, order: Order::Given),
    way!("sums-reversed", "sums from the last term on", ALL, order: Order::Reversed),
    way!("sums-pairwise", "sums halves on their own", ALL, order: Order::Pairwise),
    way!("sums-in-2-lanes", "sums in 2 lanes", ALL, order: Order::Lanes(2)),
    way!("sums-in-8-lanes", "sums in 8 lanes", ALL, order: Order::Lanes(8)),
    way!("sums-in-16-lanes", "sums in 16 lanes", ALL, order: Order::Lanes(16)),
    way!("sums-in-blocks-of-8", "sums 8 terms at a time", ALL, order: Order::Blocks(8)),
    way!("sums-in-blocks-of-64", "sums 64 terms at a time", ALL, order: Order::Blocks(64)),
    way!("sums-ascending", "sums from the smallest magnitude on", ALL, order: Order::Ascending),
    way!("sums-descending", "sums from the largest magnitude on", ALL, order: Order::Descending),
    way!("sums-compensated", "sums by Kahan's algorithm", ALL, order: Order::Compensated),
    way!("products-fused", "adds products as they are (FMA)", ALL, products: FUSED),
    way!("products-fused-reversed", "adds products as they are, the last first", ALL, products: FUSED, order: Order::Reversed),
    way!("products-fused-in-8-lanes", "adds products as they are in 8 lanes", ALL, products: FUSED, order: Order::Lanes(8)),
    way!("products-fused-in-blocks-of-16", "adds products as they are, 16 at a time", ALL, products: FUSED, order: Order::Blocks(16)),
    way!("halves-computed-in-f32", "computes f16 and bf16 in f32 and rounds at the end", ALL, format: Format::Single),
    way!("halves-computed-in-f32-pairwise", "computes f16 and bf16 in f32 and sums halves on their own", ALL, format: Format::Single, order: Order::Pairwise, products: FUSED),
    way!("computed-in-f64", "computes everything in f64 and rounds at the end", ALL, format: Format::Double),
    way!("computed-in-f64-reversed", "computes everything in f64 from the last term on", ALL, format: Format::Double, order: Order::Reversed),
    way!("halves-kept-wide", "keeps f16 and bf16 in f32 between operators", DECLARED, format: Format::Single, halves: Halves::Wide),
    way!("other-readings", "takes the other of two formulas where both are in use", ALL, reading: Reading::Other),
    way!("other-readings-fused-reversed", "takes the other of two formulas, and fuses from the last product on", ALL, reading: Reading::Other, products: FUSED, order: Order::Reversed),
    way!("other-readings-in-f64", "takes the other of two formulas, in f64", ALL, reading: Reading::Other, format: Format::Double),
    way!("folded", "folds scales and addends together, and scales the terms of means", DECLARED, reading: Reading::Folded),
    way!("folded-fused", "folds scales and addends together and fuses products", DECLARED, reading: Reading::Folded, products: FUSED),
    way!("folded-in-f64", "folds scales and addends together, in f64", DECLARED, reading: Reading::Folded, format: Format::Double),
    way!("means-corrected", "corrects the mean of a normalisation by a second pass", ALL, moments: Moments::Corrected),
    way!("moments-running", "takes running means and variances (Welford)", DECLARED, moments: Moments::Running),
    way!("moments-running-in-f64", "takes running means and variances in f64", ALL, moments: Moments::Running, format: Format::Double),
    way!("denormals-flushed", "takes denormal operands and results of every step for 0", LOOSE, denormals: Denormals::Flushed),
    way!("denormals-flushed-fused-in-lanes", "takes denormals for 0, and fuses products in 8 lanes", LOOSE, denormals: Denormals::Flushed, products: FUSED, order: Order::Lanes(8)),
    way!("denormals-flushed-without-signs", "takes denormals for 0, which has no sign", LOOSE, denormals: Denormals::Flushed, zeros: Zeros::Positive),
    way!("zeros-without-sign", "has no −0", LOOSE, zeros: Zeros::Positive),
    way!("rounded-up", "rounds each step up", WGSL, rounding: Rounding::Up),
    way!("rounded-down", "rounds each step down, and sums from the last term on", WGSL, rounding: Rounding::Down, order: Order::Reversed),
    way!("rounded-towards-zero", "rounds each step towards 0", WGSL, rounding: Rounding::TowardsZero),
    way!("rounded-to-either-side", "rounds each step up or down, as it comes", WGSL, rounding: Rounding::Either),
    way!("rounded-to-either-side-flushed", "rounds to either side, fuses, and takes denormals for 0", WGSL, rounding: Rounding::Either, denormals: Denormals::Flushed, products: FUSED),
    way!("division-by-reciprocal", "divides by multiplying with a rounded reciprocal", LOOSE, division: Division::Reciprocal),
    way!("roots-by-reciprocal-root", "takes √x for x·(1/√x)", LOOSE, roots: Roots::Reciprocal),
    way!("exponentials-base-two", "takes eˣ for 2^(x·log₂e), and powers and Sigmoid by it", LOOSE, functions: Functions::BaseTwo),
    way!("functions-by-textbook", "takes hyperbolic functions and their like by exponentials and logarithms", DECLARED, functions: Functions::Textbook),
    way!("erf-by-polynomial", "takes erf by Abramowitz and Stegun 7.1.26", LOOSE, functions: Functions::Polynomial),
    way!("functions-above", "has every function as far above as OpenCL grants", OPEN_CL, functions: Functions::Above),
    way!("functions-below", "has every function as far below as OpenCL grants", OPEN_CL, functions: Functions::Below),
    way!("extremes-by-comparison", "takes the larger and the smaller by comparing, so that NaN may lose and zeros are alike", LOOSE, extremes: Extremes::Compared),
    way!("remainder-by-formula", "takes remainders for x − y·trunc(x/y)", WGSL, remainder: Remainder::Formula),
    way!("integers-saturate", "takes the nearest integer that fits where one does not", DECLARED, integers: Integers::Saturated),
    way!("integers-through-floats", "takes what a converted float gives where an integer does not fit", DECLARED, integers: Integers::ThroughFloat),
];
