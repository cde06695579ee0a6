//! Editing a program: forms written out one at a time, nodes taken away, and what nothing needs dropped.
//!
//! Every edit is one way to a program that may do the same with less. None of them looks at types: whether the result is
//! valid, [`crate::import::specialise`] tells.

use std::collections::{BTreeSet, HashMap};

use super::{Attribute, Body, Initializer, Node, Port, Program, Scope, ValueId};
use crate::export::{open_type, value_info};
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{AttributeProto, NodeProto, ValueInfoProto};
use crate::tensor;
use ir::{DType, Tensor, Type, Wanted};

/// A body of the main scope: the way to it from the outermost one, as nodes and their attributes by position.
pub type Way = Vec<(usize, usize)>;

impl Program {
    /// The bodies of the main scope, the outermost first.
    pub fn ways(&self) -> Vec<Way> {
        fn gather(body: &Body, way: &Way, all: &mut Vec<Way>) {
            all.push(way.clone());
            for (at, node) in body.nodes.iter().enumerate() {
                for (attribute, held) in node.attributes.iter().enumerate() {
                    if let Some(inner) = &held.body {
                        gather(inner, &[&way[..], &[(at, attribute)]].concat(), all);
                    }
                }
            }
        }
        let mut all = Vec::new();
        gather(&self.main.body, &Way::new(), &mut all);
        all
    }

    /// The body at the end of a way.
    pub fn body(&self, way: &Way) -> Option<&Body> {
        way.iter().try_fold(&self.main.body, |body, &(at, attribute)| {
            body.nodes.get(at)?.attributes.get(attribute)?.body.as_ref()
        })
    }

    /// The body at the end of a way, to be changed.
    pub fn body_mut(&mut self, way: &Way) -> Option<&mut Body> {
        way.iter().try_fold(&mut self.main.body, |body, &(at, attribute)| {
            body.nodes.get_mut(at)?.attributes.get_mut(attribute)?.body.as_mut()
        })
    }

    /// The program with one side of an If in its place.
    pub fn with_side(&self, way: &Way, at: usize, side: &str) -> Option<Self> {
        let mut program = self.clone();
        let node = program.body(way)?.nodes.get(at)?.clone();
        let held = node.attributes.iter().find(|a| a.rest.name() == side)?.body.clone()?;
        let mut bound = HashMap::new();
        let body = program.main.copy(&held, &mut bound);
        let results: Vec<ValueId> = body.outputs.iter().map(|port| port.value).collect();
        program.replace(way, at, body.nodes, body.initializers, &results)
    }

