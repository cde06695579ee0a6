// The library's power: the driver's is undefined for a negative base.
fn over_power(x: A, mean: B) -> T {
    return x / f_pow(params.bias + params.alpha * mean, params.beta);
}
