//! A program on its way, with the types of its values.

use std::collections::{BTreeMap, BTreeSet};

use ir::{DType, NodeKind, Tensor, Type};
use onnx::export::{export, value_info};
use onnx::external::External;
use onnx::import::declared_type;
use onnx::program::{Body, Initializer, Node, Port, Program, ValueId};
use onnx::proto::{ModelProto, TensorProto};
use onnx::{names, tensor};
use ops::operator::Batch;
use ops::{Model, Operator, Spec};

/// A program on its way. It computes what the model computes that it was made from.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The program.
    pub program: Program,
    /// The values of its inputs, by name.
    pub inputs: Vec<(String, Tensor)>,
    /// The opset.
    pub opset: u32,
    /// The types of the values of the main graph, as far as they are known.
    types: BTreeMap<ValueId, Type>,
    /// The names of the nodes that keep the slices of their first operand apart.
    apart: BTreeSet<String>,
}

impl Draft {
    /// The draft of a model, without any form; `None` if the model cannot be written.
    pub fn of(model: &Model, inputs: &[(String, Tensor)]) -> Option<Self> {
        let program = Program::read(export(model).ok()?).ok()?;
        let body = &program.main.body;
        let said = body.declared.iter().filter_map(|d| Some((d.value?, &d.declared)));
        let said =
            said.chain(body.inputs.iter().chain(&body.outputs).map(|port| (port.value, &port.declared)));
        let mut types: BTreeMap<ValueId, Type> =
            said.filter_map(|(value, info)| Some((value, declared_type(info)?))).collect();
        for Initializer { value, tensor } in &body.initializers {
            types.insert(*value, tensor::type_of(tensor).ok()?);
        }
        let apart = apart(model);
        Some(Self { program, inputs: inputs.to_vec(), opset: model.opset, types, apart })
    }

    /// The draft with its program read from another message. Values keep their types by name.
    pub(crate) fn reread(mut self, model: ModelProto) -> Option<Self> {
        let named = |(value, ty): (&ValueId, &Type)| (self.program.main.name(*value).to_owned(), ty.clone());
        let named: BTreeMap<String, Type> = self.types.iter().map(named).collect();
        self.program = Program::read(model).ok()?;
        let main = &self.program.main;
        let types = main.each_value().filter_map(|v| Some((v, named.get(main.name(v))?.clone())));
        self.types = types.collect();
        Some(self)
    }

    /// Whether each slice of a node's output along the first axis depends on the same slice of its first operand alone.
    /// A node that another form has put there does not count, although it may look like one: a node that picks a result
    /// out of the stacked results of a loop, say.
    pub(crate) fn is_apart(&self, node: &Node) -> bool {
        self.apart.contains(node.rest.name())
    }

    /// The main graph.
    pub(crate) fn body(&self) -> &Body {
        &self.program.main.body
    }

    pub(crate) fn body_mut(&mut self) -> &mut Body {
        &mut self.program.main.body
    }

    /// The type of a value; `None` where that is not known.
    pub(crate) fn ty(&self, value: ValueId) -> Option<&Type> {
        self.types.get(&value)
    }

    /// A new value of a type. Its name is this one, or made from it.
    pub(crate) fn fresh(&mut self, name: &str, ty: Type) -> ValueId {
        let value = self.program.main.fresh(name);
        self.types.insert(value, ty);
        value
    }

    /// A new initializer.
    pub(crate) fn constant(&mut self, name: &str, tensor: &Tensor) -> ValueId {
        let mut initializers = std::mem::take(&mut self.body_mut().initializers);
        let value = self.program.main.constant(name, tensor, &mut initializers);
        self.body_mut().initializers = initializers;
        self.types.insert(value, tensor.ty());
        value
    }

    /// A new initializer of int64 with one axis.
    pub(crate) fn list(&mut self, name: &str, numbers: &[i64]) -> ValueId {
        self.constant(name, &int64(&[numbers.len() as i64], numbers))
    }

    /// A new initializer of int64 without an axis.
    pub(crate) fn number(&mut self, name: &str, number: i64) -> ValueId {
        self.constant(name, &int64(&[], &[number]))
    }

    /// The tensor of an initializer that is not the default of an input.
    pub(crate) fn initializer(&self, value: ValueId) -> Option<&TensorProto> {
        let is_input = self.body().inputs.iter().any(|port| port.value == value);
        let found = self.body().initializers.iter().find(|i| i.value == value).filter(|_| !is_input);
        found.map(|initializer| &initializer.tensor)
    }

