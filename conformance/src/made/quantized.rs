//! Numbers as few integers: ties, ends of the integers, zero points at them, and scales of slices and blocks.

use ir::{Attributes, DType, Tensor};

use super::{Sheet, integers, none, row, tensor};

pub(super) fn write(sheet: &mut Sheet) {
    for of in [DType::F32, DType::F16, DType::BF16] {
        for to in [DType::I8, DType::U8, DType::I16, DType::U16] {
            quantize(sheet, of, to);
        }
    }
    for of in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32] {
        dequantize(sheet, of);
    }
    dynamic(sheet);
}

fn quantize(sheet: &mut Sheet, of: DType, to: DType) {
    let (low, high) = to.int_range().unwrap_or_default();
    let one = tensor(of, &[], &[1.0]);
    let ties = row(of, &[0.5, 1.5, 2.5, -0.5, -1.5, 0.25, 3.75, -2.25]);
    let ends = row(of, &[32768.0, -32768.0, 128.0, -128.0, 255.0, 256.0, -1.0, 0.0]);
    for (about, point) in [("from 0", 0), ("from the lowest", low), ("from the highest", high)] {
        let point = integers(to, &[], &[point]);
        sheet.plain("QuantizeLinear", &format!("ties {about} {to}"), &[&ties, &one, &point]);
        sheet.plain("QuantizeLinear", &format!("ends {about} {to}"), &[&ends, &one, &point]);
    }
    let x = tensor(of, &[2, 3], &[6.0, 12.0, 18.0, -6.0, -12.0, -18.0]);
    let points = integers(to, &[3], &[1, 2, 3]);
    let scales = row(of, &[1.0, 2.0, 4.0]);
    sheet.with(
        "QuantizeLinear",
        &format!("of columns {to}"),
        &none().int("axis", -1),
        &[&x, &scales, &points],
    );
    let blocks = none().int("axis", 1).int("block_size", 2);
    let (scales, points) = (tensor(of, &[2, 2], &[1.0, 2.0, 4.0, 0.5]), integers(to, &[2, 2], &[1, 2, 3, 4]));
    sheet.with("QuantizeLinear", &format!("of blocks {to}"), &blocks, &[&x, &scales, &points]);
}

fn dequantize(sheet: &mut Sheet, of: DType) {
    let (low, high) = of.int_range().unwrap_or_default();
    let ends = integers(of, &[2, 2], &[low, high, 0, 1]);
    let has_point = of != DType::I32;
    let add = |sheet: &mut Sheet,
               about: &str,
               attributes: &Attributes,
               x: &Tensor,
               scale: &Tensor,
               point: &Tensor| {
        let operands = [x, scale, point];
        let count = if has_point { 3 } else { 2 };
        sheet.with("DequantizeLinear", about, attributes, &operands[..count]);
    };
    for scale in [DType::F32, DType::F16, DType::BF16] {
        let half = tensor(scale, &[], &[0.5]);
        add(sheet, &format!("ends to {scale}"), &none(), &ends, &half, &integers(of, &[], &[high]));
        let (scales, points) = (row(scale, &[0.5, 2.0]), integers(of, &[2], &[3, low]));
        add(sheet, &format!("of rows to {scale}"), &none().int("axis", 0), &ends, &scales, &points);
    }
}

fn dynamic(sheet: &mut Sheet) {
    for (about, x) in [
        ("about 0", [-51.0, 0.0, 204.0, 3.0]),
        ("above 0", [127.5, 510.0, 2.5, 7.0]),
        ("below 0", [-510.0, -2.0, -100.0, -4.5]),
    ] {
        sheet.plain("DynamicQuantizeLinear", about, &[&row(DType::F32, &x)]);
    }
}
