//! Imputer, OneHotEncoder and FeatureVectorizer, written out, give what their text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

const ML: &str = "ai.onnx.ml";

fn read(input: &str, node: &str) -> Result<Imported, Error> {
    let head = format!("<ir_version: 8, opset_import: [\"\" : 18, \"{ML}\" : 3]>");
    specialise(
        &Program::from_text(&format!("{head}\nm ({input} x) => (y) {{ {node} }}\n"))?,
        &Options::default(),
    )
}

/// What a node makes of two rows of two.
fn values(input: &str, dtype: DType, node: &str, rows: [f64; 4]) -> Tensor {
    let model = read(&format!("{input}[2, 2]"), node).unwrap_or_else(|e| panic!("{node}: {e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(dtype, [2, 2]), |i| rows[i]);
    interp::evaluate_plain(&model, &[x]).expect("values").remove(0)
}

fn why(input: &str, node: &str) -> Error {
    read(&format!("{input}[2, 2]"), node).expect_err("it is not read")
}

#[test]
fn what_is_missing_is_replaced() {
    let float = |rest: &str, rows| {
        values("float", DType::F32, &format!("y = {ML}.Imputer<{rest}>(x)"), rows).to_f64s()
    };
    let nan = f64::NAN;
    assert_eq!(
        float("imputed_value_floats = [5.0], replaced_value_float = nan", [nan, 1.0, 2.0, nan]),
        [5.0, 1.0, 2.0, 5.0]
    );
    assert_eq!(
        float("imputed_value_floats = [5.0, 6.0], replaced_value_float = -1.0", [-1.0, -1.0, 2.0, 3.0]),
        [5.0, 6.0, 2.0, 3.0]
    );
    let int = format!("y = {ML}.Imputer<imputed_value_int64s = [7], replaced_value_int64 = -1>(x)");
    for (input, dtype) in [("int64", DType::I64), ("int32", DType::I32)] {
        let y = values(input, dtype, &int, [-1.0, 1.0, 2.0, -1.0]);
        assert_eq!((y.dtype(), y.to_i128s()), (dtype, vec![7, 1, 2, 7]));
    }
    let three = why("float", &format!("y = {ML}.Imputer<imputed_value_floats = [5.0, 6.0, 7.0]>(x)"));
    assert!(matches!(three, Error::Invalid { .. }) && three.to_string().contains("3 of them"), "{three}");
    let wide = why("int32", &format!("y = {ML}.Imputer<imputed_value_int64s = [2147483648]>(x)"));
    assert!(matches!(wide, Error::Invalid { .. }) && wide.to_string().contains("2147483648"), "{wide}");
}

#[test]
fn a_category_is_a_place() {
    let node = |rest: &str| format!("y = {ML}.OneHotEncoder<cats_int64s = [3, 1]{rest}>(x)");
    for (input, dtype) in [("int64", DType::I64), ("float", DType::F32)] {
        let y = values(input, dtype, &node(""), [1.0, 3.0, 2.0, 1.0]);
        assert_eq!(y.ty(), Type::new(DType::F32, [2, 2, 2]));
        assert_eq!(y.to_f64s(), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }
    // "If the input is a tensor of float, int32, or double, the data will be cast to integers".
    let cut = values("float", DType::F32, &node(""), [1.75, 3.25, 0.5, 2.0]).to_f64s();
    assert_eq!(cut, [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(matches!(why("int64", &node(", zeros = 0")), Error::Unsupported { .. }));
    let twice = why("int64", &format!("y = {ML}.OneHotEncoder<cats_int64s = [3, 3]>(x)"));
    assert!(twice.to_string().contains("twice"), "{twice}");
    let both = why("int64", &node(", cats_strings = [\"a\"]"));
    assert!(matches!(both, Error::Invalid { .. }), "{both}");
}

#[test]
fn features_stand_beside_each_other() {
    let node = |sizes: &str| format!("y = {ML}.FeatureVectorizer<inputdimensions = [{sizes}]>(x, x)");
    let y = values("int64", DType::I64, &node("2, 2"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        (y.ty(), y.to_f64s()),
        (Type::new(DType::F32, [2, 4]), vec![1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0])
    );
    assert!(matches!(why("float", &node("2, 3")), Error::Unsupported { .. }));
    assert!(matches!(why("float", &node("2")), Error::Invalid { .. }));
    let list =
        read("double[3]", &format!("y = {ML}.FeatureVectorizer<inputdimensions = [3]>(x)")).expect("a model");
    let x = Tensor::from_f64_fn(&Type::new(DType::F64, [3]), |i| i as f64);
    let y = interp::evaluate_plain(&list.model, &[x]).expect("values").remove(0);
    assert_eq!((y.ty(), y.to_f64s()), (Type::new(DType::F32, [1, 3]), vec![0.0, 1.0, 2.0]));
}
