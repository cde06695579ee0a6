//! Facts about the values of a graph, from one pass over it.
//!
//! A [`Forward`] analysis derives the facts of a node's outputs from those of its operands; a [`Backward`] one
//! derives what a node asks of its operands from what is asked of its outputs. In a graph every value has one
//! definition but any number of uses: so forward facts meet only in `transfer`, while backward facts of several
//! uses are joined, which takes a lattice. Nodes are in SSA order, hence one pass reaches the fixpoint and every
//! `transfer` is called once; its result is kept in [`Ports`].
//!
//! Two analyses that need to know no operator are here: [`needed`] (what is not needed is dead code) and
//! [`last_uses`], from which [`peak_memory`] and [`most_in_use`] follow. An invalid graph gives facts too, about the
//! values it has.

use crate::ports::Ports;
use crate::{Graph, Node, NodeId, NodeKind, Output, Type, Value};

/// An analysis that follows the data.
pub trait Forward<O> {
    /// What is known of a value.
    type Fact;

    /// The facts of the node's outputs, one each, from those of its operands. An operand that is left out has
    /// none. This is also where inputs and constants get their facts.
    fn transfer(&self, id: NodeId, node: &Node<O>, operands: &[Option<&Self::Fact>]) -> Vec<Self::Fact>;
}

/// An analysis that goes against the data, from the outputs of the graph.
pub trait Backward<O> {
    /// What is known of a value: a join semilattice.
    type Fact: Clone;

    /// What is known of a value without uses; neutral in [`Backward::join`].
    fn bottom(&self) -> Self::Fact;

    /// What is known of a value with both kinds of uses. Associative, commutative and idempotent.
    fn join(&self, a: &Self::Fact, b: &Self::Fact) -> Self::Fact;

    /// What being an output of the graph says of a value.
    fn output(&self, output: &Output) -> Self::Fact;

    /// What the node's use says of its operands, and of the values that it was read from ([`Node::given`]),
    /// given what is known of its outputs. One fact for each operand, then one for each value read.
    fn transfer(&self, id: NodeId, node: &Node<O>, results: &[Self::Fact]) -> Vec<Self::Fact>;
}

/// Runs a forward analysis.
pub fn forward<O, A: Forward<O>>(graph: &Graph<O>, analysis: &A) -> Ports<A::Fact> {
    let mut facts = Ports::room_for(graph);
    for (id, node) in graph.iter() {
        let operands: Vec<_> = node.inputs.iter().map(|v| v.and_then(|v| facts.get(v))).collect();
        let outputs = analysis.transfer(id, node, &operands);
        facts.push(outputs);
    }
    facts
}

/// Runs a backward analysis.
pub fn backward<O, A: Backward<O>>(graph: &Graph<O>, analysis: &A) -> Ports<A::Fact> {
    let mut facts = Ports::filled(graph, &analysis.bottom());
    let meet_use = |facts: &mut Ports<A::Fact>, value: Value, fact: &A::Fact| {
        if let Some(known) = facts.get_mut(value) {
            *known = analysis.join(known, fact);
        }
    };
    for output in &graph.outputs {
        meet_use(&mut facts, output.value, &analysis.output(output));
    }
    for (id, node) in graph.iter().rev() {
        let operands = analysis.transfer(id, node, facts.of(id));
        let places = node.inputs.iter().copied().chain(node.given.iter().copied().map(Some));
        for (value, fact) in places.zip(&operands) {
            if let Some(value) = value {
                meet_use(&mut facts, value, fact);
            }
        }
    }
    facts
}

/// For every value whether an output of the graph depends on it. A node none of whose outputs is needed is dead.
pub fn needed<O>(graph: &Graph<O>) -> Ports<bool> {
    struct Needed;
    impl<O> Backward<O> for Needed {
        type Fact = bool;

        fn bottom(&self) -> bool {
            false
        }
        fn join(&self, a: &bool, b: &bool) -> bool {
            *a || *b
        }
        fn output(&self, _: &Output) -> bool {
            true
        }
        fn transfer(&self, _: NodeId, node: &Node<O>, results: &[bool]) -> Vec<bool> {
            vec![results.contains(&true); node.inputs.len() + node.given.len()]
        }
    }
    backward(graph, &Needed)
}

/// When a value is used for the last time, when nodes are run in the order of the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LastUse {
    /// The value has no use.
    Never,
    /// By that node.
    Node(NodeId),
    /// By the reader of the graph's outputs.
    Output,
}

