// Functions on the bits of a float. Drivers fold `a != a`, flush denormals and pick a number over a NaN, so what
// depends on such values is decided on bits. `params.zero` is zero, but the compiler cannot know it.

fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

fn is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }

fn is_zero(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0u; }

fn is_negative(x: f32) -> bool { return (bitcast<u32>(x) >> 31u) == 1u; }

// WGSL has no constants for these: a constant expression must be finite.
fn inf() -> f32 { return bitcast<f32>(0x7f800000u | params.zero); }

fn nan() -> f32 { return bitcast<f32>(0x7fc00000u | params.zero); }

// The same value, opaque to a compiler that would reassociate the expression around it.
fn keep(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ params.zero); }

fn with_sign(x: f32, sign_of: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(sign_of) & 0x80000000u));
}

// Nearest, ties to even; the result is a value of bfloat16 and a NaN stays one.
fn round_bf16(x: f32) -> f32 {
    let b = bitcast<u32>(x);
    if (is_nan(x)) { return bitcast<f32>((b | 0x00400000u) & 0xffff0000u); }
    return bitcast<f32>((b + 0x7fffu + ((b >> 16u) & 1u)) & 0xffff0000u);
}

// Nearest, ties to even; the result is a value of binary16, so that the conversion that follows is exact: Vulkan
// leaves the rounding of conversions to the driver.
fn round_f16(x: f32) -> f32 {
    let b = bitcast<u32>(x);
    let m = b & 0x7fffffffu;
    if (m >= 0x7f800000u) { return x; }
    if (m >= 0x477ff000u) { return with_sign(inf(), x); }
    if (m < 0x38800000u) { return with_sign(round(abs(x) * 16777216.0) * 5.9604644775390625e-8, x); }
    return bitcast<f32>((b + 0xfffu + ((b >> 13u) & 1u)) & 0xffffe000u);
}

// The order of numbers in integers: -0 equals +0, and NaN is for the caller.
fn order(x: f32) -> i32 {
    let b = bitcast<i32>(x);
    return select(b, -(b & 0x7fffffff), b < 0);
}

fn f_eq(a: f32, b: f32) -> bool { return !is_nan(a) && !is_nan(b) && order(a) == order(b); }

fn f_lt(a: f32, b: f32) -> bool { return !is_nan(a) && !is_nan(b) && order(a) < order(b); }

fn f_le(a: f32, b: f32) -> bool { return !is_nan(a) && !is_nan(b) && order(a) <= order(b); }

fn f_min(a: f32, b: f32) -> f32 {
    if (is_nan(a)) { return a; }
    if (is_nan(b)) { return b; }
    return select(b, a, order(a) <= order(b));
}

fn f_max(a: f32, b: f32) -> f32 {
    if (is_nan(a)) { return a; }
    if (is_nan(b)) { return b; }
    return select(b, a, order(a) >= order(b));
}

// The bits of an f64 are out of reach, but its NaN survives the conversion to f32 and nothing else becomes one.
fn d_ordered(a: f64, b: f64) -> bool { return !is_nan(f32(a)) && !is_nan(f32(b)); }

fn d_min(a: f64, b: f64) -> f64 {
    if (is_nan(f32(a))) { return a; }
    return select(min(a, b), b, is_nan(f32(b)));
}

fn d_max(a: f64, b: f64) -> f64 {
    if (is_nan(f32(a))) { return a; }
    return select(max(a, b), b, is_nan(f32(b)));
}

// A number whose conversion to f32 is exact and rounds to every shorter float as `x` does: bits that cannot matter
// are replaced by one that says whether any was set.
fn sticky(x: u32) -> u32 {
    if (x < 0x1000000u) { return x; }
    return (x & 0xffffff00u) | select(0u, 0x100u, (x & 0xffu) != 0u);
}
