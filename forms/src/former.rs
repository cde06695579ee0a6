//! An opset before 13, as in models that were exported years ago: axes, splits and counts are attributes, and later
//! features are missing.

mod words;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use graphgen::Settings;
use ir::{Choices, DType, DTypes, Datum, NodeKind, Stream, Tensor, Type};
use onnx::external::External;
use onnx::import::{Options, specialise};
use onnx::names::static_slots;
use onnx::program::{Body, Initializer, Node, ValueId};
use onnx::tensor;
use ops::schema::{self, Schema};
use ops::spec::Place;
use ops::{Graph, Model, Op};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::draft::{Draft, spec};
use crate::form::is_meant;
use words::Speaker;

/// The opsets before those that models are drawn in.
const OPSETS: RangeInclusive<u32> = 7..=12;

/// The first opset that models are drawn in.
const FIRST: u32 = *ir::graph::OPSETS.start();

/// The form's name.
pub(crate) const NAME: &str = "former opset";

/// The operators whose scale and zero point had to be scalars. A list of one number means the same today; then it was
/// not defined.
const SCALES: [&str; 2] = ["DequantizeLinear", "QuantizeLinear"];

/// The first opset that defines negative axes, and in which the sides of a branch may give other shapes.
const FROM_THE_END: u32 = 11;

/// The share of models that are drawn for an opset before 13, among those that may be written in one.
const DRAWN: f64 = 0.17;

/// The dtypes that most operators took and gave.
const WANTED: DTypes = DTypes::of(&[DType::F16, DType::F32, DType::F64, DType::Bool]);

/// The least probability that a placeholder is a constant in these models: a parameter that was an attribute, such as a
/// bound of Clip, must be one.
const CONSTANT: f64 = 0.6;

/// In a share of draws, the settings for a model of operators that an opset before 13 has: of graphs of all of today's
/// operators, few can be written so. `None` for the other models. `stream` is that of the model's forms.
pub fn draw(settings: &Settings, stream: Stream, forms: Stream) -> Option<Settings> {
    let mut rng = stream.rng();
    let is_meant = is_meant(NAME, &settings.forms, forms);
    if !is_meant || settings.oldest_opset > FIRST || !rng.random_bool(DRAWN) {
        return None;
    }
    let opset = rng.random_range(OPSETS);
    let is_there = |name: &&str| schema::in_force(name, opset).is_some_and(|schema| !schema.deprecated);
    let operators = settings.operators.iter().copied().filter(is_there).collect();
    let wanted = settings.wanted.intersection(WANTED);
    let constant = settings.constant.max(CONSTANT);
    let former = Settings { opset: FIRST, operators, wanted, constant, function: 0.0, ..settings.clone() };
    (!former.opsets().is_empty()).then_some(former)
}

/// Writes the program in one of the opsets in which it can mean the same, in half of the draws the oldest of them.
#[allow(clippy::needless_pass_by_value, reason = "it is one of the rewritings, which take a draft")]
pub(crate) fn write(draft: Draft, choices: &mut Choices) -> Option<Draft> {
    // Functions have opsets of their own.
    if !draft.program.functions.is_empty() {
        return None;
    }
    let today = Today::of(&draft);
    let mut opsets: Vec<u32> = OPSETS.collect();
    // Few can be written in the oldest ones.
    if choices.random_bool(0.5) {
        opsets.shuffle(choices);
    }
    opsets.into_iter().find_map(|opset| today.written_in(opset, choices))
}

/// A program as it is written today.
struct Today<'d> {
    draft: &'d Draft,
    /// The numbers of its initializers of int64.
    numbers: BTreeMap<ValueId, Vec<i64>>,
}

impl<'d> Today<'d> {
    fn of(draft: &'d Draft) -> Self {
        let mut numbers = BTreeMap::new();
        each_initializer(draft.body(), &mut |initializer| {
            let tensor = tensor::from_proto(&initializer.tensor, External::Refuse).ok();
            let tensor = tensor.filter(|tensor| tensor.dtype() == DType::I64 && tensor.shape().len() <= 1);
            let all = |tensor: Tensor| tensor.to_i128s().into_iter().map(|n| n as i64).collect();
            numbers.extend(tensor.map(|tensor| (initializer.value, all(tensor))));
        });
        draft.body().inputs.iter().for_each(|port| _ = numbers.remove(&port.value));
        Self { draft, numbers }
    }

    /// The program as it is written in an opset; `None` if it does not mean the same there.
    fn written_in(&self, opset: u32, choices: &mut Choices) -> Option<Draft> {
        let mut today = self.draft.clone();
        let nodes = std::mem::take(&mut today.body_mut().nodes);
        let mut speaker = Speaker { draft: &mut today, opset, choices };
        let (plain, other): (Vec<_>, Vec<_>) =
            nodes.into_iter().map(|node| speaker.say(node)).map(|said| (said.today, said.former)).unzip();
        let mut former = today.clone();
        today.body_mut().nodes = plain.concat();
        former.body_mut().nodes = other.concat();
        self.respell(&mut former.program.main.body, opset)?;
        let mut imports = former.program.rest.opset_import.iter_mut();
        imports.find(|entry| entry.domain().is_empty())?.version = Some(opset.into());
        // An input without its default would ask for a value.
        let is_default = |value| former.body().inputs.iter().any(|port| port.value == value);
        let is_kept = |value| former.uses(value) > 0 || self.is_unread(value) || is_default(value);
        let kept: Vec<ValueId> =
            former.body().initializers.iter().map(|i| i.value).filter(|&value| is_kept(value)).collect();
        former.body_mut().initializers.retain(|initializer| kept.contains(&initializer.value));
        drop_unread(&mut former);
        is_same(&lead(&today)?, &lead(&former)?).then_some(former)
    }

