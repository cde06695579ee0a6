//! A finite-domain solver for dimensions and integer attributes.
//!
//! # The problem
//!
//! Given are *unknowns*, each from an interval of integers; *expressions* over them (`+ - · ⌊/⌋ min max`, see
//! [`SymOp`](ir::dim::SymOp)), which live in an [`Arena`]; and *requirements*:
//!
//! - `a = b`,
//! - `a ≤ b`,
//! - `c = broadcast(a, b)`: `a = b = c`, or `a = 1 ∧ c = b`, or `b = 1 ∧ c = a`.
//!
//! A *solution* gives every unknown of the arena a value from its interval, such that every expression in the
//! arena can be evaluated (no overflow, no division by a number below 1) and every requirement holds. The number
//! [`i64::MIN`], which stands for an overflow among known numbers, satisfies no requirement and no expression.
//!
//! [`Problem::solve`] returns a random solution, or `None`: there is none, or the budget was spent first. The
//! answer is a function of the problem, the numbers drawn and the budget, and of nothing else.
//!
//! # The method
//!
//! 1. Each expression and constant gets an interval (`interval`). A constraint narrows the intervals of the numbers
//!    it relates, forwards and backwards (HC4; Benhamou et al., *Revising hull and box consistency*, ICLP 1999),
//!    a broadcast to the hull of its three cases; each change wakes the constraints that watch it (`network`).
//! 2. When nothing changes any more, an undecided unknown is given a value `v` (`search`). After a conflict the
//!    rest of its domain is tried as two intervals, below and above `v`, so that the search is complete.
//! 3. Unknowns are decided in a random order that keeps factors of one product together. Values favour small
//!    magnitudes; an unknown that must divide a known number gets one of its divisors.
//! 4. After too many conflicts the search starts again, with other choices and more patience.
//! 5. When all unknowns are decided, every expression is evaluated and every requirement checked once more,
//!    exactly. So correctness rests on this check alone, and propagation only has to be sound.

mod interval;
mod moves;
mod network;
mod search;
#[cfg(test)]
mod tests;

use ir::dim::{Arena, Expr, Sym};
pub(crate) use moves::Moves;
use ops::{Reject, Rule};
use rand::Rng;

/// What an operation on known numbers that overflows gives.
const OVERFLOW: i64 = i64::MIN;

/// A conjunction of requirements on the symbols of an [`Arena`].
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    arena: &'a Arena<'a>,
    requirements: Vec<Requirement<'a>>,
    infeasible: bool,
}

#[derive(Clone, Copy, Debug)]
enum Requirement<'a> {
    Eq(Sym<'a>, Sym<'a>),
    Le(Sym<'a>, Sym<'a>),
    /// The first is what the others broadcast to.
    Broadcast(Sym<'a>, Sym<'a>, Sym<'a>),
}

/// How much work a search may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// How often an unknown's domain may be restricted. Each time costs at most 16 revisions of every constraint,
    /// and usually a few revisions in all.
    pub steps: u64,
}

impl Default for Budget {
    /// Ample for one operator with a dozen unknowns.
    fn default() -> Self {
        Self { steps: 4096 }
    }
}

/// A value for every symbol of an arena.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution(Vec<i64>);

impl Solution {
    /// The value of a symbol.
    ///
    /// # Panics
    /// If the symbol was made after the problem was solved.
    pub fn value(&self, s: Sym<'_>) -> i64 {
        match s {
            Sym::Known(v) => v,
            Sym::Term(t) => self.0[t.index() as usize],
        }
    }
}

impl Solution {
    /// The value of the symbol at a place in the arena.
    pub(crate) fn of(&self, place: usize) -> i64 {
        self.0[place]
    }
}

impl<'a> Problem<'a> {
    /// A problem without requirements.
    pub fn new(arena: &'a Arena<'a>) -> Self {
        Self { arena, requirements: Vec::new(), infeasible: false }
    }

    /// A random solution, or `None` if there is none or the budget does not suffice to find one.
    pub fn solve(&self, rng: &mut impl Rng, budget: Budget) -> Option<Solution> {
        if self.infeasible { None } else { search::Search::new(self, rng, budget).run() }
    }

