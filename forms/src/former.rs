//! An opset before 13, as models have it that were exported years ago: axes, splits and counts are attributes, and what came later is
//! not there.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ir::{Choices, Datum, Type};
use onnx::import::{Options, specialise};
use onnx::names::static_slots;
use onnx::program::{Body, Node, Program, ValueId};
use ops::Model;
use ops::schema::{self, Schema};
use ops::spec::Place;
use rand::seq::SliceRandom;

use crate::draft::{Draft, spec};

/// The opsets before those that models are drawn in.
const OPSETS: RangeInclusive<u32> = 7..=12;

/// The operators whose scale and zero point were scalars. Of a list of one number, which means the same since, nothing was said.
const SCALES: [&str; 2] = ["DequantizeLinear", "QuantizeLinear"];

/// The program in such an opset, where all of its operators are there and mean the same.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    // What functions hold has opsets of its own.
    if !draft.program.functions.is_empty() {
        return None;
    }
    draft.program = drawn(&draft, choices)?;
    Some(draft)
}

/// The program in one of the opsets, drawn of those in which it means the same.
fn drawn(draft: &Draft, choices: &mut Choices) -> Option<Program> {
    let today = Today::of(draft);
    let mut opsets: Vec<u32> = OPSETS.collect();
    opsets.shuffle(choices);
    let mut all = opsets.into_iter().filter_map(|opset| today.written_in(opset)).peekable();
    all.peek()?;
    let model = lead(draft)?;
    let same = all.find(|former| lead(former).is_some_and(|other| is_same(&model, &other)));
    same.map(|former| former.program)
}

/// A program as it is written today.
struct Today<'d> {
    draft: &'d Draft,
    /// The numbers of its initializers of int64.
    numbers: BTreeMap<ValueId, Vec<i64>>,
}

impl<'d> Today<'d> {
    fn of(draft: &'d Draft) -> Self {
        let values = draft.body().initializers.iter().map(|initializer| initializer.value);
        Self { draft, numbers: values.filter_map(|value| Some((value, draft.numbers(value)?))).collect() }
    }

    /// As it is written in an opset, whatever it means there.
    fn written_in(&self, opset: u32) -> Option<Draft> {
        let Self { draft, numbers } = self;
        let mut former = (*draft).clone();
        self.respell(&mut former.program.main.body, opset)?;
        let mut imports = former.program.rest.opset_import.iter_mut();
        imports.find(|entry| entry.domain().is_empty())?.version = Some(opset.into());
        let is_unread = |&value: &ValueId| former.uses(value) == 0 && draft.uses(value) > 0;
        let unread: Vec<ValueId> = numbers.keys().copied().filter(is_unread).collect();
        former.body_mut().initializers.retain(|initializer| !unread.contains(&initializer.value));
        Some(former)
    }

    /// Writes the nodes of a body as they are written in an opset; `None` where one cannot be.
    fn respell(&self, body: &mut Body, opset: u32) -> Option<()> {
        for node in &mut body.nodes {
            if !node.rest.domain().is_empty() {
                return None;
            }
            let schema = schema::in_force(node.rest.op_type(), opset).filter(|schema| !schema.deprecated)?;
            self.to_attributes(node, schema, opset)?;
            let is_scalar = |&value: &ValueId| self.draft.ty(value).map(Type::rank) == Some(0);
            if SCALES.contains(&schema.name) && !node.inputs.iter().skip(1).flatten().all(is_scalar) {
                return None;
            }
            // Whether what came later says anything, whoever reads the model tells.
            let is_known = |name: &str| schema.attributes.iter().any(|attribute| attribute.name == name);
            node.attributes.retain(|attribute| is_known(attribute.rest.name()));
            let held = node.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut());
            for inner in held {
                self.respell(inner, opset)?;
            }
        }
        Some(())
    }

    /// Operands that were attributes become attributes.
    fn to_attributes(&self, node: &mut Node, schema: &Schema, opset: u32) -> Option<()> {
        let Some(spec) = spec(node) else { return Some(()) };
        for (slot, name, _) in static_slots(spec, self.draft.opset).into_iter().rev() {
            let place = spec.place(name, opset);
            let Some(operand) = node.inputs.get(slot).copied().flatten() else { continue };
            if matches!(place, Place::List(_) | Place::Scalar(_) | Place::Single(_)) {
                continue;
            }
            let given = self.numbers.get(&operand).filter(|_| place == Place::Attribute)?;
            let known = schema.attributes.iter().find(|attribute| attribute.name == name)?;
            let operator = std::mem::replace(node, Node::new("", Vec::new(), Vec::new()));
            *node = match known.kind {
                "ints" => operator.with_ints(name, given.clone()),
                _ => operator.with_int(name, *given.first()?),
            };
            node.inputs.truncate(slot);
        }
        Some(())
    }
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
    let is_node = |(a, b): (&ir::Node<ops::Op>, &ir::Node<ops::Op>)| {
        (&a.kind, &a.inputs, &a.outputs) == (&b.kind, &b.inputs, &b.outputs)
    };
    let (nodes, others) = (&one.graph.nodes, &other.graph.nodes);
    nodes.len() == others.len()
        && nodes.iter().zip(others).all(is_node)
        && one.graph.outputs == other.graph.outputs
        && one.functions == other.functions
}
