//! Running a model: the order of its nodes, how long values live, and calls.
//!
//! What a node computes is a [`Machine`]'s business, and what a value is, too: an array, a buffer on a device, bounds.
//! This module knows no axis, no shape and no element, so that a reference and the kernels it judges can share it. A value
//! is dropped after its last use. The nodes are run in the order of the graph, those of a function where it is called.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::cone;
use crate::dataflow::{LastUse, last_uses};
use crate::graph::{Function, FunctionId, Graph, Model, Node, NodeId, NodeKind, Value};
use crate::ports::Ports;
use crate::{Tensor, Type};

/// One thing for each operand or output of a node. Most have few, and a campaign runs millions.
pub type Each<T> = SmallVec<[T; 4]>;

/// A node that is run, and where it is.
#[derive(Debug)]
pub struct Step<'a, O> {
    /// The graph that it is in: the main one, or a function's.
    pub graph: &'a Graph<O>,
    /// Its position there.
    pub id: NodeId,
    /// The node.
    pub node: &'a Node<O>,
    /// The call in the main graph that it is run by.
    pub caller: Option<NodeId>,
}

impl<'a, O> Step<'a, O> {
    /// The node of the main graph: this one, or the call that it is run by.
    pub fn main(&self) -> NodeId {
        self.caller.unwrap_or(self.id)
    }

    /// The types of the operands.
    pub fn types(&self) -> Each<Option<&'a Type>> {
        self.node.inputs.iter().map(|v| v.map(|v| self.graph.ty(v))).collect()
    }
}

/// What runs the nodes of a model.
pub trait Machine<O> {
    /// A value that several nodes may share: cloning it should cost little.
    type Value: Clone;
    /// Why a run ends early.
    type Error;

    /// The value of an input of the model. They are asked for in order.
    fn variable(&mut self, step: &Step<'_, O>) -> Result<Self::Value, Self::Error>;

    /// The value of a constant.
    fn constant(&mut self, step: &Step<'_, O>, tensor: &Arc<Tensor>) -> Result<Self::Value, Self::Error>;

    /// The values that an operator was read from ([`Node::given`]), told before it is run. Whoever only computes it does
    /// not need them.
    fn given(&mut self, _: &Step<'_, O>, _: &[&Self::Value]) {}

    /// The outputs of an operator.
    fn operator(
        &mut self,
        step: &Step<'_, O>,
        op: &O,
        operands: &[Option<&Self::Value>],
    ) -> Result<Each<Self::Value>, Self::Error>;

    /// What it means that a node lacks an operand or a callee. In a validated model none does.
    fn invalid(&mut self, step: &Step<'_, O>) -> Self::Error;

    /// An error from inside a function, as its caller tells it.
    fn within(&mut self, _: &Function<O>, cause: Self::Error) -> Self::Error {
        cause
    }
}

/// Which values of the main graph a run keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep<'k> {
    /// The values of its outputs.
    Outputs,
    /// The values of some of its outputs, by their numbers. Operators and calls that these do not depend on are not run.
    Only(&'k [usize]),
    /// All of them.
    All,
}

impl Keep<'_> {
    /// For each node of a graph, whether it is run; `None` where all are.
    fn run<O>(self, graph: &Graph<O>) -> Option<Vec<bool>> {
        let Self::Only(numbers) = self else { return None };
        let values = numbers.iter().filter_map(|&number| graph.outputs.get(number));
        Some(cone::of_any(graph, values.map(|output| output.value)))
    }
}

/// The values of a graph that were computed and not dropped.
pub type Values<V> = Ports<Option<V>>;

/// Runs a model. The result has the values of its main graph that are kept.
pub fn execute<O, M: Machine<O>>(
    model: &Model<O>,
    keep: Keep<'_>,
    machine: &mut M,
) -> Result<Values<M::Value>, M::Error> {
    Run { functions: &model.functions, machine }.graph(&model.graph, keep, None)
}

struct Run<'r, O, M> {
    functions: &'r [Function<O>],
    machine: &'r mut M,
}

/// A call of a function: where in the main graph it began, and with what.
struct Called<V> {
    by: NodeId,
    /// The arguments that are not bound yet.
    arguments: std::vec::IntoIter<V>,
}

impl<O, M: Machine<O>> Run<'_, O, M> {
    fn graph(
        &mut self,
        graph: &Graph<O>,
        keep: Keep<'_>,
        mut called: Option<Called<M::Value>>,
    ) -> Result<Values<M::Value>, M::Error> {
        let caller = called.as_ref().map(|call| call.by);
        let last = (keep != Keep::All).then(|| last_uses(graph));
        let is_run = keep.run(graph);
        let mut values: Values<M::Value> = Ports::room_for(graph);
        for (id, node) in graph.iter() {
            let is_asked_for = matches!(node.kind, NodeKind::Variable { .. } | NodeKind::Constant(_));
            if !is_asked_for && is_run.as_ref().is_some_and(|run| !run[id.index()]) {
                values.push(node.outputs.iter().map(|_| None));
                continue;
            }
            let step = Step { graph, id, node, caller };
            let results = match &node.kind {
                NodeKind::Variable { .. } => match &mut called {
                    None => [self.machine.variable(&step)?].into_iter().collect(),
                    Some(call) => match call.arguments.next() {
                        Some(argument) => [argument].into_iter().collect(),
                        None => return Err(self.machine.invalid(&step)),
                    },
                },
                NodeKind::Constant(tensor) => [self.machine.constant(&step, tensor)?].into_iter().collect(),
                NodeKind::Operator(op) => match (operands(&values, node), given(&values, node)) {
                    (Some(operands), Some(given)) => {
                        if !given.is_empty() {
                            self.machine.given(&step, &given);
                        }
                        self.machine.operator(&step, op, &operands)?
                    }
                    _ => return Err(self.machine.invalid(&step)),
                },
                NodeKind::Call(function) => self.call(&step, *function, &values)?,
            };
            values.push(results.into_iter().map(Some));
            if let Some(last) = &last {
                drop_after(id, node, last, &mut values);
            }
        }
        Ok(values)
    }

    fn call(
        &mut self,
        step: &Step<'_, O>,
        function: FunctionId,
        values: &Values<M::Value>,
    ) -> Result<Each<M::Value>, M::Error> {
        let given = operands(values, step.node);
        let arguments: Option<Vec<M::Value>> =
            given.and_then(|given| given.into_iter().map(Option::<&M::Value>::cloned).collect());
        let (Some(callee), Some(arguments)) = (self.functions.get(function.0 as usize), arguments) else {
            return Err(self.machine.invalid(step));
        };
        let call = Called { by: step.main(), arguments: arguments.into_iter() };
        // A function calls only functions before it, so this ends.
        let mut inside = Run { functions: &self.functions[..function.0 as usize], machine: self.machine };
        let inner = inside.graph(&callee.body, Keep::Outputs, Some(call));
        let inner = inner.map_err(|cause| self.machine.within(callee, cause))?;
        let outputs = callee.body.outputs.iter().map(|o| inner.get(o.value).cloned().flatten());
        outputs.collect::<Option<_>>().ok_or_else(|| self.machine.invalid(step))
    }
}

/// The operands' values; `None` if one that should be there is not.
fn operands<'v, O, V>(values: &'v Values<V>, node: &Node<O>) -> Option<Each<Option<&'v V>>> {
    let value = |v: Value| values.get(v)?.as_ref();
    node.inputs.iter().map(|v| v.map_or(Some(None), |v| value(v).map(Some))).collect()
}