    /// Adds a requirement, or tests it at once where all its numbers are known.
    fn require(&mut self, requirement: Requirement<'a>) -> Result<(), Reject> {
        let broken = match requirement {
            Requirement::Eq(a, b) | Requirement::Le(a, b) | Requirement::Broadcast(_, a, b)
                if [a, b].contains(&Sym::Known(OVERFLOW)) =>
            {
                Some(Reject::Overflow)
            }
            Requirement::Eq(Sym::Known(a), Sym::Known(b)) => (a != b).then_some(Reject::NotEqual(a, b)),
            Requirement::Le(Sym::Known(a), Sym::Known(b)) => (a > b).then_some(Reject::Exceeds(a, b)),
            Requirement::Broadcast(_, Sym::Known(a), Sym::Known(b)) => {
                (a != b && a != 1 && b != 1).then_some(Reject::NoBroadcast(a, b))
            }
            open => {
                self.requirements.push(open);
                None
            }
        };
        self.infeasible |= broken.is_some();
        broken.map_or(Ok(()), Err)
    }

    /// The unknowns, as indices in the arena.
    fn unknowns(&self) -> impl Iterator<Item = usize> + '_ {
        let is_unknown = |&i: &usize| matches!(self.arena.get(i as u32), Expr::Unknown(..));
        (0..self.arena.len()).filter(is_unknown)
    }

    /// The solution with these values of the unknowns, if it is one.
    fn evaluate(&self, unknown: impl Fn(usize) -> i64) -> Option<Solution> {
        let mut solution = Solution(Vec::with_capacity(self.arena.len()));
        for i in 0..self.arena.len() {
            let value = match self.arena.get(i as u32) {
                Expr::Unknown(low, high) => Some(unknown(i)).filter(|v| (low..=high).contains(v)),
                Expr::Op(op, a, b) => {
                    let [a, b] = [a, b].map(|s| solution.value(s));
                    op.apply(a, b).filter(|_| a != OVERFLOW && b != OVERFLOW)
                }
            };
            solution.0.push(value.filter(|&v| v != OVERFLOW)?);
        }
        self.requirements.iter().all(|r| r.holds(|s| solution.value(s))).then_some(solution)
    }
}

/// Over symbols, a type rule collects its requirements. One that is broken whatever the unknowns are is reported
/// at once, and leaves the problem without a solution.
impl<'a> Rule<Sym<'a>> for Problem<'a> {
    fn eq(&mut self, a: Sym<'a>, b: Sym<'a>) -> Result<(), Reject> {
        self.require(Requirement::Eq(a, b))
    }

    fn le(&mut self, a: Sym<'a>, b: Sym<'a>) -> Result<(), Reject> {
        self.require(Requirement::Le(a, b))
    }

    fn seek_le(&mut self, a: Sym<'a>, b: Sym<'a>) -> Result<(), Reject> {
        self.le(a, b)
    }

    /// The common extent is a new unknown, unless it is clear which of the two it is. Extents are not negative.
    fn broadcast(&mut self, a: Sym<'a>, b: Sym<'a>) -> Result<Sym<'a>, Reject> {
        let one = Sym::Known(1);
        let c = match (a, b) {
            (a, b) if a == b || b == one => a,
            (a, b) if a == one => b,
            (Sym::Known(_), _) => a,
            (_, Sym::Known(_)) => b,
            _ => self.arena.unknown(0, i64::MAX),
        };
        self.require(Requirement::Broadcast(c, a, b))?;
        Ok(c)
    }

    fn known(&mut self, size: Sym<'a>) -> Result<i64, Reject> {
        let least = match size {
            Sym::Known(size) => return Ok(size),
            Sym::Term(term) => match self.arena.get(term.index()) {
                Expr::Unknown(least, _) => least,
                Expr::Op(..) => return Err(Reject::Open),
            },
        };
        self.eq(size, Sym::Known(least))?;
        Ok(least)
    }
}

impl Requirement<'_> {
    fn holds(self, value: impl Fn(Sym<'_>) -> i64) -> bool {
        match self {
            Self::Eq(a, b) => value(a) == value(b),
            Self::Le(a, b) => value(a) <= value(b),
            Self::Broadcast(c, a, b) => match (value(a), value(b)) {
                (1, extent) | (extent, 1) => value(c) == extent,
                (a, b) => a == b && value(c) == a,
            },
        }
    }
}
