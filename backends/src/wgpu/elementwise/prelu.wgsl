// x, or slope x below 0. Integers wrap at the store.
fn prelu(x: T, slope: T) -> T { return select(x, x * slope, x < T(0)); }
