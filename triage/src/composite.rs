//! The composite operators of a program, each alone. (Import writes a composite operator out in others.)
//!
//! The model that a program leads to contains only the expansion of a composite operator, such as Resize or
//! LSTM. So a target that is wrong about the operator is right about that model. The node alone, on the
//! reference's values for its operands, is a program that leads to the node's part of the model.

use std::collections::{BTreeMap, BTreeSet};

use interp::{Profile, Taps};
use ir::{DType, Datum, DatumKind, Type, Wanted};
use onnx::export::{open_type, value_info};
use onnx::program::{Attribute, Body, Node, Port, Program, ValueId};
use onnx::proto::{ValueInfoProto, attribute_proto::AttributeType};

use crate::forms::{Led, lead};
use crate::reduce::Problem;

/// A node of a program alone, with the values of its operands.
#[derive(Clone, Debug)]
pub(crate) struct Composite {
    /// The places of the node, and of the nodes that it cannot be run without, among the nodes of the main graph, in
    /// order.
    pub(crate) nodes: Vec<usize>,
    /// Its operator.
    pub(crate) name: String,
    /// The types of its operands.
    pub(crate) types: Vec<Option<Type>>,
    /// The node alone.
    pub(crate) problem: Problem,
}

/// Operators with bodies. They are not to blame for the operators in their bodies, which are looked at by themselves.
const CONTROL_FLOW: [&str; 3] = ["If", "Loop", "Scan"];

/// Whether a node is an operator that import writes out: import knows it, and there is no operator of ours
/// for it.
pub(crate) fn is_composite(node: &Node) -> bool {
    let name = node.rest.op_type();
    let is_read = onnx::import::knows(node.rest.domain(), name);
    is_read && ops::find(name).is_none() && !CONTROL_FLOW.contains(&name)
}

/// Whether a function of a program holds an operator that import writes out.
pub(crate) fn has_composites_in_functions(program: &Program) -> bool {
    let mut has = false;
    for function in &program.functions {
        function.scope.body.each_node(&mut |node| has |= is_composite(node));
    }
    has
}

/// Whether a node's output at this place is a tensor, by the standard.
pub(crate) fn is_tensor(node: &Node, port: usize) -> bool {
    ops::schema::gives_tensor(node.rest.op_type(), port)
}

/// The composite operators of a body, each grouped with the nodes it is joined to by values that are not
/// tensors (sequences, optionals, strings): engines need not take or give such values. Nodes are told by their
/// positions, in the order of the body; `is_composite` tells of each.
fn groups(body: &Body, is_composite: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..body.nodes.len()).collect();
    let mut makers: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (at, node) in body.nodes.iter().enumerate() {
        for operand in node.inputs.iter().flatten() {
            let Some(&maker) = makers.get(operand) else { continue };
            let (from, to) = (group[at], group[maker]);
            group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
        }
        let results = node.outputs.iter().enumerate();
        let others = results.filter(|(port, _)| !is_tensor(node, *port)).filter_map(|(_, value)| *value);
        makers.extend(others.map(|value| (value, at)));
    }
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, of) in group.into_iter().enumerate() {
        all.entry(of).or_default().push(at);
    }
    all.into_values().filter(|group| group.iter().any(|&at| is_composite(at))).collect()
}

/// Each group of the main graph alone, in the order of the graph. A group is left out if the reference has no value for
/// one of its operands.
pub(crate) fn composites(program: &Program, inputs: &BTreeMap<String, Datum>) -> Vec<Composite> {
    composites_with(program, inputs, &|_| false, &|_| true)
}

/// Each group of the main graph alone, as [`composites`] gives them. `is_written_out` tells of further nodes, by their
/// positions, that import writes out for these inputs; `is_wanted` which of the results are.
pub(crate) fn composites_with(
    program: &Program,
    inputs: &BTreeMap<String, Datum>,
    is_written_out: &dyn Fn(usize) -> bool,
    is_wanted: &dyn Fn(ValueId) -> bool,
) -> Vec<Composite> {
    let nodes = &program.main.body.nodes;
    let groups = groups(&program.main.body, &|at| is_composite(&nodes[at]) || is_written_out(at));
    // One run of the reference gives all values, unless one of them is not to be had.
    let all: BTreeSet<ValueId> = groups.iter().flat_map(|group| open(&program.main.body, group)).collect();
    let all: Vec<ValueId> = all.into_iter().collect();
    let known = values(program, &all, inputs).unwrap_or_default();
    let known: BTreeMap<ValueId, Datum> = all.into_iter().zip(known).collect();
    let alone = |group: Vec<usize>| {
        let open = open(&program.main.body, &group);
        let values: Option<Vec<Datum>> = open.iter().map(|value| known.get(value).cloned()).collect();
        let values = values.or_else(|| self::values(program, &open, inputs))?;
        alone(program, group, (&open, &values), is_wanted)
    };
    groups.into_iter().filter_map(alone).collect()
}

fn is_constant(body: &Body, value: ValueId) -> bool {
    body.initializers.iter().any(|i| i.value == value) && body.inputs.iter().all(|port| port.value != value)
}

