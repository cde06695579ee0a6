//! Running a whole model: one recording, intermediates on the device, one wait at the end.

use std::sync::Arc;

use ir::execute::{Each, Keep, Machine, Step, execute};
use ir::{NodeKind, Operation, Output, Tensor};
use ops::{Graph, Model, Op};

use super::{Gpu, GpuError, GpuTensor, dispatch};
use crate::support::Support;

/// The node of a model that failed, and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("node %{node} ({op}): {cause}")]
pub struct NodeError {
    /// Its position in its graph; one past the last node if the device failed when the results were read.
    pub node: u32,
    /// The operator, or what else the node is.
    pub op: String,
    /// What went wrong.
    #[source]
    pub cause: GpuError,
}

impl Gpu {
    /// Runs a validated model. `inputs` are its variables' tensors in order; the result has its outputs in order.
    ///
    /// Of a model that fails nothing is left to run: what is recorded is discarded, also what somebody else has recorded.
    pub fn run(&self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, NodeError> {
        let bodies = model.functions.iter().map(|function| &function.body);
        bodies.chain([&model.graph]).try_for_each(|graph| has_kernels(model, graph))?;
        let ran = self.run_supported(model, inputs);
        if ran.is_err() {
            self.discard();
        }
        ran
    }

    fn run_supported(&self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, NodeError> {
        let end =
            |cause| NodeError { node: model.graph.nodes.len() as u32, op: "readback".to_owned(), cause };
        let upload = |t: &&Tensor| self.upload(t);
        let inputs: Vec<_> = inputs.iter().map(upload).collect::<Result<_, _>>().map_err(end)?;
        let mut recorder = Recorder { gpu: self, model, inputs: inputs.into_iter() };
        let values = execute(model, Keep::Outputs, &mut recorder)?;
        let give = |o: &Output| values.get(o.value)?.as_ref();
        let outputs: Option<Vec<&GpuTensor>> = model.graph.outputs.iter().map(give).collect();
        let missing = || end(GpuError::arguments("graph", "an output is no value of the graph"));
        self.download_all(&outputs.ok_or_else(missing)?).map_err(end)
    }
}

/// Refuses a graph with a node that there are no kernels for, before anything of it runs.
fn has_kernels(model: &Model, graph: &Graph) -> Result<(), NodeError> {
    for (number, node) in graph.nodes.iter().enumerate() {
        if let NodeKind::Operator(op) = &node.kind
            && let Support::No(why) = dispatch::support(op, &graph.types(&node.inputs))
        {
            let cause = dispatch::refused(op, &graph.types(&node.inputs), why);
            return Err(NodeError { node: number as u32, op: label(model, &node.kind), cause });
        }
    }
    Ok(())
}

/// Records nodes, whose tensors are on the device.
struct Recorder<'r> {
    gpu: &'r Gpu,
    model: &'r Model,
    inputs: std::vec::IntoIter<GpuTensor>,
}

impl Recorder<'_> {
    fn at(&self, step: &Step<'_, Op>) -> impl FnOnce(GpuError) -> NodeError {
        let (node, op) = (step.id.0, label(self.model, &step.node.kind));
        move |cause| NodeError { node, op, cause }
    }
}

impl Machine<Op> for Recorder<'_> {
    type Value = GpuTensor;
    type Error = NodeError;

    fn variable(&mut self, step: &Step<'_, Op>) -> Result<GpuTensor, NodeError> {
        let input = self.inputs.next();
        let missing =
            || GpuError::arguments("graph", format!("{} is missing", label(self.model, &step.node.kind)));
        input.ok_or_else(missing).map_err(self.at(step))
    }

    fn constant(&mut self, step: &Step<'_, Op>, tensor: &Arc<Tensor>) -> Result<GpuTensor, NodeError> {
        self.gpu.upload(tensor).map_err(self.at(step))
    }

    fn operator(
        &mut self,
        step: &Step<'_, Op>,
        op: &Op,
        operands: &[Option<&GpuTensor>],
    ) -> Result<Each<GpuTensor>, NodeError> {
        let results = self.gpu.operator(op, operands, &step.node.outputs).map_err(self.at(step))?;
        Ok(results.into_iter().collect())
    }

    fn invalid(&mut self, step: &Step<'_, Op>) -> NodeError {
        let cause = GpuError::arguments("graph", "an operand or a function is missing");
        self.at(step)(cause)
    }
}

fn label(model: &Model, kind: &NodeKind<ops::Op>) -> String {
    match kind {
        NodeKind::Variable { name } => format!("input `{name}`"),
        NodeKind::Constant(_) => "constant".to_owned(),
        NodeKind::Operator(op) => op.name().to_owned(),
        NodeKind::Call(id) => {
            model.functions.get(id.0 as usize).map_or_else(|| id.0.to_string(), |f| f.name.clone())
        }
    }
}
