//! Functions. ONNX's are untyped and have attributes; ours are typed, so each use with other types or attributes
//! becomes a function of its own. A function that holds branches, loops or sequences is written out where it is called, and one
//! that reads a shape, a count or another parameter from values that only its call tells.

use std::collections::{BTreeMap, BTreeSet};

use ir::{Function, FunctionId, NodeKind, Type};
use ops::{Graph, Model, Op, schema};
use prost::Message;

use super::Calls;
use super::context::{Context, Functions, Instance, Use, check_domains, cost, domain, opsets};
use super::declared::Declared;
use super::entrance;
use super::frame::{Bound, Frame};
use super::nodes;
use super::origin::Inside;
use super::translation::bind;
use super::walk::{Step, Walk};
use crate::Error;
use crate::names::Names;
use crate::program::{self, Node};
use crate::proto::{AttributeProto, FunctionProto};

/// How deep calls may be nested.
const MAX_DEPTH: usize = 32;

/// Adds a call.
pub(super) fn call<'p>(
    walk: &mut Walk<'p, '_>,
    node: &'p Node,
    function: usize,
    attributes: &[&AttributeProto],
) -> Result<(), Error> {
    check_conflict(node, walk.context.declared)?;
    let is_short = node.inputs.len() < walk.context.functions.all[function].scope.body.inputs.len();
    let is_plain = !is_short && node.inputs.iter().all(|&id| walk.is_tensor(id));
    let is_written_out =
        walk.context.options.calls == Calls::WrittenOut || walk.context.functions.is_written_out(function);
    if !is_plain || is_written_out {
        return write_out(walk, node, function, attributes);
    }
    let mut inputs = Vec::with_capacity(node.inputs.len());
    for &id in &node.inputs {
        let value = walk.operand(id)?;
        inputs.push(value.ok_or_else(|| Error::invalid("operand", "it is left out"))?);
    }
    let types = inputs.iter().map(|&v| walk.graph.ty(v).clone()).collect();
    let step = walk.step();
    walk.context.functions.lacks_value = false;
    let (id, outputs) = match instance(walk.context, function, types, attributes, step) {
        Err(_) if walk.context.functions.lacks_value => {
            walk.context.functions.write_out(function);
            return write_out(walk, node, function, attributes);
        }
        made => made?,
    };
    let inputs = inputs.into_iter().map(Some).collect();
    walk.push_named(node, NodeKind::Call(id), inputs, Vec::new(), &outputs).map(drop)
}

/// Requires that a call can mean nothing but the function. "In case of any conflicts the behavior (whether the model
/// local functions are given higher priority, or standard operator sets are given higher priority or this is treated as
/// error) is defined by the runtimes" (onnx.proto, `ModelProto.functions`).
fn check_conflict(node: &Node, declared: u32) -> Result<(), Error> {
    let (domain, name) = (domain(node.rest.domain()), node.rest.op_type());
    let is_operator = match domain {
        "" => schema::in_force(name, declared).is_some(),
        _ => nodes::knows(domain, name),
    };
    if !is_operator {
        return Ok(());
    }
    let why = "ONNX has an operator of that name in its domain, and which of both is meant, runtimes define";
    Err(Error::unsupported(format!("function `{name}`"), why))
}

/// Walks over a function's body in place of its call.
fn write_out<'p>(
    walk: &mut Walk<'p, '_>,
    node: &'p Node,
    function: usize,
    attributes: &[&AttributeProto],
) -> Result<(), Error> {
    let callee: &'p program::Function = &walk.context.functions.all[function];
    walk.context.is_written_out = true;
    let frame = enter(walk.context, function, node.inputs.len(), attributes)?;
    let body = &callee.scope.body;
    let given = node.inputs.iter().map(|id| id.map_or(Ok(Bound::Absent), |id| walk.frame.get(id).cloned()));
    let mut arguments: Vec<Bound> = given.collect::<Result<_, _>>()?;
    arguments.resize(body.inputs.len(), Bound::Absent);
    walk.context.functions.active.push(function);
    let results = walk.in_frame(frame, |walk| walk.inside(Inside::Call(function), body, arguments));
    walk.context.functions.active.pop();
    let results = results.map_err(|e| e.inside(format!("function `{}`", callee.rest.name())))?;
    walk.check_size(|| format!("function `{}`", callee.rest.name()))?;
    bind(walk, node, results)
}