    /// Whether a value was in the program before, and nothing reads it now.
    fn is_unread(&self, value: ValueId) -> bool {
        value.index() < self.draft.program.main.values() && self.draft.uses(value) == 0
    }

    /// Rewrites the nodes of a body for an opset; `None` if one of them cannot be written there.
    fn respell(&self, body: &mut Body, opset: u32) -> Option<()> {
        for node in &mut body.nodes {
            if !node.rest.domain().is_empty() {
                return None;
            }
            let schema = schema::in_force(node.rest.op_type(), opset).filter(|schema| !schema.deprecated)?;
            self.to_attributes(node, schema, opset)?;
            if schema.name == "Constant" && !self.gives(node, schema) {
                return None;
            }
            let is_scalar = |&value: &ValueId| self.draft.ty(value).map(Type::rank) == Some(0);
            if SCALES.contains(&schema.name) && !node.inputs.iter().skip(1).flatten().all(is_scalar) {
                return None;
            }
            // Later attributes may make no difference: that shows when the model is read again.
            let is_known = |name: &str| schema.attributes.iter().any(|attribute| attribute.name == name);
            node.attributes.retain(|attribute| is_known(attribute.rest.name()));
            if opset < FROM_THE_END && (counts_from_the_end(node) || self.has_two_shapes(node)) {
                return None;
            }
            let held = node.attributes.iter_mut().filter_map(|attribute| attribute.body.as_mut());
            for inner in held {
                self.respell(inner, opset)?;
            }
        }
        Some(())
    }

    /// Whether a definition of Constant can give a node's result: before opset 9 it gave floats only.
    fn gives(&self, node: &Node, schema: &Schema) -> bool {
        let value = node.outputs.first().copied().flatten();
        let ty = value.and_then(|value| self.draft.ty(value));
        ty.zip(schema.outputs.first()).is_some_and(|(ty, output)| output.dtypes.contains(ty.dtype))
    }

    /// Whether a node is a branch whose sides give different types. Before opset 11 they "must be of the same shape and
    /// same data type".
    fn has_two_shapes(&self, node: &Node) -> bool {
        let types =
            |body: &Body| body.outputs.iter().map(|port| self.draft.ty(port.value)).collect::<Vec<_>>();
        let sides: Vec<_> = node.bodies().map(types).collect();
        node.rest.op_type() == "If" && sides.windows(2).any(|pair| pair[0] != pair[1])
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
            // It may say nothing but what held without it: that shows when the model is read again.
            if place == Place::Absent {
                node.inputs.truncate(slot);
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

/// Visits every initializer of a body and of the bodies in it.
fn each_initializer(body: &Body, visit: &mut dyn FnMut(&Initializer)) {
    body.initializers.iter().for_each(&mut *visit);
    let held = body.nodes.iter().flat_map(Node::bodies);
    held.for_each(|inner| each_initializer(inner, visit));
}

/// Drops the initializers of bodies that are attributes now.
fn drop_unread(draft: &mut Draft) {
    fn within(body: &mut Body, is_read: &dyn Fn(ValueId) -> bool) {
        let attributes = body.nodes.iter_mut().flat_map(|node| &mut node.attributes);
        for inner in attributes.filter_map(|attribute| attribute.body.as_mut()) {
            inner.initializers.retain(|initializer| is_read(initializer.value));
            within(inner, is_read);
        }
    }
    let before = draft.clone();
    within(draft.body_mut(), &|value| before.uses(value) > 0);
}

/// Whether a node has an axis that counts from the last one.
fn counts_from_the_end(node: &Node) -> bool {
    node.attributes.iter().map(|attribute| &attribute.rest).any(|given| match given.name() {
        "axis" | "batch_axis" | "time_axis" => given.i() < 0,
        "axes" => given.ints.iter().any(|&axis| axis < 0),
        _ => false,
    })
}

/// The model that a program leads to.
fn lead(Draft { program, inputs, .. }: &Draft) -> Option<Model> {
    let known: BTreeMap<String, Datum> =
        inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let options = Options { known_inputs: &known, ..Options::default() };
    specialise(program, &options).ok().map(|imported| imported.model)
}

/// Whether two models compute the same by the same operators, of whatever opset and in whatever order.
fn is_same(one: &Model, other: &Model) -> bool {
    let mut computed = Computed::default();
    computed.outputs(&one.graph) == computed.outputs(&other.graph) && one.functions == other.functions
}

/// A value: a node that is [`Computed`], and one of its results.
type Port = (usize, u32);

/// What nodes compute, each thing once.
#[derive(Default)]
struct Computed<'m>(Vec<(&'m NodeKind<Op>, Vec<Option<Port>>)>);

impl<'m> Computed<'m> {
    /// How the outputs of a graph are computed, by name.
    fn outputs(&mut self, graph: &'m Graph) -> Vec<(&'m str, Port)> {
        let mut places: Vec<usize> = Vec::new();
        for (_, node) in graph.iter() {
            let operands = node.inputs.iter();
            let operands =
                operands.map(|operand| operand.map(|value| (places[value.node.index()], value.port)));
            let what = (&node.kind, operands.collect());
            let known = self.0.iter().position(|known| *known == what);
            places.push(known.unwrap_or_else(|| {
                self.0.push(what);
                self.0.len() - 1
            }));
        }
        let outputs = graph.outputs.iter();
        outputs.map(|o| (o.name.as_str(), (places[o.value.node.index()], o.value.port))).collect()
    }
}
