//! The values of a scope while a program is walked.

use std::collections::BTreeMap;
use std::sync::Arc;

use ir::{DType, Tensor, Value};

use super::context::{Functions, domain};
use super::declared::Declared;
use crate::Error;
use crate::names::static_slots;
use crate::program::{Body, Node, Scope, ValueId};
use crate::proto::AttributeProto;

/// What a value of the program stands for now. In a loop that changes with each iteration.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// A value of the graph that is made.
    Tensor(Value),
    /// A constant that only stands for attributes, so that no node has it.
    Static(Arc<Tensor>),
    /// A list of tensors.
    Sequence(Sequence),
    /// An optional that holds nothing, with the values that this was read from. One that holds something is bound as
    /// that.
    Nothing(Vec<Value>),
    /// A tensor of strings.
    Strings(Texts),
    /// Nothing: a parameter of a function that the call leaves out.
    Absent,
}

impl Bound {
    /// The values of the graph that it consists of.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        let (one, several) = match self {
            Self::Tensor(value) => (Some(*value), &[][..]),
            Self::Sequence(sequence) => (None, &sequence.items[..]),
            Self::Strings(texts) => (None, &texts.items[..]),
            Self::Static(_) | Self::Nothing(_) | Self::Absent => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().copied())
    }
}

/// A tensor of strings, which has no node: each of them is a list of bytes.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// The size of each axis.
    pub(super) shape: Vec<i64>,
    /// The strings in row-major order.
    pub(super) items: Vec<Value>,
    /// The values that the strings and the shape were read from.
    pub(super) given: Vec<Value>,
}

/// A list of tensors, which has no node: only what is taken out of it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The tensors.
    pub(super) items: Vec<Value>,
    /// The values that its length and order were read from.
    pub(super) given: Vec<Value>,
    /// The dtype of its tensors, for a sequence that has none to tell it.
    pub(super) dtype: Option<DType>,
}

/// A scope with what its values stand for.
pub(super) struct Frame<'p> {
    pub(super) scope: &'p Scope,
    bound: Vec<Option<Bound>>,
    /// Constants that are there already: a body that is run again does not get them again.
    pub(super) constants: BTreeMap<ValueId, Bound>,
    declared: BTreeMap<ValueId, Declared>,
    uses: Vec<Use>,
    /// The attributes of the function this is the body of; `None` in a graph.
    pub(super) attributes: Option<BTreeMap<&'p str, AttributeProto>>,
}

/// What a value of the program is used for.
#[derive(Clone, Copy, Default, Debug)]
struct Use {
    /// As operand or output.
    data: bool,
    /// In place of attributes.
    fixed: bool,
}

impl<'p> Frame<'p> {
    pub(super) fn new(
        scope: &'p Scope,
        attributes: Option<BTreeMap<&'p str, AttributeProto>>,
        functions: &Functions<'_>,
        opset: u32,
    ) -> Result<Self, Error> {
        let mut declared = BTreeMap::new();
        declarations(&scope.body, scope, &mut declared)?;
        let mut uses = vec![Use::default(); scope.values()];
        note_uses(&scope.body, functions, opset, &mut uses);
        let bound = vec![None; scope.values()];
        Ok(Self { scope, bound, constants: BTreeMap::new(), declared, uses, attributes })
    }

    /// What a value stands for.
    pub(super) fn get(&self, id: ValueId) -> Result<&Bound, Error> {
        self.bound[id.index()].as_ref().ok_or_else(|| {
            Error::invalid(format!("value `{}`", self.scope.name(id)), "it has no value where it is used")
        })
    }

    /// Whether a value stands for something yet.
    pub(super) fn has(&self, id: ValueId) -> bool {
        self.bound[id.index()].is_some()
    }

    /// Lets a value stand for something from here on.
    pub(super) fn set(&mut self, id: ValueId, bound: Bound) {
        self.bound[id.index()] = Some(bound);
    }

    /// What is said about the type of a value.
    pub(super) fn declared(&self, id: ValueId) -> Option<&Declared> {
        self.declared.get(&id)
    }

    /// Whether the value is used, and only in place of attributes.
    pub(super) fn only_static(&self, id: ValueId) -> bool {
        let Use { data, fixed } = self.uses[id.index()];
        fixed && !data
    }

    /// Whether anything reads the value.
    pub(super) fn is_used(&self, id: ValueId) -> bool {
        let Use { data, fixed } = self.uses[id.index()];
        fixed || data
    }
}

/// What a body, and the bodies inside it, declare as the types of values that are neither inputs nor outputs.
fn declarations(body: &Body, scope: &Scope, all: &mut BTreeMap<ValueId, Declared>) -> Result<(), Error> {
    let mut elsewhere = std::collections::BTreeSet::new();
    for said in &body.declared {
        let name = said.value.map_or(said.declared.name(), |id| scope.name(id));
        let declared = Declared::read(name, &said.declared)?;
        let twice = match said.value {
            Some(id) => all.insert(id, declared).is_some(),
            None => !elsewhere.insert(name),
        };
        if twice {
            return Err(Error::invalid(format!("value `{name}`"), "its type is declared twice"));
        }
    }
    body.nodes.iter().flat_map(Node::bodies).try_for_each(|inner| declarations(inner, scope, all))
}

fn note_uses(body: &Body, functions: &Functions<'_>, opset: u32, uses: &mut [Use]) {
    body.outputs.iter().for_each(|output| uses[output.value.index()].data = true);
    for node in &body.nodes {
        let is_operator = domain(node.rest.domain()).is_empty() && functions.find(node).is_none();
        let spec = ops::find(node.rest.op_type()).filter(|_| is_operator);
        let slots = spec.map(|s| static_slots(s, opset)).unwrap_or_default();
        for (i, id) in node.inputs.iter().enumerate() {
            let Some(id) = id else { continue };
            let used = &mut uses[id.index()];
            if slots.iter().any(|&(slot, ..)| slot == i) { used.fixed = true } else { used.data = true }
        }
        node.bodies().for_each(|inner| note_uses(inner, functions, opset, uses));
    }
}
