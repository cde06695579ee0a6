//! Products of matrices: ranks that broadcast, vectors on either side, inner dimensions of nothing and of much; equations of
//! every kind. Determinants of matrices that need a pivot, and of those that have none.

use ir::{DType, Tensor};

use super::{Sheet, integers, none, tensor, wave};

const DTYPES: [DType; 8] =
    [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::U32, DType::I64, DType::U64];

pub(super) fn write(sheet: &mut Sheet) {
    matmul(sheet);
    gemm(sheet);
    einsum(sheet);
    determinants(sheet);
}

fn matmul(sheet: &mut Sheet) {
    let shapes: &[(&str, &[i64], &[i64])] = &[
        ("vectors", &[3], &[3]),
        ("a vector on the left", &[3], &[3, 2]),
        ("a vector on the right", &[4, 3], &[3]),
        ("matrices", &[4, 3], &[3, 2]),
        ("a batch on the left", &[2, 4, 3], &[3, 2]),
        ("a vector and a batch", &[3], &[2, 3, 2]),
        ("batches that broadcast", &[2, 1, 4, 3], &[5, 3, 2]),
        ("nothing to sum", &[4, 0], &[0, 2]),
        ("no rows", &[0, 3], &[3, 2]),
    ];
    for dtype in DTYPES {
        for (about, a, b) in shapes {
            sheet.plain("MatMul", about, &[&wave(dtype, a), &wave(dtype, b)]);
        }
        // Longer than a tile, and than a loop of a shader is let run at once.
        let long = tensor(dtype, &[5000], &vec![1.0; 5000]);
        sheet.plain("MatMul", "long vectors", &[&long, &long]);
    }
}

fn gemm(sheet: &mut Sheet) {
    for dtype in DTYPES {
        for (trans_a, trans_b) in [(false, false), (true, false), (false, true), (true, true)] {
            let a = wave(dtype, if trans_a { &[3, 2] } else { &[2, 3] });
            let b = wave(dtype, if trans_b { &[4, 3] } else { &[3, 4] });
            let attributes = none().flag("transA", trans_a).flag("transB", trans_b);
            let about = format!("{trans_a} {trans_b}");
            sheet.with("Gemm", &format!("transposed {about}"), &attributes, &[&a, &b]);
            // How a fractional factor rounds integers nobody says.
            let alpha = if dtype.is_float() { 0.5 } else { 3.0 };
            let scaled = attributes.float("alpha", alpha).float("beta", 2.0);
            let column = tensor(dtype, &[2, 1], &[1.0, 3.0]);
            sheet.with("Gemm", &format!("scaled {about}"), &scaled, &[&a, &b, &column]);
        }
        let (a, b) = (integers(dtype, &[1, 2], &[3, 4]), integers(dtype, &[2, 1], &[5, 6]));
        let attributes = none().float("alpha", 2.0).float("beta", -1.0);
        sheet.with("Gemm", "a scalar to add", &attributes, &[&a, &b, &integers(dtype, &[], &[7])]);
    }
}

fn einsum(sheet: &mut Sheet) {
    for dtype in DTYPES {
        let (x, y, v) = (wave(dtype, &[3, 4]), wave(dtype, &[4, 2]), wave(dtype, &[4]));
        let square = wave(dtype, &[2, 3, 3]);
        let mut add = |equation: &str, operands: &[&Tensor]| {
            sheet.with("Einsum", equation, &none().name("equation", equation), operands);
        };
        add("ij->ji", &[&x]);
        add("ij,jk->ik", &[&x, &y]);
        add("ij,jk", &[&x, &y]);
        add("ij,j,jk->k", &[&x, &v, &y]);
        add("aii->ai", &[&square]);
        add("...ii->...", &[&square]);
        add("...j,j->j...", &[&x, &v]);
        add(" i j -> ", &[&x]);
    }
}

fn determinants(sheet: &mut Sheet) {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        sheet.plain("Det", "a stack", &[&wave(dtype, &[2, 3, 4, 4])]);
        sheet.plain("Det", "rows that change places", &[&integers(dtype, &[2, 2], &[0, 2, 3, 0])]);
        sheet.plain("Det", "singular", &[&integers(dtype, &[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9])]);
        sheet.plain("Det", "a column of zeros", &[&integers(dtype, &[2, 2], &[0, 1, 0, 2])]);
        sheet.plain("Det", "no rows", &[&wave(dtype, &[2, 0, 0])]);
    }
}
