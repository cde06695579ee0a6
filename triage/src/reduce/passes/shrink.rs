//! Smaller sizes, by the operators' own type rules.
//!
//! The sizes of inputs and constants, and those among attributes, become unknowns between 1 and what they are; the
//! type rules of all operators, read symbolically, say what must hold between them. One size is then set to what is
//! wanted. Of the others, one after the other stays as it is if the rules still can be met; what is left, the solver
//! settles: a Conv that loses an input channel loses that of its weights too, and nothing else. The concrete reading
//! of the rules has the last word.

use std::collections::BTreeMap;

use graphgen::solver::{Budget, Problem as Solver, Solution};
use ir::dim::Arena;
use ir::{Node, NodeId, NodeKind, Stream, Sym, Type, Value};
use ops::rule::same_shape;
use ops::{Args, Graph, Op, Rule, TypeRule};

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;
use crate::reduce::rewrite::Edit;
use crate::reduce::scalar::{Part, slice};

/// Beyond so many unknowns, only the solutions in which everything is small are tried.
const MOST_UNKNOWNS: usize = 64;

/// How many of these solutions are tried.
const ALL_SMALL: u64 = 4;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let problem = &shown.problem;
    let sizes = sizings(problem).filter_map(move |sizing| shrunk(problem, &sizing));
    Box::new(sizes.flat_map(move |sizes| {
        [Part::First, Part::Last].into_iter().filter_map(move |part| sizes.apply(problem, part))
    }))
}

/// The problem with one size of an input or constant smaller by one, and what has to follow from that.
pub(crate) fn neighbours(problem: &Problem) -> impl Iterator<Item = Problem> {
    let axes = problem.leaves().flat_map(|(id, tensor)| {
        tensor.ty().shape.into_iter().enumerate().map(move |(axis, size)| ((id, axis), size))
    });
    let sizings = axes.filter(|&(_, size)| size > 1).map(|(axis, size)| Sizing::Axes(vec![axis], size - 1));
    sizings.filter_map(|sizing| shrunk(problem, &sizing)?.apply(problem, Part::First))
}

/// An axis of an input or constant.
type Axis = (NodeId, usize);

/// What is wanted.
enum Sizing {
    /// Everything small, as one of several random solutions.
    Small(u64),
    /// Axes of that size, and the rest as it is where it can be.
    Axes(Vec<Axis>, i64),
}

/// Everything small; then all axes of one size together, as faults that mix axes up need them equal; then each axis.
fn sizings(problem: &Problem) -> impl Iterator<Item = Sizing> {
    let mut by_size: BTreeMap<i64, Vec<Axis>> = BTreeMap::new();
    for (id, tensor) in problem.leaves() {
        for (axis, size) in tensor.ty().shape.into_iter().enumerate().filter(|&(_, size)| size > 1) {
            by_size.entry(size).or_default().push((id, axis));
        }
    }
    let together = by_size.clone().into_iter().rev().filter(|(_, axes)| axes.len() > 1);
    let single =
        by_size.into_iter().rev().flat_map(|(size, axes)| axes.into_iter().map(move |at| (size, vec![at])));
    let axes = together.chain(single).flat_map(|(size, axes)| {
        smaller(size).into_iter().map(move |wanted| Sizing::Axes(axes.clone(), wanted))
    });
    (0..ALL_SMALL).map(Sizing::Small).chain(axes)
}

/// Smaller sizes, the least first.
fn smaller(size: i64) -> Vec<i64> {
    let mut sizes = vec![1, size / 2, size - 1];
    sizes.dedup();
    sizes
}

/// Sizes that satisfy the type rules.
struct Sizes {
    leaves: BTreeMap<NodeId, Vec<i64>>,
    operators: BTreeMap<NodeId, Op>,
}

impl Sizes {
    fn apply(&self, problem: &Problem, part: Part) -> Option<Problem> {
        let graph = &problem.model.graph;
        let sizes = problem.leaves().filter_map(|(id, t)| Some((id, t, self.leaves.get(&id)?)));
        let cut = sizes.filter(|(_, t, shape)| t.ty().shape != **shape);
        let leaves = cut.map(|(id, t, shape)| (id, slice(t, shape, part)));
        let operators = self.operators.iter();
        let operators = operators.map(|(id, op)| (*id, (op.clone(), graph.node(*id).inputs.clone())));
        let edit = Edit { tensors: leaves.collect(), operators: operators.collect(), ..Edit::default() };
        edit.apply(problem)
    }
}

/// The type rules of a problem over unknown sizes.
struct Rules<'a> {
    solver: Solver<'a>,
    leaves: BTreeMap<NodeId, Type<Sym<'a>>>,
    operators: BTreeMap<NodeId, Op<Sym<'a>>>,
    /// The unknowns, with what they are now.
    unknowns: Vec<(Sym<'a>, i64)>,
}

