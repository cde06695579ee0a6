// Real functions in f32. WGSL promises little outside [-pi, pi], near zero and at the edges, and drivers keep to that;
// these are built from the parts that all drivers get right.

// 2^k for -126 <= k <= 127.
fn power_of_two(k: i32) -> f32 { return bitcast<f32>(u32(k + 127) << 23u); }

// 2^k exp(r) with |r| <= ln(2) / 2. Taylor to r^7: the next term is less than 6e-9. The power of two comes in halves, so that a denormal
// result is rounded once.
fn exp_scaled(r: f32, k: f32) -> f32 {
    var s = 1.9841270e-4;
    s = s * r + 1.3888889e-3;
    s = s * r + 8.3333333e-3;
    s = s * r + 4.1666667e-2;
    s = s * r + 1.6666667e-1;
    s = s * r + 0.5;
    let half = i32(k) / 2;
    return (1.0 + (r + r * r * s)) * power_of_two(half) * power_of_two(i32(k) - half);
}

// 2^k exp(r), where k times the first part of ln 2 (9 bits) is exact.
fn f_exp(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    if (x > 88.8) { return inf(); }
    if (x < -104.0) { return 0.0; }
    let k = round(x * 1.442695);
    return exp_scaled(keep(x - k * 0.693359375) + k * 2.1219444e-4, k);
}

// k ln(2) + log(1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + r),
// where only the last, small term has the error of the quotient. The series of r goes to s^10, the next term is less than
// 2e-10 of the result. A denormal, which drivers may take for 0, is a whole number of 2^-149.
fn f_log(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    if (is_zero(x)) { return -inf(); }
    if (is_negative(x)) { return nan(); }
    if (is_inf(x)) { return x; }
    let bits = bitcast<u32>(x);
    let tiny = bits < 0x800000u;
    let from_root = select(bits, bitcast<u32>(f32(bits)), tiny) + 0x4afb0du;
    let k = f32(i32(from_root >> 23u) - select(127, 276, tiny));
    let f = bitcast<f32>((from_root & 0x7fffffu) + 0x3f3504f3u) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    var r = 0.18181818;
    r = r * z + 0.22222222;
    r = r * z + 0.28571429;
    r = r * z + 0.4;
    r = r * z + 0.66666667;
    let square = 0.5 * f * f;
    return k * 0.693359375 + (f - (square - (s * (square + z * r) - k * 2.1219444e-4)));
}

fn f_sqrt(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    if (is_negative(x)) { return nan(); }
    if (is_inf(x)) { return x; }
    return sqrt(x);
}

// exp(x) - 1: Taylor to x^9 below 1/2, where the next term is less than 3e-10 of the result.
fn f_expm1(x: f32) -> f32 {
    if (abs(x) > 0.5) { return f_exp(x) - 1.0; }
    var s = 2.7557319e-6;
    s = s * x + 2.4801587e-5;
    s = s * x + 1.9841270e-4;
    s = s * x + 1.3888889e-3;
    s = s * x + 8.3333333e-3;
    s = s * x + 4.1666667e-2;
    s = s * x + 1.6666667e-1;
    s = s * x + 0.5;
    return x + x * x * s;
}

// log(1 + x): x near 0, where half of it may be a denormal; below 1, 2 atanh(x / (2 + x)) with the series to s^15 (|s| <= 1/3,
// next term 5e-9 of the result).
fn f_log1p(x: f32) -> f32 {
    if (is_nan(x) || abs(x) < 1.0e-8) { return x; }
    if (x > 1.0 || x < -0.5) { return f_log(1.0 + x); }
    let s = x / (2.0 + x);
    let z = s * s;
    var r = 0.066666667;
    r = r * z + 0.076923077;
    r = r * z + 0.090909091;
    r = r * z + 0.11111111;
    r = r * z + 0.14285714;
    r = r * z + 0.2;
    r = r * z + 0.33333333;
    return 2.0 * s + 2.0 * s * z * r;
}

// The low and the high word of the product of a number below 2^24 and a word.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let left = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let right = (a & 0xffffu) * (b >> 16u) + (left & 0xffffu);
    return vec2<u32>((low & 0xffffu) | (right << 16u), (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u));
}

