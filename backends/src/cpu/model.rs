//! Running whole models, node by node, whatever runs the nodes.
//!
//! Values are dropped after their last use. Inputs and constants are borrowed, never copied.

use std::borrow::Cow;

use ir::dataflow::{LastUse, last_uses};
use ir::{Function, NodeId, NodeKind, Operation, Tensor, Type, Value};
use ops::{Graph, Model, Op};

use super::error::RunError;
use crate::support::Support;

/// Runs single operators.
pub trait NodeRunner {
    /// Why it may fail.
    type Error: std::error::Error + 'static;

    /// Whether there is a kernel for an operator on operands of these types.
    fn support(&self, _op: &Op, _inputs: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    /// The outputs, of the types given, of a validated operator.
    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, Self::Error>;
}

/// The outputs of a validated model, in their order, for inputs in the order of the model's variables.
pub fn run_model<R: NodeRunner>(
    model: &Model,
    inputs: &[Tensor],
    runner: &mut R,
) -> Result<Vec<Tensor>, RunError<R::Error>> {
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    run_graph(&model.graph, &model.functions, &inputs, runner)
}

fn run_graph<R: NodeRunner>(
    graph: &Graph,
    functions: &[Function<Op>],
    inputs: &[&Tensor],
    runner: &mut R,
) -> Result<Vec<Tensor>, RunError<R::Error>> {
    check_inputs(graph, inputs)?;
    let mut inputs = inputs.iter();
    let mut values: Vec<Vec<Option<Cow<'_, Tensor>>>> = Vec::with_capacity(graph.nodes.len());
    let uses = last_uses(graph);
    for (id, node) in graph.iter() {
        let invalid = || RunError::Invalid(id.0);
        let results = match &node.kind {
            NodeKind::Variable { .. } => vec![Cow::Borrowed(*inputs.next().ok_or_else(invalid)?)],
            NodeKind::Constant(tensor) => vec![Cow::Borrowed(tensor.as_ref())],
            NodeKind::Capture(_) => return Err(invalid()),
            NodeKind::Operator(op) => {
                let operands = operands(&values, &node.inputs).ok_or_else(invalid)?;
                let results = runner.run_node(op, &operands, &node.outputs);
                let results = results.map_err(|cause| RunError::Node { node: id.0, op: op.name(), cause })?;
                check_outputs(id, op, &results, &node.outputs)?;
                results.into_iter().map(Cow::Owned).collect()
            }
            NodeKind::Call(callee) => {
                let function = functions.get(callee.0 as usize).ok_or_else(invalid)?;
                let operands = operands(&values, &node.inputs).ok_or_else(invalid)?;
                let arguments: Option<Vec<&Tensor>> = operands.into_iter().collect();
                let arguments = arguments.ok_or_else(invalid)?;
                // A function calls only functions before it, so this recursion ends.
                let before = &functions[..callee.0 as usize];
                let results = run_graph(&function.body, before, &arguments, runner);
                let inside =
                    |cause| RunError::Function { function: function.name.clone(), cause: Box::new(cause) };
                results.map_err(inside)?.into_iter().map(Cow::Owned).collect()
            }
        };
        let results: Vec<_> = results.into_iter().map(Some).collect();
        values.push(results);
        for used in node.inputs.iter().flatten().copied() {
            if uses.get(used) == Some(&LastUse::Node(id)) {
                drop(take(&mut values, used));
            }
        }
        for port in 0..node.outputs.len() {
            let value = Value::new(id, port);
            if uses.get(value) == Some(&LastUse::Never) {
                drop(take(&mut values, value));
            }
        }
    }
    graph.outputs.iter().map(|o| give(&values, o.value).ok_or(RunError::Invalid(o.value.node.0))).collect()
}

/// The operands' tensors; `None` if one that should be there is not.
fn operands<'a>(
    values: &'a [Vec<Option<Cow<'_, Tensor>>>],
    operands: &[Option<Value>],
) -> Option<Vec<Option<&'a Tensor>>> {
    let tensor = |v: Value| values.get(v.node.index())?.get(v.port as usize)?.as_deref();
    operands.iter().map(|v| v.map_or(Some(None), |v| tensor(v).map(Some))).collect()
}

fn take<'a>(values: &mut [Vec<Option<Cow<'a, Tensor>>>], value: Value) -> Option<Cow<'a, Tensor>> {
    values.get_mut(value.node.index())?.get_mut(value.port as usize)?.take()
}

fn give(values: &[Vec<Option<Cow<'_, Tensor>>>], value: Value) -> Option<Tensor> {
    values.get(value.node.index())?.get(value.port as usize)?.as_deref().cloned()
}

fn check_inputs<E: std::error::Error>(graph: &Graph, inputs: &[&Tensor]) -> Result<(), RunError<E>> {
    let wanted = graph.variables().count();
    if inputs.len() != wanted {
        return Err(RunError::Arity { given: inputs.len(), wanted });
    }
    for ((_, name, ty), input) in graph.variables().zip(inputs) {
        if input.ty() != *ty {
            return Err(RunError::Input { name: name.to_owned(), given: input.ty(), wanted: ty.clone() });
        }
    }
    Ok(())
}

fn check_outputs<E: std::error::Error>(
    node: NodeId,
    op: &Op,
    results: &[Tensor],
    declared: &[Type],
) -> Result<(), RunError<E>> {
    let found: Vec<Type> = results.iter().map(Tensor::ty).collect();
    if found == declared {
        return Ok(());
    }
    Err(RunError::Outputs { node: node.0, op: op.name(), found, declared: declared.to_vec() })
}
