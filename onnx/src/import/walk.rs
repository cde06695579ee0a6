//! Walking over a program, and making the graph of what it computes for the inputs at hand.

use std::collections::BTreeSet;
use std::sync::Arc;

use ir::inline::MOST_NODES;
use ir::{Datum, NodeId, NodeKind, Strings, Tensor, Type, Value};
use ops::Graph;

use super::context::{Context, MAX_ITERATIONS};
use super::declared::Declared;
use super::frame::{Bound, Frame, Sequence, Texts};
use super::known::{Elements, Inputs, Knowledge, Known};
use super::order;
use super::origin::{Inside, Origin, Path};
use super::strings;
use crate::Error;
use crate::names;
use crate::program::{self, ValueId};
use crate::tensor;

/// What adds a node of the program: it is told apart by operator, and some of them hold bodies to walk over.
pub(super) type Step = for<'p, 'c> fn(&mut Walk<'p, 'c>, &'p program::Node) -> Result<(), Error>;

/// A program on its way to a graph.
pub(super) struct Walk<'p, 'c> {
    pub(super) context: &'c mut Context<'p>,
    pub(super) frame: Frame<'p>,
    pub(super) graph: Graph,
    pub(super) knowledge: Knowledge<'p>,
    step: Step,
    /// For each node of the graph, the position that its name states.
    positions: Vec<Option<usize>>,
    /// For each node of the graph, where it comes from.
    origins: Vec<Origin>,
    /// The bodies that are open.
    path: Path,
    /// The node of the program that is being added, by its position in its body.
    at: usize,
    /// Whether that node is being written out in others.
    is_inner: bool,
}

/// A graph that is made.
pub(super) struct Made {
    pub(super) graph: Graph,
    pub(super) origins: Vec<Origin>,
}

impl<'p, 'c> Walk<'p, 'c> {
    pub(super) fn new(context: &'c mut Context<'p>, frame: Frame<'p>, step: Step) -> Self {
        Self {
            context,
            frame,
            graph: Graph::new(),
            knowledge: Knowledge::default(),
            step,
            positions: Vec::new(),
            origins: Vec::new(),
            path: Path::default(),
            at: 0,
            is_inner: false,
        }
    }

    pub(super) fn finish(self) -> Made {
        let (graph, origins) = (self.graph, self.origins);
        let (graph, origins) = if self.context.ours {
            order::restore(graph, origins, &self.positions)
        } else {
            (graph, origins)
        };
        Made { graph, origins }
    }

    /// How nodes are added.
    pub(super) fn step(&self) -> Step {
        self.step
    }

    /// The initializers and nodes of a body whose inputs are there. What came in has no need of its default.
    pub(super) fn content(&mut self, body: &'p program::Body) -> Result<(), Error> {
        let given = |frame: &Frame<'_>, id| body.inputs.iter().any(|port| port.value == id) && frame.has(id);
        for initializer in &body.initializers {
            if !given(&self.frame, initializer.value) {
                self.initializer(initializer)?;
            }
        }
        self.defaults(body)?;
        let before = self.at;
        for (index, node) in body.nodes.iter().enumerate() {
            self.at = index;
            (self.step)(self, node).map_err(|e| e.inside(node.label(index)))?;
        }
        self.at = before;
        Ok(())
    }

    /// Requires that the default of an input is what the input says that it is.
    fn defaults(&mut self, body: &program::Body) -> Result<(), Error> {
        for port in &body.inputs {
            if let Some(default) = self.frame.constants.get(&port.value).cloned() {
                self.check(port, &default)?;
            }
        }
        Ok(())
    }

    /// Leaves the program's nodes: what is added from here on comes from none of them.
    pub(super) fn leave(&mut self) {
        (self.at, self.is_inner) = (Origin::NOWHERE, true);
    }

    fn initializer(&mut self, initializer: &'p program::Initializer) -> Result<(), Error> {
        let id = initializer.value;
        if let Some(there) = self.frame.constants.get(&id) {
            self.frame.set(id, there.clone());
            return Ok(());
        }
        let name = self.frame.scope.name(id);
        if tensor::strings::is_strings(&initializer.tensor) {
            let texts = tensor::strings::from_proto(&initializer.tensor, self.context.options.external)
                .map_err(|e| e.inside(format!("initializer `{name}`")))?;
            return strings::constant(self, id, texts);
        }
        let tensor = tensor::from_proto(&initializer.tensor, self.context.options.external)
            .map_err(|e| e.inside(format!("initializer `{name}`")))?;
        self.constant(id, Arc::new(tensor), names::position(name, 'v'))
    }

    /// A constant. If the program uses it only for what are attributes here, it becomes no node.
    pub(super) fn constant(
        &mut self,
        id: ValueId,
        tensor: Arc<Tensor>,
        position: Option<usize>,
    ) -> Result<(), Error> {
        let bound = if self.frame.only_static(id) {
            Bound::Static(tensor)
        } else {
            Bound::Tensor(self.push_constant(tensor, position)?)
        };
        self.frame.constants.insert(id, bound.clone());
        self.define(id, bound)
    }

    /// Adds a constant that no name of the program stands for.
    pub(super) fn push_constant(
        &mut self,
        tensor: Arc<Tensor>,
        position: Option<usize>,
    ) -> Result<Value, Error> {
        let ty = tensor.ty();
        let node = self.push(NodeKind::Constant(Arc::clone(&tensor)), vec![], vec![ty], position)?;
        let value = Value::new(node, 0);
        self.knowledge.learn(value, Known { tensor: Elements::Own(tensor), inputs: Inputs::default() });
        Ok(value)
    }

    /// Adds a node that was read from these values, and names its outputs as the program does.
    pub(super) fn push_named(
        &mut self,
        node: &'p program::Node,
        kind: NodeKind<ops::Op>,
        inputs: Vec<Option<Value>>,
        given: Vec<Value>,
        outputs: &[Type],
    ) -> Result<NodeId, Error> {
        let named = node.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        if named > outputs.len() {
            return Err(too_many_outputs(named, outputs.len()));
        }
        let position = names::position(node.rest.name(), 'n');
        let id = self.push_given(kind, inputs, given, outputs.to_vec(), position)?;
        for (port, output) in node.outputs.iter().enumerate() {
            if let Some(output) = output {
                self.define(*output, Bound::Tensor(Value::new(id, port)))?;
            }
        }
        Ok(id)
    }

    /// Adds the nodes that a node of the program is written out in. All but those of its results are steps within it.
    pub(super) fn written_out(
        &mut self,
        node: &program::Node,
        add: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let first = self.graph.nodes.len();
        self.is_inner = true;
        let added = add(self);
        self.is_inner = false;
        added?;
        let bound = node.outputs.iter().flatten().filter_map(|&id| self.frame.get(id).ok());
        let results: BTreeSet<NodeId> = bound.flat_map(Bound::values).map(|value| value.node).collect();
        for (number, step) in self.graph.nodes.iter_mut().enumerate().skip(first) {
            let is_operator = matches!(step.kind, NodeKind::Operator(_));
            step.is_inner = is_operator && !results.contains(&NodeId(number as u32));
        }
        Ok(())
    }

    /// Adds a node.
    pub(super) fn push(
        &mut self,
        kind: NodeKind<ops::Op>,
        inputs: Vec<Option<Value>>,
        outputs: Vec<Type>,
        position: Option<usize>,
    ) -> Result<NodeId, Error> {
        self.push_given(kind, inputs, Vec::new(), outputs, position)
    }

    /// Adds a node that was read from these values.
    pub(super) fn push_given(
        &mut self,
        kind: NodeKind<ops::Op>,
        inputs: Vec<Option<Value>>,
        given: Vec<Value>,
        outputs: Vec<Type>,
        position: Option<usize>,
    ) -> Result<NodeId, Error> {
        if self.graph.nodes.len() >= u32::MAX as usize {
            return Err(Error::unsupported("graph", "it has more nodes than can be counted"));
        }
        // Positions are told apart in one graph only.
        self.positions.push(position.filter(|_| self.path.is_empty()));
        self.origins.push(Origin { path: self.path.clone(), node: self.at, is_inner: self.is_inner });
        let id = self.graph.push(kind, inputs, outputs);
        self.graph.give(id, given);
        self.knowledge.note_types(&self.graph, id);
        Ok(id)
    }

    /// Whether an operand is left out, here or by the call of the function.
    pub(super) fn is_absent(&self, id: Option<ValueId>) -> bool {
        id.is_none_or(|id| matches!(self.frame.get(id), Ok(Bound::Absent)))
    }

    /// Whether an operand is there, and a tensor.
    pub(super) fn is_tensor(&self, id: Option<ValueId>) -> bool {
        id.is_some_and(|id| matches!(self.frame.get(id), Ok(Bound::Tensor(_) | Bound::Static(_))))
    }

    /// Walks over a body of the node at hand, and gives what it gives.
    pub(super) fn inside(
        &mut self,
        inside: Inside,
        body: &'p program::Body,
        arguments: Vec<Bound>,
    ) -> Result<Vec<Bound>, Error> {
        if body.inputs.len() != arguments.len() {
            let why = format!("it has {} inputs, but gets {}", body.inputs.len(), arguments.len());
            return Err(Error::invalid("body", why));
        }
        let outer = self.path.clone();
        self.path = outer.with(self.at, inside);
        if !self.path.is_looked_at() {
            self.context.ran.insert(self.path.of_any_turn());
        }
        let results = self.body(body, arguments);
        self.path = outer;
        results
    }

    fn body(&mut self, body: &'p program::Body, arguments: Vec<Bound>) -> Result<Vec<Bound>, Error> {
        for (port, argument) in body.inputs.iter().zip(arguments) {
            self.check(port, &argument)?;
            self.define(port.value, argument)?;
        }
        self.content(body)?;
        let given = body.outputs.iter().map(|port| {
            let bound = self.frame.get(port.value)?.clone();
            self.check(port, &bound).map(|()| bound)
        });
        given.collect()
    }

    /// Requires that a value is what an input or output says it is.
    pub(super) fn check(&mut self, port: &program::Port, bound: &Bound) -> Result<(), Error> {
        let name = self.frame.scope.name(port.value);
        let declared = Declared::read(name, &port.declared)?;
        let Some(is) = self.types_in(bound) else { return Ok(()) };
        declared.check(name, &is)?;
        declared.tell(&is, &mut self.context.sizes);
        Ok(())
    }

    /// Requires that what a value stands for is what something else than its declaration says.
    pub(super) fn check_is(&self, declared: &Declared, id: ValueId, bound: &Bound) -> Result<(), Error> {
        self.types_in(bound).map_or(Ok(()), |is| declared.check(self.frame.scope.name(id), &is))
    }

    /// The type that the model declares for a value. `None` if it is no tensor, or if a size is a name whose
    /// number no other value has shown yet.
    pub(super) fn declared_type(&self, id: ValueId) -> Option<Type> {
        let scope = self.frame.scope;
        let port = scope.body.outputs.iter().find(|port| port.value == id);
        let port = port.and_then(|port| Declared::read(scope.name(id), &port.declared).ok());
        let said = [self.frame.declared(id).cloned(), port];
        said.into_iter().flatten().find_map(|declared| declared.with(&self.context.sizes))
    }

    /// Requires that no more nodes were made than can be handled. `what` says what was written out.
    pub(super) fn check_size(&self, what: impl FnOnce() -> String) -> Result<(), Error> {
        if self.graph.nodes.len() <= MOST_NODES {
            return Ok(());
        }
        Err(Error::unsupported(what(), format!("written out, the model has more than {MOST_NODES} nodes")))
    }

    /// Takes one iteration from the budget that all loops and scans of the model share. `what` names the loop.
    pub(super) fn iterate(&mut self, what: impl FnOnce() -> String) -> Result<(), Error> {
        let left = self.context.iterations.checked_sub(1);
        let why = || {
            format!("a model's loops may have {MAX_ITERATIONS} iterations together, and these are used up")
        };
        self.context.iterations = left.ok_or_else(|| Error::unsupported(what(), why()))?;
        Ok(())
    }

    /// The types of what a body would give for such arguments. Its nodes are removed again.
    pub(super) fn types_of(
        &mut self,
        body: &'p program::Body,
        arguments: Vec<Bound>,
    ) -> Result<Vec<Option<Type>>, Error> {
        let (first, constants) = (self.graph.nodes.len(), self.frame.constants.clone());
        let results = self.inside(Inside::Types, body, arguments)?;
        let types = results.iter().map(|bound| self.type_of(bound)).collect();
        self.graph.nodes.truncate(first);
        self.positions.truncate(first);
        self.origins.truncate(first);
        self.knowledge.truncate(NodeId(first as u32));
        self.frame.constants = constants;
        Ok(types)
    }

    /// The type of what is a tensor.
    pub(super) fn type_of(&self, bound: &Bound) -> Option<Type> {
        match bound {
            Bound::Tensor(value) => Some(self.graph.ty(*value).clone()),
            Bound::Static(tensor) => Some(tensor.ty()),
            Bound::Sequence(_) | Bound::Nothing(_) | Bound::Strings(_) | Bound::Absent => None,
        }
    }

    /// What a value is, by the types of its tensors; `None` where it is left out.
    fn types_in(&self, bound: &Bound) -> Option<Datum<Type>> {
        match bound {
            Bound::Tensor(_) | Bound::Static(_) => self.type_of(bound).map(Datum::Tensor),
            Bound::Sequence(Sequence { items, .. }) => {
                Some(Datum::Sequence(items.iter().map(|&item| self.graph.ty(item).clone()).collect()))
            }
            Bound::Nothing(_) => Some(Datum::Optional(None)),
            Bound::Strings(Texts { shape, items, .. }) => {
                let items = items.iter().map(|&item| self.graph.ty(item).clone()).collect();
                Some(Datum::Strings(Strings { shape: shape.clone(), items }))
            }
            Bound::Absent => None,
        }
    }

    /// Lets a value of the program stand for something.
    pub(super) fn define(&mut self, id: ValueId, bound: Bound) -> Result<(), Error> {
        if let Some(declared) = self.frame.declared(id)
            && let Some(is) = self.types_in(&bound)
        {
            declared.check(self.frame.scope.name(id), &is)?;
            declared.tell(&is, &mut self.context.sizes);
        }
        self.frame.set(id, bound);
        Ok(())
    }

    /// The tensor that an operand is; `None` where it is left out.
    pub(super) fn operand(&mut self, id: Option<ValueId>) -> Result<Option<Value>, Error> {
        let Some(id) = id else { return Ok(None) };
        match self.frame.get(id)?.clone() {
            Bound::Tensor(value) => Ok(Some(value)),
            Bound::Static(tensor) => self.push_constant(tensor, None).map(Some),
            Bound::Absent => Ok(None),
            bound @ (Bound::Sequence(_) | Bound::Nothing(_) | Bound::Strings(_)) => {
                Err(self.not_a_tensor(id, &bound))
            }
        }
    }

    /// What a value is, where a tensor must be.
    pub(super) fn not_a_tensor(&self, id: ValueId, bound: &Bound) -> Error {
        let is = match bound {
            Bound::Strings(_) => {
                let what = format!("value `{}`", self.frame.scope.name(id));
                return Error::unsupported(what, "it is of strings, which few operators take here");
            }
            Bound::Sequence(_) => "a sequence",
            Bound::Nothing(_) => "an optional that holds nothing",
            Bound::Absent => "left out",
            Bound::Tensor(_) | Bound::Static(_) => "a tensor",
        };
        let what = format!("value `{}`", self.frame.scope.name(id));
        Error::invalid(what, format!("it is {is}, where a tensor must be"))
    }

    /// Walks over a function's scope with this graph, and comes back to the one at hand.
    pub(super) fn in_frame<T>(
        &mut self,
        frame: Frame<'p>,
        then: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let result = then(self);
        self.frame = outer;
        result
    }
}

/// Fails if more nodes would be made than can be handled. It is asked before anything is made, because a
/// model may state a size that is far larger than its operands. `what` says where the things are that take a
/// node each, and `each` what they are.
pub(super) fn few(count: i64, what: &str, each: &str) -> Result<(), Error> {
    if count <= MOST_NODES as i64 {
        return Ok(());
    }
    Err(Error::unsupported(
        what,
        format!("{count} {each} are more than the {MOST_NODES} that are written out"),
    ))
}

pub(super) fn too_many_outputs(named: usize, most: usize) -> Error {
    Error::invalid("outputs", format!("{named} are named, but there are at most {most}"))
}
