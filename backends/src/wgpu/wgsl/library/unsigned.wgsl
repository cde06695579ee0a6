// What differs for integers without a sign: T = u32 and u64.

fn magnitude(a: T) -> T { return a; }

fn sign_of(a: T) -> T { return select(T(0), T(1), a > T(0)); }
