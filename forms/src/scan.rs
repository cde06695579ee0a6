//! Scan: some nodes are a body that runs once for each slice of something.
//!
//! As in a loop, the nodes use nothing that changes, so that each slice gives the same: what goes around, or a piece of what piles
//! up. An operator that keeps the slices of its first operand apart is scanned over these themselves.

use ir::{Choices, DType, Type};
use onnx::program::{Node, ValueId};
use ops::operator::elements;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::{Draft, spec};
use crate::repeat::{Piece, pick, piles_up};
use crate::segment::{BodyOutput, any, body, cut, holding, is_allowed, port};

/// The most slices.
const MOST: i64 = 4;

/// The most slices of an operand that is scanned itself.
const LONGEST: i64 = 8;

/// The most elements of what is scanned.
const LARGEST: u64 = 1 << 12;

/// What is scanned, and how.
struct Scanned {
    value: ValueId,
    ty: Type,
    axis: usize,
    is_reversed: bool,
}

/// Puts some nodes into a Scan.
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let is_over_slices = choices.random_bool(0.5);
    let over_slices = if is_over_slices { over_slices(draft.clone(), choices) } else { None };
    over_slices.or_else(|| beside_slices(draft, choices))
}

/// A node that keeps the slices of its first operand apart, scanned over these.
fn over_slices(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut all = Vec::new();
    for (at, node) in draft.body().nodes.iter().enumerate() {
        let ([Some(x), ..], [Some(y)]) = (&node.inputs[..], &node.outputs[..]) else { continue };
        let (Some(from), Some(to)) = (draft.ty(*x), draft.ty(*y)) else { continue };
        let is_short = from.shape.first().is_some_and(|&slices| (1..=LONGEST).contains(&slices));
        let takes = |operator: &str, ty: &Type| is_allowed(operator, ty.dtype, draft.opset);
        let is_taken = takes("Scan", from) && takes("Scan", to);
        let is_taken = is_taken && takes("Unsqueeze", from) && takes("Squeeze", to);
        let is_once = node.inputs.iter().filter(|&&operand| operand == Some(*x)).count() == 1;
        if spec(node).is_some()
            && draft.is_apart(node)
            && is_taken
            && is_short
            && is_once
            && from.shape.first() == to.shape.first()
        {
            all.push((at, *x, *y, from.clone(), to.clone()));
        }
    }
    let (at, x, y, from, to) = all.choose(choices).cloned()?;
    let slice_of = |ty: &Type| Type::new(ty.dtype, ty.shape[1..].to_vec());
    let one_of = |ty: &Type| Type::new(ty.dtype, [&[1], &ty.shape[1..]].concat());
    let [slice, result] = [slice_of(&from), slice_of(&to)].map(|ty| draft.fresh("slice", ty));
    let [one, made] = [one_of(&from), one_of(&to)].map(|ty| draft.fresh("one", ty));
    let axes = Some(draft.list("axes", &[0]));
    let mut node = draft.body_mut().nodes.remove(at);
    node.inputs[0] = Some(one);
    node.outputs = vec![Some(made)];
    let nodes = vec![
        Node::new("Unsqueeze", vec![Some(slice), axes], vec![Some(one)]),
        node,
        Node::new("Squeeze", vec![Some(made), axes], vec![Some(result)]),
    ];
    let inputs = vec![port(slice, &slice_of(&from), choices)];
    let outputs = vec![port(result, &slice_of(&to), choices)];
    let mut scan = Node::new("Scan", vec![Some(x)], vec![Some(y)]);
    scan.rest.name = Some(format!("scan{at}"));
    scan.attributes = vec![holding("body", body("scanned", inputs, nodes, outputs, Vec::new()))];
    let mut scan = scan.with_int("num_scan_inputs", 1);
    // Backwards in and out is the same.
    if choices.random_bool(0.3) {
        scan = scan.with_ints("scan_input_directions", vec![1]).with_ints("scan_output_directions", vec![1]);
    }
    draft.body_mut().nodes.insert(at, scan);
    Some(draft)
}

/// Some nodes that use nothing of the slices.
fn beside_slices(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let segment = cut(&mut draft, "Scan", choices)?;
    let at = segment.at;
    let scanned = scanned(&mut draft, at, choices);
    let slices = scanned.ty.shape[scanned.axis];
    let mut slice_type = scanned.ty.clone();
    slice_type.shape.remove(scanned.axis);
    let slice = draft.fresh("slice", slice_type.clone());
    let (mut first, mut results, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut piles, mut picks, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    for BodyOutput { outside, inside, ty } in &segment.given {
        if choices.random_bool(0.5) || !piles_up(ty, slices, draft.opset) {
            first.push(Some(any(&mut draft, at, ty, choices)));
            let around = draft.fresh("around", ty.clone());
            inputs.push(port(around, ty, choices));
            outputs.push(port(*inside, ty, choices));
            results.push(Some(*outside));
        } else {
            let axis = choices.random_range(0..=ty.rank());
            let piece = Piece { from: choices.random_range(0..slices), of: slices };
            let (pile, pick) = pick(&mut draft, *outside, ty, axis, piece, choices);
            axes.push(axis as i64);
            piles.push((pile, port(*inside, ty, choices)));
            picks.push(pick);
        }
    }
    for (pile, port) in piles {
        outputs.push(port);
        results.push(Some(pile));
    }
    inputs.push(port(slice, &slice_type, choices));
    first.push(Some(scanned.value));
    let mut node = Node::new("Scan", first, results);
    node.rest.name = Some(format!("scan{at}"));
    node.attributes =
        vec![holding("body", body("scanned", inputs, segment.nodes, outputs, segment.declared))];
    let mut node = node.with_int("num_scan_inputs", 1);
    if scanned.axis > 0 || choices.random_bool(0.3) {
        node = node.with_ints("scan_input_axes", vec![scanned.axis as i64]);
    }
    if scanned.is_reversed {
        node = node.with_ints("scan_input_directions", vec![1]);
    }
    if !axes.is_empty() {
        let directions = axes.iter().map(|_| i64::from(choices.random_bool(0.3))).collect();
        node = node.with_ints("scan_output_axes", axes).with_ints("scan_output_directions", directions);
    }
    let nodes = std::iter::once(node).chain(picks);
    draft.body_mut().nodes.splice(at..at, nodes);
    Some(draft)
}

/// Something with a few slices: a value that is there, or a constant.
fn scanned(draft: &mut Draft, at: usize, choices: &mut Choices) -> Scanned {
    let mut all = Vec::new();
    let opset = draft.opset;
    let is_fit = |ty: &Type| elements(ty) <= LARGEST && is_allowed("Scan", ty.dtype, opset);
    for (value, ty) in draft.before(at).into_iter().filter(|(_, ty)| is_fit(ty)) {
        let axes = (0..ty.rank()).filter(|&axis| (1..=MOST).contains(&ty.shape[axis]));
        all.extend(axes.map(|axis| (value, ty.clone(), axis)).collect::<Vec<_>>());
    }
    let is_reversed = choices.random_bool(0.3);
    match all.choose(choices) {
        Some((value, ty, axis)) if choices.random_bool(0.7) => {
            Scanned { value: *value, ty: ty.clone(), axis: *axis, is_reversed }
        }
        _ => {
            let length = choices.random_range(1..=MOST);
            let value = draft.list("places", &(0..length).collect::<Vec<_>>());
            Scanned { value, ty: Type::new(DType::I64, [length]), axis: 0, is_reversed }
        }
    }
}
