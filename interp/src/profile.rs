//! Accuracy profiles: how far each primitive step of an implementation may be off, as data.
//!
//! A profile says what one step promises; [`crate::bound`] turns that into a bound for every element of a graph.
//! The numbers come from these documents, named here once and by their short names below:
//!
//! - *WGSL*: W3C, "WebGPU Shading Language", section "Floating Point Accuracy".
//! - *OpenCL*: Khronos, "The OpenCL C Specification", section "Relative Error as ULPs", full profile.
//! - *WebNN*: the tolerance table of the WebNN conformance tests (web-platform-tests, `webnn`).
//!
//! Narrow floats (f16, bf16) are computed either step by step in their own format or in f32 and rounded once;
//! both stay inside, because the bound charges the narrow rounding at every step (see `docs/numerics.md`).

use ir::DType;
use ops::arith::Fun;

/// What a step promises about its result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Accuracy {
    /// So many ULP of the result.
    Ulp(f64),
    /// The larger of so many ULP and an absolute error.
    Either {
        /// The relative part.
        ulp: f64,
        /// The absolute part.
        abs: f64,
    },
    /// `base + per_unit·|x|` ULP of the result, x being the argument; of a power y·ln x, as far as that is a normal number:
    /// below, an ULP does not shrink with the result.
    Slope {
        /// ULP at 0.
        base: f64,
        /// More ULP for each unit of the argument's magnitude.
        per_unit: f64,
        /// ULP that are granted at least.
        least: f64,
    },
    /// ULP of the result; where the argument lies between the bounds, an absolute error if that is more.
    Near {
        /// The least argument with the absolute error.
        low: f64,
        /// The greatest argument with the absolute error.
        high: f64,
        /// The absolute error.
        abs: f64,
        /// ULP elsewhere.
        ulp: f64,
    },
    /// An absolute error where the argument lies between the bounds; nothing is promised elsewhere.
    Only {
        /// The least argument.
        low: f64,
        /// The greatest argument.
        high: f64,
        /// The absolute error.
        abs: f64,
    },
    /// As accurate as its textbook formula in terms of the other functions, or as an absolute error, whichever
    /// allows more (see [`crate::bound`]).
    Formula {
        /// The absolute part; 0 for none.
        abs: f64,
    },
}

/// What an implementation promises: the accuracy of each step, and the liberties it takes beyond that.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is one liberty, named as the specifications name it")]
pub struct Profile {
    /// The name in reports.
    pub name: &'static str,
    /// ULP of +, − and ×: 0.5 is to nearest, 1 is to either neighbour. Either way, a representable result is exact.
    pub rounding: f64,
    /// ULP of a quotient.
    pub division: fn(DType) -> f64,
    /// Whether a quotient by a power of two is exact where the working dtype has it, as it is by multiplication with
    /// the reciprocal.
    pub scales_exactly: bool,
    /// Nothing is promised for divisors outside of [2^(1-emax), 2^(emax-1)].
    pub moderate_divisors: bool,
    /// The accuracy of each library function.
    pub function: fn(Fun, DType) -> Accuracy,
    /// The accuracy of powers.
    pub power: fn(DType) -> Accuracy,
    /// Whose functions and powers may be there instead: those of a library.
    pub library: Option<&'static Profile>,
    /// Whether the power of an integer to a whole float is exact where the working dtype has it, so that it may be truncated.
    pub exact_powers: bool,
    /// Whether a power to a whole number may be as far off as that many products, as repeated squaring has it.
    pub powers_by_products: bool,
    /// Whether the remainder may be x − y·trunc(x/y), rounded at each step, instead of exact.
    pub remainder_by_formula: bool,
    /// Whether f16 and bf16 values between operators may be kept in a wider format.
    pub widens_halves: bool,
    /// Whether values of any dtype may be, between the steps of an operator that is written out in others.
    pub widens_steps: bool,
    /// How a cast to a narrower float rounds.
    pub casts: Casts,
    /// Whether positions among elements that are given in f64 may be computed in f32.
    pub narrows_positions: bool,
    /// Whether NaN may lose against a number, −∞ included, where the larger, the smaller or the first of several is
    /// asked for, or its sign.
    pub nan_may_lose: bool,
    /// Whether an integer result that its dtype does not have may be anything, instead of its low bits.
    pub integers_may_saturate: bool,
    /// Whether the variance of a normalisation may be a running one (Welford), whose errors do not cancel.
    pub running_variance: bool,
    /// Whether the variance of a normalisation may be the mean of the squares less the square of the mean, as ONNX's function
    /// bodies have it. That cancels where the mean is far from 0.
    pub one_pass_variance: bool,
    /// Into how many partial sums a normalisation divides a lane at least; 1 where nothing is known of the order.
    pub partial_sums: u32,
    /// Whether convolutions may transform their operands (Winograd, FFT).
    pub transforms_convolutions: bool,
    /// Whether later factors and addends may be folded into the terms of a sum of products, and a normalisation's scale
    /// into its standardisation.
    pub folds: bool,
    /// Whether denormal operands and results may be replaced by zero.
    pub flush_to_zero: bool,
    /// Whether +0 and −0 may stand for each other.
    pub ignores_zero_sign: bool,
    /// Whether a result that would be infinite or NaN may be anything.
    pub nonfinite_is_indeterminate: bool,
}

