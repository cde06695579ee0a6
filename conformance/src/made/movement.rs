//! Elements moved, picked, repeated and padded: negative axes, steps and indices, and axes of size 0.

use ir::{DType, DTypes, Tensor};

use super::{Sheet, count, integer_row, integers, none, row, tensor};

pub(super) fn write(sheet: &mut Sheet) {
    for dtype in DTypes::IR4.iter() {
        let x = count(dtype, &[2, 3, 4]);
        orders(sheet, &x);
        slices(sheet, dtype);
        joins(sheet, dtype);
        pads(sheet, dtype, &x);
        picks(sheet, dtype, &x);
        scatters(sheet, dtype);
        blocks(sheet, dtype);
        masks(sheet, dtype, &x);
    }
    one_hot(sheet);
}

fn orders(sheet: &mut Sheet, x: &Tensor) {
    let dtype = x.dtype();
    sheet.plain("Transpose", "reversed", &[x]);
    sheet.with("Transpose", "turned", &none().ints("perm", &[1, 2, 0]), &[x]);
    let deep = count(dtype, &[2, 1, 3, 2, 1, 2]);
    sheet.with("Transpose", "of six axes", &none().ints("perm", &[5, 3, 1, 0, 2, 4]), &[&deep]);
    sheet.with("Reshape", "a copied and an inferred size", &none().ints("shape", &[0, -1]), &[x]);
    sheet.with("Flatten", "", &none().int("axis", 2), &[x]);
    sheet.with("Unsqueeze", "", &none().ints("axes", &[0, -1]), &[x]);
    sheet.plain("Squeeze", "all", &[&deep]);
    sheet.with("Squeeze", "one", &none().ints("axes", &[-2]), &[&deep]);
    sheet.with("Expand", "both ways", &none().ints("shape", &[2, 2, 1, 1]), &[x]);
    sheet.with("Expand", "inside", &none().ints("shape", &[3, 1, 2]), &[&count(dtype, &[2, 1])]);
    sheet.with("Tile", "", &none().ints("repeats", &[2, 1, 3]), &[x]);
    sheet.with("Shape", "", &none().int("start", -2), &[x]);
    sheet.plain("Size", "", &[x]);
}

fn slices(sheet: &mut Sheet, dtype: DType) {
    let x = count(dtype, &[4, 5]);
    let slice = |starts: &[i64], ends: &[i64], steps: &[i64]| {
        none().ints("starts", starts).ints("ends", ends).ints("axes", &[0, 1]).ints("steps", steps)
    };
    sheet.with("Slice", "with steps", &slice(&[3, 1], &[-100, 5], &[-2, 2]), &[&x]);
    sheet.with("Slice", "beyond the ends", &slice(&[-1, 0], &[-100, 100], &[-2, 2]), &[&x]);
    sheet.with("Slice", "of nothing", &slice(&[4, 0], &[4, 5], &[1, 1]), &[&x]);
    let one = none().ints("starts", &[1]).ints("ends", &[4]);
    sheet.with("Slice", "of the first axis", &one, &[&x]);
    let split = none().int("axis", -1).ints("split", &[1, 0, 4]);
    sheet.with("Split", "with an empty part", &split, &[&x]);
}

fn joins(sheet: &mut Sheet, dtype: DType) {
    let (a, b, nothing) = (count(dtype, &[2, 1]), count(dtype, &[2, 2]), count(dtype, &[2, 0]));
    sheet.with("Concat", "with nothing", &none().int("axis", 1), &[&a, &nothing, &b, &a]);
    sheet.with("Concat", "from the end", &none().int("axis", -2), &[&b, &b]);
    sheet.with("Concat", "of one", &none().int("axis", 0), &[&b]);
}

fn pads(sheet: &mut Sheet, dtype: DType, x: &Tensor) {
    let pads = |mode: &str, pads: &[i64]| none().name("mode", mode).ints("pads", pads);
    let (three, nine) = (count(dtype, &[3]), tensor(dtype, &[], &[9.0]));
    for mode in ["constant", "reflect", "edge", "wrap"] {
        sheet.with("Pad", &format!("{mode} and crop"), &pads(mode, &[1, -1, 2, 0, 2, -1]), &[x]);
        sheet.with("Pad", &format!("{mode} as far as it goes"), &pads(mode, &[2, 2]), &[&three]);
        let deep = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0];
        sheet.with(
            "Pad",
            &format!("{mode} of five axes"),
            &pads(mode, &deep),
            &[&count(dtype, &[2, 1, 2, 1, 2])],
        );
    }
    sheet.with("Pad", "wrap around", &pads("wrap", &[4, 4]), &[&three]);
    sheet.with("Pad", "with a value", &pads("constant", &[2, 1]), &[&three, &nine]);
    sheet.with("Pad", "and crop with a value", &pads("constant", &[-1, 2]), &[&three, &nine]);
    sheet.with("Pad", "crop", &pads("edge", &[-1, -1]), &[&three]);
    sheet.with("Pad", "nothing", &pads("constant", &[1, 1]), &[&count(dtype, &[0]), &nine]);
    sheet.with("Pad", "two axes", &pads("constant", &[1, 0, 0, 1]), &[&count(dtype, &[2, 2])]);
}

