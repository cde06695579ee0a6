//! The search for values on which every operator is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interp::Error;
use interp::walk::Former;
use ir::{NodeId, Stream, Tensor};
use ops::Model;
use ops::plain::Plain;
use rand::RngExt;

use crate::decided::{self, Openness};
use crate::draw;
use crate::found::{Budget, FoundValues, Tensors, are_shared, free_nodes};
use crate::invert;
use crate::repair::{self, Repair};
use crate::undefined::{self, Results, UndefinedAt, Watch};

/// Searches values for the variables of a model's main graph, and for its constants among `free`.
pub fn find_values(
    model: &Model,
    free: &[NodeId],
    stream: Stream,
    budget: Budget,
) -> Result<FoundValues, Error> {
    model.validate()?;
    Ok(search(model, free, stream, budget).0)
}

/// The search of [`find_values`] in a valid model, and where it is undefined on what it ends with. In most models, values are
/// drawn anew where much would be open under the profile that promises least.
pub(crate) fn search(
    model: &Model,
    free: &[NodeId],
    stream: Stream,
    budget: Budget,
) -> (FoundValues, Option<UndefinedAt>) {
    let (mut found, undefined) = once(model, free, stream, budget);
    let is_promised = stream.child("decided").rng().random_bool(DECIDED);
    if undefined.is_some() || !is_promised || budget.anew == 0 {
        return (found, undefined);
    }
    let mut openness = Openness::new(model, decided::LEAST);
    let mut least = openness.on(&found.tensors);
    for again in 0..budget.anew {
        if least <= decided::FEW || found.runs >= budget.runs {
            break;
        }
        let budget = Budget { runs: budget.runs - found.runs, ..budget };
        let (other, undefined) = once(model, free, stream.child("anew").at(again), budget);
        let runs = found.runs + other.runs;
        if undefined.is_none() {
            let open = openness.on(&other.tensors);
            if open < least {
                (found, least) = (other, open);
            }
        }
        found.runs = runs;
    }
    (FoundValues { open: least, ..found }, undefined)
}

/// One search, whatever is open.
fn once(
    model: &Model,
    free: &[NodeId],
    stream: Stream,
    budget: Budget,
) -> (FoundValues, Option<UndefinedAt>) {
    let free = free_nodes(model, free);
    let watch = Watch::new(model);
    let mut runs = 0;
    if undefined::may_be_far(model) && stream.child("promised").rng().random_bool(PROMISED) {
        let mut search = Search::new(&watch, model, &free, Results::Promised, budget, runs);
        let Tried { tensors, former, .. } =
            search.from(STARTS[0], stream.child("start").at(0), budget.runs / PARTS);
        runs = search.runs;
        if watch.first(&tensors, Results::Finite, &former).0.is_none() {
            return (FoundValues { tensors, runs, all_defined: true, open: 0.0 }, None);
        }
    }
    let mut search = Search::new(&watch, model, &free, Results::Finite, budget, runs);
    let mut best: Option<(Tensors, UndefinedAt)> = None;
    for (start, tamer) in STARTS.into_iter().enumerate() {
        let at = stream.child("start").at(start as u64);
        let tried = search.from(tamer, at, runs + budget.runs * (start as u32 + 1) / STARTS.len() as u32);
        match tried {
            Tried { tensors, undefined: None, .. } => {
                return (FoundValues { tensors, runs: search.runs, all_defined: true, open: 0.0 }, None);
            }
            Tried { tensors, undefined: Some(undefined), .. } => {
                if best.as_ref().is_none_or(|(_, other)| undefined.better_than(other)) {
                    best = Some((tensors, undefined));
                }
            }
        }
        if !search.can_help(best.as_ref().map(|(_, undefined)| undefined)) {
            break;
        }
    }
    let (tensors, undefined) = best.unzip();
    (
        FoundValues {
            tensors: tensors.unwrap_or_default(),
            runs: search.runs,
            all_defined: false,
            open: 0.0,
        },
        undefined,
    )
}

/// How the first draw of each attempt is made. A search that ends because it cannot repair something starts
/// again from another draw, which may not meet it.
const STARTS: [draw::Tamer; 4] =
    [draw::Tamer::Not, draw::Tamer::Positive, draw::Tamer::Small, draw::Tamer::Not];

/// The share of models whose values are drawn anew where much would be open under the profile that promises least.
const DECIDED: f64 = 0.97;

/// The share of models whose values are sought where every profile promises something. On the others an angle is what
/// it is: a device that has WGSL's word alone is not judged there, and others are.
const PROMISED: f64 = 0.94;

/// Into how many such parts the runs of a search are divided: it is no loss where the first part does not find such values.
const PARTS: u32 = 16;

/// Values, and what came of a run on them.
struct Tried<'a> {
    tensors: Tensors,
    undefined: Option<UndefinedAt>,
    former: Former<Plain<'a>>,
}

