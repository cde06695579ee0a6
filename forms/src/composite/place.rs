//! Writing an operator out at the end of a graph.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ir::rewrite::Rewrite;
use ir::{Choices, NodeId, NodeKind, Operation, Value};
use onnx::export::value_info;
use onnx::import::{Options, specialise};
use onnx::program::Program;
use onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use onnx::tensor;
use ops::elementwise::{Unary, UnaryFn};
use ops::{Graph, Model};

use super::Composite;
use super::piece::{Bounds, Domain, Link, Operand, Piece, Step, unused};

/// The most nodes that an operator is written out in.
const MOST_NODES: usize = 400;

/// An operator that is written out in a graph, with the nodes around it that make or read its values that are
/// no tensors.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// Its name.
    pub name: &'static str,
    /// The nodes that it is folded into.
    pub(super) steps: Vec<Step>,
    pub(super) operands: Vec<Operand>,
    /// The results: the output of the steps that each of them is, and its value in the graph.
    pub(super) given: Vec<Link>,
    pub(super) outputs: Vec<Value>,
    /// The nodes of the graph that it is written out in.
    pub(super) nodes: Range<usize>,
}

impl Placed {
    /// How many nodes it is folded into.
    pub fn size(&self) -> usize {
        self.steps.len()
    }

    /// Whether a value is inside, and no result.
    fn hides(&self, value: Value) -> bool {
        self.nodes.contains(&value.node.index()) && !self.outputs.contains(&value)
    }
}

pub(super) fn opset_import((domain, version): Domain) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: Some(domain.to_owned()), version: Some(version) }
}

/// Draws a use of an operator and appends it to the graph, written out; its results are outputs. What is inside of
/// `earlier` ones it does not use. `None`, and the model as it was, where there is no room for it, an earlier one is of
/// another version of its domain, or import does not write it out.
pub(super) fn place(
    composite: &Composite,
    model: &mut Model,
    constants: &mut Vec<NodeId>,
    earlier: &[Placed],
    bounds: Bounds,
    rng: &mut Choices,
) -> Option<Placed> {
    let domain = (!composite.domain.is_empty()).then_some((composite.domain, composite.version));
    let mut in_use = earlier.iter().flat_map(|placed| domains(&placed.steps));
    if domain.is_some_and(|(name, version)| in_use.any(|(other, is)| other == name && is != version)) {
        return None;
    }
    let hidden = hidden(&model.graph, earlier);
    let mut piece = Piece::new(model.opset, model.graph.clone(), constants.clone(), hidden, bounds, rng);
    (composite.draw)(&mut piece)?;
    piece.end(composite.name, domain);
    let Piece { mut graph, constants: free, operands, steps, given, .. } = piece;
    let base = graph.nodes.len();
    let fragment = written_out(model.opset, &graph, &operands, &steps, &given)?;
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
    Some(Placed { name: composite.name, steps, operands, given, outputs, nodes })
}

/// What is inside of earlier ones.
fn hidden(graph: &Graph, earlier: &[Placed]) -> BTreeSet<Value> {
    let ports = graph.iter().map(|(id, node)| (id, 0..node.outputs.len()));
    let values = ports.flat_map(|(id, ports)| ports.map(move |port| Value::new(id, port)));
    values.filter(|&value| earlier.iter().any(|placed| placed.hides(value))).collect()
}

/// The name of an operand in the program that holds the operator's nodes alone. A value that is read twice is
/// one input.
fn called(operand: &Operand, slot: usize) -> String {
    match operand {
        Operand::Absent => String::new(),
        Operand::Value(value) => format!("x{}_{}", value.node.0, value.port),
        Operand::Parameter(_) | Operand::Texts(_) => format!("c{slot}"),
    }
}

fn result(step: usize, port: usize) -> String {
    format!("r{step}_{port}")
}

