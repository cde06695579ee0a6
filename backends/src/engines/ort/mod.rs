//! [ONNX Runtime](https://onnxruntime.ai), through the crate [ort](https://crates.io/crates/ort): a shared library that
//! is found when the worker starts, so any build of it can be tested without building this program anew.
//!
//! It calculates in every dtype that is asked for. Where its kernels lack one it says so when it loads the model.

mod library;
mod written;

pub use self::library::LibraryError;

use std::time::SystemTime;

use ::ort::environment::Environment;
use ::ort::memory::Allocator;
use ::ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ::ort::session::{Session, SessionInputValue};
use ::ort::value::{
    DynTensor, DynTensorValueType, DynValue, PrimitiveTensorElementType, TensorElementType, TensorRef,
};
use ::ort::{Error, ErrorCode};
use ir::{DType, DTypes, Datum, Tensor, Type, Wanted};
use ndarray::ArrayD;
use ops::Model;

use worker::protocol::WRITTEN;
use worker::{Case, Description, Engine, EngineError, Source, threads};

/// The name under which ONNX Runtime is known.
pub const NAME: &str = "ort";

/// The optimisation levels, in ONNX Runtime's words; each includes those before it.
const LEVELS: [(&str, GraphOptimizationLevel); 4] = [
    ("none", GraphOptimizationLevel::Disable),
    ("basic", GraphOptimizationLevel::Level1),
    ("extended", GraphOptimizationLevel::Level2),
    ("all", GraphOptimizationLevel::All),
];

/// The runtime, on as many threads as its worker may use.
#[derive(Debug)]
pub struct Ort {
    environment: Environment,
    version: String,
    opset: Option<u32>,
}

impl Ort {
    /// Loads the shared library that [`ORT_LIBRARY`](super::ORT_LIBRARY) names, or the one that the system's loader finds.
    pub fn open() -> Result<Self, LibraryError> {
        let (environment, version) = library::load()?;
        written::remove_stale(&std::env::temp_dir(), SystemTime::now());
        let opset = newest_opset(&environment);
        Ok(Self { environment, version, opset })
    }

    /// The model as ONNX Runtime writes it when it has optimised it.
    fn written(&self, model: Source<'_>, level: GraphOptimizationLevel) -> Result<Vec<u8>, EngineError> {
        let path = std::env::temp_dir().join(written::name());
        let session = builder(&self.environment, level)
            .and_then(|builder| committed(builder.with_optimized_model_path(&path)?, model));
        let bytes = std::fs::read(&path);
        // It is there only if the model could be loaded and written.
        let _ = std::fs::remove_file(&path);
        drop(session.map_err(|e| failure(&e, EngineError::Load))?);
        bytes.map_err(|e| EngineError::Run(format!("the optimised model was not written: {e}")))
    }

    fn session(&self, model: Source<'_>, level: GraphOptimizationLevel) -> Result<Session, Error> {
        load(&self.environment, model, level)
    }
}

fn builder(environment: &Environment, level: GraphOptimizationLevel) -> Result<SessionBuilder, Error> {
    let builder = Session::builder(environment)?.with_optimization_level(level)?;
    Ok(builder.with_intra_threads(threads())?.with_inter_threads(1)?)
}

fn load(
    environment: &Environment,
    model: Source<'_>,
    level: GraphOptimizationLevel,
) -> Result<Session, Error> {
    committed(builder(environment, level)?, model)
}

fn committed(mut builder: SessionBuilder, model: Source<'_>) -> Result<Session, Error> {
    match model {
        Source::Message(bytes) => builder.commit_from_memory(bytes),
        Source::File(path) => builder.commit_from_file(path),
    }
}

