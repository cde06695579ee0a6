//! Folding what an operator was written out in.

use ir::{NodeKind, Strings, Value};
use onnx::program::{Initializer, Node, ValueId};
use onnx::proto::TensorProto;
use onnx::{names, tensor};
use ops::Model;

use super::piece::{Link, Operand};
use super::place::{Placed, domains, opset_import};
use crate::draft::Draft;

/// What the operands and results of an operator are in a program.
struct Bound {
    /// By operand; `None` for one that is absent, or a constant of the node's own.
    inputs: Vec<Option<ValueId>>,
    outputs: Vec<Option<ValueId>>,
}

impl Placed {
    fn bound(&self, draft: &Draft, model: &Model) -> Option<Bound> {
        let input = |operand: &Operand| match operand {
            Operand::Value(value) => draft.value(*value, model).map(Some),
            Operand::Absent | Operand::Parameter(_) | Operand::Texts(_) => Some(None),
        };
        let inputs = self.operands.iter().map(input).collect::<Option<_>>()?;
        let outputs =
            self.outputs.iter().map(|&value| draft.value(value, model).map(Some)).collect::<Option<_>>()?;
        Some(Bound { inputs, outputs })
    }
}

impl Draft {
    /// Puts one node in place of the nodes that each placed operator is written out in. `None` if the program
    /// does not have these nodes.
    pub(crate) fn folded(mut self, placed: &[Placed], model: &Model) -> Option<Self> {
        // All are looked up first: what is folded has other nodes.
        let bound: Vec<Bound> =
            placed.iter().map(|placed| placed.bound(&self, model)).collect::<Option<_>>()?;
        for (placed, bound) in placed.iter().zip(bound) {
            self = self.fold(placed, bound)?;
        }
        Some(self)
    }

    fn fold(mut self, placed: &Placed, bound: Bound) -> Option<Self> {
        let Bound { inputs, outputs } = bound;
        let operands = placed.operands.iter().zip(inputs).map(|(operand, bound)| match operand {
            Operand::Parameter(tensor) => Some(self.constant("parameter", tensor)),
            Operand::Texts(texts) => Some(self.texts("parameter", texts)),
            Operand::Absent | Operand::Value(_) => bound,
        });
        let operands: Vec<Option<ValueId>> = operands.collect();
        let is_inside = |node: &Node| {
            let position = node.rest.name().strip_prefix('n').and_then(|rest| rest.parse().ok());
            position.is_some_and(|position: usize| placed.nodes.contains(&position))
        };
        let at = self.body().nodes.iter().position(is_inside)?;
        let (inside, rest): (Vec<Node>, Vec<Node>) =
            std::mem::take(&mut self.body_mut().nodes).into_iter().partition(is_inside);
        self.body_mut().nodes = rest;
        let gone = |value: ValueId| !outputs.contains(&Some(value));
        let inner: Vec<ValueId> = inside
            .iter()
            .flat_map(|node| node.outputs.iter().flatten().copied())
            .filter(|&v| gone(v))
            .collect();
        self.body_mut().declared.retain(|said| said.value.is_none_or(|value| !inner.contains(&value)));
        let nodes = self.steps(placed, &operands, &outputs)?;
        self.body_mut().nodes.splice(at..at, nodes);
        for domain in domains(&placed.steps) {
            let entry = opset_import(domain);
            if !self.program.rest.opset_import.contains(&entry) {
                self.program.rest.opset_import.push(entry);
            }
        }
        let operands: Vec<ValueId> =
            inside.iter().flat_map(|node| node.inputs.iter().flatten().copied()).collect();
        let is_input = |draft: &Self, value| draft.body().inputs.iter().any(|port| port.value == value);
        for value in operands {
            if !is_input(&self, value) {
                self.drop_unused(value);
            }
        }
        Some(self)
    }

    /// The nodes that an operator is folded into, on its operands, which give its results.
    fn steps(
        &mut self,
        placed: &Placed,
        operands: &[Option<ValueId>],
        outputs: &[Option<ValueId>],
    ) -> Option<Vec<Node>> {
        let mut results: Vec<Vec<Option<ValueId>>> = Vec::new();
        let mut nodes = Vec::new();
        for (at, step) in placed.steps.iter().enumerate() {
            let given = |port| placed.given.iter().position(|link| *link == Link::Result(at, port));
            let own = |port| match given(port) {
                Some(place) => outputs[place],
                None => Some(self.program.main.fresh("between")),
            };
            results.push((0..step.results).map(own).collect());
            let input = |link: &Link| match *link {
                Link::Operand(slot) => operands.get(slot).copied().flatten(),
                Link::Result(step, port) => results[step][port],
            };
            let mut node =
                Node::new(step.op_type, step.inputs.iter().map(input).collect(), results[at].clone());
            let first = placed.nodes.start;
            node.rest.name = Some(if at == 0 { format!("n{first}") } else { format!("n{first}_{at}") });
            node.rest.domain = step.domain.map(|(name, _)| name.to_owned());
            let attributes = step.attributes.iter().cloned();
            let attributes = attributes.map(|attribute| self.program.main.attribute(attribute).ok());
            node.attributes = attributes.collect::<Option<_>>()?;
            nodes.push(node);
        }
        Some(nodes)
    }

    /// A new initializer of strings.
    fn texts(&mut self, name: &str, texts: &Strings) -> ValueId {
        let value = self.program.main.fresh(name);
        let tensor = TensorProto { name: None, ..tensor::strings::to_proto("", texts) };
        self.body_mut().initializers.push(Initializer { value, tensor });
        value
    }

    /// What a value of the model is in the program that it was written as.
    fn value(&self, value: Value, model: &Model) -> Option<ValueId> {
        let id = value.node;
        let body = self.body();
        match &model.graph.node(id).kind {
            NodeKind::Variable { name } => {
                body.inputs.iter().map(|port| port.value).find(|&v| self.program.main.name(v) == name)
            }
            NodeKind::Constant(_) => {
                let name = names::value(id.index(), 0);
                let mut all = body.initializers.iter().map(|initializer| initializer.value);
                all.find(|&v| self.program.main.name(v) == name)
            }
            NodeKind::Operator(_) | NodeKind::Call(_) => {
                let name = names::node(id.index());
                let node = body.nodes.iter().find(|node| node.rest.name() == name)?;
                node.outputs.get(value.port as usize).copied().flatten()
            }
        }
    }
}
