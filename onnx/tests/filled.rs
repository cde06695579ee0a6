//! ConstantOfShape and Range are written out for the numbers at hand.

use std::collections::BTreeMap;

use ir::{DType, Datum, NodeKind, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// A program that takes a shape or a limit `n` of int64, and `x` of float.
fn read(inputs: &str, nodes: &str, known: &[(&str, Tensor)]) -> Result<Imported, Error> {
    read_in(21, inputs, nodes, known)
}

fn read_in(opset: u32, inputs: &str, nodes: &str, known: &[(&str, Tensor)]) -> Result<Imported, Error> {
    let text =
        format!("<ir_version: 10, opset_import: [\"\" : {opset}]>\nm ({inputs}) => (y) {{ {nodes} }}\n");
    let known: BTreeMap<String, Datum> =
        known.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone().into())).collect();
    specialise(&Program::from_text(&text)?, &Options { known_inputs: &known, ..Options::default() })
}

fn result(imported: &Imported, inputs: &[Tensor]) -> Tensor {
    interp::evaluate_plain(&imported.model, inputs).expect("values").remove(0)
}

fn ints(shape: &[i64], numbers: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, shape), |i| numbers[i])
}

#[test]
fn a_shape_that_is_an_input_is_filled_and_given() {
    let filled = "y = ConstantOfShape<value = int32[1] {7}>(n)";
    let n = ints(&[2], &[2, 3]);
    let imported = read("int64[2] n", filled, &[("n", n.clone())]).expect("a model");
    assert_eq!(imported.specialised, ["n"]);
    let node = imported.model.graph.outputs[0].value.node;
    assert_eq!(imported.model.graph.node(node).given.len(), 1);
    let y = result(&imported, &[n]);
    assert_eq!((y.ty(), y.to_i128s()), (Type::new(DType::I32, [2, 3]), vec![7; 6]));
}

#[test]
fn without_a_value_it_is_zeros_and_without_axes_one() {
    let imported = read(
        "float[0] x",
        "n = Shape(x) e = Shape<start = 1>(x) z = ConstantOfShape(n) s = ConstantOfShape(e) y = Concat<axis = 0>(z, z)",
        &[],
    );
    let y = result(&imported.expect("a model"), &[Tensor::zeros(&Type::new(DType::F32, [0]))]);
    assert_eq!(y.ty(), Type::new(DType::F32, [0]));
}

#[test]
fn a_range_ends_before_its_limit_in_either_direction() {
    for (start, limit, step, wanted) in [
        (0, 5, 2, &[0, 2, 4][..]),
        (0, 6, 2, &[0, 2, 4]),
        (5, 0, -2, &[5, 3, 1]),
        (3, 3, 1, &[]),
        (3, 2, 1, &[]),
    ] {
        let number = |number| ints(&[], &[number]);
        let known = [("a", number(start)), ("b", number(limit)), ("c", number(step))];
        let imported =
            read("int64[] a, int64[] b, int64[] c".replace("[]", "").as_str(), "y = Range(a, b, c)", &known);
        let inputs: Vec<Tensor> = known.into_iter().map(|(_, tensor)| tensor).collect();
        assert_eq!(result(&imported.expect("a model"), &inputs).to_i128s(), wanted, "{start} {limit} {step}");
    }
}

#[test]
fn a_range_of_floats_is_a_constant_where_nothing_is_rounded() {
    let imported = range("float", [0.5, 2.0, 0.5]).expect("a model");
    assert!(imported.model.graph.nodes.iter().all(|node| matches!(node.kind, NodeKind::Constant(_))));
    assert_eq!(result(&imported, &[]).to_f64s(), [0.5, 1.0, 1.5]);
    assert!(matches!(range("float", [0.5, 2.0, 0.0]), Err(Error::Invalid { .. })));
}

/// A range of three constants.
fn range(dtype: &str, numbers: [f64; 3]) -> Result<Imported, Error> {
    let [a, b, c] = numbers.map(|number| format!("Constant<value = {dtype} {{{number:?}}}>()"));
    read("", &format!("a = {a} b = {b} c = {c} y = Range(a, b, c)"), &[])
}

/// The numbers of a range, and how far off each may be.
fn bounded(imported: &Imported) -> (Vec<f64>, Vec<f64>) {
    let (profile, taps) = (&interp::Profile::TIGHT, interp::Taps::Outputs);
    let y = interp::evaluate(&imported.model, &[], profile, taps).expect("bounds").outputs.remove(0);
    let errors = (0..y.tensor.len()).map(|i| y.error_at(i)).collect();
    (y.tensor.to_f64s(), errors)
}

