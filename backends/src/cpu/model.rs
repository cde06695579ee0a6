//! Running whole models ([`ir::execute`]), node by node, whatever runs the nodes.

use std::ops::Deref;
use std::sync::Arc;

use ir::execute::{Each, Keep, Machine, Step, execute};
use ir::{Function, NodeId, Operation, Tensor, Type, Value};
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
    run_model_on(model, &inputs.iter().collect::<Vec<_>>(), runner)
}

/// The same for inputs that are somebody else's. Nothing is copied but inputs and constants that are outputs as well.
pub fn run_model_on<R: NodeRunner>(
    model: &Model,
    inputs: &[&Tensor],
    runner: &mut R,
) -> Result<Vec<Tensor>, RunError<R::Error>> {
    check_inputs(&model.graph, inputs)?;
    let values = execute(model, Keep::Outputs, &mut Host { inputs: inputs.iter(), runner })?;
    let give = |value: Value| values.get(value)?.clone();
    let outputs = model.graph.outputs.iter().map(|o| give(o.value).ok_or(RunError::Invalid(o.value.node.0)));
    let outputs: Vec<Held<'_>> = outputs.collect::<Result<_, _>>()?;
    // Then each is held here alone.
    drop(values);
    Ok(outputs.into_iter().map(Held::into_tensor).collect())
}

/// A tensor that several nodes may read. No input and no constant is copied.
#[derive(Clone)]
enum Held<'i> {
    Input(&'i Tensor),
    Shared(Arc<Tensor>),
}

impl Held<'_> {
    fn into_tensor(self) -> Tensor {
        match self {
            Self::Input(tensor) => tensor.clone(),
            Self::Shared(tensor) => Arc::unwrap_or_clone(tensor),
        }
    }
}

impl Deref for Held<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        match self {
            Self::Input(tensor) => tensor,
            Self::Shared(tensor) => tensor,
        }
    }
}

/// Runs nodes on tensors in the memory of this process.
struct Host<'i, R> {
    inputs: std::slice::Iter<'i, &'i Tensor>,
    runner: &'i mut R,
}

impl<'i, R: NodeRunner> Machine<Op> for Host<'i, R> {
    type Value = Held<'i>;
    type Error = RunError<R::Error>;

    fn variable(&mut self, step: &Step<'_, Op>) -> Result<Held<'i>, Self::Error> {
        self.inputs.next().map(|&input| Held::Input(input)).ok_or_else(|| self.invalid(step))
    }

    fn constant(&mut self, _: &Step<'_, Op>, tensor: &Arc<Tensor>) -> Result<Held<'i>, Self::Error> {
        Ok(Held::Shared(tensor.clone()))
    }

    fn operator(
        &mut self,
        step: &Step<'_, Op>,
        op: &Op,
        operands: &[Option<&Held<'i>>],
    ) -> Result<Each<Held<'i>>, Self::Error> {
        let operands: Each<Option<&Tensor>> = operands.iter().map(|v| v.map(Deref::deref)).collect();
        let results = self.runner.run_node(op, &operands, &step.node.outputs);
        let results = results.map_err(|cause| RunError::Node { node: step.id.0, op: op.name(), cause })?;
        check_outputs(step.id, op, &results, &step.node.outputs)?;
        Ok(results.into_iter().map(|tensor| Held::Shared(Arc::new(tensor))).collect())
    }

    fn invalid(&mut self, step: &Step<'_, Op>) -> Self::Error {
        RunError::Invalid(step.id.0)
    }

    fn within(&mut self, function: &Function<Op>, cause: Self::Error) -> Self::Error {
        RunError::Function { function: function.name.clone(), cause: Box::new(cause) }
    }
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
