//! Functions of `f32` without a branch, so that loops over them vectorise. What is selected is computed either way.
//!
//! Errors are in units in the last place, over every 331st of all bit patterns. Denormals, infinities and NaN come out as from
//! `libm`; a test says so.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the vectors")]

/// 1.5·2²³: numbers that are not too large become integers in the lowest bits of their sum with it, rounded to nearest.
const SHIFT: f32 = 12_582_912.0;

/// `yes` where something holds. By the bits, as a compiler may make a branch of what `if` says.
#[inline(always)]
pub(super) fn select(holds: bool, yes: f32, no: f32) -> f32 {
    let mask = u32::from(holds).wrapping_neg();
    f32::from_bits((yes.to_bits() & mask) | (no.to_bits() & !mask))
}

/// 2ⁿ of a normal exponent.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// x = n·ln 2 + r with |r| ≤ ½ ln 2 or little more: n, and eʳ - 1.
#[inline(always)]
fn reduced(x: f32) -> (i32, f32) {
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    // ln 2 in two parts, the first of which has so few digits that its product with n is exact.
    let r = x - n * 0.693_359_4 - n * -2.121_944_4e-4;
    // (eʳ - 1 - r) / r², the polynomial of Cephes' `expf`.
    let q = 1.987_569_1e-4;
    let q = q * r + 1.398_2e-3;
    let q = q * r + 8.333_452e-3;
    let q = q * r + 4.166_579_6e-2;
    let q = q * r + 1.666_666_5e-1;
    let q = q * r + 5e-1;
    let integer = (shifted.to_bits() as i32).wrapping_sub(SHIFT.to_bits() as i32);
    (integer, r + r * r * q)
}

/// eˣ, off by less than 1.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // What is beyond is infinite, or 0, like these.
    let within = select(x > 89.0, 89.0, x);
    let within = select(within < -104.0, -104.0, within);
    let (n, more) = reduced(within);
    // Two powers of two, as one would overflow or be denormal where the result is not.
    let half = n >> 1;
    let y = (1.0 + more) * power_of_two(half) * power_of_two(n - half);
    select(x.is_nan(), x, y)
}

/// eˣ - 1, off by less than 2.
#[inline(always)]
pub(super) fn exp_m1(x: f32) -> f32 {
    let within = select(x > 20.0, 20.0, x);
    let within = select(within < -20.0, -20.0, within);
    let (n, more) = reduced(within);
    let power = power_of_two(n);
    let y = power * more + (power - 1.0);
    // Where the 1 is not worth a digit.
    let y = select(x > 20.0, exp(x), y);
    // -0, and denormals, which are lost in the sum.
    select(x.is_nan() | (x.abs() < 1e-30), x, y)
}

/// ln x, off by less than 1.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let is_small = x < f32::MIN_POSITIVE;
    let normal = select(is_small, x * 33_554_432.0, x);
    // x = m·2ᵉ with m from √½ to √2.
    let bits = normal.to_bits() as i32;
    let e = bits.wrapping_sub(0x3f35_04f3) >> 23;
    let m = f32::from_bits(bits.wrapping_sub(e << 23) as u32);
    let exponent = (e - if is_small { 25 } else { 0 }) as f32;
    // fdlibm's `logf`: ln m by an odd polynomial of f / (2 + f).
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let r = w * (0.400_009_72 + w * 0.242_790_8) + z * (0.666_666_6 + w * 0.284_987_87);
    let square = 0.5 * f * f;
    let y = exponent * 0.693_138_1 - ((square - (s * (square + r) + exponent * 9.058_001e-6)) - f);
    let y = select(x == 0.0, f32::NEG_INFINITY, y);
    let y = select(x < 0.0, f32::NAN, y);
    select((x == f32::INFINITY) | x.is_nan(), x, y)
}

/// ln(1 + x) of what is not negative, off by less than 3.
#[inline(always)]
pub(super) fn ln_1p(x: f32) -> f32 {
    // What the rounding of 1 + x has lost, the quotient makes good.
    let sum = 1.0 + x;
    let y = ln(sum) * (x / (sum - 1.0));
    let y = select(sum == 1.0, x, y);
    select((x == f32::INFINITY) | x.is_nan(), x, y)
}

/// tanh x, off by less than 1.3. The polynomial near 0 is Cephes'.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = a * a;
    let p = -5.704_988_6e-3;
    let p = p * z + 2.063_909e-2;
    let p = p * z - 5.373_971_5e-2;
    let p = p * z + 1.333_144_2e-1;
    let p = p * z - 3.333_328e-1;
    let near = a + a * z * p;
    let far = 1.0 - 2.0 / (exp(2.0 * a) + 1.0);
    let y = select(a < 0.625, near, far).copysign(x);
    select(x.is_nan(), x, y)
}

/// 1 / (1 + e⁻ˣ), off by less than 2.3. The exponential never overflows.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    select(x < 0.0, e, 1.0) / (1.0 + e)
}

/// erf x, off by less than 1.6. The polynomials are N. Juffa's.
#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    let (a, s) = (x.abs(), x * x);
    let r = -1.728_534_7e-5 * a + 3.831_971_3e-4;
    let u = -3.883_964_4e-3 * a + 2.425_462_2e-2;
    let r = r * s + u;
    let r = r * a - 1.067_778_8e-1;
    let r = r * a - 6.348_468_7e-1;
    let r = r * a - 1.287_175_1e-1;
    let far = 1.0 - exp(r * a - a);
    let y = select(a > 0.927_734_4, far.copysign(x), erf_near_0(x));
    select(x.is_nan(), x, y)
}

