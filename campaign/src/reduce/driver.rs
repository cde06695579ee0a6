//! Going down, pass by pass, until nothing gets smaller.
//!
//! The passes are tried in tiers. When a candidate is smaller and still shows the finding, it is the new best, and the
//! pass goes on from there where it stood: what did not work before rarely works now, and the next round tries it once
//! more. A tier is repeated until a whole round of it brings nothing; when a later tier has brought something, all
//! start again. Every candidate is run once at most.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::ReduceError;
use super::interest::{Interest, Shown};
use super::passes::{Pass, TIERS};
use super::problem::{Problem, Size};

/// How much may be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// For how long. Where this ends a reduction, the result depends on the machine.
    pub time: Duration,
    /// How many candidates are run.
    pub tries: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { time: Duration::from_mins(1), tries: u64::MAX }
    }
}

/// Takes the best so far, whenever there is a better one.
pub type OnBest<'a> = &'a mut dyn FnMut(&Shown, Size) -> Result<(), onnx::Error>;

/// A reduction under way.
pub(super) struct Driver<'a, 't> {
    pub(super) interest: Interest<'t>,
    pub(super) best: Shown,
    pub(super) size: Size,
    pub(super) budget: Budget,
    pub(super) stop: &'a AtomicBool,
    pub(super) on_best: OnBest<'a>,
    /// How many candidates were run.
    pub(super) tries: u64,
    started: Instant,
    tried: HashSet<u64>,
}

impl<'a, 't> Driver<'a, 't> {
    pub(super) fn new(
        interest: Interest<'t>,
        best: Shown,
        budget: Budget,
        stop: &'a AtomicBool,
        on_best: OnBest<'a>,
    ) -> Self {
        let size = best.problem.size();
        let (started, tried) = (Instant::now(), HashSet::new());
        Self { interest, best, size, budget, stop, on_best, tries: 0, started, tried }
    }

    /// Reduces as far as the passes and the budget go. Says whether the passes had no more to offer.
    pub(super) fn run(&mut self) -> Result<bool, ReduceError> {
        self.tried.insert(key(&self.best.problem));
        let mut tier = 0;
        while let Some(passes) = TIERS.get(tier) {
            let before = self.size;
            for &pass in *passes {
                if self.pass(pass)?.is_break() {
                    return Ok(false);
                }
            }
            // A smaller graph may be cut where the larger one could not.
            tier = if self.size < before { 0 } else { tier + 1 };
        }
        Ok(true)
    }

    /// One round of a pass.
    fn pass(&mut self, pass: Pass) -> Result<ControlFlow<()>, ReduceError> {
        let mut from = 0;
        loop {
            let base = self.best.clone();
            let mut better = None;
            for (at, candidate) in pass(&base).enumerate().skip(from) {
                if self.is_over() {
                    return Ok(ControlFlow::Break(()));
                }
                if let Some(found) = self.attempt(&candidate)? {
                    better = Some((at, found));
                    break;
                }
            }
            let Some((at, (shown, size))) = better else { return Ok(ControlFlow::Continue(())) };
            (self.best, self.size, from) = (shown, size, at);
            (self.on_best)(&self.best, self.size).map_err(ReduceError::Save)?;
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.tries >= self.budget.tries
            || self.started.elapsed() >= self.budget.time
    }

    /// A candidate that is smaller than the best and shows the finding.
    fn attempt(&mut self, candidate: &Problem) -> Result<Option<(Shown, Size)>, ReduceError> {
        let size = candidate.size();
        if size.nodes == 0 || size >= self.size || !self.tried.insert(key(candidate)) {
            return Ok(None);
        }
        self.tries += 1;
        let shown = self.interest.of(candidate)?;
        Ok(shown.map(|shown| (shown, size)))
    }
}

/// What tells a problem from others.
fn key(problem: &Problem) -> u64 {
    let mut hasher = DefaultHasher::new();
    problem.model.to_string().hash(&mut hasher);
    for tensor in &problem.inputs {
        tensor.to_bytes().hash(&mut hasher);
    }
    hasher.finish()
}
