//! Writing an operator out at the end of a graph, and folding what was written out.

use std::collections::BTreeMap;
use std::ops::Range;

use ir::rewrite::Rewrite;
use ir::{Choices, NodeId, NodeKind, Value};
use onnx::export::value_info;
use onnx::import::{Options, specialise};
use onnx::program::{Attribute, Node, Program, ValueId};
use onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use onnx::{names, tensor};
use ops::{Graph, Model};

use super::Composite;
use super::piece::{Bounds, Operand, Piece, unused};
use crate::draft::Draft;

/// The most nodes that an operator is written out in.
const MOST_NODES: usize = 400;

/// An operator that is written out in a graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// Its name.
    pub name: &'static str,
    domain: &'static str,
    attributes: Vec<AttributeProto>,
    operands: Vec<Operand>,
    /// Its results.
    outputs: Vec<Value>,
    /// The nodes of the graph that it is written out in.
    nodes: Range<usize>,
}

/// The version of the domain of classical models: the last one that has all operators of these, by the names that they have here.
const LEARNING_VERSION: i64 = 3;

fn opset_import(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: Some(domain.to_owned()), version: Some(version) }
}

/// Draws a use of an operator and appends it to the graph, written out; its results are outputs. What is inside of `earlier` ones it
/// does not use. `None`, and the model as it was,
/// where there is no room for it or import does not write it out.
pub(super) fn place(
    composite: &Composite,
    model: &mut Model,
    constants: &mut Vec<NodeId>,
    earlier: &[Placed],
    bounds: Bounds,
    rng: &mut Choices,
) -> Option<Placed> {
    let hidden = (0..model.graph.nodes.len() as u32).map(NodeId);
    let hidden = hidden.filter(|&id| earlier.iter().any(|placed| placed.hides(id))).collect();
    let mut piece = Piece::new(model.opset, model.graph.clone(), constants.clone(), hidden, bounds, rng);
    (composite.draw)(&mut piece)?;
    piece.end();
    let Piece { mut graph, constants: free, operands, attributes, results, .. } = piece;
    let base = graph.nodes.len();
    let fragment = written_out(model.opset, composite, &graph, &operands, &attributes, results)?;
    let outputs = append(&mut graph, &fragment, &operands)?;
    for &value in &outputs {
        let name = unused('y', graph.outputs.iter().map(|output| output.name.as_str()));
        graph.output(name, value);
    }
    let nodes = base..graph.nodes.len();
    let grown = Model { graph, ..model.clone() };
    grown.validate().ok()?;
    *model = grown;
    *constants = free;
    Some(Placed { name: composite.name, domain: composite.domain, attributes, operands, outputs, nodes })
}

/// What an operand is called in the program of its node alone. One that is there twice is one input.
fn called(operand: &Operand, slot: usize) -> String {
    match operand {
        Operand::Absent => String::new(),
        Operand::Value(value) => format!("x{}_{}", value.node.0, value.port),
        Operand::Parameter(_) => format!("c{slot}"),
    }
}