/// How a cast to a narrower float rounds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Casts {
    /// Once, to nearest and ties to even.
    Once,
    /// So where `f32` has the number, and else perhaps by way of that (f64 to f16).
    ByF32,
    /// To either of the two nearest.
    Either,
}

impl Profile {
    /// What a careful implementation on an IEEE 754 processor reaches: quotients and square roots to nearest, other
    /// functions as in OpenCL's full profile, no liberties.
    pub const TIGHT: Self = Self {
        name: "tight",
        rounding: 0.5,
        division: |_| 0.5,
        scales_exactly: true,
        moderate_divisors: false,
        function: tight,
        power: |d| Accuracy::Ulp(if is_half(d) { 4.0 } else { 16.0 }),
        // OpenCL's 16 ULP are for what is rounded. Those of C's mathematical libraries have these.
        library: None,
        exact_powers: true,
        powers_by_products: false,
        remainder_by_formula: false,
        widens_halves: false,
        widens_steps: false,
        casts: Casts::Once,
        narrows_positions: false,
        nan_may_lose: false,
        integers_may_saturate: false,
        running_variance: false,
        one_pass_variance: false,
        partial_sums: 8,
        transforms_convolutions: false,
        folds: false,
        flush_to_zero: false,
        ignores_zero_sign: false,
        nonfinite_is_indeterminate: false,
    };

    /// What the WebGPU Shading Language allows; Vulkan allows the same but for a few absolute floors.
    pub const WGSL: Self = Self {
        name: "wgsl",
        rounding: 1.0,
        division: |_| 2.5,
        scales_exactly: false,
        moderate_divisors: true,
        function: wgsl,
        power: |_| Accuracy::Formula { abs: 0.0 },
        library: None,
        exact_powers: false,
        powers_by_products: false,
        remainder_by_formula: true,
        widens_halves: false,
        widens_steps: true,
        casts: Casts::Either,
        // It has no f64.
        narrows_positions: true,
        nan_may_lose: false,
        integers_may_saturate: false,
        running_variance: false,
        one_pass_variance: true,
        partial_sums: 1,
        transforms_convolutions: false,
        folds: false,
        flush_to_zero: true,
        ignores_zero_sign: true,
        nonfinite_is_indeterminate: true,
    };

    /// What is granted to a runtime that documents nothing: vectorised approximations of the library functions,
    /// denormals flushed, signs of zeros lost, otherwise IEEE 754.
    pub const DECLARED: Self = Self {
        name: "declared",
        division: |_| 2.5,
        function: declared,
        power: declared_power,
        exact_powers: false,
        powers_by_products: true,
        widens_halves: true,
        widens_steps: true,
        casts: Casts::ByF32,
        narrows_positions: true,
        // ONNX does not speak of NaN there, and processors' instructions differ.
        nan_may_lose: true,
        // ONNX says of casts and shifts alone that bits are discarded.
        integers_may_saturate: true,
        running_variance: true,
        one_pass_variance: true,
        partial_sums: 1,
        folds: true,
        flush_to_zero: true,
        ignores_zero_sign: true,
        ..Self::TIGHT
    };

    /// [`Self::DECLARED`] for a runtime that says it may transform the operands of convolutions.
    pub const TRANSFORMING: Self =
        Self { name: "transforming", transforms_convolutions: true, ..Self::DECLARED };

