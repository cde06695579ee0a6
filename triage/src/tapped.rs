//! The values that a target has inside a graph.
//!
//! The graph runs once more with every value as an output: a *tap*. An engine may refuse that graph, or crash on it,
//! for a reason of its own: for example, it folds two values into one constant, which cannot be two outputs. Then the
//! values that the engine can fold are tapped apart from the rest, and after that each part is halved, in a bounded
//! number of runs.

use std::collections::VecDeque;

use ir::{Interface, NodeKind, Tensor, Value};
use ops::{Graph, Model, Operator, Reads};
use worker::{Fault, Outcome, WorkerError};

use harness::case;
use harness::target::Target;

/// What came of a graph with some values tapped.
pub(crate) enum Tapped {
    /// The engine ran: the values, under their [names](name).
    Ran(Outcome),
    /// The engine did not run.
    Failed,
    /// The engine took too much time or memory: nobody should wait for more of that.
    TooMuch,
}

/// What a tap is called.
pub(crate) fn name(value: Value) -> String {
    format!("tap{}_{}", value.node.0, value.port)
}

/// Runs a graph without functions with these outputs alone.
pub(crate) fn run(
    target: &Target,
    flat: &Model,
    inputs: &[Tensor],
    taps: &[Value],
) -> Result<Tapped, WorkerError> {
    let mut tapped = flat.clone();
    tapped.graph.outputs.clear();
    for &value in taps {
        tapped.graph.output(name(value), value);
    }
    let Ok(onnx) = case::export(&tapped) else { return Ok(Tapped::Failed) };
    let ran = target.run(&onnx, &case::named(&tapped, inputs.to_vec()), &Interface::of(&tapped))?;
    Ok(match ran.outcome {
        outcome @ Outcome::Outputs(_) => Tapped::Ran(outcome),
        Outcome::Fault(Fault::Timeout | Fault::Memory) => Tapped::TooMuch,
        Outcome::Rejected { .. } | Outcome::Unsupported { .. } | Outcome::Fault(_) => Tapped::Failed,
    })
}

/// The values that operators compute, in parts that are tapped one after the other.
pub(crate) struct Parts {
    waiting: VecDeque<Vec<Value>>,
    /// By node: whether an optimiser may know its values before the model runs.
    folded: Vec<bool>,
    /// How many more may run.
    runs: u32,
}

impl Parts {
    /// All in one part, in SSA order.
    pub(crate) fn of(graph: &Graph) -> Self {
        let operators = graph.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Operator(_)));
        let values =
            operators.flat_map(|(id, node)| (0..node.outputs.len()).map(move |port| Value::new(id, port)));
        let taps: Vec<Value> = values.collect();
        Self { runs: most_runs(taps.len()), waiting: VecDeque::from([taps]), folded: folded(graph) }
    }

    /// The next part that is wanted, if one more may run.
    pub(crate) fn next(&mut self, is_wanted: impl Fn(&[Value]) -> bool) -> Option<Vec<Value>> {
        self.runs = self.runs.checked_sub(1)?;
        while let Some(part) = self.waiting.pop_front() {
            if is_wanted(&part) {
                return Some(part);
            }
        }
        None
    }

    /// Splits a part that failed: into values that an optimiser can fold and values that it cannot, or else into
    /// halves. A single tap is given up.
    pub(crate) fn split(&mut self, part: &[Value]) {
        let (folded, rest): (Vec<_>, Vec<_>) =
            part.iter().copied().partition(|tap| self.folded[tap.node.index()]);
        if !folded.is_empty() && !rest.is_empty() {
            self.waiting.extend([folded, rest]);
        } else if part.len() > 1 {
            let (front, back) = part.split_at(part.len() / 2);
            self.waiting.extend([front.to_vec(), back.to_vec()]);
        }
    }
}

/// How many runs this many taps are worth: enough to separate a few that do not go together.
fn most_runs(taps: usize) -> u32 {
    3 + 2 * taps.checked_ilog2().unwrap_or_default()
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
