//! What a body uses names for, which decides what becomes of its constants.

use std::collections::BTreeSet;

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
    /// The names that nodes give.
    given: BTreeSet<&'p str>,
}

impl<'p> Uses<'p> {
    pub(super) fn of(
        nodes: &'p [NodeProto],
        outputs: impl Iterator<Item = &'p str>,
        functions: &Functions<'_>,
        opset: u32,
    ) -> Self {
        let mut uses = Self { data: outputs.collect(), fixed: BTreeSet::new(), given: BTreeSet::new() };
        for node in nodes {
            let is_operator = domain(node.domain()).is_empty() && functions.find(node).is_none();
            let spec = ops::find(node.op_type()).filter(|_| is_operator);
            let slots = spec.map(|s| static_slots(s, opset)).unwrap_or_default();
            for (i, name) in node.input.iter().enumerate() {
                let is_static = slots.iter().any(|&(slot, ..)| slot == i);
                if is_static { &mut uses.fixed } else { &mut uses.data }.insert(name);
            }
            uses.given.extend(node.output.iter().map(String::as_str));
        }
        uses
    }

    /// Whether the name is used, and only in place of attributes.
    pub(super) fn only_static(&self, name: &str) -> bool {
        self.fixed.contains(name) && !self.data.contains(name)
    }

    /// Why there is no value of the name yet.
    pub(super) fn why_missing(&self, name: &str) -> &'static str {
        if self.given.contains(name) {
            "it is used before the node that gives it: the nodes are not sorted, or form a cycle"
        } else {
            "no input, initializer or node gives it"
        }
    }
}