fn picks(sheet: &mut Sheet, dtype: DType, x: &Tensor) {
    for of in [DType::I32, DType::I64] {
        let indices = integers(of, &[2, 2], &[0, -1, 1, -3]);
        sheet.with("Gather", &format!("by {of}"), &none().int("axis", 1), &[x, &indices]);
        let scalar = integers(of, &[], &[-1]);
        sheet.with("Gather", &format!("by a scalar {of}"), &none().int("axis", 0), &[x, &scalar]);
        let rows = integers(of, &[1, 3], &[1, 0, -1]);
        let matrix = count(dtype, &[2, 3]);
        sheet.with("GatherElements", &format!("fewer, by {of}"), &none().int("axis", 0), &[&matrix, &rows]);
        let elements = integers(of, &[2, 2, 4], &[-1, 1, 0, 2, 1, 1, 1, 1, 0, -2, -1, 2, 0, 0, 2, -3]);
        sheet.with("GatherElements", &format!("by {of}"), &none().int("axis", 1), &[x, &elements]);
    }
    let lists = integers(DType::I64, &[2, 2, 1], &[0, -1, 1, -2]);
    sheet.with("GatherND", "of slices", &none(), &[x, &lists]);
    sheet.with("GatherND", "in a batch", &none().int("batch_dims", 1), &[x, &lists]);
    let places = integers(DType::I64, &[2, 3], &[1, -1, 0, -2, 0, -1]);
    sheet.with("GatherND", "of elements", &none(), &[x, &places]);
    let condition = integers(DType::Bool, &[3], &[1, 0, 1]);
    sheet.with("Compress", "along an axis", &none().int("axis", -2).int("count", 2), &[x, &condition]);
    sheet.with("Compress", "of elements", &none().int("count", 2), &[x, &condition]);
    let reversed = |batch: i64| none().int("batch_axis", batch).int("time_axis", 1 - batch);
    let lengths = integer_row(DType::I64, &[2, 3]);
    sheet.with("ReverseSequence", "along the second axis", &reversed(0), &[x, &lengths]);
    let lengths = integer_row(DType::I64, &[0, 1, 2]);
    sheet.with("ReverseSequence", "along the first axis", &reversed(1), &[x, &lengths]);
}

/// Updates that meet at an element, and all of the ways to combine them.
fn scatters(sheet: &mut Sheet, dtype: DType) {
    let (x, updates) = (count(dtype, &[3, 2]), count(dtype, &[2, 2]));
    let apart = integers(DType::I64, &[2, 2], &[-1, 0, 1, 1]);
    let together = integers(DType::I32, &[2, 2], &[-1, 0, 2, 1]);
    let (rows, places) = (integers(DType::I64, &[2, 1], &[2, -3]), integers(DType::I64, &[2, 1], &[1, -2]));
    let list = none().name("reduction", "none");
    sheet.with("ScatterElements", "apart", &list, &[&x, &apart, &updates]);
    sheet.with("ScatterND", "apart", &list, &[&x, &rows, &updates]);
    // What sums of truth values are, the text does not say.
    let reductions = if dtype == DType::Bool { &[][..] } else { &["add", "mul", "max", "min"] };
    for reduction in reductions {
        let attributes = none().name("reduction", reduction);
        let (of_elements, of_slices) = (&[&x, &together, &updates], &[&x, &places, &updates]);
        sheet.with("ScatterElements", &format!("{reduction} together"), &attributes, of_elements);
        sheet.with("ScatterND", &format!("{reduction} together"), &attributes, of_slices);
    }
}

fn blocks(sheet: &mut Sheet, dtype: DType) {
    let deep = count(dtype, &[1, 8, 2, 3]);
    for mode in ["DCR", "CRD"] {
        sheet.with("DepthToSpace", mode, &none().int("blocksize", 2).name("mode", mode), &[&deep]);
    }
    sheet.with("SpaceToDepth", "", &none().int("blocksize", 2), &[&count(dtype, &[1, 2, 4, 6])]);
}

fn masks(sheet: &mut Sheet, dtype: DType, x: &Tensor) {
    sheet.with("EyeLike", "below", &none().int("k", -1), &[&count(dtype, &[3, 2])]);
    for (upper, k) in [(true, 0), (false, 1), (true, -2), (false, 9)] {
        let about = format!("{} {k}", if upper { "upper" } else { "lower" });
        sheet.with("Trilu", &about, &none().flag("upper", upper).int("k", k), &[x]);
    }
}

fn one_hot(sheet: &mut Sheet) {
    let values = row(DType::F32, &[-1.0, 5.0]);
    for dtype in DTypes::IR4.iter() {
        let of_dtype = row(dtype, &[0.0, 5.0]);
        let about = format!("of {dtype} by");
        let indices = integer_row(DType::I32, &[0, 2, -1]);
        sheet.with("OneHot", &about, &none().int("depth", 3), &[&indices, &of_dtype]);
        let indices = row(dtype, &[0.0, -1.0, 3.0, -4.0]);
        for axis in [0, -1] {
            let attributes = none().int("depth", 3).int("axis", axis);
            sheet.with("OneHot", &format!("along {axis}"), &attributes, &[&indices, &values]);
        }
        if let Some((low, high)) = dtype.int_range() {
            let indices = integer_row(dtype, &[high, low, high - 1]);
            sheet.with("OneHot", "the largest index", &none().int("depth", 3), &[&indices, &values]);
        }
    }
}
