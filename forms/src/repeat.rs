//! Loop: some nodes become a body that runs a few times, or never, or once for each slice of a value.
//!
//! If the body runs a few times, its nodes use nothing that the loop changes, so that every iteration gives the same. A
//! result is a state of the loop, which begins as another value of the type, or it is stacked, and one of the pieces is
//! taken. In half of the loops only one iteration gives the result; the others give the state as it was, or another
//! value. The loop ends by its count, by its condition, or by both.

use ir::{Choices, DType, Tensor, Type};
use onnx::program::{Node, Port, ValueId};
use onnx::proto::ValueInfoProto;
use rand::RngExt;

use crate::chain::Chain;
use crate::draft::{Draft, int64, unnamed};
use crate::segment::{BodyOutput, any, body, cut, holding, own_constants, port};
use crate::{idle, slices};

/// The most iterations.
const MOST: i64 = 3;

/// The share of loops that do not declare the type of the iteration number.
const UNSAID: f64 = 0.03;

/// The share of loops that run over the slices of a value, where there is a place for such a loop.
const SLICES: f64 = 0.35;

/// The share of loops that never run.
const NEVER: f64 = 0.12;

/// Puts some nodes into a loop.
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    if choices.random_bool(NEVER) {
        return idle::repeat(draft, choices);
    }
    let over_slices = choices.random_bool(SLICES).then(|| slices::repeat(draft.clone(), choices)).flatten();
    over_slices.or_else(|| unchanged(draft, choices))
}

/// Puts nodes into a Loop that use nothing of what the loop changes.
fn unchanged(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let segment = cut(&mut draft, "Loop", choices)?;
    let iterations = choices.random_range(1..=MOST);
    let at = segment.at;
    let counts = choices.random_bool(0.7);
    let stops = !counts || choices.random_bool(0.3);
    let (number, truth) = (Type::new(DType::I64, []), Type::new(DType::Bool, []));
    let (iteration, on) = (draft.fresh("iteration", number.clone()), draft.fresh("on", truth.clone()));
    let (goes_on, mut inner) = going_on(&mut draft, stops, iterations, iteration, on);
    // If no condition comes in, nothing else tells its type. The type of the iteration number is known, and mostly
    // declared.
    let counted = if choices.random_bool(UNSAID) { ValueInfoProto::default() } else { unnamed(&number) };
    let mut inputs =
        vec![Port { value: iteration, declared: counted }, Port { value: on, declared: unnamed(&truth) }];
    let mut outputs = vec![port(goes_on, &truth, choices)];
    let (mut first, mut results, mut piles, mut picks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut nodes, mut last) = (segment.nodes, Vec::new());
    let only =
        choices.random_bool(0.5).then(|| Only { iteration, which: choices.random_range(0..iterations) });
    for BodyOutput { outside, inside, ty } in &segment.given {
        if choices.random_bool(0.6) || !piles_up(ty, iterations, draft.opset) {
            first.push(Some(any(&mut draft, at, ty, choices)));
            let around = draft.fresh("around", ty.clone());
            inputs.push(port(around, ty, choices));
            let next = one_of(&mut draft, only, *inside, around, ty, &mut last).unwrap_or(*inside);
            outputs.push(port(next, ty, choices));
            results.push(Some(*outside));
        } else {
            let other = any(&mut draft, at, ty, choices);
            let piece = one_of(&mut draft, only, *inside, other, ty, &mut last);
            let from = only.filter(|_| piece.is_some()).map(|only| only.which);
            let from = from.unwrap_or_else(|| choices.random_range(0..iterations));
            let (pile, pick) = pick(&mut draft, *outside, ty, 0, Piece { from, of: iterations }, choices);
            piles.push((pile, piece.unwrap_or(*inside), ty.clone()));
            picks.push(pick);
        }
    }
    for (pile, inside, ty) in piles {
        outputs.push(port(inside, &ty, choices));
        results.push(Some(pile));
    }
    nodes.extend(last);
    // The nodes that decide whether to go on may stand anywhere in the body.
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
    let place = at + before.len();
    before.push(node);
    before.extend(picks);
    draft.body_mut().nodes.splice(at..at, before);
    own_constants(&mut draft, place, choices);
    Some(draft)
}

/// The condition that a body gives: true always, or as long as the last iteration has not come.
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

/// The only iteration that gives a value: its number, and the value that holds the number of the iteration that runs.
#[derive(Clone, Copy)]
pub(crate) struct Only {
    pub(crate) iteration: ValueId,
    pub(crate) which: i64,
}

/// A new value that is `one` in a single iteration and `other` in all others. `None` if the loop has no such
/// iteration, or the opset has no operator to choose with.
pub(crate) fn one_of(
    draft: &mut Draft,
    only: Option<Only>,
    one: ValueId,
    other: ValueId,
    ty: &Type,
    nodes: &mut Vec<Node>,
) -> Option<ValueId> {
    let Only { iteration, which } = only?;
    ops::find("Where").filter(|spec| spec.input_types(1, draft.opset).contains(ty.dtype))?;
    let which = draft.number("which", which);
    let is_it = draft.fresh("is_it", Type::new(DType::Bool, []));
    let chosen = draft.fresh("chosen", ty.clone());
    nodes.push(Node::new("Equal", vec![Some(iteration), Some(which)], vec![Some(is_it)]));
    nodes.push(Node::new("Where", vec![Some(is_it), Some(one), Some(other)], vec![Some(chosen)]));
    Some(chosen)
}

/// A piece of a stacked result: its place, and how many pieces there are.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) from: i64,
    pub(crate) of: i64,
}

/// The type of `of` pieces that are stacked along an axis. If the pieces are empty, parts of the stack may be too large
/// to count.
pub(crate) fn piled(ty: &Type, axis: usize, of: i64) -> Type {
    let mut all = ty.clone();
    all.shape.insert(axis, of);
    all
}

/// Whether `of` pieces may be stacked, and one of them taken out again.
pub(crate) fn piles_up(ty: &Type, of: i64, opset: u32) -> bool {
    let is_taken = ops::find("Gather").is_some_and(|gather| gather.input_types(0, opset).contains(ty.dtype));
    is_taken && piled(ty, 0, of).is_countable()
}

/// A new value for pieces that are stacked along an axis, and the node that takes one of them out.
pub(crate) fn pick(
    draft: &mut Draft,
    outside: ValueId,
    ty: &Type,
    axis: usize,
    Piece { from, of }: Piece,
    choices: &mut Choices,
) -> (ValueId, Node) {
    let pile = draft.fresh("pile", piled(ty, axis, of));
    let which = if choices.random_bool(0.5) { from } else { from - of };
    let which = draft.constant("which", &int64(&[], &[which]));
    let node = Node::new("Gather", vec![Some(pile), Some(which)], vec![Some(outside)]);
    (pile, node.with_int("axis", axis as i64))
}
