//! Larger sizes for a graph, until it fills its budget.
//!
//! # The problem
//!
//! A graph is drawn with small sizes. Its budget names an amount of operations or bytes that it should reach and one
//! that it must not exceed. Sizes of inputs and constants, and those among the operators' attributes, are to grow such
//! that every type rule still holds, the amount is reached, and no single node takes nearly all of it.
//!
//! # The method
//!
//! The type rules of all nodes are read over symbols, as for a single node, into one problem; the graph as drawn is a
//! solution of it. From there it is climbed: a random unknown gets a larger value, the others change as little as they
//! can (`solver::moves`), and what results is kept if it is nearer to the budget. An unknown that led nowhere is tried
//! with smaller steps, until it cannot grow. The climb begins anew some times, at last without regard to single nodes.
//! Everything is counted, nothing is timed.

use ir::Choices;
use ir::dim::Arena;
use ir::{Operation, Sym, Type};
use ops::{Args, Hazard, Op, Operator, Rule, TypeRule};
use rand::RngExt;

use crate::budget::Budget;
use crate::builder::{GraphBuilder, Origin, ValueId};
use crate::settings::Settings;
use crate::solver::{Moves, Problem, Solution};

/// How many moves are tried for each unknown.
const TRIES_PER_UNKNOWN: usize = 12;
/// How often the climb begins anew, as what led nowhere may lead somewhere later. The last time nodes may take any share.
const ROUNDS: [Spread; 4] = [Spread::Wanted, Spread::Wanted, Spread::Wanted, Spread::Open];
/// The most a value is multiplied by in one move.
const MOST_AT_ONCE: f64 = 8.0;
/// The share of the whole that one node may take as long as there is another way.
const LARGEST_SHARE: f64 = 0.6;
/// The least gain, as a difference of logarithms, that makes a move worth it.
const LEAST_GAIN: f64 = 1e-3;
/// The elements of a value in a graph that is grown to an amount of operations: about this share of them, at most
/// [`MOST_ELEMENTS`]. Where a value has more, a few elementwise nodes use up the memory before they use up the budget.
const ELEMENTS_PER_FLOP: f64 = 1.0 / 64.0;
/// See [`ELEMENTS_PER_FLOP`].
const MOST_ELEMENTS: i64 = 1 << 19;

/// Whether one node may take nearly all of a budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spread {
    /// No node's share grows beyond [`LARGEST_SHARE`].
    Wanted,
    /// One node may take nearly all of it.
    Open,
}

/// Grows a graph into its budget as far as it goes, and says how it then stands.
pub(crate) fn grow(
    builder: &mut GraphBuilder,
    settings: &Settings,
    budget: &Budget,
    tap: &dyn Fn(ValueId) -> bool,
    rng: &mut Choices,
) -> Measure {
    let arena = Arena::new();
    let mut problem = Problem::new(&arena);
    let room = Room::of(settings, budget);
    let measure = |s: &GraphBuilder| Measure::of(s, settings, budget, tap);
    let Some(measured) = measure(builder) else { return Measure::NOWHERE };
    let Some(lifted) = Lifted::of(builder, &arena, &mut problem, room) else { return measured };
    let Some(moves) = Moves::from(&problem, &lifted.start) else { return measured };
    let mut climb = Climb { lifted: &lifted, moves, best: builder.clone(), measured, measure: &measure, rng };
    for spread in ROUNDS {
        climb.run(spread);
    }
    *builder = climb.best;
    climb.measured
}

/// The largest sizes.
#[derive(Clone, Copy)]
struct Room {
    dim: i64,
    elements: i64,
}

impl Room {
    fn of(settings: &Settings, budget: &Budget) -> Self {
        let bytes = [budget.peak, budget.total].map(|span| if span.is_filled() { span.most } else { 0 });
        let by_flops = ((budget.flops.most as f64 * ELEMENTS_PER_FLOP) as i64).min(MOST_ELEMENTS);
        let by_bytes = i64::try_from(bytes[0].max(bytes[1])).unwrap_or(i64::MAX).min(ir::dim::LIMIT);
        let suited = by_flops.max(by_bytes).max(settings.max_elements);
        let elements = settings.grown.max_elements.unwrap_or(suited);
        Self { dim: settings.grown.max_dim.unwrap_or(elements), elements }
    }
}

