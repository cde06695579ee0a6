//! What an edit knows of a model, and its choices.

use std::collections::{BTreeMap, BTreeSet};

use ir::{DTypes, Tensor, Type};
use ops::schema::Arity;
use ops::{Spec, schema};
use rand::RngExt;

use crate::external::External;
use crate::import::{declared_type, domain};
use crate::names::static_slots;
use crate::proto::{GraphProto, ModelProto, NodeProto};
use crate::tensor;

/// The name of values that an edit adds or refers to.
pub(super) const NEW: &str = "onnxsmith.violation";

/// What an edit has done.
pub(super) struct Edit {
    /// The name of the thing that now breaks the rule.
    pub(super) subject: String,
    /// What was done.
    pub(super) what: String,
}

/// An edit about a thing.
pub(super) fn edit(subject: impl Into<String>, what: impl Into<String>) -> Edit {
    Edit { subject: subject.into(), what: what.into() }
}

/// A valid model that is about to be broken.
pub(super) struct Site {
    /// The model, without its graph.
    pub(super) model: ModelProto,
    /// Its graph.
    pub(super) graph: GraphProto,
    /// The opset of the default domain.
    pub(super) opset: u32,
    types: BTreeMap<String, Type>,
    rng: ir::Choices,
}

/// An operand of an operator: which node, and its position in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) node: usize,
    pub(super) position: usize,
    /// Its port in the operator's row.
    pub(super) port: usize,
}

/// The dtypes that an operand may have in an opset, by the standard or here: to have another one is against the standard, and our
/// import says so.
pub(super) fn allowed(spec: &Spec, operand: Operand, opset: u32) -> DTypes {
    let schema = schema::in_force(spec.name, opset);
    let standard = schema.and_then(|s| s.inputs.get(operand.position).or(s.inputs.last()));
    standard.map_or(DTypes::NONE, |p| p.dtypes).union(spec.input_types(operand.port, opset))
}

/// Likewise, those that a result may have.
pub(super) fn given(spec: &Spec, port: usize, opset: u32) -> DTypes {
    let schema = schema::in_force(spec.name, opset);
    let standard = schema.and_then(|s| s.outputs.get(port).or(s.outputs.last()));
    standard.map_or(DTypes::NONE, |p| p.dtypes).union(spec.output_types(port, opset))
}

/// An operand that is an attribute here, whose value is a constant of the graph.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) node: usize,
    pub(super) spec: &'static Spec,
    pub(super) position: usize,
    /// Our name for the attribute.
    pub(super) name: &'static str,
    /// Whether the constant has no axis.
    pub(super) is_scalar: bool,
    pub(super) values: Vec<i64>,
    /// Whether the operand must be there.
    pub(super) is_required: bool,
    /// The type of the node's first operand.
    pub(super) x: Type,
    integers: BTreeMap<String, i64>,
}

impl Parameter {
    /// An attribute of the node that is an integer, where it is there.
    pub(super) fn attribute(&self, name: &str) -> Option<i64> {
        self.integers.get(name).copied()
    }
}

impl Site {
    /// `None` for a model without a graph or without the default domain.
    pub(super) fn new(model: &ModelProto, rng: ir::Choices) -> Option<Self> {
        let mut model = model.clone();
        let graph = model.graph.take()?;
        let default = model.opset_import.iter().find(|entry| domain(entry.domain()).is_empty())?;
        let opset = u32::try_from(default.version()).ok()?;
        let infos = graph.input.iter().chain(&graph.output).chain(&graph.value_info);
        let declared = infos.filter_map(|i| Some((i.name().to_owned(), declared_type(i)?)));
        let initial =
            graph.initializer.iter().filter_map(|t| Some((t.name().to_owned(), tensor::type_of(t).ok()?)));
        let types = declared.chain(initial).collect();
        Some(Self { model, graph, opset, types, rng })
    }

    /// The model as it is now.
    pub(super) fn finish(self) -> ModelProto {
        ModelProto { graph: Some(self.graph), ..self.model }
    }

    /// One of these; `None` if there is none.
    pub(super) fn choose<T>(&mut self, mut all: Vec<T>) -> Option<T> {
        if all.is_empty() {
            return None;
        }
        let at = self.rng.random_range(0..all.len());
        Some(all.swap_remove(at))
    }

    /// Whether a coin shows heads.
    pub(super) fn coin(&mut self) -> bool {
        self.rng.random()
    }

    /// The type of a value.
    pub(super) fn ty(&self, name: &str) -> Option<&Type> {
        self.types.get(name)
    }

    /// The node at an index.
    pub(super) fn node(&mut self, index: usize) -> &mut NodeProto {
        &mut self.graph.node[index]
    }

