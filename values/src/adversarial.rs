//! Adversarial values: an edge of one operator, planned where its operand is and pulled back to the inputs.
//!
//! Values on which everything is defined come first. Then some operators are picked, and of each one of its edges: what it
//! declares, an end of its domain, what the dtype of an operand has, or a branch that its meaning takes there. The
//! numbers that the operand should have are pulled back to the elements that carry it ([`crate::origin`]), and the
//! graph is run on them. They are kept if everything still is defined, if an element is where it was planned, and if
//! hardly more of the outputs is undecidable than on plain values: by the tightest profile always, by the one that promises least
//! in most cases. The others are for what that one may leave open, such as NaN in a maximum: it is tried on all who promise more.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use ir::{NodeId, Operation, Stream};
use ops::operator::Edge;
use ops::plain::Plain;
use ops::{Data, Model};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use crate::boundary::{self, Aim, Aimed};
use crate::decided::{FEW, LEAST, Openness};
use crate::found::{FoundValues, Tensors, are_shared, free_nodes};
use crate::invert;
use crate::origin::{Element, Number, Record};
use crate::trace::{Traced, Tracing};
use crate::undefined::{Results, Watch};
use interp::Profile;
use interp::walk::{Former, Visit};

/// How often plans are made for one case, each time on the values with those before.
const ROUNDS: u64 = 4;

/// How many plans are made at once.
const AT_ONCE: usize = 4;

/// How many of them are kept at most: one operator at an edge says nothing of the others.
const MOST_EDGES: usize = 8;

/// The most places in a record of origins.
const PLACES: usize = 200_000;

/// The share of cases in which no profile may say less than on plain values.
const PROMISED: f64 = 0.65;

/// The edge that values were moved to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtEdge {
    /// The operator's node in the main graph; the call if it is inside a function.
    pub node: NodeId,
    /// The operator's name.
    pub operator: &'static str,
    /// What kind of edge.
    pub edge: &'static str,
    /// How many elements were planned.
    pub planned: usize,
    /// How many of them are as planned.
    pub reached: usize,
}

/// What is to be at one operator.
#[derive(Clone)]
struct Intent {
    at_edge: AtEdge,
    /// The number of the operator among those that a run visits.
    visit: usize,
    results: Results,
    /// The operand's elements by row-major position; none where a branch is planned.
    wanted: Option<(usize, Vec<(usize, Number)>)>,
    /// What the free tensors' elements must be; at least one.
    elements: Vec<Element>,
}

impl Intent {
    fn is_of_many(&self) -> bool {
        self.elements.len() > 1
    }

    /// The first element.
    fn first(&self) -> &[Element] {
        &self.elements[..1]
    }

    /// The same with its first element alone.
    fn of_one(&self) -> Self {
        Self { elements: self.first().to_vec(), ..self.clone() }
    }
}

/// Adversarial values for a model, starting from values on which everything is defined: some plans, each on top of those before.
/// No edge if none can be kept.
pub fn move_to_edges(
    model: &Model,
    free: &[NodeId],
    found: &FoundValues,
    stream: Stream,
) -> (FoundValues, Vec<AtEdge>) {
    let free = free_nodes(model, free);
    let is_promised = stream.child("promised").rng().random_bool(PROMISED);
    let watch = Watch::new(model);
    let limits = Limits::new(model, &watch, &found.tensors, is_promised);
    let mut after = vec![Rc::new(Moved::plain(&watch, &found.tensors))];
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let plans = plans(model, &after[all.len()].tensors, &free, is_promised, &mut stream.at(round).rng());
        limits.extend(&mut after, &plans);
        all.extend(plans);
        if after[all.len()].edges.len() == MOST_EDGES {
            break;
        }
    }
    // What is open is asked once for all rounds, as mostly they all go.
    let moved = limits.most(&after, &all);
    (FoundValues { tensors: moved.tensors.clone(), ..found.clone() }, moved.edges.clone())
}

/// Values on which everything is defined, and the edges that they are at.
struct Moved<'w> {
    tensors: Tensors,
    /// What was made infinite may stay so.
    results: Results,
    edges: Vec<AtEdge>,
    /// The run on them.
    run: Former<Plain<'w>>,
}

impl<'w> Moved<'w> {
    /// Values on which everything is defined, at no edge.
    fn plain(watch: &'w Watch<'_>, tensors: &Tensors) -> Self {
        let results = Results::Finite;
        let (_, run) = watch.first(tensors, results, &Former::none());
        Self { tensors: tensors.clone(), results, edges: Vec::new(), run }
    }

