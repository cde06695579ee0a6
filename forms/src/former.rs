//! An opset before 13, as models have it that were exported years ago: axes, splits and counts are attributes, and what came later is not there.

use std::collections::BTreeMap;

use ir::{Choices, Datum};
use onnx::import::{Options, specialise};
use onnx::names::static_slots;
use onnx::program::{Body, Node, ValueId};
use ops::Model;
use ops::schema::{self, Schema};
use ops::spec::Place;
use rand::seq::SliceRandom;

use crate::draft::{Draft, spec};

/// The opsets before those that models are drawn in.
const OPSETS: std::ops::RangeInclusive<u32> = 7..=12;

/// The program in such an opset, where all of its operators are there and mean the same.
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    // What functions hold has opsets of its own.
    if !draft.program.functions.is_empty() {
        return None;
    }
    let numbers = Numbers::of(&draft);
    let mut opsets: Vec<u32> = OPSETS.collect();
    opsets.shuffle(choices);
    let all: Vec<Draft> = opsets.into_iter().filter_map(|opset| of(&draft, &numbers, opset)).collect();
    let model = lead(all.first().map(|_| &draft)?)?;
    all.into_iter().find(|former| lead(former).is_some_and(|other| is_same(&model, &other)))
}

/// The program as it is written in an opset, whatever that means there.
fn of(draft: &Draft, numbers: &Numbers, opset: u32) -> Option<Draft> {
    let mut former = draft.clone();
    respell(&mut former.program.main.body, numbers, draft.opset, opset)?;
    let mut imports = former.program.rest.opset_import.iter_mut();
    imports.find(|entry| entry.domain().is_empty())?.version = Some(opset.into());
    let unread: Vec<ValueId> =
        numbers.0.keys().copied().filter(|&value| former.uses(value) == 0 && draft.uses(value) > 0).collect();
    former.body_mut().initializers.retain(|initializer| !unread.contains(&initializer.value));
    Some(former)
}

/// The numbers of the initializers of int64.
struct Numbers(BTreeMap<ValueId, Vec<i64>>);

impl Numbers {
    fn of(draft: &Draft) -> Self {
        let values = draft.body().initializers.iter().map(|initializer| initializer.value);
        Self(values.filter_map(|value| Some((value, draft.numbers(value)?))).collect())
    }
}

/// Writes the nodes of a body as they are written in a former opset; `None` where one cannot be.
fn respell(body: &mut Body, numbers: &Numbers, opset: u32, former: u32) -> Option<()> {
    for node in &mut body.nodes {
        if !node.rest.domain().is_empty() {
            return None;
        }
        let schema = schema::in_force(node.rest.op_type(), former).filter(|schema| !schema.deprecated)?;
        to_attributes(node, numbers, opset, former)?;
        drop_later(node, schema);
        let held = node.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut());
        for inner in held {
            respell(inner, numbers, opset, former)?;
        }
    }
    Some(())
}

/// Operands that were attributes become attributes.
fn to_attributes(node: &mut Node, numbers: &Numbers, opset: u32, former: u32) -> Option<()> {
    let Some(spec) = spec(node) else { return Some(()) };
    for (slot, name, _) in static_slots(spec, opset).into_iter().rev() {
        let place = spec.place(name, former);
        if matches!(place, Place::List(_) | Place::Scalar(_) | Place::Single(_)) {
            continue;
        }
        let Some(operand) = node.inputs.get(slot).copied().flatten() else { continue };
        let given = numbers.0.get(&operand).filter(|_| place == Place::Attribute)?;
        let said = std::mem::replace(node, Node::new("", Vec::new(), Vec::new()));
        let takes_list = schema::in_force(spec.name, former)?
            .attributes
            .iter()
            .any(|attribute| attribute.name == name && attribute.kind == "ints");
        *node = if takes_list {
            said.with_ints(name, given.clone())
        } else {
            said.with_int(name, *given.first()?)
        };
        node.inputs.truncate(slot);
    }
    Some(())
}

/// Drops the attributes that the operator did not have. Whether they said anything, whoever reads the model tells.
fn drop_later(node: &mut Node, schema: &Schema) {
    node.attributes
        .retain(|attribute| schema.attributes.iter().any(|known| known.name == attribute.rest.name()));
}

/// The model that a program leads to.
fn lead(Draft { program, inputs, .. }: &Draft) -> Option<Model> {
    let known: BTreeMap<String, Datum> =
        inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let options = Options { known_inputs: &known, ..Options::default() };
    specialise(program, &options).ok().map(|imported| imported.model)
}

/// Whether two models have the same operators on the same values, of whatever opset.
fn is_same(one: &Model, other: &Model) -> bool {
    let nodes = |model: &Model| model.graph.iter().count();
    let is_same = nodes(one) == nodes(other)
        && one
            .graph
            .iter()
            .zip(other.graph.iter())
            .all(|((_, a), (_, b))| (&a.kind, &a.inputs, &a.outputs) == (&b.kind, &b.inputs, &b.outputs));
    is_same && one.graph.outputs == other.graph.outputs && one.functions == other.functions
}
