//! What nodes look like: operators that ONNX has, with as many operands and outputs as their signatures say, and attributes
//! that they have.
//!
//! IR.md, Nodes: "The number of inputs and outputs in a node, their types, the set of attributes specified in a node
//! and their types MUST satisfy the constraints imposed by the signature of the node's operator." That holds for all
//! nodes: of those on the way the walk asks, and of all others this does, on the side that an If does not take and in
//! functions that nothing calls. Types are left to the walk.

use ops::schema::{Absence, Arity, Parameter, Schema};
use ops::spec::Place;

use super::context::{Functions, domain, opsets};
use super::{microsoft, operator, standard};
use crate::Error;
use crate::program::{Attribute, Body, Function, Node, ValueId};
use crate::proto::attribute_proto::AttributeType;

/// The operators whose last operand, which may be repeated, may be there not even once, and since which definition. All
/// others have a minimum of one.
const NONE_NEEDED: [(&str, u32); 2] = [("Loop", 11), ("SequenceMap", 17)];

/// Requires of all nodes of a body, and of those inside them, what their operators have in an opset of the default domain.
pub(super) fn check(body: &Body, functions: &Functions<'_>, declared: u32) -> Result<(), Error> {
    for (index, node) in body.nodes.iter().enumerate() {
        let inner = || node.bodies().try_for_each(|inner| check(inner, functions, declared));
        let checked = check_node(node, functions, declared).and_then(|()| inner());
        checked.map_err(|e| e.inside(node.label(index)))?;
    }
    Ok(())
}

/// The same for the functions of a model, each in the opset that it imports.
pub(super) fn check_functions(functions: &Functions<'_>, declared: u32) -> Result<(), Error> {
    functions.all.iter().try_for_each(|function| {
        let checked = match opset_of(function, declared)? {
            Some(opset) => check(&function.scope.body, functions, opset),
            None => Ok(()),
        };
        checked.map_err(|e| e.inside(format!("function `{}`", function.rest.name())))
    })
}

/// The opset of the default domain that a function is written in, if its definitions are known.
fn opset_of(function: &Function, declared: u32) -> Result<Option<u32>, Error> {
    let imports = opsets(&function.rest.opset_import)
        .map_err(|e| e.inside(format!("function `{}`", function.rest.name())))?;
    let opset = imports.get("").map_or(Some(declared), |&version| u32::try_from(version).ok());
    Ok(opset.filter(|opset| (1..=*ir::graph::OPSETS.end()).contains(opset)))
}

/// Requires of a node, if it is an operator of the default domain, what that has in an opset.
pub(super) fn check_node(node: &Node, functions: &Functions<'_>, declared: u32) -> Result<(), Error> {
    let name = node.rest.op_type();
    if !domain(node.rest.domain()).is_empty() || functions.find(node).is_some() {
        return Ok(());
    }
    if declared == 0 {
        let why = "the model imports no opset of the default domain";
        return Err(Error::invalid(format!("operator {name}"), why));
    }
    if microsoft::in_default_domain(name).is_some() {
        return Ok(());
    }
    let schema = standard::definition(name, declared)?;
    operands(node, schema, declared)?;
    outputs(node, schema)?;
    attributes(node, schema, declared)
}

/// Requires of a node what an operator of another domain than the default one has, by its definition in the version of
/// the domain that the model imports.
pub(super) fn check_in_domain(node: &Node, schema: &Schema) -> Result<(), Error> {
    operands_of(node, schema)?;
    outputs(node, schema)?;
    for attribute in &node.attributes {
        let name = attribute.rest.name();
        let Some(own) = schema.attributes.iter().find(|own| own.name == name) else {
            let version = schema.since;
            let why =
                format!("as defined in version {version} of its domain, the operator has no such attribute");
            return Err(Error::invalid(format!("attribute `{name}`"), why));
        };
        check_kind(attribute, own.kind)?;
    }
    none_lacking(node, schema)
}

fn operands(node: &Node, schema: &Schema, declared: u32) -> Result<(), Error> {
    let spelled = standard::spelled(declared);
    if let Some(spec) = ops::find(schema.name) {
        operator::check_form(spec, node.inputs.len(), spelled)?;
    }
    operands_of(node, schema)
}

