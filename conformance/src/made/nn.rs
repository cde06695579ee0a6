//! Windows and normalisations: padding of every kind, groups, dilations, windows that reach past the end.

use ir::{Attributes, DType, DTypes, Tensor};

use super::{Sheet, integers, none, tensor, wave};

pub(super) fn write(sheet: &mut Sheet) {
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        convolutions(sheet, dtype);
        transposed_convolutions(sheet, dtype);
        let x = wave(dtype, &[2, 4, 5, 6]);
        padded_convolutions(sheet, &x);
        pools(sheet, &x);
        normalizations(sheet, &x);
    }
    overhanging_pools(sheet);
    deep_pools(sheet);
}

fn convolutions(sheet: &mut Sheet, dtype: DType) {
    let rows: &[(&str, &[i64], &[i64], Attributes)] = &[
        ("of one axis", &[2, 3, 7], &[4, 3, 3], none().ints("pads", &[1, 1])),
        (
            "grouped and dilated",
            &[1, 4, 5, 6],
            &[6, 2, 3, 2],
            none()
                .int("group", 2)
                .ints("strides", &[2, 1])
                .ints("dilations", &[1, 2])
                .ints("pads", &[1, 0, 2, 1]),
        ),
        ("of each channel", &[2, 2, 4, 4], &[2, 1, 2, 2], none().int("group", 2)),
        (
            "of three axes",
            &[1, 2, 3, 4, 5],
            &[3, 2, 2, 2, 3],
            none().ints("strides", &[1, 2, 1]).ints("pads", &[0, 1, 1, 1, 0, 0]),
        ),
    ];
    for (about, x, w, attributes) in rows {
        let (x, w, b) = (wave(dtype, x), wave(dtype, w), wave(dtype, &w[..1]));
        sheet.with("Conv", about, attributes, &[&x, &w, &b]);
        sheet.with("Conv", &format!("{about} without bias"), attributes, &[&x, &w]);
    }
}

fn padded_convolutions(sheet: &mut Sheet, x: &Tensor) {
    let (w, b) = (wave(x.dtype(), &[6, 2, 3, 2]), wave(x.dtype(), &[6]));
    for padding in ["SAME_UPPER", "SAME_LOWER", "VALID"] {
        let attributes = none().name("auto_pad", padding).ints("strides", &[2, 1]).int("group", 2);
        let attributes = attributes.ints("kernel_shape", &[3, 2]);
        sheet.with("Conv", padding, &attributes, &[x, &w, &b]);
    }
    let attributes = none().ints("pads", &[4, 0, 0, 3]).int("group", 2);
    sheet.with("Conv", "padded beyond the kernel", &attributes, &[x, &w]);
}

/// Sizes that are stated or follow, an odd cell to cut, and gaps that nothing reaches.
fn transposed_convolutions(sheet: &mut Sheet, dtype: DType) {
    let (x, w, b) = (wave(dtype, &[2, 4, 3, 4]), wave(dtype, &[4, 3, 2, 3]), wave(dtype, &[6]));
    let grouped = || none().int("group", 2).ints("strides", &[3, 2]);
    let rows = [
        ("in groups", grouped()),
        ("padded", grouped().ints("pads", &[1, 0, 0, 2]).ints("dilations", &[2, 1])),
        ("with more at the end", grouped().ints("output_padding", &[2, 1]).ints("pads", &[0, 1, 1, 0])),
        ("of a stated size", grouped().ints("output_shape", &[7, 6])),
        ("VALID", grouped().name("auto_pad", "VALID")),
    ];
    for (about, attributes) in rows {
        sheet.with("ConvTranspose", about, &attributes, &[&x, &w, &b]);
        sheet.with("ConvTranspose", &format!("{about} without bias"), &attributes, &[&x, &w]);
    }
    let (line, w) = (wave(dtype, &[1, 1, 5]), wave(dtype, &[1, 1, 4]));
    for padding in ["SAME_UPPER", "SAME_LOWER"] {
        for stride in [1, 2, 3] {
            let attributes = none().name("auto_pad", padding).ints("strides", &[stride]);
            sheet.with("ConvTranspose", &format!("{padding} {stride}"), &attributes, &[&line, &w]);
        }
    }
}

