//! A Loop or Scan without iterations: states come out as they went in, and the stacked results are empty.
//!
//! The nodes stay where they are. Some of their results go through the loop as states, whose body would make something
//! else of them. The others are concatenated with a stacked result, which is empty.

use ir::{Choices, DType, Tensor, Type};
use onnx::program::{Node, Port, ValueId};
use ops::operator::elements;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::chain::Chain;
use crate::draft::{Draft, unnamed};
use crate::segment::{BodyOutput, Segment, any, body, cut, holding, is_allowed, own_constants, port, truth};

/// The largest count of a Loop that does not run because of its condition.
const MOST: i64 = 3;

/// The most elements of a slice that never comes in.
const LARGEST: u64 = 1 << 12;

/// The operands and results of a loop that does not run, and its body.
#[derive(Default)]
struct Around {
    /// The states before the loop.
    first: Vec<Option<ValueId>>,
    inputs: Vec<Port>,
    nodes: Vec<Node>,
    outputs: Vec<Port>,
    results: Vec<Option<ValueId>>,
    /// The axes along which outputs pile up.
    axes: Vec<i64>,
    /// Nodes that concatenate the empty stacks with values that were computed.
    after: Vec<Node>,
}

impl Around {
    /// Sends each result of a segment's nodes through the loop, or concatenates it with a stack of the loop.
    fn of(draft: &mut Draft, segment: &Segment, operator: &str, choices: &mut Choices) -> Self {
        let mut around = Self::default();
        let (mut carried, mut piled) = (Vec::new(), Vec::new());
        for given in &segment.given {
            let is_joined = choices.random_bool(0.4) && joins(draft, &given.ty);
            if is_joined { piled.push(given) } else { carried.push(given) }
        }
        for given in carried {
            around.carry(draft, segment.at, given, choices);
        }
        for given in piled {
            // A Loop stacks its pieces along a new first axis.
            let last = if operator == "Loop" { 0 } else { given.ty.rank() - 1 };
            let axis = choices.random_range(0..=last);
            around.pile(draft, segment.at, given, axis, choices);
        }
        around
    }

    fn carry(&mut self, draft: &mut Draft, at: usize, given: &BodyOutput, choices: &mut Choices) {
        let &BodyOutput { outside, inside, ref ty } = given;
        let value = draft.fresh("around", ty.clone());
        self.inputs.push(port(value, ty, choices));
        self.first.push(Some(inside));
        self.results.push(Some(outside));
        self.give(draft, at, ty, choices);
    }

    fn pile(&mut self, draft: &mut Draft, at: usize, given: &BodyOutput, axis: usize, choices: &mut Choices) {
        let &BodyOutput { outside, inside, ref ty } = given;
        let (mut piece, mut none) = (ty.clone(), ty.clone());
        piece.shape.remove(axis);
        none.shape[axis] = 0;
        let pile = draft.fresh("pile", none);
        self.give(draft, at, &piece, choices);
        self.results.push(Some(pile));
        self.axes.push(axis as i64);
        let joined = Node::new("Concat", vec![Some(pile), Some(inside)], vec![Some(outside)]);
        self.after.push(joined.with_int("axis", axis as i64));
    }

    /// Adds a result of the body, which is never computed: some value of the type.
    fn give(&mut self, draft: &mut Draft, at: usize, ty: &Type, choices: &mut Choices) {
        let from = any(draft, at, ty, choices);
        let next = draft.fresh("never", ty.clone());
        self.nodes.push(Node::new("Identity", vec![Some(from)], vec![Some(next)]));
        // Nothing else tells the type of a piece.
        self.outputs.push(Port { value: next, declared: unnamed(ty) });
    }
}

/// Whether a value may be concatenated with an empty part of itself. If the value itself is empty, other parts of it
/// may be too large to count.
fn joins(draft: &Draft, ty: &Type) -> bool {
    let takes =
        ops::find("Concat").is_some_and(|concat| concat.input_types(0, draft.opset).contains(ty.dtype));
    takes && ty.rank() > 0 && elements(ty) > 0
}

/// Puts the nodes of a segment back before `at`; gives the place behind them.
fn put_back(draft: &mut Draft, segment: &mut Segment) -> usize {
    let (at, nodes) = (segment.at, std::mem::take(&mut segment.nodes));
    let end = at + nodes.len();
    let body = draft.body_mut();
    body.nodes.splice(at..at, nodes);
    body.declared.append(&mut segment.declared);
    end
}

