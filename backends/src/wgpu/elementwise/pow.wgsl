// The library's: drivers give NaN for a negative base and for pow(0, 0).
fn of_floats(a: T, b: T) -> T { return f_pow(a, b); }

// The exponent as a float and as it is: whether it is odd the float may not hold.
fn of_float_and_integer(a: A, b: B, n: C) -> T {
    let power = f_pow(abs(a), b);
    return select(power, -power, (n & C(1)) == C(1) && (bitcast<u32>(a) >> 31u) == 1u);
}

// Square and multiply; a negative exponent truncates the reciprocal. At most 64 rounds.
fn of_integers(base: T, exponent: T) -> T {
    if (exponent < T(0)) {
        if (base == T(1)) { return base; }
        if (base + T(1) == T(0)) { return select(base, T(1), (exponent & T(1)) == T(0)); }
        return T(0);
    }
    var r = T(1);
    var b = base;
    var e = exponent;
    while (e > T(0)) {
        if ((e & T(1)) == T(1)) { r = r * b; }
        b = b * b;
        e = e >> 1u;
    }
    return r;
}
