//! Values that are known while a program is read: of constants, of inputs that are given, and of what follows from
//! them. They are computed when something is read from them, and only then.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use ir::{FunctionId, NodeId, NodeKind, Tensor, Type, Value};
use ops::{Graph, Op, Operator, Reads};

use super::context::Context;
use crate::Error;

/// How many scalar operations may be spent on what is read from values. A model is untrusted, and a window may be huge
/// where its operands are small.
pub(super) const MAX_OPERATIONS: u64 = 1 << 32;

/// How many elements a value may have that is computed so.
const MAX_ELEMENTS: u64 = 1 << 26;

/// The names of inputs of the model.
pub(super) type Inputs = Rc<BTreeSet<String>>;

/// Elements that are known before the model is run.
#[derive(Clone, Debug)]
pub(super) struct Known<'p> {
    pub(super) tensor: Elements<'p>,
    /// The inputs that they depend on.
    pub(super) inputs: Inputs,
}

/// Whose elements they are. What is given may be large and is seldom read, so that it is not copied before.
#[derive(Clone, Debug)]
pub(super) enum Elements<'p> {
    Given(&'p Tensor),
    Own(Arc<Tensor>),
}

impl Elements<'_> {
    fn tensor(&self) -> &Tensor {
        match self {
            Self::Given(tensor) => tensor,
            Self::Own(tensor) => tensor,
        }
    }

    /// To be kept by whoever has read them.
    pub(super) fn shared(self) -> Arc<Tensor> {
        match self {
            Self::Given(tensor) => Arc::new(tensor.clone()),
            Self::Own(tensor) => tensor,
        }
    }
}

/// What is known of the values of a graph that is being made.
#[derive(Default)]
pub(super) struct Knowledge<'p> {
    elements: BTreeMap<Value, Known<'p>>,
    /// The inputs that the types of a node's outputs depend on, where there are some.
    types: BTreeMap<NodeId, Inputs>,
}

impl<'p> Knowledge<'p> {
    /// Keeps the elements of a value.
    pub(super) fn learn(&mut self, value: Value, known: Known<'p>) {
        self.elements.insert(value, known);
    }

    /// The elements of a value, if they are known already.
    pub(super) fn get(&self, value: Value) -> Option<&Known<'p>> {
        self.elements.get(&value)
    }

    /// Notes on which inputs the types of a new node depend: the inputs behind the values that the node was
    /// read from, and those that the types of its operands depend on.
    pub(super) fn note_types(&mut self, graph: &Graph, id: NodeId) {
        let node = graph.node(id);
        if node.given.is_empty() && self.types.is_empty() {
            return;
        }
        let operands = node.inputs.iter().flatten().filter_map(|v| self.types.get(&v.node));
        let read = node.given.iter().filter_map(|&v| self.elements.get(&v).map(|known| &known.inputs));
        let all = union(operands.chain(read));
        if !all.is_empty() {
            self.types.insert(id, all);
        }
    }

    /// Forgets all nodes from one on.
    pub(super) fn truncate(&mut self, first: NodeId) {
        self.elements.retain(|value, _| value.node < first);
        self.types.retain(|id, _| *id < first);
    }

    fn types_of(&self, id: NodeId) -> Inputs {
        self.types.get(&id).cloned().unwrap_or_default()
    }
}

/// The elements of a value: computed from constants and given inputs, where it depends on nothing else.
pub(super) fn elements<'k>(
    context: &mut Context<'_>,
    graph: &Graph,
    knowledge: &mut Knowledge<'k>,
    value: Value,
) -> Result<Option<Known<'k>>, Error> {
    if let Some(known) = knowledge.get(value) {
        return Ok(Some(known.clone()));
    }
    let Some(needed) = needed(graph, knowledge, value) else { return Ok(None) };
    for id in needed {
        let node = graph.node(id);
        let mut inputs = vec![knowledge.types_of(id)];
        let tensors = if let Some(op) = of_types(graph, id) {
            let shaped = node.inputs.iter().flatten().map(|v| knowledge.types_of(v.node));
            inputs.extend(shaped);
            let types = graph.types(&node.inputs);
            spend(context, op, &types, &node.outputs)?;
            ops::plain::of_types(op, &types, &node.outputs)
        } else {
            inputs.extend(node.uses().filter_map(|v| knowledge.get(v)).map(|known| Rc::clone(&known.inputs)));
            let operands: Vec<Option<&Tensor>> =
                node.inputs.iter().map(|v| v.and_then(|v| Some(knowledge.get(v)?.tensor.tensor()))).collect();
            match compute(context, graph, id, &operands)? {
                Some(tensors) => tensors,
                None => return Ok(None),
            }
        };
        let inputs = union(inputs.iter());
        for (port, tensor) in tensors.into_iter().enumerate() {
            let known = Known { tensor: Elements::Own(Arc::new(tensor)), inputs: Rc::clone(&inputs) };
            knowledge.learn(Value::new(id, port), known);
        }
    }
    Ok(knowledge.get(value).cloned())
}

