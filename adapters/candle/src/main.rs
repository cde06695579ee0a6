//! [candle-onnx](https://crates.io/crates/candle-onnx) on the CPU, as a worker: it evaluates a model node by node.

use std::collections::HashMap;
use std::time::Instant;

use candle_core::{DType as Native, Device, Tensor as Candle, WithDType};
use candle_onnx::onnx::ModelProto;
use half::{bf16, f16};
use ir::tensor::Element;
use ir::{DType, Datum, Tensor, Wanted};
use ndarray::ArrayD;
use prost::Message;
use worker::{Case, Description, Engine, EngineError, serve};

/// The crate's version; Cargo.toml pins it.
const VERSION: &str = "0.11.1";

/// Each dtype that it takes, and what it has in its place: truth values are numbers of 8 bits.
const DTYPES: [(DType, DType); 10] = [
    (DType::Bool, DType::U8),
    (DType::U8, DType::U8),
    (DType::U32, DType::U32),
    (DType::I16, DType::I16),
    (DType::I32, DType::I32),
    (DType::I64, DType::I64),
    (DType::BF16, DType::BF16),
    (DType::F16, DType::F16),
    (DType::F32, DType::F32),
    (DType::F64, DType::F64),
];

/// What a message says that finds no fault with the model.
const LACKING: [&str; 8] = [
    "supported",
    "only supports",
    "not currently support",
    "with pads != 0",
    "with dilation != 1",
    "have to be the same on both axis",
    "than expected in conv1d",
    "than expected in conv2d",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    Ok(serve(&mut Runtime, started.elapsed())?)
}

struct Runtime;

impl Engine for Runtime {
    fn describe(&self) -> Description {
        let names = |(given, computed): (DType, DType)| (given.name().to_owned(), computed.name().to_owned());
        Description {
            engine: "candle".to_owned(),
            version: VERSION.to_owned(),
            dtypes: DTYPES.into_iter().map(names).collect(),
            levels: vec!["default".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case<'_>) -> Result<Vec<(String, Datum)>, EngineError> {
        let model =
            ModelProto::decode(case.model.message()?).map_err(|e| EngineError::Load(e.to_string()))?;
        let inputs =
            case.tensors()?.into_iter().map(|(name, tensor)| Ok((name.to_owned(), native(name, tensor)?)));
        let inputs = inputs.collect::<Result<HashMap<String, Candle>, EngineError>>()?;
        let mut outputs = candle_onnx::simple_eval(&model, inputs).map_err(|e| error(&e))?;
        let wanted = case.outputs.iter().filter_map(|Wanted { name, dtype, .. }| {
            let output = outputs.remove(name)?;
            let output = tensor(&output, *dtype).map_err(|e| error(&e));
            Some(output.map(|tensor| (name.clone(), tensor.into())))
        });
        wanted.collect()
    }
}

/// What an error says, without the stacks that it and others in it were made on.
fn error(error: &candle_core::Error) -> EngineError {
    if let candle_core::Error::WithBacktrace { inner, .. } = error {
        return self::error(inner);
    }
    let message = error.to_string().lines().next().unwrap_or_default().to_owned();
    if LACKING.iter().any(|phrase| message.contains(phrase)) {
        EngineError::Unsupported(message)
    } else {
        EngineError::Run(message)
    }
}

fn native(name: &str, tensor: &Tensor) -> Result<Candle, EngineError> {
    fn of<T: WithDType>(array: &ArrayD<T>) -> candle_core::Result<Candle> {
        Candle::from_vec(array.iter().copied().collect::<Vec<T>>(), array.shape(), &Device::Cpu)
    }
    let made = match tensor {
        Tensor::Bool(a) => of(&a.mapv(u8::from)),
        Tensor::U8(a) => of(a),
        Tensor::U32(a) => of(a),
        Tensor::I16(a) => of(a),
        Tensor::I32(a) => of(a),
        Tensor::I64(a) => of(a),
        Tensor::BF16(a) => of(a),
        Tensor::F16(a) => of(a),
        Tensor::F32(a) => of(a),
        Tensor::F64(a) => of(a),
        _ => return Err(EngineError::Unsupported(format!("input `{name}` is {}", tensor.dtype()))),
    };
    made.map_err(|e| EngineError::Run(e.to_string()))
}

/// An output in the dtype that it has, but for truth values: a wrong one must be seen.
fn tensor(output: &Candle, wanted: DType) -> candle_core::Result<Tensor> {
    fn array<T: WithDType>(output: &Candle) -> candle_core::Result<ArrayD<T>> {
        let elements = output.flatten_all()?.to_vec1::<T>()?;
        let array = ArrayD::from_shape_vec(output.dims(), elements);
        array.map_err(|e| candle_core::Error::Msg(format!("an output's elements: {e}")))
    }
    Ok(match output.dtype() {
        Native::U8 if wanted == DType::Bool => bool::wrap(array::<u8>(output)?.mapv(|x| x != 0)),
        Native::U8 => u8::wrap(array(output)?),
        Native::U32 => u32::wrap(array(output)?),
        Native::I16 => i16::wrap(array(output)?),
        Native::I32 => i32::wrap(array(output)?),
        Native::I64 => i64::wrap(array(output)?),
        Native::BF16 => bf16::wrap(array(output)?),
        Native::F16 => f16::wrap(array(output)?),
        Native::F32 => f32::wrap(array(output)?),
        Native::F64 => f64::wrap(array(output)?),
        other => return Err(candle_core::Error::Msg(format!("outputs of {other:?} are not supported"))),
    })
}
