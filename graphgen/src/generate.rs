//! From a seed to a model.

use ir::{DTypes, NodeId, NodeKind, Stream};
use ops::spec::ABOUT_NARROW;
use ops::{Model, Spec};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::builder::{GraphBuilder, Origin, Placeholder, ValueId};
use crate::function;
use crate::grow::{Measure, grow};
use crate::insert::{Frame, Inserter};
use crate::policy::{DENSE, Pattern, Policy, choose};
use crate::related;
use crate::settings::Settings;
use crate::turn::Turn;
use crate::{terse, unnamed};

/// How many draws are made for each node wanted before the graph is left smaller.
const ATTEMPTS_PER_NODE: usize = 60;
/// How many graphs are drawn until one can be grown into its budget: one that only moves elements takes no operations
/// however large it is.
const GRAPHS: u64 = 10;

/// The share of nodes that are drawn until they read or give a value of a narrow dtype, in a graph that may have some.
const NARROW: f64 = 0.25;
/// How many draws are made for such a node. Many are needed: most operators that take narrow dtypes take all
/// others, too.
const NARROW_DRAWS: u64 = 24;
/// The share of these draws whose operator rounds to a narrow dtype.
const ROUNDING: f64 = 0.4;

/// How many operators that take many operations all but the first of them are drawn around.
const DENSE_NODES: usize = 3;

/// A generated model.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The model. Its constants hold zeros so far.
    pub model: Model,
    /// The constants of the main graph, whose elements are free to choose.
    pub constants: Vec<NodeId>,
    /// How many draws were made that came to nothing.
    pub rejected: usize,
    /// How many draws, those inside of a chain included, had a form that the settings refuse.
    pub refused: usize,
}

/// A random model. It has `settings.nodes` operator nodes, or fewer where the settings admit no more; it never exceeds
/// its budget, and reaches a budget that is to be filled nearly always.
pub fn generate(settings: &Settings, policy: &dyn Policy, stream: Stream) -> Generated {
    if settings.available_in(settings.opset).next().is_none() {
        let model = Model::new(settings.opset, ops::Graph::new());
        return Generated { model, constants: Vec::new(), rejected: 0, refused: 0 };
    }
    let settings = &settings.of_one(stream);
    let empty = stream.child("empty").rng().random_bool(settings.empty_dims.clamp(0.0, 1.0));
    let budget = settings.budget.of_one(stream.child("budget"));
    let taps = stream.child("tap");
    let tap = |v: ValueId| taps.at(v as u64).rng().random_bool(settings.tap.clamp(0.0, 1.0));
    let frame = Frame {
        min_dim: i64::from(!empty),
        long_dim: settings.long_dim(stream.child("long")),
        usual_dim: settings.usual_dim(stream.child("usual")),
        usual_dtype: settings.usual_dtype(stream.child("dtype")),
        budget,
        tap: &tap,
    };
    let Drawn { builder, rejected, refused } = if budget.is_filled() {
        filled(settings, policy, &frame, stream)
    } else {
        draw(settings, policy, &frame, &[], stream)
    };
    let graph = finish(&builder, settings.constant, &tap, stream.child("form"));
    let mut model = Model::new(settings.opset, graph);
    function::extract(&mut model, settings.function, stream.child("function"));
    terse::mark(&mut model, settings.terse, stream.child("terse"));
    unnamed::mark(&mut model, settings.unnamed, stream.child("unnamed"));
    let constants = model.graph.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Constant(_)));
    let constants = constants.map(|(id, _)| id).collect();
    Generated { model, constants, rejected, refused }
}

/// A graph, and what its drawing took.
#[derive(Default)]
struct Drawn {
    builder: GraphBuilder,
    /// How many draws came to nothing.
    rejected: usize,
    /// How many had a form that the settings refuse.
    refused: usize,
}

