// Activations under their ONNX names.

// x, or alpha x below 0.
fn LeakyRelu(a: T) -> T {
    let alpha = T(params.first);
    return select(a, alpha * a, a < T(0));
}

// x, or alpha (exp(x) - 1) below 0.
fn Elu(a: T) -> T {
    let alpha = params.first;
    return select(a, alpha * f_expm1(a), a < 0.0);
}

// gamma x, or gamma alpha (exp(x) - 1) below 0.
fn Selu(a: T) -> T {
    let alpha = params.first;
    let gamma = params.second;
    return gamma * select(a, alpha * f_expm1(a), a < 0.0);
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1)).
fn Celu(a: T) -> T {
    let alpha = params.first;
    return select(a, alpha * f_expm1(a / alpha), a < 0.0);
}

// alpha x + beta between 0 and 1.
fn HardSigmoid(a: T) -> T {
    let alpha = params.first;
    let beta = params.second;
    return f_max(0.0, f_min(1.0, alpha * a + beta));
}

// x above alpha, else 0.
fn ThresholdedRelu(a: T) -> T {
    let alpha = T(params.first);
    return select(T(0), a, a > alpha);
}

// x sigmoid(alpha x).
fn Swish(a: T) -> T {
    let alpha = params.first;
    return a * f_sigmoid(alpha * a);
}
