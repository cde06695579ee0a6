//! Going down, pass by pass, until nothing gets smaller.
//!
//! The passes are tried in tiers. When a candidate is smaller and still shows the finding, it becomes the best, and the
//! pass goes on from there at the same place: candidates that failed before rarely work now, and the next round tries
//! them once more. A tier is repeated until a whole round of it brings nothing. When a later tier has brought
//! something, all tiers start again. Every candidate runs at most once.
//!
//! Several candidates run at the same time, and the first of them that shows the finding wins, as if they had run one
//! after the other. The results of the others are kept until their turn comes. So the outcome does not depend on how
//! many run together.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use oracles::Symptom;

use super::ReduceError;
use super::interest::{Interesting, Shown};
use super::key::{Key, key};
use super::passes::{self, Pass};
use super::problem::Problem;
use super::size::{Order, Size};

/// How much may be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The most time. If it ends a reduction, the result depends on the machine.
    pub time: Duration,
    /// How many candidates are run. Those that ran in advance and were not needed do not count.
    pub tries: u64,
    /// How many of them run at the same time.
    pub jobs: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { time: Duration::from_mins(1), tries: u64::MAX, jobs: 1 }
    }
}

/// Asked whether to end early.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Which way is down.
#[derive(Clone, Copy)]
pub(super) struct Descent {
    /// The passes for a problem, what saves most first. A tier is repeated until it brings nothing before the next one is
    /// tried.
    pub(super) tiers: fn(&Problem) -> &'static [&'static [Pass]],
    /// What is smaller.
    pub(super) order: &'static Order,
}

/// Called with the best problem whenever there is a better one.
pub type OnBest<'a> = &'a mut dyn FnMut(&Shown, Size) -> Result<(), onnx::Error>;

/// A reduction under way.
pub(super) struct Driver<'a> {
    pub(super) descent: Descent,
    pub(super) interest: &'a dyn Interesting,
    pub(super) best: Arc<Shown>,
    pub(super) size: Size,
    pub(super) budget: Budget,
    pub(super) stop: Stop<'a>,
    pub(super) on_best: OnBest<'a>,
    /// How many candidates were run.
    pub(super) tries: u64,
    started: Instant,
    tried: HashSet<Key>,
    /// The results of candidates that ran in advance.
    ahead: HashMap<Key, Option<Shown>>,
}

