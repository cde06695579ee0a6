//! If: some nodes become one side of a branch. The other side gives other values of the same dtypes, which may have
//! other shapes.

use ir::{Choices, Type};
use onnx::program::Node;
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::draft::Draft;
use crate::segment::{BodyOutput, any, body, cut, holding, own_constants, port, truth};

/// The share of the other side's values that have another shape.
const RESHAPED: f64 = 0.4;

/// The most axes of a shape that is drawn for such a value.
const MOST_AXES: usize = 4;

/// Puts some nodes into a branch.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let segment = cut(&mut draft, "If", choices)?;
    let is_then = choices.random_bool(0.5);
    let (condition, mut nodes) = truth(&mut draft, segment.at, is_then, choices);
    let mut outputs = Vec::new();
    for BodyOutput { inside, ty, .. } in &segment.given {
        outputs.push(port(*inside, ty, choices));
    }
    let taken = body("taken", Vec::new(), segment.nodes, outputs, segment.declared);
    let (mut others, mut outputs) = (Vec::new(), Vec::new());
    for given in &segment.given {
        let ty = other_type(&mut draft, segment.at, given, choices);
        let from = any(&mut draft, segment.at, &ty, choices);
        let other = draft.fresh("other", ty.clone());
        others.push(Node::new("Identity", vec![Some(from)], vec![Some(other)]));
        outputs.push(port(other, &ty, choices));
    }
    let other = body("other", Vec::new(), others, outputs, Vec::new());
    let (then, otherwise) = if is_then { (taken, other) } else { (other, taken) };
    let outputs = segment.given.iter().map(|given| Some(given.outside)).collect();
    let mut node = Node::new("If", vec![Some(condition)], outputs);
    node.rest.name = Some(format!("branch{}", segment.at));
    node.attributes = vec![holding("then_branch", then), holding("else_branch", otherwise)];
    let at = segment.at + nodes.len();
    nodes.push(node);
    draft.body_mut().nodes.splice(segment.at..segment.at, nodes);
    own_constants(&mut draft, at, choices);
    Some(draft)
}

/// The type of the value that the other side gives in place of `given`. If it may have another shape, nothing is
/// declared of the shape of the result; so outputs of the model, which must be declared, keep their shapes on both
/// sides.
fn other_type(draft: &mut Draft, at: usize, given: &BodyOutput, choices: &mut Choices) -> Type {
    let is_output = draft.body().outputs.iter().any(|port| port.value == given.outside);
    if is_output || !choices.random_bool(RESHAPED) {
        return given.ty.clone();
    }
    let others = draft.before(at).into_iter().map(|(_, ty)| ty).filter(|ty| ty.dtype == given.ty.dtype);
    let others: Vec<Type> = others.collect();
    let ty = others.choose(choices).filter(|_| choices.random_bool(0.5)).cloned();
    let ty = ty.unwrap_or_else(|| {
        let axes = choices.random_range(0..=MOST_AXES);
        Type::new(given.ty.dtype, (0..axes).map(|_| choices.random_range(0..=3)).collect::<Vec<_>>())
    });
    if ty != given.ty {
        draft.body_mut().declared.retain(|said| said.value != Some(given.outside));
    }
    ty
}
