//! The search: random depth-first branching over the unknowns, with restarts.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};

use super::interval::Interval;
use super::network::{Conflict, Mark, Network, Relation, Slot};
use super::{Budget, Problem, Solution};

/// A value that was tried, and what is left to try instead of it.
struct Branch {
    unknown: Slot,
    /// When the value was tried.
    mark: Mark,
    /// The rest of the unknown's domain, below and above the value; tried from the back.
    untried: [Option<Interval>; 2],
}

/// How one descent from the root ended.
enum Outcome {
    Solved(Solution),
    /// Every assignment was ruled out.
    Exhausted,
    /// Too many conflicts in this part of the space; another descent may be luckier.
    Unlucky,
}

/// One search for a solution.
pub(super) struct Search<'p, 'a, R> {
    problem: &'p Problem<'a>,
    network: Network,
    /// All unknowns, in the order in which this descent decides them.
    order: Vec<Slot>,
    /// Reused by [`Search::divisor`].
    divisors: Vec<i64>,
    steps_left: u64,
    rng: &'p mut R,
}

impl<'p, 'a, R: Rng> Search<'p, 'a, R> {
    pub(super) fn new(problem: &'p Problem<'a>, rng: &'p mut R, budget: Budget) -> Self {
        let network = Network::new(problem);
        Self { problem, network, order: Vec::new(), divisors: Vec::new(), steps_left: budget.steps, rng }
    }

    /// Descends with new random choices, each time with more patience, until the budget is spent.
    pub(super) fn run(mut self) -> Option<Solution> {
        let mut patience: u32 = 16;
        self.network.propagate_all().ok()?;
        let root = self.network.mark();
        while self.steps_left > 0 {
            self.shuffle_order();
            match self.descend(patience) {
                Outcome::Solved(solution) => return Some(solution),
                Outcome::Exhausted => return None,
                Outcome::Unlucky => self.network.undo_to(root),
            }
            patience = patience.saturating_add(patience / 2);
        }
        None
    }

    /// A random order in which unknowns of one product stay together: once a few factors of a product are known,
    /// the others are drawn from the divisors of what is left, where in a mixed order they would seldom fit.
    fn shuffle_order(&mut self) {
        let unknowns = self.problem.unknowns();
        let mut ranks: Vec<u32> = (0..self.problem.arena.len() as u32).collect();
        ranks.shuffle(self.rng);
        self.order = unknowns.collect();
        self.order.shuffle(self.rng);
        self.order.sort_by_key(|&u| ranks[outermost_product(&self.network, u)]);
    }

    fn descend(&mut self, patience: u32) -> Outcome {
        let mut conflicts = 0;
        let mut branches: Vec<Branch> = Vec::new();
        // The unknown to decide next, where the last conflict suggests it.
        let mut retry: Option<Slot> = None;
        loop {
            let undecided = |&u: &Slot| self.network.domain(u).fixed().is_none();
            let again = retry.take().filter(undecided);
            let step = match again.or_else(|| self.order.iter().copied().find(undecided)) {
                Some(unknown) => self.branch(unknown, again.is_some(), &mut branches),
                None => match self.problem.evaluate(|u| self.network.domain(u).lo) {
                    Some(solution) => return Outcome::Solved(solution),
                    None => Err(Conflict),
                },
            };
            if step.is_err() {
                conflicts += 1;
                retry = self.backtrack(&mut branches);
                if retry.is_none() {
                    return if self.steps_left == 0 { Outcome::Unlucky } else { Outcome::Exhausted };
                }
            }
            if self.steps_left == 0 || conflicts > patience {
                return Outcome::Unlucky;
            }
        }
    }

    /// Tries a value for an unknown.
    fn branch(&mut self, unknown: Slot, again: bool, branches: &mut Vec<Branch>) -> Result<(), Conflict> {
        self.steps_left = self.steps_left.saturating_sub(1);
        let domain = self.network.domain(unknown);
        let value = self.choose(unknown, again)?;
        let part = |lo, hi| Some(Interval { lo, hi }).filter(|i| !i.is_empty());
        let mut untried = [part(domain.lo, value - 1), part(value + 1, domain.hi)];
        if self.rng.random() {
            untried.reverse();
        }
        branches.push(Branch { unknown, mark: self.network.mark(), untried });
        self.network.restrict(unknown, Interval::point(value))
    }

    /// Replaces the latest value that has an alternative by that alternative, and says which unknown that was;
    /// `None` when there is no alternative left, or no budget.
    fn backtrack(&mut self, branches: &mut Vec<Branch>) -> Option<Slot> {
        loop {
            let mut branch = branches.pop()?;
            self.network.undo_to(branch.mark);
            let Some(rest) = branch.untried[1].take().or_else(|| branch.untried[0].take()) else { continue };
            let unknown = branch.unknown;
            // A branch without further alternatives is not kept: its last one then belongs to the branch below.
            if branch.untried[0].is_some() {
                branches.push(branch);
            }
            if self.steps_left == 0 {
                return None;
            }
            self.steps_left -= 1;
            if self.network.restrict(unknown, rest).is_ok() {
                return Some(unknown);
            }
        }
    }