/// The newest opset, among those this program knows, of which the library loads a model. Libraries that are newer
/// or older than this program differ in it.
fn newest_opset(environment: &Environment) -> Option<u32> {
    ir::graph::OPSETS.rev().find(|opset| {
        let text = format!(
            "onnxsmith 1 opset {opset}\ngraph {{\n  %0: f32[1] = variable \"x\"\n  %1: f32[1] = Relu(%0)\n  \
             return \"y\" = %1\n}}\n"
        );
        let proto = text.parse::<Model>().ok().and_then(|model| onnx::export::export(&model).ok());
        proto.is_some_and(|proto| {
            load(environment, Source::Message(&onnx::export::encode(&proto)), GraphOptimizationLevel::Disable)
                .is_ok()
        })
    })
}

impl Engine for Ort {
    fn describe(&self) -> Description {
        Description {
            engine: NAME.into(),
            version: self.version.clone(),
            dtypes: dtypes().iter().map(|d| (d.name().into(), d.name().into())).collect(),
            opset: self.opset.map(i64::from),
            levels: LEVELS.map(|(name, _)| name.to_owned()).into(),
            overrides_defaults: true,
            files: true,
            written: LEVELS.map(|(name, _)| name.to_owned()).into(),
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let name = case.level.strip_suffix(WRITTEN);
        let level = LEVELS.into_iter().find(|(known, _)| *known == name.unwrap_or(case.level));
        let (_, level) = level
            .ok_or_else(|| EngineError::Unsupported(format!("no optimisation level `{}`", case.level)))?;
        let session = if name.is_some() {
            let written = self.written(case.model, level)?;
            self.session(Source::Message(&written), GraphOptimizationLevel::Disable)
        } else {
            self.session(case.model, level)
        };
        let mut session = session.map_err(|e| failure(&e, EngineError::Load))?;
        let run = |e: Error| failure(&e, EngineError::Run);
        let inputs = case.tensors()?.into_iter().map(|(name, t)| Ok((name, value(t)?)));
        let inputs = inputs.collect::<Result<Vec<_>, EngineError>>()?;
        let outputs = session.run(inputs).map_err(run)?;
        let wanted = case.outputs.iter().filter_map(|Wanted { name, .. }| {
            let output = outputs.get(name)?;
            Some(tensor(name, output).map(|tensor| (name.clone(), tensor.into())))
        });
        wanted.collect()
    }
}

/// What ONNX Runtime says, beside its error code for it, where it lacks an operator or a version of ONNX.
const LACKING: &[&str] =
    &["is not a registered function/op", "official support for domain", "Unsupported model IR version"];

/// The error for one of ONNX Runtime's: that it lacks something, or else what `otherwise` makes of it.
fn failure(error: &Error, otherwise: fn(String) -> EngineError) -> EngineError {
    let message = error.message().to_owned();
    let lacks = error.code() == ErrorCode::NotImplemented || LACKING.iter().any(|p| message.contains(p));
    if lacks { EngineError::Unsupported(message) } else { otherwise(message) }
}

/// A view of a tensor; a copy of one whose elements have no type in Rust.
fn value(tensor: &Tensor) -> Result<SessionInputValue<'_>, EngineError> {
    fn view<T>(array: &ArrayD<T>) -> Result<SessionInputValue<'_>, EngineError>
    where
        T: PrimitiveTensorElementType + Clone + std::fmt::Debug + 'static,
    {
        let view = TensorRef::from_array_view(array.view()).map_err(|e| failure(&e, EngineError::Run))?;
        Ok(view.into())
    }
    match tensor {
        Tensor::Bool(a) => view(a),
        Tensor::I8(a) => view(a),
        Tensor::I16(a) => view(a),
        Tensor::I32(a) => view(a),
        Tensor::I64(a) => view(a),
        Tensor::U8(a) => view(a),
        Tensor::U16(a) => view(a),
        Tensor::U32(a) => view(a),
        Tensor::U64(a) => view(a),
        Tensor::F16(a) => view(a),
        Tensor::BF16(a) => view(a),
        Tensor::F32(a) => view(a),
        Tensor::F64(a) => view(a),
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
            let copied = copied(tensor).map_err(|e| failure(&e, EngineError::Run))?;
            Ok(copied.into())
        }
    }
}

