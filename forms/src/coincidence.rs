//! Coincidences: equal values are one value or several, and constants are computed. Optimisers look for these, and
//! merge, split and fold them.

use std::collections::BTreeMap;

use ir::{Choices, Tensor, Type};
use onnx::program::{Node, ValueId};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::draft::{Draft, parameters, spec};
use crate::segment::rename;

/// Puts one initializer in the place of several that are equal.
pub(crate) fn shared(mut draft: Draft, _: &mut Choices) -> Option<Draft> {
    let mut first: Vec<(Tensor, ValueId)> = Vec::new();
    let mut instead = BTreeMap::new();
    for value in draft.body().initializers.iter().map(|i| i.value) {
        let Some(tensor) = draft.tensor(value) else { continue };
        let known = first.iter().find(|(known, _)| *known == tensor);
        match known {
            Some(&(_, known)) => _ = instead.insert(value, known),
            None => first.push((tensor, value)),
        }
    }
    if instead.is_empty() {
        return None;
    }
    let body = draft.body_mut();
    for node in &mut body.nodes {
        rename(node, &instead);
    }
    body.outputs
        .iter_mut()
        .for_each(|port| port.value = instead.get(&port.value).copied().unwrap_or(port.value));
    body.initializers.retain(|i| !instead.contains_key(&i.value));
    Some(draft)
}

/// Writes a node twice whose result is used more than once: some uses read the first node, some the second. Outputs of
/// the model stay with the first.
pub(crate) fn twice(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let fit = |node: &Node| {
        let mut outputs = node.outputs.iter().flatten();
        spec(node).is_some() && node.bodies().next().is_none() && outputs.any(|&value| draft.uses(value) > 1)
    };
    let all: Vec<usize> =
        draft.body().nodes.iter().enumerate().filter(|(_, node)| fit(node)).map(|(at, _)| at).collect();
    let &at = all.choose(choices)?;
    let mut copy = draft.body().nodes[at].clone();
    let mut instead = BTreeMap::new();
    for value in copy.outputs.clone().into_iter().flatten() {
        let ty = draft.ty(value)?.clone();
        let name = format!("{}_again", draft.program.main.name(value));
        instead.insert(value, draft.fresh(&name, ty));
    }
    copy.rest.name = copy.rest.name.map(|name| format!("{name}_again"));
    copy.outputs.iter_mut().flatten().for_each(|value| *value = instead[value]);
    // At least one user reads the copy. Outputs of the model are no users.
    let users: Vec<usize> = (at + 1..draft.body().nodes.len())
        .filter(|&user| {
            draft.body().nodes[user].inputs.iter().flatten().any(|value| instead.contains_key(value))
        })
        .collect();
    let &sure = users.choose(choices)?;
    for user in users {
        if user == sure || choices.random_bool(0.3) {
            let node = &mut draft.body_mut().nodes[user];
            let operands = node.inputs.iter_mut().flatten();
            operands.for_each(|value| *value = instead.get(value).copied().unwrap_or(*value));
        }
    }
    draft.body_mut().nodes.insert(at + 1, copy);
    Some(draft)
}

/// Computes some constants from others, by operators that move elements.
pub(crate) fn made(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let is_parameter = |value: ValueId| {
        draft.body().nodes.iter().any(|node| {
            let mut slots = parameters(node, draft.opset).into_iter();
            slots.any(|(slot, _)| node.inputs.get(slot).copied().flatten() == Some(value))
        })
    };
    let is_fit = |&value: &ValueId| {
        draft.initializer(value).is_some() && draft.first_use(value).is_some() && !is_parameter(value)
    };
    let mut fit: Vec<ValueId> = draft.body().initializers.iter().map(|i| i.value).filter(is_fit).collect();
    fit.shuffle(choices);
    fit.truncate(choices.random_range(1..=2));
    let mut is_new = false;
    for value in fit {
        let tensor = draft.tensor(value)?;
        let Some(nodes) = make(&mut draft, value, &tensor, choices) else { continue };
        let body = draft.body_mut();
        body.initializers.retain(|i| i.value != value);
        body.nodes.splice(0..0, nodes);
        is_new = true;
    }
    is_new.then_some(draft)
}

