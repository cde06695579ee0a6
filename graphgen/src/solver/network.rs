//! The constraint network: an interval for every number of a problem, and the propagation that narrows them.

use std::collections::VecDeque;

use ir::dim::{Arena, Expr, Sym, SymOp};

use super::interval::{self, Interval};
use super::{Problem, Requirement};

/// How the three numbers of a [`Constraint`] are related.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// `z = x op y`.
    Op(SymOp),
    /// `x = y`; `z` repeats `y`.
    Eq,
    /// `x ≤ y`; `z` repeats `y`.
    Le,
    /// `z` is what `x` and `y` broadcast to.
    Broadcast,
}

/// A relation between slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    pub(super) relation: Relation,
    pub(super) z: Slot,
    pub(super) x: Slot,
    pub(super) y: Slot,
}

/// The place of a number: first the expressions of the arena, in its order, then the constants.
pub(super) type Slot = usize;

/// Somewhere an interval became empty.
#[derive(Debug)]
pub(super) struct Conflict;

/// A point in time to return to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark(usize);

/// The intervals of all slots, the constraints between them, and how to undo.
pub(super) struct Network {
    domains: Vec<Interval>,
    constraints: Vec<Constraint>,
    /// The constraints on slot `s` are `watchers[watch_start[s]..watch_start[s + 1]]`.
    watchers: Vec<usize>,
    watch_start: Vec<usize>,
    /// What a slot was before it was narrowed, latest last.
    trail: Vec<(Slot, Interval)>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
}

impl Network {
    /// The network of a problem, not yet propagated.
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let mut slots = Slots::new(problem.arena);
        let mut constraints = std::mem::take(&mut slots.constraints);
        constraints.extend(problem.requirements.iter().map(|&requirement| {
            let (relation, z, x, y) = match requirement {
                Requirement::Eq(x, y) => (Relation::Eq, y, x, y),
                Requirement::Le(x, y) => (Relation::Le, y, x, y),
                Requirement::Broadcast(z, x, y) => (Relation::Broadcast, z, x, y),
            };
            let [z, x, y] = [z, x, y].map(|s| slots.of(s));
            Constraint { relation, z, x, y }
        }));
        let domains = slots.domains;
        let (watchers, watch_start) = watch(&constraints, domains.len());
        let queued = vec![false; constraints.len()];
        let queue = VecDeque::with_capacity(constraints.len());
        Self { domains, constraints, watchers, watch_start, trail: Vec::new(), queue, queued }
    }

    /// What is still possible for a slot.
    pub(super) fn domain(&self, slot: Slot) -> Interval {
        self.domains[slot]
    }

    /// The constraints that a slot takes part in, each once.
    pub(super) fn constraints_on(&self, slot: Slot) -> impl Iterator<Item = Constraint> + '_ {
        self.watchers[self.watch_start[slot]..self.watch_start[slot + 1]].iter().map(|&c| self.constraints[c])
    }

    /// The factors of a slot that is a product.
    pub(super) fn factors(&self, slot: Slot) -> Option<[Slot; 2]> {
        self.constraints_on(slot)
            .find(|c| c.relation == Relation::Op(SymOp::Mul) && c.z == slot)
            .map(|c| [c.x, c.y])
    }

    /// The products that a slot is a factor of, each with the other factor.
    pub(super) fn products(&self, slot: Slot) -> impl Iterator<Item = (Slot, Slot)> + '_ {
        self.constraints_on(slot)
            .filter(move |c| c.relation == Relation::Op(SymOp::Mul) && c.z != slot)
            .map(move |c| (c.z, if c.x == slot { c.y } else { c.x }))
    }

    /// Propagates everything, as after [`Network::new`].
    pub(super) fn propagate_all(&mut self) -> Result<(), Conflict> {
        if self.domains.iter().any(|d| d.is_empty()) {
            return Err(Conflict);
        }
        self.queue.extend(0..self.constraints.len());
        self.queued.fill(true);
        self.propagate()
    }

    /// Restricts a slot and propagates what follows.
    pub(super) fn restrict(&mut self, slot: Slot, to: Interval) -> Result<(), Conflict> {
        self.narrow(slot, to).and_then(|()| self.propagate()).inspect_err(|_| self.forget_queue())
    }

    /// Now, as a place to return to.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Undoes all restrictions since the mark.
    pub(super) fn undo_to(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            let Some((slot, domain)) = self.trail.pop() else { break };
            self.domains[slot] = domain;
        }
    }

    /// Revises constraints until nothing changes, or so often that bounds are creeping towards each other one by
    /// one (`x < y`, `y < x`); to stop early is sound, and the search takes over.
    fn propagate(&mut self) -> Result<(), Conflict> {
        const ROUNDS: usize = 16;
        let mut revisions = ROUNDS * self.constraints.len();
        while let Some(c) = self.queue.pop_front() {
            self.queued[c] = false;
            self.revise(self.constraints[c])?;
            revisions -= 1;
            if revisions == 0 {
                self.forget_queue();
            }
        }
        Ok(())
    }

    fn forget_queue(&mut self) {
        self.queue.clear();
        self.queued.fill(false);
    }

    /// Narrows the three numbers of a constraint to what the other two allow.
    fn revise(&mut self, Constraint { relation, z, x, y }: Constraint) -> Result<(), Conflict> {
        match relation {
            Relation::Op(op) => {
                self.narrow(z, interval::result(op, self.domains[x], self.domains[y]))?;
                self.narrow(x, interval::left(op, self.domains[z], self.domains[y]))?;
                self.narrow(y, interval::right(op, self.domains[z], self.domains[x]))
            }
            Relation::Eq => {
                self.narrow(x, self.domains[y])?;
                self.narrow(y, self.domains[x])
            }
            Relation::Le => {
                self.narrow(x, Interval { hi: self.domains[y].hi, ..Interval::ALL })?;
                self.narrow(y, Interval { lo: self.domains[x].lo, ..Interval::ALL })
            }
            Relation::Broadcast => {
                let [dz, dx, dy] = broadcast([z, x, y].map(|s| self.domains[s]));
                self.narrow(z, dz)?;
                self.narrow(x, dx)?;
                self.narrow(y, dy)
            }
        }
    }

    fn narrow(&mut self, slot: Slot, to: Interval) -> Result<(), Conflict> {
        let (old, new) = (self.domains[slot], self.domains[slot].meet(to));
        if new.is_empty() {
            return Err(Conflict);
        }
        if new != old {
            self.trail.push((slot, old));
            self.domains[slot] = new;
            for &c in &self.watchers[self.watch_start[slot]..self.watch_start[slot + 1]] {
                if !std::mem::replace(&mut self.queued[c], true) {
                    self.queue.push_back(c);
                }
            }
        }
        Ok(())
    }
}

