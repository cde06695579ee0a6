//! Where a graph is undefined on some values.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use ir::{NodeId, NodeKind};
use ndarray::ArrayD;
use ops::operator::Edge;
use ops::plain::{Plain, Undefined};
use ops::{Data, Hazard, Model, Operator};

use crate::boundary;
use crate::found::Tensors;
use crate::watch::Watched;
use interp::walk::{Former, Held, Visit, walk_after};

/// The first operator of a run that is undefined or not finite.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UndefinedAt {
    /// Its node in the main graph; a call if it is inside a function.
    pub node: NodeId,
    /// Its number among the operators that the run visits, those inside of functions included.
    pub visit: usize,
    /// How many elements are at fault.
    pub elements: usize,
    /// How far the elements of the operands are from where they should be, in all.
    pub distance: f64,
    /// The operands to move, and where to. If an operator is not finite although nothing is wrong with its
    /// operands, all of them are to move towards smaller magnitudes.
    pub wishes: Vec<(usize, Wish)>,
}

/// Where the elements of an operand should go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Wish {
    /// Between the bounds.
    Between(f64, f64),
    /// Away from a number.
    Not(f64),
    /// To a smaller magnitude.
    Smaller,
}

impl Wish {
    /// What a hazard asks of an operand, element by element.
    pub(crate) const fn of(hazard: &Hazard) -> Option<(usize, Self)> {
        match *hazard {
            Hazard::Outside { operand, low, high }
            | Hazard::Perhaps { operand, low, high }
            | Hazard::Far { operand, low, high } => Some((operand, Self::Between(low, high))),
            Hazard::Zero { operand } => Some((operand, Self::Not(0.0))),
            Hazard::Meeting { other, met, .. } => Some((other, Self::Not(met))),
            Hazard::Count { .. } | Hazard::Repeated { .. } | Hazard::Ties { .. } | Hazard::Always => None,
        }
    }

    /// Whether an element is where it should be.
    pub(crate) fn holds(self, v: f64) -> bool {
        match self {
            Self::Between(low, high) => (low..=high).contains(&v),
            Self::Not(number) => v != number,
            Self::Smaller => v.abs() <= 1.0,
        }
    }

    /// How many elements are not, and how far they have to go in all.
    fn broken(self, elements: impl Iterator<Item = f64>) -> (usize, f64) {
        elements
            .filter(|&v| !self.holds(v))
            .fold((0, 0.0), |(count, away), v| (count + 1, away + (v - self.target(v)).abs()))
    }

    /// Where an element that is not should go.
    pub(crate) fn target(self, v: f64) -> f64 {
        match self {
            Self::Between(low, high) => {
                let margin = ((high - low) / 4.0).min(0.5);
                v.clamp(low + margin, high - margin)
            }
            Self::Not(number) => number + 0.5f64.copysign(v),
            Self::Smaller => v / 4.0,
        }
    }
}

impl UndefinedAt {
    /// Whether a run got further with this fault than with another.
    pub(crate) fn better_than(&self, other: &Self) -> bool {
        // A little nearer is no progress: a search would follow a slope that ends nowhere.
        (self.visit, other.elements) > (other.visit, self.elements)
            || ((self.visit, self.elements) == (other.visit, other.elements)
                && self.distance < 0.9 * other.distance)
    }

    /// The variables and constants on which the operands at fault depend.
    pub(crate) fn leaves(&self, model: &Model) -> BTreeSet<NodeId> {
        let graph = &model.graph;
        let mut open: Vec<NodeId> = graph.node(self.node).uses().map(|v| v.node).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(graph.node(id).uses().map(|v| v.node));
            }
        }
        seen
    }
}

/// What a run asks of the elements of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Results {
    /// All are finite, and every profile promises something of them.
    Promised,
    /// All are finite.
    Finite,
    /// Infinities and NaN are meant.
    Any,
}

/// The first operator of a model that is undefined on some values; constants not among them have their own.
pub(crate) fn first(model: &Model, tensors: &Tensors, asked: Results) -> Option<UndefinedAt> {
    let watch = Watch::new(model);
    watch.first(tensors, asked, &Former::none()).0
}

/// Whether an operator has elements of which a profile may promise nothing.
pub(crate) fn may_be_far(model: &Model) -> bool {
    let graphs = model.functions.iter().map(|function| &function.body).chain([&model.graph]);
    graphs.flat_map(|graph| graph.nodes.iter().map(move |node| (graph, node))).any(|(graph, node)| {
        let NodeKind::Operator(op) = &node.kind else { return false };
        op.hazards(&graph.types(&node.inputs)).iter().any(|hazard| matches!(hazard, Hazard::Far { .. }))
    })
}

/// Runs of a model on some values and others, each after one on which as much was asked of the results, or more.
pub(crate) struct Watch<'m> {
    model: &'m Model,
    undefined: Undefined,
}

