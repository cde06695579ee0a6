//! Products of integers, written out, are what their text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

const INPUTS: &str = "uint8[2, 2] a, int8[2, 2] b";

fn read(inputs: &str, node: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm ({inputs}) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

fn values(node: &str) -> (DType, Vec<i128>) {
    let model = read(INPUTS, node).unwrap_or_else(|e| panic!("{e}")).model;
    let tensor = |dtype, x: [i128; 4]| Tensor::from_i128_fn(&Type::new(dtype, [2, 2]), |i| x[i]);
    let operands = [tensor(DType::U8, [255, 1, 2, 3]), tensor(DType::I8, [-128, 1, 2, -1])];
    let y = interp::evaluate_plain(&model, &operands).expect("values").remove(0);
    (y.dtype(), y.to_i128s())
}

fn why(node: &str) -> String {
    read(INPUTS, node).expect_err("it is not read").to_string()
}

#[test]
fn products_of_integers_are_summed_in_32_bits() {
    assert_eq!(values("y = MatMulInteger(a, b)"), (DType::I32, vec![-32638, 254, -250, -1]));
    let points = "p = Constant<value = uint8[2] {255, 2}>() q = Constant<value = int8[2] {-128, 1}>()";
    // Rows of the first have a zero point each, columns of the second.
    assert_eq!(values(&format!("{points} y = MatMulInteger(a, b, p, q)")).1, [-33020, 508, 130, -2]);
    let point = "p = Constant<value = uint8 {2}>()";
    assert_eq!(values(&format!("{point} y = MatMulInteger(a, b, p)")).1, [-32386, 254, 2, -1]);
    assert!(why("y = MatMulInteger(a, b, a)").contains("one for each of the rows"));
    assert!(why("y = MatMulInteger(a, b, b)").contains("operand 2"));
    assert!(why("f = Cast<to = 1>(a) y = MatMulInteger(f, b)").contains("must be one of"));
}

#[test]
fn a_quantized_product_is_rounded_once_and_saturates() {
    let node = |scale: f32, zero: &str| {
        format!(
            "s = Constant<value = float {{0.5}}>() t = Constant<value = float {{{scale}}}>() \
             p = Constant<value = uint8 {{0}}>() q = Constant<value = int8 {{0}}>() z = Constant<value = {zero}>() \
             y = QLinearMatMul(a, s, p, b, s, q, t, z)"
        )
    };
    // A quarter of the sums, -8159.5, 63.5, -62.5 and -0.25. The text rounds before the zero point is added.
    assert_eq!(values(&node(1000.0, "int8 {5}")), (DType::I8, vec![-3, 5, 5, 5]));
    assert_eq!(values(&node(1.0, "uint8 {7}")), (DType::U8, vec![0, 71, 0, 7]));
    assert!(why(&node(1.0, "int8[2] {1, 2}")).contains("one number"));
}

const CONV: &str = "uint8[1, 1, 3] x, int8[2, 1, 2] w";

fn convolved(node: &str) -> Vec<i128> {
    let model = read(CONV, node).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_i128_fn(&Type::new(DType::U8, [1, 1, 3]), |i| [10, 20, 30][i]);
    let w = Tensor::from_i128_fn(&Type::new(DType::I8, [2, 1, 2]), |i| [1, 2, -1, 3][i]);
    interp::evaluate_plain(&model, &[x, w]).expect("values").remove(0).to_i128s()
}

#[test]
fn an_integer_convolution_pads_with_its_zero_point() {
    assert_eq!(convolved("y = ConvInteger(x, w)"), [50, 80, 50, 70]);
    let points = "p = Constant<value = uint8 {10}>() q = Constant<value = int8[2] {0, 1}>()";
    // Of 0, 10, 20 with a zero on the left, by kernels 1, 2 and -2, 2.
    let padded = format!("{points} y = ConvInteger<pads = [1, 0]>(x, w, p, q)");
    assert_eq!(convolved(&padded), [0, 20, 50, 0, 20, 20]);
    let refused = |node: &str| read(CONV, node).expect_err("it is not read").to_string();
    let three = "q = Constant<value = int8[3] {0, 1, 2}>() p = Constant<value = uint8 {0}>() y = ConvInteger(x, w, p, q)";
    assert!(refused(three).contains("each channel"));
    assert!(refused("y = ConvInteger<group = 2>(x, w)").contains("invalid"));
}

#[test]
fn a_quantized_convolution_has_scales_for_its_channels() {
    let node = "s = Constant<value = float {1.0}>() p = Constant<value = uint8 {0}>() \
                t = Constant<value = float[2] {1.0, 0.5}>() q = Constant<value = int8[2] {0, 0}>() \
                z = Constant<value = uint8 {1}>() b = Constant<value = int32[2] {4, -30}>() \
                y = QLinearConv(x, s, p, w, t, q, s, z, b)";
    assert_eq!(convolved(node), [55, 85, 11, 21]);
}
