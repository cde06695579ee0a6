// What kernels of every dtype call, for T = f32. Drivers fold `a != a` and pick a number over a NaN; these do not.

fn largest(a: T, b: T) -> T { return f_max(a, b); }

fn smallest(a: T, b: T) -> T { return f_min(a, b); }

fn equal(a: T, b: T) -> bool { return f_eq(a, b); }

fn less(a: T, b: T) -> bool { return f_lt(a, b); }

fn less_equal(a: T, b: T) -> bool { return f_le(a, b); }

fn unordered(a: T) -> bool { return is_nan(a); }

fn lowest() -> T { return -inf(); }

fn highest() -> T { return inf(); }

fn magnitude(a: T) -> T { return abs(a); }

fn sign_of(a: T) -> T { return f_sign(a); }

fn root(a: T) -> T { return f_sqrt(a); }
