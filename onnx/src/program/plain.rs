//! Programs that do the same in plainer words: what is said in one of several ways is said in the usual one.

use std::collections::BTreeMap;

use ir::{Tensor, Type};

use super::{Body, Declaration, Initializer, Program, Scope, ValueId};
use crate::export::value_info;
use crate::import::domain;
use crate::names::static_slots;
use crate::program::Node;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{TensorProto, TensorShapeProto, ValueInfoProto, type_proto};

impl Program {
    /// The program with initializers in place of the main graph's Constant nodes that hold tensors; `None` where there are none.
    pub fn without_constant_nodes(&self) -> Option<Self> {
        let mut program = self.clone();
        let body = &mut program.main.body;
        let mut moved = Vec::new();
        body.nodes.retain(|node| match constant(node) {
            Some((value, tensor)) => {
                moved.push(Initializer { value, tensor });
                false
            }
            None => true,
        });
        let is_new = !moved.is_empty();
        body.initializers.extend(moved);
        is_new.then_some(program)
    }

    /// The program without the inputs of the main graph that have a default and no other value, with the default as a
    /// constant; `None` where there are none.
    pub fn without_defaults(&self, is_given: impl Fn(&str) -> bool) -> Option<Self> {
        let mut program = self.clone();
        let Scope { names, body, .. } = &mut program.main;
        let initializers = &body.initializers;
        let has_default = |value: ValueId| initializers.iter().any(|i| i.value == value);
        body.inputs.retain(|port| is_given(&names[port.value.index()]) || !has_default(port.value));
        (body.inputs.len() < self.main.body.inputs.len()).then_some(program)
    }

    /// The program without the defaults of inputs of the main graph that have another value; `None` where there are none.
    pub fn without_overridden_defaults(&self, is_given: impl Fn(&str) -> bool) -> Option<Self> {
        let mut program = self.clone();
        let Scope { names, body, .. } = &mut program.main;
        let inputs = &body.inputs;
        let is_input = |value: ValueId| inputs.iter().any(|port| port.value == value);
        body.initializers.retain(|i| !(is_input(i.value) && is_given(&names[i.value.index()])));
        (body.initializers.len() < self.main.body.initializers.len()).then_some(program)
    }

    /// The operands of the main graph's nodes that this program has as attributes, where they are no constants: the
    /// position of the node, the slot and the value.
    pub fn open_parameters(&self) -> Vec<(usize, usize, ValueId)> {
        let body = &self.main.body;
        let opset = self.rest.opset_import.iter().find(|entry| domain(entry.domain()).is_empty());
        let opset = opset.map_or(0, |entry| u32::try_from(entry.version()).unwrap_or(0));
        let is_constant = |value: ValueId| {
            let is_said = body.initializers.iter().any(|i| i.value == value)
                && !body.inputs.iter().any(|port| port.value == value);
            is_said || body.nodes.iter().any(|n| n.rest.op_type() == "Constant" && n.outputs == [Some(value)])
        };
        let mut open = Vec::new();
        for (at, node) in body.nodes.iter().enumerate() {
            let spec = ops::find(node.rest.op_type()).filter(|_| domain(node.rest.domain()).is_empty());
            let slots = spec.map(|spec| static_slots(spec, opset)).unwrap_or_default();
            let operands =
                slots.into_iter().filter_map(|(slot, ..)| Some((slot, (*node.inputs.get(slot)?)?)));
            open.extend(operands.filter(|&(_, v)| !is_constant(v)).map(|(slot, v)| (at, slot, v)));
        }
        open
    }

    /// The program with constants in place of operands of the main graph: the position of the node, the slot and the constant.
    pub fn with_constants(&self, constants: &[(usize, usize, Tensor)]) -> Option<Self> {
        let mut program = self.clone();
        let mut initializers = Vec::new();
        for (at, slot, tensor) in constants {
            let value = program.main.constant("parameter", tensor, &mut initializers);
            *program.main.body.nodes.get_mut(*at)?.inputs.get_mut(*slot)? = Some(value);
        }
        program.main.body.initializers.extend(initializers);
        Some(program)
    }

