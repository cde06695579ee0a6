//! [rten](https://crates.io/crates/rten): a pure Rust runtime with f32, i32, i8 and u8 tensors.
//!
//! It takes models with i64 and bool as i32, and f64 and f16 as f32, by design. Inputs are converted the same way
//! here, except that an i64 which no i32 can hold is refused instead of clamped: the answer could only be wrong.

use std::sync::Arc;

use ir::{DType, Datum, Tensor, Type, Wanted};
use rten::{DataType, Model, ModelOptions, RunOptions, ThreadPool, Value, ValueOrView, ValueType, ValueView};
use rten_tensor::prelude::*;

use worker::{Case, Description, Engine, EngineError, Source, threads};

/// The crate's version.
const VERSION: &str = env!("RTEN_VERSION");

/// The runtime, on as many threads as its worker may use.
pub struct Rten {
    threads: Arc<ThreadPool>,
}

impl Default for Rten {
    fn default() -> Self {
        Self { threads: Arc::new(ThreadPool::with_num_threads(threads())) }
    }
}

impl Engine for Rten {
    fn describe(&self) -> Description {
        let dtypes =
            DType::ALL.into_iter().filter_map(|d| Some((d.name().into(), stand_in(d)?.name().into())));
        Description {
            engine: "rten".into(),
            version: VERSION.into(),
            dtypes: dtypes.collect(),
            // It checks versions per operator and refuses only those older than it knows.
            opset: None,
            levels: vec!["none".into(), "all".into()],
            files: true,
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let optimise = match case.level {
            "none" => false,
            "all" => true,
            other => return Err(EngineError::Unsupported(format!("no optimisation level `{other}`"))),
        };
        let mut options = ModelOptions::with_all_ops();
        options.enable_optimization(optimise);
        let model = match case.model {
            Source::Message(bytes) => options.load(bytes.to_vec()),
            Source::File(path) => options.load_file(path),
        };
        let model = model.map_err(|e| error(e.to_string(), EngineError::Load))?;
        let run = |e: rten::RunError| error(e.to_string(), EngineError::Run);
        let inputs = case.tensors()?.into_iter().map(|(name, tensor)| {
            let id = model.node_id(name).map_err(run)?;
            Ok((id, ValueOrView::Value(value(name, tensor, declared(&model, id))?)))
        });
        let inputs = inputs.collect::<Result<Vec<_>, EngineError>>()?;
        let ids = case.outputs.iter().map(|wanted| model.node_id(&wanted.name).map_err(run));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let values = model.run(inputs, &ids, Some(options)).map_err(run)?;
        case.outputs
            .iter()
            .zip(&values)
            .map(|(Wanted { name, dtype, .. }, v)| Ok((name.clone(), tensor(name, v, *dtype)?.into())))
            .collect()
    }
}

/// The dtype that rten calculates in; `None` for those it refuses to load.
const fn stand_in(dtype: DType) -> Option<DType> {
    match dtype {
        DType::I8 | DType::U8 | DType::I32 | DType::F32 => Some(dtype),
        DType::Bool | DType::I64 => Some(DType::I32),
        DType::F16 | DType::F64 => Some(DType::F32),
        DType::I16
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::BF16
        | DType::I4
        | DType::U4
        | DType::I2
        | DType::U2
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0
        | DType::F4E2M1 => None,
    }
}

/// What rten says where it lacks an operator, a dtype of one ("expected tensor with type"), a rank or an output.
/// "Not supported" and "not valid" come as the same kind of error.
const LACKING: &[&str] = &[
    "not available",
    "not supported",
    "unsupported",
    "not enabled",
    "later are supported",
    "does not yet support",
    "expected tensor with type",
    "must have 4 dims (nchw)",
];

/// The error for a message: that rten lacks something, or else what `otherwise` makes of it.
fn error(message: String, otherwise: fn(String) -> EngineError) -> EngineError {
    let lower = message.to_lowercase();
    let lacks = LACKING.iter().any(|phrase| lower.contains(phrase));
    if lacks { EngineError::Unsupported(message) } else { otherwise(message) }
}

/// The dtype that the loaded model gives a graph input, if it does.
fn declared(model: &Model, id: rten::NodeId) -> Option<DType> {
    match model.node_info(id)?.dtype()? {
        ValueType::Tensor(DataType::Float) => Some(DType::F32),
        ValueType::Tensor(DataType::Int32) => Some(DType::I32),
        ValueType::Tensor(DataType::Int8) => Some(DType::I8),
        ValueType::Tensor(DataType::UInt8) => Some(DType::U8),
        _ => None,
    }
}

fn value(name: &str, tensor: &Tensor, declared: Option<DType>) -> Result<Value, EngineError> {
    let dtype = stand_in(tensor.dtype())
        .ok_or_else(|| EngineError::Unsupported(format!("input `{name}` is {}", tensor.dtype())))?;
    let converted = convert(name, tensor, declared.unwrap_or(dtype))?;
    let shape = tensor.shape();
    let built = match &converted {
        Tensor::F32(a) => Value::from_shape(shape, a.iter().copied().collect::<Vec<_>>()).ok(),
        Tensor::I32(a) => Value::from_shape(shape, a.iter().copied().collect::<Vec<_>>()).ok(),
        Tensor::I8(a) => Value::from_shape(shape, a.iter().copied().collect::<Vec<_>>()).ok(),
        Tensor::U8(a) => Value::from_shape(shape, a.iter().copied().collect::<Vec<_>>()).ok(),
        _ => None,
    };
    built.ok_or_else(|| EngineError::Unsupported(format!("input `{name}` of type {}", tensor.ty())))
}

fn tensor(name: &str, value: &Value, wanted: DType) -> Result<Tensor, EngineError> {
    let shape: Vec<i64> = value.shape().iter().map(|&d| d as i64).collect();
    let of = |dtype| Type::new(dtype, shape.clone());
    let native = match value.as_view() {
        ValueView::FloatTensor(t) => from_bytes(&of(DType::F32), t.iter().flat_map(|v| v.to_le_bytes())),
        ValueView::Int32Tensor(t) => from_bytes(&of(DType::I32), t.iter().flat_map(|v| v.to_le_bytes())),
        ValueView::Int8Tensor(t) => from_bytes(&of(DType::I8), t.iter().flat_map(|v| v.to_le_bytes())),
        ValueView::UInt8Tensor(t) => from_bytes(&of(DType::U8), t.iter().copied()),
        other => return Err(EngineError::Unsupported(format!("output `{name}` is a {}", other.dtype()))),
    }?;
    // A float where integers are wanted, or the reverse, is the engine's mistake: it must be seen, not converted.
    if stand_in(wanted) == Some(native.dtype()) { convert(name, &native, wanted) } else { Ok(native) }
}

fn from_bytes(ty: &Type, bytes: impl Iterator<Item = u8>) -> Result<Tensor, EngineError> {
    Tensor::from_bytes(ty, &bytes.collect::<Vec<_>>()).map_err(|e| EngineError::Run(e.to_string()))
}

/// A tensor's values in another dtype: floats round, integers must fit.
fn convert(name: &str, tensor: &Tensor, to: DType) -> Result<Tensor, EngineError> {
    let ty = tensor.ty().with_dtype(to);
    if tensor.dtype() == to {
        return Ok(tensor.clone());
    }
    if to.is_float() {
        let values = tensor.to_f64s();
        return Ok(Tensor::from_f64_fn(&ty, |i| values[i]));
    }
    let values = tensor.to_i128s();
    if let (Some((low, high)), true) = (to.int_range(), to != DType::Bool)
        && let Some(v) = values.iter().find(|v| !(low..=high).contains(*v))
    {
        return Err(EngineError::Unsupported(format!("{v} in `{name}` does not fit {to}")));
    }
    Ok(Tensor::from_i128_fn(&ty, |i| values[i]))
}