    /// The tensor of an initializer.
    pub(crate) fn tensor(&self, value: ValueId) -> Option<Tensor> {
        tensor::from_proto(self.initializer(value)?, External::Refuse).ok()
    }

    /// The numbers of an initializer of int64 with at most one axis.
    pub(crate) fn numbers(&self, value: ValueId) -> Option<Vec<i64>> {
        self.ty(value).filter(|ty| ty.dtype == DType::I64 && ty.rank() <= 1)?;
        Some(self.tensor(value)?.to_i128s().into_iter().map(|n| n as i64).collect())
    }

    /// How often a value is used: by nodes, those of bodies included, and as an output.
    pub(crate) fn uses(&self, value: ValueId) -> usize {
        fn of(body: &Body, value: ValueId) -> usize {
            let inside = body.nodes.iter().map(|node| {
                let operands = node.inputs.iter().filter(|&&operand| operand == Some(value)).count();
                operands + node.bodies().map(|body| of(body, value)).sum::<usize>()
            });
            inside.sum::<usize>() + body.outputs.iter().filter(|port| port.value == value).count()
        }
        of(self.body(), value)
    }

    /// The first node of the main graph that uses a value, or holds a body that does.
    pub(crate) fn first_use(&self, value: ValueId) -> Option<usize> {
        self.body().nodes.iter().position(|node| {
            let mut is = node.inputs.contains(&Some(value));
            node.bodies().for_each(|body| {
                body.each_node(&mut |inner| is |= inner.inputs.contains(&Some(value)));
                is |= body.outputs.iter().any(|port| port.value == value);
            });
            is
        })
    }

    /// Drops an initializer that nothing uses any more.
    pub(crate) fn drop_unused(&mut self, value: ValueId) {
        if self.uses(value) == 0 {
            self.body_mut().initializers.retain(|i| i.value != value);
        }
    }

    /// Adds an input with its value. It comes before the inputs that have a default and no value: a caller
    /// that passes inputs by position can leave out only the last ones.
    pub(crate) fn input(&mut self, value: ValueId, tensor: Tensor) {
        let declared = unnamed(&tensor.ty());
        let name = self.program.main.name(value).to_owned();
        let at = self.inputs.len().min(self.body().inputs.len());
        self.body_mut().inputs.insert(at, Port { value, declared });
        self.inputs.push((name, tensor));
    }

    /// The values that are there before a node of the main graph, with their types: inputs, constants and what earlier nodes
    /// give.
    pub(crate) fn before(&self, at: usize) -> Vec<(ValueId, Type)> {
        let body = self.body();
        let leaves =
            body.inputs.iter().map(|port| port.value).chain(body.initializers.iter().map(|i| i.value));
        let computed = body.nodes[..at].iter().flat_map(|node| node.outputs.iter().copied().flatten());
        let mut all: Vec<(ValueId, Type)> =
            leaves.chain(computed).filter_map(|v| Some((v, self.ty(v)?.clone()))).collect();
        all.dedup_by_key(|(value, _)| *value);
        all
    }
}

/// The names of the nodes that keep the slices of their first operand apart.
fn apart(model: &Model) -> BTreeSet<String> {
    let nodes = model.graph.iter().filter(|(_, node)| match &node.kind {
        NodeKind::Operator(op) => op.facts(&model.graph.types(&node.inputs)).batch == Batch::Apart,
        _ => false,
    });
    nodes.map(|(id, _)| names::node(id.index())).collect()
}

/// A tensor of int64.
pub(crate) fn int64(shape: &[i64], numbers: &[i64]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, shape.to_vec()), |i| i128::from(numbers[i]))
}

/// The declaration of a type, without a name.
pub(crate) fn unnamed(ty: &Type) -> onnx::proto::ValueInfoProto {
    onnx::proto::ValueInfoProto { name: None, ..value_info("", ty) }
}

/// The operator of a node of the default domain.
pub(crate) fn spec(node: &Node) -> Option<&'static Spec> {
    ops::find(node.rest.op_type()).filter(|_| node.rest.domain().is_empty())
}

/// The operands of a node that are attributes in our models, by slot.
pub(crate) fn parameters(node: &Node, opset: u32) -> Vec<(usize, &'static str)> {
    let slots = spec(node).map(|spec| names::static_slots(spec, opset)).unwrap_or_default();
    slots.into_iter().map(|(slot, name, _)| (slot, name)).collect()
}
