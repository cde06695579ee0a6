//! Graphs as petgraph sees them: for its algorithms, and for drawing.
//!
//! [`digraph`] keeps operand order, repeated operands and ports as edge weights, so nothing but the operators
//! themselves is lost. This is the only module here that knows petgraph's types.

use std::fmt::{self, Display, Write as _};

use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

use crate::text;
use crate::{Function, Graph, Model, NodeId, NodeKind, Operation, Value};

/// What an edge says: which output of its source is which operand of its target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    /// The output of the source.
    pub port: u32,
    /// The operand of the target.
    pub operand: u32,
}

/// The graph with an edge for every operand that is present. The index of a node is its position
/// ([`NodeId::index`]). Operands that refer to no node, which only an invalid graph has, are left out.
pub fn digraph<O>(graph: &Graph<O>) -> DiGraph<NodeId, Use> {
    let edges = graph.nodes.iter().map(|n| n.inputs.len()).sum();
    let mut view = DiGraph::with_capacity(graph.nodes.len(), edges);
    for (id, _) in graph.iter() {
        view.add_node(id);
    }
    for (id, node) in graph.iter() {
        for (operand, value) in node.inputs.iter().enumerate() {
            if let Some(value) = value.filter(|v| v.node.index() < graph.nodes.len()) {
                let used = Use { port: value.port, operand: operand as u32 };
                view.add_edge(at(value.node), at(id), used);
            }
        }
    }
    view
}

fn at(id: NodeId) -> NodeIndex {
    NodeIndex::new(id.index())
}

/// The model in Graphviz's DOT language, each function in a box of its own.
pub fn dot<O: Operation>(model: &Model<O>) -> String {
    let mut drawing = DiGraph::new();
    let mut boxes = Vec::new();
    for function in &model.functions {
        let first = drawing.node_count();
        draw(&mut drawing, &function.body, &model.functions);
        boxes.push((&function.name, first..drawing.node_count()));
    }
    draw(&mut drawing, &model.graph, &model.functions);

    let config = [Config::GraphContentOnly, Config::NodeNoLabel, Config::EdgeNoLabel];
    let edge = |_, e: EdgeReference<'_, String>| e.weight().clone();
    let node = |_, (_, attributes): (NodeIndex, &String)| attributes.clone();
    let content = Dot::with_attr_getters(&drawing, &config, &edge, &node);
    fmt::from_fn(|f| {
        write!(f, "digraph {{\n    node [shape = box];\n{content}")?;
        for (i, (name, members)) in boxes.iter().enumerate() {
            write!(f, "    subgraph cluster_{i} {{ label = {};", quoted(name))?;
            members.clone().try_for_each(|n| write!(f, " {n};"))?;
            f.write_str(" }\n")?;
        }
        f.write_str("}\n")
    })
    .to_string()
}

/// Adds a graph and its outputs; weights are DOT attributes.
fn draw<O: Operation>(drawing: &mut DiGraph<String, String>, graph: &Graph<O>, functions: &[Function<O>]) {
    let first = drawing.node_count();
    let place = |id: NodeId| NodeIndex::new(first + id.index());
    for (id, node) in graph.iter() {
        let text = fmt::from_fn(|f| {
            write!(f, "{} = {}", Value::new(id, 0), title(&node.kind, functions))?;
            node.outputs.iter().try_for_each(|ty| write!(f, "\n{ty}"))
        });
        drawing.add_node(format!("label = {}", quoted(&text.to_string())));
    }
    let view = digraph(graph);
    for edge in view.edge_indices() {
        let (Some((from, to)), Some(used)) = (view.edge_endpoints(edge), view.edge_weight(edge)) else {
            continue;
        };
        // Numbers only where there is something to tell apart.
        let tail = numbered("taillabel", used.port, graph.node(view[from]).outputs.len());
        let head = numbered("headlabel", used.operand, graph.node(view[to]).inputs.len());
        drawing.add_edge(place(view[from]), place(view[to]), format!("{tail}{head}"));
    }
    for (id, node) in graph.iter() {
        for from in node.given.iter().filter(|v| v.node.index() < graph.nodes.len()) {
            drawing.add_edge(place(from.node), place(id), "style = dashed".to_owned());
        }
    }
    for output in &graph.outputs {
        let end = drawing.add_node(format!("shape = ellipse label = {}", quoted(&output.name)));
        if let Some(node) = graph.nodes.get(output.value.node.index()) {
            let tail = numbered("taillabel", output.value.port, node.outputs.len());
            drawing.add_edge(place(output.value.node), end, tail);
        }
    }
}

fn numbered(attribute: &str, number: u32, of: usize) -> String {
    if of > 1 { format!("{attribute} = {number} ") } else { String::new() }
}

/// What a node does, in a few words; constants without their elements.
fn title<O: Operation>(kind: &NodeKind<O>, functions: &[Function<O>]) -> String {
    match kind {
        NodeKind::Variable { name } => format!("variable {}", text::quoted(name)),
        NodeKind::Constant(_) => "constant".to_owned(),
        NodeKind::Call(callee) => match functions.get(callee.0 as usize) {
            Some(function) => format!("call {}", text::name(&function.name)),
            None => format!("call @{}", callee.0),
        },
        NodeKind::Operator(op) => {
            let attributes = op.attributes();
            if attributes.is_empty() {
                op.name().to_owned()
            } else {
                format!("{} {}", op.name(), text::attributes(&attributes))
            }
        }
    }
}

/// A DOT string; lines are centred. Graphviz reads entities of HTML in it.
fn quoted(text: &str) -> impl Display {
    fmt::from_fn(move |f| {
        f.write_char('"')?;
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '&' => f.write_str("&amp;")?,
                '\n' => f.write_str("\\n")?,
                c if c.is_control() => f.write_char(char::REPLACEMENT_CHARACTER)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    })
}

#[cfg(test)]
mod tests {
    use petgraph::visit::EdgeRef;

    use super::*;
    use crate::{DType, Type};

    #[test]
    fn a_name_is_shown_as_it_is() {
        assert_eq!(quoted("y</td>&amp;").to_string(), "\"y</td>&amp;amp;\"");
    }

    #[test]
    fn every_use_is_an_edge_and_dangling_ones_are_not() {
        let ty = Type::new(DType::F32, []);
        let nowhere = Value::new(NodeId(9), 0);
        let mut graph = Graph::<()>::new();
        let x = graph.variable("x", ty.clone());
        let two = graph.push(NodeKind::Operator(()), vec![Some(x), None, Some(x)], vec![ty.clone(); 2]);
        graph.push(NodeKind::Operator(()), vec![Some(nowhere), Some(Value::new(two, 1))], vec![ty.clone()]);
        graph.push(NodeKind::Operator(()), vec![], vec![ty]);
        let view = digraph(&graph);
        let edges: Vec<_> = view
            .edge_references()
            .map(|e| (view[e.source()].0, e.weight().port, view[e.target()].0, e.weight().operand))
            .collect();
        assert_eq!(edges, [(0, 0, 1, 0), (0, 0, 1, 2), (1, 1, 2, 1)]);
        assert_eq!(view.node_count(), 4);
    }
}
