// What happens to an element before, to two of them, and to the result.

fn itself(a: T) -> T { return a; }

fn square(a: T) -> T { return a * a; }

fn sum(r: T, a: T) -> T { return r + a; }

fn product(r: T, a: T) -> T { return r * a; }

fn zero() -> T { return T(0); }

fn one() -> T { return T(1); }

fn over_total(r: T) -> T { return r / T(params.total); }

fn logarithm(r: T) -> T { return f_log(r); }
