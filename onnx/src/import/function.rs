//! Functions. ONNX's are untyped and have attributes; ours are typed, so each use with other types or attributes
//! becomes a function of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ir::{Function, FunctionId, NodeKind, Type};
use ops::{Graph, Model, Op};
use prost::Message;

use super::{Context, body, declared, domain, opsets};
use crate::Error;
use crate::names::Names;
use crate::proto::{AttributeProto, FunctionProto, NodeProto};

/// How deep calls may be nested.
const MAX_DEPTH: usize = 32;
/// How many nodes all typed functions together may have, beyond as many as are in the file.
const MAX_EXTRA_NODES: usize = 10_000;

/// What identifies a function: domain, name and overload.
type Key<'p> = (&'p str, &'p str, &'p str);

/// The functions of a model while it is read.
#[derive(Debug)]
pub(super) struct Functions<'p> {
    protos: Vec<&'p FunctionProto>,
    by_key: BTreeMap<Key<'p>, usize>,
    /// Typed functions, callees before callers.
    instances: Vec<Instance>,
    by_use: HashMap<Use, usize>,
    /// The functions that are being read now.
    active: Vec<usize>,
    /// How many nodes further typed functions may have.
    budget: usize,
}

#[derive(Debug)]
struct Instance {
    proto: usize,
    body: Graph,
}

/// What makes two calls use the same typed function.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Use {
    proto: usize,
    types: Vec<Type>,
    /// The attributes of the call, encoded and sorted.
    attributes: Vec<Vec<u8>>,
}

impl<'p> Functions<'p> {
    pub(super) fn new(protos: &'p [FunctionProto]) -> Result<Self, Error> {
        let mut by_key = BTreeMap::new();
        for (i, proto) in protos.iter().enumerate() {
            if proto.name().is_empty() {
                return Err(Error::invalid(format!("function #{i}"), "it has no name"));
            }
            let key = (domain(proto.domain()), proto.name(), proto.overload());
            if by_key.insert(key, i).is_some() {
                return Err(Error::invalid(format!("function `{}`", proto.name()), "it is defined twice"));
            }
        }
        let in_file = protos.iter().map(cost).fold(0, usize::saturating_add);
        Ok(Self {
            protos: protos.iter().collect(),
            by_key,
            instances: Vec::new(),
            by_use: HashMap::new(),
            active: Vec::new(),
            budget: in_file.saturating_add(MAX_EXTRA_NODES),
        })
    }

    /// The function that a node calls, if it does not name an operator.
    pub(super) fn find(&self, node: &NodeProto) -> Option<usize> {
        self.by_key.get(&(domain(node.domain()), node.op_type(), node.overload())).copied()
    }

    /// The model with these functions. They are in the order of the file where that has callees before callers.
    pub(super) fn finish(&mut self, opset: u32, mut graph: Graph) -> Model {
        let mut order: Vec<usize> = (0..self.instances.len()).collect();
        order.sort_by_key(|&i| self.instances[i].proto);
        let mut to = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| to[old] = new);
        let in_order = |(old, instance): (usize, &Instance)| {
            instance.body.nodes.iter().filter_map(callee).all(|called| to[called] < to[old])
        };
        if !self.instances.iter().enumerate().all(in_order) {
            order = (0..order.len()).collect();
            to.clone_from(&order);
        }
        let mut names = Names::default();
        let mut functions: Vec<Function<Op>> = Vec::with_capacity(order.len());
        for old in order {
            let instance = &mut self.instances[old];
            let mut body = std::mem::take(&mut instance.body);
            renumber(&mut body, &to);
            functions
                .push(Function { name: names.fresh(self.protos[instance.proto].name().to_owned()), body });
        }
        renumber(&mut graph, &to);
        Model { opset, functions, graph }
    }
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
pub(super) fn instance(
    context: &mut Context<'_>,
    proto: usize,
    types: Vec<Type>,
    given: &[&AttributeProto],
) -> Result<(FunctionId, Vec<Type>), Error> {
    let mut attributes: Vec<Vec<u8>> = given.iter().map(|a| a.encode_to_vec()).collect();
    attributes.sort_unstable();
    let key = Use { proto, types, attributes };
    let at = if let Some(&at) = context.functions.by_use.get(&key) {
        at
    } else {
        let body = read(context, proto, &key.types, given)?;
        let all = &mut context.functions;
        all.instances.push(Instance { proto, body });
        all.by_use.insert(key, all.instances.len() - 1);
        all.instances.len() - 1
    };
    let body = &context.functions.instances[at].body;
    let outputs = body.outputs.iter().map(|o| body.ty(o.value).clone()).collect();
    Ok((FunctionId(at as u32), outputs))
}

fn read(
    context: &mut Context<'_>,
    index: usize,
    types: &[Type],
    given: &[&AttributeProto],
) -> Result<Graph, Error> {
    let proto = context.functions.protos[index];
    let what = || format!("function `{}`", proto.name());
    let all = &mut context.functions;
    if all.active.contains(&index) {
        return Err(Error::invalid(what(), "it calls itself"));
    }
    let left = all.budget.checked_sub(cost(proto)).filter(|_| all.active.len() < MAX_DEPTH);
    let Some(left) = left else {
        return Err(Error::unsupported(what(), "functions call each other too deeply or in too many ways"));
    };
    all.budget = left;
    let imports = opsets(&proto.opset_import).map_err(|e| e.inside(what()))?;
    if let Some(&version) = imports.get("").filter(|&&v| v != i64::from(context.declared)) {
        return Err(Error::unsupported(
            what(),
            format!("its opset is {version}, but the model's is {}", context.declared),
        ));
    }
    body::check_domains(&proto.node, &imports).map_err(|e| e.inside(what()))?;
    if types.len() != proto.input.len() {
        let why =
            format!("it has {} parameters and is called with {} operands", proto.input.len(), types.len());
        let is_short = types.len() < proto.input.len();
        return Err(if is_short { Error::unsupported(what(), why) } else { Error::invalid(what(), why) });
    }
    let attributes = bind(proto, given).map_err(|e| e.inside(what()))?;
    context.functions.active.push(index);
    let graph = body::function(context, proto, types, attributes).map_err(|e| e.inside(what()));
    context.functions.active.pop();
    graph
}

/// What reading a function takes of the budget.
fn cost(proto: &FunctionProto) -> usize {
    proto.node.len() + 1
}

/// The value of each attribute of the function: what the call gives, or else the default.
fn bind<'p>(
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

/// Reads the functions that nothing calls, where the types of their parameters are declared.
pub(super) fn uncalled(context: &mut Context<'_>) -> Result<(), Error> {
    for (index, proto) in context.functions.protos.clone().into_iter().enumerate() {
        if context.functions.instances.iter().any(|i| i.proto == index) {
            continue;
        }
        let declared = declared::read_all(&proto.value_info)?;
        let types = proto.input.iter().map(|name| declared.get(name.as_str())?.complete());
        if let Some(types) = types.collect() {
            instance(context, index, types, &[])?;
        }
    }
    Ok(())
}
