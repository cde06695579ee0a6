//! If: some nodes are one side of a branch, and the other side gives something else of the same types.

use ir::Choices;
use onnx::program::Node;
use rand::RngExt;

use crate::draft::Draft;
use crate::segment::{BodyOutput, any, body, cut, holding, port, truth};

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
    for BodyOutput { ty, .. } in &segment.given {
        let from = any(&mut draft, segment.at, ty, choices);
        let other = draft.fresh("other", ty.clone());
        others.push(Node::new("Identity", vec![Some(from)], vec![Some(other)]));
        outputs.push(port(other, ty, choices));
    }
    let other = body("other", Vec::new(), others, outputs, Vec::new());
    let (then, otherwise) = if is_then { (taken, other) } else { (other, taken) };
    let outputs = segment.given.iter().map(|given| Some(given.outside)).collect();
    let mut node = Node::new("If", vec![Some(condition)], outputs);
    node.rest.name = Some(format!("branch{}", segment.at));
    node.attributes = vec![holding("then_branch", then), holding("else_branch", otherwise)];
    nodes.push(node);
    draft.body_mut().nodes.splice(segment.at..segment.at, nodes);
    Some(draft)
}
