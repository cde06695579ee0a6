//! [oxionnx](https://crates.io/crates/oxionnx): a pure Rust runtime that keeps weights as f32, whatever their dtype.
//!
//! Operators without a kernel for a dtype run on f32 copies, and only the graph's outputs are converted back to what
//! the model declares. So integers beyond 2²⁴, wrapping, and the rounding of f16 and f64 are not ONNX's. All of them
//! are stated as "f32", which keeps them out of campaigns.

use std::collections::HashMap;

use half::{bf16, f16};
use ir::{DType, DTypes, Datum, Tensor, Wanted};
use ndarray::ArrayD;
use oxionnx::{OnnxError, OptLevel, SessionBuilder, TensorStorage, TypedTensor};

use worker::{Case, Description, Engine, EngineError, Source};

/// The crate's version.
const VERSION: &str = env!("OXIONNX_VERSION");

/// The optimisation levels, in the crate's words.
const LEVELS: [(&str, OptLevel); 4] = [
    ("none", OptLevel::None),
    ("basic", OptLevel::Basic),
    ("extended", OptLevel::Extended),
    ("all", OptLevel::All),
];

/// The runtime. Its operators use rayon, whose threads the worker limits to one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Oxionnx;

impl Engine for Oxionnx {
    fn describe(&self) -> Description {
        // Truth values are the same in any dtype.
        let computes_in = |dtype| if dtype == DType::Bool { DType::I32 } else { DType::F32 };
        Description {
            engine: "oxionnx".into(),
            version: VERSION.into(),
            dtypes: DTypes::IR4.iter().map(|d| (d.name().into(), computes_in(d).name().into())).collect(),
            // It checks no model's opset.
            opset: None,
            levels: LEVELS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            overrides_defaults: true,
            files: true,
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let level = LEVELS.into_iter().find(|(name, _)| *name == case.level);
        let (_, level) = level
            .ok_or_else(|| EngineError::Unsupported(format!("no optimisation level `{}`", case.level)))?;
        let session = SessionBuilder::new().with_optimization_level(level).with_parallel_execution(false);
        let session = match case.model {
            Source::Message(bytes) => session.load_from_bytes(bytes),
            Source::File(path) => session.load(path),
        };
        let session = session.map_err(|e| error(&e, EngineError::Load))?;
        let inputs = case.tensors()?.into_iter().map(|(name, t)| Ok((name, native(name, t)?)));
        let inputs = inputs.collect::<Result<HashMap<&str, TypedTensor>, EngineError>>()?;
        let mut outputs = session.run_typed(&inputs).map_err(|e| error(&e, EngineError::Run))?;
        let wanted = case.outputs.iter().filter_map(|Wanted { name, .. }| {
            let output = outputs.remove(name)?;
            Some(tensor(name, output).map(|tensor| (name.clone(), tensor.into())))
        });
        wanted.collect()
    }
}

/// The error for one of oxionnx's: that it lacks something, or else what `otherwise` makes of it.
fn error(error: &OnnxError, otherwise: fn(String) -> EngineError) -> EngineError {
    match error {
        OnnxError::UnknownOp(_)
        | OnnxError::Unsupported(_)
        | OnnxError::UnsupportedOp(_)
        | OnnxError::DTypeMismatch(_) => EngineError::Unsupported(error.to_string()),
        _ => otherwise(error.to_string()),
    }
}

fn native(name: &str, tensor: &Tensor) -> Result<TypedTensor, EngineError> {
    fn vec<T: Copy>(array: &ArrayD<T>) -> Vec<T> {
        array.iter().copied().collect()
    }
    let storage = match tensor {
        Tensor::Bool(a) => TensorStorage::Bool(vec(a)),
        Tensor::I8(a) => TensorStorage::I8(vec(a)),
        Tensor::I16(a) => TensorStorage::I16(vec(a)),
        Tensor::I32(a) => TensorStorage::I32(vec(a)),
        Tensor::I64(a) => TensorStorage::I64(vec(a)),
        Tensor::U8(a) => TensorStorage::U8(vec(a)),
        Tensor::U16(a) => TensorStorage::U16(vec(a)),
        Tensor::U32(a) => TensorStorage::U32(vec(a)),
        Tensor::U64(a) => TensorStorage::U64(vec(a)),
        Tensor::F16(a) => TensorStorage::F16(a.iter().map(|v| v.to_bits()).collect()),
        Tensor::BF16(a) => TensorStorage::BF16(a.iter().map(|v| v.to_bits()).collect()),
        Tensor::F32(a) => TensorStorage::F32(vec(a)),
        Tensor::F64(a) => TensorStorage::F64(vec(a)),
        Tensor::I4(_)
        | Tensor::U4(_)
        | Tensor::I2(_)
        | Tensor::U2(_)
        | Tensor::F8E4M3FN(_)
        | Tensor::F8E4M3FNUZ(_)
        | Tensor::F8E5M2(_)
        | Tensor::F8E5M2FNUZ(_)
        | Tensor::F8E8M0(_)
        | Tensor::F4E2M1(_) => {
            return Err(EngineError::Unsupported(format!("input `{name}` is {}", tensor.dtype())));
        }
    };
    Ok(TypedTensor { storage, shape: tensor.shape().to_vec() })
}

/// An output, whatever its dtype: a wrong one must be seen.
fn tensor(name: &str, value: TypedTensor) -> Result<Tensor, EngineError> {
    fn array<T: ir::tensor::Element>(shape: &[usize], values: Vec<T>) -> Option<Tensor> {
        ArrayD::from_shape_vec(shape, values).ok().map(T::wrap)
    }
    let shape = &value.shape[..];
    let built = match value.storage {
        TensorStorage::Bool(v) => array(shape, v),
        TensorStorage::I8(v) => array(shape, v),
        TensorStorage::I16(v) => array(shape, v),
        TensorStorage::I32(v) => array(shape, v),
        TensorStorage::I64(v) => array(shape, v),
        TensorStorage::U8(v) => array(shape, v),
        TensorStorage::U16(v) => array(shape, v),
        TensorStorage::U32(v) => array(shape, v),
        TensorStorage::U64(v) => array(shape, v),
        TensorStorage::F16(v) => array(shape, v.into_iter().map(f16::from_bits).collect()),
        TensorStorage::BF16(v) => array(shape, v.into_iter().map(bf16::from_bits).collect()),
        TensorStorage::F32(v) => array(shape, v),
        TensorStorage::F64(v) => array(shape, v),
    };
    built.ok_or_else(|| {
        EngineError::Run(format!("output `{name}` has not as many elements as its shape {shape:?} says"))
    })
}
