//! Parameters that are computed from shapes. A parameter is an attribute in our models, and an operand in ONNX.

use ir::Choices;
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::chain::Chain;
use crate::draft::{Draft, parameters, spec};

/// The most parameters of a model that are computed.
const MOST: usize = 3;

/// How long a list may be that is computed.
const LONGEST: usize = 8;

/// The share of other constant operands that are computed too: indices, and operands of arithmetic.
const OPERANDS: f64 = 0.2;

/// Computes some parameters.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut places = places(&draft, choices);
    places.shuffle(choices);
    places.truncate(choices.random_range(1..=MOST));
    // From the last to the first, so that the positions of those before stay the same.
    places.sort_unstable_by(|one, other| other.cmp(one));
    let (mut is_new, mut put) = (false, (usize::MAX, 0));
    for (node, slot) in places {
        // What was put before another operand of this node moved it.
        let at = if put.0 == node { node + put.1 } else { node };
        let old = draft.body().nodes[at].inputs[slot]?;
        let (numbers, rank) = (draft.numbers(old)?, draft.ty(old)?.rank());
        let mut chain = Chain::new(&mut draft, at, choices);
        let value = if rank == 0 { chain.number(numbers[0]) } else { chain.list(&numbers) };
        let value = chain.detour(value, &numbers);
        let nodes = chain.finish();
        is_new |= !nodes.is_empty();
        put = (node, at - node + nodes.len());
        let body = draft.body_mut();
        body.nodes[at].inputs[slot] = Some(value);
        body.nodes.splice(at..at, nodes);
        draft.drop_unused(old);
    }
    is_new.then_some(draft)
}

/// The operands that may be computed, by node and slot.
fn places(draft: &Draft, choices: &mut Choices) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (at, node) in draft.body().nodes.iter().enumerate().filter(|(_, node)| spec(node).is_some()) {
        let parameters = parameters(node, draft.opset);
        for (slot, value) in node.inputs.iter().enumerate() {
            let Some(value) = value.filter(|&value| draft.initializer(value).is_some()) else { continue };
            let is_parameter = parameters.iter().any(|&(parameter, _)| parameter == slot);
            let is_short = draft.numbers(value).is_some_and(|n| (1..=LONGEST).contains(&n.len()));
            if is_short && (is_parameter || choices.random_bool(OPERANDS)) {
                all.push((at, slot));
            }
        }
    }
    all
}
