//! Functions of two elements with ONNX's multidirectional broadcasting, as a table; and `Where` and `Clip`.

use ir::DType;

use super::device::Gpu;
use super::error::GpuError;
use super::map::Map;
use super::tensor::GpuTensor;
use super::wgsl::Class;

/// A function of two elements, under its ONNX name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "ONNX defines the names")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// The remainder with the sign of the divisor; integers only.
    Mod,
    /// The remainder with the sign of the dividend: `Mod` with `fmod = 1`.
    Fmod,
    Pow,
    Min,
    Max,
    PRelu,
    And,
    Or,
    Xor,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    /// `BitShift` with `direction = LEFT`.
    ShiftLeft,
    /// `BitShift` with `direction = RIGHT`.
    ShiftRight,
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Binary {
    /// Every function.
    pub const ALL: &'static [Self] = &[
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Mod,
        Self::Fmod,
        Self::Pow,
        Self::Min,
        Self::Max,
        Self::PRelu,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::BitwiseAnd,
        Self::BitwiseOr,
        Self::BitwiseXor,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::Equal,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Less,
        Self::LessOrEqual,
    ];

    /// The name of the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Sub => "Sub",
            Self::Mul => "Mul",
            Self::Div => "Div",
            Self::Mod => "Mod",
            Self::Fmod => "Fmod",
            Self::Pow => "Pow",
            Self::Min => "Min",
            Self::Max => "Max",
            Self::PRelu => "PRelu",
            Self::And => "And",
            Self::Or => "Or",
            Self::Xor => "Xor",
            Self::BitwiseAnd => "BitwiseAnd",
            Self::BitwiseOr => "BitwiseOr",
            Self::BitwiseXor => "BitwiseXor",
            Self::ShiftLeft => "BitShift(LEFT)",
            Self::ShiftRight => "BitShift(RIGHT)",
            Self::Equal => "Equal",
            Self::Greater => "Greater",
            Self::GreaterOrEqual => "GreaterOrEqual",
            Self::Less => "Less",
            Self::LessOrEqual => "LessOrEqual",
        }
    }

    /// Whether there is a kernel for operands of a dtype.
    pub fn supports(self, dtype: DType) -> bool {
        self.expr(Class::of(dtype)).is_some()
    }

    /// Whether the result is bool whatever the operands are.
    fn compares(self) -> bool {
        use Binary::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        matches!(self, Equal | Greater | GreaterOrEqual | Less | LessOrEqual)
    }

    /// The expression for a class of dtypes, if the function has one there. `C` is the operands' computing type.
    fn expr(self, class: Class) -> Option<&'static str> {
        let float = class == Class::Float;
        let double = class == Class::Double;
        let boolean = class == Class::Bool;
        let signed = matches!(class, Class::Int | Class::Long);
        let integer = class.is_integer();
        let number = float || double || integer;
        // The first pair whose condition holds is the answer.
        let choose =
            |rows: &[(bool, &'static str)]| rows.iter().find(|(here, _)| *here).map(|(_, expr)| *expr);
        match self {
            Self::Add => choose(&[(number, "a + b")]),
            Self::Sub => choose(&[(number, "a - b")]),
            Self::Mul => choose(&[(number, "a * b")]),
            Self::Div => choose(&[(number, "a / b")]),
            Self::Mod => choose(&[
                // Unlike `((a % b) + b) % b` this does not overflow.
                (signed, "a % b + select(C(0), b, a % b != C(0) && (a % b < C(0)) != (b < C(0)))"),
                (integer, "a % b"),
            ]),
            Self::Fmod => choose(&[(float, "f_fmod(a, b)"), (integer, "a % b")]),
            Self::Pow => choose(&[(float, "f_pow(a, b)"), (integer, "int_pow(a, b)")]),
            Self::Min => choose(&[(float, "f_min(a, b)"), (double, "d_min(a, b)"), (number, "min(a, b)")]),
            Self::Max => choose(&[(float, "f_max(a, b)"), (double, "d_max(a, b)"), (number, "max(a, b)")]),
            Self::PRelu => {
                choose(&[(float, "select(a, a * b, a < 0.0)"), (number, "select(a, a * b, a < C(0))")])
            }
            Self::And => choose(&[(boolean, "a & b")]),
            Self::Or => choose(&[(boolean, "a | b")]),
            Self::Xor => choose(&[(boolean, "a ^ b")]),
            Self::BitwiseAnd => choose(&[(integer, "a & b")]),
            Self::BitwiseOr => choose(&[(integer, "a | b")]),
            Self::BitwiseXor => choose(&[(integer, "a ^ b")]),
            // WGSL takes the amount modulo the width.
            Self::ShiftLeft => {
                choose(&[(integer, "select(C(0), a << u32(b), u32(b) < BITS && b == C(u32(b)))")])
            }
            Self::ShiftRight => {
                choose(&[(integer, "select(C(0), a >> u32(b), u32(b) < BITS && b == C(u32(b)))")])
            }
            Self::Equal => choose(&[
                (float, "select(0, 1, f_eq(a, b))"),
                (double, "select(0, 1, a == b && d_ordered(a, b))"),
                (true, "select(0, 1, a == b)"),
            ]),
            Self::Greater => choose(&[
                (float, "select(0, 1, f_lt(b, a))"),
                (double, "select(0, 1, a > b && d_ordered(a, b))"),
                (number, "select(0, 1, a > b)"),
            ]),
            Self::GreaterOrEqual => choose(&[
                (float, "select(0, 1, f_le(b, a))"),
                (double, "select(0, 1, a >= b && d_ordered(a, b))"),
                (number, "select(0, 1, a >= b)"),
            ]),
            Self::Less => choose(&[
                (float, "select(0, 1, f_lt(a, b))"),
                (double, "select(0, 1, a < b && d_ordered(a, b))"),
                (number, "select(0, 1, a < b)"),
            ]),
            Self::LessOrEqual => choose(&[
                (float, "select(0, 1, f_le(a, b))"),
                (double, "select(0, 1, a <= b && d_ordered(a, b))"),
                (number, "select(0, 1, a <= b)"),
            ]),
        }
    }
}

