//! Reductions: of any axes, of nothing, of integers at their ends; ties, and NaN among numbers.

use ir::{DType, DTypes};
use ops::reduction::REDUCTIONS;

use super::{Sheet, count, integers, near_one, none, row, tensor, wave};

/// The reductions that are defined at the ends of integers.
const OF_INTEGERS: &[&str] =
    &["ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"];

/// The reductions whose results are truncated on integers of 32 and 64 bits. ReduceLogSum is not among them:
/// nobody says what it gives there.
const TRUNCATED: &[&str] = &["ReduceL2", "ReduceLogSumExp"];

pub(super) fn write(sheet: &mut Sheet) {
    of_axes(sheet);
    of_integers(sheet);
    truncated(sheet);
    of_nothing(sheet);
    with_nan(sheet);
    positions(sheet);
    along(sheet);
}

fn of_axes(sheet: &mut Sheet) {
    let lists: &[&[i64]] = &[&[], &[0], &[1], &[3], &[1, 2], &[0, -1], &[0, 2], &[0, 1, 2, 3]];
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        let (positive, signed) = (near_one(dtype, &[3, 2, 4, 5]), wave(dtype, &[3, 2, 4, 5]));
        for operator in REDUCTIONS {
            for (number, axes) in lists.iter().enumerate() {
                let attributes = none().ints("axes", axes).flag("keepdims", number % 2 == 0);
                sheet.with(operator, &format!("over {axes:?}"), &attributes, &[&positive]);
            }
            if *operator != "ReduceLogSum" {
                sheet.with(operator, "of both signs", &none().ints("axes", &[1, 2]), &[&signed]);
            }
            let kept = none().ints("axes", &[]).flag("noop_with_empty_axes", true);
            sheet.with(operator, "of no axes", &kept, &[&positive]);
        }
    }
}

fn of_integers(sheet: &mut Sheet) {
    for dtype in DTypes::INTS.iter() {
        let (low, high) = dtype.int_range().expect("an integer");
        let x = integers(dtype, &[2, 3], &[high, 5, 4, low, 1, 2]);
        let attributes = none().ints("axes", &[1]).flag("keepdims", false);
        for operator in OF_INTEGERS {
            sheet.with(operator, "at the ends", &attributes, &[&x]);
        }
    }
}

fn truncated(sheet: &mut Sheet) {
    let attributes = none().ints("axes", &[1]).flag("keepdims", false);
    for dtype in [DType::I32, DType::I64, DType::U32, DType::U64] {
        // √155 and √19; 9.15 and 3.24, where truncated exponentials would give 2.
        let x = integers(dtype, &[2, 6], &[5, 7, 9, 0, 0, 0, 2, 2, 1, 1, 1, 1]);
        for operator in TRUNCATED {
            sheet.with(operator, "of small integers", &attributes, &[&x]);
        }
        let x = integers(dtype, &[2, 3], &[3, 4, 12, 0, 0, 0]);
        sheet.with("ReduceL2", "of squares", &attributes, &[&x]);
        if dtype.is_signed() {
            // ln(e⁻² + e⁻³) = -1.69, and ln(2e⁻¹) = -0.31.
            let x = integers(dtype, &[2, 2], &[-2, -3, -1, -1]);
            sheet.with("ReduceLogSumExp", "of negative integers", &attributes, &[&x]);
        }
    }
}

fn of_nothing(sheet: &mut Sheet) {
    for dtype in [DType::F32, DType::F16, DType::F64, DType::I32, DType::I64] {
        let x = count(dtype, &[2, 0]);
        for operator in if dtype.is_float() { REDUCTIONS } else { OF_INTEGERS } {
            // The bounds leave the root of a sum of nothing open, and a mean of nothing is undefined.
            for axis in if ["ReduceL2", "ReduceMean"].contains(operator) { 0..=0 } else { 0..=1 } {
                let attributes = none().ints("axes", &[axis]).flag("keepdims", false);
                sheet.with(operator, &format!("of nothing over {axis}"), &attributes, &[&x]);
            }
        }
    }
}

fn with_nan(sheet: &mut Sheet) {
    for dtype in DTypes::FLOATS.iter() {
        let x = row(dtype, &[1.0, f64::NAN, 2.0]);
        for operator in REDUCTIONS.iter().chain(&["ArgMax", "ArgMin"]) {
            sheet.plain(operator, "of NaN", &[&x]);
        }
    }
}

fn positions(sheet: &mut Sheet) {
    for dtype in DTypes::IR4.iter() {
        let x = tensor(dtype, &[2, 3], &[3.0, 5.0, 5.0, 4.0, 2.0, 2.0]);
        for operator in ["ArgMax", "ArgMin"] {
            for (axis, last) in [(0, false), (1, false), (1, true)] {
                let attributes = none().int("axis", axis).flag("select_last_index", last);
                sheet.with(operator, &format!("along {axis} {last}"), &attributes, &[&x]);
            }
        }
        for largest in [true, false] {
            let attributes = none().int("k", 2).int("axis", -1).flag("largest", largest);
            let about = if largest { "largest" } else { "smallest" };
            sheet.with("TopK", about, &attributes, &[&wave(dtype, &[3, 2, 4])]);
        }
    }
}

/// What goes along one axis.
fn along(sheet: &mut Sheet) {
    for dtype in DTypes::IR4.iter() {
        let x = wave(dtype, &[3, 2, 4]);
        for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let attributes = none().int("axis", 1).flag("exclusive", exclusive).flag("reverse", reverse);
            for operator in ["CumSum", "CumProd"] {
                sheet.with(operator, &format!("{exclusive} {reverse}"), &attributes, &[&x]);
            }
        }
        for operator in ["Softmax", "LogSoftmax", "Hardmax"] {
            for axis in 0..3 {
                sheet.with(operator, &format!("along {axis}"), &none().int("axis", axis), &[&x]);
            }
            let large = tensor(dtype, &[1, 2], &[1000.0, 1000.0]);
            sheet.with(operator, "of large numbers", &none().int("axis", 1), &[&large]);
        }
    }
}
