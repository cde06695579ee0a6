//! The one list of relations.

use super::detour;
use super::relation::{Holds, Relation, Rewrite};

/// Every relation.
pub const ALL: &[Relation] = &[Relation {
    name: "fence",
    does: "puts Identity nodes after values",
    holds: Holds::Exactly,
    rewrite: Rewrite::Graph(detour::fence),
}];

/// The relation of that name.
pub fn find(name: &str) -> Option<&'static Relation> {
    ALL.iter().find(|relation| relation.name == name)
}