fn operands_of(node: &Node, schema: &Schema) -> Result<(), Error> {
    let open = matches!(schema.inputs.last(), Some(last) if last.arity == Arity::Variadic);
    most("operands", node.inputs.len(), &schema.inputs, open)?;
    for (i, parameter) in schema.inputs.iter().enumerate() {
        let is_needed = match parameter.arity {
            Arity::One => true,
            Arity::Optional => false,
            Arity::Variadic => {
                !NONE_NEEDED.iter().any(|&(name, since)| name == schema.name && schema.since >= since)
            }
        };
        if is_needed && is_absent(&node.inputs, i) {
            return Err(lacking("operand", i, parameter));
        }
    }
    // "There are two ways to leave an optional input or output unspecified", and what may be repeated is not optional (IR.md).
    let fixed = schema.inputs.len() - usize::from(open);
    match node.inputs.iter().skip(fixed).position(Option::is_none).filter(|_| open) {
        Some(at) => Err(lacking("operand", fixed + at, &schema.inputs[fixed])),
        None => Ok(()),
    }
}

/// Checks the outputs' number and names. Of a repeated output, each may go without a name: runtimes and
/// ONNX's checker allow that.
fn outputs(node: &Node, schema: &Schema) -> Result<(), Error> {
    let open = matches!(schema.outputs.last(), Some(last) if last.arity == Arity::Variadic);
    most("outputs", node.outputs.len(), &schema.outputs, open)?;
    for (i, parameter) in schema.outputs.iter().enumerate() {
        let is_lacking = match parameter.arity {
            Arity::One => is_absent(&node.outputs, i),
            Arity::Optional => false,
            Arity::Variadic => node.outputs.len() <= i,
        };
        if is_lacking {
            return Err(lacking("output", i, parameter));
        }
    }
    Ok(())
}

fn most(what: &str, there: usize, parameters: &[Parameter], open: bool) -> Result<(), Error> {
    let most = parameters.len();
    if open || there <= most {
        return Ok(());
    }
    Err(Error::invalid(what, format!("{there} are named, but there are at most {most}")))
}

fn is_absent(all: &[Option<ValueId>], i: usize) -> bool {
    all.get(i).is_none_or(Option::is_none)
}

fn lacking(what: &str, i: usize, parameter: &Parameter) -> Error {
    Error::invalid(format!("{what} {i}"), format!("`{}` is missing", parameter.name))
}

fn attributes(node: &Node, schema: &Schema, declared: u32) -> Result<(), Error> {
    let spelled = standard::spelled(declared);
    for attribute in &node.attributes {
        let name = attribute.rest.name();
        if let Some(own) = schema.attributes.iter().find(|own| own.name == name) {
            check_kind(attribute, own.kind)?;
        }
        // One that is an operand in this opset, whoever reads the operator says.
        let is_operand = ops::find(schema.name).is_some_and(|spec| {
            matches!(spec.place(name, spelled), Place::List(_) | Place::Scalar(_) | Place::Single(_))
        });
        let lack = standard::lacks_attribute(schema.name, name, declared).filter(|_| !is_operand);
        if let Some(why) = lack {
            return Err(Error::invalid(format!("attribute `{name}`"), why));
        }
    }
    none_lacking(node, schema)
}

/// Requires that an attribute holds what the operator's does, if it says what it holds.
fn check_kind(attribute: &Attribute, wanted: &str) -> Result<(), Error> {
    let (name, kind) = (attribute.rest.name(), attribute.rest.r#type());
    if kind == AttributeType::Undefined || wanted.eq_ignore_ascii_case(kind.as_str_name()) {
        return Ok(());
    }
    let why = format!("its type is {}, and must be {wanted}", kind.as_str_name());
    Err(Error::invalid(format!("attribute `{name}`"), why))
}

/// Requires that all attributes are there that must be.
fn none_lacking(node: &Node, schema: &Schema) -> Result<(), Error> {
    let is_there = |name: &str| node.attributes.iter().any(|attribute| attribute.rest.name() == name);
    match schema.attributes.iter().find(|a| a.absence == Absence::Forbidden && !is_there(a.name)) {
        Some(lacking) => Err(Error::invalid(format!("attribute `{}`", lacking.name), "it must be there")),
        None => Ok(()),
    }
}