/// The model with these functions. They are in the order of the file where that has callees before callers.
pub(super) fn finish(functions: &mut Functions<'_>, opset: u32, mut graph: Graph) -> Model {
    let mut order: Vec<usize> = (0..functions.instances.len()).collect();
    order.sort_by_key(|&i| functions.instances[i].function);
    let mut to = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| to[old] = new);
    let in_order = |(old, instance): (usize, &Instance)| {
        instance.body.nodes.iter().filter_map(callee).all(|called| to[called] < to[old])
    };
    if !functions.instances.iter().enumerate().all(in_order) {
        order = (0..order.len()).collect();
        to.clone_from(&order);
    }
    let mut names = Names::default();
    let mut typed: Vec<Function<Op>> = Vec::with_capacity(order.len());
    for old in order {
        let instance = &mut functions.instances[old];
        let mut body = std::mem::take(&mut instance.body);
        renumber(&mut body, &to);
        let name = functions.all[instance.function].rest.name().to_owned();
        typed.push(Function { name: names.fresh(name), body });
    }
    renumber(&mut graph, &to);
    Model { opset, functions: typed, graph }
}

fn callee(node: &ir::Node<Op>) -> Option<usize> {
    match node.kind {
        NodeKind::Call(FunctionId(i)) => Some(i as usize),
        _ => None,
    }
}

fn renumber(graph: &mut Graph, to: &[usize]) {
    for node in &mut graph.nodes {
        if let Some(old) = callee(node) {
            node.kind = NodeKind::Call(FunctionId(to[old] as u32));
        }
    }
}

/// The function typed for a call with operands of these types, and the types of its outputs.
fn instance(
    context: &mut Context<'_>,
    function: usize,
    types: Vec<Type>,
    given: &[&AttributeProto],
    step: Step,
) -> Result<(FunctionId, Vec<Type>), Error> {
    let mut attributes: Vec<Vec<u8>> = given.iter().map(|a| a.encode_to_vec()).collect();
    attributes.sort_unstable();
    let key = Use { function, types, attributes };
    let at = if let Some(&at) = context.functions.by_use.get(&key) {
        at
    } else {
        let body = read(context, function, &key.types, given, step)?;
        let all = &mut context.functions;
        all.instances.push(Instance { function, body });
        all.by_use.insert(key, all.instances.len() - 1);
        all.instances.len() - 1
    };
    let body = &context.functions.instances[at].body;
    let outputs = body.outputs.iter().map(|o| body.ty(o.value).clone()).collect();
    Ok((FunctionId(at as u32), outputs))
}

/// The body of a function for parameters of these types.
fn read(
    context: &mut Context<'_>,
    index: usize,
    types: &[Type],
    given: &[&AttributeProto],
    step: Step,
) -> Result<Graph, Error> {
    let callee = &context.functions.all[index];
    let all = &mut context.functions;
    all.budget = all.budget.checked_sub(cost(callee)).ok_or_else(|| {
        let what = format!("function `{}`", callee.rest.name());
        Error::unsupported(what, "functions call each other in too many ways")
    })?;
    let frame = enter(context, index, types.len(), given)?;
    context.functions.active.push(index);
    let mut walk = Walk::new(context, frame, step);
    let made = body(&mut walk, &callee.scope.body, types).map(|()| walk.finish().graph);
    context.functions.active.pop();
    made.map_err(|e| e.inside(format!("function `{}`", callee.rest.name())))
}

fn body<'p>(walk: &mut Walk<'p, '_>, body: &'p program::Body, types: &[Type]) -> Result<(), Error> {
    for (port, ty) in body.inputs.iter().zip(types) {
        entrance::parameter(walk, port.value, ty)?;
    }
    walk.content(body)?;
    body.outputs.iter().try_for_each(|port| entrance::result(walk, port))
}

