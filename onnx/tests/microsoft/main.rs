//! Operators of ONNX Runtime's own domain, written out, are what their description says.

mod attention;

use interp::{Profile, Taps, evaluate};
use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, Unknown, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, outputs: &str, nodes: &str, unknown: Unknown) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n\
         m ({inputs}) => ({outputs}) {{ {} }}\n",
        nodes.replace("ms.", "com.microsoft.")
    );
    specialise(&Program::from_text(&text)?, &Options { unknown, ..Options::default() })
}

/// What comes out as `y`.
fn tensor(inputs: &str, nodes: &str, values: &[Tensor]) -> Tensor {
    let model = read(inputs, "y", nodes, Unknown::Refuse).unwrap_or_else(|e| panic!("{nodes}: {e}")).model;
    interp::evaluate_plain(&model, values).expect("values").remove(0)
}

fn reals(shape: &[i64], numbers: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| numbers[i])
}

fn bytes(shape: &[i64], numbers: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::U8, shape), |i| numbers[i])
}

#[test]
fn a_fused_product_is_of_operands_that_may_be_transposed() {
    let counted = |shape: &[i64]| reals(shape, &[0., 1., 2., 3., 4., 5., 6., 7.]);
    let product = |attributes: &str| {
        let node = format!("y = ms.FusedMatMul<{attributes}>(a, b)");
        tensor("float[2, 2, 2] a, float[2, 2, 2] b", &node, &[counted(&[2, 2, 2]), counted(&[2, 2, 2])])
            .to_f64s()
    };
    assert_eq!(product("alpha = 0.5"), [1., 1.5, 3., 5.5, 23., 27.5, 33., 39.5]);
    // [0 1; 2 3] · [0 2; 1 3] first.
    assert_eq!(product("transB = 1")[..4], [1., 3., 3., 13.]);
    // The matrices of A are its rows: [0 1; 4 5] · [0 1; 2 3] first.
    assert_eq!(product("transBatchA = 1")[..4], [2., 3., 10., 19.]);
    // And those the other way round: [0 4; 1 5].
    assert_eq!(product("transBatchA = 1, transA = 1")[..4], [8., 12., 10., 16.]);
}

#[test]
fn a_fused_convolution_adds_before_it_activates() {
    let inputs = "float[1, 1, 3] x, float[1, 1, 1] w, float[1] b, float[1, 1, 3] z";
    let values = [
        reals(&[1, 1, 3], &[-1., 0., 1.]),
        reals(&[1, 1, 1], &[2.]),
        reals(&[1], &[0.5]),
        reals(&[1, 1, 3], &[1., -1., 1.]),
    ];
    let activated = |attributes: &str| {
        tensor(inputs, &format!("y = ms.FusedConv<{attributes}>(x, w, b, z)"), &values).to_f64s()
    };
    assert_eq!(activated("kernel_shape = [1]"), [-0.5, -0.5, 3.5]);
    assert_eq!(activated("activation = \"Relu\""), [0., 0., 3.5]);
    assert_eq!(activated("activation = \"LeakyRelu\", activation_params = [0.5]"), [-0.25, -0.25, 3.5]);
    assert_eq!(activated("activation = \"Clip\", activation_params = [-0.25, 2.0]"), [-0.25, -0.25, 2.]);
    let node = "y = ms.FusedConv<activation = \"Softmax\">(x, w, b, z)";
    assert!(read(inputs, "y", node, Unknown::Refuse).unwrap_err().to_string().contains("activation Softmax"));
}

#[test]
fn a_sum_is_normalised_and_given_besides() {
    let inputs = "float[1, 2] x, float[1, 2] s, float[2] g";
    let values = [reals(&[1, 2], &[1., 2.]), reals(&[1, 2], &[0., 4.]), reals(&[2], &[1., 3.])];
    let y = tensor(inputs, "y = ms.SkipLayerNormalization<epsilon = 0.0>(x, s, g)", &values);
    assert_eq!(y.to_f64s(), [-1., 3.]);
    let sum = tensor(inputs, "z, , , y = ms.SkipSimplifiedLayerNormalization(x, s, g)", &values);
    assert_eq!(sum.to_f64s(), [1., 6.]);
}

