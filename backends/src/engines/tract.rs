//! [tract](https://crates.io/crates/tract-onnx): a pure Rust runtime whose passes can be stopped half way.
//!
//! `none` runs the model as typed, `declutter` after the passes that simplify it, `optimize` after those that
//! choose kernels too. It writes models as NNEF, which knows nothing of kernels, so `optimize` is not written.

use std::cell::OnceCell;
use std::sync::Arc;

use ir::{DType, Datum, Tensor, Type, Wanted};
use tract_nnef::framework::Nnef;
use tract_onnx::WithOnnx;
use tract_onnx::prelude::{
    DatumType, Framework, InferenceModelExt, IntoRunnable, TValue, TractError, TypedModel, TypedRunnableModel,
};
use tract_onnx::tract_hir::infer::InferenceFact;

use worker::protocol::WRITTEN;
use worker::{Case, Description, Engine, EngineError, Source};

type Native = tract_onnx::prelude::Tensor;

/// The crate's version.
const VERSION: &str = env!("TRACT_VERSION");

/// The runtime. It has one thread unless its `multithread-mm` feature is on, which it is not.
pub struct Tract {
    reader: tract_onnx::Onnx,
    /// Made where a model is written: to make it takes longer than most models run, and each panic costs a process.
    writer: OnceCell<Nnef>,
}

impl Default for Tract {
    fn default() -> Self {
        Self { reader: tract_onnx::onnx(), writer: OnceCell::new() }
    }
}

impl Engine for Tract {
    fn describe(&self) -> Description {
        let dtypes = DType::ALL.into_iter().filter(|&d| datum(d).is_some());
        Description {
            engine: "tract".into(),
            version: VERSION.into(),
            dtypes: dtypes.map(|d| (d.name().into(), d.name().into())).collect(),
            // Its portable kernels add halves in halves.
            accumulators: [("f16".into(), "f16".into())].into(),
            // It checks no model's opset.
            opset: None,
            levels: vec!["none".into(), "declutter".into(), "optimize".into()],
            files: true,
            written: vec!["none".into(), "declutter".into()],
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let inputs =
            case.tensors()?.into_iter().map(|(name, t)| native(name, t)).collect::<Result<Vec<_>, _>>()?;
        let (names, plan, order) = self.load(case, &inputs)?;
        let inputs = order.into_iter().map(|i| TValue::from(inputs[i].clone())).collect();
        let outputs = plan.run(inputs).map_err(run_error)?;
        let wanted = case.outputs.iter().filter_map(|Wanted { name, dtype, .. }| {
            let output = outputs.get(names.iter().position(|n| n == name)?)?;
            Some(tensor(name, output, *dtype).map(|tensor| (name.clone(), tensor.into())))
        });
        wanted.collect()
    }
}

/// The model's output names, its plan, and for each of its inputs the index of the case's input.
type Loaded = (Vec<String>, Arc<TypedRunnableModel>, Vec<usize>);

impl Tract {
    fn load(&self, case: &Case, inputs: &[Native]) -> Result<Loaded, EngineError> {
        let proto = match case.model {
            Source::Message(mut bytes) => self.reader.proto_model_for_read(&mut bytes),
            Source::File(path) => self.reader.proto_model_for_path(path),
        };
        let proto = proto.map_err(load_error)?;
        let names = proto.graph.iter().flat_map(|g| &g.output).map(|o| o.name.clone()).collect();
        let model = match case.model {
            Source::Message(_) => self.reader.model_for_proto_model(&proto),
            Source::File(path) => self.reader.model_for_path(path),
        };
        let mut model = model.map_err(load_error)?;
        let mut order = Vec::new();
        for position in 0..model.inputs.len() {
            let name = &model.node(model.inputs[position].node).name;
            let given = case.inputs.iter().position(|(n, _)| n == name);
            let given = given.ok_or_else(|| EngineError::Run(format!("the input `{name}` is not given")))?;
            let fact = InferenceFact::dt_shape(inputs[given].datum_type(), inputs[given].shape());
            model.set_input_fact(position, fact).map_err(load_error)?;
            order.push(given);
        }
        let typed = model.into_typed();
        let level = case.level.strip_suffix(WRITTEN);
        let model = match level.unwrap_or(case.level) {
            "none" => typed,
            "declutter" => typed.and_then(TypedModel::into_decluttered),
            "optimize" if level.is_none() => typed.and_then(TypedModel::into_optimized),
            _ => return Err(EngineError::Unsupported(format!("no optimisation level `{}`", case.level))),
        };
        let mut model = model.map_err(load_error)?;
        if level.is_some() {
            // Names do not survive, as NNEF has fewer characters for them; positions do.
            model = self.reread(&model)?;
        }
        let plan = model.into_runnable().map_err(load_error)?;
        Ok((names, plan, order))
    }

