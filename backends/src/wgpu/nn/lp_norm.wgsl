fn over_norm(x: A, norm: B) -> T { return select(x / norm, T(0), norm == T(0)); }
