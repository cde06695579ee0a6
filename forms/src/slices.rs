//! A node that keeps the slices of its operands apart, in a loop over these: a Scan, or a Loop that takes them out by
//! the number of the iteration.

use ir::{Choices, DType, Tensor, Type};
use onnx::program::{Node, Port, ValueId};
use ops::operator::elements;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::chain::Chain;
use crate::draft::{Draft, spec, unnamed};
use crate::segment::{body, holding, is_allowed, own_constants, port};
use crate::sizes::dims;

/// The most slices.
const LONGEST: i64 = 8;

/// Operators that compute each element from the elements of their operands in the same place.
const ELEMENTWISE: [&str; 17] = [
    "Add",
    "And",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mul",
    "Or",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

/// A node that keeps slices apart.
#[derive(Clone, Debug)]
struct Apart {
    at: usize,
    /// The operands whose slices the node keeps apart, by slot, with their types.
    operands: Vec<(usize, Type)>,
    y: ValueId,
    to: Type,
}

impl Apart {
    fn slices(&self) -> i64 {
        self.to.shape[0]
    }

    /// The type of a single slice as a part of the whole: its first axis has size 1.
    fn one_of(ty: &Type) -> Type {
        Type::new(ty.dtype, [&[1], &ty.shape[1..]].concat())
    }

    fn slice_of(ty: &Type) -> Type {
        Type::new(ty.dtype, ty.shape[1..].to_vec())
    }

    /// Takes the node out of the main graph, and lets it read parts of single slices. Gives the node and its new
    /// result.
    fn take(&self, draft: &mut Draft, parts: &[ValueId]) -> (Node, ValueId) {
        let mut node = draft.body_mut().nodes.remove(self.at);
        for ((slot, _), &part) in self.operands.iter().zip(parts) {
            node.inputs[*slot] = Some(part);
        }
        let made = draft.fresh("made", Self::one_of(&self.to));
        node.outputs = vec![Some(made)];
        (node, made)
    }
}

/// Whether an operator takes a dtype as its first operand.
fn takes(operator: &str, ty: &Type, opset: u32) -> bool {
    ops::find(operator).is_some_and(|spec| spec.input_types(0, opset).contains(ty.dtype))
}

/// Draws a node that keeps slices apart, and whose operands and result can be taken apart and put together.
fn apart(
    draft: &Draft,
    is_fit: impl Fn(&Type) -> bool,
    gives: impl Fn(&Type) -> bool,
    choices: &mut Choices,
) -> Option<Apart> {
    let all = draft.body().nodes.iter().enumerate().filter_map(|(at, node)| {
        let (Some(&Some(x)), [Some(y)]) = (node.inputs.first(), &node.outputs[..]) else { return None };
        let to = draft.ty(*y).filter(|ty| gives(ty))?;
        let slices = *to.shape.first().filter(|slices| (1..=LONGEST).contains(*slices))?;
        let is_once =
            |value: ValueId| node.inputs.iter().filter(|&&operand| operand == Some(value)).count() == 1;
        let sliced = |value: ValueId| {
            draft.ty(value).filter(|ty| ty.shape.first() == Some(&slices) && is_fit(ty) && is_once(value))
        };
        let is_elementwise = ELEMENTWISE.contains(&node.rest.op_type());
        spec(node).filter(|_| is_elementwise || draft.is_apart(node))?;
        let first = sliced(x).filter(|ty| !is_elementwise || ty.rank() == to.rank())?;
        let mut operands = vec![(0, first.clone())];
        for (slot, &operand) in node.inputs.iter().enumerate().skip(1).filter(|_| is_elementwise) {
            // An operand with fewer axes is the same for all slices, and so is one with a single slice.
            match draft.ty(operand?)? {
                ty if ty.rank() > to.rank() => return None,
                ty if ty.rank() == to.rank() && ty.shape[0] == slices => {
                    operands.push((slot, sliced(operand?)?.clone()));
                }
                _ => {}
            }
        }
        Some(Apart { at, operands, y: *y, to: to.clone() })
    });
    let all: Vec<Apart> = all.collect();
    all.choose(choices).cloned()
}

/// A node in a Scan over the slices of its operands.
pub(crate) fn scan(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let opset = draft.opset;
    let is_scanned = |ty: &Type| is_allowed("Scan", ty.dtype, opset);
    let is_fit = |ty: &Type| is_scanned(ty) && takes("Unsqueeze", ty, opset);
    let apart = apart(&draft, is_fit, |ty| is_scanned(ty) && takes("Squeeze", ty, opset), choices)?;
    let axes = Some(draft.list("axes", &[0]));
    let (mut scanned, mut parts, mut inputs, mut nodes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (slot, ty) in &apart.operands {
        scanned.push(draft.body().nodes[apart.at].inputs[*slot]);
        let slice = draft.fresh("slice", Apart::slice_of(ty));
        let one = draft.fresh("one", Apart::one_of(ty));
        inputs.push(port(slice, &Apart::slice_of(ty), choices));
        nodes.push(Node::new("Unsqueeze", vec![Some(slice), axes], vec![Some(one)]));
        parts.push(one);
    }
    let (node, made) = apart.take(&mut draft, &parts);
    let result = draft.fresh("slice", Apart::slice_of(&apart.to));
    nodes.extend([node, Node::new("Squeeze", vec![Some(made), axes], vec![Some(result)])]);
    let outputs = vec![port(result, &Apart::slice_of(&apart.to), choices)];
    let count = scanned.len();
    let mut scan = Node::new("Scan", scanned, vec![Some(apart.y)]);
    scan.rest.name = Some(format!("scan{}", apart.at));
    scan.attributes = vec![holding("body", body("scanned", inputs, nodes, outputs, Vec::new()))];
    let mut scan = scan.with_int("num_scan_inputs", count as i64);
    // Backwards in and out is the same.
    if choices.random_bool(0.3) {
        scan = scan
            .with_ints("scan_input_directions", vec![1; count])
            .with_ints("scan_output_directions", vec![1]);
    }
    draft.body_mut().nodes.insert(apart.at, scan);
    own_constants(&mut draft, apart.at, choices);
    Some(draft)
}

/// Puts a node into a Loop that takes out one slice of its operands after the other. The results are stacked, or
/// concatenated with a state.
pub(crate) fn repeat(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let opset = draft.opset;
    let is_grown = choices.random_bool(0.5);
    let joins = if is_grown { "Concat" } else { "Squeeze" };
    let gives = |ty: &Type| is_allowed("Loop", ty.dtype, opset) && takes(joins, ty, opset);
    // Parts of nothing may be too large to count.
    let gives = |ty: &Type| gives(ty) && (!is_grown || elements(ty) > 0);
    let apart = apart(&draft, |ty| takes("Gather", ty, opset), gives, choices)?;
    let mut counting = Counting::of(&mut draft, apart.slices(), choices);
    let axes = draft.list("axes", &[0]);
    let place = draft.fresh("place", Type::new(DType::I64, [1]));
    let mut nodes = vec![Node::new("Unsqueeze", vec![Some(counting.number), Some(axes)], vec![Some(place)])];
    let mut parts = Vec::new();
    for (slot, ty) in &apart.operands {
        let part = draft.fresh("part", Apart::one_of(ty));
        let whole = draft.body().nodes[apart.at].inputs[*slot];
        nodes.push(Node::new("Gather", vec![whole, Some(place)], vec![Some(part)]).with_int("axis", 0));
        parts.push(part);
    }
    let mut chain = Chain::new(&mut draft, apart.at, choices);
    let most = chain.number(apart.slices());
    let mut before = chain.finish();
    let (node, made) = apart.take(&mut draft, &parts);
    nodes.push(node);
    counting.nodes.append(&mut nodes);
    if is_grown {
        counting.grow(&mut draft, &apart, made, choices);
    } else {
        let result = draft.fresh("slice", Apart::slice_of(&apart.to));
        counting.nodes.push(Node::new("Squeeze", vec![Some(made), Some(axes)], vec![Some(result)]));
        counting.outputs.push(port(result, &Apart::slice_of(&apart.to), choices));
        counting.results.push(Some(apart.y));
    }
    let at = apart.at + before.len();
    let (most, condition) = counting.bounds(most);
    let mut node =
        Node::new("Loop", [most, condition].into_iter().chain(counting.first).collect(), counting.results);
    node.rest.name = Some(format!("loop{}", apart.at));
    let body = body("sliced", counting.inputs, counting.nodes, counting.outputs, Vec::new());
    node.attributes = vec![holding("body", body)];
    before.push(node);
    draft.body_mut().nodes.splice(apart.at..apart.at, before);
    own_constants(&mut draft, at, choices);
    Some(draft)
}

/// A loop that counts.
struct Counting {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    nodes: Vec<Node>,
    /// The states before the loop.
    first: Vec<Option<ValueId>>,
    results: Vec<Option<ValueId>>,
    /// The number of the slice that an iteration is at.
    number: ValueId,
    /// The condition before the first iteration, if there is one.
    condition: Option<ValueId>,
    /// Whether the count of iterations is given.
    has_count: bool,
}

impl Counting {
    /// A loop that counts from 0 on: by the iteration's number, or by a state that each iteration increases by one.
    fn of(draft: &mut Draft, slices: i64, choices: &mut Choices) -> Self {
        let (number, truth) = (Type::new(DType::I64, []), Type::new(DType::Bool, []));
        let (iteration, on) = (draft.fresh("iteration", number.clone()), draft.fresh("on", truth.clone()));
        let goes_on = draft.fresh("goes_on", truth.clone());
        let said = [(iteration, &number), (on, &truth)];
        let inputs = said.map(|(value, ty)| Port { value, declared: unnamed(ty) }).into();
        let mut counting = Self {
            inputs,
            outputs: vec![port(goes_on, &truth, choices)],
            nodes: Vec::new(),
            first: Vec::new(),
            results: Vec::new(),
            number: iteration,
            condition: None,
            has_count: true,
        };
        let stops = choices.random_bool(0.4);
        if stops || choices.random_bool(0.5) {
            counting.condition = Some(draft.constant("begin", &Tensor::from_i128_fn(&truth, |_| 1)));
        }
        let mut next = None;
        if choices.random_bool(0.5) {
            next = Some(counting.go_around(draft, &number));
        }
        let goes_on = vec![Some(goes_on)];
        if stops {
            counting.has_count = choices.random_bool(0.4);
            let (before, end) = match next {
                Some(next) => (next, slices),
                None => (iteration, slices - 1),
            };
            let end = draft.number("end", end);
            counting.nodes.push(Node::new("Less", vec![Some(before), Some(end)], goes_on));
        } else {
            counting.nodes.push(Node::new("Identity", vec![Some(on)], goes_on));
        }
        counting
    }

    /// Adds a state that counts iterations; gives its next number.
    fn go_around(&mut self, draft: &mut Draft, ty: &Type) -> ValueId {
        let (at, next) = (draft.fresh("at", ty.clone()), draft.fresh("next", ty.clone()));
        let (zero, one) = (draft.number("zero", 0), draft.number("one", 1));
        self.inputs.push(Port { value: at, declared: unnamed(ty) });
        self.outputs.push(Port { value: next, declared: unnamed(ty) });
        self.first.push(Some(zero));
        self.results.push(Some(draft.fresh("counted", ty.clone())));
        self.nodes.push(Node::new("Add", vec![Some(at), Some(one)], vec![Some(next)]));
        self.number = at;
        next
    }

    /// Adds a state, empty at first, to which each iteration appends its result along the first axis.
    fn grow(&mut self, draft: &mut Draft, apart: &Apart, made: ValueId, choices: &mut Choices) {
        let mut none = apart.to.clone();
        none.shape[0] = 0;
        let first = draft.constant("none", &Tensor::zeros(&none));
        let (grown, longer) = (draft.fresh("grown", none.clone()), draft.fresh("longer", none.clone()));
        let joined = Node::new("Concat", vec![Some(grown), Some(made)], vec![Some(longer)]);
        self.nodes.push(joined.with_int("axis", 0));
        // The state's length differs between iterations, so that no number can be declared.
        let said = |choices: &mut Choices| {
            let mut declared = unnamed(&none);
            if choices.random_bool(0.5) {
                dims(&mut declared)[0].value = None;
            } else {
                declared.r#type = None;
            }
            declared
        };
        self.inputs.push(Port { value: grown, declared: said(choices) });
        self.outputs.push(Port { value: longer, declared: said(choices) });
        self.first.push(Some(first));
        self.results.push(Some(apart.y));
    }

    /// The count, if there is one, and the condition.
    fn bounds(&self, most: ValueId) -> (Option<ValueId>, Option<ValueId>) {
        (self.has_count.then_some(most), self.condition)
    }
}
