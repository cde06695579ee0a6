//! Relations that send values on a detour: operators that give back what they were given.
//!
//! Every operator of the original sees operands of the same types and the same bits, so nothing is rounded in another
//! place. What changes is who stands next to whom, and that is what fusions look at.

use ir::{Stream, Value};
use ops::elementwise::unary::{Unary, UnaryFn};
use ops::{Graph, Model};
use rand::{Rng, RngExt};

use super::copy::Copy;
use super::relation::Subject;

/// The most values that take a detour.
const MOST: usize = 4;

/// Identity nodes after values.
pub(super) fn fence(subject: &Subject, stream: Stream) -> Option<Subject> {
    detour(subject, stream, |copy, value, _| copy.push(Unary(UnaryFn::Identity), &[value]))
}

/// The model with some of its values on a detour; `None` if no value takes one.
///
/// `way` appends the operators of the detour and gives its end, which must be of the same type.
fn detour(
    subject: &Subject,
    stream: Stream,
    way: impl Fn(&mut Copy<'_>, Value, &mut dyn Rng) -> Option<Value>,
) -> Option<Subject> {
    let mut rng = stream.rng();
    let mut chosen = pick(&values(&subject.model.graph), &mut rng);
    chosen.sort_unstable();
    let mut copy = Copy::of(&subject.model.graph);
    let mut detours = 0;
    for (id, node) in subject.model.graph.iter() {
        copy.node(id);
        for value in (0..node.outputs.len()).map(|port| Value::new(id, port)) {
            if chosen.binary_search(&value).is_err() {
                continue;
            }
            let start = copy.at(value);
            if let Some(end) = way(&mut copy, start, &mut rng) {
                copy.replace(value, end);
                detours += 1;
            }
        }
    }
    let model = Model { graph: copy.finish(), ..subject.model.clone() };
    (detours > 0).then(|| Subject { model, inputs: subject.inputs.clone() })
}

/// The values of a graph.
fn values(graph: &Graph) -> Vec<Value> {
    graph
        .iter()
        .flat_map(|(id, node)| (0..node.outputs.len()).map(move |port| Value::new(id, port)))
        .collect()
}

/// Some of the values, in any order.
fn pick(all: &[Value], rng: &mut impl Rng) -> Vec<Value> {
    if all.is_empty() {
        return Vec::new();
    }
    let count = rng.random_range(1..=MOST);
    (0..count).map(|_| all[rng.random_range(0..all.len())]).collect()
}