    /// These with a plan on top, where everything is defined then and an element is where it was planned.
    fn with(&self, watch: &'w Watch<'_>, plan: &Intent) -> Option<Self> {
        if self.edges.len() == MOST_EDGES {
            return None;
        }
        // All planned elements, or else the first alone: one may be what another operator cannot take.
        let one = || plan.is_of_many().then(|| self.reach(watch, plan, plan.first())).flatten();
        self.reach(watch, plan, &plan.elements).or_else(one)
    }

    /// These with some of a plan's elements; `None` where none is as it was planned, or something is undefined then.
    fn reach(&self, watch: &'w Watch<'_>, plan: &Intent, elements: &[Element]) -> Option<Self> {
        let tensors = invert::place(&self.tensors, elements);
        if are_shared(&tensors, &self.tensors) {
            return None;
        }
        let results = if self.results == Results::Any { self.results } else { plan.results };
        let mut reached = elements.len();
        let (undefined, run) = watch.see(&tensors, results, &self.run, &mut |number, v| {
            if let Some((operand, wanted)) = plan.wanted.as_ref().filter(|_| number == plan.visit) {
                reached = v.operands[*operand].map_or(0, |data| as_wanted(data, wanted));
            }
        });
        if undefined.is_some() || reached == 0 {
            return None;
        }
        let mut edges = self.edges.clone();
        edges.push(AtEdge { reached, ..plan.at_edge });
        Some(Self { tensors, results, edges, run })
    }
}

/// How many of an operand's elements are as wanted.
fn as_wanted(data: &Data<Plain<'_>>, wanted: &[(usize, Number)]) -> usize {
    match data {
        Data::Real(a) => {
            let values: Vec<f64> = a.iter().copied().collect();
            let is_there =
                |&&(i, w): &&(usize, Number)| matches!(w, Number::Real(w) if is_same(w, values[i]));
            wanted.iter().filter(is_there).count()
        }
        Data::Int(a) => {
            let values: Vec<i128> = a.iter().copied().collect();
            wanted.iter().filter(|(i, w)| *w == Number::Int(values[*i])).count()
        }
    }
}

/// Whether two numbers are the same, the sign of a zero included. A NaN is any other: its bits are up to the compiler.
fn is_same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}

/// How much may be open on adversarial values: hardly more than on plain ones.
struct Limits<'m> {
    watch: &'m Watch<'m>,
    plain: &'m Tensors,
    /// The one that promises least comes first: where it leaves little open, so do all others.
    profiles: RefCell<Vec<Known<'m>>>,
}

/// What a profile leaves open of a model's outputs, as far as it was asked.
struct Known<'m> {
    openness: Openness<'m>,
    /// By the values' content. Plans are tried in halves, and where all of one half go, the other half is the whole again.
    shares: HashMap<u64, f64>,
}

impl Known<'_> {
    /// The share that is open on some values.
    fn on(&mut self, tensors: &Tensors) -> f64 {
        *self.shares.entry(content(tensors)).or_insert_with(|| self.openness.on(tensors))
    }
}

fn content(tensors: &Tensors) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (id, tensor) in tensors {
        (id, tensor.to_bytes()).hash(&mut hasher);
    }
    hasher.finish()
}

impl<'m> Limits<'m> {
    fn new(model: &'m Model, watch: &'m Watch<'m>, plain: &'m Tensors, is_promised: bool) -> Self {
        let least = is_promised.then_some(LEAST);
        let profiles = least.into_iter().chain([&Profile::TIGHT]);
        let known = |profile| Known { openness: Openness::new(model, profile), shares: HashMap::new() };
        Self { watch, plain, profiles: RefCell::new(profiles.map(known).collect()) }
    }

    /// Adds the values with each plan on top of those before; the same again where a plan does not go.
    fn extend(&self, after: &mut Vec<Rc<Moved<'m>>>, plans: &[Intent]) {
        for plan in plans {
            let last = &after[after.len() - 1];
            let next = last.with(self.watch, plan).map_or_else(|| Rc::clone(last), Rc::new);
            after.push(next);
        }
    }