// x = m 2^e less the nearest multiple k of pi/2, and k mod 4, for 2^12 < |x| (Payne and Hanek, 1983). Of 2/pi only those 96 bits
// matter that m 2^e brings below 4 and above 2^-70; their product with m, modulo 4, has k in its first two bits.
fn reduce_large(x: f32) -> vec2<f32> {
    var two_over_pi = array<u32, 9>(
        0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u);
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    let m = (bits & 0x7fffffu) | 0x800000u;
    let first = (bits >> 23u) - 120u;
    let word = first >> 5u;
    let shift = first & 31u;
    var window = array<u32, 3>();
    for (var i = 0u; i < 3u; i++) {
        let next = (two_over_pi[word + i + 1u] >> (31u - shift)) >> 1u;
        window[i] = (two_over_pi[word + i] << shift) | next;
    }
    let low = wide_product(m, window[2]);
    let middle = wide_product(m, window[1]);
    let second = middle.x + low.y;
    var high = m * window[0] + middle.y + select(0u, 1u, second < middle.x);
    // The fraction behind the first two bits, in two words, from -1/2 to 1/2.
    let k = (high + 0x20000000u) >> 30u;
    var fraction = vec2<u32>((high << 2u) | (second >> 30u), (second << 2u) | (low.x >> 30u));
    let below = fraction.x >= 0x80000000u;
    if (below) { fraction = vec2<u32>(~fraction.x, ~fraction.y); }
    // Its first 32 bits that matter.
    let zeros = countLeadingZeros(fraction.x);
    var leading = fraction.y;
    if (zeros < 32u) { leading = (fraction.x << zeros) | ((fraction.y >> (31u - zeros)) >> 1u); }
    let r = f32(leading) * 2.3283064e-10 * power_of_two(-i32(zeros)) * 1.5707963;
    let negative = is_negative(x);
    return vec2<f32>(select(r, -r, below != negative), f32(select(k, (4u - k) & 3u, negative)));
}

// x less the nearest multiple k of pi/2, and k mod 4. pi/2 is split in four; k times any of the first three parts is exact while
// |k| < 2^13.
fn reduce_half_pi(x: f32) -> vec2<f32> {
    if (abs(x) > 8192.0) { return reduce_large(x); }
    let k = round(x * 0.63661977);
    let r = keep(keep(keep(x - k * 1.5703125) - k * 4.837513e-4) - k * 7.5495336e-8);
    return vec2<f32>(r - k * 2.5633442e-12, k - 4.0 * floor(k * 0.25));
}

// Taylor polynomials on [-pi/4, pi/4]: the first term left out is below 2e-9 (sin) and 3e-10 (cos).
fn sin_poly(r: f32) -> f32 {
    let z = r * r;
    var s = 2.7557319e-6;
    s = s * z - 1.9841270e-4;
    s = s * z + 8.3333333e-3;
    s = s * z - 1.6666667e-1;
    return r + r * z * s;
}

fn cos_poly(r: f32) -> f32 {
    let z = r * r;
    var c = -2.7557319e-7;
    c = c * z + 2.4801587e-5;
    c = c * z - 1.3888889e-3;
    c = c * z + 4.1666667e-2;
    return 1.0 - 0.5 * z + z * z * c;
}

fn sin_quadrant(r: f32, k: f32) -> f32 {
    let odd = k == 1.0 || k == 3.0;
    let v = select(sin_poly(r), cos_poly(r), odd);
    return select(v, -v, k >= 2.0);
}

fn f_sin(x: f32) -> f32 {
    if (is_nan(x) || is_inf(x)) { return nan(); }
    if (is_zero(x)) { return x; }
    let q = reduce_half_pi(x);
    return sin_quadrant(q.x, q.y);
}

fn f_cos(x: f32) -> f32 {
    if (is_nan(x) || is_inf(x)) { return nan(); }
    let q = reduce_half_pi(x);
    let k = q.y + 1.0;
    return sin_quadrant(q.x, select(k, 0.0, k >= 4.0));
}

fn f_tan(x: f32) -> f32 {
    if (is_nan(x) || is_inf(x)) { return nan(); }
    if (is_zero(x)) { return x; }
    let q = reduce_half_pi(x);
    let t = sin_poly(q.x) / cos_poly(q.x);
    return select(t, -1.0 / t, q.y == 1.0 || q.y == 3.0);
}

// The arctangent of 0 <= x <= tan(pi/8): series to x^17, next term below 3e-9.
fn atan_poly(x: f32) -> f32 {
    let z = x * x;
    var s = 0.058823529;
    s = s * z - 0.066666667;
    s = s * z + 0.076923077;
    s = s * z - 0.090909091;
    s = s * z + 0.11111111;
    s = s * z - 0.14285714;
    s = s * z + 0.2;
    s = s * z - 0.33333333;
    return x + x * z * s;
}

fn f_atan(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    let a = abs(x);
    if (a <= 0.41421356) { return with_sign(atan_poly(a), x); }
    if (a <= 2.4142136) {
        let t = (a - 1.0) / (a + 1.0);
        return with_sign(0.78539816 + with_sign(atan_poly(abs(t)), t), x);
    }
    if (is_inf(x)) { return with_sign(1.5707963, x); }
    return with_sign(1.5707963 - atan_poly(1.0 / a), x);
}

