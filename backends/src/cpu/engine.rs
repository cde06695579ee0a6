//! A node runner behind the worker protocol.

use ir::{DType, NodeKind, Operation, Tensor};
use ops::{Graph, Model};

use super::Kernels;
use super::model::{NodeRunner, run_model_on};
use crate::engines::models::{OnModels, Runner};
use worker::{Description, EngineError, threads};

/// The engine of our own CPU kernels.
pub type CpuEngine = OnModels<CpuRunner>;

/// The level of the kernels with vectors.
const DEFAULT: &str = "default";

/// The level of the plain kernels, which are slow where it matters: they are there for the others to be compared with.
const PLAIN: &str = "plain";

/// Our own CPU kernels, at either level, on as many threads as a worker may use.
#[derive(Clone, Debug)]
pub struct CpuRunner(GraphRunner<Kernels>);

impl Default for CpuRunner {
    fn default() -> Self {
        Self(GraphRunner::new("cpu", Kernels::Vector { threads: threads() }))
    }
}

impl Runner for CpuRunner {
    fn describe(&self) -> Description {
        Description { on_request: vec![PLAIN.to_owned()], ..self.0.describe() }
    }

    fn take_level(&mut self, level: &str) {
        self.0.runner = if level == PLAIN { Kernels::Plain } else { Kernels::Vector { threads: threads() } };
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        self.0.run(model, inputs)
    }

    fn run_on(&mut self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, EngineError> {
        self.0.run_on(model, inputs)
    }
}

/// Runs models node by node.
#[derive(Clone, Debug)]
pub struct GraphRunner<R> {
    name: String,
    runner: R,
}

impl<R: NodeRunner> GraphRunner<R> {
    /// An engine of that name whose nodes are run by `runner`.
    pub fn new(name: impl Into<String>, runner: R) -> Self {
        Self { name: name.into(), runner }
    }

    /// Refuses a graph with a node that the runner has no kernel for.
    fn check_support(&self, graph: &Graph) -> Result<(), EngineError> {
        for node in &graph.nodes {
            if let NodeKind::Operator(op) = &node.kind {
                let types = graph.types(&node.inputs);
                if let Some(why) = self.runner.support(op, &types).why_not() {
                    return Err(EngineError::Unsupported(format!("{}: {why}", op.name())));
                }
            }
        }
        Ok(())
    }
}

impl<R: NodeRunner> Runner for GraphRunner<R> {
    fn describe(&self) -> Description {
        Description {
            engine: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            dtypes: DType::ALL.iter().map(|d| (d.name().into(), d.name().into())).collect(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec![DEFAULT.into()],
            profile: Some("tight".into()),
            // Elements are widened when they are read, and rounded when they are stored.
            accumulators: [("f16", "f32"), ("bf16", "f32")].map(|(of, by)| (of.into(), by.into())).into(),
            repeats: true,
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        self.run_on(model, &inputs.iter().collect::<Vec<_>>())
    }

    fn run_on(&mut self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let bodies = model.functions.iter().map(|f| &f.body);
        bodies.chain([&model.graph]).try_for_each(|graph| self.check_support(graph))?;
        run_model_on(model, inputs, &mut self.runner).map_err(|e| EngineError::Run(e.to_string()))
    }
}
