//! The nodes of a graph or function body, in order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::{NodeKind, Tensor, Type, Value};
use ops::Graph;

use super::declared::{self, Declared};
use super::uses::Uses;
use super::{Context, attribute, domain, function, operator, order};
use crate::names::{self, ALIAS};
use crate::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto};
use crate::{Error, tensor};

/// A body while it is read.
pub(super) struct Body<'p, 'c> {
    pub(super) context: &'c mut Context<'p>,
    pub(super) graph: Graph,
    /// Every name so far. A constant that only stands for attributes has no value.
    names: BTreeMap<&'p str, Option<Value>>,
    /// The values whose elements are known.
    known: BTreeMap<&'p str, Known>,
    declared: BTreeMap<&'p str, Declared>,
    /// For each node of the graph, the position that its name states.
    positions: Vec<Option<usize>>,
    uses: Uses<'p>,
    /// The attributes of the function this is the body of; `None` in a graph.
    attributes: Option<BTreeMap<&'p str, AttributeProto>>,
}

/// Elements that are known before the model is run.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) tensor: Arc<Tensor>,
    /// The graph inputs that they depend on.
    pub(super) inputs: BTreeSet<String>,
}

/// The graph of a model.
pub(super) fn graph<'p>(context: &mut Context<'p>, proto: &'p GraphProto) -> Result<Graph, Error> {
    if !proto.sparse_initializer.is_empty() {
        return Err(Error::unsupported("sparse_initializer", "constants are dense tensors"));
    }
    let outputs = proto.output.iter().map(ValueInfoProto::name);
    unique_outputs(outputs.clone())?;
    let mut body = Body::new(context, &proto.node, outputs, &proto.value_info, None)?;
    body.inputs(proto)?;
    for initializer in &proto.initializer {
        body.initializer(initializer)?;
    }
    body.nodes(&proto.node)?;
    for output in &proto.output {
        let value = body.output(output.name())?;
        Declared::read(output)?.check(output.name(), body.graph.ty(value))?;
    }
    Ok(body.finish())
}

/// The body of a function for parameters of these types.
pub(super) fn function<'p>(
    context: &mut Context<'p>,
    proto: &'p FunctionProto,
    types: &[Type],
    attributes: BTreeMap<&'p str, AttributeProto>,
) -> Result<Graph, Error> {
    let outputs = proto.output.iter().map(String::as_str);
    unique_outputs(outputs.clone())?;
    let mut body = Body::new(context, &proto.node, outputs, &proto.value_info, Some(attributes))?;
    for (name, ty) in proto.input.iter().zip(types) {
        body.variable(name, ty)?;
    }
    body.nodes(&proto.node)?;
    for output in &proto.output {
        body.output(output)?;
    }
    Ok(body.finish())
}

fn unique_outputs<'p>(names: impl Iterator<Item = &'p str>) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::invalid(format!("output `{name}`"), "there are two of that name"));
        }
    }
    Ok(())
}

impl<'p, 'c> Body<'p, 'c> {
    fn new(
        context: &'c mut Context<'p>,
        nodes: &'p [NodeProto],
        outputs: impl Iterator<Item = &'p str>,
        value_info: &'p [ValueInfoProto],
        attributes: Option<BTreeMap<&'p str, AttributeProto>>,
    ) -> Result<Self, Error> {
        let uses = Uses::of(nodes, outputs, &context.functions, context.opset);
        Ok(Self {
            context,
            graph: Graph::new(),
            names: BTreeMap::new(),
            known: BTreeMap::new(),
            declared: declared::read_all(value_info)?,
            positions: Vec::new(),
            uses,
            attributes,
        })
    }

    fn finish(self) -> Graph {
        if self.context.ours { order::restore(self.graph, &self.positions) } else { self.graph }
    }

    /// The graph's inputs. One that is an initializer as well has a default value; it is read as that constant.
    fn inputs(&mut self, proto: &'p GraphProto) -> Result<(), Error> {
        let defaults: BTreeMap<&str, _> = proto.initializer.iter().map(|i| (i.name(), i)).collect();
        let mut seen = BTreeSet::new();
        for input in &proto.input {
            let (name, declared) = (input.name(), Declared::read(input)?);
            let what = || format!("input `{name}`");
            if !seen.insert(name) {
                return Err(Error::invalid(what(), "there are two of that name"));
            }
            if let Some(default) = defaults.get(name) {
                declared.check(name, &tensor::type_of(default)?)?;
                continue;
            }
            if !declared.has_dtype() {
                return Err(Error::invalid(what(), "it has no element type"));
            }
            let known = self.context.options.known_inputs.get(name);
            let ty = match (known, declared.complete()) {
                (Some(known), _) => {
                    declared.check(name, &known.ty())?;
                    known.ty()
                }
                (None, Some(ty)) => ty,
                (None, None) => {
                    let why = format!("its type {declared} has sizes that only a value would tell");
                    return Err(Error::unsupported(what(), why));
                }
            };
            self.variable(name, &ty)?;
            if let Some(known) = known {
                let (tensor, inputs) = (Arc::new(known.clone()), BTreeSet::from([name.to_owned()]));
                self.known.insert(name, Known { tensor, inputs });
            }
        }
        Ok(())
    }