/// The scope of a function for a call with so many operands and these attributes, if it may be entered.
fn enter<'p>(
    context: &mut Context<'p>,
    index: usize,
    operands: usize,
    given: &[&AttributeProto],
) -> Result<Frame<'p>, Error> {
    let function: &'p program::Function = &context.functions.all[index];
    let proto = &function.rest;
    let what = || format!("function `{}`", proto.name());
    let all = &mut context.functions;
    if all.active.contains(&index) {
        return Err(Error::invalid(what(), "it calls itself"));
    }
    if all.active.len() >= MAX_DEPTH {
        return Err(Error::unsupported(what(), "functions call each other too deeply"));
    }
    let imports = opsets(&proto.opset_import).map_err(|e| e.inside(what()))?;
    if let Some(&version) = imports.get("") {
        check_versions(function, version, context).map_err(|e| e.inside(what()))?;
    }
    let body = &function.scope.body;
    check_domains(&body.nodes, &imports).map_err(|e| e.inside(what()))?;
    if operands > body.inputs.len() {
        let why = format!("it has {} parameters and is called with {operands} operands", body.inputs.len());
        return Err(Error::invalid(what(), why));
    }
    let attributes = attributes(proto, given).map_err(|e| e.inside(what()))?;
    Frame::new(&function.scope, Some(attributes), &context.functions, context.spelled)
        .map_err(|e| e.inside(what()))
}

/// Checks that a function which imports another version of the default domain than the model means the same
/// by it: "the operator schema returned for op_type, domain, version combination for both the versions should
/// be same" (onnx.proto, `FunctionProto.opset_import`), for each operator that it has.
fn check_versions(function: &program::Function, version: i64, context: &Context<'_>) -> Result<(), Error> {
    if version == i64::from(context.declared) {
        return Ok(());
    }
    let own = u32::try_from(version).unwrap_or(0);
    let mut other = None;
    function.scope.body.each_node(&mut |node| {
        let is_operator = domain(node.rest.domain()).is_empty() && context.functions.find(node).is_none();
        let since = |version| schema::in_force(node.rest.op_type(), version).map(|schema| schema.since);
        if is_operator && since(own) != since(context.declared) {
            other = Some(node.rest.op_type());
        }
    });
    other.map_or(Ok(()), |name| {
        let why = format!("{name} is another one there than in the model's opset {}", context.declared);
        Err(Error::invalid(format!("opset {version}"), why))
    })
}

/// The value of each attribute of the function: what the call gives, or else the default.
fn attributes<'p>(
    proto: &'p FunctionProto,
    given: &[&AttributeProto],
) -> Result<BTreeMap<&'p str, AttributeProto>, Error> {
    let mut bound: BTreeMap<&str, AttributeProto> =
        proto.attribute_proto.iter().map(|a| (a.name(), a.clone())).collect();
    let names = proto.attribute.iter().map(String::as_str);
    let names: BTreeSet<&str> = names.chain(proto.attribute_proto.iter().map(AttributeProto::name)).collect();
    for &attribute in given {
        let Some(name) = names.get(attribute.name()) else {
            let what = format!("attribute `{}`", attribute.name());
            return Err(Error::invalid(what, "there is none of that name"));
        };
        bound.insert(name, attribute.clone());
    }
    Ok(bound)
}

/// Reads the functions that nothing calls, if the types of their parameters are declared. Functions that are
/// written out are left alone, and so are those that would be written out because a shape in them depends on
/// values: only a call says what these do.
pub(super) fn uncalled(context: &mut Context<'_>, step: Step) -> Result<(), Error> {
    for (index, function) in context.functions.all.iter().enumerate() {
        let is_called = context.functions.instances.iter().any(|i| i.function == index);
        if is_called || context.functions.is_written_out(index) {
            continue;
        }
        let body = &function.scope.body;
        let declared = body.declared.iter().filter_map(|said| Some((said.value?, &said.declared)));
        let declared: BTreeMap<_, _> = declared.collect();
        let ty = |port: &program::Port| {
            let name = function.scope.name(port.value);
            Declared::read(name, declared.get(&port.value)?).ok()?.complete()
        };
        if let Some(types) = body.inputs.iter().map(ty).collect::<Option<Vec<Type>>>() {
            context.functions.lacks_value = false;
            match instance(context, index, types, &[], step) {
                Err(_) if context.functions.lacks_value => {}
                read => _ = read?,
            }
        }
    }
    Ok(())
}