    /// The values that nodes of the main graph give and of which no type is said.
    pub fn undeclared(&self) -> Vec<ValueId> {
        let body = &self.main.body;
        let said = body.declared.iter().filter_map(|said| said.value);
        let said: std::collections::BTreeSet<ValueId> =
            said.chain(body.outputs.iter().map(|port| port.value)).collect();
        let given = body.nodes.iter().flat_map(|node| node.outputs.iter().flatten());
        given.copied().filter(|value| !said.contains(value)).collect()
    }

    /// The program without the declared shapes of the main graph's outputs and inner values, and of the same
    /// in all bodies. Element types stay.
    #[must_use]
    pub fn without_declared_shapes(&self) -> Self {
        let mut program = self.clone();
        for way in program.ways() {
            let Some(Body { outputs, declared, .. }) = program.body_mut(&way) else { continue };
            let outputs = outputs.iter_mut().map(|port| &mut port.declared);
            let between = declared.iter_mut().map(|said| &mut said.declared);
            for said in outputs.chain(between) {
                if let Some(type_proto::Value::TensorType(tensor)) =
                    said.r#type.as_mut().and_then(|ty| ty.value.as_mut())
                {
                    tensor.shape = None;
                }
            }
        }
        program
    }

    /// The program with other shapes said of what its bodies take, give and have in them, or none. What is said in the
    /// main graph stays.
    #[must_use]
    pub fn with_shapes_in_bodies(&self, of: impl Fn(&TensorShapeProto) -> Option<TensorShapeProto>) -> Self {
        let mut program = self.clone();
        for way in program.ways().into_iter().filter(|way| !way.is_empty()) {
            let Some(Body { inputs, outputs, declared, .. }) = program.body_mut(&way) else { continue };
            let ports = inputs.iter_mut().chain(outputs).map(|port| &mut port.declared);
            for said in ports.chain(declared.iter_mut().map(|said| &mut said.declared)) {
                if let Some(type_proto::Value::TensorType(tensor)) =
                    said.r#type.as_mut().and_then(|ty| ty.value.as_mut())
                {
                    tensor.shape = tensor.shape.as_ref().and_then(&of);
                }
            }
        }
        program
    }

    /// The program with types that are said of values of the main graph.
    #[must_use]
    pub fn declaring(&self, types: &BTreeMap<ValueId, Type>) -> Self {
        let mut program = self.clone();
        let said = types.iter().map(|(&value, ty)| Declaration {
            value: Some(value),
            declared: ValueInfoProto { name: None, ..value_info("", ty) },
        });
        program.main.body.declared.extend(said);
        program
    }

    /// The program with these values of the main graph as its outputs.
    #[must_use]
    pub fn giving_all(&self, values: &[ValueId]) -> Self {
        let mut program = self.clone();
        let port = |&value: &ValueId| super::Port { value, declared: ValueInfoProto::default() };
        program.main.body.outputs = values.iter().map(port).collect();
        program
    }
}

/// What a Constant node gives, if it holds a tensor.
fn constant(node: &Node) -> Option<(ValueId, TensorProto)> {
    let ([Some(value)], [attribute]) = (&node.outputs[..], &node.attributes[..]) else { return None };
    let is_plain = node.rest.op_type() == "Constant" && domain(node.rest.domain()).is_empty();
    let proto = &attribute.rest;
    let tensor = match (proto.name(), AttributeType::try_from(proto.r#type.unwrap_or_default()).ok()?) {
        ("value", AttributeType::Tensor) => proto.t.clone()?,
        ("value_int", AttributeType::Int) => whole(&[], &[proto.i()]),
        ("value_ints", AttributeType::Ints) => whole(&[proto.ints.len() as i64], &proto.ints),
        ("value_float", AttributeType::Float) => float(&[], &[proto.f()]),
        ("value_floats", AttributeType::Floats) => float(&[proto.floats.len() as i64], &proto.floats),
        _ => return None,
    };
    is_plain.then_some((*value, TensorProto { name: None, ..tensor }))
}

fn whole(shape: &[i64], numbers: &[i64]) -> TensorProto {
    let ty = Type::new(ir::DType::I64, shape.to_vec());
    crate::tensor::to_proto("", &Tensor::from_i128_fn(&ty, |i| i128::from(numbers[i])))
}

fn float(shape: &[i64], numbers: &[f32]) -> TensorProto {
    let ty = Type::new(ir::DType::F32, shape.to_vec());
    crate::tensor::to_proto("", &Tensor::from_f64_fn(&ty, |i| f64::from(numbers[i])))
}
