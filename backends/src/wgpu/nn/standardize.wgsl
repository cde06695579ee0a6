// The epsilon is added to the variance, before the root.

fn standardized(deviation: A, variance: B) -> T { return deviation / root(variance + T(params.epsilon)); }

fn inverse_deviation(variance: A) -> T { return T(1) / root(T(variance) + T(params.epsilon)); }
