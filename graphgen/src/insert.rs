//! One more node.
//!
//! Both directions draw an operator's use, read its type rule symbolically, and solve for the sizes. Forward,
//! operands may be values that exist. Backward, all operands are new and the first output must have the type of
//! an open placeholder, which the node then produces. A draw that fits nothing is dropped; a node that would
//! break a budget is, too.

use std::cell::Cell;

use ir::Choices;
use ir::dim::Arena;
use ir::{DType, DTypes, Operation, Stream, Sym, Type};
use ops::draw::{Draw, Goal, Operand, Source};
use ops::{Args, Hazard, Op, Operator, Reject, Rule, Spec, TypeRule};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::budget::Budget;
use crate::builder::{GraphBuilder, Origin, Planned, ValueId};
use crate::settings::Settings;
use crate::solver::{self, Problem};
use crate::support::Use;
use crate::turn::Turn;

/// The share of nodes on some dtypes that read no value of another, if there are some of these.
const ON_THEM_ALONE: f64 = 0.6;

/// Inserts nodes into a graph under construction.
pub struct Inserter<'s> {
    /// The graph under construction.
    pub builder: GraphBuilder,
    /// The scalar operations of its nodes.
    flops: u64,
    settings: &'s Settings,
    frame: &'s Frame<'s>,
    /// How many draws had a form that the settings refuse.
    refused: Cell<usize>,
}

/// What holds for one graph.
pub struct Frame<'s> {
    /// The smallest dimension: 0 or 1.
    pub min_dim: i64,
    /// A dimension that inputs and constants may have besides, however large.
    pub long_dim: Option<i64>,
    /// A dimension that many inputs and constants have, so that mistaken axes have the right size.
    pub usual_dim: Option<i64>,
    /// A dtype that many inputs and constants have.
    pub usual_dtype: DType,
    /// What it may take.
    pub budget: Budget,
    /// Which of its values are outputs besides those without uses.
    pub tap: &'s dyn Fn(ValueId) -> bool,
}

/// What a use must be.
#[derive(Clone, Copy)]
enum Demand {
    /// Any use.
    None,
    /// A use with an operand or result of one of these dtypes.
    One(DTypes),
    /// This use.
    Use(Turn),
}

impl Demand {
    /// Whether a use with operands and results of these types meets the demand.
    fn is_met<D>(self, operands: &[Option<&Type<D>>], results: &[Type<D>]) -> bool {
        match self {
            Self::None => true,
            Self::One(dtypes) => {
                operands.iter().copied().flatten().chain(results).any(|ty| dtypes.contains(ty.dtype))
            }
            Self::Use(turn) => {
                let takes = operands.first().copied().flatten().map(|ty| ty.dtype);
                let gives = results.first().map(|ty| ty.dtype);
                (takes, gives) == (Some(turn.takes), Some(turn.gives))
            }
        }
    }
}

/// A use of an operator whose sizes are found.
struct Solved {
    op: Op,
    operands: Vec<Option<(Type, Source)>>,
    outputs: Vec<Type>,
}

impl<'s> Inserter<'s> {
    /// An empty graph.
    pub fn new(settings: &'s Settings, frame: &'s Frame<'s>) -> Self {
        Self { builder: GraphBuilder::default(), flops: 0, settings, frame, refused: Cell::new(0) }
    }

    /// How many draws were thrown away because the settings refuse their form.
    pub fn refused(&self) -> usize {
        self.refused.get()
    }