    /// The values with as many of the plans as go: all, if hardly more is open with them, else those of each half that do.
    fn with(&self, now: Rc<Moved<'m>>, plans: &[Intent]) -> Rc<Moved<'m>> {
        let mut after = vec![now];
        self.extend(&mut after, plans);
        self.most(&after, plans)
    }

    /// [`with`](Self::with), where `after` has the values without a plan, with the first one, with the first two and so on.
    fn most(&self, after: &[Rc<Moved<'m>>], plans: &[Intent]) -> Rc<Moved<'m>> {
        let (now, all) = (&after[0], &after[plans.len()]);
        let goes = |moved: &Moved<'_>| moved.edges.len() == now.edges.len() || self.hold(&moved.tensors);
        if plans.is_empty() || goes(all) {
            return Rc::clone(all);
        }
        if let [plan] = plans {
            let of_one = plan.is_of_many().then(|| now.with(self.watch, &plan.of_one())).flatten();
            return of_one.filter(goes).map_or_else(|| Rc::clone(now), Rc::new);
        }
        let half = plans.len() / 2;
        self.with(self.most(&after[..=half], &plans[..half]), &plans[half..])
    }

    /// Whether hardly more is open than on plain values.
    fn hold(&self, tensors: &Tensors) -> bool {
        for profile in &mut *self.profiles.borrow_mut() {
            let share = profile.on(tensors);
            if share <= FEW {
                return true;
            }
            if share > profile.on(self.plain) {
                return false;
            }
        }
        true
    }
}

/// How often numbers of two operands that are to meet are zeros.
const ZEROS: f64 = 0.125;

/// How often an operator is picked that states edges of itself, or has an operand twice, where another is picked once.
const EDGED: u32 = 3;

/// Some operators, and of each one of its edges.
fn plans(
    model: &Model,
    tensors: &Tensors,
    free: &BTreeSet<NodeId>,
    is_promised: bool,
    rng: &mut impl Rng,
) -> Vec<Intent> {
    let record = Record::new(PLACES);
    // Those with the largest keys, these first. A key is the largest of as many numbers as the operator's weight: what
    // is drawn so is drawn by weight, and nothing twice.
    let mut chosen: Vec<(f64, Intent)> = Vec::new();
    let mut visit = 0;
    invert::run(model, tensors, free, &record, &mut |v| {
        let branches = record.take_branches();
        // Of what only has the edges of dtypes there is much in a graph, as of movements, and little comes of it.
        let is_plain = boundary::stated(v.op, v.types).is_empty() && !has_one_twice(v);
        let weight = if is_plain { 1 } else { EDGED };
        let key = (0..weight).map(|_| rng.random::<f64>()).fold(0.0, f64::max);
        let at = chosen.partition_point(|(other, _)| *other > key);
        if at < AT_ONCE
            && let Some(plan) = one(v, visit, &branches, &record, is_promised, rng)
        {
            chosen.insert(at, (key, plan));
            chosen.truncate(AT_ONCE);
        }
        visit += 1;
        true
    });
    chosen.into_iter().map(|(_, plan)| plan).collect()
}

/// Whether two operands are the same: x - x is 0 but for infinities and NaN.
fn has_one_twice(v: &Visit<'_, Tracing<'_>>) -> bool {
    let mut operands = v.operands.iter().flatten().enumerate();
    operands.any(|(i, x)| v.operands.iter().flatten().skip(i + 1).any(|other| std::ptr::eq(*x, *other)))
}

fn one(
    v: &Visit<'_, Tracing<'_>>,
    visit: usize,
    branches: &[(u32, f64)],
    record: &Record,
    is_promised: bool,
    rng: &mut impl Rng,
) -> Option<Intent> {
    let boundary::Aims { edges, of_branches } = boundary::aims(v.op, v.types, is_promised);
    let edges = edges.into_iter().filter(|aimed| is_carried(v, aimed.operand));
    // None stands for the branches.
    let branch = (!branches.is_empty()).then_some((None, of_branches));
    let aims: Vec<_> = edges.map(|aimed| (Some(aimed), aimed.weight)).chain(branch).collect();
    let &(chosen, _) = aims.choose_weighted(rng, |(_, weight)| *weight).ok()?;
    let plan = |edge, planned, results, wanted, elements| Intent {
        at_edge: AtEdge { node: v.node, operator: v.op.name(), edge, planned, reached: 0 },
        visit,
        results,
        wanted,
        elements,
    };
    let plan = if let Some(Aimed { operand, aim, .. }) = chosen {
        let share = share_at(aim, rng);
        let (wanted, elements) = at_operand(v, operand, aim, share, record, rng);
        let results = if aim.is_non_finite() { Results::Any } else { Results::Finite };
        plan(aim.name(), wanted.len(), results, Some((operand, wanted)), elements)
    } else {
        let elements = at_branches(v, branches, record, rng);
        plan("a branch", elements.len(), Results::Finite, None, elements)
    };
    (!plan.elements.is_empty()).then_some(plan)
}

/// All of some elements, or every fourth.
fn share(rng: &mut impl Rng) -> f64 {
    if rng.random() { 1.0 } else { 0.25 }
}

/// The share of an operand's elements that are moved to an edge, besides one: few where most devices would not be judged on them,
/// and none where that goes for all that depends on them.
fn share_at(aim: Aim, rng: &mut impl Rng) -> f64 {
    match (aim.is_non_finite(), aim.is_open_to_devices()) {
        (true, _) => 0.0,
        (_, true) => share(rng) / 8.0,
        (_, false) => share(rng),
    }
}

/// What the free elements must be for an operator to be where it branches, or one step beside.
fn at_branches(
    v: &Visit<'_, Tracing<'_>>,
    branches: &[(u32, f64)],
    record: &Record,
    rng: &mut impl Rng,
) -> Vec<Element> {
    let Some(format) = v.types.iter().flatten().find_map(|t| t.dtype.float()) else { return Vec::new() };
    let share = share(rng);
    let mut elements = Vec::new();
    for &(place, point) in branches {
        if rng.random_bool(share) {
            let beside = if rng.random() { 0 } else { rng.random_range(-1..=1) };
            let value = point + f64::from(beside) * format.ulp(point);
            elements.extend(record.pull(place, Number::Real(value)));
        }
    }
    elements
}

/// An operand's numbers, with the places that carry them.
fn places(v: &Visit<'_, Tracing<'_>>, operand: usize) -> Vec<(Number, Option<u32>)> {
    let real = |x: &Traced<f64>| (Number::Real(x.value), x.place);
    let int = |z: &Traced<i128>| (Number::Int(z.value), z.place);
    match v.operands.get(operand).copied().flatten() {
        Some(Data::Real(a)) => a.iter().map(real).collect(),
        Some(Data::Int(a)) => a.iter().map(int).collect(),
        None => Vec::new(),
    }
}

fn is_carried(v: &Visit<'_, Tracing<'_>>, operand: usize) -> bool {
    match v.operands.get(operand).copied().flatten() {
        Some(Data::Real(a)) => a.iter().any(|x| x.place.is_some()),
        Some(Data::Int(a)) => a.iter().any(|z| z.place.is_some()),
        None => false,
    }
}

/// What an operand's elements should be, and what the free elements must be for that.
fn at_operand(
    v: &Visit<'_, Tracing<'_>>,
    operand: usize,
    aim: Aim,
    share: f64,
    record: &Record,
    rng: &mut impl Rng,
) -> (Vec<(usize, Number)>, Vec<Element>) {
    let mut met = aim.meets().map(|other| places(v, other)).unwrap_or_default();
    let Some(dtype) = v.types[operand].map(|ty| ty.dtype) else { return (Vec::new(), Vec::new()) };
    let places = places(v, operand);
    // One at least, which one no matter.
    let one = rng.random_range(0..places.len().max(1));
    let with_one = aim.moves_both().then(|| one % met.len().max(1));
    // Zeros meet only where they are made to: of other numbers there are more. A divisor stays what it is.
    let may_be_zeros = matches!(aim, Aim::Edge(Edge::Meets(_)));
    let zeros = if may_be_zeros && rng.random_bool(ZEROS) { share } else { 0.0 };
    let mut wanted = Vec::new();
    let mut elements = at_met(&mut met, record, |i, number| {
        let is_moved = with_one == Some(i) || rng.random_bool(zeros);
        is_moved.then(|| boundary::met(aim, dtype, number, rng))
    });
    for (i, (_, place)) in places.into_iter().enumerate() {
        let Some(place) = place else { continue };
        if i != one && !rng.random_bool(share) {
            continue;
        }
        let other = met.get(i % met.len().max(1)).map(|m| m.0);
        let number = boundary::number(aim, dtype, other, rng);
        if let Some(element) = record.pull(place, number) {
            wanted.push((i, number));
            elements.push(element);
        }
    }
    (wanted, elements)
}

/// Makes other numbers of some of an operand's, where what carries them can; what the free elements must be for that.
fn at_met(
    numbers: &mut [(Number, Option<u32>)],
    record: &Record,
    mut other: impl FnMut(usize, Number) -> Option<Number>,
) -> Vec<Element> {
    let mut elements = Vec::new();
    for (i, (number, place)) in numbers.iter_mut().enumerate() {
        if let Some(place) = place
            && let Some(other) = other(i, *number)
            && let Some(element) = record.pull(*place, other)
        {
            *number = other;
            elements.push(element);
        }
    }
    elements
}
