// What kernels of every dtype call, for T = f64. Drivers accept the transcendental functions of f64 and return
// garbage, so there are none.

fn largest(a: T, b: T) -> T { return d_max(a, b); }

fn smallest(a: T, b: T) -> T { return d_min(a, b); }

fn equal(a: T, b: T) -> bool { return a == b && d_ordered(a, b); }

fn less(a: T, b: T) -> bool { return a < b && d_ordered(a, b); }

fn less_equal(a: T, b: T) -> bool { return a <= b && d_ordered(a, b); }

fn unordered(a: T) -> bool { return is_nan(f32(a)); }

fn lowest() -> T { return T(-inf()); }

fn highest() -> T { return T(inf()); }

fn magnitude(a: T) -> T { return abs(a); }

fn root(a: T) -> T { return sqrt(a); }
