//! What is drawn at random, written out, has its shape and dtype, and elements that are open.

use interp::{Profile, Taps};
use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(opset: u32, inputs: &str, nodes: &str) -> Result<Imported, Error> {
    let text =
        format!("<ir_version: 10, opset_import: [\"\" : {opset}]>\nm ({inputs}) => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// The result on f32, and which of its elements are defined.
fn result(inputs: &str, nodes: &str, x: &[f64]) -> (Tensor, Vec<bool>) {
    let model = read(22, inputs, nodes).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [x.len() as i64]), |i| x[i]);
    let operands = if inputs.is_empty() { Vec::new() } else { vec![x] };
    let y = interp::evaluate_plain(&model, &operands).expect("values").remove(0);
    let bounds = interp::evaluate(&model, &operands, &Profile::WGSL, Taps::Outputs).expect("bounds").outputs;
    let is_defined = (0..y.len()).map(|i| bounds[0].error_at(i).is_finite()).collect();
    (y, is_defined)
}

#[test]
fn numbers_are_within_their_range_and_open() {
    let nodes = "y = RandomUniform<shape = [2, 3], low = 2.0, high = 3.0, dtype = 11, seed = 1.0>()";
    let (y, is_defined) = result("", nodes, &[]);
    assert_eq!(y.ty(), Type::new(DType::F64, [2, 3]));
    assert!(y.to_f64s().iter().all(|y| (2.0..=3.0).contains(y)), "{:?}", y.to_f64s());
    assert_eq!(is_defined, [false; 6]);
    let (y, is_defined) = result("", "y = RandomUniform<shape = [1]>()", &[]);
    assert_eq!((y.ty(), is_defined), (Type::new(DType::F32, [1]), vec![false]), "a single one is open too");
    let (y, is_defined) = result("float[4] x", "y = RandomNormalLike<dtype = 16, mean = 4.0>(x)", &[0.0; 4]);
    assert_eq!((y.ty(), is_defined), (Type::new(DType::BF16, [4]), vec![false; 4]));
}

#[test]
fn what_does_not_follow_from_them_is_judged() {
    // One more than the first element, and one more than what was drawn.
    let nodes = "r = RandomUniformLike(x) m = Constant<value = bool[2] {1, 0}>() c = Where(m, x, r)
                 one = Constant<value = float {1.0}>() y = Add(c, one)";
    let (y, is_defined) = result("float[2] x", nodes, &[5.0, 7.0]);
    assert_eq!((y.to_f64s()[0], is_defined), (6.0, vec![true, false]));
}

#[test]
fn what_is_certain_is_known() {
    let (y, is_defined) = result("float[3] x", "y = Bernoulli<dtype = 7>(x)", &[0.0, 1.0, 0.5]);
    assert_eq!((y.ty(), &y.to_i128s()[..2]), (Type::new(DType::I64, [3]), &[0, 1][..]));
    assert_eq!(is_defined, [true, true, false]);
}

#[test]
fn a_class_is_one_of_those_there_are() {
    let nodes =
        "s = Constant<value = int64[2] {2, 3}>() p = Reshape(x, s) y = Multinomial<sample_size = 5>(p)";
    let (y, is_defined) = result("float[6] x", nodes, &[0.5; 6]);
    assert_eq!(y.ty(), Type::new(DType::I32, [2, 5]));
    assert!(y.to_i128s().iter().all(|class| (0..3).contains(class)));
    assert_eq!(is_defined, [false; 10]);
}

#[test]
fn what_is_not_drawn_so_is_refused() {
    let why = |opset, node: &str| read(opset, "float[2] x", node).expect_err("it is not read").to_string();
    assert!(why(22, "y = RandomUniform<shape = [-1]>()").contains("negative"));
    assert!(why(22, "y = RandomUniform<shape = [1000000, 1000000]>()").contains("not written out"));
    assert!(why(22, "y = RandomUniformLike<dtype = 7>(x)").contains("no i64"));
    assert!(why(21, "y = RandomUniformLike<dtype = 16>(x)").contains("no bf16"));
    assert!(why(22, "y = RandomUniform()").contains("`shape`"));
    assert!(why(22, "y = RandomUniform<shape = [2], low = 1.0, high = 0.0>()").contains("between"));
    assert!(why(22, "y = Multinomial(x)").contains("rank 2"));
    assert!(why(22, "y = Bernoulli<dtype = 99>(x)").contains("`dtype`"));
}