    fn variable(&mut self, name: &'p str, ty: &Type) -> Result<(), Error> {
        let id = self.push(NodeKind::Variable { name: name.to_owned() }, vec![], vec![ty.clone()], None)?;
        self.define(name, Some(Value::new(id, 0)), ty)
    }

    fn initializer(&mut self, proto: &'p crate::proto::TensorProto) -> Result<(), Error> {
        let tensor = tensor::from_proto(proto, self.context.options.external)?;
        self.constant(proto.name(), Arc::new(tensor), names::position(proto.name(), 'v'))
    }

    /// A constant. One that is only used where this program has attributes becomes no node.
    fn constant(&mut self, name: &'p str, tensor: Arc<Tensor>, position: Option<usize>) -> Result<(), Error> {
        let ty = tensor.ty();
        let value = if self.uses.only_static(name) {
            None
        } else {
            let kind = NodeKind::Constant(Arc::clone(&tensor));
            Some(Value::new(self.push(kind, vec![], vec![ty.clone()], position)?, 0))
        };
        self.define(name, value, &ty)?;
        self.known.insert(name, Known { tensor, inputs: BTreeSet::new() });
        Ok(())
    }

    fn nodes(&mut self, nodes: &'p [NodeProto]) -> Result<(), Error> {
        for (index, node) in nodes.iter().enumerate() {
            self.node(node).map_err(|e| e.inside(label(index, node)))?;
        }
        Ok(())
    }

    fn node(&mut self, node: &'p NodeProto) -> Result<(), Error> {
        let resolved = self.resolve(node)?;
        let attributes: Vec<&AttributeProto> = resolved.iter().map(AsRef::as_ref).collect();
        if let Some(proto) = self.context.functions.find(node) {
            return self.call(node, proto, &attributes);
        }
        match (domain(node.domain()), node.op_type(), self.context.declared) {
            ("", op_type, 0) => Err(Error::invalid(
                format!("operator {op_type}"),
                "the model imports no opset of the default domain",
            )),
            ("", "Constant", _) => {
                let [output] = &node.output[..] else {
                    return Err(Error::invalid("outputs", "Constant has one"));
                };
                if !node.input.is_empty() {
                    return Err(Error::invalid("inputs", "Constant has none"));
                }
                let tensor = attribute::constant(&attributes, self.context.options.external)?;
                self.constant(output, tensor, names::position(node.name(), 'n'))
            }
            ("", "Identity", _) if is_alias(node) => self.alias(node),
            ("", ..) => operator::read(self, node, &attributes),
            (domain, op_type, _) => Err(Error::unsupported(
                format!("operator {domain}.{op_type}"),
                "only ONNX's default domain and functions of the model are known",
            )),
        }
    }

    /// The node's attributes, with the values of those that refer to the function's.
    fn resolve(&self, node: &'p NodeProto) -> Result<Vec<Cow<'p, AttributeProto>>, Error> {
        let mut seen = BTreeSet::new();
        let mut all = Vec::with_capacity(node.attribute.len());
        for proto in &node.attribute {
            let what = || format!("attribute `{}`", proto.name());
            if !seen.insert(proto.name()) {
                return Err(Error::invalid(what(), "it is given twice"));
            }
            if proto.ref_attr_name().is_empty() {
                all.push(Cow::Borrowed(proto));
                continue;
            }
            let Some(bound) = &self.attributes else {
                return Err(Error::invalid(
                    what(),
                    "it refers to an attribute of a function, outside of one",
                ));
            };
            // An attribute that the call leaves out is left out here too.
            if let Some(value) = bound.get(proto.ref_attr_name()) {
                if value.r#type() != proto.r#type() {
                    return Err(Error::invalid(what(), "the attribute it refers to has another type"));
                }
                all.push(Cow::Owned(AttributeProto { name: proto.name.clone(), ..value.clone() }));
            }
        }
        Ok(all)
    }

    fn call(
        &mut self,
        node: &'p NodeProto,
        proto: usize,
        attributes: &[&AttributeProto],
    ) -> Result<(), Error> {
        let mut inputs = Vec::with_capacity(node.input.len());
        for name in &node.input {
            let value = self.operand(name)?;
            inputs.push(value.ok_or_else(|| {
                Error::unsupported("operand", "calls of functions with operands left out are not supported")
            })?);
        }
        let types = inputs.iter().map(|&v| self.graph.ty(v).clone()).collect();
        let (id, outputs) = function::instance(self.context, proto, types, attributes)?;
        let inputs = inputs.into_iter().map(Some).collect();
        let position = names::position(node.name(), 'n');
        self.push_named(node, NodeKind::Call(id), inputs, &outputs, position)
    }

