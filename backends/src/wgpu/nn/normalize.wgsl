// Steps of normalisations, with the statistics in f32 or f64 and the result in its own dtype.

fn difference(x: A, mean: B) -> T { return x - mean; }

fn square(x: A) -> T { return x * x; }

fn scaled(x: A, scale: B) -> T { return T(x) * T(scale); }

fn scaled_and_shifted(x: A, scale: B, bias: C) -> T { return T(x) * T(scale) + T(bias); }