fn f_asin(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    let a = abs(x);
    if (a > 1.0) { return nan(); }
    if (a == 1.0) { return with_sign(1.5707963, x); }
    return f_atan(x / sqrt((1.0 - a) * (1.0 + a)));
}

fn f_acos(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    if (abs(x) > 1.0) { return nan(); }
    if (x == -1.0) { return 3.1415927; }
    return 2.0 * f_atan(sqrt((1.0 - x) / (1.0 + x)));
}

// exp(x) / 2, which is a number where exp(x) is none: what NVIDIA's compiler gave as long as it might halve last.
fn half_exp(x: f32) -> f32 {
    let root = f_exp(0.5 * x);
    return keep(0.5 * root) * root;
}

fn f_sinh(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x) || is_inf(x)) { return x; }
    let a = abs(x);
    if (a > 80.0) { return with_sign(half_exp(a), x); }
    let e = f_expm1(a);
    return with_sign(0.5 * (e + e / (e + 1.0)), x);
}

fn f_cosh(x: f32) -> f32 {
    let a = abs(x);
    if (a > 80.0) { return half_exp(a); }
    let e = f_exp(a);
    return 0.5 * (e + 1.0 / e);
}

fn f_tanh(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    let a = abs(x);
    if (a > 10.0) { return with_sign(1.0, x); }
    let e = f_expm1(-2.0 * a);
    return with_sign(e / (e + 2.0), x);
}