fn pools(sheet: &mut Sheet, x: &Tensor) {
    let window = none().ints("kernel_shape", &[3, 2]).ints("strides", &[2, 2]).ints("pads", &[1, 0, 1, 1]);
    for ceil in [false, true] {
        let window = window.clone().flag("ceil_mode", ceil);
        for flag in [false, true] {
            let about = format!("{ceil} {flag}");
            let average = window.clone().flag("count_include_pad", flag);
            sheet.with("AveragePool", &format!("padded {about}"), &average, &[x]);
            let largest = window.clone().flag("storage_order", flag).int("outputs", 2);
            sheet.with("MaxPool", &format!("padded {about}"), &largest, &[x]);
        }
    }
    let dilated = none().ints("kernel_shape", &[3, 2]).ints("dilations", &[1, 2]).ints("pads", &[1, 0, 1, 1]);
    for operator in ["AveragePool", "MaxPool", "LpPool"] {
        sheet.with(operator, "dilated", &dilated, &[x]);
    }
    for operator in ["GlobalAveragePool", "GlobalMaxPool"] {
        sheet.plain(operator, "", &[x]);
    }
    for p in 1..=3 {
        sheet.with("GlobalLpPool", &format!("norm {p}"), &none().int("p", p), &[x]);
    }
}

/// Rounding the size up makes a last window that reaches past the padding: it is divided by what it covers.
fn overhanging_pools(sheet: &mut Sheet) {
    let window =
        none().ints("kernel_shape", &[3]).ints("strides", &[3]).ints("pads", &[0, 1]).flag("ceil_mode", true);
    for dtype in [DType::F32, DType::F16, DType::F64] {
        let x = tensor(dtype, &[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]);
        for include in [false, true] {
            let attributes = window.clone().flag("count_include_pad", include);
            sheet.with("AveragePool", &format!("overhanging {include}"), &attributes, &[&x]);
        }
    }
    for dtype in DTypes::IR4.iter() {
        let x = integers(dtype, &[1, 1, 4], &[-5, -3, -9, -8]);
        sheet.with("MaxPool", "overhanging", &window, &[&x]);
    }
}

fn deep_pools(sheet: &mut Sheet) {
    let x = wave(DType::F32, &[1, 2, 3, 4, 3]);
    let window = none().ints("kernel_shape", &[2, 2, 2]).ints("strides", &[1, 2, 1]);
    for operator in ["AveragePool", "MaxPool", "LpPool"] {
        sheet.with(operator, "of three axes", &window, &[&x]);
    }
}

fn normalizations(sheet: &mut Sheet, x: &Tensor) {
    let dtype = x.dtype();
    let channel = |v: f64| tensor(dtype, &[4], &[v, v + 0.5, v + 1.0, v + 0.25]);
    let [scale, bias, mean, variance] = [1.0, -0.5, 0.1, 0.9].map(channel);
    sheet.plain("BatchNormalization", "", &[x, &scale, &bias, &mean, &variance]);
    sheet.plain("InstanceNormalization", "", &[x, &scale, &bias]);
    sheet.with("GroupNormalization", "", &none().int("num_groups", 2), &[x, &scale, &bias]);
    let (scale, bias) = (wave(dtype, &[5, 6]), wave(dtype, &[6]));
    let layer = none().int("axis", 2).float("epsilon", 1e-3);
    sheet.with("LayerNormalization", "of two axes", &layer, &[x, &scale, &bias]);
    let all = layer.clone().int("outputs", 3);
    sheet.with("LayerNormalization", "with its mean", &all, &[x, &scale, &bias]);
    sheet.with("RMSNormalization", "of two axes", &layer, &[x, &scale]);
    for p in [1, 2] {
        sheet.with("LpNormalization", &format!("{p}"), &none().int("axis", 1).int("p", p), &[x]);
    }
    sheet.with("MeanVarianceNormalization", "", &none().ints("axes", &[0, 2, 3]), &[x]);
    sheet.with("MeanVarianceNormalization", "of all axes", &none().ints("axes", &[]), &[x]);
    sheet.with("LRN", "", &none().int("size", 3).float("alpha", 0.3), &[x]);
}