    /// Inserts a node that uses a value of each group, and no other that exists; any value where there is no group. Says
    /// whether it did.
    pub fn forward(&mut self, spec: &'static Spec, groups: &[Vec<ValueId>], stream: Stream) -> bool {
        let mut rng = stream.rng();
        let live = if groups.is_empty() { self.offered(&mut rng) } else { groups.concat() };
        let types: Vec<&Type> = live.iter().map(|&v| &self.builder.values[v].ty).collect();
        let Some(solved) = self.solve(spec, Goal::Forward(&types), Demand::None, &mut rng) else {
            return false;
        };
        let used: Vec<ValueId> = solved
            .operands
            .iter()
            .flatten()
            .filter_map(|(_, source)| if let Source::Live(i) = source { Some(live[*i]) } else { None })
            .collect();
        let uses_each = groups.iter().all(|group| group.iter().any(|v| used.contains(v)));
        uses_each && self.add(solved, &live, None, &mut rng)
    }

    /// Inserts a node that reads or gives a value of one of some dtypes. Says whether it did.
    pub fn forward_on(&mut self, spec: &'static Spec, dtypes: DTypes, stream: Stream) -> bool {
        let mut rng = stream.rng();
        let mut live = self.offered(&mut rng);
        let has_one = |&v: &ValueId| dtypes.contains(self.builder.values[v].ty.dtype);
        if rng.random_bool(ON_THEM_ALONE) && live.iter().any(has_one) {
            live.retain(has_one);
        }
        let types: Vec<&Type> = live.iter().map(|&v| &self.builder.values[v].ty).collect();
        let solved = self.solve(spec, Goal::Forward(&types), Demand::One(dtypes), &mut rng);
        solved.is_some_and(|solved| self.add(solved, &live, None, &mut rng))
    }

    /// Inserts a node that is a certain use. Says whether it did.
    pub(crate) fn forward_as(&mut self, turn: Turn, stream: Stream) -> bool {
        let mut rng = stream.rng();
        let live = self.offered(&mut rng);
        let types: Vec<&Type> = live.iter().map(|&v| &self.builder.values[v].ty).collect();
        let solved = self.solve(turn.spec, Goal::Forward(&types), Demand::Use(turn), &mut rng);
        solved.is_some_and(|solved| self.add(solved, &live, None, &mut rng))
    }

    /// Inserts a node that produces an open placeholder. Says whether it did.
    pub fn backward(&mut self, spec: &'static Spec, wanted: ValueId, stream: Stream) -> bool {
        let ty = self.builder.values[wanted].ty.clone();
        let mut rng = stream.rng();
        let Some(solved) = self.solve(spec, Goal::Backward(&ty), Demand::None, &mut rng) else {
            return false;
        };
        self.add(solved, &[], Some(wanted), &mut rng)
    }

    /// Inserts a node that stands once more, on the same operands. Says whether it did.
    pub fn repeat(&mut self, node: usize, stream: Stream) -> bool {
        let Planned { op, inputs, outputs } = self.builder.nodes[node].clone();
        let ty = |v: ValueId| self.builder.values[v].ty.clone();
        let live: Vec<ValueId> = inputs.iter().flatten().copied().collect();
        let mut places = 0..live.len();
        let operands = inputs.iter().map(|v| Some((ty((*v)?), Source::Live(places.next()?)))).collect();
        let outputs = outputs.into_iter().map(ty).collect();
        self.add(Solved { op, operands, outputs }, &live, None, &mut stream.rng())
    }

    /// A placeholder that a node could produce.
    pub fn open_placeholder(&self, rng: &mut Choices) -> Option<ValueId> {
        let values = self.builder.values.iter().enumerate();
        let open: Vec<ValueId> = values.filter(|(_, e)| e.origin == Origin::Open).map(|(i, _)| i).collect();
        open.choose(rng).copied()
    }

    /// The values that a node may read: all, or those that nodes give.
    fn offered(&self, rng: &mut Choices) -> Vec<ValueId> {
        let values = 0..self.builder.values.len();
        if !self.builder.nodes.is_empty() && rng.random_bool(self.settings.onward.clamp(0.0, 1.0)) {
            return values.filter(|&v| matches!(self.builder.values[v].origin, Origin::Node(_))).collect();
        }
        values.collect()
    }