    /// A runtime that computes in shaders: steps as accurate as [`Self::WGSL`]'s, and the liberties of
    /// [`Self::DECLARED`], which are those of optimisers and of kernels that document nothing else. WGSL says nothing of a
    /// function that it lacks, and what follows from constants a runtime may compute on the processor: so the functions of
    /// [`Self::DECLARED`] do as well.
    pub const WGSL_RUNTIME: Self = Self {
        name: "wgsl-runtime",
        library: Some(&Self::DECLARED),
        widens_halves: Self::DECLARED.widens_halves,
        widens_steps: Self::DECLARED.widens_steps,
        nan_may_lose: Self::DECLARED.nan_may_lose,
        integers_may_saturate: Self::DECLARED.integers_may_saturate,
        running_variance: Self::DECLARED.running_variance,
        powers_by_products: Self::DECLARED.powers_by_products,
        folds: Self::DECLARED.folds,
        ..Self::WGSL
    };

    /// All profiles.
    pub const ALL: [&'static Self; 5] =
        [&Self::TIGHT, &Self::WGSL, &Self::DECLARED, &Self::TRANSFORMING, &Self::WGSL_RUNTIME];

    /// What good implementations of its kind have: steps as accurate as [`Self::TIGHT`]'s, with the liberties of this profile
    /// that are not about accuracy. What is computed otherwise and no less accurately is among these.
    #[must_use]
    pub fn at_its_best(&self) -> Self {
        let Self {
            rounding, division, function, power, library, powers_by_products, one_pass_variance, ..
        } = Self::TIGHT;
        Self { rounding, division, function, power, library, powers_by_products, one_pass_variance, ..*self }
    }

    /// The profile of a name, in capitals or not.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|profile| profile.name.eq_ignore_ascii_case(name))
    }
}

/// f16 and bf16 share a column of the tables: both are usually computed in f32 and rounded.
fn is_half(d: DType) -> bool {
    matches!(d, DType::F16 | DType::BF16)
}

/// The distance from 1 to the next number, as the absolute floor of formulas that add 1 on the way.
fn epsilon(d: DType) -> f64 {
    d.float().map_or(0.0, ir::format::FloatFormat::epsilon)
}

fn tight(f: Fun, d: DType) -> Accuracy {
    let pick = |wide: f64, half: f64| Accuracy::Ulp(if is_half(d) { half } else { wide });
    match f {
        Fun::Sqrt => Accuracy::Ulp(0.5),
        Fun::Exp | Fun::Expm1 | Fun::Log => pick(3.0, 2.0),
        Fun::Log1p => Accuracy::Ulp(2.0),
        Fun::Sin | Fun::Cos | Fun::Sinh | Fun::Cosh | Fun::Asin | Fun::Acos | Fun::Asinh | Fun::Acosh => {
            pick(4.0, 2.0)
        }
        Fun::Tan | Fun::Tanh | Fun::Atan | Fun::Atanh => pick(5.0, 2.0),
        Fun::Erf | Fun::Erfc => pick(16.0, 4.0),
        // Not in OpenCL. 1/(1 + e^-x): 3 ULP of e^-x, a sum and a quotient.
        Fun::Sigmoid => pick(8.0, 4.0),
        // Not in OpenCL. ONNX's own definition is ln(e^x + 1), in which a small e^x is lost in the 1.
        Fun::Softplus => Accuracy::Either { ulp: if is_half(d) { 4.0 } else { 8.0 }, abs: epsilon(d) },
    }
}

/// WebNN grants 32 ULP in f32. As e^(y·ln x), 4 ULP of the logarithm and the rounding of the product are up to 4.5 ε of
/// the exponent, and as much for each unit of it in the result: 9 ULP. The exponential adds its own.
fn declared_power(d: DType) -> Accuracy {
    match declared(Fun::Exp, d) {
        Accuracy::Slope { base, per_unit, .. } => {
            Accuracy::Slope { base, per_unit: per_unit + 9.0, least: 32.0 }
        }
        // In f32, whose error is lost when it is rounded.
        accuracy => accuracy,
    }
}