/// Constants for quantised tensors: scales `s` and `t`, zero points `p` and `q`.
const QUANTISED: &str = "s = Constant<value = float {0.5}>() t = Constant<value = float {2.0}>() \
                         p = Constant<value = uint8 {10}>() q = Constant<value = uint8 {3}>()";

#[test]
fn what_is_quantised_is_computed_on_the_numbers_that_it_stands_for() {
    let quantised = |node: &str| {
        let nodes = format!("{QUANTISED} {node}");
        tensor("uint8[1, 1, 2] a, uint8[2] b", &nodes, &[bytes(&[1, 1, 2], &[6, 20]), bytes(&[2], &[4, 5])])
            .to_i128s()
    };
    // −2 and 5, 2 and 4.
    assert_eq!(quantised("y = ms.QLinearAdd(a, s, p, b, t, q, s, p)"), [10, 28]);
    assert_eq!(quantised("y = ms.QLinearMul(a, s, p, b, t, q, t, p)"), [8, 20]);
    assert_eq!(quantised("y = ms.QLinearMul(a, s, p, b, t, q, t)"), [0, 10], "without a zero point it is 0");
    assert_eq!(quantised("y = ms.QLinearLeakyRelu<alpha = 0.5>(a, s, p, s, p)"), [8, 20]);
    assert_eq!(quantised("y = ms.QLinearGlobalAveragePool(a, s, p, s, p)"), [13]);
    assert_eq!(quantised("y = ms.QLinearReduceMean<axes = [2], keepdims = 0>(a, s, p, s, p)"), [13]);
    let joined =
        "c = Unsqueeze(b, z) d = Unsqueeze(c, z) y = ms.QLinearConcat<axis = 2>(s, p, a, s, p, d, t, q)";
    assert_eq!(quantised(&format!("z = Constant<value = int64[1] {{0}}>() {joined}")), [6, 20, 14, 18]);
    // The channels last: an image of one pixel.
    assert_eq!(quantised("y = ms.QLinearGlobalAveragePool<channels_last = 1>(a, s, p, s, p)"), [6, 20]);
}

#[test]
fn a_softmax_of_an_opset_before_13_is_of_all_axes_from_its_own_on() {
    let sums = |opset: u32| {
        let node = format!(
            "{QUANTISED} z = Constant<value = uint8 {{0}}>() u = Constant<value = float {{0.0625}}>()
                            y = ms.QLinearSoftmax<axis = 1, opset = {opset}>(a, s, p, u, z)"
        );
        tensor("uint8[1, 2, 2] a", &node, &[bytes(&[1, 2, 2], &[7, 7, 7, 7])]).to_i128s()
    };
    assert_eq!((sums(13), sums(12)), (vec![8; 4], vec![4; 4]));
}

#[test]
fn products_of_quantised_matrices_are_scaled() {
    let matrices = [bytes(&[1, 2], &[6, 20]), bytes(&[2, 1], &[4, 5])];
    let product = |node: &str| {
        tensor(
            "uint8[1, 2] a, uint8[2, 1] b",
            &format!("{QUANTISED} c = Constant<value = float[1] {{0.5}}>() {node}"),
            &matrices,
        )
        .to_f64s()
    };
    // (−4 · 1 + 10 · 2) · 0.5 · 2.
    assert_eq!(product("y = ms.MatMulIntegerToFloat(a, b, s, t, p, q, c)"), [16.5]);
    assert_eq!(product("y = ms.QGemm<alpha = 2.0>(a, s, p, b, t, q)"), [32.]);
    assert_eq!(product("y = ms.QGemm<alpha = 2.0>(a, s, p, b, t, q, , t, p)"), [26.]);
}