    /// The program with constants in place of what a side of an If in the main graph gives.
    pub fn with_constant_side(&self, at: usize, side: &str, constants: &[Tensor]) -> Option<Self> {
        let mut program = self.clone();
        let (mut nodes, mut initializers, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for tensor in constants {
            let constant = program.main.constant("constant", tensor, &mut initializers);
            let value = program.main.fresh("given");
            nodes.push(Node::new("Identity", vec![Some(constant)], vec![Some(value)]));
            let declared = ValueInfoProto { name: None, ..value_info("", &tensor.ty()) };
            outputs.push(Port { value, declared });
        }
        let held = &mut program.main.body.nodes.get_mut(at)?.attributes;
        let body = held.iter_mut().find(|attribute| attribute.rest.name() == side)?.body.as_mut()?;
        *body = Body { nodes, initializers, outputs, declared: Vec::new(), ..body.clone() };
        Some(program)
    }

    /// The program with so many iterations of a Loop in its place. Where nothing piles up and the body does not say of what
    /// type it would be, `type_of` is asked for that of what the Loop gives.
    pub fn with_iterations(
        &self,
        way: &Way,
        at: usize,
        iterations: usize,
        type_of: &dyn Fn(ValueId) -> Option<Type>,
    ) -> Option<Self> {
        let mut program = self.clone();
        let node = program.body(way)?.nodes.get(at)?.clone();
        let held = node.attributes.iter().find(|a| a.rest.name() == "body")?.body.clone()?;
        let carried = node.inputs.len().checked_sub(2)?;
        let mut state: Vec<ValueId> = node.inputs[2..].iter().copied().collect::<Option<_>>()?;
        let mut piles = vec![Vec::new(); held.outputs.len().checked_sub(1 + carried)?];
        let (mut nodes, mut initializers) = (Vec::new(), Vec::new());
        for iteration in 0..iterations {
            let number = program.main.number(iteration as i64, DType::I64, &mut initializers);
            let truth = program.main.number(1, DType::Bool, &mut initializers);
            let arguments = [number, truth].into_iter().chain(state);
            let parameters = held.inputs.iter().map(|port| port.value);
            let mut bound: HashMap<ValueId, ValueId> = parameters.zip(arguments).collect();
            let body = program.main.copy(&held, &mut bound);
            initializers.extend(body.initializers);
            nodes.extend(body.nodes);
            let mut results = body.outputs.iter().skip(1).map(|port| port.value);
            state = results.by_ref().take(carried).collect();
            piles.iter_mut().zip(results).for_each(|(pile, piece)| pile.push(piece));
        }
        for (i, (pile, port)) in piles.iter().zip(&held.outputs[1 + carried..]).enumerate() {
            let given = || type_of(node.outputs.get(carried + i).copied().flatten()?);
            state.push(match &pile[..] {
                [] => program.main.nothing_of(port, 0, given, &mut initializers)?,
                pile => program.main.stack(pile, 0, &mut nodes, &mut initializers)?,
            });
        }
        program.replace(way, at, nodes, initializers, &state)
    }

    /// The program with other nodes in place of one, and these values in place of its outputs. An output of the model
    /// keeps its name: then an Identity node gives it.
    pub(super) fn replace(
        mut self,
        way: &Way,
        at: usize,
        mut nodes: Vec<Node>,
        initializers: Vec<Initializer>,
        results: &[ValueId],
    ) -> Option<Self> {
        let outputs = self.body(way)?.nodes.get(at)?.outputs.clone();
        let mut stand_for = HashMap::new();
        for (&output, &result) in outputs.iter().zip(results) {
            match output {
                Some(output) if self.is_given_out(output) || self.needs_copy(way, output, result, &nodes) => {
                    nodes.push(Node::new("Identity", vec![Some(result)], vec![Some(output)]));
                }
                Some(output) => _ = stand_for.insert(output, result),
                None => {}
            }
        }
        let around = self.body_mut(way)?;
        around.initializers.extend(initializers);
        around.nodes.splice(at..=at, nodes);
        self.main.body.each_use(&mut |used| *used = stand_for.get(used).copied().unwrap_or(*used));
        Some(self)
    }

    /// Whether a value is an output of the model, whose name is its own.
    fn is_given_out(&self, value: ValueId) -> bool {
        self.main.body.outputs.iter().any(|port| port.value == value)
    }

    /// Whether a body gives `output`, and `other` cannot take its place: neither the body nor `nodes` make
    /// `other`, or the body gives it already. ONNX wants an Identity node there.
    fn needs_copy(&self, way: &Way, output: ValueId, other: ValueId, nodes: &[Node]) -> bool {
        let Some(body) = self.body(way).filter(|_| !way.is_empty()) else { return false };
        let makes = |node: &Node| node.outputs.contains(&Some(other));
        let is_own = body.inputs.iter().any(|port| port.value == other)
            || body.initializers.iter().any(|initializer| initializer.value == other)
            || body.nodes.iter().chain(nodes).any(makes);
        let gives = |value: ValueId| body.outputs.iter().any(|port| port.value == value);
        gives(output) && (!is_own || gives(other))
    }

    /// The program with a Loop that counts to a number.
    pub fn with_count(&self, way: &Way, at: usize, count: i64) -> Option<Self> {
        let mut program = self.clone();
        let mut initializers = Vec::new();
        let number = program.main.number(count, DType::I64, &mut initializers);
        let around = program.body_mut(way)?;
        *around.nodes.get_mut(at)?.inputs.get_mut(0)? = Some(number);
        around.initializers.extend(initializers);
        Some(program)
    }

    /// The program with an operand of a node in place of its only output, which is not one of the model.
    pub fn without_node(&self, way: &Way, at: usize, operand: usize) -> Option<Self> {
        let node = self.body(way)?.nodes.get(at)?;
        let [Some(output)] = node.outputs[..] else { return None };
        let operand = node.inputs.get(operand).copied().flatten()?;
        if self.is_given_out(output) || self.needs_copy(way, output, operand, &[]) {
            return None;
        }
        self.clone().replace(way, at, Vec::new(), Vec::new(), &[operand])
    }

    /// The program with these outputs of the main graph alone, by position.
    pub fn with_outputs(&self, kept: &[usize]) -> Option<Self> {
        let mut program = self.clone();
        let outputs = kept.iter().map(|&i| self.main.body.outputs.get(i).cloned()).collect::<Option<_>>()?;
        program.main.body.outputs = outputs;
        Some(program)
    }

    /// The program with one value of the main graph as its only output.
    pub fn giving(&self, value: ValueId) -> Self {
        let mut program = self.clone();
        program.main.body.outputs = vec![Port { value, declared: ValueInfoProto::default() }];
        program
    }

    /// Says the types of outputs of the main graph of which nothing is said. `tensor` gives those of tensors by their names; of
    /// the tensors in others only the element type is said.
    pub fn declare_outputs(&mut self, outputs: &[Wanted], tensor: impl Fn(&str) -> Option<Type>) {
        for (port, wanted) in self.main.body.outputs.iter_mut().zip(outputs) {
            if port.declared.r#type.is_none() {
                port.declared.r#type = match tensor(&wanted.name) {
                    Some(ty) => value_info("", &ty).r#type,
                    None => Some(open_type(wanted.kind, wanted.dtype)),
                };
            }
        }
    }

    /// The program without what no output depends on, inputs and functions included.
    pub fn pruned(&self) -> Self {
        let mut program = self.clone();
        let mut needed = vec![false; program.main.values()];
        let body = &mut program.main.body;
        body.prune(&mut needed);
        body.inputs.retain(|port| needed[port.value.index()]);
        body.initializers.retain(|initializer| needed[initializer.value.index()]);
        program.drop_uncalled();
        program
    }

    /// How many nodes it has. Those of bodies and functions count once.
    pub fn nodes(&self) -> usize {
        let mut count = 0;
        self.main.body.each_node(&mut |_| count += 1);
        self.functions.iter().for_each(|f| f.scope.body.each_node(&mut |_| count += 1));
        count
    }
}