/// The values that the node was read from; `None` if one of them is not there.
fn given<'v, O, V>(values: &'v Values<V>, node: &Node<O>) -> Option<Vec<&'v V>> {
    node.given.iter().map(|&v| values.get(v)?.as_ref()).collect()
}

fn drop_after<O, V>(id: NodeId, node: &Node<O>, last: &Ports<LastUse>, values: &mut Values<V>) {
    let used = node.uses();
    let unused = (0..node.outputs.len()).map(|port| Value::new(id, port));
    let is_over = |v: &Value| match last.get(*v) {
        Some(LastUse::Node(by)) => *by == id,
        Some(LastUse::Never) => true,
        Some(LastUse::Output) | None => false,
    };
    for value in used.chain(unused).filter(is_over) {
        if let Some(dead) = values.get_mut(value) {
            *dead = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::DType;

    /// Adds numbers, and knows how many of them are alive.
    #[derive(Default)]
    struct Adder {
        given: i64,
        all: Vec<Rc<i64>>,
        most: usize,
        log: Vec<(Option<u32>, u32, i64)>,
    }

    impl Adder {
        fn enter(&mut self, step: &Step<'_, ()>, n: i64) -> Rc<i64> {
            let value = Rc::new(n);
            self.all.retain(|v| Rc::strong_count(v) > 1);
            self.all.push(value.clone());
            self.most = self.most.max(self.all.len());
            self.log.push((step.caller.map(|id| id.0), step.id.0, n));
            value
        }
    }

    impl Machine<()> for Adder {
        type Value = Rc<i64>;
        type Error = String;

        fn variable(&mut self, step: &Step<'_, ()>) -> Result<Rc<i64>, String> {
            self.given += 1;
            Ok(self.enter(step, self.given))
        }
        fn constant(&mut self, step: &Step<'_, ()>, _: &Arc<Tensor>) -> Result<Rc<i64>, String> {
            Ok(self.enter(step, 100))
        }
        fn operator(
            &mut self,
            step: &Step<'_, ()>,
            (): &(),
            operands: &[Option<&Rc<i64>>],
        ) -> Result<Each<Rc<i64>>, String> {
            let sum: i64 = operands.iter().flatten().map(|v| ***v).sum();
            Ok((0..step.node.outputs.len() as i64).map(|port| self.enter(step, sum + port)).collect())
        }
        fn invalid(&mut self, step: &Step<'_, ()>) -> String {
            format!("%{}", step.id.0)
        }
        fn within(&mut self, function: &Function<()>, cause: String) -> String {
            format!("{}: {cause}", function.name)
        }
    }

    fn ty() -> Type {
        Type::new(DType::F32, [])
    }

    fn add(graph: &mut Graph<()>, operands: &[Value], outputs: usize) -> Value {
        let operands = operands.iter().copied().map(Some).collect();
        Value::new(graph.push(NodeKind::Operator(()), operands, vec![ty(); outputs]), 0)
    }

    #[test]
    fn values_are_dropped_after_their_last_use() {
        let mut graph = Graph::new();
        let mut value = graph.variable("x", ty());
        for _ in 0..50 {
            value = add(&mut graph, &[value, value], 3);
        }
        graph.output("y", value);
        let model = Model { opset: 18, functions: Vec::new(), graph };
        let mut adder = Adder::default();
        let values = execute(&model, Keep::Outputs, &mut adder).unwrap();
        assert_eq!(**values.get(value).unwrap().as_ref().unwrap(), 1 << 50);
        assert_eq!(adder.most, 1 + 3, "an operand and three outputs, two of which nothing uses");
        assert_eq!(values.get(Value::new(NodeId(1), 0)), Some(&None));

        let values = execute(&model, Keep::All, &mut Adder::default()).unwrap();
        assert!(model.graph.iter().all(|(id, _)| values.of(id).iter().all(Option::is_some)));
    }

    #[test]
    fn what_the_outputs_asked_for_do_not_depend_on_is_not_run() {
        let mut graph = Graph::new();
        let x = graph.variable("x", ty());
        let first = add(&mut graph, &[x], 1);
        let other = add(&mut graph, &[x, first], 1);
        let second = add(&mut graph, &[first, first], 1);
        graph.output("other", other);
        graph.output("second", second);
        let model = Model { opset: 18, functions: Vec::new(), graph };
        let run = |numbers: &[usize]| {
            let mut adder = Adder::default();
            let values = execute(&model, Keep::Only(numbers), &mut adder).unwrap();
            let of = |value| values.get(value).unwrap().as_deref().copied();
            (adder.log.iter().map(|(_, node, _)| *node).collect::<Vec<_>>(), of(other), of(second))
        };
        assert_eq!(run(&[1]), (vec![0, 1, 3], None, Some(2)));
        assert_eq!(run(&[0, 1]), (vec![0, 1, 2, 3], Some(2), Some(2)));
        assert_eq!(run(&[]), (vec![0], None, None));
    }

    /// f(p, q) = p + p + q + 100, and g(p, q) = f(q, p) + 100.
    fn calling() -> Model<()> {
        let constant = Tensor::from_f64_fn(&ty(), |_| 100.0);
        let mut f = Graph::new();
        let (p, q) = (f.variable("p", ty()), f.variable("q", ty()));
        let c = f.constant(constant.clone());
        let sum = add(&mut f, &[p, p, q, c], 1);
        f.output("r", sum);
        let mut g = Graph::new();
        let (p, q) = (g.variable("p", ty()), g.variable("q", ty()));
        let call = g.push(NodeKind::Call(FunctionId(0)), vec![Some(q), Some(p)], vec![ty()]);
        let c = g.constant(constant);
        let sum = add(&mut g, &[Value::new(call, 0), c], 1);
        g.output("r", sum);
        let mut graph = Graph::new();
        let (x, y) = (graph.variable("x", ty()), graph.variable("y", ty()));
        let call = graph.push(NodeKind::Call(FunctionId(1)), vec![Some(x), Some(y)], vec![ty()]);
        graph.output("z", Value::new(call, 0));
        let functions = [("f", f), ("g", g)].map(|(name, body)| Function { name: name.to_owned(), body });
        Model { opset: 18, functions: functions.into(), graph }
    }

    #[test]
    fn a_call_runs_the_body_on_its_arguments() {
        let model = calling();
        let mut adder = Adder::default();
        let values = execute(&model, Keep::Outputs, &mut adder).unwrap();
        // f(2, 1) = 2 + 2 + 1 + 100.
        assert_eq!(**values.get(model.graph.outputs[0].value).unwrap().as_ref().unwrap(), 105 + 100);
        let (main, inside) = (None, Some(2));
        let log = [
            (main, 0, 1),
            (main, 1, 2),
            (inside, 2, 100),
            (inside, 3, 105),
            (inside, 3, 100),
            (inside, 4, 205),
        ];
        assert_eq!(adder.log, log);
    }

    #[test]
    fn an_invalid_model_is_an_error_at_its_node() {
        let mut model = calling();
        model.functions[0].body.nodes[3].inputs[0] = Some(Value::new(NodeId(2), 7));
        let run = |model: &Model<()>| execute(model, Keep::Outputs, &mut Adder::default()).unwrap_err();
        assert_eq!(run(&model), "g: f: %3");
        model.functions[0].body.nodes[3].kind = NodeKind::Call(FunctionId(0));
        model.functions[0].body.nodes[3].inputs.clear();
        assert_eq!(run(&model), "g: f: %3", "a function cannot call itself");
        model.graph.nodes[2].inputs[1] = None;
        assert_eq!(run(&model), "%2", "a parameter has no value");
    }
}