/// The first of some graphs that fills its budget, or the one that comes nearest.
fn filled(settings: &Settings, policy: &dyn Policy, frame: &Frame<'_>, stream: Stream) -> Drawn {
    let is_dense = |spec: &&&'static Spec| DENSE.contains(&spec.name);
    let dense: Vec<&'static Spec> = settings.available().iter().filter(is_dense).copied().collect();
    let mut best: Option<(Measure, Drawn)> = None;
    let (mut rejected, mut refused) = (0, 0);
    for i in 0..GRAPHS {
        let stream = stream.child("fill").at(i);
        // The first graph is as it comes.
        let seeds = if i == 0 { 0 } else { DENSE_NODES.min(settings.nodes) };
        let mut choices = stream.child("dense").rng();
        let seeds: Vec<_> = (0..seeds).filter_map(|_| dense.choose(&mut choices).copied()).collect();
        let mut drawn = draw(settings, policy, frame, &seeds, stream);
        rejected += drawn.rejected;
        refused += drawn.refused;
        let grown =
            grow(&mut drawn.builder, settings, &frame.budget, frame.tap, &mut stream.child("grow").rng());
        if best.as_ref().is_none_or(|(other, _)| grown.is_better_than(other)) {
            best = Some((grown, drawn));
        }
        if grown.is_good() {
            break;
        }
    }
    Drawn { rejected, refused, ..best.map(|(_, drawn)| drawn).unwrap_or_default() }
}

/// A graph as it is drawn, around some operators.
fn draw(
    settings: &Settings,
    policy: &dyn Policy,
    frame: &Frame<'_>,
    seeds: &[&'static Spec],
    stream: Stream,
) -> Drawn {
    let available = Available::of(settings);
    let mut inserter = Inserter::new(settings, frame);
    let mut rejected = 0;
    for (i, spec) in seeds.iter().enumerate() {
        let stream = stream.child("seed").at(i as u64);
        (0..ATTEMPTS_PER_NODE as u64).find(|&t| inserter.forward(spec, &[], stream.at(t)));
    }
    let turns: Vec<Turn> = settings.due.all().collect();
    let mut turns = turns.into_iter();
    for attempt in 0..settings.nodes * ATTEMPTS_PER_NODE {
        let stream = stream.child("node").at(attempt as u64);
        let missing = settings.nodes - inserter.builder.nodes.len();
        if missing == 0 {
            break;
        }
        // Due uses come in the middle, so that other nodes feed them and read their results.
        let is_due = missing <= turns.len().max(settings.nodes / 2);
        let inserted = match if is_due { turns.next() } else { None } {
            Some(turn) => turn.insert(&mut inserter, stream.child("turn")),
            None => step(&mut inserter, settings, policy, &available, missing, stream),
        };
        rejected += usize::from(!inserted);
    }
    Drawn { refused: inserter.refused(), builder: inserter.builder, rejected }
}

/// The operators that a graph may have.
struct Available {
    all: Vec<&'static Spec>,
    narrow: Narrow,
}

/// The narrow dtypes that a graph may have, and the operators that take or give some.
struct Narrow {
    dtypes: DTypes,
    operators: Vec<&'static Spec>,
    /// The operators among them that round to such a dtype: they have attributes that say how. Most others
    /// only move elements.
    rounding: Vec<&'static Spec>,
}

impl Available {
    fn of(settings: &Settings) -> Self {
        let all = settings.available();
        let dtypes = settings.dtypes.intersection(settings.wanted).intersection(DTypes::NARROW);
        let has = |types: DTypes| !types.intersection(dtypes).is_empty();
        let is_narrow = |spec: &&&'static Spec| {
            (0..spec.inputs.len()).any(|i| has(spec.input_types(i, settings.opset)))
                || (0..spec.outputs.len()).any(|i| has(spec.output_types(i, settings.opset)))
        };
        let operators: Vec<&'static Spec> = all.iter().filter(is_narrow).copied().collect();
        let rounds = |spec: &&&'static Spec| spec.fields.iter().any(|f| ABOUT_NARROW.contains(&f.name));
        let rounding = operators.iter().filter(rounds).copied().collect();
        Self { narrow: Narrow { dtypes, operators, rounding }, all }
    }
}

