// x times the normal distribution's share below x. The constant is 1 / sqrt(2).
fn by_erf(a: T) -> T { return 0.5 * a * (1.0 + f_erf(a * 0.70710678)); }

// ONNX's `approximate = tanh`. The first constant is sqrt(2 / pi).
fn by_tanh(a: T) -> T { return 0.5 * a * (1.0 + f_tanh(0.79788456 * (a + 0.044715 * a * a * a))); }
