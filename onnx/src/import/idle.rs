//! Which bodies of a program did not run for the inputs at hand: the other side of an If, the body of a loop without turns.
//!
//! What ran in one turn of a loop, or in one call of a function, ran.

use std::collections::BTreeSet;

use super::origin::{Inside, Path, Within};
use crate::program::{Body, Node, Program};

/// A body that did not run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Idle<'p> {
    /// The node that holds it.
    pub holder: &'p Node,
    /// The attribute that it stands in.
    pub attribute: &'p str,
    /// The body.
    pub body: &'p Body,
}

impl<'p> Idle<'p> {
    /// The nodes in it, those of bodies inside included.
    pub fn nodes(&self) -> Vec<&'p Node> {
        let mut all = Vec::new();
        self.body.each_node(&mut |node| all.push(node));
        all
    }
}

/// The bodies that did not run, of what did: of the main graph, and of functions that were called. `ran` are those that ran
/// ([`super::Imported::ran`]).
pub fn idle<'p>(program: &'p Program, ran: &BTreeSet<Path>) -> Vec<Idle<'p>> {
    let ran: BTreeSet<Place> = ran.iter().map(|path| Place::of(path.bodies())).collect();
    let mut all = Vec::new();
    gather(&program.main.body, &Place::default(), &ran, &mut all);
    for (number, function) in program.functions.iter().enumerate() {
        let place = Place { function: Some(number), way: Vec::new() };
        if ran.contains(&place) {
            gather(&function.scope.body, &place, &ran, &mut all);
        }
    }
    all
}

/// A body by where it is written: in the main graph or a function, and the way to it from there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    function: Option<usize>,
    way: Vec<Within>,
}

impl Place {
    fn of(bodies: &[Within]) -> Self {
        let call = bodies.iter().rposition(|within| matches!(within.inside, Inside::Call(_)));
        let function = call.and_then(|at| match bodies[at].inside {
            Inside::Call(function) => Some(function),
            _ => None,
        });
        Self { function, way: bodies[call.map_or(0, |at| at + 1)..].to_vec() }
    }

    fn with(&self, within: Within) -> Self {
        Self { function: self.function, way: self.way.iter().copied().chain([within]).collect() }
    }
}

fn gather<'p>(body: &'p Body, place: &Place, ran: &BTreeSet<Place>, all: &mut Vec<Idle<'p>>) {
    for (at, holder) in body.nodes.iter().enumerate() {
        for attribute in &holder.attributes {
            let name = attribute.rest.name();
            let inside = match name {
                "then_branch" => Inside::Branch(true),
                "else_branch" => Inside::Branch(false),
                "body" => Inside::Iteration(0),
                _ => continue,
            };
            let Some(body) = &attribute.body else { continue };
            let inner = place.with(Within { node: at, inside });
            if ran.contains(&inner) {
                gather(body, &inner, ran, all);
            } else {
                all.push(Idle { holder, attribute: name, body });
            }
        }
    }
}
