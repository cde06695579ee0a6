//! Running a model in any number system.
//!
//! One walk over the nodes serves values, bounds and gradients: what differs is a [`System`]. A value is dropped
//! after its last use, unless it is an output or the caller keeps it.

use std::rc::Rc;

use ir::{DType, NodeId, NodeKind, Tensor, Type, Value};
use ops::plain::working_dtype;
use ops::{Arith, Call, Data, Graph, Model, Op, Operator, Reject};
use smallvec::{SmallVec, smallvec};

/// How a number system takes part in running a model.
pub(crate) trait System {
    /// The number system.
    type A: Arith;
    /// The number system for a node that calculates in a dtype.
    fn arith(&self, dtype: DType) -> Self::A;
    /// A tensor's elements.
    fn load(&self, tensor: &Tensor) -> Data<Self::A>;
    /// An operand whose dtype is not the one the node calculates in, if that changes it.
    fn narrow(&self, _arith: &Self::A, _data: &Data<Self::A>) -> Option<Data<Self::A>> {
        None
    }
    /// What storing an output does to its elements.
    fn settle(&self, arith: &Self::A, data: &mut Data<Self::A>, dtype: DType);
}

/// A tensor of some number system that several nodes may share.
pub(crate) type Shared<A> = Rc<Data<A>>;

/// One thing for each operand or output of a node. A run visits many nodes of few elements, so it counts what is
/// allocated for each.
type Each<T> = SmallVec<[T; 4]>;

/// The outputs of the nodes that have been run and not dropped, by node and port.
pub(crate) type Values<A> = Vec<Each<Option<Shared<A>>>>;

/// One operator that has just been run.
pub(crate) struct Visit<'a, A: Arith> {
    /// The node of the main graph: the operator itself, or the call it is in.
    pub node: NodeId,
    pub op: &'a Op,
    pub types: &'a [Option<&'a Type>],
    pub operands: &'a [Option<&'a Data<A>>],
    pub results: &'a [Data<A>],
}

/// Why a model cannot be evaluated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    #[error("the model is not valid: {0}")]
    Invalid(Box<ir::graph::Invalid<Reject>>),
    #[error("the model has {wanted} inputs but {given} tensors were given")]
    InputCount { given: usize, wanted: usize },
    #[error("input `{name}` is {given} but must be {wanted}")]
    InputType { name: String, given: Type, wanted: Type },
}

impl From<ir::graph::Invalid<Reject>> for Error {
    fn from(cause: ir::graph::Invalid<Reject>) -> Self {
        Self::Invalid(Box::new(cause))
    }
}

/// Checks a model and its inputs: what the walk takes for granted.
pub(crate) fn check(model: &Model, inputs: &[Tensor]) -> Result<(), Error> {
    model.validate()?;
    let wanted = model.graph.variables().count();
    if wanted != inputs.len() {
        return Err(Error::InputCount { given: inputs.len(), wanted });
    }
    for ((_, name, ty), tensor) in model.graph.variables().zip(inputs) {
        if tensor.ty() != *ty {
            return Err(Error::InputType { name: name.to_owned(), given: tensor.ty(), wanted: ty.clone() });
        }
    }
    Ok(())
}

/// A run of one model.
pub(crate) struct Walk<'a, S: System> {
    pub system: &'a S,
    pub model: &'a Model,
    /// Told of every operator; `false` ends the run.
    pub visit: &'a mut dyn FnMut(&Visit<'_, S::A>) -> bool,
}

