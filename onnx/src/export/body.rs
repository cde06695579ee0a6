//! The nodes of a graph or function body: names, initializers, nodes and declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use ir::{NodeId, NodeKind, Tensor, Value};
use ops::{Graph, Model};

use super::{operator, value_info};
use crate::names::{self, ALIAS, FUNCTION_DOMAIN, Names};
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{AttributeProto, NodeProto, TensorProto, ValueInfoProto};
use crate::{Error, tensor};

/// What a graph is the content of. A function has no initializers: its constants are Constant nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    Graph,
    Function,
}

/// The ONNX form of a graph, without its inputs and outputs.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) nodes: Vec<NodeProto>,
    pub(super) initializers: Vec<TensorProto>,
    pub(super) value_info: Vec<ValueInfoProto>,
}

/// A body while it is written.
pub(super) struct Writer<'m> {
    pub(super) model: &'m Model,
    pub(super) graph: &'m Graph,
    home: Home,
    taken: Names,
    /// The name of every value.
    values: Vec<Vec<String>>,
    body: Body,
}

/// Writes a valid graph of the model.
pub(super) fn write(model: &Model, graph: &Graph, home: Home) -> Result<Body, Error> {
    let mut writer =
        Writer { model, graph, home, taken: Names::default(), values: Vec::new(), body: Body::default() };
    writer.name_values()?;
    for (id, _) in graph.iter() {
        writer.node(id)?;
    }
    writer.aliases();
    writer.declare();
    Ok(writer.body)
}

impl Writer<'_> {
    /// The name of an operand; absent ones have the empty name.
    pub(super) fn name(&self, value: Option<Value>) -> String {
        value.map_or_else(String::new, |v| self.values[v.node.index()][v.port as usize].clone())
    }

    /// Adds a constant under a new name made from `base`, which it gives.
    pub(super) fn constant(&mut self, base: String, tensor: &Tensor) -> String {
        let name = self.taken.fresh(base);
        self.put_constant(&name, name.clone(), tensor);
        name
    }

    fn put_constant(&mut self, value: &str, node: String, tensor: &Tensor) {
        match self.home {
            Home::Graph => self.body.initializers.push(tensor::to_proto(value, tensor)),
            Home::Function => self.body.nodes.push(NodeProto {
                name: Some(node),
                op_type: Some("Constant".to_owned()),
                output: vec![value.to_owned()],
                attribute: vec![AttributeProto {
                    name: Some("value".to_owned()),
                    r#type: Some(AttributeType::Tensor as i32),
                    t: Some(tensor::to_proto("", tensor)),
                    ..Default::default()
                }],
                ..Default::default()
            }),
        }
    }

    /// Names every value: inputs as they are called, computed values after the first output that gives them out,
    /// all others after their position.
    fn name_values(&mut self) -> Result<(), Error> {
        for (_, name, _) in self.graph.variables() {
            if name.is_empty() {
                return Err(Error::invalid("an input", "its name is empty, which in ONNX means absent"));
            }
            self.taken.take(name);
        }
        let mut given_out: BTreeMap<Value, &str> = BTreeMap::new();
        for output in &self.graph.outputs {
            if output.name.is_empty() {
                return Err(Error::invalid("an output", "its name is empty, which in ONNX means absent"));
            }
            if self.is_variable_named(output.value, &output.name) {
                continue;
            }
            if !self.taken.take(&output.name) {
                return Err(Error::invalid(
                    format!("output `{}`", output.name),
                    "an input that is another value has the same name, which ONNX cannot express",
                ));
            }
            if self.is_computed(output.value.node) {
                given_out.entry(output.value).or_insert(&output.name);
            }
        }
        for (id, node) in self.graph.iter() {
            let name = |port| match (&node.kind, given_out.get(&Value::new(id, port))) {
                (NodeKind::Variable { name }, _) => name.clone(),
                (_, Some(&name)) => name.to_owned(),
                (_, None) => self.taken.fresh(names::value(id.index(), port)),
            };
            self.values.push((0..node.outputs.len()).map(name).collect());
        }
        Ok(())
    }

    fn is_variable_named(&self, value: Value, wanted: &str) -> bool {
        matches!(&self.graph.node(value.node).kind, NodeKind::Variable { name } if name == wanted)
    }

    fn is_computed(&self, id: NodeId) -> bool {
        !matches!(self.graph.node(id).kind, NodeKind::Variable { .. } | NodeKind::Constant(_))
    }

    fn node(&mut self, id: NodeId) -> Result<(), Error> {
        let node = self.graph.node(id);
        let mut output = self.values[id.index()].clone();
        let (op_type, domain, input, attribute) = match &node.kind {
            NodeKind::Variable { .. } => return Ok(()),
            NodeKind::Constant(tensor) => {
                let value = self.values[id.index()][0].clone();
                self.put_constant(&value, names::node(id.index()), tensor);
                return Ok(());
            }
            NodeKind::Operator(op) => {
                let (input, attribute) = operator::write(self, id, op)?;
                let unnamed = operator::unnamed(self, id, op);
                output.extend(iter::repeat_n(String::new(), unnamed.outputs as usize));
                (op.spec().name.to_owned(), None, input, attribute)
            }
            NodeKind::Call(function) => {
                let callee = &self.model.functions[function.0 as usize];
                let input = node.inputs.iter().map(|&v| self.name(v)).collect();
                (callee.name.clone(), Some(FUNCTION_DOMAIN.to_owned()), input, Vec::new())
            }
        };
        self.body.nodes.push(NodeProto {
            name: Some(names::node(id.index())),
            op_type: Some(op_type),
            domain,
            input,
            output,
            attribute,
            ..Default::default()
        });
        Ok(())
    }

    /// Identity nodes for outputs that are not the name of their value.
    fn aliases(&mut self) {
        for output in &self.graph.outputs {
            let value = self.name(Some(output.value));
            if value != output.name {
                self.body.nodes.push(NodeProto {
                    name: Some(format!("{ALIAS}.{}", output.name)),
                    op_type: Some("Identity".to_owned()),
                    input: vec![value],
                    output: vec![output.name.clone()],
                    ..Default::default()
                });
            }
        }
    }

    /// The types of computed values that are not outputs, whose types stand with them.
    fn declare(&mut self) {
        let outputs: BTreeSet<&str> = self.graph.outputs.iter().map(|o| o.name.as_str()).collect();
        let computed = self.graph.iter().filter(|&(id, _)| self.is_computed(id));
        let values = computed.flat_map(|(id, node)| self.values[id.index()].iter().zip(&node.outputs));
        let inner = values.filter(|(name, _)| !outputs.contains(name.as_str()));
        self.body.value_info = inner.map(|(name, ty)| value_info(name, ty)).collect();
    }
}