/// Gives symbols their slots. Equal constants share one, and so do equal expressions: a rule may well state an
/// element count twice, and what is known of the one must be known of the other.
struct Slots {
    /// How many slots are for expressions; the others are for constants.
    exprs: usize,
    domains: Vec<Interval>,
    /// The definitions of the expressions.
    constraints: Vec<Constraint>,
    /// The slot of each expression of the arena: its own, or that of an equal one before it.
    shared: Vec<Slot>,
}

impl Slots {
    fn new(arena: &Arena<'_>) -> Self {
        let exprs = arena.len();
        let mut slots = Self {
            exprs,
            domains: vec![Interval::ALL; exprs],
            constraints: Vec::with_capacity(exprs),
            shared: Vec::with_capacity(exprs),
        };
        for z in 0..exprs {
            let slot = match arena.get(z as u32) {
                Expr::Unknown(lo, hi) => {
                    slots.domains[z] = Interval::new(lo, hi);
                    z
                }
                Expr::Op(op, x, y) => slots.define(z, op, x, y),
            };
            slots.shared.push(slot);
        }
        slots
    }

    /// The slot that holds `x op y`, which is `z` if no other does yet.
    fn define(&mut self, z: Slot, op: SymOp, x: Sym<'_>, y: Sym<'_>) -> Slot {
        let (relation, x, y) = (Relation::Op(op), self.of(x), self.of(y));
        if let Some(equal) = self.constraints.iter().find(|c| (c.relation, c.x, c.y) == (relation, x, y)) {
            return equal.z;
        }
        self.constraints.push(Constraint { relation, z, x, y });
        z
    }

    /// The slot of a symbol.
    fn of(&mut self, s: Sym<'_>) -> Slot {
        match s {
            Sym::Term(t) => self.shared[t.index() as usize],
            Sym::Known(v) => {
                let constant = Interval::point(v);
                let known = self.domains[self.exprs..].iter().position(|&d| d == constant);
                if known.is_none() {
                    self.domains.push(constant);
                }
                known.map_or(self.domains.len() - 1, |i| self.exprs + i)
            }
        }
    }
}

/// The constraints that name each slot: one list for all slots, and the place where each slot's part of it
/// starts.
fn watch(constraints: &[Constraint], slots: usize) -> (Vec<usize>, Vec<usize>) {
    let distinct = |c: &Constraint| {
        let Constraint { z, x, y, .. } = *c;
        [Some(z), (x != z).then_some(x), (y != z && y != x).then_some(y)].into_iter().flatten()
    };
    let mut start = vec![0; slots + 1];
    for slot in constraints.iter().flat_map(distinct) {
        start[slot + 1] += 1;
    }
    for s in 0..slots {
        start[s + 1] += start[s];
    }
    let mut next = start.clone();
    let mut watchers = vec![0; start[slots]];
    for (c, constraint) in constraints.iter().enumerate() {
        for slot in distinct(constraint) {
            watchers[next[slot]] = c;
            next[slot] += 1;
        }
    }
    (watchers, start)
}

/// Constructive disjunction: what at least one of the three ways to broadcast allows.
fn broadcast([z, x, y]: [Interval; 3]) -> [Interval; 3] {
    const ONE: Interval = Interval { lo: 1, hi: 1 };
    let (all, right, left) = (z.meet(x).meet(y), z.meet(y), z.meet(x));
    let ways = [
        (!all.is_empty(), [all, all, all]),
        (x.contains(1) && !right.is_empty(), [right, ONE, right]),
        (y.contains(1) && !left.is_empty(), [left, left, ONE]),
    ];
    let none = [Interval { lo: 1, hi: 0 }; 3];
    ways.iter().filter(|(possible, _)| *possible).fold(none, |mut hull, (_, way)| {
        for (h, w) in hull.iter_mut().zip(way) {
            *h = h.hull(*w);
        }
        hull
    })
}
