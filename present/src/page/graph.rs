//! A model as a drawing: SVG that is part of the page, styled by its style sheet.

use std::fmt::Write as _;

use ir::{NodeKind, Operation};
use maud::{Markup, html};
use ops::{Graph, Model};

use super::layout::{Size, layered};
use crate::evidence::elements;

/// Larger graphs are not drawn: nobody could read them.
const MOST_NODES: usize = 80;
/// The advance of the drawing's font, which is monospaced, and the height of a line.
const LETTER: f64 = 6.65;
const LINE: f64 = 15.0;
const PADDING: Size = Size { width: 20.0, height: 14.0 };
/// Longer lines are cut, and attributes beyond these are left out.
const MOST_LETTERS: usize = 38;
const MOST_ATTRIBUTES: usize = 5;

/// What is drawn as one box.
struct Card {
    class: &'static str,
    /// The first line is the title.
    lines: Vec<String>,
}

impl Card {
    fn size(&self) -> Size {
        let letters = self.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let width = letters as f64 * LETTER + PADDING.width;
        Size { width, height: self.lines.len() as f64 * LINE + PADDING.height }
    }
}

/// An edge: from a card and its output to a card and its operand, each with how many there are.
struct Edge {
    from: (usize, usize, usize),
    to: (usize, usize, usize),
}

/// Draws a model, its functions as single boxes; the operators of that name stand out.
pub(super) fn draw(model: &Model, culprit: Option<&str>) -> Markup {
    if model.graph.nodes.len() > MOST_NODES {
        let count = model.graph.nodes.len();
        return html! { p.muted { "The graph has " (count) " nodes, too many to draw; " code { "onnxsmith show" } " prints it." } };
    }
    let cards = cards(model, culprit);
    let edges = edges(&model.graph);
    let sizes: Vec<Size> = cards.iter().map(Card::size).collect();
    let ends: Vec<(usize, usize)> = edges.iter().map(|e| (e.from.0, e.to.0)).collect();
    let drawing = layered(&sizes, &ends);
    let (width, height) = (drawing.size.width + 4.0, drawing.size.height + 4.0);
    let lines = edges.iter().zip(&drawing.bends).map(|(edge, bends)| {
        let port = |card: usize, k: usize, of: usize| {
            let (x, y) = drawing.corners[card];
            (x + sizes[card].width * (k as f64 + 1.0) / (of as f64 + 1.0), y)
        };
        let (mut start, end) =
            (port(edge.from.0, edge.from.1, edge.from.2), port(edge.to.0, edge.to.1, edge.to.2));
        start.1 += sizes[edge.from.0].height;
        curve(start, bends, (end.0, end.1 - 5.0))
    });
    html! {
        svg.graph role="img" aria-label=(label(&model.graph)) width=(format!("{width:.0}")) height=(format!("{height:.0}"))
            viewBox=(format!("-2 -2 {width:.0} {height:.0}")) {
            @for line in lines { path.edge d=(line.0) {} path.head d=(line.1) {} }
            @for ((card, corner), size) in cards.iter().zip(&drawing.corners).zip(&sizes) {
                (boxed(card, *corner, *size))
            }
        }
    }
}

/// What the drawing says, for who cannot see it.
fn label(graph: &Graph) -> String {
    let names = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Operator(op) => Some(op.name()),
        _ => None,
    });
    format!("Graph: {}", names.collect::<Vec<_>>().join(", "))
}

fn boxed(card: &Card, (x, y): (f64, f64), size: Size) -> Markup {
    let middle = x + size.width / 2.0;
    let radius = if card.class == "op" || card.class == "op culprit" { 4.0 } else { 11.0 };
    html! {
        g class=(card.class) {
            rect x=(fixed(x)) y=(fixed(y)) width=(fixed(size.width)) height=(fixed(size.height)) rx=(fixed(radius)) {}
            @for (k, line) in card.lines.iter().enumerate() {
                text.title[k == 0] x=(fixed(middle)) y=(fixed(y + PADDING.height / 2.0 + LINE * (k as f64 + 0.75))) { (line) }
            }
        }
    }
}

fn fixed(v: f64) -> String {
    format!("{v:.1}")
}

/// A line through the bends, vertical at each, and its arrow head.
fn curve(start: (f64, f64), bends: &[(f64, f64)], end: (f64, f64)) -> (String, String) {
    let mut path = format!("M{:.1} {:.1}", start.0, start.1);
    let mut last = start;
    for &to in bends.iter().chain([&end]) {
        let middle = f64::midpoint(last.1, to.1);
        let _ = write!(path, "C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}", last.0, to.0, to.0, to.1);
        last = to;
    }
    (path, format!("M{:.1} {:.1}l-3.5 -1h7l-3.5 6z", end.0, end.1))
}

/// The nodes in order, then the outputs.
fn cards(model: &Model, culprit: Option<&str>) -> Vec<Card> {
    let nodes = model.graph.nodes.iter().map(|node| {
        let types = node.outputs.iter().map(ToString::to_string);
        let (class, mut lines) = match &node.kind {
            NodeKind::Variable { name } => ("input", vec![name.clone()]),
            NodeKind::Constant(tensor) if tensor.len() <= 4 => {
                ("constant", vec![elements(tensor, 4).join(", ")])
            }
            NodeKind::Constant(_) => ("constant", vec!["constant".to_owned()]),
            NodeKind::Call(function) => {
                let name = model.functions.get(function.0 as usize).map_or("function", |f| f.name.as_str());
                ("op", vec![format!("{name}(…)")])
            }
            NodeKind::Operator(op) => {
                let class = if culprit == Some(op.name()) { "op culprit" } else { "op" };
                let attributes = op.attributes();
                let attributes = attributes.iter().take(MOST_ATTRIBUTES).map(|(k, v)| format!("{k} {v}"));
                (class, std::iter::once(op.name().to_owned()).chain(attributes).collect())
            }
        };
        lines.extend(types);
        Card { class, lines: lines.iter().map(|line| shortened(line)).collect() }
    });
    let outputs =
        model.graph.outputs.iter().map(|o| Card { class: "output", lines: vec![shortened(&o.name)] });
    nodes.chain(outputs).collect()
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= MOST_LETTERS {
        return line.to_owned();
    }
    line.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
}

fn edges(graph: &Graph) -> Vec<Edge> {
    let ports = |node: ir::NodeId| graph.node(node).outputs.len().max(1);
    let mut edges = Vec::new();
    for (id, node) in graph.iter() {
        let present = node.inputs.iter().flatten().count();
        for (operand, value) in node.inputs.iter().flatten().enumerate() {
            let from = (value.node.index(), value.port as usize, ports(value.node));
            edges.push(Edge { from, to: (id.index(), operand, present) });
        }
    }
    for (k, output) in graph.outputs.iter().enumerate() {
        let value = output.value;
        let from = (value.node.index(), value.port as usize, ports(value.node));
        edges.push(Edge { from, to: (graph.nodes.len() + k, 0, 1) });
    }
    edges
}
