fn over_power(x: A, mean: B) -> T {
    return x / f_pow(params.bias + params.alpha * mean, params.beta);
}
