//! Loop: some nodes are a body that runs a few times.
//!
//! The nodes use nothing that the loop changes, so that every iteration gives the same. What they give goes around (and is first
//! something else of the type), or piles up, and one of the pieces is taken. How often the loop runs is said by its count, by its
//! condition, or by both.

use ir::{Choices, DType, Tensor, Type};
use onnx::program::{Node, ValueId};
use rand::RngExt;

use crate::chain::Chain;
use crate::draft::{Draft, int64};
use crate::segment::{Given, any, body, cut, holding, port};

/// The most iterations.
const MOST: i64 = 3;

/// Puts some nodes into a loop.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let segment = cut(&mut draft, choices)?;
    let iterations = choices.random_range(1..=MOST);
    let at = segment.at;
    let counts = choices.random_bool(0.7);
    let stops = !counts || choices.random_bool(0.3);
    let (number, truth) = (Type::new(DType::I64, []), Type::new(DType::Bool, []));
    let (iteration, on) = (draft.fresh("iteration", number.clone()), draft.fresh("on", truth.clone()));
    let (goes_on, mut inner) = going_on(&mut draft, stops, iterations, iteration, on);
    let mut inputs = vec![port(iteration, &number, choices), port(on, &truth, choices)];
    let mut outputs = vec![port(goes_on, &truth, choices)];
    let (mut first, mut results, mut piled, mut picks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for Given { outside, inside, ty } in &segment.given {
        if choices.random_bool(0.6) {
            first.push(Some(any(&mut draft, at, ty, choices)));
            let around = draft.fresh("around", ty.clone());
            inputs.push(port(around, ty, choices));
            outputs.push(port(*inside, ty, choices));
            results.push(Some(*outside));
        } else {
            let (pile, pick) = pick(&mut draft, *outside, ty, 0, iterations, choices);
            piled.push((pile, *inside, ty.clone()));
            picks.push(pick);
        }
    }
    for (pile, inside, ty) in piled {
        outputs.push(port(inside, &ty, choices));
        results.push(Some(pile));
    }
    // What decides on going on may stand anywhere in the body.
    let mut nodes = segment.nodes;
    let place = choices.random_range(0..=nodes.len());
    nodes.splice(place..place, inner.drain(..));
    let mut chain = Chain::new(&mut draft, at, choices);
    let most = if counts { Some(chain.number(iterations)) } else { None };
    let mut before = chain.finish();
    let condition = (stops || choices.random_bool(0.5))
        .then(|| draft.constant("begin", &Tensor::from_i128_fn(&truth, |_| 1)));
    let operands = [most, condition].into_iter().chain(first).collect();
    let mut node = Node::new("Loop", operands, results);
    node.rest.name = Some(format!("loop{at}"));
    node.attributes = vec![holding("body", body("repeated", inputs, nodes, outputs, segment.declared))];
    before.push(node);
    before.extend(picks);
    draft.body_mut().nodes.splice(at..at, before);
    Some(draft)
}

/// What a body says of going on: always, or for so many iterations.
fn going_on(
    draft: &mut Draft,
    stops: bool,
    iterations: i64,
    iteration: ValueId,
    on: ValueId,
) -> (ValueId, Vec<Node>) {
    let goes_on = draft.fresh("goes_on", Type::new(DType::Bool, []));
    if stops {
        let last = draft.number("last", iterations - 1);
        (goes_on, vec![Node::new("Less", vec![Some(iteration), Some(last)], vec![Some(goes_on)])])
    } else {
        (goes_on, vec![Node::new("Identity", vec![Some(on)], vec![Some(goes_on)])])
    }
}

/// A new value for equal pieces that pile up along an axis, and the node that takes one of them for a value.
pub(crate) fn pick(
    draft: &mut Draft,
    outside: ValueId,
    ty: &Type,
    axis: usize,
    pieces: i64,
    choices: &mut Choices,
) -> (ValueId, Node) {
    let mut all = ty.clone();
    all.shape.insert(axis, pieces);
    let pile = draft.fresh("pile", all);
    let which = choices.random_range(-pieces..pieces);
    let which = draft.constant("which", &int64(&[], &[which]));
    let node = Node::new("Gather", vec![Some(pile), Some(which)], vec![Some(outside)]);
    (pile, node.with_int("axis", axis as i64))
}
