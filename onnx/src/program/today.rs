//! A program of an opset before 13 as it is written in 13: what were attributes are operands, and what had other words
//! has those of today.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use ir::{DType, Tensor, Type};
use ops::spec::Place;

use super::{Initializer, Node, Program, Scope, ValueId};
use crate::import::{KnownInputs, Options, domain, specialise};
use crate::proto::attribute_proto::AttributeType;
use words::Reader;

/// The opset that it is written in.
const OPSET: u32 = *ir::graph::OPSETS.start();

impl Program {
    /// Whether the program is of an opset before those that models are written in here.
    pub fn has_former_opset(&self) -> bool {
        self.former_opset().is_some()
    }

    fn former_opset(&self) -> Option<u32> {
        let mut imports = self.rest.opset_import.iter();
        let entry = imports.find(|entry| domain(entry.domain()).is_empty())?;
        u32::try_from(entry.version()).ok().filter(|&opset| opset < OPSET)
    }

    /// The program in opset 13, with all forms that it has, for inputs of which some are known; `None` where it has
    /// that opset, or a later one. What meant something else inside a body is written as it stands: what the program
    /// leads to, [`specialise`] tells.
    pub fn in_first_opset(&self, known_inputs: &dyn KnownInputs) -> Option<Self> {
        let former = self.former_opset()?;
        let mut program = self.clone();
        let mut constants = Vec::new();
        let mut nodes = std::mem::take(&mut program.main.body.nodes);
        to_operands(&mut nodes, &mut program.main, former, &mut constants);
        let types = self.types(&first_operands(&nodes, former), known_inputs);
        let (scope, constants) = (&mut program.main, &mut constants);
        let mut reader = Reader { former, types: &types, scope, constants };
        let nodes = nodes.into_iter().flat_map(|node| reader.read(node)).collect();
        let constants = std::mem::take(reader.constants);
        program.main.body.nodes = nodes;
        program.main.body.initializers.extend(constants);
        let mut imports = program.rest.opset_import.iter_mut();
        imports.find(|entry| domain(entry.domain()).is_empty())?.version = Some(OPSET.into());
        Some(program)
    }

    /// The types of tensors of the main graph; of none where the program leads nowhere.
    fn types(&self, values: &[ValueId], known_inputs: &dyn KnownInputs) -> BTreeMap<ValueId, Type> {
        let options = Options { known_inputs, ..Options::default() };
        let Ok(imported) = specialise(&self.giving_all(values), &options) else { return BTreeMap::new() };
        let graph = &imported.model.graph;
        let ty = |&value: &ValueId| {
            let output = graph.outputs.iter().find(|output| output.name == self.main.name(value))?;
            Some((value, graph.ty(output.value).clone()))
        };
        values.iter().filter_map(ty).collect()
    }
}

/// The first operands of the nodes that have other words in opset 13.
fn first_operands(nodes: &[Node], former: u32) -> Vec<ValueId> {
    let nodes = nodes.iter().filter(|node| words::has_others(node, former));
    let all: BTreeSet<ValueId> = nodes.filter_map(|node| node.inputs.first().copied().flatten()).collect();
    all.into_iter().collect()
}

/// Writes the attributes of nodes that are operands in opset 13 as such.
fn to_operands(nodes: &mut [Node], scope: &mut Scope, former: u32, constants: &mut Vec<Initializer>) {
    for node in nodes {
        let spec = ops::find(node.rest.op_type()).filter(|_| domain(node.rest.domain()).is_empty());
        let fields =
            spec.into_iter().flat_map(|spec| spec.fields.iter().map(move |field| (spec, field.name)));
        for (spec, name) in fields.filter(|(spec, name)| spec.place(name, former) == Place::Attribute) {
            match spec.place(name, OPSET) {
                Place::List(slot) | Place::Single(slot) => {
                    to_operand(node, name, slot, true, scope, constants);
                }
                Place::Scalar(slot) => to_operand(node, name, slot, false, scope, constants),
                Place::Attribute | Place::Absent | Place::Outputs | Place::Found(_) => {}
            }
        }
        let held = node.attributes.iter_mut().flat_map(|a| a.body.iter_mut().chain(&mut a.bodies));
        held.for_each(|inner| to_operands(&mut inner.nodes, scope, former, constants));
    }
}

/// Writes an attribute as the operand in a slot: a constant with one axis, or none.
fn to_operand(
    node: &mut Node,
    name: &str,
    slot: usize,
    is_list: bool,
    scope: &mut Scope,
    constants: &mut Vec<Initializer>,
) {
    let Some(at) = node.attributes.iter().position(|attribute| attribute.rest.name() == name) else { return };
    let given = &node.attributes[at].rest;
    let numbers = match given.r#type() {
        AttributeType::Ints => given.ints.clone(),
        AttributeType::Int => vec![given.i()],
        _ => return,
    };
    let shape = if is_list { vec![numbers.len() as i64] } else { Vec::new() };
    let tensor = Tensor::from_i128_fn(&Type::new(DType::I64, shape), |i| numbers[i].into());
    let value = scope.constant(name, &tensor, constants);
    node.attributes.remove(at);
    node.inputs.resize(node.inputs.len().max(slot + 1), None);
    node.inputs[slot] = Some(value);
}
