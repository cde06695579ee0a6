// Functions of one element, under their ONNX names. Those that WGSL leaves open at the edges are built in the library.

fn Abs(a: T) -> T { return magnitude(a); }

fn Acos(a: T) -> T { return f_acos(a); }

fn Acosh(a: T) -> T { return f_acosh(a); }

fn Asin(a: T) -> T { return f_asin(a); }

fn Asinh(a: T) -> T { return f_asinh(a); }

fn Atan(a: T) -> T { return f_atan(a); }

fn Atanh(a: T) -> T { return f_atanh(a); }

fn BitwiseNot(a: T) -> T { return ~a; }

fn Ceil(a: T) -> T { return ceil(a); }

fn Cos(a: T) -> T { return f_cos(a); }

fn Cosh(a: T) -> T { return f_cosh(a); }

fn Erf(a: T) -> T { return f_erf(a); }

fn Exp(a: T) -> T { return f_exp(a); }

fn Floor(a: T) -> T { return floor(a); }

// x HardSigmoid(x) with alpha = 1/6, beta = 1/2.
fn HardSwish(a: T) -> T { return a * f_max(0.0, f_min(1.0, a * 0.16666667 + 0.5)); }

fn Log(a: T) -> T { return f_log(a); }

// x tanh(softplus(x)).
fn Mish(a: T) -> T { return a * f_tanh(f_softplus(a)); }

fn Neg(a: T) -> T { return -a; }

// 0 or 1, as bool is stored.
fn Not(a: T) -> T { return 1 - a; }

fn Reciprocal(a: T) -> T { return T(1) / a; }

fn Relu(a: T) -> T { return largest(a, T(0)); }

// WGSL's `round` takes ties to even, as ONNX does.
fn Round(a: T) -> T { return round(a); }

fn Sigmoid(a: T) -> T { return f_sigmoid(a); }

fn Sign(a: T) -> T { return sign_of(a); }

fn Sin(a: T) -> T { return f_sin(a); }

fn Sinh(a: T) -> T { return f_sinh(a); }

fn Softplus(a: T) -> T { return f_softplus(a); }

fn Softsign(a: T) -> T { return a / (T(1) + magnitude(a)); }

fn Sqrt(a: T) -> T { return root(a); }

fn Tan(a: T) -> T { return f_tan(a); }

fn Tanh(a: T) -> T { return f_tanh(a); }
