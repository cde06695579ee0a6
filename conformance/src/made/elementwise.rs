//! Functions of single elements: the points where they bend, the ends of the formats, NaN, and broadcasting.

use ir::{DType, DTypes, Type};

use super::{Sheet, integer_row, integers, none, row, tensor, wave};

const WIDE: &[f64] =
    &[-30.0, -8.0, -3.2, -1.0, -0.7, -1e-3, 0.0, 1e-4, 0.3, 0.5, 0.9, 1.0, 1.9, 2.5, 4.5, 20.0, 87.0];
const UNIT: &[f64] = &[-1.0, -0.999, -0.8, -0.5, -1e-3, 0.0, 1e-5, 0.25, 0.6, 0.97, 1.0];
const POSITIVE: &[f64] = &[1e-30, 1e-5, 0.1, 0.5, 0.99, 1.0, 1.01, 2.0, 7.0, 1e4, 1e30];
const ANGLES: &[f64] =
    &[-1e4, -100.0, -6.0, -3.0, -1.0, -1e-4, 0.0, 0.5, 0.75, 1.5, 2.0, 3.1, 4.0, 12.0, 5000.0];
const SLOPES: &[f64] = &[-1.5, -1.0, -1e-4, 0.0, 0.3, 0.785, 0.8, 1.4, 3.0, 5.0];
const ABOVE_ONE: &[f64] = &[1.0, 1.001, 1.5, 3.0, 1e5, 1e30];
const FAR_OUT: &[f64] = &[-95.0, 95.0, -3.0];
const NOT_FINITE: &[f64] = &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 100.0, -200.0];

/// Functions of one number, and where they are asked.
const FUNCTIONS: &[(&str, &[f64])] = &[
    ("Abs", WIDE),
    ("Acos", UNIT),
    ("Acosh", ABOVE_ONE),
    ("Asin", UNIT),
    ("Asinh", WIDE),
    ("Atan", WIDE),
    ("Atanh", UNIT),
    ("Ceil", WIDE),
    ("Cos", ANGLES),
    ("Cosh", WIDE),
    ("Elu", WIDE),
    ("Erf", WIDE),
    ("Exp", WIDE),
    ("Floor", WIDE),
    ("Gelu", WIDE),
    ("HardSigmoid", WIDE),
    ("HardSwish", WIDE),
    ("Identity", WIDE),
    ("LeakyRelu", WIDE),
    ("Log", POSITIVE),
    ("Mish", WIDE),
    ("Neg", WIDE),
    ("Reciprocal", POSITIVE),
    ("Relu", WIDE),
    ("Round", WIDE),
    ("Selu", WIDE),
    ("Sigmoid", WIDE),
    ("Sign", WIDE),
    ("Sin", ANGLES),
    ("Sinh", WIDE),
    ("Softplus", WIDE),
    ("Softsign", WIDE),
    ("Sqrt", POSITIVE),
    ("Swish", WIDE),
    ("Tan", SLOPES),
    ("Tanh", WIDE),
    ("ThresholdedRelu", WIDE),
];

/// Operators of two operands of one dtype.
const OF_TWO: &[&str] = &[
    "Add",
    "And",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mul",
    "Or",
    "PRelu",
    "Sub",
    "Sum",
    "Xor",
];

pub(super) fn write(sheet: &mut Sheet) {
    functions(sheet);
    parameters(sheet);
    integer_functions(sheet);
    broadcasts(sheet);
    of_two(sheet);
    integer_ends(sheet);
    remainders_powers_and_shifts(sheet);
    not_finite(sheet);
    float_remainders_and_powers(sheet);
    narrow(sheet);
    logic(sheet);
    choices(sheet);
}

fn functions(sheet: &mut Sheet) {
    for dtype in DTypes::FLOATS.iter() {
        for (operator, points) in FUNCTIONS {
            sheet.plain(operator, "where it bends", &[&row(dtype, points)]);
            sheet.plain(operator, "not finite", &[&row(dtype, NOT_FINITE)]);
        }
        for operator in ["Sigmoid", "Softplus", "HardSwish"] {
            sheet.plain(operator, "far out", &[&row(dtype, FAR_OUT)]);
        }
    }
}