/// The values that some nodes of a body read and do not make themselves, constants aside.
fn open(body: &Body, group: &[usize]) -> Vec<ValueId> {
    let nodes = || group.iter().map(|&at| &body.nodes[at]);
    let made: BTreeSet<ValueId> = nodes().flat_map(|node| node.outputs.iter().flatten().copied()).collect();
    let read: BTreeSet<ValueId> = nodes().flat_map(|node| node.inputs.iter().flatten().copied()).collect();
    read.difference(&made).copied().filter(|&value| !is_constant(body, value)).collect()
}

fn alone(
    program: &Program,
    group: Vec<usize>,
    (open, values): (&[ValueId], &[Datum]),
    is_wanted: &dyn Fn(ValueId) -> bool,
) -> Option<Composite> {
    let body = &program.main.body;
    let nodes: Vec<&Node> = group.iter().map(|&at| &body.nodes[at]).collect();
    let made: BTreeSet<ValueId> =
        nodes.iter().flat_map(|node| node.outputs.iter().flatten().copied()).collect();
    let read = || nodes.iter().flat_map(|node| node.inputs.iter().flatten().copied());
    let operands: BTreeSet<ValueId> = read().filter(|value| !made.contains(value)).collect();
    let is_constant = |value: ValueId| is_constant(body, value);
    let mut only = program.clone();
    let main = &mut only.main.body;
    main.nodes = nodes.iter().map(|&node| node.clone()).collect();
    main.declared.clear();
    main.initializers
        .retain(|initializer| operands.contains(&initializer.value) && is_constant(initializer.value));
    let port = |value: ValueId, declared: ValueInfoProto| Port { value, declared };
    let declared = |(&value, datum): (&ValueId, &Datum)| {
        let stated = body.inputs.iter().find(|port| port.value == value).filter(|_| datum.tensor().is_none());
        stated.cloned().or_else(|| Some(port(value, declared(datum)?)))
    };
    main.inputs = open.iter().zip(values).map(declared).collect::<Option<_>>()?;
    main.outputs =
        seen(&nodes, is_wanted).into_iter().map(|value| port(value, ValueInfoProto::default())).collect();
    let named = open.iter().zip(values);
    let named = named.map(|(&value, datum)| (program.main.name(value).to_owned(), datum.clone()));
    let problem = Problem::of_program(only, &named.collect()).ok()?;
    let constants = body.initializers.iter().filter(|i| is_constant(i.value));
    let mut types: BTreeMap<ValueId, Type> =
        constants.filter_map(|i| Some((i.value, onnx::tensor::type_of(&i.tensor).ok()?))).collect();
    let given = open.iter().zip(values).filter_map(|(&value, datum)| Some((value, datum.tensor()?.ty())));
    types.extend(given);
    let slots = nodes.iter().flat_map(|node| &node.inputs);
    let slots = slots.filter(|operand| operand.is_none_or(|value| !made.contains(&value)));
    let types = slots.map(|operand| types.get(operand.as_ref()?).cloned()).collect();
    let names: Vec<&str> = nodes.iter().map(|node| node.rest.op_type()).collect();
    Some(Composite { name: names.join(" + "), nodes: group, types, problem })
}

/// The results that show what some nodes of a body do: the tensors, or if there are none, the results that no other of
/// the nodes reads. If some of these are wanted, only the wanted ones.
fn seen(nodes: &[&Node], is_wanted: &dyn Fn(ValueId) -> bool) -> Vec<ValueId> {
    let results = nodes.iter().flat_map(|node| {
        let results = node.outputs.iter().enumerate();
        results.filter_map(|(port, value)| Some(((*value)?, is_tensor(node, port))))
    });
    let (tensors, others): (Vec<_>, Vec<_>) = results.partition(|&(_, is_tensor)| is_tensor);
    let is_read = |value: &ValueId| nodes.iter().any(|node| node.inputs.contains(&Some(*value)));
    let others = others.into_iter().map(|(value, _)| value).filter(|value| !is_read(value));
    let all: Vec<ValueId> = if tensors.is_empty() {
        others.collect()
    } else {
        tensors.into_iter().map(|(value, _)| value).collect()
    };
    let wanted: Vec<ValueId> = all.iter().copied().filter(|&value| is_wanted(value)).collect();
    if wanted.is_empty() { all } else { wanted }
}

/// The values that something in the main scope of a program reads: a node, an output of the program, or an output of a
/// body.
pub(crate) fn read(program: &Program) -> BTreeSet<ValueId> {
    let main = &program.main.body;
    let given = |body: &Body| body.outputs.iter().map(|port| port.value).collect::<Vec<_>>();
    let mut all: BTreeSet<ValueId> = given(main).into_iter().collect();
    main.each_node(&mut |node| {
        all.extend(node.inputs.iter().flatten());
        all.extend(node.bodies().flat_map(given));
    });
    all
}

