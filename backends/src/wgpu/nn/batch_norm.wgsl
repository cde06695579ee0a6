// Operands may be in another dtype than x, and compute in that of the result.
fn normalized(x: A, scale: B, bias: C, mean: D, variance: E) -> T {
    return (x - T(mean)) / root(T(variance) + T(params.epsilon)) * T(scale) + T(bias);
}