impl<S: System> Walk<'_, S> {
    /// Runs the main graph of a checked model. `given` holds the elements of variables, and of constants where they
    /// replace the model's. `None` if the visitor ended the run.
    pub(crate) fn main(
        &mut self,
        given: &dyn Fn(NodeId) -> Option<Data<S::A>>,
        keep: bool,
    ) -> Option<Values<S::A>> {
        let given = |id| given(id).map(Rc::new);
        self.graph(&self.model.graph, &given, None, keep)
    }

    fn graph(
        &mut self,
        graph: &Graph,
        given: &dyn Fn(NodeId) -> Option<Shared<S::A>>,
        caller: Option<NodeId>,
        keep: bool,
    ) -> Option<Values<S::A>> {
        let last = if keep { Vec::new() } else { last_uses(graph) };
        let mut values: Values<S::A> = Vec::with_capacity(graph.nodes.len());
        for (id, node) in graph.iter() {
            let at = caller.unwrap_or(id);
            let outputs: Each<Option<Shared<S::A>>> = match &node.kind {
                NodeKind::Constant(tensor) => {
                    smallvec![Some(given(id).unwrap_or_else(|| Rc::new(self.system.load(tensor))))]
                }
                // A validated graph has no captures outside of subgraphs and a value for each variable.
                NodeKind::Variable { .. } | NodeKind::Capture(_) => smallvec![Some(given(id)?)],
                NodeKind::Operator(op) => self.operator(op, graph, id, at, &values)?,
                NodeKind::Call(function) => {
                    let body = &self.model.functions[function.0 as usize].body;
                    let parameters: Vec<NodeId> = body.variables().map(|(id, ..)| id).collect();
                    let arguments: Vec<_> =
                        node.inputs.iter().map(|v| v.and_then(|v| get(&values, v))).collect();
                    let argument = |id: NodeId| arguments[parameters.iter().position(|&p| p == id)?].clone();
                    let inner = self.graph(body, &argument, Some(at), false)?;
                    body.outputs.iter().map(|o| get(&inner, o.value).map(Some)).collect::<Option<_>>()?
                }
            };
            values.push(outputs);
            if !keep {
                for used in node.inputs.iter().flatten().chain([&Value::new(id, 0)]) {
                    if last[used.node.index()] == Some(id.index()) {
                        values[used.node.index()].fill_with(|| None);
                    }
                }
            }
        }
        Some(values)
    }

    fn operator(
        &mut self,
        op: &Op,
        graph: &Graph,
        id: NodeId,
        at: NodeId,
        values: &Values<S::A>,
    ) -> Option<Each<Option<Shared<S::A>>>> {
        let node = graph.node(id);
        let types: Each<Option<&Type>> = node.inputs.iter().map(|v| v.map(|v| graph.ty(v))).collect();
        let dtype = working_dtype(&types, &node.outputs);
        let arith = self.system.arith(dtype);
        let operands: Each<Option<Shared<S::A>>> =
            node.inputs.iter().map(|v| v.and_then(|v| get(values, v))).collect();
        let narrowed: Each<Option<Data<S::A>>> = operands
            .iter()
            .zip(&types)
            .map(|(data, ty)| match (data, ty) {
                (Some(data), Some(ty)) if ty.dtype != dtype => self.system.narrow(&arith, data),
                _ => None,
            })
            .collect();
        let inputs: Each<Option<&Data<S::A>>> = operands
            .iter()
            .zip(&narrowed)
            .map(|(data, narrow)| narrow.as_ref().or(data.as_deref()))
            .collect();
        let call = Call { arith: &arith, inputs: &inputs, types: &types, outputs: &node.outputs };
        let mut results = op.eval(&call);
        for (data, ty) in results.iter_mut().zip(&node.outputs) {
            self.system.settle(&arith, data, ty.dtype);
        }
        let visit = Visit { node: at, op, types: &types, operands: &inputs, results: &results };
        (self.visit)(&visit).then(|| results.into_iter().map(|data| Some(Rc::new(data))).collect())
    }
}

/// A value that has been computed and not dropped.
pub(crate) fn get<A: Arith>(values: &Values<A>, value: Value) -> Option<Shared<A>> {
    values.get(value.node.index())?.get(value.port as usize)?.clone()
}

/// For each node the position of the last node that uses it (its own if none does); `None` for outputs.
fn last_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = (0..graph.nodes.len()).map(Some).collect();
    for (id, node) in graph.iter() {
        for used in node.inputs.iter().flatten() {
            last[used.node.index()] = Some(id.index());
        }
    }
    for output in &graph.outputs {
        last[output.value.node.index()] = None;
    }
    last
}
