fn prelu(x: T, slope: T) -> T { return select(x, x * slope, x < T(0)); }
