//! [`Program`] → `ModelProto`.

use super::{
    Attribute, Body, Declaration, Function, Initializer, Node, Port, Program, Scope, ValueId, sparse,
};
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto,
    ValueInfoProto,
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
        let (dense, sparse) = self.initializers(&body.initializers);
        GraphProto {
            input: body.inputs.iter().map(info).collect(),
            initializer: dense,
            sparse_initializer: sparse,
            node: self.nodes(body),
            output: body.outputs.iter().map(info).collect(),
            value_info: self.declared(body),
            ..body.rest.clone()
        }
    }

    /// The initializers, those apart that are sparse in the model and still mean the same.
    fn initializers(&self, all: &[Initializer]) -> (Vec<TensorProto>, Vec<SparseTensorProto>) {
        let (mut dense, mut kept) = (Vec::with_capacity(all.len()), Vec::new());
        for Initializer { value, tensor } in all {
            let name = Some(self.name(*value));
            let is_meant = |held: &&SparseTensorProto| {
                sparse::message(held).is_ok_and(|meant| TensorProto { name: None, ..meant } == *tensor)
            };
            match self.0.sparse.get(value).filter(is_meant).cloned() {
                Some(SparseTensorProto { values: Some(values), indices, dims }) => {
                    let values = Some(TensorProto { name, ..values });
                    kept.push(SparseTensorProto { values, indices, dims });
                }
                _ => dense.push(TensorProto { name, ..tensor.clone() }),
            }
        }
        (dense, kept)
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