/// The declaration of an input with such a value; `None` if the value does not tell.
fn declared(datum: &Datum) -> Option<ValueInfoProto> {
    let open = |kind, dtype| ValueInfoProto { r#type: Some(open_type(kind, dtype)), ..Default::default() };
    match datum {
        Datum::Tensor(tensor) => Some(ValueInfoProto { name: None, ..value_info("", &tensor.ty()) }),
        Datum::Strings(_) => Some(open(DatumKind::Strings, DType::U8)),
        Datum::Sequence(items) => Some(open(DatumKind::Sequence, items.first()?.dtype())),
        Datum::Optional(_) => None,
    }
}

/// The reference's values for some values of a program.
pub(crate) fn values(
    program: &Program,
    of: &[ValueId],
    inputs: &BTreeMap<String, Datum>,
) -> Option<Vec<Datum>> {
    let given = |value: &ValueId| {
        let is_input = program.main.body.inputs.iter().any(|port| port.value == *value);
        inputs.get(program.main.name(*value)).filter(|_| is_input).cloned()
    };
    let computed: Vec<ValueId> = of.iter().copied().filter(|value| given(value).is_none()).collect();
    let mut made: BTreeMap<ValueId, Datum> = BTreeMap::new();
    if !computed.is_empty() {
        let Led { model, inputs, interface, .. } = lead(&program.giving_all(&computed), inputs).ok()?;
        let outputs = interp::evaluate(&model, &inputs, &Profile::DECLARED, Taps::Outputs).ok()?.outputs;
        let names = model.graph.outputs.iter().map(|output| output.name.clone());
        let mut parts = names.zip(outputs.into_iter().map(|output| output.tensor)).collect();
        for (value, Wanted { name, kind, .. }) in computed.into_iter().zip(&interface.outputs) {
            made.insert(value, kind.gather(name, &mut parts).ok()?);
        }
    }
    of.iter().map(|value| given(value).or_else(|| made.get(value).cloned())).collect()
}

/// The names of a program's nodes, if all of them are one group; otherwise `None`. A name holds the operator
/// and its attributes, with an attribute's value only if that is a word.
pub(crate) fn names(program: &Program) -> Option<Vec<String>> {
    let body = &program.main.body;
    let is_all = |group: &Vec<usize>| group.len() == body.nodes.len();
    groups(body, &|at| is_composite(&body.nodes[at]))
        .iter()
        .any(is_all)
        .then(|| body.nodes.iter().map(name).collect())
}

/// The types of the numeric constants that nodes of a program read.
pub(crate) fn constants(program: &Program) -> Vec<Type> {
    let body = &program.main.body;
    let read = body.nodes.iter().flat_map(|node| node.inputs.iter().flatten());
    let constant = |value: &ValueId| body.initializers.iter().find(|initializer| initializer.value == *value);
    read.filter_map(|value| onnx::tensor::type_of(&constant(value)?.tensor).ok()).collect()
}

/// Whether an attribute only repeats what the shapes of operands say. It is no part of a name: leaving it out cures no
/// fault, and engines differ in whether they ask for it.
fn is_said_twice(attribute: &Attribute) -> bool {
    attribute.rest.name() == "hidden_size"
}

fn name(node: &Node) -> String {
    let mut told: Vec<String> = node
        .attributes
        .iter()
        .filter(|attribute| !is_said_twice(attribute))
        .map(|attribute| match attribute.rest.r#type() {
            AttributeType::String => {
                format!("{}={}", attribute.rest.name(), String::from_utf8_lossy(attribute.rest.s()))
            }
            _ => attribute.rest.name().to_owned(),
        })
        .collect();
    told.sort();
    let op_type = node.rest.op_type();
    if told.is_empty() { op_type.to_owned() } else { format!("{op_type}({})", told.join(",")) }
}

/// The program without one of its nodes' attributes, for each attribute in turn.
pub(crate) fn without_attributes(program: &Program) -> impl Iterator<Item = Program> {
    let nodes = program.main.body.nodes.iter().enumerate();
    let all: Vec<(usize, usize)> = nodes
        .filter(|(_, node)| is_composite(node))
        .flat_map(|(at, node)| (0..node.attributes.len()).map(move |attribute| (at, attribute)))
        .collect();
    all.into_iter().map(|(at, attribute)| {
        let mut without = program.clone();
        without.main.body.nodes[at].attributes.remove(attribute);
        without
    })
}

/// How many attributes the composite operators of a program state.
pub(crate) fn attributes(program: &Program) -> usize {
    program.main.body.nodes.iter().filter(|node| is_composite(node)).map(|node| node.attributes.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine that asks for `hidden_size` and one that does not are told of by the same name.
    #[test]
    fn what_the_shapes_of_operands_say_too_is_no_part_of_a_name() {
        let named = |attributes: &str| {
            let text = format!(
                "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                 g (float[1, 1, 1] x, float[1, 4, 1] w, float[1, 4, 2] r) => (y) {{ y = LSTM<{attributes}>(x, w, r) }}"
            );
            names(&Program::from_text(&text).expect("a text")).expect("it is one group")
        };
        assert_eq!(named("hidden_size = 2, direction = \"reverse\""), ["LSTM(direction=reverse)"]);
        assert_eq!(named("hidden_size = 2"), ["LSTM"]);
    }
}