/// Puts a Loop without iterations behind some nodes.
pub(crate) fn repeat(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut segment = cut(&mut draft, "Loop", choices)?;
    let at = put_back(&mut draft, &mut segment);
    let around = Around::of(&mut draft, &segment, "Loop", choices);
    let (number, bool) = (Type::new(DType::I64, []), Type::new(DType::Bool, []));
    let (iteration, on) = (draft.fresh("iteration", number.clone()), draft.fresh("on", bool.clone()));
    let goes_on = draft.fresh("goes_on", bool.clone());
    let (by_count, by_condition) = [(true, false), (false, true), (true, true)].choose(choices).copied()?;
    let mut before = Vec::new();
    // If there is a count and a condition, it is enough that one of them ends the loop.
    let is_zero = by_count && (!by_condition || choices.random_bool(0.5));
    let most = by_count.then(|| {
        let most = if is_zero { 0 } else { choices.random_range(1..=MOST) };
        let mut chain = Chain::new(&mut draft, segment.at, choices);
        let most = chain.number(most);
        before.append(&mut chain.finish());
        most
    });
    let condition = (by_condition || choices.random_bool(0.5)).then(|| {
        let (condition, mut nodes) = truth(&mut draft, segment.at, is_zero, choices);
        before.append(&mut nodes);
        condition
    });
    let counted = [(iteration, &number), (on, &bool)];
    let counted = counted.into_iter().map(|(value, ty)| Port { value, declared: unnamed(ty) });
    let inputs = counted.chain(around.inputs).collect();
    let going_on = Node::new("Identity", vec![Some(on)], vec![Some(goes_on)]);
    let nodes = std::iter::once(going_on).chain(around.nodes).collect();
    let outputs = std::iter::once(port(goes_on, &bool, choices)).chain(around.outputs).collect();
    let operands = [most, condition].into_iter().chain(around.first).collect();
    let mut node = Node::new("Loop", operands, around.results);
    node.rest.name = Some(format!("loop{at}"));
    node.attributes = vec![holding("body", body("never", inputs, nodes, outputs, Vec::new()))];
    Some(put(draft, at, before, node, around.after, choices))
}

/// Puts a Scan of no slices behind some nodes.
pub(crate) fn scan(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let mut segment = cut(&mut draft, "Scan", choices)?;
    let at = put_back(&mut draft, &mut segment);
    let mut around = Around::of(&mut draft, &segment, "Scan", choices);
    let (scanned, ty, axis) = empty(&mut draft, segment.at, choices);
    let mut slice_type = ty;
    slice_type.shape.remove(axis);
    let slice = draft.fresh("slice", slice_type.clone());
    around.inputs.push(port(slice, &slice_type, choices));
    around.first.push(Some(scanned));
    let mut node = Node::new("Scan", around.first, around.results);
    node.rest.name = Some(format!("scan{at}"));
    let body = body("never", around.inputs, around.nodes, around.outputs, Vec::new());
    node.attributes = vec![holding("body", body)];
    let mut node = node.with_int("num_scan_inputs", 1);
    if axis > 0 {
        node = node.with_ints("scan_input_axes", vec![axis as i64]);
    }
    if around.axes.iter().any(|&axis| axis > 0) {
        node = node.with_ints("scan_output_axes", around.axes);
    }
    Some(put(draft, at, Vec::new(), node, around.after, choices))
}

/// A value that has no slices along an axis: one that is there, or a constant.
fn empty(draft: &mut Draft, at: usize, choices: &mut Choices) -> (ValueId, Type, usize) {
    let opset = draft.opset;
    let is_fit = |ty: &Type| elements(ty) == 0 && is_allowed("Scan", ty.dtype, opset);
    let there = draft.before(at).into_iter().filter(|(_, ty)| is_fit(ty));
    let there: Vec<(ValueId, Type, usize)> = there
        .flat_map(|(value, ty)| {
            // A slice of something empty may be too large to count.
            let is_small = |axis: usize| {
                let mut slice = ty.clone();
                slice.shape.remove(axis);
                elements(&slice) <= LARGEST && slice.is_countable()
            };
            let axes = (0..ty.rank()).filter(|&axis| ty.shape[axis] == 0 && is_small(axis));
            let axes: Vec<usize> = axes.collect();
            axes.into_iter().map(move |axis| (value, ty.clone(), axis))
        })
        .collect();
    if let Some(found) = there.choose(choices).filter(|_| choices.random_bool(0.7)) {
        return found.clone();
    }
    let axes = choices.random_range(1..=3);
    let axis = choices.random_range(0..axes);
    let mut shape: Vec<i64> = (0..axes).map(|_| choices.random_range(1..=3)).collect();
    shape[axis] = 0;
    let ty = Type::new(DType::F32, shape);
    (draft.constant("none", &Tensor::zeros(&ty)), ty, axis)
}

/// Puts a node with what comes before and after it into the main graph.
fn put(
    mut draft: Draft,
    at: usize,
    mut nodes: Vec<Node>,
    node: Node,
    after: Vec<Node>,
    choices: &mut Choices,
) -> Draft {
    let place = at + nodes.len();
    nodes.push(node);
    nodes.extend(after);
    draft.body_mut().nodes.splice(at..at, nodes);
    own_constants(&mut draft, place, choices);
    draft
}
