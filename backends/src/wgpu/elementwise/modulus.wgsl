// The remainder with the sign of the divisor. Unlike `((a % b) + b) % b` this does not overflow.
fn floored(a: T, b: T) -> T {
    return a % b + select(T(0), b, a % b != T(0) && (a % b < T(0)) != (b < T(0)));
}

// The remainder with the sign of the dividend; of unsigned integers it is the only one.
fn truncated(a: T, b: T) -> T { return a % b; }

// Drivers compute the remainder of floats from a rounded quotient; this one is exact.
fn of_floats(a: T, b: T) -> T { return f_fmod(a, b); }

fn floored_of_floats(a: T, b: T) -> T {
    let r = f_fmod(a, b);
    return r + select(T(0), b, r != T(0) && (r < T(0)) != (b < T(0)));
}