impl Node {
    /// A node of the default domain, without attributes.
    pub fn new(op_type: &str, inputs: Vec<Option<ValueId>>, outputs: Vec<Option<ValueId>>) -> Self {
        let rest = NodeProto { op_type: Some(op_type.to_owned()), ..NodeProto::default() };
        Self { inputs, outputs, attributes: Vec::new(), rest }
    }

    /// This node with an integer attribute.
    #[must_use]
    pub fn with_int(self, name: &str, value: i64) -> Self {
        self.with(name, AttributeType::Int, AttributeProto { i: Some(value), ..AttributeProto::default() })
    }

    /// This node with an attribute that is a float.
    #[must_use]
    pub fn with_float(self, name: &str, value: f32) -> Self {
        self.with(name, AttributeType::Float, AttributeProto { f: Some(value), ..AttributeProto::default() })
    }

    /// This node with an attribute that is a word.
    #[must_use]
    pub fn with_text(self, name: &str, value: &str) -> Self {
        let s = Some(value.as_bytes().to_vec());
        self.with(name, AttributeType::String, AttributeProto { s, ..AttributeProto::default() })
    }

    /// This node with an attribute that is a list of integers.
    #[must_use]
    pub fn with_ints(self, name: &str, values: Vec<i64>) -> Self {
        self.with(name, AttributeType::Ints, AttributeProto { ints: values, ..AttributeProto::default() })
    }

    fn with(mut self, name: &str, kind: AttributeType, value: AttributeProto) -> Self {
        let rest = AttributeProto { name: Some(name.to_owned()), r#type: Some(kind as i32), ..value };
        self.attributes.push(Attribute { rest, body: None, bodies: Vec::new() });
        self
    }
}

impl Scope {
    /// A new value, of this name or, where it is in use, one made from it.
    pub fn fresh(&mut self, name: &str) -> ValueId {
        let name = self.taken.fresh(&self.names, name);
        self.names.push(name);
        ValueId(self.names.len() as u32 - 1)
    }

    /// A new constant of rank 0.
    pub(super) fn number(
        &mut self,
        number: i64,
        dtype: DType,
        initializers: &mut Vec<Initializer>,
    ) -> ValueId {
        let constant = Tensor::from_i128_fn(&Type::new(dtype, []), |_| number.into());
        self.constant("number", &constant, initializers)
    }

    /// A new constant, among these initializers, of this name or one made from it.
    pub fn constant(
        &mut self,
        name: &str,
        constant: &Tensor,
        initializers: &mut Vec<Initializer>,
    ) -> ValueId {
        let value = self.fresh(name);
        let tensor = crate::proto::TensorProto { name: None, ..tensor::to_proto("", constant) };
        initializers.push(Initializer { value, tensor });
        value
    }

