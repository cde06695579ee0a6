//! A node as a wrong rule of an optimiser sees it: the graph around it as it was, and the new graph so far.

use ir::rewrite::Rewrite;
use ir::{Node, NodeId, NodeKind, Spelling, Tensor, Type, Value};
use ops::elementwise::{Binary, BinaryFn};
use ops::{Graph, Op};

/// What stands in the new graph for the only output of a node; `None` where the rule has nothing to say of it.
pub(super) type Rule = fn(&mut Site<'_, '_>) -> Option<Value>;

/// An operator, and what surrounds it. Values of the old graph are asked about, those of the new one are computed with.
pub(super) struct Site<'s, 'g> {
    rewrite: &'s mut Rewrite<'g, Op>,
    id: NodeId,
    /// The operator.
    pub(super) op: &'g Op,
}

/// An operator whose output is an operand.
#[derive(Clone, Copy)]
pub(super) struct Inner<'g> {
    pub(super) op: &'g Op,
    /// Its operands, in the old graph.
    pub(super) operands: &'g [Option<Value>],
}

impl Inner<'_> {
    /// One of its operands, in the old graph.
    pub(super) fn operand(&self, i: usize) -> Option<Value> {
        self.operands.get(i).copied().flatten()
    }
}

/// The graph with a rule applied wherever it holds; `None` if it holds nowhere. A replacement of another type
/// than the original is not taken.
pub(super) fn at_each(graph: &Graph, rule: Rule) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, node) in graph.iter() {
        let instead = match (&node.kind, &node.outputs[..]) {
            (NodeKind::Operator(op), [ty]) => {
                let new = rule(&mut Site { rewrite: &mut rewrite, id, op });
                new.filter(|&new| rewrite.graph.ty(new) == ty)
            }
            _ => None,
        };
        match instead {
            Some(new) => rewrite.replace(Value::new(id, 0), new),
            None => drop(rewrite.keep(id)?),
        }
        holds |= instead.is_some();
    }
    rewrite.finish().filter(|_| holds)
}

impl<'g> Site<'_, 'g> {
    fn node(&self) -> &'g Node<Op> {
        self.rewrite.old().node(self.id)
    }

    /// The operands, in the old graph.
    pub(super) fn operands(&self) -> &'g [Option<Value>] {
        &self.node().inputs
    }

    /// How the node is written.
    pub(super) fn spelling(&self) -> Spelling {
        self.node().spelling
    }

    /// An operand, in the old graph.
    pub(super) fn operand(&self, i: usize) -> Option<Value> {
        self.operands().get(i).copied().flatten()
    }

    /// What stands for a value of the old graph.
    pub(super) fn now(&self, old: Value) -> Option<Value> {
        self.rewrite.at(old)
    }

    /// What stands for an operand.
    pub(super) fn x(&self, i: usize) -> Option<Value> {
        self.now(self.operand(i)?)
    }

    /// What stands for operands of the old graph.
    pub(super) fn all_now(&self, old: &[Option<Value>]) -> Option<Vec<Option<Value>>> {
        self.rewrite.operands(old)
    }

    /// The type of a value of the old graph.
    pub(super) fn ty(&self, old: Value) -> &'g Type {
        self.rewrite.old().ty(old)
    }

    /// The type of an operand.
    pub(super) fn operand_ty(&self, i: usize) -> Option<&'g Type> {
        self.operand(i).map(|x| self.ty(x))
    }

    /// The type of the output.
    pub(super) fn result(&self) -> &'g Type {
        &self.node().outputs[0]
    }

    /// The operator that a value of the old graph is the only output of.
    pub(super) fn maker(&self, old: Value) -> Option<Inner<'g>> {
        let node = self.rewrite.old().node(old.node);
        match &node.kind {
            NodeKind::Operator(op) if node.outputs.len() == 1 => Some(Inner { op, operands: &node.inputs }),
            _ => None,
        }
    }

    /// The operator that made an operand.
    pub(super) fn inner(&self, i: usize) -> Option<Inner<'g>> {
        self.maker(self.operand(i)?)
    }

    /// Of two operands, the one that an operator of the wanted kind made, and the other one.
    pub(super) fn inner_and_other(&self, is_it: impl Fn(&Op) -> bool) -> Option<(Inner<'g>, Value)> {
        let made = |i: usize| self.inner(i).filter(|inner| is_it(inner.op));
        match (made(0), made(1)) {
            (Some(inner), _) => Some((inner, self.operand(1)?)),
            (None, Some(inner)) => Some((inner, self.operand(0)?)),
            (None, None) => None,
        }
    }

    /// An operand that is known in advance.
    pub(super) fn constant(&self, i: usize) -> Option<&'g Tensor> {
        match &self.rewrite.old().node(self.operand(i)?.node).kind {
            NodeKind::Constant(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Appends an operator to the new graph, on its values.
    pub(super) fn push(&mut self, op: impl Into<Op>, operands: &[Value]) -> Option<Value> {
        self.rewrite.push(op, operands)
    }

    /// Appends an operator some of whose operands may be absent.
    pub(super) fn push_some(&mut self, op: &Op, operands: &[Option<Value>]) -> Option<Value> {
        let id = self.rewrite.graph.operator(op.clone(), operands).ok()?;
        (self.rewrite.graph.node(id).outputs.len() == 1).then(|| Value::new(id, 0))
    }

    /// Appends a constant to the new graph.
    pub(super) fn put(&mut self, tensor: Tensor) -> Value {
        self.rewrite.graph.constant(tensor)
    }
}

/// Whether an operator is this function of two operands.
pub(super) fn is_binary(op: &Op, function: BinaryFn) -> bool {
    matches!(op, Op::Binary(Binary(f)) if *f == function)
}