impl Narrow {
    /// Whether the next node is to have one of them.
    fn is_due(&self, stream: Stream) -> bool {
        !self.operators.is_empty() && stream.rng().random_bool(NARROW)
    }

    /// Inserts a node that has one of them. Says whether it did.
    fn insert(&self, inserter: &mut Inserter<'_>, policy: &dyn Policy, stream: Stream) -> bool {
        (0..NARROW_DRAWS).any(|draw| {
            let stream = stream.at(draw);
            let mut rng = stream.child("choice").rng();
            let rounds = !self.rounding.is_empty() && rng.random_bool(ROUNDING);
            let spec = choose(policy, if rounds { &self.rounding } else { &self.operators }, &mut rng);
            spec.is_some_and(|spec| inserter.forward_on(spec, self.dtypes, stream))
        })
    }
}

/// Inserts a node, or a pattern of at most `missing` nodes. Says whether it did.
fn step(
    inserter: &mut Inserter<'_>,
    settings: &Settings,
    policy: &dyn Policy,
    available: &Available,
    missing: usize,
    stream: Stream,
) -> bool {
    if available.narrow.is_due(stream.child("narrow")) {
        return available.narrow.insert(inserter, policy, stream.child("narrow"));
    }
    let mut rng = stream.child("choice").rng();
    if missing > 1 && rng.random_bool(settings.pattern.clamp(0.0, 1.0)) {
        let pattern = policy.patterns().choose(&mut rng);
        return pattern.is_some_and(|p| insert_pattern(inserter, &available.all, p, missing, stream));
    }
    if !inserter.builder.nodes.is_empty() && rng.random_bool(settings.related.clamp(0.0, 1.0)) {
        return related::insert(inserter, settings, policy, &available.all, stream);
    }
    let Some(spec) = choose(policy, &available.all, &mut rng) else { return false };
    let wanted =
        inserter.open_placeholder(&mut rng).filter(|_| rng.random_bool(settings.backward.clamp(0.0, 1.0)));
    match wanted {
        Some(wanted) => inserter.backward(spec, wanted, stream),
        None => inserter.forward(spec, &[], stream),
    }
}

/// Inserts the operators of a pattern one after the other, as far as they go.
fn insert_pattern(
    inserter: &mut Inserter<'_>,
    available: &[&'static Spec],
    pattern: &Pattern,
    missing: usize,
    stream: Stream,
) -> bool {
    const TRIES: u64 = 8;
    let mut given: Vec<Vec<ValueId>> = Vec::with_capacity(pattern.steps.len());
    for (i, step) in pattern.steps.iter().take(missing).enumerate() {
        let Some(spec) = available.iter().find(|s| s.name == step.operator) else { break };
        let stream = stream.child("chain").at(i as u64);
        let used: Vec<Vec<ValueId>> = step.uses.iter().map(|&of| given[of].clone()).collect();
        if !(0..TRIES).any(|t| inserter.forward(spec, &used, stream.at(t))) {
            break;
        }
        given.extend(inserter.builder.nodes.last().map(|n| n.outputs.clone()));
    }
    !given.is_empty()
}

fn finish(
    builder: &GraphBuilder,
    constant: f64,
    tap: &dyn Fn(ValueId) -> bool,
    stream: Stream,
) -> ops::Graph {
    let placeholder =
        |v: &ValueId| !matches!(builder.values[*v].origin, Origin::Node(_)) && builder.values[*v].uses > 0;
    // A graph without inputs would be folded into constants by any optimiser, so one placeholder stays open.
    let first = (0..builder.values.len()).find(placeholder);
    let mut forms = stream.rng();
    builder.finish(
        |v| {
            let constant = forms.random_bool(constant.clamp(0.0, 1.0)) && Some(v) != first;
            if constant { Placeholder::Constant } else { Placeholder::Variable }
        },
        tap,
    )
}
