//! Functions of one element, as a table: what each computes in every class of dtypes.
//!
//! Doubles have arithmetic only: drivers accept the transcendental functions of `f64` and return garbage.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::tensor::GpuTensor;
use super::wgsl::Class;

macro_rules! unary {
    ($($name:ident $doc:literal: float $float:tt, signed $signed:tt, unsigned $unsigned:tt, double $double:tt;)*) => {
        /// A function of one element, under its ONNX name. Parameters are in the order of ONNX's attributes.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Unary {
            $(#[doc = $doc] $name,)*
        }

        impl Unary {
            /// Every function.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The ONNX name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            fn row(self) -> Row {
                match self {
                    $(Self::$name => Row {
                        float: unary!(@ $float),
                        signed: unary!(@ $signed),
                        unsigned: unary!(@ $unsigned),
                        double: unary!(@ $double),
                    },)*
                }
            }
        }
    };
    (@ -) => { None };
    (@ $expr:literal) => { Some($expr) };
}

struct Row {
    float: Option<&'static str>,
    signed: Option<&'static str>,
    unsigned: Option<&'static str>,
    double: Option<&'static str>,
}

unary! {
    Abs "|x|": float "abs(a)", signed "abs(a)", unsigned "a", double "abs(a)";
    Acos "Inverse cosine": float "f_acos(a)", signed -, unsigned -, double -;
    Acosh "Inverse hyperbolic cosine": float "f_acosh(a)", signed -, unsigned -, double -;
    Asin "Inverse sine": float "f_asin(a)", signed -, unsigned -, double -;
    Asinh "Inverse hyperbolic sine": float "f_asinh(a)", signed -, unsigned -, double -;
    Atan "Inverse tangent": float "f_atan(a)", signed -, unsigned -, double -;
    Atanh "Inverse hyperbolic tangent": float "f_atanh(a)", signed -, unsigned -, double -;
    BitwiseNot "Every bit flipped": float -, signed "~a", unsigned "~a", double -;
    Ceil "The integer above": float "ceil(a)", signed -, unsigned -, double "ceil(a)";
    Celu "max(0, x) + min(0, α(exp(x/α) − 1))":
        float "select(a, q0 * f_expm1(a / q0), a < 0.0)", signed -, unsigned -, double -;
    Cos "Cosine": float "f_cos(a)", signed -, unsigned -, double -;
    Cosh "Hyperbolic cosine": float "f_cosh(a)", signed -, unsigned -, double -;
    Elu "x, or α(exp(x) − 1) below 0": float "select(a, q0 * f_expm1(a), a < 0.0)", signed -, unsigned -, double -;
    Erf "The error function": float "f_erf(a)", signed -, unsigned -, double -;
    Exp "e to the x": float "f_exp(a)", signed -, unsigned -, double -;
    Floor "The integer below": float "floor(a)", signed -, unsigned -, double "floor(a)";
    Gelu "x Φ(x)": float "0.5 * a * (1.0 + f_erf(a * 0.70710678))", signed -, unsigned -, double -;
    GeluTanh "Gelu with ONNX's `approximate = tanh`":
        float "0.5 * a * (1.0 + f_tanh(0.79788456 * (a + 0.044715 * a * a * a)))", signed -, unsigned -, double -;
    HardSigmoid "αx + β between 0 and 1": float "f_max(0.0, f_min(1.0, q0 * a + q1))", signed -, unsigned -, double -;
    HardSwish "x HardSigmoid(x) with α = 1/6, β = 1/2":
        float "a * f_max(0.0, f_min(1.0, a * 0.16666667 + 0.5))", signed -, unsigned -, double -;
    Identity "x": float "a", signed "a", unsigned "a", double "a";
    LeakyRelu "x, or αx below 0": float "select(a, q0 * a, a < 0.0)", signed -, unsigned -,
        double "select(a, T(q0) * a, a < T(0))";
    Log "Natural logarithm": float "f_log(a)", signed -, unsigned -, double -;
    Mish "x tanh(softplus(x))": float "a * f_tanh(f_softplus(a))", signed -, unsigned -, double -;
    Neg "−x": float "-a", signed "-a", unsigned -, double "-a";
    Reciprocal "1/x": float "1.0 / a", signed -, unsigned -, double "T(1) / a";
    Relu "max(0, x)": float "f_max(a, 0.0)", signed "max(a, T(0))", unsigned "a", double "d_max(a, T(0))";
    Round "The nearest integer, ties to even": float "round(a)", signed -, unsigned -, double -;
    Selu "γx, or γα(exp(x) − 1) below 0": float "q1 * select(a, q0 * f_expm1(a), a < 0.0)", signed -, unsigned -, double -;
    Shrink "x moved by β towards 0 outside ±λ (parameters β, λ), and 0 inside":
        float "select(select(0.0, a - q0, a > q1), a + q0, a < -q1)", signed -, unsigned -, double -;
    Sigmoid "1/(1 + exp(−x))": float "f_sigmoid(a)", signed -, unsigned -, double -;
    Sign "−1, 0 or 1": float "f_sign(a)", signed "select(select(T(0), T(1), a > T(0)), T(-1), a < T(0))",
        unsigned "select(T(0), T(1), a > T(0))", double -;
    Sin "Sine": float "f_sin(a)", signed -, unsigned -, double -;
    Sinh "Hyperbolic sine": float "f_sinh(a)", signed -, unsigned -, double -;
    Softplus "log(1 + exp(x))": float "f_softplus(a)", signed -, unsigned -, double -;
    Softsign "x/(1 + |x|)": float "a / (1.0 + abs(a))", signed -, unsigned -, double "a / (T(1) + abs(a))";
    Sqrt "Square root": float "f_sqrt(a)", signed -, unsigned -, double "sqrt(a)";
    Swish "x Sigmoid(αx)": float "a * f_sigmoid(q0 * a)", signed -, unsigned -, double -;
    Tan "Tangent": float "f_tan(a)", signed -, unsigned -, double -;
    Tanh "Hyperbolic tangent": float "f_tanh(a)", signed -, unsigned -, double -;
    ThresholdedRelu "x above α, else 0": float "select(0.0, a, a > q0)", signed -, unsigned -,
        double "select(T(0), a, a > T(q0))";
}