/// For every value its last use, by any node, dead or not.
pub fn last_uses<O>(graph: &Graph<O>) -> Ports<LastUse> {
    // Every run of a graph asks, so this goes without the facts of a node's operands that a `Backward` makes.
    let mut uses = Ports::filled(graph, &LastUse::Never);
    let by_nodes = graph.iter().flat_map(|(id, node)| node.uses().map(move |v| (v, LastUse::Node(id))));
    let by_reader = graph.outputs.iter().map(|output| (output.value, LastUse::Output));
    for (value, use_) in by_nodes.chain(by_reader) {
        if let Some(last) = uses.get_mut(value) {
            *last = use_;
        }
    }
    uses
}

/// The most bytes of tensors that exist at one time when the graph is run node by node.
///
/// Inputs and constants exist as long as it runs. What a node computes exists from then on to its last use, and
/// together with the node's operands: nothing is computed in place. Scratch memory of kernels is not counted, and of a
/// call only what it gives: [`inline`](crate::inline::inline) it first.
pub fn peak_memory<O>(graph: &Graph<O>) -> u64 {
    let freed = freed_after(graph, &Type::bytes, is_computed);
    let resident = graph.nodes.iter().filter(|n| is_resident(&n.kind)).map(bytes);
    let mut live = resident.fold(0, u64::saturating_add);
    let mut peak = live;
    for (node, freed) in graph.nodes.iter().zip(freed) {
        live = live.saturating_add(computed(node));
        peak = peak.max(live);
        live = live.saturating_sub(freed);
    }
    peak
}

/// The peak of the summed sizes of the values that are alive at one time. A constant that only nodes read
/// counts from its first use on, because a machine may [load](crate::execute::Machine::constant) it only
/// then. A call counts by its results alone, not by what its body holds.
pub fn most_in_use<O>(graph: &Graph<O>, size: &impl Fn(&Type) -> u64) -> u64 {
    let freed = freed_after(graph, size, |_| true);
    let uses = last_uses(graph);
    let mut waits: Ports<bool> = Ports::room_for(graph);
    let (mut live, mut peak) = (0_u64, 0);
    for ((id, node), freed) in graph.iter().zip(freed) {
        let is_late = matches!(node.kind, NodeKind::Constant(_)) && matches!(uses.of(id), [LastUse::Node(_)]);
        waits.push(node.outputs.iter().map(|_| is_late));
        if !is_late {
            live = live.saturating_add(taken(node, size));
        }
        for value in node.uses() {
            if waits.get_mut(value).is_some_and(std::mem::take) {
                live = live.saturating_add(size(graph.ty(value)));
            }
        }
        peak = peak.max(live);
        live = live.saturating_sub(freed);
    }
    peak
}

/// For every node, the summed size of the values that are used for the last time by it. Only values of the
/// nodes that `counts` accepts are summed.
fn freed_after<O>(
    graph: &Graph<O>,
    size: &impl Fn(&Type) -> u64,
    counts: impl Fn(&NodeKind<O>) -> bool,
) -> Vec<u64> {
    let mut freed = vec![0_u64; graph.nodes.len()];
    let uses = last_uses(graph);
    for (id, node) in graph.iter().filter(|(_, n)| counts(&n.kind)) {
        for (ty, last) in node.outputs.iter().zip(uses.of(id)) {
            let last = match last {
                LastUse::Never => id,
                LastUse::Node(user) => *user,
                LastUse::Output => continue,
            };
            let freed = &mut freed[last.index()];
            *freed = freed.saturating_add(size(ty));
        }
    }
    freed
}

fn taken<O>(node: &Node<O>, size: &impl Fn(&Type) -> u64) -> u64 {
    node.outputs.iter().map(size).fold(0, u64::saturating_add)
}

fn bytes<O>(node: &Node<O>) -> u64 {
    taken(node, &Type::bytes)
}

fn computed<O>(node: &Node<O>) -> u64 {
    if is_computed(&node.kind) { bytes(node) } else { 0 }
}

fn is_resident<O>(kind: &NodeKind<O>) -> bool {
    matches!(kind, NodeKind::Variable { .. } | NodeKind::Constant(_))
}

