//! Attributes of nodes, and of functions with a default.

use super::{Printer, says};
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{AttributeProto, GraphProto, TensorProto, TypeProto};
use crate::text::floats::Float;
use crate::text::names::{name, separated};

impl Printer {
    pub(super) fn attribute(&mut self, attribute: &AttributeProto) {
        self.leave_out("doc_string of an attribute", says(attribute.doc_string.as_deref()));
        self.push(name(attribute.name()));
        let held = held(attribute);
        match &attribute.ref_attr_name {
            Some(of) => {
                self.leave_out("a value of an attribute that refers to another", !held.is_empty());
                if attribute.r#type() != AttributeType::Undefined {
                    self.kind(attribute.r#type());
                }
                self.push(format!(" = @{}", name(of)));
            }
            None => self.value(attribute, &held),
        }
    }

    fn value(&mut self, attribute: &AttributeProto, held: &[AttributeType]) {
        let said = attribute.r#type();
        let kind = match held {
            [only] if said == AttributeType::Undefined => *only,
            _ => said,
        };
        self.leave_out("type of an attribute", said == AttributeType::Undefined);
        let others = held.iter().filter(|&&other| other != kind).count();
        self.leave_out("a value of an attribute that is not of its type", others > 0);
        self.leave_out("that an attribute has no value", is_single(kind) && others == held.len());
        if !tells_its_kind(attribute, kind) {
            self.kind(kind);
        }
        self.push(" = ");
        self.value_of(attribute, kind);
    }

    fn kind(&mut self, kind: AttributeType) {
        self.push(format!(": {}", kind.as_str_name().to_ascii_lowercase()));
    }

    fn value_of(&mut self, attribute: &AttributeProto, kind: AttributeType) {
        match kind {
            AttributeType::Float => self.push(attribute.f().shown()),
            AttributeType::Int => self.push(attribute.i()),
            AttributeType::String => {
                let text = self.string(attribute.s());
                self.push(text);
            }
            AttributeType::Tensor => self.tensor(attribute.t.as_ref().unwrap_or(&TensorProto::default())),
            AttributeType::Graph => self.graph(attribute.g.as_ref().unwrap_or(&GraphProto::default())),
            AttributeType::TypeProto => self.ty(attribute.tp.as_ref().unwrap_or(&TypeProto::default())),
            AttributeType::Floats => {
                self.push(format!("[{}]", separated(attribute.floats.iter().map(|v| v.shown()))));
            }
            AttributeType::Ints => self.push(format!("[{}]", separated(attribute.ints.iter()))),
            AttributeType::Strings => {
                let all: Vec<String> = attribute.strings.iter().map(|bytes| self.string(bytes)).collect();
                self.push(format!("[{}]", separated(all.iter())));
            }
            AttributeType::Tensors => self.bracketed(&attribute.tensors, Self::tensor),
            AttributeType::Graphs => self.bracketed(&attribute.graphs, Self::graph),
            AttributeType::TypeProtos => self.bracketed(&attribute.type_protos, Self::ty),
            AttributeType::Undefined | AttributeType::SparseTensor | AttributeType::SparseTensors => {
                self.leave_out("value of an attribute that is a sparse tensor or of no type", true);
                self.push("[]");
            }
        }
    }

    fn bracketed<T>(&mut self, items: &[T], print: impl FnMut(&mut Self, &T)) {
        self.push("[");
        self.list(items, print);
        self.push("]");
    }
}

/// The kinds of which an attribute holds a value.
fn held(attribute: &AttributeProto) -> Vec<AttributeType> {
    let AttributeProto {
        name: _,
        ref_attr_name: _,
        doc_string: _,
        r#type: _,
        f,
        i,
        s,
        t,
        g,
        sparse_tensor,
        tp,
        floats,
        ints,
        strings,
        tensors,
        graphs,
        sparse_tensors,
        type_protos,
    } = attribute;
    let all = [
        (AttributeType::Float, f.is_some()),
        (AttributeType::Int, i.is_some()),
        (AttributeType::String, s.is_some()),
        (AttributeType::Tensor, t.is_some()),
        (AttributeType::Graph, g.is_some()),
        (AttributeType::SparseTensor, sparse_tensor.is_some()),
        (AttributeType::TypeProto, tp.is_some()),
        (AttributeType::Floats, !floats.is_empty()),
        (AttributeType::Ints, !ints.is_empty()),
        (AttributeType::Strings, !strings.is_empty()),
        (AttributeType::Tensors, !tensors.is_empty()),
        (AttributeType::Graphs, !graphs.is_empty()),
        (AttributeType::SparseTensors, !sparse_tensors.is_empty()),
        (AttributeType::TypeProtos, !type_protos.is_empty()),
    ];
    all.into_iter().filter(|&(_, is_held)| is_held).map(|(kind, _)| kind).collect()
}

/// Whether a kind is one value, as opposed to a list of them.
fn is_single(kind: AttributeType) -> bool {
    match kind {
        AttributeType::Float
        | AttributeType::Int
        | AttributeType::String
        | AttributeType::Tensor
        | AttributeType::Graph
        | AttributeType::SparseTensor
        | AttributeType::TypeProto => true,
        AttributeType::Undefined
        | AttributeType::Floats
        | AttributeType::Ints
        | AttributeType::Strings
        | AttributeType::Tensors
        | AttributeType::Graphs
        | AttributeType::SparseTensors
        | AttributeType::TypeProtos => false,
    }
}

/// Whether a value as it is written tells of what kind it is.
fn tells_its_kind(attribute: &AttributeProto, kind: AttributeType) -> bool {
    match kind {
        AttributeType::Float
        | AttributeType::Int
        | AttributeType::String
        | AttributeType::Tensor
        | AttributeType::Graph => true,
        AttributeType::Floats => !attribute.floats.is_empty(),
        AttributeType::Ints => !attribute.ints.is_empty(),
        AttributeType::Strings => !attribute.strings.is_empty(),
        AttributeType::Undefined
        | AttributeType::TypeProto
        | AttributeType::Tensors
        | AttributeType::Graphs
        | AttributeType::TypeProtos
        | AttributeType::SparseTensor
        | AttributeType::SparseTensors => false,
    }
}