impl Unary {
    /// Whether there is a kernel for a dtype.
    pub fn supports(self, dtype: DType) -> bool {
        self.expr(Class::of(dtype)).is_some()
    }

    /// The expression for a class of dtypes, if the function has one there.
    fn expr(self, class: Class) -> Option<&'static str> {
        let row = self.row();
        match class {
            Class::Bool => (self == Self::Identity).then_some("a"),
            Class::Float => row.float,
            Class::Int | Class::Long => row.signed,
            Class::Uint | Class::Ulong => row.unsigned,
            Class::Double => row.double,
        }
    }
}

impl Gpu {
    /// Applies a function to every element. Parameters are the function's float attributes, in ONNX's order.
    pub fn unary(&self, f: Unary, x: &GpuTensor, params: &[f32]) -> Result<GpuTensor, GpuError> {
        let dtype = x.dtype();
        let no_kernel =
            "WGSL computes f64 with + - * / sqrt, and this function needs more or is not defined here";
        let expr = f.expr(Class::of(dtype)).ok_or_else(|| GpuError::dtype(f.name(), dtype, no_kernel))?;
        for q in ["q0", "q1"].iter().skip(params.len()) {
            if expr.contains(q) {
                return Err(GpuError::arguments(
                    f.name(),
                    format!("{} parameters given, {q} is used", params.len()),
                ));
            }
        }
        self.map(&Map { name: f.name(), expr, dtype, params }, &[x])
    }

    /// ONNX `Not` of a bool tensor.
    pub fn not(&self, x: &GpuTensor) -> Result<GpuTensor, GpuError> {
        if x.dtype() != DType::Bool {
            return Err(GpuError::dtype("Not", x.dtype(), "it is defined for bool"));
        }
        self.map(&Map { name: "Not", expr: "1 - a", dtype: DType::Bool, params: &[] }, &[x])
    }

    /// ONNX `IsNaN`.
    pub fn is_nan(&self, x: &GpuTensor) -> Result<GpuTensor, GpuError> {
        self.classify("IsNaN", x, "select(0, 1, is_nan(f32(a)))", &[])
    }

    /// ONNX `IsInf` of the signs asked for.
    pub fn is_inf(&self, x: &GpuTensor, negative: bool, positive: bool) -> Result<GpuTensor, GpuError> {
        let params = [f32::from(u8::from(negative)), f32::from(u8::from(positive))];
        let infinite =
            if x.dtype() == DType::F64 { "abs(a) > 1.7976931348623157e308lf" } else { "is_inf(a)" };
        let expr = format!("select(0, 1, {infinite} && select(q1, q0, is_negative(f32(a))) != 0.0)");
        self.classify("IsInf", x, &expr, &params)
    }

    fn classify(&self, name: &str, x: &GpuTensor, expr: &str, params: &[f32]) -> Result<GpuTensor, GpuError> {
        if !x.dtype().is_float() {
            return Err(GpuError::dtype(name, x.dtype(), "it is defined for floats"));
        }
        self.map(&Map { name, expr, dtype: DType::Bool, params }, &[x])
    }
}