/// erf x up to 0.9277, off by less than 1.
#[inline(always)]
pub(super) fn erf_near_0(x: f32) -> f32 {
    let s = x * x;
    let p = -5.967_617e-4;
    let p = p * s + 4.991_194_2e-3;
    let p = p * s - 2.676_813_5e-2;
    let p = p * s + 1.128_199_25e-1;
    let p = p * s - 3.761_253_4e-1;
    let p = p * s + 1.283_791_7e-1;
    p * x + x
}

/// 1 - erf x from ½ on, off by less than 5.5: by so much less than the few digits that a sum with 1 would leave.
#[inline(always)]
pub(super) fn erfc(x: f32) -> f32 {
    let v = select(x > 10.5, 10.5, x);
    // A polynomial of (v - 2.5) / (v + 2.5) for (1 + 2v)·e^(v²)·erfc v, from a fit with weights by which its error is 0.6 units
    // at most; with one quotient.
    let (sum, line) = (v + 2.5, 1.0 + 2.0 * v);
    let inverse = 1.0 / (sum * line);
    let u = (v - 2.5) * line * inverse;
    let p = 5.333_883e-4;
    let p = p * u + 4.076_899_5e-4;
    let p = p * u - 4.348_005e-3;
    let p = p * u + 9.611_088e-4;
    let p = p * u + 3.275_548e-2;
    let p = p * u - 1.029_712_6e-1;
    let p = p * u + 1.576_303e-1;
    let p = p * u - 9.902_433e-2;
    let p = p * u - 1.223_567_7e-1;
    let p = p * u + 1.264_838_2;
    // e^(-v²) = e^(-h²)·eᵈ, where h is v in so few digits that its square is exact, and d is small.
    let h = f32::from_bits(v.to_bits() & 0xffff_f000);
    let d = (h - v) * (h + v);
    let rest = 1.0 + d * (1.0 + d * (0.5 + d * (1.0 / 6.0 + d * (1.0 / 24.0))));
    let y = exp(-h * h) * (rest * (p * sum * inverse));
    select(x.is_nan(), x, y)
}

/// The larger one; NaN if either is, and +0 before -0.
#[inline(always)]
pub(super) fn larger(x: f32, y: f32) -> f32 {
    // Equal numbers have the same bits, but for the sign of zero.
    let equal = f32::from_bits(x.to_bits() & y.to_bits());
    select((x > y) | x.is_nan(), x, select(x == y, equal, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far `y` is from a number, in units in the last place of that number as `f32`.
    fn distance(y: f32, right: f64) -> f64 {
        let nearest = right as f32;
        if y == nearest || (y.is_nan() && nearest.is_nan()) {
            return 0.0;
        }
        if !y.is_finite() || !nearest.is_finite() {
            return f64::INFINITY;
        }
        let exponent = (nearest.abs().to_bits() >> 23).max(1) as i32 - 150;
        (f64::from(y) - right).abs() / 2f64.powi(exponent)
    }

    /// The largest error over every 331st bit pattern that `takes` a function, and that of the numbers with which it ends.
    fn worst(f: fn(f32) -> f32, right: fn(f64) -> f64, takes: fn(f32) -> bool) -> f64 {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN, 1.0, -1.0];
        let strided = (0..=u32::MAX).step_by(331).map(f32::from_bits);
        let all = special.into_iter().chain(strided).filter(|&x| takes(x));
        let error = all.map(|x| (distance(f(x), right(f64::from(x))), x));
        let (error, x) = error.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are numbers");
        println!("off by {error} at {x:e}: {:e}", f(x));
        error
    }

    #[test]
    fn functions_are_as_good_as_they_say() {
        let any = |_: f32| true;
        let positive = |x: f32| x.is_nan() || x >= 0.0;
        assert!(worst(exp, libm::exp, any) < 1.0);
        assert!(worst(exp_m1, libm::expm1, any) < 2.0);
        assert!(worst(ln, libm::log, any) < 1.0);
        assert!(worst(ln_1p, libm::log1p, positive) < 3.0);
        assert!(worst(tanh, libm::tanh, any) < 1.3);
        assert!(worst(sigmoid, |x| 1.0 / (1.0 + libm::exp(-x)), any) < 2.3);
        assert!(worst(erf, libm::erf, any) < 1.6);
        assert!(worst(erfc, libm::erfc, |x| x.is_nan() || x >= 0.5) < 5.5);
    }

    #[test]
    fn a_nan_is_larger_than_all_and_zeros_are_ordered() {
        let bits = |x: f32, y: f32| larger(x, y).to_bits();
        assert_eq!((bits(0.0, -0.0), bits(-0.0, 0.0), bits(-0.0, -0.0)), (0, 0, (-0f32).to_bits()));
        assert_eq!(
            (larger(-1.0, -2.0), larger(-2.0, f32::NEG_INFINITY), larger(1.0, f32::INFINITY)),
            (-1.0, -2.0, f32::INFINITY)
        );
        assert!(
            [(f32::NAN, 1.0), (1.0, f32::NAN), (-f32::NAN, f32::INFINITY)]
                .iter()
                .all(|&(x, y)| larger(x, y).is_nan())
        );
    }

    #[test]
    fn zeros_keep_their_sign() {
        for f in [exp_m1, tanh, erf] {
            assert_eq!((f(0.0).to_bits(), f(-0.0).to_bits()), (0.0f32.to_bits(), (-0.0f32).to_bits()));
        }
    }
}
