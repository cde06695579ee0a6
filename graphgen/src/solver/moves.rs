//! Moves from one solution of a problem to another near by.

use super::interval::Interval;
use super::network::{Mark, Network, Slot};
use super::{Problem, Solution};

/// A solution that is changed step by step: one unknown gets another value, and the others change as little as the
/// requirements let them.
pub(crate) struct Moves<'p, 'a> {
    problem: &'p Problem<'a>,
    network: Network,
    root: Mark,
    /// The unknowns that have a value of their own, which keep it where they can; the others follow from these.
    free: Vec<Slot>,
    now: Solution,
}

impl<'p, 'a> Moves<'p, 'a> {
    /// Begins at the solution in which these unknowns (by their place in the arena) have these values. `None` if there is
    /// none.
    pub(crate) fn from(problem: &'p Problem<'a>, start: &[(usize, i64)]) -> Option<Self> {
        if problem.infeasible {
            return None;
        }
        let mut network = Network::new(problem);
        network.propagate_all().ok()?;
        let root = network.mark();
        let now = Solution(vec![0; problem.arena.len()]);
        let free = start.iter().map(|&(slot, _)| slot).collect();
        let mut moves = Self { problem, network, root, free, now };
        for &(slot, value) in start {
            moves.network.restrict(slot, Interval::point(value)).ok()?;
        }
        moves.now = moves.complete()?;
        moves.network.undo_to(root);
        Some(moves)
    }

    /// The present solution.
    pub(crate) fn now(&self) -> &Solution {
        &self.now
    }

    /// A solution in which `unknown` has this value. The other unknowns, one after the other, get values as
    /// close to their present ones as possible. `None` does not prove that there is no solution.
    pub(crate) fn with(&mut self, unknown: Slot, value: i64) -> Option<Solution> {
        let found = self.try_with(unknown, value);
        self.network.undo_to(self.root);
        found
    }

    /// Makes a solution the present one.
    pub(crate) fn accept(&mut self, solution: Solution) {
        self.now = solution;
    }

    fn try_with(&mut self, unknown: Slot, value: i64) -> Option<Solution> {
        self.network.restrict(unknown, Interval::point(value)).ok()?;
        for i in 0..self.free.len() {
            let slot = self.free[i];
            self.fix(slot, self.now.0[slot])?;
        }
        self.complete()
    }

    /// Gives an unknown the value nearest to `wanted` that its domain has, or an end of the domain.
    fn fix(&mut self, slot: Slot, wanted: i64) -> Option<()> {
        let domain = self.network.domain(slot);
        if domain.fixed().is_some() {
            return Some(());
        }
        let nearest = wanted.clamp(domain.lo, domain.hi);
        let mark = self.network.mark();
        for value in [nearest, domain.lo, domain.hi] {
            if self.network.restrict(slot, Interval::point(value)).is_ok() {
                return Some(());
            }
            self.network.undo_to(mark);
        }
        None
    }

    /// The solution, once all free unknowns are decided.
    fn complete(&mut self) -> Option<Solution> {
        let rest: Vec<Slot> = self.problem.unknowns().collect();
        for slot in rest {
            let low = self.network.domain(slot).lo;
            self.fix(slot, low)?;
        }
        self.problem.evaluate(|u| self.network.domain(u).lo)
    }
}
