//! The names that exported models give, and what import reads back from them.
//!
//! ONNX keeps inputs, initializers and nodes in three lists, where [`ir::Graph`] has one. What the three lists lose,
//! the position of each node, is kept in names: the constant at position 3 is the initializer `v3`, the operator at
//! position 5 is the node `n5`, and inputs, whose names are the user's, take the positions that are left. Where such a
//! name is taken, underscores follow it.

use std::collections::BTreeSet;

use ops::Spec;
use ops::spec::Place;

/// `producer_name` of exported models.
pub const PRODUCER: &str = "onnxsmith";

/// The domain of exported functions.
pub const FUNCTION_DOMAIN: &str = "onnxsmith.functions";

/// How the names of the Identity nodes begin that only give a value a further name.
pub const ALIAS: &str = "onnxsmith.alias";

/// Whether a node of this name is an Identity that only gives a value a further name.
pub fn is_alias(node: &str) -> bool {
    node.starts_with(ALIAS)
}

/// The name of a value of the node at a position.
pub fn value(position: usize, port: usize) -> String {
    if port == 0 { format!("v{position}") } else { format!("v{position}_{port}") }
}

/// The name of the node at a position.
pub fn node(position: usize) -> String {
    format!("n{position}")
}

/// The position that a name of [`value`] (for port 0) or [`node`] states.
pub(crate) fn position(name: &str, prefix: char) -> Option<usize> {
    name.strip_prefix(prefix)?.trim_end_matches('_').parse().ok()
}

/// Names in use, and new ones beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// Takes a name; false if it was taken already.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.0.insert(name.to_owned())
    }

    /// Takes this name or, where it is in use, one made from it.
    pub(crate) fn fresh(&mut self, mut name: String) -> String {
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// The operands that are attributes here: slot, attribute and how it is written, ascending.
pub fn static_slots(spec: &Spec, opset: u32) -> Vec<(usize, &'static str, Place)> {
    let mut slots: Vec<_> = spec
        .fields
        .iter()
        .filter_map(|field| match spec.place(field.name, opset) {
            place @ (Place::List(slot) | Place::Scalar(slot) | Place::Single(slot)) => {
                Some((slot, field.name, place))
            }
            Place::Attribute | Place::Absent | Place::Outputs | Place::Found(_) => None,
        })
        .collect();
    slots.sort_unstable_by_key(|&(slot, ..)| slot);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_back_from_names() {
        let mut names = Names::default();
        assert!(names.take("v3"));
        let name = names.fresh(value(3, 0));
        assert_eq!((name.as_str(), position(&name, 'v')), ("v3_", Some(3)));
        assert_eq!(position(&value(3, 1), 'v'), None);
        assert_eq!(position(&node(12), 'n'), Some(12));
        assert_eq!(position("n5_shape", 'n'), None);
        assert_eq!(position("n99999999999999999999999", 'n'), None);
    }
}
