//! [`Program`] → `ModelProto`.

use super::{Attribute, Body, Declaration, Function, Initializer, Node, Port, Program, Scope, ValueId};
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto,
};

impl Program {
    /// The model of the program.
    pub fn write(&self) -> ModelProto {
        ModelProto {
            graph: Some(Writer(&self.main).graph(&self.main.body)),
            functions: self.functions.iter().map(function).collect(),
            ..self.rest.clone()
        }
    }
}

fn function(function: &Function) -> FunctionProto {
    let (writer, body) = (Writer(&function.scope), &function.scope.body);
    let names = |ports: &[Port]| ports.iter().map(|port| writer.name(port.value)).collect();
    FunctionProto {
        input: names(&body.inputs),
        output: names(&body.outputs),
        node: writer.nodes(body),
        value_info: writer.declared(body),
        ..function.rest.clone()
    }
}

/// Writes what lies in a scope.
struct Writer<'p>(&'p Scope);

impl Writer<'_> {
    fn graph(&self, body: &Body) -> GraphProto {
        let info = |port: &Port| self.info(port.value, &port.declared);
        let initializer =
            |i: &Initializer| TensorProto { name: Some(self.name(i.value)), ..i.tensor.clone() };
        GraphProto {
            input: body.inputs.iter().map(info).collect(),
            initializer: body.initializers.iter().map(initializer).collect(),
            node: self.nodes(body),
            output: body.outputs.iter().map(info).collect(),
            value_info: self.declared(body),
            ..body.rest.clone()
        }
    }

    fn nodes(&self, body: &Body) -> Vec<NodeProto> {
        body.nodes.iter().map(|node| self.node(node)).collect()
    }

    fn node(&self, node: &Node) -> NodeProto {
        let names = |values: &[Option<ValueId>]| {
            values.iter().map(|v| v.map_or_else(String::new, |v| self.name(v))).collect()
        };
        NodeProto {
            input: names(&node.inputs),
            output: names(&node.outputs),
            attribute: node.attributes.iter().map(|a| self.attribute(a)).collect(),
            ..node.rest.clone()
        }
    }

    fn attribute(&self, attribute: &Attribute) -> AttributeProto {
        AttributeProto {
            g: attribute.body.as_ref().map(|body| self.graph(body)),
            graphs: attribute.bodies.iter().map(|body| self.graph(body)).collect(),
            ..attribute.rest.clone()
        }
    }

    fn declared(&self, body: &Body) -> Vec<ValueInfoProto> {
        let info = |d: &Declaration| match d.value {
            Some(value) => self.info(value, &d.declared),
            None => d.declared.clone(),
        };
        body.declared.iter().map(info).collect()
    }

    fn info(&self, value: ValueId, declared: &ValueInfoProto) -> ValueInfoProto {
        ValueInfoProto { name: Some(self.name(value)), ..declared.clone() }
    }

    fn name(&self, value: ValueId) -> String {
        self.0.name(value).to_owned()
    }
}
