// In the precision of the statistics, which is at least that of the result.
fn normalized(deviation: A, variance: B) -> T { return deviation / (root(variance) + T(params.epsilon)); }