    /// Another name for a value.
    fn alias(&mut self, node: &'p NodeProto) -> Result<(), Error> {
        let (name, of) = (node.output[0].as_str(), node.input[0].as_str());
        let value = self.operand(of)?.ok_or_else(|| Error::invalid("operand 0", "Identity must have one"))?;
        let ty = self.graph.ty(value).clone();
        self.define(name, Some(value), &ty)
    }

    /// Adds a node and names its outputs as the model does.
    pub(super) fn push_named(
        &mut self,
        node: &'p NodeProto,
        kind: NodeKind<ops::Op>,
        inputs: Vec<Option<Value>>,
        outputs: &[Type],
        position: Option<usize>,
    ) -> Result<(), Error> {
        let named = node.output.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        if named > outputs.len() {
            return Err(too_many_outputs(named, outputs.len()));
        }
        let id = self.push(kind, inputs, outputs.to_vec(), position)?;
        for (port, (name, ty)) in node.output.iter().zip(outputs).enumerate() {
            if !name.is_empty() {
                self.define(name, Some(Value::new(id, port)), ty)?;
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        kind: NodeKind<ops::Op>,
        inputs: Vec<Option<Value>>,
        outputs: Vec<Type>,
        position: Option<usize>,
    ) -> Result<ir::NodeId, Error> {
        if self.graph.nodes.len() >= u32::MAX as usize {
            return Err(Error::unsupported("graph", "it has more nodes than can be counted"));
        }
        self.positions.push(position);
        Ok(self.graph.push(kind, inputs, outputs))
    }

    fn define(&mut self, name: &'p str, value: Option<Value>, ty: &Type) -> Result<(), Error> {
        if name.is_empty() {
            return Err(Error::invalid("name", "it is empty, which means absent"));
        }
        if let Some(declared) = self.declared.get(name) {
            declared.check(name, ty)?;
        }
        match self.names.insert(name, value) {
            None => Ok(()),
            Some(_) => {
                Err(Error::invalid(format!("value `{name}`"), "two inputs, initializers or nodes give it"))
            }
        }
    }

    /// The value of that name; `None` for the empty name.
    pub(super) fn operand(&self, name: &str) -> Result<Option<Value>, Error> {
        if name.is_empty() {
            return Ok(None);
        }
        match self.names.get(name) {
            Some(Some(value)) => Ok(Some(*value)),
            _ => Err(Error::invalid(format!("value `{name}`"), self.uses.why_missing(name))),
        }
    }

    /// The elements of the value of that name, where they are known.
    pub(super) fn known(&self, name: &str) -> Result<Option<&Known>, Error> {
        if !self.names.contains_key(name) {
            return Err(Error::invalid(format!("value `{name}`"), self.uses.why_missing(name)));
        }
        Ok(self.known.get(name))
    }

    /// Keeps the elements of a value that follow from known ones.
    pub(super) fn learn(&mut self, name: &'p str, known: Known) {
        self.known.insert(name, known);
    }

    fn output(&mut self, name: &str) -> Result<Value, Error> {
        let inside = |e: Error| e.inside(format!("output `{name}`"));
        let value = self.operand(name).map_err(inside)?;
        let value = value.ok_or_else(|| Error::invalid("an output", "its name is empty"))?;
        self.graph.output(name, value);
        Ok(value)
    }
}

pub(super) fn too_many_outputs(named: usize, most: usize) -> Error {
    Error::invalid("outputs", format!("{named} are named, but there are at most {most}"))
}

/// Whether this program made the node to give a value a further name.
fn is_alias(node: &NodeProto) -> bool {
    let is_plain = node.attribute.is_empty() && node.input.len() == 1 && node.output.len() == 1;
    is_plain && node.name().starts_with(ALIAS)
}

/// Requires that the domain of every node is imported. The default domain is left to the nodes that need it.
pub(super) fn check_domains(nodes: &[NodeProto], imports: &BTreeMap<&str, i64>) -> Result<(), Error> {
    let of = |node: &NodeProto| domain(node.domain()).to_owned();
    let is_imported = |name: &str| name.is_empty() || imports.contains_key(name);
    match nodes.iter().enumerate().find(|(_, node)| !is_imported(&of(node))) {
        Some((index, node)) => {
            let what = format!("operator {}.{}", node.domain(), node.op_type());
            let why = format!("its domain `{}` is not imported", node.domain());
            Err(Error::invalid(what, why).inside(label(index, node)))
        }
        None => Ok(()),
    }
}

fn label(index: usize, node: &NodeProto) -> String {
    match node.name() {
        "" => format!("node #{index} ({})", node.op_type()),
        name => format!("node `{name}` ({})", node.op_type()),
    }
}