impl<'m> Watch<'m> {
    /// No run yet.
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, undefined: Undefined::default() }
    }

    /// [`first`], with what the run computed up to there.
    pub(crate) fn first<'w>(
        &'w self,
        tensors: &Tensors,
        asked: Results,
        former: &Former<Plain<'w>>,
    ) -> (Option<UndefinedAt>, Former<Plain<'w>>) {
        self.see(tensors, asked, former, &mut |_, _| {})
    }

    /// The same, where `see` is told of every operator before, by its number.
    pub(crate) fn see<'w>(
        &'w self,
        tensors: &Tensors,
        asked: Results,
        former: &Former<Plain<'w>>,
        see: &mut dyn FnMut(usize, &Visit<'_, Plain<'w>>),
    ) -> (Option<UndefinedAt>, Former<Plain<'w>>) {
        let mut found = None;
        let mut number = 0;
        let mut visit = |v: &Visit<'_, Plain<'w>>| {
            see(number, v);
            if !v.is_known {
                found = undefined_at(v, number, self.undefined.take(), asked);
            }
            number += 1;
            found.is_none()
        };
        let given = |id| tensors.get(&id).map(Held::of);
        let walked = walk_after(&Watched(&self.undefined), self.model, former, &given, &mut visit);
        (found, walked.now)
    }
}

/// Whether an operand has a number anywhere where the element of another one that it meets is a certain one.
fn meet(v: &Visit<'_, Plain<'_>>, (x, value): (usize, f64), (y, met): (usize, f64)) -> bool {
    let shape = match v.results.first() {
        Some(Data::Real(a)) => a.shape(),
        Some(Data::Int(a)) => a.shape(),
        None => return false,
    };
    let (Some(x), Some(y)) = (places(v, x, value), places(v, y, met)) else { return false };
    let (Some(x), Some(y)) = (x.broadcast(shape), y.broadcast(shape)) else { return false };
    x.iter().zip(y.iter()).any(|(x, y)| *x && *y)
}

/// How many elements of an operand are not zero.
fn counted(v: &Visit<'_, Plain<'_>>, operand: usize) -> u64 {
    let count = match v.operands.get(operand).copied().flatten() {
        Some(Data::Real(a)) => a.iter().filter(|&&x| x != 0.0).count(),
        Some(Data::Int(a)) => a.iter().filter(|&&z| z != 0).count(),
        None => 0,
    };
    count as u64
}

/// Where an operand is a number.
fn places(v: &Visit<'_, Plain<'_>>, operand: usize, number: f64) -> Option<ArrayD<bool>> {
    Some(match v.operands.get(operand).copied().flatten()? {
        Data::Real(a) => a.mapv(|x| x == number),
        Data::Int(a) => a.mapv(|z| z as f64 == number),
    })
}

/// Whether a run asks for what a hazard does.
fn is_asked(v: &Visit<'_, Plain<'_>>, hazard: &Hazard, is_undefined: bool, asked: Results) -> bool {
    match *hazard {
        // Where infinities and NaN are meant, operands may be where nothing worse comes of them.
        Hazard::Outside { operand, .. } | Hazard::Zero { operand } => {
            asked != Results::Any || !boundary::stated(v.op, v.types).contains(&(operand, Edge::Poles))
        }
        Hazard::Far { .. } => asked == Results::Promised,
        // An undefined result shows by itself; what does not meet is defined.
        Hazard::Perhaps { .. } => is_undefined,
        Hazard::Meeting { operand, value, other, met } => meet(v, (operand, value), (other, met)),
        Hazard::Count { .. } | Hazard::Repeated { .. } | Hazard::Ties { .. } | Hazard::Always => false,
    }
}

fn undefined_at(
    v: &Visit<'_, Plain<'_>>,
    visit: usize,
    undefined: usize,
    asked: Results,
) -> Option<UndefinedAt> {
    let is_infinite = |data: &Data<Plain<'_>>| match data {
        Data::Real(a) => a.iter().any(|x| x.is_infinite()),
        Data::Int(_) => false,
    };
    // What is searched for is finite: an infinite operand is a constant of the model's own, such as the mask of an
    // attention, or comes from one. What is made of no elements, such as the least of none, is what it is.
    let is_inherited = LazyCell::new(|| {
        let mut operands = v.operands.iter().flatten().peekable();
        let is_of_none = operands.peek().is_some_and(|data| data.shape().contains(&0));
        is_of_none || operands.any(|data| is_infinite(data))
    });
    let infinite = |data: &Data<Plain<'_>>| match data {
        Data::Real(a) if asked != Results::Any => {
            a.iter().filter(|x| x.is_nan() || (x.is_infinite() && !*is_inherited)).count()
        }
        Data::Real(_) | Data::Int(_) => 0,
    };
    let mut elements = undefined + v.results.iter().map(|data| infinite(data)).sum::<usize>();
    let is_undefined = elements > 0;
    let (mut distance, mut wishes) = (0.0, Vec::new());
    for hazard in v.op.hazards(v.types) {
        if let Hazard::Count { operand, nonzero } = hazard {
            let missing = counted(v, operand).abs_diff(nonzero);
            elements += missing as usize;
            distance += missing as f64;
        }
        if !is_asked(v, &hazard, is_undefined, asked) {
            continue;
        }
        let Some((operand, wish)) = Wish::of(&hazard) else { continue };
        let (broken, away) = match v.operands.get(operand).copied().flatten() {
            Some(Data::Real(a)) => wish.broken(a.iter().copied()),
            Some(Data::Int(a)) => wish.broken(a.iter().map(|&z| z as f64)),
            None => (0, 0.0),
        };
        if broken > 0 {
            elements += broken;
            distance += away;
            wishes.push((operand, wish));
        }
    }
    if elements == 0 {
        return None;
    }
    if wishes.is_empty() {
        wishes.extend((0..v.operands.len()).map(|i| (i, Wish::Smaller)));
    }
    Some(UndefinedAt { node: v.node, visit, elements, distance, wishes })
}
