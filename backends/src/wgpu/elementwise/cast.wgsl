// From A to T; what is lost at the store (wrapping, rounding to a short float) is lost there.

fn converted(a: A) -> T { return T(a); }

// naga extends by the sign of the target: the source's type has to be widened before it changes.
fn through_i64(a: A) -> T { return u64(i64(a)); }

fn through_u64(a: A) -> T { return i64(u64(a)); }

fn truth(a: A) -> T { return select(1, 0, a == A(0)); }

// A denormal is not zero, even where the driver flushes it.
fn truth_of_float(a: A) -> T { return select(1, 0, is_zero(a)); }

// Truncation that saturates, and 0 for NaN. Bounds are compared as powers of two, which every float has exactly.
fn saturated(x: A) -> T {
    if (is_nan(f32(x))) { return T(0); }
    if (x >= ABOVE) { return highest(); }
    if (x <= BELOW) { return lowest(); }
    return T(trunc(x));
}

// `f64` to `f32`, to nearest for a result in `f32` and to odd on the way to a shorter float.
fn narrowed(x: A) -> T {
    let r = f32(x);
    let back = f64(r);
    if (!ODD || back == x) { return r; }
    let b = bitcast<u32>(r);
    return bitcast<f32>(select(b, b - 1u, abs(back) > abs(x)) | 1u);
}

// A 64-bit integer to an `f32` that rounds to every shorter float as the integer does.
fn shortened(x: A) -> T {
    let negative = x < A(0);
    var m = select(u64(x), u64(0) - u64(x), negative);
    var scale = 1.0;
    while (m >= 4294967296lu) {
        m = (m >> 16u) | select(0lu, 1lu, (m & 65535lu) != 0lu);
        scale = scale * 65536.0;
    }
    return select(1.0, -1.0, negative) * f32(sticky(u32(m))) * scale;
}

// A 32-bit integer likewise.
fn rounded_signed(a: A) -> T {
    return select(1.0, -1.0, a < 0) * f32(sticky(select(u32(a), u32(-a), a < 0)));
}

fn rounded_unsigned(a: A) -> T { return f32(sticky(a)); }
