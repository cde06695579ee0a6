//! The reference interpreter as an engine, so that `--on interp` works like any other backend.

use std::collections::BTreeMap;

use backends::engines::models::Runner;
use backends::worker::{Description, EngineError};
use ir::{DType, Tensor};
use ops::Model;

use crate::target::REFERENCE;

/// Evaluates models with the reference semantics, values alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reference;

impl Runner for Reference {
    fn describe(&self) -> Description {
        Description {
            engine: REFERENCE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["reference".to_owned()],
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        interp::evaluate_plain(model, inputs).map_err(|e| EngineError::Run(e.to_string()))
    }
}

/// The tensors for a model's variables, by name.
pub fn bind(model: &Model, named: &BTreeMap<String, Tensor>) -> Result<Vec<Tensor>, String> {
    let find =
        |name: &str| named.get(name).cloned().ok_or_else(|| format!("there is no tensor for input `{name}`"));
    model.graph.variables().map(|(_, name, _)| find(name)).collect()
}