/// A tensor of the runtime's own, from the bytes of one of ours: elements of less than 8 bits lie alike in both.
#[allow(unsafe_code, reason = "there is no type of elements to view it as")]
fn copied(tensor: &Tensor) -> Result<DynTensor, Error> {
    let bytes = tensor.to_bytes();
    let mut value = DynTensor::new(&Allocator::default(), element(tensor.dtype()), tensor.shape().to_vec())?;
    if !bytes.is_empty() {
        // SAFETY: the default allocator gives memory of the CPU, enough for all elements, and nothing else has it yet.
        unsafe { value.data_ptr_mut().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
    Ok(value)
}

/// The element types of the runtime, as far as they are dtypes here.
const ELEMENTS: [(DType, TensorElementType); 23] = [
    (DType::Bool, TensorElementType::Bool),
    (DType::I8, TensorElementType::Int8),
    (DType::I16, TensorElementType::Int16),
    (DType::I32, TensorElementType::Int32),
    (DType::I64, TensorElementType::Int64),
    (DType::U8, TensorElementType::Uint8),
    (DType::U16, TensorElementType::Uint16),
    (DType::U32, TensorElementType::Uint32),
    (DType::U64, TensorElementType::Uint64),
    (DType::F16, TensorElementType::Float16),
    (DType::BF16, TensorElementType::Bfloat16),
    (DType::F32, TensorElementType::Float32),
    (DType::F64, TensorElementType::Float64),
    (DType::I4, TensorElementType::Int4),
    (DType::U4, TensorElementType::Uint4),
    (DType::I2, TensorElementType::Int2),
    (DType::U2, TensorElementType::Uint2),
    (DType::F8E4M3FN, TensorElementType::Float8E4M3FN),
    (DType::F8E4M3FNUZ, TensorElementType::Float8E4M3FNUZ),
    (DType::F8E5M2, TensorElementType::Float8E5M2),
    (DType::F8E5M2FNUZ, TensorElementType::Float8E5M2FNUZ),
    (DType::F8E8M0, TensorElementType::Float8E8M0),
    (DType::F4E2M1, TensorElementType::Float4E2M1),
];

/// The element type that a dtype is.
fn element(dtype: DType) -> TensorElementType {
    let same = ELEMENTS.iter().find(|(known, _)| *known == dtype);
    same.map_or(TensorElementType::Undefined, |(_, element)| *element)
}

/// The dtype that an element type is.
fn dtype(element: TensorElementType) -> Option<DType> {
    ELEMENTS.iter().find(|(_, known)| *known == element).map(|(dtype, _)| *dtype)
}

/// The dtypes of which the loaded library makes tensors: an older one knows fewer.
fn dtypes() -> DTypes {
    let makes = |dtype: &DType| DynTensor::new(&Allocator::default(), element(*dtype), [1_usize]).is_ok();
    DTypes::IR4.union(DTypes::NARROW.iter().filter(makes).collect())
}

/// A copy of an output, whatever its dtype: a wrong one must be seen.
#[allow(
    unsafe_code,
    reason = "a `bool` that is neither 0 nor 1 must be read as a byte, and only a pointer allows that"
)]
fn tensor(name: &str, value: &DynValue) -> Result<Tensor, EngineError> {
    let foreign = || EngineError::Unsupported(format!("output `{name}` is {}", value.dtype()));
    let value = value.view().downcast::<DynTensorValueType>().map_err(|_| foreign())?;
    let dtype = dtype(*value.data_type()).ok_or_else(foreign)?;
    let ty = Type::new(dtype, value.shape().to_vec());
    let bytes = match ty.bytes() as usize {
        // Without elements the pointer may be null.
        0 => &[],
        // SAFETY: a tensor on the CPU provider holds the elements of its type, contiguous, and outlives the slice.
        len => unsafe { std::slice::from_raw_parts(value.data_ptr().cast::<u8>(), len) },
    };
    Tensor::answered(&ty, bytes).map_err(|e| EngineError::Run(format!("output `{name}`: {e}")))
}
