//! Changing a problem: the edited graph is built anew, so that types follow from the type rules and what no output
//! depends on any more is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::rewrite::Rewrite;
use ir::{Function, FunctionId, Node, NodeId, NodeKind, Output, Tensor, Type, Value};
use ops::{Graph, Model, Op};

use super::problem::Problem;

/// What stands for a value whose node is not needed any more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf<'v> {
    /// A new input.
    Input(&'v Tensor),
    /// A new constant.
    Constant(&'v Tensor),
}

/// A problem in which the reference's values take the place of some nodes. Outputs that these nodes gave are
/// left out, as they would only repeat the reference; `None` where no output is left.
pub(super) fn without<'v>(
    problem: &Problem,
    nodes: &[NodeId],
    values: &'v BTreeMap<Value, Tensor>,
    leaf: fn(&'v Tensor) -> Leaf<'v>,
) -> Option<Problem> {
    Edit::cutting(problem, nodes, values, leaf)?.apply(problem)
}

/// A problem with inputs in place of some nodes. A computed value that only these nodes used becomes an output,
/// or nobody would see it. A value that other nodes use too does not: an engine may treat it in another way
/// once it is an output.
pub(crate) fn cut_out(
    problem: &Problem,
    nodes: &[NodeId],
    values: &BTreeMap<Value, Tensor>,
) -> Option<Problem> {
    let graph = &problem.model.graph;
    let mut edit = Edit::cutting(problem, nodes, values, Leaf::Input)?;
    let mut outputs = edit.outputs.take().unwrap_or_default();
    let operands = |is_cut: bool| -> BTreeSet<Value> {
        let users = graph.iter().filter(|(id, _)| nodes.contains(id) == is_cut);
        users.flat_map(|(_, node)| node.inputs.iter().flatten().copied()).collect()
    };
    let is_computed =
        |value: Value| matches!(graph.node(value.node).kind, NodeKind::Operator(_) | NodeKind::Call(_));
    let unseen: Vec<Value> = operands(true).difference(&operands(false)).copied().collect();
    let mut names: BTreeSet<String> = graph.outputs.iter().map(|output| output.name.clone()).collect();
    names.extend(graph.variables().map(|(_, name, _)| name.to_owned()));
    for value in unseen.into_iter().filter(|&value| is_computed(value) && !edit.cuts.contains_key(&value)) {
        if outputs.iter().all(|output| output.value != value) {
            let mut free = (0..).map(|i| format!("cut{i}")).filter(|name| !names.contains(name));
            let name = free.next()?;
            names.insert(name.clone());
            outputs.push(Output { name, value });
        }
    }
    Edit { outputs: Some(outputs), ..edit }.apply(problem)
}

/// What is to be changed. Values and nodes are those of the problem as it is.
#[derive(Clone, Default, Debug)]
pub(super) struct Edit<'v> {
    /// Other tensors for variables and constants.
    pub(super) tensors: BTreeMap<NodeId, Tensor>,
    /// Values that become inputs or constants.
    pub(super) cuts: BTreeMap<Value, Leaf<'v>>,
    /// Values that earlier ones stand for.
    pub(super) forwards: BTreeMap<Value, Value>,
    /// Other operators, or other operands.
    pub(super) operators: BTreeMap<NodeId, (Op, Vec<Option<Value>>)>,
    /// Other outputs.
    pub(super) outputs: Option<Vec<Output>>,
}

