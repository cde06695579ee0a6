// What kernels of every dtype call, for T of any integers. `lowest` and `highest` are written with the dtype, which may
// be narrower.

fn largest(a: T, b: T) -> T { return max(a, b); }

fn smallest(a: T, b: T) -> T { return min(a, b); }

fn equal(a: T, b: T) -> bool { return a == b; }

fn less(a: T, b: T) -> bool { return a < b; }

fn less_equal(a: T, b: T) -> bool { return a <= b; }

fn unordered(a: T) -> bool { return false; }

// A whole number that i32 holds. A conversion of a negative i32 to u64 leaves the high bits zero.
fn whole(f: f32) -> T {
    let magnitude = T(u32(abs(f)));
    return select(magnitude, T(0) - magnitude, f < 0.0);
}