impl<'a> Rules<'a> {
    fn new(problem: &Problem, arena: &'a Arena<'a>) -> Option<Self> {
        let (leaves, operators) = Default::default();
        let mut rules = Self { solver: Solver::new(arena), leaves, operators, unknowns: Vec::new() };
        for (id, tensor) in problem.leaves() {
            let ty = tensor.ty();
            let shape: Vec<Sym<'a>> = ty.shape.iter().map(|&size| rules.unknown(arena, size)).collect();
            rules.leaves.insert(id, Type::new(ty.dtype, shape));
        }
        let mut types: BTreeMap<Value, Type<Sym<'a>>> = BTreeMap::new();
        for (id, node) in problem.model.graph.iter() {
            let outputs = match &node.kind {
                NodeKind::Variable { .. } | NodeKind::Constant(_) => vec![rules.leaves.get(&id)?.clone()],
                NodeKind::Operator(op) => rules.operator(id, op, node, &types, arena)?,
                NodeKind::Call(function) => {
                    let body = &problem.model.functions.get(function.0 as usize)?.body;
                    rules.call(body, node, &types)?
                }
            };
            types.extend(outputs.into_iter().enumerate().map(|(port, ty)| (Value::new(id, port), ty)));
        }
        Some(rules)
    }

    /// An unknown for a size; one that cannot get smaller stays what it is.
    fn unknown(&mut self, arena: &'a Arena<'a>, size: i64) -> Sym<'a> {
        if size <= 1 {
            return size.into();
        }
        let unknown = arena.unknown(1, size);
        self.unknowns.push((unknown, size));
        unknown
    }

    fn operator(
        &mut self,
        id: NodeId,
        op: &Op,
        node: &Node<Op>,
        types: &BTreeMap<Value, Type<Sym<'a>>>,
        arena: &'a Arena<'a>,
    ) -> Option<Vec<Type<Sym<'a>>>> {
        let op: Op<Sym<'a>> = op.map(&mut |size| self.unknown(arena, size));
        let operands: Vec<_> = node.inputs.iter().map(|v| v.and_then(|v| types.get(&v))).collect();
        let outputs = op.infer(Args(&operands), &mut self.solver).ok()?;
        self.operators.insert(id, op);
        Some(outputs)
    }

    /// A function is typed for one use: its operands stay as they are.
    fn call(
        &mut self,
        body: &Graph,
        node: &Node<Op>,
        types: &BTreeMap<Value, Type<Sym<'a>>>,
    ) -> Option<Vec<Type<Sym<'a>>>> {
        for (operand, (_, _, wanted)) in node.inputs.iter().flatten().zip(body.variables()) {
            same_shape(&mut self.solver, &types.get(operand)?.shape, &wanted.lift().shape).ok()?;
        }
        Some(body.outputs.iter().map(|o| body.ty(o.value).lift()).collect())
    }

    fn settled(&self, solution: &Solution) -> Sizes {
        let value = |s: Sym<'_>| solution.value(s);
        let leaf = |(id, ty): (&NodeId, &Type<Sym<'a>>)| (*id, ty.shape.iter().map(|&d| value(d)).collect());
        Sizes {
            leaves: self.leaves.iter().map(leaf).collect(),
            operators: self.operators.iter().map(|(id, op)| (*id, op.settle(&value))).collect(),
        }
    }
}

fn shrunk(problem: &Problem, sizing: &Sizing) -> Option<Sizes> {
    let arena = Arena::new();
    let mut rules = Rules::new(problem, &arena)?;
    let stream = Stream::new(0).child("shrink");
    match *sizing {
        Sizing::Small(attempt) => {
            let solution = rules.solver.solve(&mut stream.at(attempt).rng(), Budget::default())?;
            Some(rules.settled(&solution))
        }
        Sizing::Axes(ref axes, size) => {
            for (id, axis) in axes {
                let wanted = rules.leaves.get(id)?.shape[*axis];
                rules.solver.eq(wanted, size.into()).ok()?;
            }
            let mut solution = rules.solver.solve(&mut stream.rng(), Budget::default())?;
            if rules.unknowns.len() > MOST_UNKNOWNS {
                return Some(rules.settled(&solution));
            }
            for &(unknown, now) in &rules.unknowns {
                let mut fixed = rules.solver.clone();
                if fixed.eq(unknown, now.into()).is_ok()
                    && let Some(better) = fixed.solve(&mut stream.rng(), Budget::default())
                {
                    (rules.solver, solution) = (fixed, better);
                }
            }
            Some(rules.settled(&solution))
        }
    }
}