    /// The graph's nodes that are operators, with their rows.
    pub(super) fn operators(&self) -> Vec<(usize, &'static Spec)> {
        let nodes = self.graph.node.iter().enumerate();
        nodes
            .filter(|(_, node)| domain(node.domain()).is_empty())
            .filter_map(|(i, node)| Some((i, ops::find(node.op_type())?)))
            .collect()
    }

    /// The graph's nodes that call functions of the model.
    pub(super) fn calls(&self) -> Vec<usize> {
        let is_call = |node: &NodeProto| {
            let functions = &self.model.functions;
            functions.iter().any(|f| (f.domain(), f.name()) == (node.domain(), node.op_type()))
        };
        (0..self.graph.node.len()).filter(|&i| is_call(&self.graph.node[i])).collect()
    }

    /// The operands of all operators that are data of a known type, less those left out.
    pub(super) fn operands(&self) -> Vec<(Operand, &'static Spec)> {
        let all = self.operators().into_iter().flat_map(|(node, spec)| {
            let slots: BTreeSet<usize> = static_slots(spec, self.opset).into_iter().map(|s| s.0).collect();
            let positions = (0..self.graph.node[node].input.len()).filter(move |i| !slots.contains(i));
            positions.enumerate().map(move |(port, position)| (Operand { node, position, port }, spec))
        });
        all.filter(|(operand, _)| self.operand_type(*operand).is_some()).collect()
    }

    /// The data operands of one node.
    pub(super) fn operands_of(&self, node: usize) -> Vec<(Operand, Type)> {
        let all = self.operands().into_iter().filter(|(o, _)| o.node == node);
        all.filter_map(|(o, _)| Some((o, self.operand_type(o)?.clone()))).collect()
    }

    /// The operands of all operators that are attributes here and constants of the graph.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let all = self.operators().into_iter().flat_map(|(node, spec)| {
            static_slots(spec, self.opset)
                .into_iter()
                .map(move |(position, name, _)| (node, spec, position, name))
        });
        let read = |(node, spec, position, name): (usize, &'static Spec, usize, &'static str)| {
            let proto = &self.graph.node[node];
            let operand = proto.input.get(position).filter(|operand| !operand.is_empty())?;
            let constant = self.graph.initializer.iter().find(|t| t.name() == operand)?;
            let constant = tensor::from_proto(constant, External::Refuse).ok()?;
            let schema = schema::in_force(spec.name, self.opset)?;
            Some(Parameter {
                node,
                spec,
                position,
                name,
                is_scalar: constant.shape().is_empty(),
                values: constant.to_i128s().into_iter().map(|v| v as i64).collect(),
                is_required: schema.inputs.get(position)?.arity == Arity::One,
                x: self.ty(proto.input.first()?)?.clone(),
                integers: proto.attribute.iter().filter_map(|a| Some((a.name().to_owned(), a.i?))).collect(),
            })
        };
        all.filter_map(read).collect()
    }

    /// The type of an operand.
    pub(super) fn operand_type(&self, operand: Operand) -> Option<&Type> {
        self.ty(&self.graph.node[operand.node].input[operand.position])
    }

    /// Gives an operand another type: it becomes an initializer of zeros, or of ones where something is divided by it.
    pub(super) fn retype(&mut self, operand: Operand, ty: &Type) -> Edit {
        let Operand { node, position, port } = operand;
        let divides = port == 1 && ["Div", "Mod"].contains(&self.graph.node[node].op_type());
        let constant = Tensor::from_i128_fn(ty, |_| i128::from(divides));
        self.graph.initializer.push(tensor::to_proto(NEW, &constant));
        let was = std::mem::replace(&mut self.node(node).input[position], NEW.to_owned());
        let was = self.ty(&was).map_or_else(String::new, ToString::to_string);
        let what = format!("operand {position} of {} is {ty} instead of {was}", self.label(node));
        edit(self.graph.node[node].name(), what)
    }

    /// The operator of the node of a name.
    pub(super) fn operator_of(&self, node: &str) -> Option<String> {
        let named = self.graph.node.iter().find(|n| n.name() == node)?;
        Some(named.op_type().to_owned())
    }

    /// A node for messages.
    pub(super) fn label(&self, index: usize) -> String {
        let node = &self.graph.node[index];
        format!("node `{}` ({})", node.name(), node.op_type())
    }

    /// The names that nodes give.
    pub(super) fn computed(&self) -> Vec<String> {
        let names = self.graph.node.iter().flat_map(|n| &n.output);
        names.filter(|name| !name.is_empty()).cloned().collect()
    }
}
