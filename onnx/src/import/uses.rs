//! What a body uses names for, which decides what becomes of its constants, and what is said of names without a value.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::domain;
use super::function::Functions;
use crate::names::static_slots;
use crate::proto::NodeProto;

/// How the names of a body are used.
pub(super) struct Uses<'p> {
    /// As operands or outputs.
    data: BTreeSet<&'p str>,
    /// In place of attributes.
    fixed: BTreeSet<&'p str>,
    nodes: &'p [NodeProto],
}

/// How many names of a cycle are told.
const TOLD: usize = 8;

impl<'p> Uses<'p> {
    pub(super) fn of(
        nodes: &'p [NodeProto],
        outputs: impl Iterator<Item = &'p str>,
        functions: &Functions<'_>,
        opset: u32,
    ) -> Self {
        let mut uses = Self { data: outputs.collect(), fixed: BTreeSet::new(), nodes };
        for node in nodes {
            let is_operator = domain(node.domain()).is_empty() && functions.find(node).is_none();
            let spec = ops::find(node.op_type()).filter(|_| is_operator);
            let slots = spec.map(|s| static_slots(s, opset)).unwrap_or_default();
            for (i, name) in node.input.iter().enumerate() {
                let is_static = slots.iter().any(|&(slot, ..)| slot == i);
                if is_static { &mut uses.fixed } else { &mut uses.data }.insert(name);
            }
        }
        uses
    }

    /// Whether the name is used, and only in place of attributes.
    pub(super) fn only_static(&self, name: &str) -> bool {
        self.fixed.contains(name) && !self.data.contains(name)
    }

    /// Why there is no value of the name yet.
    pub(super) fn why_missing(&self, name: &str) -> String {
        let gives = |node: &NodeProto| node.output.iter().any(|output| output == name);
        let Some(giver) = self.nodes.iter().position(gives) else {
            return "no input, initializer or node gives it".to_owned();
        };
        let cycle = self.cycle(giver);
        if cycle.is_empty() {
            return "it is used before the node that gives it: the nodes are not sorted".to_owned();
        }
        let names: Vec<String> = cycle.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
        let more = if cycle.len() > TOLD { " and more" } else { "" };
        format!("the nodes that give {}{more} form a cycle", names.join(", "))
    }

    /// The first outputs of the nodes that depend on this one and that it depends on, itself included, in the order of
    /// the file; none, if it does not depend on itself.
    fn cycle(&self, of: usize) -> Vec<&'p str> {
        let named = |names: &'p [String]| names.iter().map(String::as_str).filter(|name| !name.is_empty());
        let mut givers: BTreeMap<&str, NodeIndex> = BTreeMap::new();
        let mut graph = DiGraph::<(), ()>::with_capacity(self.nodes.len(), self.nodes.len());
        for node in self.nodes {
            let at = graph.add_node(());
            named(&node.output).for_each(|name| _ = givers.entry(name).or_insert(at));
        }
        for (node, at) in self.nodes.iter().zip(graph.node_indices()) {
            for giver in named(&node.input).filter_map(|name| givers.get(name)) {
                graph.add_edge(*giver, at, ());
            }
        }
        let of = NodeIndex::new(of);
        let parts = tarjan_scc(&graph);
        let mut part = parts.into_iter().find(|part| part.contains(&of)).unwrap_or_default();
        if part.len() == 1 && !graph.contains_edge(of, of) {
            part.clear();
        }
        part.sort_unstable();
        part.iter().filter_map(|at| named(&self.nodes[at.index()].output).next()).collect()
    }
}