    /// The model after a round trip through NNEF.
    fn reread(&self, model: &TypedModel) -> Result<TypedModel, EngineError> {
        // tract's own extensions are what operators of ONNX that NNEF lacks are written in.
        let writer = self.writer.get_or_init(|| tract_nnef::nnef().with_onnx());
        let written = writer.write_to_tar(model, Vec::new()).map_err(write_error)?;
        // tract must read what it has written, so a failure here is no lack.
        let read = writer.model_for_read(&mut written.as_slice());
        read.map_err(|e| EngineError::Load(format!("its NNEF cannot be read: {e:#}")))
    }
}

/// What tract says of what it lacks: an operator, a form of it, or a dtype for it.
const LACKING: [&str; 6] = [
    "unimplemented",
    "unsupported",
    "not supported",
    "not implemented",
    // A dtype for which a macro that dispatches on dtypes has no branch.
    "is not a number",
    "eval in-place not defined",
];

/// What tract lacks shows as an operator that only fails when it is typed.
#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` wants")]
fn load_error(error: TractError) -> EngineError {
    lacking(&error).unwrap_or_else(|| EngineError::Load(format!("{error:#}")))
}

/// A dtype that it lacks may show only when an operator runs.
#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` wants")]
fn run_error(error: TractError) -> EngineError {
    lacking(&error).unwrap_or_else(|| EngineError::Run(format!("{error:#}")))
}

/// What its NNEF has no form for: an operator, or a tensor.
const INEXPRESSIBLE: [&str; 3] =
    ["No serializer found for node", "Only rank up to 8 are supported", "Don't know how to serialize"];

#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` wants")]
fn write_error(error: TractError) -> EngineError {
    let message = format!("{error:#}");
    if INEXPRESSIBLE.iter().any(|phrase| message.contains(phrase)) {
        return EngineError::Unsupported(message);
    }
    lacking(&error).unwrap_or_else(|| EngineError::Load(format!("it cannot be written as NNEF: {message}")))
}

/// A symbolic dimension: what tract makes of an i64 that comes of a shape. No model asks for it, so an operator that tract
/// has for i64 is not lacking where it has none for this.
const SYMBOLIC: &str = "TDim";

fn lacking(error: &TractError) -> Option<EngineError> {
    let message = format!("{error:#}");
    if message.contains(SYMBOLIC) {
        return None;
    }
    let lower = message.to_lowercase();
    LACKING.iter().any(|phrase| lower.contains(phrase)).then_some(EngineError::Unsupported(message))
}

const fn datum(dtype: DType) -> Option<DatumType> {
    match dtype {
        DType::Bool => Some(DatumType::Bool),
        DType::I8 => Some(DatumType::I8),
        DType::I16 => Some(DatumType::I16),
        DType::I32 => Some(DatumType::I32),
        DType::I64 => Some(DatumType::I64),
        DType::U8 => Some(DatumType::U8),
        DType::U16 => Some(DatumType::U16),
        DType::U32 => Some(DatumType::U32),
        DType::U64 => Some(DatumType::U64),
        DType::F16 => Some(DatumType::F16),
        DType::F32 => Some(DatumType::F32),
        DType::F64 => Some(DatumType::F64),
        DType::BF16
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

fn native(name: &str, tensor: &Tensor) -> Result<Native, EngineError> {
    let dtype = datum(tensor.dtype())
        .ok_or_else(|| EngineError::Unsupported(format!("input `{name}` is {}", tensor.dtype())))?;
    let mut out = Native::zero_dt(dtype, tensor.shape())
        .map_err(|e| EngineError::Run(format!("input `{name}`: {e:#}")))?;
    out.as_bytes_mut().copy_from_slice(&tensor.to_bytes());
    Ok(out)
}

fn tensor(name: &str, value: &Native, wanted: DType) -> Result<Tensor, EngineError> {
    let failed = |e: String| EngineError::Run(format!("output `{name}`: {e}"));
    // Shapes are symbolic expressions inside tract; everything else must already have the declared dtype, and
    // where it has not, the difference must be seen.
    let plain =
        if value.datum_type() == DatumType::TDim { DatumType::I64 } else { value.datum_type().unquantized() };
    let value = value.cast_to_dt(plain).map_err(|e| failed(format!("{e:#}")))?;
    let dtype = DType::ALL.into_iter().find(|&d| datum(d) == Some(plain));
    let dtype =
        dtype.ok_or_else(|| EngineError::Unsupported(format!("{wanted} output `{name}` is {plain:?}")))?;
    let shape: Vec<i64> = value.shape().iter().map(|&d| d as i64).collect();
    Tensor::from_bytes(&Type::new(dtype, shape), value.as_bytes()).map_err(|e| failed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_models_is_made_when_one_is_written() {
        let tract = Tract::default();
        assert!(tract.writer.get().is_none());
        tract.reread(&TypedModel::default()).expect("an empty model is written and read");
        assert!(tract.writer.get().is_some());
    }

    #[test]
    fn what_it_has_for_i64_is_not_lacking_for_symbolic_dimensions() {
        let said = |message: &str| lacking(&TractError::msg(message.to_owned()));
        assert!(matches!(said("Reduce: U32 is not a number"), Some(EngineError::Unsupported(_))));
        assert!(said("Reduce: TDim is not a number").is_none());
    }
}
