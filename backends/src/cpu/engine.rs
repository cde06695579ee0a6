//! A node runner behind the worker protocol: an engine that reads ONNX with this program's own importer.

use std::collections::BTreeMap;

use ir::{DType, NodeKind, Operation, Tensor, Type};
use onnx::import::{Options, import};
use onnx::proto::{ModelProto, decode};
use ops::{Graph, Model};

use super::Cpu;
use super::model::{NodeRunner, run_model};
use crate::worker::{Case, Description, Engine, EngineError};

/// The engine of our own CPU kernels.
pub type CpuEngine = GraphEngine<Cpu>;

/// An engine that runs models node by node.
#[derive(Clone, Debug)]
pub struct GraphEngine<R> {
    name: String,
    runner: R,
}

impl Default for CpuEngine {
    fn default() -> Self {
        Self::new("cpu", Cpu)
    }
}

impl<R: NodeRunner> GraphEngine<R> {
    /// An engine of that name whose nodes are run by `runner`.
    pub fn new(name: impl Into<String>, runner: R) -> Self {
        Self { name: name.into(), runner }
    }

    /// Refuses a model with a node that the runner has no kernel for.
    fn check_support(&self, graph: &Graph) -> Result<(), EngineError> {
        for node in &graph.nodes {
            if let NodeKind::Operator(op) = &node.kind {
                let types: Vec<Option<&Type>> = node.inputs.iter().map(|v| v.map(|v| graph.ty(v))).collect();
                if let Some(why) = self.runner.support(op, &types).why_not() {
                    return Err(EngineError::Unsupported(format!("{}: {why}", op.name())));
                }
            }
        }
        Ok(())
    }
}

impl<R: NodeRunner> Engine for GraphEngine<R> {
    fn describe(&self) -> Description {
        Description {
            engine: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            dtypes: DType::ALL.iter().map(|d| (d.name().into(), d.name().into())).collect(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["default".into()],
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Tensor)>, EngineError> {
        if case.level != "default" {
            return Err(EngineError::Unsupported(format!("no optimisation level `{}`", case.level)));
        }
        let mut inputs: BTreeMap<String, Tensor> = case.inputs.iter().cloned().collect();
        let model = read(case.model, &inputs)?;
        let bodies = model.functions.iter().map(|f| &f.body);
        bodies.chain([&model.graph]).try_for_each(|graph| self.check_support(graph))?;
        let lacks = |name: &str| EngineError::Run(format!("input `{name}` is missing"));
        let variables = model.graph.variables();
        let inputs: Result<Vec<Tensor>, EngineError> =
            variables.map(|(_, name, _)| inputs.remove(name).ok_or_else(|| lacks(name))).collect();
        let outputs =
            run_model(&model, &inputs?, &mut self.runner).map_err(|e| EngineError::Run(e.to_string()))?;
        let mut by_name: BTreeMap<&str, Tensor> =
            model.graph.outputs.iter().map(|o| o.name.as_str()).zip(outputs).collect();
        let wanted = |(name, _): &(String, DType)| match by_name.remove(name.as_str()) {
            Some(tensor) => Ok((name.clone(), tensor)),
            None => Err(EngineError::Run(format!("the model has no output `{name}`"))),
        };
        case.outputs.iter().map(wanted).collect()
    }
}

/// The model in the bytes. Inputs' values settle what the model leaves open.
fn read(bytes: &[u8], known_inputs: &BTreeMap<String, Tensor>) -> Result<Model, EngineError> {
    let options = Options { known_inputs, ..Options::default() };
    let model = decode::<ModelProto>("model", bytes).and_then(|proto| import(&proto, &options));
    match model {
        Ok(imported) => Ok(imported.model),
        Err(e @ onnx::Error::Unsupported { .. }) => Err(EngineError::Unsupported(e.to_string())),
        Err(e) => Err(EngineError::Load(e.to_string())),
    }
}
