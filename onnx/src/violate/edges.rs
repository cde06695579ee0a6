//! Rules about names and the order of nodes.

use super::site::{Edit, NEW, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::proto::NodeProto;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "duplicate-name",
        clause: "every value is given by one input, initializer or node (static single assignment)",
        scope: Scope::Model,
        source: Source::Ir("Names Within a Graph"),
        checker: Checker::Refuses,
        says: &["two inputs, initializers or nodes give it"],
        edit: duplicate_name,
    },
    Rule {
        name: "dangling-edge",
        clause: "every operand names an input, an initializer or the output of a node",
        scope: Scope::Model,
        source: Source::Ir("Nodes"),
        checker: Checker::Refuses,
        says: &["no input, initializer or node gives it"],
        edit: dangling_edge,
    },
    Rule {
        name: "undefined-output",
        clause: "every output of the graph is a value of the graph",
        scope: Scope::Model,
        source: Source::Ir("Graphs"),
        checker: Checker::Refuses,
        says: &["no input, initializer or node gives it"],
        edit: undefined_output,
    },
    Rule {
        name: "cycle",
        clause: "the graph is free of cycles",
        scope: Scope::Model,
        source: Source::Ir("Graphs"),
        checker: Checker::Refuses,
        says: &["form a cycle"],
        edit: cycle,
    },
    Rule {
        name: "unsorted",
        clause: "nodes are in topological order",
        scope: Scope::Model,
        source: Source::Ir("Graphs"),
        checker: Checker::Refuses,
        says: &["not sorted"],
        edit: unsorted,
    },
];

/// An Identity node that gives a name once more.
fn duplicate_name(site: &mut Site) -> Option<Edit> {
    let computed = site.computed();
    let data = site.graph.input.iter().map(|i| i.name().to_owned()).chain(computed.iter().cloned());
    let data: Vec<String> = data.collect();
    let initializers = site.graph.initializer.iter().map(|t| t.name().to_owned());
    let name = site.choose(data.iter().cloned().chain(initializers).collect())?;
    // A constant may stand for an attribute alone, so another value is copied onto its name.
    let of = if data.contains(&name) { name.clone() } else { site.choose(data)? };
    let what = format!("a further node gives the name `{name}`");
    site.graph.node.push(NodeProto {
        name: Some(NEW.to_owned()),
        op_type: Some("Identity".to_owned()),
        input: vec![of],
        output: vec![name.clone()],
        ..Default::default()
    });
    Some(edit(format!("`{name}`"), what))
}

/// The places of operands that are not left out.
fn edges(site: &Site) -> Vec<(usize, usize)> {
    let nodes = site.graph.node.iter().enumerate();
    let places = nodes.flat_map(|(n, node)| (0..node.input.len()).map(move |i| (n, i)));
    places.filter(|&(n, i)| !site.graph.node[n].input[i].is_empty()).collect()
}

fn dangling_edge(site: &mut Site) -> Option<Edit> {
    let (node, position) = site.choose(edges(site))?;
    NEW.clone_into(&mut site.node(node).input[position]);
    Some(edit(
        site.graph.node[node].name(),
        format!("operand {position} of {} names nothing", site.label(node)),
    ))
}

fn undefined_output(site: &mut Site) -> Option<Edit> {
    let at = site.choose((0..site.graph.output.len()).collect())?;
    let was = site.graph.output[at].name.replace(NEW.to_owned())?;
    Some(edit(NEW, format!("output {at} of the graph is called `{NEW}` instead of `{was}`")))
}

/// Pairs of nodes of which the second uses the first.
fn uses(site: &Site) -> Vec<(usize, usize)> {
    let nodes = &site.graph.node;
    let uses =
        |a: usize, b: usize| nodes[a].output.iter().any(|o| !o.is_empty() && nodes[b].input.contains(o));
    (0..nodes.len()).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|&(a, b)| uses(a, b)).collect()
}

/// An operand becomes the output of its own node, or of one that uses it.
fn cycle(site: &mut Site) -> Option<Edit> {
    let (node, position) = site.choose(edges(site))?;
    let later = uses(site).into_iter().filter(|&(a, _)| a == node).map(|(_, b)| b);
    let from = site.choose(later.chain([node]).collect())?;
    let name = site.graph.node[from].output.iter().find(|o| !o.is_empty())?.clone();
    let what = format!("operand {position} of {} is `{name}`, which depends on it", site.label(node));
    site.node(node).input[position] = name;
    Some(edit(site.graph.node[node].name(), what))
}

/// A node moves before one whose output it uses.
fn unsorted(site: &mut Site) -> Option<Edit> {
    let (first, second) = site.choose(uses(site))?;
    let what = format!("{} stands before {}, which it uses", site.label(second), site.label(first));
    let node = site.graph.node.remove(second);
    let name = node.name().to_owned();
    site.graph.node.insert(first, node);
    Some(edit(name, what))
}
