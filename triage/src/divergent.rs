//! The first operator to diverge within a graph.
//!
//! If no operator fails alone, the graph runs once more with every value as an [output](crate::tapped). If no value is
//! wrong then, the graph runs again without these outputs, as the fault may come and go.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use ir::{NodeId, Value};
use oracles::{Expected, Symptom, Verdict, allowance};
use worker::{Outcome, WorkerError};

use crate::blame::{Blamed, Whole};
use crate::tapped::{self, Parts, Tapped};
use harness::isolate::Isolated;

/// How often a graph runs again before it is said that taps hide its fault. Once is not enough: a fault that comes and
/// goes may show in half of all runs.
const AGAIN: usize = 3;

impl Whole<'_> {
    /// The first node, in SSA order, whose outputs are wrong when values are tapped. If there is none, taps hide the
    /// fault.
    pub(crate) fn first_divergent(&self) -> Result<Blamed, WorkerError> {
        let Isolated { flat, inputs, .. } = self.isolated;
        let mut parts = Parts::of(&flat.graph);
        let mut judged: Vec<NodeId> = Vec::new();
        let mut first: Option<NodeId> = None;
        let narrowed = OnceCell::new();
        let is_before = |part: &[Value], first: NodeId| part.iter().any(|tap| tap.node < first);
        while let Some(part) = parts.next(|part| first.is_none_or(|first| is_before(part, first))) {
            match tapped::run(self.target, flat, inputs, &part)? {
                Tapped::Ran(outcome) => {
                    judged.extend(part.iter().map(|tap| tap.node));
                    let off = part.iter().find(|&&tap| self.is_off(tap, &outcome, &narrowed));
                    first = first.into_iter().chain(off.map(|tap| tap.node)).min();
                }
                Tapped::Failed => parts.split(&part),
                Tapped::TooMuch => break,
            }
        }
        if let Some(id) = first {
            return Ok(self.in_context(id));
        }
        // An output that no operator computes is not among the taps.
        let are_judged = flat.graph.outputs.iter().all(|o| judged.contains(&o.value.node));
        Ok(Blamed { hidden_by_taps: are_judged && self.is_off_again(&narrowed)?, ..Blamed::default() })
    }

    /// Whether the graph without taps is wrong in every run. If the fault comes and goes, nothing hides it.
    fn is_off_again(&self, narrowed: &OnceCell<Vec<bool>>) -> Result<bool, WorkerError> {
        let Isolated { flat, inputs, .. } = self.isolated;
        let outputs: BTreeSet<Value> = flat.graph.outputs.iter().map(|output| output.value).collect();
        let outputs: Vec<Value> = outputs.into_iter().collect();
        for _ in 0..AGAIN {
            let Tapped::Ran(outcome) = tapped::run(self.target, flat, inputs, &outputs)? else {
                return Ok(false);
            };
            if !outputs.iter().any(|&output| self.is_off(output, &outcome, narrowed)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a tap is wrong, and not only because the target's integers are as narrow as it declares.
    fn is_off(&self, tap: Value, outcome: &Outcome, narrowed: &OnceCell<Vec<bool>>) -> bool {
        let Isolated { flat, evaluation, .. } = self.isolated;
        let Some(expected) = evaluation.taps.get(&tap) else { return false };
        let names = [tapped::name(tap)];
        let expected =
            Expected { names: &names, outputs: std::slice::from_ref(expected), profile: self.target.profile };
        let may_be_narrow = || {
            self.target.shortens_integers()
                && narrowed.get_or_init(|| allowance::beyond_i32(flat, evaluation))[tap.node.index()]
        };
        match self.target.judge(outcome, &expected) {
            Verdict::Bug(finding) => !(matches!(finding.symptom, Symptom::Mismatch(_)) && may_be_narrow()),
            Verdict::Pass | Verdict::Incomparable(_) => false,
        }
    }
}