#[test]
fn a_fast_gelu_may_have_few_digits_and_is_what_it_tends_to() {
    let model = read("double[4] x", "y", "y = ms.FastGelu(x)", Unknown::Refuse).expect("it is read").model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F64, [4]), |i| [-3., 1., f64::INFINITY, -1e200][i]);
    let evaluation = evaluate(&model, &[x], &Profile::DECLARED, Taps::Outputs).expect("values");
    let y = &evaluation.outputs[0];
    // By the constants of six digits that the description has.
    let fast = |x: f64| 0.5 * x * (1. + (0.797_885 * x + 0.035_677 * x * x * x).tanh());
    for (i, x) in [-3., 1.].into_iter().enumerate() {
        let (off, error) = ((y.tensor.to_f64s()[i] - fast(x)).abs(), y.error_at(i));
        assert!(off <= error && error <= 3e-6, "{x}: {off} of {error}");
    }
    assert_eq!(y.tensor.to_f64s()[2..], [f64::INFINITY, 0.]);
}

#[test]
fn a_product_by_dynamic_quantisation_is_that_of_the_numbers_as_well() {
    let node = "s = Constant<value = float {1.0}>() y = ms.DynamicQuantizeMatMul(a, b, s)";
    let model = read("float[1, 2] a, uint8[2, 1] b", "y", node, Unknown::Refuse).expect("it is read").model;
    let operands = [reals(&[1, 2], &[1., 0.301]), bytes(&[2, 1], &[100, 100])];
    let evaluation = evaluate(&model, &operands, &Profile::DECLARED, Taps::Outputs).expect("values");
    let y = &evaluation.outputs[0];
    // 0.301 is 77 of 255 parts, so it is 130.196; and 130.1 as it is.
    let (value, error) = (y.tensor.to_f64s()[0], y.error_at(0));
    assert!((value - 100. - 7700. / 255.).abs() < 1e-4, "{value}");
    assert!((0.096..0.2).contains(&error), "{error}");
}

#[test]
fn weights_of_few_bits_are_unpacked_from_the_lowest_on() {
    // One column of 18 rows in blocks of 16: 0, 1, 2, … modulo 16, less 8, times 1 and 2; the second block ends beyond the rows.
    let packed: Vec<i128> = (0..16).map(|i| (2 * i % 16) | (((2 * i + 1) % 16) << 4)).collect();
    let numbers: Vec<String> = packed.iter().map(ToString::to_string).collect();
    let nodes = format!(
        "w = Constant<value = uint8[1, 2, 8] {{{}}}>() s = Constant<value = float[1, 2] {{1.0, 2.0}}>() \
         y = ms.MatMulNBits<K = 18, N = 1, block_size = 16>(a, w, s)",
        numbers.join(", ")
    );
    let at = |row: usize| {
        let one = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 18]), |i| f64::from(i == row));
        tensor("float[1, 18] a", &nodes, &[one]).to_f64s()[0]
    };
    assert_eq!([0, 1, 8, 15, 16, 17].map(at), [-8., -7., 0., 7., -16., -14.]);
    // An order of the runtime's own is no matrix that the reference knows.
    let own = nodes.replace("block_size", "weight_prepacked = 1, block_size");
    let declared = read("float[1, 18] a", "float[1, 1] y", &own, Unknown::StandIn).expect("it is read");
    assert!(declared.unknown.contains("com.microsoft.MatMulNBits"));
}

#[test]
fn a_runtime_may_compute_with_as_few_digits_as_an_accuracy_level_has() {
    let error = |level: u32| {
        let node = format!(
            "w = Constant<value = uint8[1, 1, 8] {{0, 0, 0, 0, 0, 0, 0, 0}}>() s = Constant<value = float[1, 1] {{1.0}}>() \
             y = ms.MatMulNBits<K = 2, N = 1, block_size = 16, accuracy_level = {level}>(a, w, s)"
        );
        let model = read("float[1, 2] a", "y", &node, Unknown::Refuse).expect("it is read").model;
        let a = reals(&[1, 2], &[127., 1.]);
        let evaluation = evaluate(&model, &[a], &Profile::DECLARED, Taps::Outputs).expect("values");
        assert_eq!(evaluation.outputs[0].tensor.to_f64s(), [-1024.], "level {level}");
        evaluation.outputs[0].error_at(0)
    };
    // Both numbers, which are times −8, are off by half of a 127th of 127; or each by half of the last digit.
    assert!(error(1) < 1e-2);
    assert!((8.0..8.3).contains(&error(4)), "{}", error(4));
    assert!((2.0..2.1).contains(&error(3)), "{}", error(3));
    assert!((0.5..0.6).contains(&error(2)), "{}", error(2));
}