/// Whether the node makes new tensors.
fn is_computed<O>(kind: &NodeKind<O>) -> bool {
    matches!(kind, NodeKind::Operator(_) | NodeKind::Call(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Tensor};

    /// Operators do not matter here.
    type Op = ();

    fn f32s(count: i64) -> Type {
        Type::new(DType::F32, [count])
    }

    fn op(graph: &mut Graph<Op>, operands: &[Value], counts: &[i64]) -> NodeId {
        node(graph, NodeKind::Operator(()), operands, counts)
    }

    fn node(graph: &mut Graph<Op>, kind: NodeKind<Op>, operands: &[Value], counts: &[i64]) -> NodeId {
        let operands = operands.iter().copied().map(Some).collect();
        graph.push(kind, operands, counts.iter().copied().map(f32s).collect())
    }

    fn first(node: NodeId) -> Value {
        Value::new(node, 0)
    }

    /// The length of the longest path from an input: a forward analysis.
    struct Depth;

    impl Forward<Op> for Depth {
        type Fact = usize;

        fn transfer(&self, _: NodeId, node: &Node<Op>, operands: &[Option<&usize>]) -> Vec<usize> {
            let depth = operands.iter().copied().flatten().max().map_or(0, |d| d + 1);
            vec![depth; node.outputs.len()]
        }
    }

    #[test]
    fn forward_facts_follow_the_longest_path() {
        let mut g = Graph::new();
        let x = g.variable("x", f32s(1));
        let a = op(&mut g, &[x], &[1]);
        let b = op(&mut g, &[x, first(a)], &[1, 1]);
        let c = g.push(NodeKind::Operator(()), vec![None, Some(Value::new(b, 1))], vec![f32s(1)]);
        let depths = forward(&g, &Depth);
        assert_eq!([x.node, a, b, c].map(|n| depths.of(n)[0]), [0, 1, 2, 3]);
        assert_eq!(depths.get(Value::new(b, 1)), Some(&2));
        assert_eq!(depths.get(Value::new(b, 2)), None);
    }

    #[test]
    fn what_no_output_depends_on_is_not_needed() {
        let mut g = Graph::new();
        let x = g.variable("x", f32s(1));
        let unused = g.variable("unused", f32s(1));
        let split = op(&mut g, &[x], &[1, 1]);
        let dead = op(&mut g, &[Value::new(split, 0), unused], &[1]);
        let twice = op(&mut g, &[Value::new(split, 1), Value::new(split, 1)], &[1]);
        g.output("y", first(twice));
        let needed = needed(&g);
        assert_eq!([x.node, unused.node, dead, twice].map(|n| needed.of(n)[0]), [true, false, false, true]);
        assert_eq!(needed.of(split), [false, true]);
    }

    #[test]
    fn the_last_use_is_the_latest_of_all() {
        let mut g = Graph::new();
        let x = g.variable("x", f32s(1));
        let a = op(&mut g, &[x], &[1]);
        let b = op(&mut g, &[x, first(a)], &[1]);
        let c = op(&mut g, &[first(b)], &[1]);
        g.output("y", first(b));
        let uses = last_uses(&g);
        let expected = [LastUse::Node(b), LastUse::Node(b), LastUse::Output, LastUse::Never];
        assert_eq!([x.node, a, b, c].map(|n| uses.of(n)[0]), expected);
    }

    #[test]
    fn memory_peaks_where_most_is_live() {
        let mut g = Graph::new();
        let x = g.variable("x", f32s(10));
        let wide = op(&mut g, &[x], &[100]);
        let narrow = op(&mut g, &[first(wide), first(wide)], &[5]);
        let unused = op(&mut g, &[first(narrow)], &[90]);
        let last = op(&mut g, &[first(narrow)], &[50]);
        g.output("y", first(last));
        // At `narrow`: x, wide, narrow. `unused` is gone again before `last`.
        assert_eq!(peak_memory(&g), 4 * (10 + 100 + 5));
        g.output("z", first(unused));
        // At `last`: x, narrow, unused, last.
        assert_eq!(peak_memory(&g), 4 * (10 + 5 + 90 + 50));
    }

    #[test]
    fn a_constant_is_in_use_from_the_first_to_the_last() {
        let mut g = Graph::new();
        let weights: Vec<Value> = [100, 200, 1].map(|n| g.constant(zeros(n))).into();
        let x = g.variable("x", f32s(10));
        let a = op(&mut g, &[x, weights[0]], &[20]);
        let b = op(&mut g, &[first(a), weights[1]], &[30]);
        let c = op(&mut g, &[first(b), weights[0]], &[5]);
        g.output("y", first(c));
        let count = |ty: &Type| ty.count().unsigned_abs();
        // At `b`, beside the constant that nothing uses, which is gone where it was: both others, `a` and `b`.
        assert_eq!(most_in_use(&g, &count), 100 + 200 + 20 + 30);
        g.output("z", weights[2]);
        assert_eq!(most_in_use(&g, &count), 1 + 100 + 200 + 20 + 30);
    }

    fn zeros(count: i64) -> Tensor {
        Tensor::zeros(&f32s(count))
    }

    #[test]
    fn an_invalid_graph_gives_facts_about_what_it_has() {
        let mut g = Graph::new();
        let a = op(&mut g, &[Value::new(NodeId(7), 0), Value::new(NodeId(0), 3)], &[1]);
        g.output("y", Value::new(a, 1));
        assert_eq!(needed(&g).of(a), [false]);
        assert_eq!(forward(&g, &Depth).of(a), [0]);
        assert_eq!(peak_memory(&g), 4);
        assert_eq!(most_in_use(&g, &Type::bytes), 4);
    }
}