fn f_asinh(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x) || is_inf(x)) { return x; }
    let a = abs(x);
    if (a > 1.0e9) { return with_sign(f_log(a) + 0.69314718, x); }
    return with_sign(f_log1p(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}

fn f_acosh(x: f32) -> f32 {
    if (is_nan(x) || is_inf(x)) { return select(x, nan(), is_negative(x)); }
    if (x < 1.0) { return nan(); }
    if (x > 1.0e9) { return f_log(x) + 0.69314718; }
    let t = x - 1.0;
    return f_log1p(t + sqrt(2.0 * t + t * t));
}

fn f_atanh(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    let a = abs(x);
    if (a > 1.0) { return nan(); }
    if (a == 1.0) { return with_sign(inf(), x); }
    return with_sign(0.5 * f_log1p(2.0 * a / (1.0 - a)), x);
}

fn f_sigmoid(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    let e = f_exp(-abs(x));
    return select(1.0 / (1.0 + e), e / (1.0 + e), x < 0.0);
}

fn f_softplus(x: f32) -> f32 {
    if (is_nan(x)) { return x; }
    return max(x, 0.0) + f_log1p(f_exp(-abs(x)));
}

fn f_sign(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    return with_sign(1.0, x);
}

// Polynomials fitted on [0, 1] (in x^2), [1, 2] and [2, 4] at Chebyshev nodes; beyond 4, erf rounds to 1. The fit is
// within 2e-8, rounding brings the whole to 1.5e-7 absolute, and relative below 1.
fn f_erf(x: f32) -> f32 {
    if (is_nan(x) || is_zero(x)) { return x; }
    let a = abs(x);
    if (a >= 4.0) { return with_sign(1.0, x); }
    if (a < 1.0) {
        let z = a * a;
        var s = -9.66704457e-6;
        s = s * z + 0.00011265959;
        s = s * z - 0.000848408041;
        s = s * z + 0.00522103181;
        s = s * z - 0.0268654307;
        s = s * z + 0.112837825;
        s = s * z - 0.376126385;
        s = s * z + 1.12837917;
        return x * s;
    }
    if (a < 2.0) {
        let t = a - 1.5;
        var s = 0.00155539078;
        s = s * t - 0.00240218827;
        s = s * t - 0.00470959394;
        s = s * t + 0.0193335587;
        s = s * t - 0.0148692607;
        s = s * t - 0.0445994685;
        s = s * t + 0.138752097;
        s = s * t - 0.178395415;
        s = s * t + 0.118930289;
        s = s * t + 0.966105146;
        return with_sign(s, x);
    }
    let t = a - 3.0;
    var s = -9.62090283e-6;
    s = s * t + 2.21448432e-5;
    s = s * t + 1.23183776e-5;
    s = s * t - 0.000141191533;
    s = s * t + 0.000391457636;
    s = s * t - 0.000734940319;
    s = s * t + 0.0010163322;
    s = s * t - 0.00104509712;
    s = s * t + 0.000789119366;
    s = s * t - 0.000417700361;
    s = s * t + 0.000139252791;
    s = s * t + 0.999977909;
    return with_sign(s, x);
}

// The exact remainder of x / y with the sign of x, by long division of the significands, eight bits at a time.
fn f_fmod(x: f32, y: f32) -> f32 {
    if (is_nan(x) || is_nan(y) || is_inf(x) || is_zero(y)) { return nan(); }
    let bx = bitcast<u32>(x) & 0x7fffffffu;
    let by = bitcast<u32>(y) & 0x7fffffffu;
    if (is_inf(y) || bx < by) { return x; }
    let ex = max(bx >> 23u, 1u);
    let ey = max(by >> 23u, 1u);
    var m = (bx & 0x7fffffu) | select(0u, 0x800000u, (bx >> 23u) != 0u);
    let d = (by & 0x7fffffu) | select(0u, 0x800000u, (by >> 23u) != 0u);
    var shift = ex - ey;
    m = m % d;
    while (shift > 0u && m != 0u) {
        let step = min(shift, 8u);
        m = (m << step) % d;
        shift = shift - step;
    }
    // m is below d, so it is a multiple of y's last place and normalising it is exact.
    var e = ey;
    if (m == 0u) { return with_sign(0.0, x); }
    let up = min(countLeadingZeros(m) - 8u, e - 1u);
    m = m << up;
    e = e - up;
    let bits = select(m, (m & 0x7fffffu) | (e << 23u), m >= 0x800000u);
    return with_sign(bitcast<f32>(bits), x);
}

// The first twelve bits: the product of two such numbers is exact.
fn head(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }

// The sum of a number and a smaller one as the sum of twelve bits and what they lack: together more bits than an f32 has.
fn pair(large: f32, small: f32) -> vec2<f32> {
    let sum = head(large + small);
    return vec2<f32>(sum, small - keep(sum - large));
}

// k + log2(1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), to 2^-33 of it. With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2/3 s (3 + s^2 +
// 3/5 s^4 + ...), where s, the sum and their product are pairs. A denormal, which drivers may take for 0, is a whole number of 2^-149.
fn log2_positive(x: f32) -> vec2<f32> {
    let bits = bitcast<u32>(x);
    let tiny = bits < 0x800000u;
    let from_root = select(bits, bitcast<u32>(f32(bits)), tiny) + 0x4afb0du;
    let k = f32(i32(from_root >> 23u) - select(127, 276, tiny));
    let m = bitcast<f32>((from_root & 0x7fffffu) + 0x3f3504f3u);
    let f = m - 1.0;
    let d = keep(m + 1.0);
    let lost = m - keep(d - 1.0);
    let s = head(f / d);
    let s_tail = keep(keep(f - s * head(d)) - s * (keep(d - head(d)) + lost)) / d;
    let square = s * s;
    let square_tail = s_tail * (s + (s + s_tail));
    let z = square + square_tail;
    let w = z * z * (0.6 + z * (0.42857143 + z * (0.33333333 + z * 0.27272727)));
    let three = head(3.0 + z);
    let three_tail = (square_tail + w) - keep(keep(three - 3.0) - square);
    let product = pair(s * three, s_tail * three + (s + s_tail) * three_tail);
    // 2 / (3 ln 2), of which the first part has twelve bits.
    let log = pair(0.9616699 * product.x, 1.2677205e-4 * product.x + 0.9617967 * product.y);
    let sum = pair(k, log.x);
    return vec2<f32>(sum.x, sum.y + log.y);
}

// 2^(a + b), where b is the smaller one.
fn exp2_of(a: f32, b: f32) -> f32 {
    let t = a + b;
    if (t >= 128.0) { return inf(); }
    if (t <= -150.0) { return 0.0; }
    let k = round(t);
    return exp_scaled((keep(a - k) + b) * 0.6931472, k);
}

// x^y with IEEE 754's special cases, to 2 ULP. Vulkan's own is undefined for a negative base, and far off where a base next to 1 has a
// large exponent.
fn f_pow(x: f32, y: f32) -> f32 {
    if (is_zero(y) || x == 1.0) { return 1.0; }
    if (is_nan(x) || is_nan(y)) { return nan(); }
    let a = abs(x);
    let whole = abs(y) >= 16777216.0 || trunc(y) == y;
    let odd = whole && abs(y) < 16777216.0 && (u32(abs(y)) & 1u) == 1u;
    if (is_inf(y)) {
        if (a == 1.0) { return 1.0; }
        return select(0.0, inf(), (a > 1.0) == !is_negative(y));
    }
    var r = 0.0;
    if (is_zero(x) || is_inf(x)) {
        r = select(0.0, inf(), is_inf(x) == !is_negative(y));
    } else if (is_negative(x) && !whole) {
        return nan();
    } else {
        let log = log2_positive(a);
        // Beyond these, a base other than 1 has no power that is a number.
        let e = clamp(y, -1e12, 1e12);
        if (y == 1.0) { r = a; }
        else if (y == 2.0) { r = a * a; }
        else { r = exp2_of(head(e) * log.x, keep(e - head(e)) * log.x + e * log.y); }
    }
    return select(r, -r, odd && is_negative(x));
}
