//! A problem: a model with inputs, and a name to speak of it.

use std::collections::BTreeSet;

use harness::case;
use ir::{DTypes, NodeKind, Operation, Tensor, Type, Value};
use ops::{Graph, Model, Op};

/// A model with inputs. What is right is not written down: it is what the reference says.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What it is called in lists and messages.
    pub name: String,
    /// The model.
    pub model: Model,
    /// The model as ONNX bytes, which is what engines get.
    pub onnx: Vec<u8>,
    /// The inputs, by name.
    pub inputs: Vec<(String, Tensor)>,
}

/// The opsets that a problem made by hand may have. Most engines know the first.
const OPSETS: std::ops::RangeInclusive<u32> = 17..=28;

impl Problem {
    /// One use of an operator, all of whose operands are inputs, in the first opset that has it so. `None` where none has, or the
    /// type rule refuses it.
    pub fn alone(name: String, op: &Op, operands: &[Option<&Tensor>]) -> Option<Self> {
        let mut graph = Graph::new();
        let inputs: Vec<Option<Value>> = (0..)
            .zip(operands)
            .map(|(i, operand)| operand.map(|tensor| graph.variable(format!("x{i}"), tensor.ty())))
            .collect();
        let node = graph.operator(op.clone(), &inputs).ok()?;
        for port in 0..graph.node(node).outputs.len() {
            graph.output(format!("y{port}"), Value::new(node, port));
        }
        let mut opsets = OPSETS.filter(|&opset| allows(opset, op, operands));
        let (model, onnx) = opsets.find_map(|opset| {
            let model = Model::new(opset, graph.clone());
            let onnx = case::export(&model).ok()?;
            Some((model, onnx))
        })?;
        let inputs = case::named(&model, operands.iter().copied().flatten().cloned().collect());
        Some(Self { name, model, onnx, inputs })
    }

    /// The tensors of the inputs, in order.
    pub fn tensors(&self) -> Vec<Tensor> {
        case::tensors(&self.inputs)
    }

    /// The dtypes of all its values.
    pub fn dtypes(&self) -> DTypes {
        case::dtypes(&self.model, &BTreeSet::new())
    }

    /// The operators in it, each with the types of its operands, functions included.
    pub fn uses(&self) -> impl Iterator<Item = (&Op, Vec<Option<&Type>>)> {
        let graphs = self.model.functions.iter().map(|f| &f.body).chain([&self.model.graph]);
        graphs.flat_map(|graph| graph.nodes.iter().map(move |node| (graph, node))).filter_map(
            |(graph, node)| match &node.kind {
                NodeKind::Operator(op) => Some((op, graph.types(&node.inputs))),
                _ => None,
            },
        )
    }

    /// The names of the operators in it.
    pub fn operators(&self) -> impl Iterator<Item = &'static str> {
        self.uses().map(|(op, _)| Operation::name(op))
    }

    /// All tensors that it starts from.
    pub fn given(&self) -> impl Iterator<Item = &Tensor> {
        let constants = self.model.graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Constant(tensor) => Some(&**tensor),
            _ => None,
        });
        self.inputs.iter().map(|(_, tensor)| tensor).chain(constants)
    }
}

/// Whether an opset has an operator on operands of these dtypes.
fn allows(opset: u32, op: &Op, operands: &[Option<&Tensor>]) -> bool {
    let spec = op.spec();
    let takes = |(i, tensor): (usize, &Tensor)| spec.input_types(i, opset).contains(tensor.dtype());
    spec.since() <= opset && operands.iter().enumerate().filter_map(|(i, t)| Some((i, (*t)?))).all(takes)
}
