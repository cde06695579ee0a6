// A lane of zeros has no direction and stays.
fn over_norm(x: A, norm: B) -> T { return select(x / norm, T(0), norm == T(0)); }