/// A graph over symbols.
struct Lifted<'a> {
    values: Vec<Type<Sym<'a>>>,
    /// The operators, by node.
    ops: Vec<Op<Sym<'a>>>,
    /// The unknowns with their values in the graph as drawn.
    start: Vec<(usize, i64)>,
}

impl<'a> Lifted<'a> {
    fn of(
        builder: &GraphBuilder,
        arena: &'a Arena<'a>,
        problem: &mut Problem<'a>,
        room: Room,
    ) -> Option<Self> {
        let mut start = Vec::new();
        // What is not a size (a negative pad, an end counted from behind, an extent of 0) stays.
        let mut lift = |value: i64| {
            let symbol = if (1..room.dim).contains(&value) {
                arena.unknown(value, room.dim)
            } else {
                Sym::from(value)
            };
            if let Sym::Term(term) = symbol {
                start.push((term.index() as usize, value));
            }
            symbol
        };
        let mut values: Vec<Type<Sym<'a>>> = Vec::with_capacity(builder.values.len());
        for entry in &builder.values {
            let is_placeholder = !matches!(entry.origin, Origin::Node(_));
            let shape = entry.ty.shape.iter().map(|&d| if is_placeholder { lift(d) } else { Sym::from(d) });
            values.push(Type::new(entry.ty.dtype, shape.collect::<Vec<_>>()));
        }
        let ops: Vec<Op<Sym<'a>>> = builder.nodes.iter().map(|n| n.op.map(&mut lift)).collect();
        for node in builder.order() {
            let planned = &builder.nodes[node];
            let operands: Vec<Option<&Type<Sym<'a>>>> =
                planned.inputs.iter().map(|v| v.map(|v| &values[v])).collect();
            let outputs = ops[node].infer(Args(&operands), problem).ok()?;
            for (&value, ty) in planned.outputs.iter().zip(outputs) {
                values[value] = ty;
            }
        }
        for (ty, entry) in values.iter().zip(&builder.values) {
            let most = room.elements.max(entry.ty.count());
            problem.le(ty.count(), Sym::from(most)).ok()?;
        }
        Some(Self { values, ops, start })
    }

    /// The graph with the sizes of a solution.
    fn at(&self, solution: &Solution, builder: &GraphBuilder) -> GraphBuilder {
        let mut sized = builder.clone();
        let value = |s: Sym<'_>| solution.value(s);
        for (entry, ty) in sized.values.iter_mut().zip(&self.values) {
            entry.ty = Type::new(ty.dtype, ty.shape.iter().map(|&d| value(d)).collect::<Vec<_>>());
        }
        for (planned, op) in sized.nodes.iter_mut().zip(&self.ops) {
            planned.op = op.settle(&value);
        }
        sized
    }
}

/// How a graph stands to its budget.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Measure {
    /// See [`Budget::missing`].
    missing: f64,
    /// The share of the operations, or of the bytes where only these are to be filled, of the largest node.
    largest: f64,
}

impl Measure {
    /// A graph that cannot be measured.
    const NOWHERE: Self = Self { missing: f64::INFINITY, largest: 1.0 };

    /// Whether the budget is filled, and no node takes nearly all of it.
    pub(crate) fn is_good(&self) -> bool {
        self.missing == 0.0 && self.largest <= LARGEST_SHARE
    }

    /// Whether this is nearer to the budget than another, or as near and spread more.
    pub(crate) fn is_better_than(&self, other: &Self) -> bool {
        (self.missing, self.largest.max(LARGEST_SHARE)) < (other.missing, other.largest.max(LARGEST_SHARE))
    }