/// A candidate whose turn it is, or comes soon.
struct Candidate {
    /// Its number in the round.
    at: usize,
    problem: Problem,
    key: Key,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        descent: Descent,
        interest: &'a dyn Interesting,
        best: Shown,
        budget: Budget,
        stop: Stop<'a>,
        on_best: OnBest<'a>,
    ) -> Self {
        let size = best.problem.size();
        let (best, started) = (Arc::new(best), Instant::now());
        let (tried, ahead) = (HashSet::new(), HashMap::new());
        Self { descent, interest, best, size, budget, stop, on_best, tries: 0, started, tried, ahead }
    }

    /// Reduces as far as the passes and the budget go. Says whether the passes had no more to offer.
    pub(super) fn run(&mut self) -> Result<bool, ReduceError> {
        self.tried.insert(key(&self.best.problem));
        let mut tier = 0;
        while let Some(passes) = (self.descent.tiers)(&self.best.problem).get(tier) {
            let before = self.size;
            for &pass in *passes {
                if self.pass(pass)?.is_break() {
                    return Ok(false);
                }
            }
            // A smaller graph may be cut where the larger one could not.
            tier = if self.size.is_below(&before, self.descent.order) { 0 } else { tier + 1 };
        }
        Ok(true)
    }

    /// Reduces as [`Self::run`] does, to a case that is to be read.
    pub(super) fn run_and_tell(&mut self) -> Result<bool, ReduceError> {
        let is_minimal = self.run()?;
        if is_minimal {
            self.tell_apart()?;
        }
        Ok(is_minimal)
    }

    /// Gives the best problem numbers that tell its elements apart, if it still shows the finding then. Where no
    /// numbers are wrong, any will do.
    fn tell_apart(&mut self) -> Result<(), ReduceError> {
        let base = Arc::clone(&self.best);
        if !matches!(base.finding.symptom, Symptom::Mismatch(_)) {
            return Ok(());
        }
        for problem in passes::telling(&base.problem) {
            if self.is_over() {
                return Ok(());
            }
            self.tries += 1;
            if let Some(shown) = self.interest.of(&problem)? {
                (self.size, self.best) = (shown.problem.size(), Arc::new(shown));
                return (self.on_best)(&self.best, self.size).map_err(ReduceError::Save);
            }
        }
        Ok(())
    }

    /// One round of a pass.
    fn pass(&mut self, pass: Pass) -> Result<ControlFlow<()>, ReduceError> {
        let mut from = 0;
        loop {
            let base = Arc::clone(&self.best);
            // The place in a pass counts the candidates that could be made, so those before it are made once more.
            let mut candidates = pass(&base).enumerate().skip(from);
            let better = loop {
                let batch = self.batch(&mut candidates);
                if batch.is_empty() {
                    break None;
                }
                self.run_ahead(&batch)?;
                match self.first_that_shows(batch) {
                    ControlFlow::Continue(None) => {}
                    ControlFlow::Continue(better) => break better,
                    ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
                }
            };
            let Some((at, shown)) = better else { return Ok(ControlFlow::Continue(())) };
            (self.size, self.best, from) = (shown.problem.size(), Arc::new(shown), at);
            (self.on_best)(&self.best, self.size).map_err(ReduceError::Save)?;
        }
    }

    /// The next candidates that are smaller than the best and have not been tried, as many as run at the same time.
    fn batch(&self, candidates: &mut dyn Iterator<Item = (usize, Problem)>) -> Vec<Candidate> {
        let mut batch: Vec<Candidate> = Vec::new();
        for (at, problem) in candidates {
            if problem.nodes() == 0 || !problem.is_below(&self.size, self.descent.order) {
                continue;
            }
            let key = key(&problem);
            if self.tried.contains(&key) || batch.iter().any(|c| c.key == key) {
                continue;
            }
            batch.push(Candidate { at, problem, key });
            if batch.len() >= self.budget.jobs.max(1) {
                break;
            }
        }
        batch
    }

    /// Runs what has not run yet of a batch.
    fn run_ahead(&mut self, batch: &[Candidate]) -> Result<(), ReduceError> {
        if self.is_over() {
            return Ok(());
        }
        let fresh: Vec<&Candidate> = batch.iter().filter(|c| !self.ahead.contains_key(&c.key)).collect();
        let interest = self.interest;
        let ran: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                fresh.iter().map(|candidate| scope.spawn(|| interest.of(&candidate.problem))).collect();
            threads.into_iter().map(ScopedJoinHandle::join).collect()
        });
        for (candidate, result) in fresh.iter().zip(ran) {
            let shown = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            self.ahead.insert(candidate.key, shown);
        }
        Ok(())
    }

    /// The first candidate of a batch that shows the finding, with its number; breaks where the budget ends.
    fn first_that_shows(&mut self, batch: Vec<Candidate>) -> ControlFlow<(), Option<(usize, Shown)>> {
        for Candidate { at, key, .. } in batch {
            if self.is_over() {
                return ControlFlow::Break(());
            }
            let Some(showed) = self.ahead.remove(&key) else { return ControlFlow::Break(()) };
            self.tried.insert(key);
            self.tries += 1;
            if let Some(shown) = showed {
                return ControlFlow::Continue(Some((at, shown)));
            }
        }
        ControlFlow::Continue(None)
    }

    fn is_over(&self) -> bool {
        (self.stop)() || self.tries >= self.budget.tries || self.started.elapsed() >= self.budget.time
    }
}
