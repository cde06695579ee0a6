fn difference(x: A, mean: B) -> T { return x - mean; }

fn square(x: A) -> T { return x * x; }

fn scaled(x: A, scale: B) -> T { return T(x) * T(scale); }

fn scaled_and_shifted(x: A, scale: B, bias: C) -> T { return T(x) * T(scale) + T(bias); }