/// Nodes that make a constant of others.
fn make(draft: &mut Draft, value: ValueId, tensor: &Tensor, choices: &mut Choices) -> Option<Vec<Node>> {
    let (ty, opset) = (tensor.ty(), draft.opset);
    // The bits of a NaN could be lost on the way.
    if ty.dtype.is_float() && tensor.to_f64s().iter().any(|x| x.is_nan()) {
        return None;
    }
    let node = |name: &str, operands: &[ValueId]| {
        let allowed = ops::find(name).is_some_and(|spec| spec.input_types(0, opset).contains(ty.dtype));
        let operands = operands.iter().map(|&operand| Some(operand)).collect();
        allowed.then(|| Node::new(name, operands, vec![Some(value)]))
    };
    let made = match choices.random_range(0..5) {
        0 if ty.rank() > 1 => {
            let mut perm: Vec<usize> = (0..ty.rank()).collect();
            perm.shuffle(choices);
            let turned = turned(tensor, &perm);
            let from = draft.constant("turned", &turned);
            let perm = perm.iter().map(|&axis| axis as i64).collect();
            node("Transpose", &[from])?.with_ints("perm", perm)
        }
        1 if ty.shape.first().is_some_and(|&size| size > 1) => {
            let at = choices.random_range(1..ty.shape[0]);
            let parts = [(0, at), (at, ty.shape[0])].map(|(from, to)| rows(tensor, from, to));
            let parts = parts.map(|part| draft.constant("part", &part));
            node("Concat", &parts)?.with_int("axis", 0)
        }
        2 if !ty.shape.contains(&0) => {
            let flat = draft.constant("flat", &shaped(tensor, vec![tensor.len() as i64]));
            let shape = draft.list("shape", &ty.shape);
            node("Reshape", &[flat, shape])?
        }
        3 => {
            let longer = draft.constant("longer", &shaped(tensor, [&[1], &ty.shape[..]].concat()));
            let axes = draft.list("axes", &[0]);
            node("Squeeze", &[longer, axes])?
        }
        _ => {
            let same = draft.constant("same", tensor);
            node("Identity", &[same])?
        }
    };
    Some(vec![made])
}

/// The same elements in another shape.
fn shaped(tensor: &Tensor, shape: Vec<i64>) -> Tensor {
    picked(tensor, &Type::new(tensor.dtype(), shape), |place| place)
}

/// Some of the rows.
fn rows(tensor: &Tensor, from: i64, to: i64) -> Tensor {
    let mut ty = tensor.ty();
    let row: i64 = ty.shape[1..].iter().product();
    ty.shape[0] = to - from;
    picked(tensor, &ty, |place| place + (from * row) as usize)
}

/// The tensor from which a Transpose with this permutation makes this one.
fn turned(tensor: &Tensor, perm: &[usize]) -> Tensor {
    let to = tensor.ty();
    let mut from = to.clone();
    for (axis, &origin) in perm.iter().enumerate() {
        from.shape[origin] = to.shape[axis];
    }
    picked(tensor, &from.clone(), |place| {
        let mut rest = place;
        let mut index = vec![0; from.rank()];
        for (axis, &size) in from.shape.iter().enumerate().rev() {
            index[axis] = rest % size as usize;
            rest /= size as usize;
        }
        to.shape.iter().zip(perm).fold(0, |at, (&size, &origin)| at * size as usize + index[origin])
    })
}

/// A tensor of elements of another, by place.
fn picked(tensor: &Tensor, ty: &Type, from: impl Fn(usize) -> usize) -> Tensor {
    if ty.dtype.is_float() {
        let all = tensor.to_f64s();
        Tensor::from_f64_fn(ty, |place| all[from(place)])
    } else {
        let all = tensor.to_i128s();
        Tensor::from_i128_fn(ty, |place| all[from(place)])
    }
}
