//! Running a whole model: one recording, intermediates on the device, one wait at the end.

use std::collections::HashMap;

use ir::graph::{FunctionId, NodeKind};
use ir::{Operation, Tensor, Value};
use ops::{Graph, Model};

use super::device::Gpu;
use super::error::GpuError;
use super::tensor::GpuTensor;

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
    pub fn run(&self, model: &Model, inputs: &[&Tensor]) -> Result<Vec<Tensor>, NodeError> {
        let end =
            |cause| NodeError { node: model.graph.nodes.len() as u32, op: "readback".to_owned(), cause };
        let upload = |t: &&Tensor| self.upload(t);
        let inputs: Vec<_> = inputs.iter().map(upload).collect::<Result<_, _>>().map_err(end)?;
        let outputs = self.graph(model, &model.graph, inputs)?;
        self.download_all(&outputs.iter().collect::<Vec<_>>()).map_err(end)
    }

    fn graph(
        &self,
        model: &Model,
        graph: &Graph,
        inputs: Vec<GpuTensor>,
    ) -> Result<Vec<GpuTensor>, NodeError> {
        let mut inputs = inputs.into_iter();
        let mut last_use = HashMap::new();
        for (id, node) in graph.iter() {
            last_use.extend(node.inputs.iter().flatten().map(|&used| (used, id.index())));
        }
        last_use.extend(graph.outputs.iter().map(|o| (o.value, usize::MAX)));
        let mut values: HashMap<Value, GpuTensor> = HashMap::new();
        for (id, node) in graph.iter() {
            let found: Option<Vec<_>> = node
                .inputs
                .iter()
                .map(|used| used.map_or(Some(None), |used| values.get(&used).map(Some)))
                .collect();
            let missing = || GpuError::arguments("graph", "a value is used before it is computed");
            let operands = found.ok_or_else(missing);
            let results = operands.and_then(|operands| match &node.kind {
                NodeKind::Variable { name } => {
                    let input = inputs
                        .next()
                        .ok_or_else(|| GpuError::arguments("graph", format!("input `{name}` is missing")))?;
                    Ok(Ok(vec![input]))
                }
                NodeKind::Constant(tensor) => Ok(Ok(vec![self.upload(tensor)?])),
                NodeKind::Capture(_) => Err(GpuError::arguments("graph", "only subgraphs capture values")),
                NodeKind::Operator(op) => Ok(Ok(self.operator(op, &operands, &node.outputs)?)),
                NodeKind::Call(function) => Ok(self.call(model, *function, &operands)),
            });
            let named = |cause| NodeError { node: id.0, op: label(model, &node.kind), cause };
            let results = results.map_err(named)??;
            for (port, result) in results.into_iter().enumerate() {
                values.insert(Value::new(id, port), result);
            }
            for used in node.inputs.iter().flatten() {
                if last_use.get(used) == Some(&id.index()) {
                    values.remove(used);
                }
            }
        }
        let outputs = graph.outputs.iter().map(|o| values.get(&o.value).cloned());
        outputs.collect::<Option<_>>().ok_or_else(|| NodeError {
            node: graph.nodes.len() as u32,
            op: "output".to_owned(),
            cause: GpuError::arguments("graph", "an output is no value of the graph"),
        })
    }

    fn call(
        &self,
        model: &Model,
        id: FunctionId,
        operands: &[Option<&GpuTensor>],
    ) -> Result<Vec<GpuTensor>, NodeError> {
        let body = model.functions.get(id.0 as usize).map(|f| &f.body);
        let given: Option<Vec<_>> = operands.iter().map(|t| t.cloned()).collect();
        match (body, given) {
            (Some(body), Some(given)) => self.graph(model, body, given),
            _ => Err(NodeError {
                node: 0,
                op: format!("function {}", id.0),
                cause: GpuError::arguments("call", "no such function, or an operand is absent"),
            }),
        }
    }
}

fn label(model: &Model, kind: &NodeKind<ops::Op>) -> String {
    match kind {
        NodeKind::Variable { name } => format!("input `{name}`"),
        NodeKind::Constant(_) => "constant".to_owned(),
        NodeKind::Capture(_) => "capture".to_owned(),
        NodeKind::Operator(op) => op.name().to_owned(),
        NodeKind::Call(id) => {
            model.functions.get(id.0 as usize).map_or_else(|| id.0.to_string(), |f| f.name.clone())
        }
    }
}
