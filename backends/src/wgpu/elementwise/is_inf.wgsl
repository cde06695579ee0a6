// Infinities of the signs that are asked for. Drivers may fold comparisons with infinity, so this looks at the bits.

fn of_floats(x: T) -> i32 { return select(0, 1, is_inf(x) && is_asked_for(x)); }

// The bits of an f64 are out of reach: what is beyond the largest number is infinite.
fn of_doubles(x: T) -> i32 { return select(0, 1, abs(x) > 1.7976931348623157e308lf && is_asked_for(x)); }

fn is_asked_for(x: T) -> bool {
    return select(params.positive, params.negative, is_negative(f32(x))) != 0u;
}
