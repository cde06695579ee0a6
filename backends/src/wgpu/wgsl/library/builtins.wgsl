// Real functions as the driver has them. Each stands for the function of its name in math.wgsl.

fn f_exp(x: f32) -> f32 { return exp(x); }

fn f_log(x: f32) -> f32 { return log(x); }

fn f_sqrt(x: f32) -> f32 { return sqrt(x); }

fn f_sin(x: f32) -> f32 { return sin(x); }

fn f_cos(x: f32) -> f32 { return cos(x); }

fn f_tan(x: f32) -> f32 { return tan(x); }

fn f_asin(x: f32) -> f32 { return asin(x); }

fn f_acos(x: f32) -> f32 { return acos(x); }

fn f_atan(x: f32) -> f32 { return atan(x); }

fn f_sinh(x: f32) -> f32 { return sinh(x); }

fn f_cosh(x: f32) -> f32 { return cosh(x); }

fn f_tanh(x: f32) -> f32 { return tanh(x); }

fn f_asinh(x: f32) -> f32 { return asinh(x); }

fn f_acosh(x: f32) -> f32 { return acosh(x); }

fn f_atanh(x: f32) -> f32 { return atanh(x); }

fn f_sign(x: f32) -> f32 { return sign(x); }

// The remainder is left alone: WGSL takes it from the rounded quotient, and drivers give garbage where that is large. So is the
// power, of which WGSL says nothing where the base is negative.