/// "output[i] = start + (i * delta)", and in ONNX's own function body each number is the one before it plus delta.
#[test]
fn a_range_may_be_added_up_or_multiplied() {
    for [start, limit, step] in
        [[0.0_f32, 1.0, 0.1], [1.0, -2.0, -0.3], [1e6, 1e6 + 9.0, 0.7], [0.5, 40.0, 0.1]]
    {
        let imported = range("float", [start, limit, step].map(f64::from)).expect("a model");
        let (y, errors) = bounded(&imported);
        let mut added = start;
        for (i, (&y, &error)) in y.iter().zip(&errors).enumerate() {
            let multiplied = start + i as f32 * step;
            for other in [added, multiplied] {
                let off = (f64::from(other) - y).abs();
                assert!(off <= error, "{start} {limit} {step}: {other} at {i} is off by {off}, of {error}");
            }
            assert!(error < 1e-4 * y.abs().max(1.0), "{error}");
            added += step;
        }
        assert_eq!(y.len(), ((limit - start) / step).ceil() as usize);
        assert_eq!((y[0], errors[0]), (f64::from(start), 0.0));
    }
}

/// In f32 the quotient is a whole number, and in f64 it is above that.
#[test]
fn how_many_numbers_a_range_has_hangs_on_no_rounding() {
    let open = range("float", [0.0, 0.3, 0.1]).expect_err("it has as many, or one more");
    assert!(matches!(open, Error::Unsupported { .. }) && open.to_string().contains("how many"), "{open}");
}

#[test]
fn a_range_of_doubles_is_exact_where_neither_product_nor_sum_is_rounded() {
    for (numbers, is_exact) in [
        ([0.5, 2.0, 0.5], true),
        // 1 + 1/10 is rounded, and so are three tenths, but not two.
        ([1.0, 2.0, 0.1], false),
        ([0.0, 0.25, 0.1], true),
        ([0.0, 0.35, 0.1], false),
        // 2⁵³ + 1 is no number of f64, and 2⁵³ + 2 is one.
        ([9_007_199_254_740_992.0, 9_007_199_254_740_996.0, 1.0], false),
        ([9_007_199_254_740_992.0, 9_007_199_254_740_996.0, 2.0], true),
    ] {
        let (_, errors) = bounded(&range("double", numbers).expect("a model"));
        assert_eq!(errors.iter().all(|&error| error == 0.0), is_exact, "{numbers:?}: {errors:?}");
    }
}

/// From 2048 to 2052 by 1, of which the text has the bits: 2049 and 2051 are between two numbers of f16.
#[test]
fn a_range_of_halves_is_computed_in_f32_and_rounded() {
    let range = |opset, attribute: &str| {
        let constants = "a = Constant<value = float16[1] {26624}>() b = Constant<value = float16[1] {26626}>() \
                         c = Constant<value = float16[1] {15360}>()";
        read_in(opset, "", &format!("{constants} y = Range{attribute}(a, b, c)"), &[])
    };
    assert_eq!(result(&range(27, "").expect("a model"), &[]).to_f64s(), [2048.0, 2048.0, 2050.0, 2052.0]);
    // In f16 itself the sums are rounded, up or down.
    let (y, errors) = bounded(&range(27, "<stash_type = 10>").expect("a model"));
    assert_eq!(y, [2048.0, 2048.0, 2050.0, 2052.0]);
    assert!(errors[0] == 0.0 && errors[1] >= 2.0, "{errors:?}");
    assert!(matches!(range(26, ""), Err(Error::Invalid { .. })));
}

#[test]
fn what_is_wrong_names_the_operand() {
    let says = |inputs: &str, nodes: &str, known: &[(&str, Tensor)]| {
        read(inputs, nodes, known).unwrap_err().to_string()
    };
    let negative = says("int64[1] n", "y = ConstantOfShape(n)", &[("n", ints(&[1], &[-2]))]);
    assert!(negative.contains("operand 0") && negative.contains("-2"), "{negative}");
    let two =
        says("int64[1] n", "y = ConstantOfShape<value = float[2] {1.0, 2.0}>(n)", &[("n", ints(&[1], &[2]))]);
    assert!(two.contains("`value`") && two.contains("f32[2]"), "{two}");
    let huge = says(
        "int64[2] n",
        "z = ConstantOfShape(n) s = ReduceSum<keepdims = 0>(z) i = Cast<to = 7>(s) y = Range(i, i, i)",
        &[("n", ints(&[2], &[1 << 20, 1 << 20]))],
    );
    assert!(huge.contains("unsupported") && huge.contains("exceeds"), "{huge}");
    let endless = says(
        "int64 n",
        "z = Constant<value_int = 0>() o = Constant<value_int = 1>() y = Range(z, n, o)",
        &[("n", ints(&[], &[1 << 62]))],
    );
    assert!(endless.contains("elements"), "{endless}");
}
