//! The reference interpreter as an engine, so that `--on interp` works like any other backend.

use std::collections::BTreeMap;

use backends::worker::{Case, Description, Engine, EngineError};
use ir::{DType, Tensor};

use crate::target::REFERENCE;

/// Evaluates models with the reference semantics, values alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reference;

impl Engine for Reference {
    fn describe(&self) -> Description {
        Description {
            engine: REFERENCE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["reference".to_owned()],
        }
    }

    fn run(&mut self, case: &Case<'_>) -> Result<Vec<(String, Tensor)>, EngineError> {
        let known: BTreeMap<String, Tensor> = case.inputs.iter().cloned().collect();
        let imported = crate::case::import(case.model, &known).map_err(|e| match e {
            onnx::Error::Unsupported { .. } => EngineError::Unsupported(e.to_string()),
            _ => EngineError::Load(e.to_string()),
        })?;
        let inputs = bind(&imported, &known).map_err(EngineError::Run)?;
        let outputs =
            interp::evaluate_plain(&imported, &inputs).map_err(|e| EngineError::Run(e.to_string()))?;
        let names = imported.graph.outputs.iter().map(|o| o.name.clone());
        Ok(names.zip(outputs).collect())
    }
}

/// The tensors for a model's variables, by name.
pub fn bind(model: &ops::Model, named: &BTreeMap<String, Tensor>) -> Result<Vec<Tensor>, String> {
    let find =
        |name: &str| named.get(name).cloned().ok_or_else(|| format!("there is no tensor for input `{name}`"));
    model.graph.variables().map(|(_, name, _)| find(name)).collect()
}