    /// `None` where the graph exceeds its budget, or breaks a rule that is not one between sizes.
    fn of(
        builder: &GraphBuilder,
        settings: &Settings,
        budget: &Budget,
        tap: &dyn Fn(ValueId) -> bool,
    ) -> Option<Self> {
        let (mut all, mut largest) = (0_u64, 0_u64);
        for planned in &builder.nodes {
            let inputs: Vec<Option<&Type>> =
                planned.inputs.iter().map(|v| v.map(|v| &builder.values[v].ty)).collect();
            let outputs: Vec<Type> = planned.outputs.iter().map(|&v| builder.values[v].ty.clone()).collect();
            // The concrete reading of the rule has the last word.
            if !Operation::infer(&planned.op, &inputs).is_ok_and(|found| found == outputs) {
                return None;
            }
            let facts = planned.op.facts(&inputs);
            let is_valid = facts.since <= settings.opset
                && !planned.op.hazards(&inputs).contains(&Hazard::Always)
                && !settings.refuses(&planned.op, &inputs, &outputs);
            if !is_valid {
                return None;
            }
            let flops = facts.cost.flops(&inputs, &outputs);
            if flops > budget.flops.most {
                return None;
            }
            let takes =
                if budget.flops.is_filled() { flops } else { outputs.iter().map(Type::bytes).sum::<u64>() };
            all = all.saturating_add(takes);
            largest = largest.max(takes);
        }
        let footprint = builder.footprint(settings.opset, tap);
        let largest = largest as f64 / all.max(1) as f64;
        (!budget.is_exceeded_by(&footprint)).then(|| Self { missing: budget.missing(&footprint), largest })
    }
}

/// The climb to larger sizes.
struct Climb<'c, 'p, 'a> {
    lifted: &'c Lifted<'a>,
    moves: Moves<'p, 'a>,
    best: GraphBuilder,
    measured: Measure,
    measure: &'c dyn Fn(&GraphBuilder) -> Option<Measure>,
    rng: &'c mut Choices,
}

impl Climb<'_, '_, '_> {
    /// Climbs until nothing is missing, or nothing helps.
    fn run(&mut self, spread: Spread) {
        let unknowns: Vec<usize> = self.lifted.start.iter().map(|&(slot, _)| slot).collect();
        // The least value that each is known not to reach from where the others are.
        let mut ceiling = vec![i64::MAX; unknowns.len()];
        for _ in 0..TRIES_PER_UNKNOWN * unknowns.len() {
            let open: Vec<usize> =
                (0..unknowns.len()).filter(|&i| ceiling[i] > self.value(unknowns[i]) + 1).collect();
            if self.measured.missing == 0.0 || open.is_empty() {
                break;
            }
            let i = open[self.rng.random_range(0..open.len())];
            let value = self.larger(self.value(unknowns[i]), ceiling[i]);
            if !self.advance(unknowns[i], value, spread) {
                ceiling[i] = value;
            }
        }
    }

    fn value(&self, unknown: usize) -> i64 {
        self.moves.now().of(unknown)
    }

    /// A larger value below the ceiling: a multiple in half of the cases, as many rules want one.
    fn larger(&mut self, value: i64, ceiling: i64) -> i64 {
        let most = MOST_AT_ONCE.min(libm::exp(self.measured.missing).max(2.0));
        let factor = self.rng.random_range(1.0..most);
        let wanted = if self.rng.random() {
            value.saturating_mul(factor.round().max(2.0) as i64)
        } else {
            ((value as f64 * factor) as i64).max(value + 1)
        };
        if wanted < ceiling { wanted } else { value + (ceiling - value) / 2 }
    }

    /// Gives an unknown a value, if that brings the graph nearer to its budget.
    fn advance(&mut self, unknown: usize, value: i64, spread: Spread) -> bool {
        let Some(solution) = self.moves.with(unknown, value) else { return false };
        let sized = self.lifted.at(&solution, &self.best);
        let Some(measured) = (self.measure)(&sized) else { return false };
        let is_fair = spread == Spread::Open
            || measured.largest <= LARGEST_SHARE
            || measured.largest < self.measured.largest;
        let is_nearer = measured.missing < self.measured.missing - LEAST_GAIN || measured.missing == 0.0;
        if is_fair && is_nearer {
            (self.best, self.measured) = (sized, measured);
            self.moves.accept(solution);
        }
        is_fair && is_nearer
    }
}
