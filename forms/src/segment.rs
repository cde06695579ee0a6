//! Nodes that stand one behind the other in the main graph, cut out to be put into a body.
//!
//! Nodes are in SSA order. So the nodes between two places may be moved into a body there, which captures the values
//! that they use. Their results that other nodes use become outputs of the body. These have new names, because the node
//! that holds the body keeps the old ones.

use std::collections::BTreeMap;

use ir::{Choices, DType, Tensor, Type};
use onnx::program::{Attribute, Body, Declaration, Node, Port, ValueId};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, GraphProto, ValueInfoProto};
use ops::operator::elements;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::{Draft, unnamed};

/// The most nodes that are put into a body.
const LONGEST: usize = 4;

/// The most elements of an output of a body: there are several copies of it.
const LARGEST: u64 = 1 << 14;

/// How often another place is tried.
const TRIES: usize = 8;

/// An output of a body.
#[derive(Clone, Debug)]
pub(crate) struct BodyOutput {
    /// The value as nodes outside of the body know it.
    pub(crate) outside: ValueId,
    /// The value as nodes inside of the body know it.
    pub(crate) inside: ValueId,
    /// Its type.
    pub(crate) ty: Type,
}

/// Nodes that were cut out.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The place of the first one in the main graph.
    pub(crate) at: usize,
    pub(crate) nodes: Vec<Node>,
    /// The results of these nodes that other nodes use; at least one.
    pub(crate) given: Vec<BodyOutput>,
    /// The declared types of the values of these nodes.
    pub(crate) declared: Vec<Declaration>,
}

/// Whether an operator that holds bodies takes and gives a dtype in the opset.
pub(crate) fn is_allowed(operator: &str, dtype: DType, opset: u32) -> bool {
    // Its operands and results share the type parameter of its results.
    let schema = ops::schema::in_force(operator, opset);
    schema.and_then(|schema| schema.outputs.first()).is_some_and(|output| output.dtypes.contains(dtype))
}

/// Cuts out some nodes that are to become a body of an operator. `None` if no place is found where other nodes use
/// their results and the operator can give these: it may lack the dtype, or they may be too large.
pub(crate) fn cut(draft: &mut Draft, operator: &str, choices: &mut Choices) -> Option<Segment> {
    let count = draft.body().nodes.len();
    for _ in 0..TRIES.min(count * TRIES) {
        let at = choices.random_range(0..count);
        let end = (at + choices.random_range(1..=LONGEST)).min(count);
        if let Some(given) = given(draft, operator, at, end) {
            return Some(take(draft, at, end, given));
        }
    }
    None
}

/// The results of some nodes that other nodes use, with their types. `None` if there are none, or the operator cannot
/// give one of them.
fn given(draft: &Draft, operator: &str, at: usize, end: usize) -> Option<Vec<(ValueId, Type)>> {
    let body = draft.body();
    let mut given = Vec::new();
    for value in body.nodes[at..end].iter().flat_map(|node| node.outputs.iter().flatten()) {
        let inside: usize = body.nodes[at..end].iter().map(|node| uses(node, *value)).sum();
        if draft.uses(*value) > inside {
            let is_fit = |ty: &&Type| elements(ty) <= LARGEST && is_allowed(operator, ty.dtype, draft.opset);
            let ty = draft.ty(*value).filter(is_fit)?;
            given.push((*value, ty.clone()));
        }
    }
    (!given.is_empty()).then_some(given)
}

/// How often a node uses a value, its bodies included.
fn uses(node: &Node, value: ValueId) -> usize {
    let operands = node.inputs.iter().filter(|&&operand| operand == Some(value)).count();
    operands + node.bodies().map(|body| uses_in(body, value)).sum::<usize>()
}

/// How often a body uses a value, the bodies in it included.
fn uses_in(body: &Body, value: ValueId) -> usize {
    let nodes: usize = body.nodes.iter().map(|inner| uses(inner, value)).sum();
    nodes + body.outputs.iter().filter(|port| port.value == value).count()
}

fn take(draft: &mut Draft, at: usize, end: usize, given: Vec<(ValueId, Type)>) -> Segment {
    let mut nodes: Vec<Node> = draft.body_mut().nodes.drain(at..end).collect();
    let mut renamed = BTreeMap::new();
    let mut all = Vec::new();
    for (outside, ty) in given {
        let name = format!("{}_inside", draft.program.main.name(outside));
        let inside = draft.fresh(&name, ty.clone());
        renamed.insert(outside, inside);
        all.push(BodyOutput { outside, inside, ty });
    }
    for node in &mut nodes {
        rename(node, &renamed);
    }
    let inner: Vec<ValueId> = nodes.iter().flat_map(|node| node.outputs.iter().flatten().copied()).collect();
    let (declared, rest) = std::mem::take(&mut draft.body_mut().declared)
        .into_iter()
        .partition(|said| said.value.is_some_and(|value| inner.contains(&value)));
    draft.body_mut().declared = rest;
    Segment { at, nodes, given: all, declared }
}