/// The nodes to compute for a value, in order; `None` if it depends on an input that is not given.
fn needed(graph: &Graph, knowledge: &Knowledge<'_>, value: Value) -> Option<BTreeSet<NodeId>> {
    let (mut needed, mut open) = (BTreeSet::new(), vec![value]);
    while let Some(value) = open.pop() {
        if knowledge.get(value).is_some() || !needed.insert(value.node) {
            continue;
        }
        match &graph.node(value.node).kind {
            NodeKind::Variable { .. } => return None,
            _ if of_types(graph, value.node).is_some() => {}
            _ => open.extend(graph.node(value.node).uses()),
        }
    }
    Some(needed)
}

/// The operator of a node whose outputs follow from the types of its operands alone: how exporters compute shapes.
fn of_types(graph: &Graph, id: NodeId) -> Option<&Op> {
    match &graph.node(id).kind {
        NodeKind::Operator(op) if op.facts(&graph.types(&graph.node(id).inputs)).reads == Reads::Types => {
            Some(op)
        }
        NodeKind::Operator(_) | NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => None,
    }
}

/// The outputs of a node on operands that are known; `None` if they cannot be computed.
fn compute(
    context: &mut Context<'_>,
    graph: &Graph,
    id: NodeId,
    operands: &[Option<&Tensor>],
) -> Result<Option<Vec<Tensor>>, Error> {
    let node = graph.node(id);
    match &node.kind {
        NodeKind::Variable { .. } => Ok(None),
        NodeKind::Constant(tensor) => Ok(Some(vec![(**tensor).clone()])),
        NodeKind::Operator(op) => {
            spend(context, op, &graph.types(&node.inputs), &node.outputs)?;
            let outputs = context.options.evaluator.evaluate(op, operands, &node.outputs);
            let what = || format!("operator {}", ir::Operation::name(op));
            outputs.map(Some).map_err(|why| Error::unsupported(what(), why))
        }
        NodeKind::Call(function) => call(context, *function, operands),
    }
}

fn spend(context: &mut Context<'_>, op: &Op, types: &[Option<&Type>], outputs: &[Type]) -> Result<(), Error> {
    let moved = outputs.iter().map(ops::operator::elements).fold(0, u64::saturating_add);
    if moved > MAX_ELEMENTS {
        let why = format!("something is read from a value of {moved} elements, of at most {MAX_ELEMENTS}");
        return Err(Error::unsupported(format!("operator {}", ir::Operation::name(op)), why));
    }
    let cost = op.effort(types, outputs).operations.max(moved);
    context.operations = context.operations.checked_sub(cost).ok_or_else(|| {
        let why = format!("reading shapes, branches and loops takes more than {MAX_OPERATIONS} operations");
        Error::unsupported("model", why)
    })?;
    Ok(())
}

fn call(
    context: &mut Context<'_>,
    function: FunctionId,
    arguments: &[Option<&Tensor>],
) -> Result<Option<Vec<Tensor>>, Error> {
    let Some(instance) = context.functions.instances.get(function.0 as usize) else { return Ok(None) };
    let body = instance.body.clone();
    let mut knowledge = Knowledge::default();
    for ((id, ..), argument) in body.variables().zip(arguments) {
        let Some(argument) = argument else { return Ok(None) };
        let known = Known { tensor: Elements::Given(argument), inputs: Inputs::default() };
        knowledge.learn(Value::new(id, 0), known);
    }
    let mut outputs = Vec::with_capacity(body.outputs.len());
    for output in &body.outputs {
        let Some(known) = elements(context, &body, &mut knowledge, output.value)? else { return Ok(None) };
        outputs.push(known.tensor.tensor().clone());
    }
    Ok(Some(outputs))
}

fn union<'i>(all: impl Iterator<Item = &'i Inputs>) -> Inputs {
    let mut union = Inputs::default();
    for inputs in all.filter(|inputs| !inputs.is_empty()) {
        if union.is_empty() {
            union = Rc::clone(inputs);
        } else if !inputs.is_subset(&union) {
            Rc::make_mut(&mut union).extend(inputs.iter().cloned());
        }
    }
    union
}
