//! Scan: some nodes become a body that runs once for each slice of a value.
//!
//! As in a loop, the nodes use nothing that changes. So every slice gives the same, or only the slice with a certain
//! number does. The result is a state or a piece of a stacked result. An operator that keeps slices apart is scanned
//! over its own slices ([`slices`]), and a scan of no slices gives what went in ([`idle`]).

use ir::{Choices, DType, Type};
use onnx::program::{Node, ValueId};
use ops::operator::elements;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::draft::Draft;
use crate::repeat::{Only, Piece, one_of, pick, piles_up};
use crate::segment::{BodyOutput, Segment, any, body, cut, holding, is_allowed, own_constants, port};
use crate::{idle, slices};

/// The most slices.
const MOST: i64 = 4;

/// The most elements of what is scanned.
const LARGEST: u64 = 1 << 12;

/// The share of scans that never run.
const NEVER: f64 = 0.12;

/// The share of scans of several operands.
const SEVERAL: f64 = 0.5;

/// What is scanned, and how.
struct Scanned {
    value: ValueId,
    ty: Type,
    axis: usize,
    is_reversed: bool,
}

impl Scanned {
    /// The type of a slice.
    fn slice(&self) -> Type {
        let mut slice = self.ty.clone();
        slice.shape.remove(self.axis);
        slice
    }

    fn slices(&self) -> i64 {
        self.ty.shape[self.axis]
    }
}

/// Puts some nodes into a Scan.
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    if choices.random_bool(NEVER) {
        return idle::scan(draft, choices);
    }
    let over_slices = choices.random_bool(0.5).then(|| slices::scan(draft.clone(), choices)).flatten();
    over_slices.or_else(|| beside_slices(draft, choices))
}

/// The only slice at which the nodes give their results: the number that tells it, and its position among all slices.
#[derive(Clone, Copy)]
struct At {
    only: Only,
    position: i64,
}

/// The operands of a Scan that are scanned; states are not among them.
struct Slices {
    scanned: Vec<Scanned>,
    /// The values that are slices of these in the body.
    inside: Vec<ValueId>,
    at: Option<At>,
}

impl Slices {
    /// Draws a value with a few slices, and in some scans further operands with as many slices. Numbers are among
    /// these, which may tell a single slice.
    fn drawn(draft: &mut Draft, at: usize, choices: &mut Choices) -> Self {
        let first = scanned(draft, at, choices);
        let count = first.slices();
        let mut slices = Self { scanned: vec![first], inside: Vec::new(), at: None };
        if choices.random_bool(SEVERAL) {
            slices.at = Some(slices.numbered(draft, count, choices));
            slices.scanned.extend(other(draft, at, count, choices));
        }
        for scanned in &slices.scanned {
            slices.inside.push(draft.fresh("slice", scanned.slice()));
        }
        if let Some(at) = &mut slices.at {
            at.only.iteration = slices.inside[1];
        }
        slices.at = slices.at.filter(|_| choices.random_bool(0.7));
        slices
    }

    /// Adds numbers in random order as a further operand. One of them tells the slice.
    fn numbered(&mut self, draft: &mut Draft, count: i64, choices: &mut Choices) -> At {
        let mut numbers: Vec<i64> = (0..count).collect();
        numbers.shuffle(choices);
        let value = draft.list("numbers", &numbers);
        let is_reversed = choices.random_bool(0.3);
        let position = choices.random_range(0..count);
        let place = if is_reversed { count - 1 - position } else { position };
        self.scanned.push(Scanned { value, ty: Type::new(DType::I64, [count]), axis: 0, is_reversed });
        At { only: Only { iteration: value, which: numbers[place as usize] }, position }
    }

    /// Adds the attributes that say how operands are scanned.
    fn told(&self, node: Node, choices: &mut Choices) -> Node {
        let mut node = node.with_int("num_scan_inputs", self.scanned.len() as i64);
        if self.scanned.iter().any(|scanned| scanned.axis > 0) || choices.random_bool(0.3) {
            let axes = self.scanned.iter().map(|scanned| scanned.axis as i64).collect();
            node = node.with_ints("scan_input_axes", axes);
        }
        if self.scanned.iter().any(|scanned| scanned.is_reversed) {
            let directions = self.scanned.iter().map(|scanned| scanned.is_reversed.into()).collect();
            node = node.with_ints("scan_input_directions", directions);
        }
        node
    }
}

