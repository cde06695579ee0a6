// What differs for integers with a sign: T = i32 (which bool is as well) and i64.

fn magnitude(a: T) -> T { return abs(a); }

fn sign_of(a: T) -> T { return select(select(T(0), T(1), a > T(0)), T(-1), a < T(0)); }