/// The nodes alone, written out by import.
fn written_out(
    opset: u32,
    graph: &Graph,
    operands: &[Operand],
    steps: &[Step],
    given: &[Link],
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
            Operand::Texts(texts) => initializer.push(tensor::strings::to_proto(&name, texts)),
        }
    }
    let name = |link: &Link| match *link {
        Link::Operand(slot) => operands.get(slot).map_or_else(String::new, |operand| called(operand, slot)),
        Link::Result(step, port) => result(step, port),
    };
    let node = |(at, step): (usize, &Step)| NodeProto {
        op_type: Some(step.op_type.to_owned()),
        domain: step.domain.map(|(name, _)| name.to_owned()),
        input: step.inputs.iter().map(name).collect(),
        output: (0..step.results).map(|port| result(at, port)).collect(),
        attribute: step.attributes.clone(),
        ..NodeProto::default()
    };
    let output = |link: &Link| ValueInfoProto { name: Some(name(link)), ..ValueInfoProto::default() };
    let default = OperatorSetIdProto { domain: Some(String::new()), version: Some(opset.into()) };
    let proto = ModelProto {
        ir_version: Some(10),
        opset_import: [default].into_iter().chain(domains(steps).map(opset_import)).collect(),
        graph: Some(GraphProto {
            name: Some("alone".to_owned()),
            node: steps.iter().enumerate().map(node).collect(),
            initializer,
            input: inputs.into_values().collect(),
            output: given.iter().map(output).collect(),
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    };
    let imported = specialise(&Program::read(proto).ok()?, &Options::default()).ok()?;
    let graph = imported.model.graph;
    // A shape is the same whatever the values are.
    let is_shape = |value: &Value| match &graph.node(value.node).kind {
        NodeKind::Operator(op) => op.name() == "Shape",
        _ => false,
    };
    let is_flat =
        imported.model.functions.is_empty() && graph.nodes.iter().all(|node| node.given.iter().all(is_shape));
    (is_flat && imported.specialised.is_empty() && graph.nodes.len() <= MOST_NODES).then_some(graph)
}

/// The domains of some nodes but for ONNX's default one.
pub(super) fn domains(steps: &[Step]) -> impl Iterator<Item = Domain> {
    let all: BTreeSet<Domain> = steps.iter().filter_map(|step| step.domain).collect();
    all.into_iter()
}

/// Appends a graph to another one, on operands of that. Gives what the results are there. One that is no result of an
/// operator, or is one of the others as well, goes through Identity.
fn append(graph: &mut Graph, fragment: &Graph, operands: &[Operand]) -> Option<Vec<Value>> {
    let base = graph.nodes.len();
    let values: BTreeMap<String, Value> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Value(value) => Some((called(operand, 0), *value)),
            Operand::Absent | Operand::Parameter(_) | Operand::Texts(_) => None,
        })
        .collect();
    let read = read(fragment);
    let mut rewrite = Rewrite::onto(fragment, std::mem::take(graph));
    for (id, node) in fragment.iter() {
        match &node.kind {
            // What an operator is, and nothing reads, is written out in the program as well.
            NodeKind::Constant(_) if !read.contains(&id) => {}
            NodeKind::Variable { name } => rewrite.replace(Value::new(id, 0), *values.get(name)?),
            _ => {
                rewrite.keep(id)?;
            }
        }
    }
    let results: Vec<Value> =
        fragment.outputs.iter().map(|output| rewrite.at(output.value)).collect::<Option<_>>()?;
    *graph = rewrite.graph;
    let mut outputs: Vec<Value> = Vec::new();
    for value in results {
        let is_computed =
            value.node.index() >= base && matches!(graph.node(value.node).kind, NodeKind::Operator(_));
        let is_own = is_computed && !outputs.contains(&value);
        outputs.push(if is_own { value } else { copy(graph, value)? });
    }
    Some(outputs)
}

/// The nodes that others or the outputs of a graph read.
fn read(graph: &Graph) -> BTreeSet<NodeId> {
    let by_nodes = graph.nodes.iter().flat_map(|node| node.uses().map(|value| value.node));
    by_nodes.chain(graph.outputs.iter().map(|output| output.value.node)).collect()
}

fn copy(graph: &mut Graph, value: Value) -> Option<Value> {
    let node = graph.operator(Unary(UnaryFn::Identity).into(), &[Some(value)]).ok()?;
    Some(Value::new(node, 0))
}