fn parameters(sheet: &mut Sheet) {
    for dtype in DTypes::FLOATS.iter() {
        let x = wave(dtype, &[5, 20]);
        let rows = [
            ("LeakyRelu", none().float("alpha", 0.25)),
            ("Elu", none().float("alpha", 2.0)),
            ("Celu", none().float("alpha", 2.0)),
            ("Selu", none().float("alpha", 1.5).float("gamma", 2.0)),
            ("HardSigmoid", none().float("alpha", 0.2).float("beta", 0.5)),
            ("ThresholdedRelu", none().float("alpha", 1.0)),
            ("Shrink", none().float("bias", 0.5).float("lambd", 1.0)),
            ("Swish", none().float("alpha", 2.0)),
            ("Gelu", none().name("approximate", "tanh")),
        ];
        for (operator, attributes) in rows {
            sheet.with(operator, "with parameters", &attributes, &[&x]);
        }
        let x = row(dtype, NOT_FINITE);
        sheet.plain("IsNaN", "", &[&x]);
        for (positive, negative) in [(true, true), (true, false), (false, true)] {
            let attributes = none().flag("detect_positive", positive).flag("detect_negative", negative);
            sheet.with("IsInf", &format!("{positive} {negative}"), &attributes, &[&x]);
        }
    }
}

fn integer_functions(sheet: &mut Sheet) {
    for dtype in DTypes::INTS.iter() {
        let (low, high) = dtype.int_range().expect("an integer");
        let x = integer_row(dtype, &[low, -3, 0, high]);
        for operator in ["Abs", "Neg", "Sign", "Relu", "BitwiseNot"] {
            sheet.plain(operator, "ends", &[&x]);
        }
        sheet.plain("Shrink", "ends", &[&x]);
    }
}

fn broadcasts(sheet: &mut Sheet) {
    let shapes: &[(&str, &[i64], &[i64])] = &[
        ("scalars", &[], &[]),
        ("a scalar on the right", &[2, 3], &[]),
        ("more axes on the right", &[3], &[2, 3]),
        ("both ways", &[2, 1, 4], &[3, 1]),
        ("every other axis", &[2, 1, 2, 1, 2, 1], &[1, 3, 1, 2, 1, 3]),
        ("an empty axis", &[0, 3], &[1]),
        ("an empty axis on the right", &[2, 0], &[1, 1, 0]),
    ];
    for dtype in [DType::F32, DType::I32] {
        for (about, a, b) in shapes {
            sheet.plain("Sub", about, &[&wave(dtype, a), &wave(dtype, b)]);
        }
    }
}

fn of_two(sheet: &mut Sheet) {
    for dtype in DTypes::IR4.iter() {
        let (x, y) = (wave(dtype, &[2, 3]), row(dtype, &[1.0, 2.0, 3.0]));
        for operator in OF_TWO {
            sheet.plain(operator, "of rows", &[&x, &y]);
        }
        for operator in ["Sum", "Mean", "Min", "Max"] {
            sheet.plain(operator, "of three", &[&x, &y, &x]);
            sheet.plain(operator, "of one", &[&x]);
        }
        sheet.with("Mod", "of rows", &none().flag("fmod", dtype.is_float()), &[&x, &y]);
        let positive = row(dtype, &[1.5, 2.0, 3.0]);
        // What an integer is when it is raised to a float, nobody says.
        for exponent in
            [DType::F32, DType::I64, DType::U8].into_iter().filter(|e| dtype.is_float() || e.is_int())
        {
            sheet.plain("Pow", &format!("by {exponent}"), &[&positive, &row(exponent, &[3.0, 2.0, 1.0])]);
        }
    }
}

fn integer_ends(sheet: &mut Sheet) {
    for dtype in DTypes::INTS.iter() {
        let (low, high) = dtype.int_range().expect("an integer");
        let x = integer_row(dtype, &[low, high, high, 7, low + 5, high - 1, 100, 3]);
        let y = integer_row(dtype, &[high, high, 1, 3, 2, high, 100, 5]);
        for operator in OF_TWO {
            sheet.plain(operator, "at the ends", &[&x, &y]);
        }
        for fmod in [false, true] {
            sheet.with("Mod", &format!("at the ends {fmod}"), &none().flag("fmod", fmod), &[&x, &y]);
        }
    }
}

fn remainders_powers_and_shifts(sheet: &mut Sheet) {
    for dtype in DTypes::INTS.iter().filter(|d| d.is_signed()) {
        let x = integer_row(dtype, &[7, -7, 7, -7, 6, -6]);
        let y = integer_row(dtype, &[3, 3, -3, -3, -3, 3]);
        for fmod in [false, true] {
            sheet.with("Mod", &format!("of both signs {fmod}"), &none().flag("fmod", fmod), &[&x, &y]);
        }
        sheet.plain("Div", "of both signs", &[&x, &y]);
        let base = integer_row(dtype, &[2, -3, 0, -1, -1, 1, 2]);
        sheet.plain("Pow", "of both signs", &[&base, &integer_row(dtype, &[6, 3, 0, 7, -2, -9, -1])]);
    }
    for dtype in DTypes::INTS.iter().filter(|d| !d.is_signed()) {
        let bits = i128::from(dtype.bits());
        let x = integer_row(dtype, &[0x81, 0x81, 0x81, 1]);
        let y = integer_row(dtype, &[1, bits, 0, bits - 1]);
        for direction in ["LEFT", "RIGHT"] {
            sheet.with("BitShift", direction, &none().name("direction", direction), &[&x, &y]);
        }
    }
}

