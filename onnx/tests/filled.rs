//! ConstantOfShape and Range are written out for the numbers at hand.

use std::collections::BTreeMap;

use ir::{DType, Datum, Tensor, Type};
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
fn a_range_of_floats_is_known_where_nothing_is_rounded() {
    let range = |step: &str| {
        let constants = format!(
            "a = Constant<value_float = 0.5>() b = Constant<value_float = 2.0>() c = Constant<value_float = {step}>()"
        );
        read("float[1] x", &format!("{constants} y = Range(a, b, c)"), &[])
    };
    let x = [Tensor::zeros(&Type::new(DType::F32, [1]))];
    assert_eq!(result(&range("0.5").expect("a model"), &x).to_f64s(), [0.5, 1.0, 1.5]);
    assert!(matches!(range("0.1"), Err(Error::Unsupported { .. })));
    assert!(matches!(range("0.0"), Err(Error::Invalid { .. })));
}

#[test]
fn a_range_of_doubles_is_known_where_neither_product_nor_sum_is_rounded() {
    for (start, limit, step, is_known) in [
        (0.5, 2.0, 0.5, true),
        // 1 + 1/10 is rounded, and so are three tenths, but not two.
        (1.0, 2.0, 0.1, false),
        (0.0, 0.25, 0.1, true),
        (0.0, 0.35, 0.1, false),
        // 2⁵³ + 1 is no number of f64, and 2⁵³ + 2 is one.
        (9_007_199_254_740_992.0, 9_007_199_254_740_996.0, 1.0, false),
        (9_007_199_254_740_992.0, 9_007_199_254_740_996.0, 2.0, true),
    ] {
        let number = |number: f64| Tensor::from_f64_fn(&Type::new(DType::F64, []), |_| number);
        let known = [("a", number(start)), ("b", number(limit)), ("c", number(step))];
        let read = read("double a, double b, double c", "y = Range(a, b, c)", &known);
        let is_refused = matches!(read, Err(Error::Unsupported { .. }));
        assert_eq!((read.is_ok(), is_refused), (is_known, !is_known), "{start} {limit} {step}: {read:?}");
    }
}

/// From 2048 to 2052 by 1, of which the text has the bits: 2049 and 2051 are between two numbers of f16.
#[test]
fn a_range_of_halves_is_computed_in_f32_and_rounded() {
    let range = |opset, attribute: &str| {
        let constants = "a = Constant<value = float16[1] {26624}>() b = Constant<value = float16[1] {26626}>() \
                         c = Constant<value = float16[1] {15360}>()";
        read_in(opset, "float[1] x", &format!("{constants} y = Range{attribute}(a, b, c)"), &[])
    };
    let x = [Tensor::zeros(&Type::new(DType::F32, [1]))];
    assert_eq!(result(&range(27, "").expect("a model"), &x).to_f64s(), [2048.0, 2048.0, 2050.0, 2052.0]);
    assert!(matches!(range(27, "<stash_type = 10>"), Err(Error::Unsupported { .. })));
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
