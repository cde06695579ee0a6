//! The first operator to diverge within a graph.
//!
//! Where no operator fails alone, the graph runs once more with every value as an output: a *tap*. An engine may refuse
//! that graph, or crash on it, for a reason of its own (constants that it folds into one are no two outputs, say). Then
//! what it can fold is tapped apart from the rest, and after that each part by halves, in a bounded number of runs.

use std::collections::VecDeque;

use interp::Bounded;
use ir::{Interface, NodeId, NodeKind, Output, Value};
use ops::{Graph, Operator, Reads};
use oracles::{Expected, Symptom, Verdict, allowance, judge};
use worker::{Fault, Outcome, WorkerError};

use crate::blame::{Blamed, Whole};
use harness::case;
use harness::isolate::Isolated;

/// A value that an operator computes, as an output.
#[derive(Clone, Copy)]
struct Tap<'a> {
    value: Value,
    expected: &'a Bounded,
    /// Whether an optimiser may know it before the model runs.
    is_folded: bool,
    /// Whether the target may have other numbers there, since its integers are as narrow as it declares.
    is_narrowed: bool,
}

/// What came of a graph with some values tapped.
enum Tapped {
    /// The engine ran: the first tap that is off, if any.
    Ran(Option<NodeId>),
    /// The engine did not run.
    Failed,
    /// The engine took too long, or too much: nobody should wait for more of that.
    TooMuch,
}

impl<'a> Whole<'a> {
    /// The first node, in SSA order, whose outputs are off when values are tapped; or that none is, which hides the
    /// fault.
    pub(crate) fn first_divergent(&self) -> Result<Blamed, WorkerError> {
        let taps = self.taps();
        let mut runs = most_runs(taps.len());
        let mut judged: Vec<NodeId> = Vec::new();
        let mut first: Option<NodeId> = None;
        let mut parts = VecDeque::from([taps]);
        while let (Some(part), 1..) = (parts.pop_front(), runs) {
            let is_later = |found: NodeId| part.first().is_none_or(|tap| tap.value.node >= found);
            if first.is_some_and(is_later) {
                continue;
            }
            runs -= 1;
            match self.run(&part)? {
                Tapped::Ran(divergent) => {
                    judged.extend(part.iter().map(|tap| tap.value.node));
                    first = first.into_iter().chain(divergent).min();
                }
                Tapped::Failed => parts.extend(split(&part)),
                Tapped::TooMuch => break,
            }
        }
        if let Some(id) = first {
            return Ok(self.in_context(id));
        }
        // An output that no operator computes is not among the taps.
        let hidden_by_taps = self.isolated.flat.graph.outputs.iter().all(|o| judged.contains(&o.value.node));
        Ok(Blamed { hidden_by_taps, ..Blamed::default() })
    }

    /// Every value that an operator computes, in SSA order.
    fn taps(&self) -> Vec<Tap<'a>> {
        let Isolated { flat, evaluation, .. } = self.isolated;
        let is_folded = folded(&flat.graph);
        let narrowed = self.target.shortens_integers().then(|| allowance::beyond_i32(flat, evaluation));
        let operators = flat.graph.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Operator(_)));
        let values =
            operators.flat_map(|(id, node)| (0..node.outputs.len()).map(move |port| Value::new(id, port)));
        let tap = |value: Value| {
            let node = value.node.index();
            Some(Tap {
                value,
                expected: evaluation.taps.get(&value)?,
                is_folded: is_folded[node],
                is_narrowed: narrowed.as_ref().is_some_and(|narrowed| narrowed[node]),
            })
        };
        values.filter_map(tap).collect()
    }

    /// Runs the graph with these outputs alone, and judges them.
    fn run(&self, taps: &[Tap<'_>]) -> Result<Tapped, WorkerError> {
        let Self { target, isolated, .. } = *self;
        let mut tapped = isolated.flat.clone();
        tapped.graph.outputs.clear();
        for Tap { value, .. } in taps {
            tapped.graph.output(format!("tap{}_{}", value.node.0, value.port), *value);
        }
        let Ok(onnx) = case::export(&tapped) else { return Ok(Tapped::Failed) };
        let ran =
            target.run(&onnx, &case::named(&tapped, isolated.inputs.clone()), &Interface::of(&tapped))?;
        match ran.outcome {
            Outcome::Outputs(_) => {}
            Outcome::Fault(Fault::Timeout | Fault::Memory) => return Ok(Tapped::TooMuch),
            Outcome::Rejected { .. } | Outcome::Unsupported { .. } | Outcome::Fault(_) => {
                return Ok(Tapped::Failed);
            }
        }
        let is_off = |(tap, output): &(&Tap<'_>, &Output)| {
            let names = std::slice::from_ref(&output.name);
            let expected =
                Expected { names, outputs: std::slice::from_ref(tap.expected), profile: target.profile };
            match judge(&target.backend, &target.level, &ran.outcome, &expected) {
                Verdict::Bug(finding) => {
                    !(tap.is_narrowed && matches!(finding.symptom, Symptom::Mismatch(_)))
                }
                Verdict::Pass | Verdict::Incomparable(_) => false,
            }
        };
        Ok(Tapped::Ran(taps.iter().zip(&tapped.graph.outputs).find(is_off).map(|(tap, _)| tap.value.node)))
    }
}

/// How many runs this many taps are worth: enough to part a few that do not go together.
fn most_runs(taps: usize) -> u32 {
    3 + 2 * taps.checked_ilog2().unwrap_or_default()
}

/// Smaller parts of taps that did not go together: what an optimiser can fold and what it cannot, or else two halves.
/// None of a single tap.
fn split<'a>(taps: &[Tap<'a>]) -> Vec<Vec<Tap<'a>>> {
    let (folded, rest): (Vec<_>, Vec<_>) = taps.iter().copied().partition(|tap| tap.is_folded);
    if !folded.is_empty() && !rest.is_empty() {
        return vec![folded, rest];
    }
    if taps.len() < 2 {
        return Vec::new();
    }
    let (front, back) = taps.split_at(taps.len() / 2);
    vec![front.to_vec(), back.to_vec()]
}

/// For each node, whether an optimiser may know its values before the model runs: it depends on no input, or only on the
/// type of one.
fn folded(graph: &Graph) -> Vec<bool> {
    let mut folded: Vec<bool> = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.iter() {
        folded.push(match &node.kind {
            NodeKind::Variable { .. } => false,
            NodeKind::Operator(op) if op.facts(&graph.types(&node.inputs)).reads == Reads::Types => true,
            NodeKind::Operator(_) | NodeKind::Constant(_) | NodeKind::Call(_) => {
                node.inputs.iter().flatten().all(|v| folded[v.node.index()])
            }
        });
    }
    folded
}