/// Replaces values among the operands and results of a node, its bodies included.
pub(crate) fn rename(node: &mut Node, to: &BTreeMap<ValueId, ValueId>) {
    let instead = |value: &mut ValueId| *value = to.get(value).copied().unwrap_or(*value);
    node.inputs.iter_mut().chain(&mut node.outputs).flatten().for_each(instead);
    for body in node
        .attributes
        .iter_mut()
        .flat_map(|attribute| attribute.body.iter_mut().chain(&mut attribute.bodies))
    {
        for inner in &mut body.nodes {
            rename(inner, to);
        }
        body.outputs.iter_mut().for_each(|port| instead(&mut port.value));
    }
}

/// A body.
pub(crate) fn body(
    name: &str,
    inputs: Vec<Port>,
    nodes: Vec<Node>,
    outputs: Vec<Port>,
    declared: Vec<Declaration>,
) -> Body {
    let rest = GraphProto { name: Some(name.to_owned()), ..GraphProto::default() };
    Body { inputs, initializers: Vec::new(), nodes, outputs, declared, rest }
}

/// The share of bodies that get constants of their own, where nothing but the body uses some.
const OWNING: f64 = 0.4;

/// The share of such constants that move into the body.
const OWNED: f64 = 0.6;

/// Moves some of the constants that nothing but one body of a node uses into that body.
pub(crate) fn own_constants(draft: &mut Draft, at: usize, choices: &mut Choices) {
    if !choices.random_bool(OWNING) {
        return;
    }
    let initializers = &draft.body().initializers;
    let free: Vec<ValueId> =
        initializers.iter().map(|i| i.value).filter(|&value| draft.initializer(value).is_some()).collect();
    for value in free {
        let all = draft.uses(value);
        let inside = |body: &Body| all > 0 && uses_in(body, value) == all;
        let owner = draft.body().nodes[at].bodies().position(inside);
        if let Some(owner) = owner.filter(|_| choices.random_bool(OWNED)) {
            hand_over(draft, value, at, owner);
        }
    }
}

/// Moves a constant of the main graph into one of the bodies of a node.
fn hand_over(draft: &mut Draft, value: ValueId, at: usize, owner: usize) {
    let body = draft.body_mut();
    let Some(place) = body.initializers.iter().position(|i| i.value == value) else { return };
    let initializer = body.initializers.remove(place);
    let held = body.nodes[at].attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut());
    held.skip(owner).take(1).for_each(|body| body.initializers.push(initializer.clone()));
}

/// An input or output of a body. In most cases its type is declared.
pub(crate) fn port(value: ValueId, ty: &Type, choices: &mut Choices) -> Port {
    let declared = if choices.random_bool(0.8) { unnamed(ty) } else { ValueInfoProto::default() };
    Port { value, declared }
}

/// An attribute that holds a body.
pub(crate) fn holding(name: &str, body: Body) -> Attribute {
    let rest = AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Graph as i32),
        ..AttributeProto::default()
    };
    Attribute { rest, body: Some(body), bodies: Vec::new() }
}

/// Any value of a type that is there before a node, or a constant.
pub(crate) fn any(draft: &mut Draft, at: usize, ty: &Type, choices: &mut Choices) -> ValueId {
    let known: Vec<ValueId> =
        draft.before(at).into_iter().filter(|(_, is)| is == ty).map(|(value, _)| value).collect();
    match known.choose(choices) {
        Some(&value) if choices.random_bool(0.5) => value,
        _ => {
            let number = choices.random_range(0..=1);
            let tensor = if ty.dtype.is_float() {
                Tensor::from_f64_fn(ty, |_| f64::from(number))
            } else {
                Tensor::from_i128_fn(ty, |_| i128::from(number))
            };
            draft.constant("stand_in", &tensor)
        }
    }
}

/// A truth value without an axis that is `is`: a constant, an input, or computed from shapes by nodes that go before
/// `at`.
pub(crate) fn truth(draft: &mut Draft, at: usize, is: bool, choices: &mut Choices) -> (ValueId, Vec<Node>) {
    let tensor = Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| i128::from(is));
    match choices.random_range(0..4) {
        0 => (draft.constant("condition", &tensor), Vec::new()),
        1 => {
            let name = draft.fresh("condition", tensor.ty());
            draft.input(name, tensor);
            (name, Vec::new())
        }
        _ => crate::chain::Chain::new(draft, at, choices).compared(is),
    }
}