#[test]
fn what_is_gathered_of_a_quantised_table_is_dequantised_by_block() {
    // Rows of 32 numbers in two blocks, which are 1 and 2 less the middle, 8, or less the zero points.
    let packed = |of: [i64; 2]| [[of[0] * 17; 8], [of[1] * 17; 8]].concat();
    let rows = [packed([9, 10]), packed([11, 8])].concat();
    let numbers: Vec<String> = rows.iter().map(ToString::to_string).collect();
    let gathered = |zeros: &str| {
        let nodes = format!(
            "w = Constant<value = uint8[2, 16] {{{}}}>() s = Constant<value = float[2, 2] {{1.0, 2.0, 3.0, 4.0}}>() \
             z = Constant<value = uint8[2, 1] {{24, 128}}>() i = Constant<value = int64[3] {{1, -2, 2}}>() \
             y = ms.GatherBlockQuantized<block_size = 16>(w, i, s{zeros})",
            numbers.join(", ")
        );
        let y = tensor("float[1] unused", &nodes, &[reals(&[1], &[0.])]);
        assert_eq!(y.ty().shape[..], [3, 32]);
        let y = y.to_f64s();
        [0, 31, 32, 63, 64, 95].map(|i| y[i])
    };
    assert_eq!(gathered(""), [9., 0., 1., 4., 0., 0.]);
    assert_eq!(gathered(", z"), [33., 0., 1., 18., 0., 0.]);
}

#[test]
fn a_simplified_normalisation_stands_in_the_domain_of_onnx() {
    let node = "y = SimplifiedLayerNormalization<epsilon = 0.0>(x, g)";
    let y = tensor("float[1, 2] x, float[2] g", node, &[reals(&[1, 2], &[3., 3.]), reals(&[2], &[1., 2.])]);
    assert_eq!(y.to_f64s(), [1., 2.]);
}

#[test]
fn sizes_that_no_matrix_has_are_refused() {
    for (attributes, why) in [
        ("K = 9223372036854775807, N = 1, block_size = 16", "must be from 1 to"),
        ("K = 18, block_size = 16", "attribute `N`"),
        ("K = 2147483647, N = 2147483647, block_size = 1073741824", "u8[2147483647, 2, 536870912]"),
    ] {
        let node = format!("y = ms.MatMulNBits<{attributes}>(a, b, s)");
        let read = read("float[1, 18] a, uint8[1, 2, 8] b, float[1, 2] s", "y", &node, Unknown::Refuse);
        let told = read.expect_err("it is not read").to_string();
        assert!(told.contains(why), "{attributes}: {told}");
    }
}

#[test]
fn a_recurrence_that_is_quantised_as_it_goes_has_the_types_of_its_operands() {
    let inputs = "float[5, 1, 2] x, uint8[2, 2, 12] w, uint8[2, 3, 12] r, float[2] s, uint8[2] p";
    let node = "y, h = ms.DynamicQuantizeLSTM<hidden_size = 3>(x, w, r, , , , , , s, p, s, p)";
    let read = read(inputs, "y, h", node, Unknown::StandIn).expect("it is read");
    let types: Vec<String> =
        read.model.graph.outputs.iter().map(|output| read.model.graph.ty(output.value).to_string()).collect();
    assert_eq!(types, ["f32[5, 2, 1, 3]", "f32[2, 1, 3]"]);
}