    /// The value to try. Divisors, where the unknown must divide a known number. Else, for an operand of a
    /// known broadcast and mostly after a conflict, a bound: propagation has vouched for bounds more than for
    /// what is between them.
    fn choose(&mut self, unknown: Slot, after_conflict: bool) -> Result<i64, Conflict> {
        let domain = self.network.domain(unknown);
        if let Some(multiple) = multiple_of(&self.network, unknown, REACH)
            && let Some(value) = self.divisor(multiple, domain)?
        {
            return Ok(value);
        }
        let at_bound = self.broadcasts_to_known(unknown) || (after_conflict && self.rng.random_ratio(3, 4));
        if at_bound {
            Ok(if self.rng.random() { domain.lo } else { domain.hi })
        } else {
            Ok(spread(domain, self.rng))
        }
    }

    fn broadcasts_to_known(&self, unknown: Slot) -> bool {
        self.network.constraints_on(unknown).any(|c| {
            c.relation == Relation::Broadcast && c.z != unknown && self.network.domain(c.z).fixed().is_some()
        })
    }

    /// A random divisor of a number; a conflict if it has none in the domain; `None` if finding one takes long.
    fn divisor(&mut self, of: i64, domain: Interval) -> Result<Option<i64>, Conflict> {
        const MOST: i64 = 128;
        let found = &mut self.divisors;
        found.clear();
        let complete = if domain.hi.abs_diff(domain.lo) < MOST as u64 {
            found.extend((domain.lo..=domain.hi).filter(|&v| v != 0 && of % v == 0));
            true
        } else {
            let root = of.abs().isqrt();
            let pairs = (1..=root.min(8 * MOST)).filter(|v| of % v == 0).flat_map(|v| [v, of.abs() / v]);
            found.extend(pairs.filter(|&v| domain.contains(v)));
            root <= 8 * MOST && domain.lo >= 0
        };
        match found.choose(self.rng) {
            None if complete => Err(Conflict),
            value => Ok(value.copied()),
        }
    }
}

/// How many products deep [`multiple_of`] and [`known_factor`] look: a tensor's rank, about.
const REACH: u32 = 8;

/// The largest product that a slot is a factor of, or the slot itself.
fn outermost_product(network: &Network, mut slot: Slot) -> Slot {
    // A product comes later in the arena than its factors, so this ends.
    while let Some((product, _)) = network.products(slot).next() {
        slot = product;
    }
    slot
}

/// A known number other than 0 that the slot must divide: a product it is a factor of, directly or not, without
/// the product's known factors.
fn multiple_of(network: &Network, slot: Slot, reach: u32) -> Option<i64> {
    let reach = reach.checked_sub(1)?;
    network.products(slot).find_map(|(product, other)| {
        let whole = match network.domain(product).fixed() {
            Some(value) => value,
            None => multiple_of(network, product, reach)?,
        };
        let known = known_factor(network, other, reach);
        (whole != 0 && known != 0 && whole % known == 0).then(|| whole / known)
    })
}

/// The product of those factors of the slot that are known.
fn known_factor(network: &Network, slot: Slot, reach: u32) -> i64 {
    if let Some(value) = network.domain(slot).fixed() {
        return value;
    }
    match (network.factors(slot), reach.checked_sub(1)) {
        (Some([a, b]), Some(reach)) => {
            // A product beyond the numbers there are divides none of them; 1 is always true.
            known_factor(network, a, reach).checked_mul(known_factor(network, b, reach)).unwrap_or(1)
        }
        _ => 1,
    }
}

/// A random number from the interval. Small magnitudes are favoured, since extents multiply: the number of bits of
/// the distance from the smallest is uniform, and seldom more than a byte. Narrow intervals get uniform draws too.
fn spread(domain: Interval, rng: &mut impl Rng) -> i64 {
    const BYTE: u32 = 8;
    let width = domain.hi.abs_diff(domain.lo);
    if width < 8 || (width >> BYTE == 0 && rng.random_ratio(1, 4)) {
        return rng.random_range(domain.lo..=domain.hi);
    }
    let origin = 0.clamp(domain.lo, domain.hi);
    let (below, above) = (origin.abs_diff(domain.lo), domain.hi.abs_diff(origin));
    let up = below == 0 || (above > 0 && rng.random());
    let room = if up { above } else { below };
    // At most 63, since both bounds and the origin have one sign, or the origin is 0.
    let all = u64::BITS - room.leading_zeros();
    let most = if rng.random_ratio(3, 4) { all.min(BYTE) } else { all };
    let bits = rng.random_range(0..=most);
    let offset = rng.random_range(0..=((1_u64 << bits) - 1).min(room)) as i64;
    if up { origin + offset } else { origin - offset }
}