/// The node alone, written out by import.
fn written_out(
    opset: u32,
    composite: &Composite,
    graph: &Graph,
    operands: &[Operand],
    attributes: &[AttributeProto],
    results: usize,
) -> Option<Graph> {
    let mut inputs: BTreeMap<String, ValueInfoProto> = BTreeMap::new();
    let mut initializer = Vec::new();
    for (slot, operand) in operands.iter().enumerate() {
        let name = called(operand, slot);
        match operand {
            Operand::Absent => {}
            Operand::Value(value) => {
                inputs.insert(name.clone(), value_info(&name, graph.ty(*value)));
            }
            Operand::Parameter(constant) => initializer.push(tensor::to_proto(&name, constant)),
        }
    }
    let output: Vec<String> = (0..results).map(|port| format!("r{port}")).collect();
    let named = |name: &String| ValueInfoProto { name: Some(name.clone()), ..ValueInfoProto::default() };
    let node = NodeProto {
        op_type: Some(composite.name.to_owned()),
        domain: Some(composite.domain.to_owned()),
        input: operands.iter().enumerate().map(|(slot, operand)| called(operand, slot)).collect(),
        output: output.clone(),
        attribute: attributes.to_vec(),
        ..NodeProto::default()
    };
    let proto = ModelProto {
        ir_version: Some(10),
        opset_import: [("", i64::from(opset)), (composite.domain, LEARNING_VERSION)]
            .into_iter()
            .take(if composite.domain.is_empty() { 1 } else { 2 })
            .map(|(domain, version)| opset_import(domain, version))
            .collect(),
        graph: Some(GraphProto {
            name: Some("alone".to_owned()),
            node: vec![node],
            initializer,
            input: inputs.into_values().collect(),
            output: output.iter().map(named).collect(),
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    };
    let imported = specialise(&Program::read(proto).ok()?, &Options::default()).ok()?;
    let graph = imported.model.graph;
    let is_flat = imported.model.functions.is_empty() && graph.nodes.iter().all(|node| node.given.is_empty());
    (is_flat && imported.specialised.is_empty() && graph.nodes.len() <= MOST_NODES).then_some(graph)
}

/// Appends a graph to another one, on operands of that. Gives what the results are there; `None` where one is no result of an
/// operator, or is one of the others as well.
fn append(graph: &mut Graph, fragment: &Graph, operands: &[Operand]) -> Option<Vec<Value>> {
    let base = graph.nodes.len();
    let values: BTreeMap<String, Value> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Value(value) => Some((called(operand, 0), *value)),
            Operand::Absent | Operand::Parameter(_) => None,
        })
        .collect();
    let mut rewrite = Rewrite::onto(fragment, std::mem::take(graph));
    for (id, node) in fragment.iter() {
        match &node.kind {
            NodeKind::Variable { name } => rewrite.replace(Value::new(id, 0), *values.get(name)?),
            _ => {
                rewrite.keep(id)?;
            }
        }
    }
    let outputs: Vec<Value> =
        fragment.outputs.iter().map(|output| rewrite.at(output.value)).collect::<Option<_>>()?;
    *graph = rewrite.graph;
    let is_computed = |value: &Value| {
        value.node.index() >= base && matches!(graph.node(value.node).kind, NodeKind::Operator(_))
    };
    let is_single = |(at, value): (usize, &Value)| !outputs[..at].contains(value);
    (outputs.iter().all(is_computed) && outputs.iter().enumerate().all(is_single)).then_some(outputs)
}

/// What the operands and results of an operator are in a program.
struct Bound {
    /// By operand; `None` for one that is absent, or a constant of the node's own.
    inputs: Vec<Option<ValueId>>,
    outputs: Vec<Option<ValueId>>,
}

impl Placed {
    /// The nodes that nothing but others of these may use.
    pub(super) fn hides(&self, id: NodeId) -> bool {
        self.nodes.contains(&id.index()) && self.outputs.iter().all(|output| output.node != id)
    }

    fn bound(&self, draft: &Draft, model: &Model) -> Option<Bound> {
        let input = |operand: &Operand| match operand {
            Operand::Value(value) => draft.value(*value, model).map(Some),
            Operand::Absent | Operand::Parameter(_) => Some(None),
        };
        let inputs = self.operands.iter().map(input).collect::<Option<_>>()?;
        let outputs =
            self.outputs.iter().map(|&value| draft.value(value, model).map(Some)).collect::<Option<_>>()?;
        Some(Bound { inputs, outputs })
    }
}

impl Draft {
    /// The nodes of some operators in place of those that they are written out in; `None` where the program does not have these.
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
        let inputs = placed.operands.iter().zip(inputs).map(|(operand, bound)| match operand {
            Operand::Parameter(tensor) => Some(self.constant("parameter", tensor)),
            Operand::Absent | Operand::Value(_) => bound,
        });
        let inputs: Vec<Option<ValueId>> = inputs.collect();
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
        let mut node = Node::new(placed.name, inputs, outputs);
        node.rest.name = Some(format!("n{}", placed.nodes.start));
        if !placed.domain.is_empty() {
            node.rest.domain = Some(placed.domain.to_owned());
            let entry = opset_import(placed.domain, LEARNING_VERSION);
            if !self.program.rest.opset_import.contains(&entry) {
                self.program.rest.opset_import.push(entry);
            }
        }
        let attributes = placed.attributes.iter().cloned();
        node.attributes = attributes.map(|rest| Attribute { rest, body: None, bodies: Vec::new() }).collect();
        self.body_mut().nodes.insert(at, node);
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