fn declared(f: Fun, d: DType) -> Accuracy {
    let ulp = |wide: f64| if is_half(d) { 4.0 } else { wide };
    // An absolute floor. What computes in f32 has none that is seen in the halves beside the rounding. What computes in them
    // has PTX's tanh.approx (½ε), formulas such as 1 - 2/(e²ˣ + 1) with rounded steps (1¼ε near 0) and clamped arguments (ε).
    let flat = |epsilons: f64| epsilon(d) * if is_half(d) { epsilons.min(2.0) } else { epsilons };
    // Near 1, where the logarithm is small and the halves have no more of its digits than the f32 it is computed in.
    let near_one = |epsilons: f64| {
        let abs = if is_half(d) { 0.0 } else { epsilons * epsilon(d) };
        Accuracy::Either { ulp: 4.0, abs }
    };
    match f {
        Fun::Sqrt => Accuracy::Ulp(3.0),
        Fun::Exp if is_half(d) => Accuracy::Ulp(4.0),
        // As 2^(x·log₂e), the rounding of the product and of the constant move the exponent by up to ε·|x|, as in WGSL.
        Fun::Exp => Accuracy::Slope { base: 4.0, per_unit: 2.0, least: 0.0 },
        Fun::Expm1 => Accuracy::Ulp(4.0),
        // Exponent and mantissa apart: just below 1 that is ln m - ln 2 with m near 2, and 4 ULP of a number below 1 are 2ε.
        Fun::Log => near_one(2.0),
        // Of 1 + x, which is rounded.
        Fun::Log1p => near_one(3.0),
        // Range reduction by a rounded π and polynomials with an absolute error: near the zeros no ULP hold.
        Fun::Sin | Fun::Cos => Accuracy::Either { ulp: ulp(4.0), abs: flat(4.0) },
        Fun::Asin | Fun::Acos | Fun::Atan => Accuracy::Either { ulp: ulp(8.0), abs: flat(4.0) },
        // (e^x ∓ e^-x)/2 and the logarithmic forms cancel near 0.
        Fun::Sinh | Fun::Cosh | Fun::Asinh | Fun::Acosh | Fun::Atanh => {
            Accuracy::Either { ulp: ulp(16.0), abs: flat(8.0) }
        }
        // Rational or piecewise approximations whose error is flat: Abramowitz and Stegun 7.1.26 is off by 1.5e-7
        // before it is rounded.
        Fun::Tan if !is_half(d) => Accuracy::Formula { abs: flat(8.0) },
        Fun::Tan | Fun::Tanh | Fun::Erf | Fun::Erfc => Accuracy::Either { ulp: ulp(16.0), abs: flat(8.0) },
        // WebNN grants 34 ULP; implementations that clamp the argument have an absolute error below that.
        Fun::Sigmoid => Accuracy::Either { ulp: ulp(34.0), abs: flat(1.0) },
        // WebNN grants 18 ULP.
        Fun::Softplus => Accuracy::Either { ulp: ulp(18.0), abs: flat(2.0) },
    }
}

fn wgsl(f: Fun, d: DType) -> Accuracy {
    use std::f64::consts::PI;
    let half = is_half(d);
    let pick = |wide: f64, narrow: f64| if half { narrow } else { wide };
    match f {
        // 1/inverseSqrt(x): 2 ULP and a quotient of 2.5 ULP.
        Fun::Sqrt => Accuracy::Ulp(4.5),
        Fun::Exp => Accuracy::Slope { base: pick(3.0, 1.0), per_unit: 2.0, least: 0.0 },
        Fun::Log => Accuracy::Near { low: 0.5, high: 2.0, abs: pick(exp2(-21), exp2(-7)), ulp: 3.0 },
        Fun::Sin | Fun::Cos => Accuracy::Only { low: -PI, high: PI, abs: pick(exp2(-11), exp2(-7)) },
        Fun::Atan => Accuracy::Ulp(pick(4096.0, 5.0)),
        // As atan2 has them, of x and √(1 − x²).
        Fun::Asin => Accuracy::Formula { abs: pick(6.81e-5, 3.91e-3) },
        Fun::Acos => Accuracy::Formula { abs: pick(6.77e-5, 3.91e-3) },
        Fun::Tanh => Accuracy::Formula { abs: 1e-5 },
        // Not a WGSL function: Abramowitz and Stegun 7.1.26 (1.5e-7), its exponential and its sums.
        Fun::Erf | Fun::Erfc => Accuracy::Either { ulp: 16.0, abs: pick(4e-6, 8.0 * epsilon(d)) },
        // Expm1, Log1p, Sigmoid and Softplus are not WGSL functions either.
        Fun::Tan
        | Fun::Sinh
        | Fun::Cosh
        | Fun::Asinh
        | Fun::Acosh
        | Fun::Atanh
        | Fun::Expm1
        | Fun::Log1p
        | Fun::Sigmoid
        | Fun::Softplus => Accuracy::Formula { abs: 0.0 },
    }
}

fn exp2(e: i32) -> f64 {
    2f64.powi(e)
}
