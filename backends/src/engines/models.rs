//! Engines that run this program's own form of a model, behind the same protocol as foreign runtimes.

use std::collections::BTreeMap;

use ir::Tensor;
use onnx::Error;
use onnx::import::{Options, import};
use onnx::proto::{ModelProto, decode};
use ops::Model;

use worker::{Case, Description, Engine, EngineError};

/// Something that runs models.
pub trait Runner {
    /// What it is and can do. Every level it names is one that [`Runner::run`] takes.
    fn describe(&self) -> Description;

    /// The outputs of a valid model, in order, for inputs in the order of its variables.
    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError>;
}

/// The engine of a [`Runner`]: reads ONNX, and pairs tensors with names.
#[derive(Clone, Debug, Default)]
pub struct OnModels<R>(pub R);

impl<R: Runner> Engine for OnModels<R> {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Tensor)>, EngineError> {
        if !self.0.describe().levels.iter().any(|level| level == case.level) {
            return Err(EngineError::Unsupported(format!("no optimisation level `{}`", case.level)));
        }
        let mut named: BTreeMap<String, Tensor> = case.inputs.iter().cloned().collect();
        let model = read(case.model, &named)?;
        let mut input = |name: &str| {
            let given = named.remove(name);
            given.ok_or_else(|| EngineError::Run(format!("there is no tensor for input `{name}`")))
        };
        let inputs: Vec<Tensor> =
            model.graph.variables().map(|(_, name, _)| input(name)).collect::<Result<_, _>>()?;
        let outputs = self.0.run(&model, &inputs)?;
        let mut by_name: BTreeMap<&str, Tensor> =
            model.graph.outputs.iter().map(|o| o.name.as_str()).zip(outputs).collect();
        let wanted = case.outputs.iter().map(|(name, _)| {
            let output = by_name.remove(name.as_str());
            let output =
                output.ok_or_else(|| EngineError::Run(format!("the model has no output `{name}`")))?;
            Ok((name.clone(), output))
        });
        wanted.collect()
    }
}

/// The model in the bytes. The inputs' values settle what the model leaves open.
fn read(bytes: &[u8], known_inputs: &BTreeMap<String, Tensor>) -> Result<Model, EngineError> {
    let options = Options { known_inputs, ..Options::default() };
    let proto = decode::<ModelProto>("model", bytes).and_then(|proto| import(&proto, &options));
    proto.map(|imported| imported.model).map_err(|e| match e {
        Error::Unsupported { .. } => EngineError::Unsupported(e.to_string()),
        Error::Invalid { .. } | Error::Io { .. } => EngineError::Load(e.to_string()),
    })
}