fn not_finite(sheet: &mut Sheet) {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let a = [nan, 1.0, nan, 0.0, -0.0, inf, 5.0, -5.0];
    let b = [1.0, nan, nan, -0.0, 0.0, inf, 7.0, 3.0];
    for dtype in DTypes::FLOATS.iter() {
        let (x, y) = (row(dtype, &a), row(dtype, &b));
        for operator in OF_TWO {
            sheet.plain(operator, "not finite", &[&x, &y]);
        }
        let x = row(dtype, &[-3.0, 0.5, nan, 9.0]);
        let [low, high] = [-1.0, 2.0].map(|v| tensor(dtype, &[], &[v]));
        sheet.plain("Clip", "not finite", &[&x, &low, &high]);
    }
}

fn float_remainders_and_powers(sheet: &mut Sheet) {
    let a = [1e10, 5.3, -5.3, 5.0, 1e30, -1e-3, 3e-40, 7.0, 2.0, -0.0, 1e38];
    let b = [3.0, 2.0, 2.0, f64::INFINITY, 0.7, 3e-7, 7e-45, -2.5, 0.0, 1.0, 1e-38];
    let inf = f64::INFINITY;
    let base = [2.0, -2.0, -2.0, 0.0, 0.0, -0.0, -8.0, 1.0, f64::NAN, 9.0, 0.5, inf, -inf, 10.0, 3.7];
    let exponent = [10.0, 3.0, 2.0, 0.0, -1.0, -3.0, 0.5, f64::NAN, 0.0, 0.5, inf, -1.0, 3.0, 60.0, 2.0];
    for dtype in DTypes::FLOATS.iter() {
        sheet.with("Mod", "far apart", &none().flag("fmod", true), &[&row(dtype, &a), &row(dtype, &b)]);
        sheet.plain("Pow", "of IEEE", &[&row(dtype, &base), &row(dtype, &exponent)]);
    }
}

/// Halfway between two numbers, beyond the largest and below the smallest.
fn narrow(sheet: &mut Sheet) {
    for dtype in DTypes::FLOATS.iter() {
        let format = dtype.float().expect("a float");
        let (a, b) = (wave(dtype, &[101]), row(dtype, &[1.1; 101]));
        let (most, tiny) = (format.max_finite(), format.ulp(0.0));
        let (c, d) = (row(dtype, &[most, most, 3.0 * tiny, tiny]), row(dtype, &[1.0, most, 0.5, 0.5]));
        for operator in ["Add", "Mul", "Div", "Sub"] {
            sheet.plain(operator, "rounded", &[&a, &b]);
            sheet.plain(operator, "at the ends", &[&c, &d]);
        }
    }
}

fn logic(sheet: &mut Sheet) {
    let a = integer_row(DType::Bool, &[0, 0, 1, 1]);
    let b = integer_row(DType::Bool, &[0, 1, 0, 1]);
    for operator in ["And", "Or", "Xor", "Equal"] {
        sheet.plain(operator, "table", &[&a, &b]);
    }
    sheet.plain("Not", "table", &[&a]);
}

fn choices(sheet: &mut Sheet) {
    let condition = integers(DType::Bool, &[2, 1], &[1, 0]);
    for dtype in DTypes::IR4.iter() {
        let (x, y) = (wave(dtype, &[2, 3]), row(dtype, &[1.0, 2.0, 3.0]));
        let one = tensor(dtype, &[], &[1.0]);
        sheet.plain("Where", &format!("of {dtype}"), &[&condition, &x, &y]);
        sheet.plain("Where", &format!("of {dtype}, a scalar"), &[&condition, &x, &one]);
        sheet.add("Clip", "without the least", &none(), &[Some(&x), None, Some(&one)]);
        sheet.add("Clip", "without the greatest", &none(), &[Some(&x), Some(&one)]);
        sheet.plain("CastLike", "nothing", &[&x, &tensor(DType::U16, &[0], &[])]);
        sheet.plain("PRelu", "a slope for all", &[&x, &one]);
        sheet.plain("Identity", "nothing", &[&ir::Tensor::zeros(&Type::new(dtype, [0, 2]))]);
    }
}
