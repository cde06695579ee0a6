//! Tensors of narrow types as ONNX's Python package writes them (`scripts/narrow_tensors.py`).

use ir::{DType, DTypes, Tensor};
use onnxsmith_onnx::export::{encode as encode_model, export};
use onnxsmith_onnx::external::External;
use onnxsmith_onnx::import::{Options, import};
use onnxsmith_onnx::proto::{ModelProto, TensorProto, decode};
use onnxsmith_onnx::tensor::{encode, from_proto};
use ops::Model;

/// A tensor, and its messages with `raw_data` and with `int32_data`.
fn written() -> Vec<(Tensor, Vec<u8>, Vec<u8>)> {
    let lines = include_str!("narrow_tensors.txt").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let mut parts = line.split("; ");
        let mut next = || parts.next().expect("a line has three parts");
        (next().parse().expect("a tensor"), bytes(next()), bytes(next()))
    };
    lines.map(read).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
}

fn read(message: &[u8]) -> Tensor {
    let proto: TensorProto = decode("x", message).expect("a message");
    from_proto(&proto, External::Refuse).expect("a tensor")
}

#[test]
fn every_narrow_type_is_read_and_written_as_onnx_does() {
    let written = written();
    let dtypes: DTypes = written.iter().map(|(tensor, ..)| tensor.dtype()).collect();
    assert_eq!(dtypes, DType::ALL.into_iter().collect::<DTypes>().difference(DTypes::IR4));
    for (tensor, raw, typed) in written {
        assert_eq!(read(&raw), tensor);
        assert_eq!(read(&typed), tensor);
        assert_eq!(encode("x", &tensor), raw, "{tensor}");
    }
}

const MODEL: &str = r#"onnxsmith 1 opset 25
graph {
  %0: i4[3] = variable "x"
  %1: f4e2m1[3] = constant {6.0, -0.5, 1.0}
  %2: f8e4m3fn[3] = Cast(%0) {to = f8e4m3fn, saturate = 0}
  %3: f8e8m0[3] = Cast(%2) {to = f8e8m0, round_mode = "down"}
  %4: f4e2m1[3] = CastLike(%3, %1)
  %5: u2[3] = Cast(%4) {to = u2}
  return "y" = %5
}
"#;

#[test]
fn a_model_of_narrow_types_comes_back() {
    let model: Model = MODEL.parse().expect("a model");
    let bytes = encode_model(&export(&model).expect("it is valid"));
    let proto: ModelProto = decode("model", &bytes).expect("a message");
    assert_eq!(import(&proto, &Options::default()).expect("it is valid").model, model);
}

#[test]
fn each_opset_has_its_types() {
    for (opset, dtype) in [(19, "f8e5m2"), (21, "i4"), (23, "f4e2m1"), (24, "f8e8m0"), (25, "i2")] {
        let written = |opset: u32| {
            let text = format!(
                "onnxsmith 1 opset {opset}\ngraph {{\n  %0: {dtype}[2] = variable \"x\"\n  %1: f32[2] = Cast(%0) {{to = f32}}\n  return \"y\" = %1\n}}\n"
            );
            export(&text.parse::<Model>().expect("a model"))
        };
        assert!(written(opset).is_ok() && written(opset - 1).is_err(), "{dtype}");
    }
}