/// A search in one model.
struct Search<'a> {
    watch: &'a Watch<'a>,
    model: &'a Model,
    free: &'a BTreeSet<NodeId>,
    ranges: BTreeMap<NodeId, draw::Range>,
    asked: Results,
    budget: Budget,
    runs: u32,
}

impl<'a> Search<'a> {
    /// A search that has run the graph so often before.
    fn new(
        watch: &'a Watch<'a>,
        model: &'a Model,
        free: &'a BTreeSet<NodeId>,
        asked: Results,
        budget: Budget,
        runs: u32,
    ) -> Self {
        Self { watch, model, free, ranges: draw::ranges(model, free, asked), asked, budget, runs }
    }

    /// Runs the graph on values, after a run on others.
    fn run(&self, tensors: Tensors, former: &Former<Plain<'a>>) -> Tried<'a> {
        let (undefined, former) = self.watch.first(&tensors, self.asked, former);
        Tried { tensors, undefined, former }
    }

    fn draw(&self, id: NodeId, at: Stream, tamer: draw::Tamer) -> Option<Tensor> {
        let ty = self.model.graph.node(id).outputs.first()?;
        Some(draw::tensor(ty, self.ranges.get(&id), at.at(id.0.into()), tamer))
    }

    /// The free tensors with elements on which the operator at fault depends.
    fn leaves(&self, undefined: &UndefinedAt) -> BTreeSet<NodeId> {
        let holds = |id: &&NodeId| {
            let ty = self.model.graph.node(**id).outputs.first();
            ty.is_some_and(|ty| !ty.shape.contains(&0))
        };
        undefined.leaves(self.model).intersection(self.free).filter(holds).copied().collect()
    }

    /// Whether there is anything to choose that what is undefined depends on.
    fn can_help(&self, undefined: Option<&UndefinedAt>) -> bool {
        undefined.is_some_and(|undefined| !self.leaves(undefined).is_empty())
    }

    /// Gives tensors whose elements are counted as many that are not zero as their readers have room for.
    fn count(&self, tensors: &mut Tensors, at: Stream) {
        for (id, range) in self.ranges.iter().filter(|(_, range)| range.nonzero.is_some()) {
            if let Some(tensor) = tensors.remove(id) {
                let counted = draw::counted(Arc::unwrap_or_clone(tensor), range, at.at(id.0.into()));
                tensors.insert(*id, Arc::new(counted));
            }
        }
    }

    /// A first draw, repaired until nothing is at fault or the runs are used up.
    fn from(&mut self, tamer: draw::Tamer, stream: Stream, runs: u32) -> Tried<'a> {
        let draw = |&id: &NodeId| Some((id, Arc::new(self.draw(id, stream.child("first"), tamer)?)));
        let drawn = self.free.iter().filter_map(draw).collect();
        self.runs += 1;
        let mut best = self.run(drawn, &Former::none());
        while let Some(better) = self.improve(&best, stream, runs) {
            best = better;
        }
        best
    }

    /// Values with which a run gets further than to the fault on the best so far, if it has one.
    fn improve(&mut self, best: &Tried<'a>, stream: Stream, runs: u32) -> Option<Tried<'a>> {
        let Tried { tensors: best, undefined: Some(now), former } = best else { return None };
        let leaves = self.leaves(now);
        if leaves.is_empty() {
            return None;
        }
        for repair in Repair::PLAN.into_iter().cycle() {
            if self.runs >= runs {
                return None;
            }
            let at = stream.child("repair").at(self.runs.into());
            self.runs += 1;
            let candidate = match repair {
                Repair::Pull => invert::repair(self.model, best, &leaves, now, self.budget.tape, at),
                Repair::Draw(tamer) => Some(redraw(best, &leaves, |id, _| self.draw(id, at, tamer))),
                Repair::Mix(tamer) => Some(redraw(best, &leaves, |id, old| {
                    Some(repair::mix(old, &self.draw(id, at, tamer)?, at.child("mix").at(id.0.into())))
                })),
                Repair::Gradient => repair::descend(self.model, best, &leaves, now, self.budget.tape),
            };
            let Some(mut candidate) = candidate else { continue };
            self.count(&mut candidate, at);
            if are_shared(&candidate, best) {
                continue;
            }
            let then = self.run(candidate, former);
            if then.undefined.as_ref().is_none_or(|then| then.better_than(now)) {
                return Some(then);
            }
        }
        None
    }
}

fn redraw(
    tensors: &Tensors,
    leaves: &BTreeSet<NodeId>,
    draw: impl Fn(NodeId, &Tensor) -> Option<Tensor>,
) -> Tensors {
    let mut all = tensors.clone();
    all.extend(leaves.iter().filter_map(|&id| Some((id, Arc::new(draw(id, tensors.get(&id)?)?)))));
    all
}

/// The first operator that is undefined or not finite on some values of a model, if there is one.
pub fn first_undefined(model: &Model, tensors: &Tensors) -> Result<Option<NodeId>, Error> {
    model.validate()?;
    Ok(undefined::first(model, tensors, Results::Finite).map(|f: UndefinedAt| f.node))
}