impl<'v> Edit<'v> {
    /// The edit that puts the reference's values in place of nodes, and leaves out the outputs that are among these.
    fn cutting(
        problem: &Problem,
        nodes: &[NodeId],
        values: &'v BTreeMap<Value, Tensor>,
        leaf: fn(&'v Tensor) -> Leaf<'v>,
    ) -> Option<Self> {
        let graph = &problem.model.graph;
        let mut edit = Self::default();
        for &id in nodes {
            for port in 0..graph.node(id).outputs.len() {
                let value = Value::new(id, port);
                edit.cuts.insert(value, leaf(values.get(&value)?));
            }
        }
        let outputs = graph.outputs.iter().filter(|o| !edit.cuts.contains_key(&o.value));
        edit.outputs = Some(outputs.cloned().collect());
        Some(edit)
    }

    /// What stands for a value.
    fn resolve(&self, mut value: Value) -> Value {
        while let Some(&earlier) = self.forwards.get(&value) {
            value = earlier;
        }
        value
    }

    /// The operands of a node as they are to be.
    fn operands(&self, id: NodeId, node: &Node<Op>) -> Vec<Option<Value>> {
        let operands = self.operators.get(&id).map_or(&node.inputs, |(_, operands)| operands);
        operands.iter().map(|v| v.map(|v| self.resolve(v))).collect()
    }

    /// The problem with the change; `None` if it would break a type rule or leave nothing.
    pub(super) fn apply(&self, problem: &Problem) -> Option<Problem> {
        let graph = &problem.model.graph;
        let outputs: Vec<Output> = self
            .outputs
            .as_ref()
            .unwrap_or(&graph.outputs)
            .iter()
            .map(|o| Output { name: o.name.clone(), value: self.resolve(o.value) })
            .collect();
        let used = self.used(graph, &outputs);
        let mut inputs = problem.inputs.iter();
        let mut build = Build::new(graph);
        for (id, node) in graph.iter() {
            let input = if let NodeKind::Variable { .. } = node.kind { inputs.next() } else { None };
            for port in 0..node.outputs.len() {
                let value = Value::new(id, port);
                if let Some(&leaf) = self.cuts.get(&value).filter(|_| used.contains(&value)) {
                    build.leaf(value, leaf);
                }
            }
            let is_needed = |port| {
                let value = Value::new(id, port);
                used.contains(&value) && !self.cuts.contains_key(&value)
            };
            if !(0..node.outputs.len()).any(is_needed) {
                continue;
            }
            let other = self.tensors.get(&id);
            match &node.kind {
                NodeKind::Variable { name } => build.variable(id, name, other.or(input)?),
                NodeKind::Constant(tensor) => build.constant(id, other, tensor),
                NodeKind::Operator(op) => {
                    let op = self.operators.get(&id).map_or(op, |(op, _)| op);
                    build.operator(id, op, &self.operands(id, node))?;
                }
                NodeKind::Call(function) => {
                    build.call(&problem.model, id, *function, &self.operands(id, node))?;
                }
            }
        }
        for output in outputs {
            let value = build.rewrite.at(output.value)?;
            build.rewrite.graph.output(output.name, value);
        }
        let (graph, inputs) = (build.rewrite.graph, build.inputs);
        let model = Model { opset: problem.model.opset, functions: problem.model.functions.clone(), graph };
        (!model.graph.outputs.is_empty()).then(|| Problem::flat(without_unused_functions(model), inputs))
    }

    /// The values that the outputs depend on.
    fn used(&self, graph: &Graph, outputs: &[Output]) -> BTreeSet<Value> {
        let mut used: BTreeSet<Value> = outputs.iter().map(|o| o.value).collect();
        for (id, node) in graph.iter().rev() {
            let is_run = |port| {
                let value = Value::new(id, port);
                used.contains(&value) && !self.cuts.contains_key(&value)
            };
            if (0..node.outputs.len()).any(is_run) {
                used.extend(self.operands(id, node).into_iter().flatten());
            }
        }
        used
    }
}

/// The graph that is being built.
struct Build<'g> {
    rewrite: Rewrite<'g, Op>,
    inputs: Vec<Tensor>,
    /// The names of inputs, old and new.
    names: BTreeSet<String>,
}

impl<'g> Build<'g> {
    fn new(old: &'g Graph) -> Self {
        let names = old.variables().map(|(_, name, _)| name.to_owned()).collect();
        Self { rewrite: Rewrite::of(old), inputs: Vec::new(), names }
    }

    fn leaf(&mut self, value: Value, leaf: Leaf<'_>) {
        let copy = match leaf {
            Leaf::Constant(tensor) => self.rewrite.graph.constant(tensor.clone()),
            Leaf::Input(tensor) => {
                let mut names = (0..).map(|i| format!("x{i}")).filter(|name| !self.names.contains(name));
                let name = names.next().unwrap_or_default();
                self.names.insert(name.clone());
                self.inputs.push(tensor.clone());
                self.rewrite.graph.variable(name, tensor.ty())
            }
        };
        self.rewrite.replace(value, copy);
    }

    fn variable(&mut self, id: NodeId, name: &str, tensor: &Tensor) {
        self.inputs.push(tensor.clone());
        let copy = self.rewrite.graph.variable(name, tensor.ty());
        self.rewrite.replace(Value::new(id, 0), copy);
    }