/// Puts nodes into a Scan that use nothing of the slices. All slices give the same, or all but one keep the state: the
/// one that gives a result hands it on to those behind.
fn beside_slices(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let segment = cut(&mut draft, "Scan", choices)?;
    let at = segment.at;
    let slices = Slices::drawn(&mut draft, at, choices);
    let count = slices.scanned[0].slices();
    let (mut first, mut results, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut piles, mut picks, mut axes, mut directions) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let Segment { mut nodes, given, declared, .. } = segment;
    let only = slices.at.map(|at| at.only);
    let mut last = Vec::new();
    for BodyOutput { outside, inside, ty } in &given {
        let other = any(&mut draft, at, ty, choices);
        if choices.random_bool(0.5) || !piles_up(ty, count, draft.opset) {
            first.push(Some(other));
            let around = draft.fresh("around", ty.clone());
            inputs.push(port(around, ty, choices));
            let next = one_of(&mut draft, only, *inside, around, ty, &mut last).unwrap_or(*inside);
            outputs.push(port(next, ty, choices));
            results.push(Some(*outside));
        } else {
            let axis = choices.random_range(0..=ty.rank());
            let piece = one_of(&mut draft, only, *inside, other, ty, &mut last);
            let position = slices.at.filter(|_| piece.is_some()).map(|at| at.position);
            let position = position.unwrap_or_else(|| choices.random_range(0..count));
            let is_reversed = choices.random_bool(0.3);
            let from = if is_reversed { count - 1 - position } else { position };
            let (pile, pick) = pick(&mut draft, *outside, ty, axis, Piece { from, of: count }, choices);
            axes.push(axis as i64);
            directions.push(i64::from(is_reversed));
            piles.push((pile, port(piece.unwrap_or(*inside), ty, choices)));
            picks.push(pick);
        }
    }
    nodes.append(&mut last);
    for (pile, port) in piles {
        outputs.push(port);
        results.push(Some(pile));
    }
    for (scanned, &slice) in slices.scanned.iter().zip(&slices.inside) {
        inputs.push(port(slice, &scanned.slice(), choices));
        first.push(Some(scanned.value));
    }
    let mut node = Node::new("Scan", first, results);
    node.rest.name = Some(format!("scan{at}"));
    node.attributes = vec![holding("body", body("scanned", inputs, nodes, outputs, declared))];
    let mut node = slices.told(node, choices);
    if !axes.is_empty() {
        node = node.with_ints("scan_output_axes", axes).with_ints("scan_output_directions", directions);
    }
    let nodes = std::iter::once(node).chain(picks);
    draft.body_mut().nodes.splice(at..at, nodes);
    own_constants(&mut draft, at, choices);
    Some(draft)
}

/// In some scans, a value that is there and has `count` slices.
fn other(draft: &Draft, at: usize, count: i64, choices: &mut Choices) -> Option<Scanned> {
    let all: Vec<(ValueId, Type, usize)> =
        candidates(draft, at).into_iter().filter(|(_, ty, axis)| ty.shape[*axis] == count).collect();
    let (value, ty, axis) = all.choose(choices).filter(|_| choices.random_bool(0.5)).cloned()?;
    Some(Scanned { value, ty, axis, is_reversed: choices.random_bool(0.3) })
}

/// The values that are there with a few slices along an axis.
fn candidates(draft: &Draft, at: usize) -> Vec<(ValueId, Type, usize)> {
    let is_fit = |ty: &Type| elements(ty) <= LARGEST && is_allowed("Scan", ty.dtype, draft.opset);
    let mut all = Vec::new();
    for (value, ty) in draft.before(at).into_iter().filter(|(_, ty)| is_fit(ty)) {
        let axes = (0..ty.rank()).filter(|&axis| (1..=MOST).contains(&ty.shape[axis]));
        all.extend(axes.map(|axis| (value, ty.clone(), axis)).collect::<Vec<_>>());
    }
    all
}

/// Something with a few slices: a value that is there, or a constant.
fn scanned(draft: &mut Draft, at: usize, choices: &mut Choices) -> Scanned {
    let all = candidates(draft, at);
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