/// Square and multiply; a negative exponent truncates the reciprocal. At most 64 rounds.
const INT_POW: &str = "\
fn int_pow(base: C, exponent: C) -> C {
    if (exponent < C(0)) {
        if (base == C(1)) { return base; }
        if (base + C(1) == C(0)) { return select(base, C(1), (exponent & C(1)) == C(0)); }
        return C(0);
    }
    var r = C(1);
    var b = base;
    var e = exponent;
    while (e > C(0)) {
        if ((e & C(1)) == C(1)) { r = r * b; }
        b = b * b;
        e = e >> 1u;
    }
    return r;
}
";

impl Gpu {
    /// Applies a function to two tensors of one dtype. `Pow` of mixed dtypes needs a [`Gpu::cast`] first.
    pub fn binary(&self, f: Binary, a: &GpuTensor, b: &GpuTensor) -> Result<GpuTensor, GpuError> {
        let dtype = a.dtype();
        if b.dtype() != dtype {
            return Err(GpuError::arguments(f.name(), format!("operands are {dtype} and {}", b.dtype())));
        }
        let class = Class::of(dtype);
        let why = if class == Class::Double {
            "f64 has arithmetic only"
        } else {
            "it is not defined for this dtype"
        };
        let expr = f.expr(class).ok_or_else(|| GpuError::dtype(f.name(), dtype, why))?;
        let expr = expr.replace("BITS", &format!("{}u", 8 * dtype.size()));
        let helpers = if expr.contains("int_pow") { INT_POW } else { "" };
        let result = if f.compares() { DType::Bool } else { dtype };
        self.map_with(
            &format!("alias C = {};\n{helpers}", class.wgsl()),
            &Map { name: f.name(), expr: &expr, dtype: result, params: &[] },
            &[a, b],
        )
    }

    /// ONNX `Where`.
    pub fn select(&self, condition: &GpuTensor, x: &GpuTensor, y: &GpuTensor) -> Result<GpuTensor, GpuError> {
        let dtype = x.dtype();
        if condition.dtype() != DType::Bool || y.dtype() != dtype {
            let why = format!("operands are {}, {dtype} and {}", condition.dtype(), y.dtype());
            return Err(GpuError::arguments("Where", why));
        }
        self.map(&Map { name: "Where", expr: "select(c, b, a != 0)", dtype, params: &[] }, &[condition, x, y])
    }

    /// ONNX `Clip`: the bounds are scalars of the same dtype, and the upper one wins where they cross.
    pub fn clip(
        &self,
        x: &GpuTensor,
        low: Option<&GpuTensor>,
        high: Option<&GpuTensor>,
    ) -> Result<GpuTensor, GpuError> {
        let raised = low.map_or_else(|| Ok(x.clone()), |low| self.binary(Binary::Max, x, low))?;
        high.map_or_else(|| Ok(raised.clone()), |high| self.binary(Binary::Min, &raised, high))
    }
}