    /// Draws a use that is as demanded.
    fn solve(
        &self,
        spec: &'static Spec,
        goal: Goal<'_>,
        demand: Demand,
        rng: &mut Choices,
    ) -> Option<Solved> {
        let mut limits = self.settings.limits(spec, self.frame);
        match demand {
            Demand::None => {}
            Demand::One(dtypes) => {
                limits.usual_dtype = dtypes.iter().collect::<Vec<_>>().choose(rng).copied()?;
            }
            Demand::Use(turn) => {
                limits.wanted = DTypes::of(&[turn.takes, turn.gives]);
                limits.usual_dtype = turn.takes;
            }
        }
        let arena = Arena::new();
        let withheld = self.settings.refused.withheld(spec, limits.opset);
        let mut draw = Draw::new(spec, rng, &limits, &arena, goal).without(withheld.to_vec());
        let op = Op::draw(spec, &mut draw)?;
        let operands = draw.into_operands();
        let mut problem = Problem::new(&arena);
        let outputs = self.pose(&op, &operands, goal, &mut problem).ok()?;
        let in_use = |i| limits.in_use(spec.output_types(i, limits.opset));
        if outputs.iter().enumerate().any(|(i, ty)| !in_use(i).contains(ty.dtype)) {
            return None;
        }
        // Before the sizes are solved, which is the most work.
        let types: Vec<_> = operands.iter().map(|o| o.as_ref().map(|o| &o.ty)).collect();
        if !demand.is_met(&types, &outputs) {
            return None;
        }
        if self.is_refused(spec, || Use::before_sizes(self.settings.opset, &op, &types, &outputs)) {
            return None;
        }
        let solution = problem.solve(rng, solver::Budget::default())?;
        let value = |s: Sym<'_>| solution.value(s);
        let settle =
            |ty: &Type<Sym<'_>>| Type::new(ty.dtype, ty.shape.iter().map(|&d| value(d)).collect::<Vec<_>>());
        Some(Solved {
            op: op.settle(&value),
            operands: operands.iter().map(|o| o.as_ref().map(|o| (settle(&o.ty), o.source))).collect(),
            outputs: outputs.iter().map(settle).collect(),
        })
    }

