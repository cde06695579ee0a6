//! Casts at the ends of what the dtypes hold, and halfway between two of their numbers.

use ir::{DType, DTypes};

use super::{Sheet, integer_row, none, row};

const INTEGERS: &[i128] = &[
    0,
    1,
    -1,
    127,
    128,
    255,
    -129,
    40_000,
    -40_000,
    (1 << 24) + 1,
    (1 << 24) + 3,
    (1 << 31) - 1,
    (1 << 25) + (1 << 17) + 1,
    (1 << 40) + (1 << 16) + 1,
    (1 << 40) + (1 << 32),
    (1 << 40) + (1 << 32) + 1,
    i64::MAX as i128,
    i64::MIN as i128,
    u64::MAX as i128,
    2049,
    65_519,
    65_520,
];

const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    0.4,
    -0.6,
    1.5,
    -1.5,
    100.7,
    -128.9,
    255.9,
    300.0,
    -300.0,
    70_000.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_040.0,
    4_294_967_296.0,
    9.3e18,
    -9.3e18,
    1.9e19,
    1e30,
    -1e30,
    1.000_976_562_5,
    1.000_488_281_25,
    65_504.0,
    65_519.0,
    65_520.0,
    6e-8,
    2.9e-8,
    3e-8,
    1.003_906_25,
    1.011_718_75,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

pub(super) fn write(sheet: &mut Sheet) {
    for to in DTypes::IR4.iter() {
        let (attributes, about) = (none().dtype("to", to), format!("to {to} from"));
        for from in DTypes::INTS.iter() {
            sheet.with("Cast", &about, &attributes, &[&integer_row(from, INTEGERS)]);
        }
        for from in DTypes::FLOATS.iter() {
            sheet.with("Cast", &about, &attributes, &[&row(from, FLOATS)]);
        }
        sheet.with("Cast", &about, &attributes, &[&integer_row(DType::Bool, &[0, 1])]);
    }
    twice_rounded(sheet);
}

/// Halfway between two numbers of the target once rounded to f32, but not before.
fn twice_rounded(sheet: &mut Sheet) {
    let of_f16 = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    let of_bf16 = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    let x = row(DType::F64, &[of_f16, -of_f16, of_bf16, -of_bf16]);
    for to in [DType::F16, DType::BF16, DType::F32] {
        sheet.with("Cast", &format!("to {to}, not by way of f32, from"), &none().dtype("to", to), &[&x]);
    }
}