    /// A constant with another tensor, if there is one. Its own is shared: weights are most of what a model
    /// takes in memory.
    fn constant(&mut self, id: NodeId, other: Option<&Tensor>, own: &Arc<Tensor>) {
        let tensor = other.map_or_else(|| Arc::clone(own), |other| Arc::new(other.clone()));
        let ty = tensor.ty();
        let copy = self.rewrite.graph.push(NodeKind::Constant(tensor), vec![], vec![ty]);
        self.rewrite.replace(Value::new(id, 0), Value::new(copy, 0));
    }

    fn operator(&mut self, id: NodeId, op: &Op, operands: &[Option<Value>]) -> Option<()> {
        let operands = self.rewrite.operands(operands)?;
        let kept = operands.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let copy = self.rewrite.graph.operator(op.clone(), &operands[..kept]).ok()?;
        self.rewrite.graph.nodes[copy.index()].spelling = self.rewrite.old().node(id).spelling;
        self.enter(id, copy);
        Some(())
    }

    /// A call, whose operands must still be of the function's types.
    fn call(
        &mut self,
        model: &Model,
        id: NodeId,
        function: FunctionId,
        operands: &[Option<Value>],
    ) -> Option<()> {
        let operands = self.rewrite.operands(operands)?;
        let body = &model.functions.get(function.0 as usize)?.body;
        let mut wanted = body.variables().map(|(_, _, ty)| ty);
        if !operands.iter().all(|v| v.map(|v| self.rewrite.graph.ty(v)) == wanted.next()) {
            return None;
        }
        let outputs: Vec<Type> = body.outputs.iter().map(|o| body.ty(o.value).clone()).collect();
        let copy = self.rewrite.graph.push(NodeKind::Call(function), operands, outputs);
        self.enter(id, copy);
        Some(())
    }

    /// Lets the outputs of a copy stand for those of a node. With other attributes it may have fewer of them.
    fn enter(&mut self, id: NodeId, copy: NodeId) {
        let [before, after] =
            [self.rewrite.old().node(id), self.rewrite.graph.node(copy)].map(|node| node.outputs.len());
        for port in 0..before.min(after) {
            let value = Value::new(id, port);
            // What is cut off stays so.
            if self.rewrite.at(value).is_none() {
                self.rewrite.replace(value, Value::new(copy, port));
            }
        }
    }
}

/// The model without the functions that nothing calls.
fn without_unused_functions(mut model: Model) -> Model {
    let mut called: BTreeSet<u32> = calls(&model.graph).collect();
    for i in (0..model.functions.len()).rev() {
        if called.contains(&(i as u32)) {
            called.extend(calls(&model.functions[i].body));
        }
    }
    let number = |old: u32| FunctionId(called.range(..old).count() as u32);
    let renumber = |graph: &mut Graph| {
        for node in &mut graph.nodes {
            if let NodeKind::Call(function) = &mut node.kind {
                *function = number(function.0);
            }
        }
    };
    renumber(&mut model.graph);
    let functions = model.functions.into_iter().enumerate().filter(|(i, _)| called.contains(&(*i as u32)));
    model.functions = functions
        .map(|(_, Function { name, mut body })| {
            renumber(&mut body);
            Function { name, body }
        })
        .collect();
    model
}

fn calls(graph: &Graph) -> impl Iterator<Item = u32> {
    graph.nodes.iter().filter_map(|n| match n.kind {
        NodeKind::Call(function) => Some(function.0),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use ir::{Attribute, Operation};

    use super::*;

    #[test]
    fn an_operator_with_fewer_outputs_cannot_stand_where_others_are_used() {
        let text = r#"onnxsmith 1 opset 17
graph {
  %0: f32[2] = variable "x"
  %1: f32[2], f32[1] = LayerNormalization(%0, %0) {axis = -1, epsilon = 1e-5, stash_type = 1, outputs = 2}
  return "mean" = %1.1
}
"#;
        let model: Model = text.parse().expect("a model");
        let problem =
            Problem::flat(model, vec![Tensor::from_f64_fn(&Type::new(ir::DType::F32, [2]), |_| 1.0)]);
        let (id, node) = problem.model.graph.iter().last().expect("a node");
        let with = |outputs: i64| {
            let NodeKind::Operator(op) = &node.kind else { panic!("it is an operator") };
            let mut attributes = Operation::attributes(op);
            attributes.set("outputs", Attribute::Int(outputs));
            let op =
                Op::parse("LayerNormalization", &attributes).expect("an operator").expect("its attributes");
            Edit { operators: [(id, (op, node.inputs.clone()))].into(), ..Edit::default() }.apply(&problem)
        };
        assert!(with(1).is_none());
        assert!(with(2).is_some() && with(3).is_some());
    }
}