    /// Nodes that put values one behind the other along a new axis; `None` for none.
    pub(super) fn stack(
        &mut self,
        pieces: &[ValueId],
        axis: i64,
        nodes: &mut Vec<Node>,
        initializers: &mut Vec<Initializer>,
    ) -> Option<ValueId> {
        if pieces.is_empty() {
            return None;
        }
        let axes = Tensor::from_i128_fn(&Type::new(DType::I64, [1]), |_| axis.into());
        let axes = self.constant("axes", &axes, initializers);
        let mut stacked = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            let one = self.fresh("piece");
            nodes.push(Node::new("Unsqueeze", vec![Some(piece), Some(axes)], vec![Some(one)]));
            stacked.push(Some(one));
        }
        let all = self.fresh("stacked");
        nodes.push(Node::new("Concat", stacked, vec![Some(all)]).with_int("axis", axis));
        Some(all)
    }

    /// A constant for no pieces along a new axis, of the type that the body says of one, or else of the one that is given.
    pub(super) fn nothing_of(
        &mut self,
        port: &Port,
        axis: i64,
        given: impl FnOnce() -> Option<Type>,
        initializers: &mut Vec<Initializer>,
    ) -> Option<ValueId> {
        let said = || {
            let mut ty = crate::import::declared_type(&port.declared)?;
            let rank = ty.rank() as i64;
            let axis = usize::try_from(if axis < 0 { axis + rank + 1 } else { axis }).ok()?;
            (axis <= ty.rank()).then(|| ty.shape.insert(axis, 0))?;
            ty.is_countable().then_some(ty)
        };
        let ty = said().or_else(given)?;
        Some(self.constant("nothing", &Tensor::zeros(&ty), initializers))
    }

    /// A body once more, with new values for all that it defines and does not find in `bound`.
    pub(super) fn copy(&mut self, body: &Body, bound: &mut HashMap<ValueId, ValueId>) -> Body {
        self.copy_of(None, body, bound)
    }

    /// The same of a body of another scope, in which its values have their names.
    pub(super) fn copy_of(
        &mut self,
        from: Option<&Self>,
        body: &Body,
        bound: &mut HashMap<ValueId, ValueId>,
    ) -> Body {
        let define = |scope: &mut Self, value: ValueId, bound: &mut HashMap<ValueId, ValueId>| {
            let name = from.unwrap_or(scope).name(value).to_owned();
            *bound.entry(value).or_insert_with(|| scope.fresh(&name))
        };
        let mut copy = body.clone();
        for port in &mut copy.inputs {
            port.value = define(self, port.value, bound);
        }
        for initializer in &mut copy.initializers {
            initializer.value = define(self, initializer.value, bound);
        }
        for node in &mut copy.nodes {
            // Of several copies none has it for itself, and some runtimes draw by it.
            node.rest.name = None;
            let operands = node.inputs.iter_mut().flatten();
            operands.for_each(|operand| *operand = bound.get(operand).copied().unwrap_or(*operand));
            for attribute in &mut node.attributes {
                let held = attribute.body.iter_mut().chain(&mut attribute.bodies);
                held.for_each(|inner| *inner = self.copy_of(from, inner, bound));
            }
            for output in node.outputs.iter_mut().flatten() {
                *output = define(self, *output, bound);
            }
        }
        let outputs = copy.outputs.iter_mut();
        outputs.for_each(|port| port.value = bound.get(&port.value).copied().unwrap_or(port.value));
        copy.declared.clear();
        copy
    }
}

impl Body {
    /// Every place where a value is used, those of bodies inside included.
    pub(super) fn each_use(&mut self, visit: &mut dyn FnMut(&mut ValueId)) {
        for node in &mut self.nodes {
            node.inputs.iter_mut().flatten().for_each(&mut *visit);
            let held = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
            held.for_each(|inner| inner.each_use(visit));
        }
        self.outputs.iter_mut().for_each(|port| visit(&mut port.value));
    }

    /// Drops nodes and initializers whose values nobody needs, and notes what the others need.
    fn prune(&mut self, needed: &mut Vec<bool>) {
        self.outputs.iter().for_each(|port| needed[port.value.index()] = true);
        let mut kept = Vec::with_capacity(self.nodes.len());
        for mut node in std::mem::take(&mut self.nodes).into_iter().rev() {
            if !node.outputs.iter().flatten().any(|output| needed[output.index()]) {
                continue;
            }
            node.inputs.iter().flatten().for_each(|operand| needed[operand.index()] = true);
            let held = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
            held.for_each(|inner| inner.prune(needed));
            kept.push(node);
        }
        kept.reverse();
        self.nodes = kept;
        let inputs: BTreeSet<ValueId> = self.inputs.iter().map(|port| port.value).collect();
        self.initializers.retain(|i| needed[i.value.index()] || inputs.contains(&i.value));
        self.declared.retain(|said| said.value.is_some_and(|value| needed[value.index()]));
    }
}