    /// Posts the type rule, the caps on sizes and, going backward, what is wanted.
    fn pose<'a>(
        &self,
        op: &Op<Sym<'a>>,
        operands: &[Option<Operand<'a>>],
        goal: Goal<'_>,
        problem: &mut Problem<'a>,
    ) -> Result<Vec<Type<Sym<'a>>>, Reject> {
        let types: Vec<Option<&Type<Sym<'a>>>> = operands.iter().map(|o| o.as_ref().map(|o| &o.ty)).collect();
        let outputs = op.infer(Args(&types), problem)?;
        let most = Sym::from(self.settings.max_elements);
        for ty in types.iter().copied().flatten().chain(&outputs) {
            self.cap(ty, most, problem)?;
        }
        if let Goal::Backward(wanted) = goal {
            let first = outputs.first().ok_or(Reject::Missing(0))?;
            if first.dtype != wanted.dtype {
                return Err(Reject::MixedDTypes(first.dtype, wanted.dtype));
            }
            ops::rule::same_shape(problem, &first.shape, &wanted.lift().shape)?;
        }
        Ok(outputs)
    }

    fn cap<'a>(&self, ty: &Type<Sym<'a>>, most: Sym<'a>, problem: &mut Problem<'a>) -> Result<(), Reject> {
        if ty.rank() > self.settings.max_rank || !self.settings.dtypes.contains(ty.dtype) {
            return Err(Reject::Overflow);
        }
        let least = Sym::from(self.frame.min_dim);
        ty.shape.iter().try_for_each(|&d| problem.le(least, d))?;
        problem.le(ty.count(), most)
    }

    /// Adds the solved node, unless it breaks a budget or a rule that depends on the settings.
    fn add(
        &mut self,
        solved: Solved,
        live: &[ValueId],
        produces: Option<ValueId>,
        rng: &mut Choices,
    ) -> bool {
        let Solved { op, operands, outputs } = solved;
        let types: Vec<Option<&Type>> = operands.iter().map(|o| o.as_ref().map(|(ty, _)| ty)).collect();
        // The concrete reading of the rule has the last word.
        if !Operation::infer(&op, &types).is_ok_and(|t| t == outputs) || !self.allowed(&op, &types, &outputs)
        {
            return false;
        }
        // What hangs on sizes is known now.
        if self.is_refused(op.spec(), || Use::of(self.settings.opset, &op, &types, &outputs)) {
            return false;
        }
        let flops = self.flops.saturating_add(op.facts(&types).cost.flops(&types, &outputs));
        if flops > self.frame.budget.flops.most {
            return false;
        }
        let before = self.frame.budget.bounds_memory().then(|| self.builder.clone());
        let depends = produces.map(|v| self.builder.dependents(v));
        let mut inputs: Vec<Option<ValueId>> = Vec::with_capacity(operands.len());
        for operand in operands {
            let taken = operand
                .and_then(|(ty, source)| self.operand(ty, source, live, &inputs, depends.as_deref(), rng));
            inputs.push(taken);
        }
        self.builder.node(op, inputs, outputs, produces);
        if let Some(before) = before
            && self.frame.budget.is_exceeded_by(&self.builder.footprint(self.settings.opset, self.frame.tap))
        {
            self.builder = before;
            return false;
        }
        self.flops = flops;
        true
    }

    /// The value that an operand is, after the earlier ones of the node.
    fn operand(
        &mut self,
        ty: Type,
        source: Source,
        live: &[ValueId],
        earlier: &[Option<ValueId>],
        depends: Option<&[bool]>,
        rng: &mut Choices,
    ) -> Option<ValueId> {
        Some(match source {
            Source::Live(i) => live[i],
            Source::Again(place) => earlier[place]?,
            Source::Pinned => self.builder.pinned(ty),
            Source::Fresh => {
                let reusable = |(v, e): (ValueId, &crate::builder::Entry)| {
                    let later = depends.is_some_and(|d| d.get(v).copied().unwrap_or(false));
                    (e.ty == ty && e.origin != Origin::Pinned && !later).then_some(v)
                };
                let same: Vec<ValueId> =
                    self.builder.values.iter().enumerate().filter_map(reusable).collect();
                match same.choose(rng) {
                    Some(&v) if rng.random_bool(self.settings.reuse.clamp(0.0, 1.0)) => v,
                    _ => self.builder.placeholder(ty),
                }
            }
        })
    }

    /// Whether a use has a form that the settings refuse; counts it.
    fn is_refused(&self, spec: &Spec, use_: impl FnOnce() -> Use) -> bool {
        let refused = &self.settings.refused;
        let is_refused = refused.knows(spec.name) && refused.refuses(spec.name, &use_()).is_some();
        self.refused.set(self.refused.get() + usize::from(is_refused));
        is_refused
    }

    fn allowed(&self, op: &Op, inputs: &[Option<&Type>], outputs: &[Type]) -> bool {
        let (spec, opset) = (op.spec(), self.settings.opset);
        if op.facts(inputs).since > opset || op.hazards(inputs).contains(&Hazard::Always) {
            return false;
        }
        if !inputs.iter().copied().flatten().chain(outputs).all(Type::is_countable) {
            return false;
        }
        let inputs_fit = inputs
            .iter()
            .enumerate()
            .all(|(i, ty)| ty.is_none_or(|ty| spec.input_types(i, opset).contains(ty.dtype)));
        inputs_fit && outputs.iter().enumerate().all(|(i, ty)| spec.output_types(i, opset).contains(ty.dtype))
    }
}
