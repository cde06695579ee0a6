//! From a seed to a model.

use ir::{NodeId, NodeKind, Stream};
use ops::{Model, Spec};
use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::function;
use crate::insert::Inserter;
use crate::policy::{Policy, choose};
use crate::settings::Settings;
use crate::sketch::{Origin, Placeholder, ValueId};

/// The probability that a placeholder becomes a constant instead of a graph input.
const CONSTANT: f64 = 0.4;
/// The probability that a value with uses is an output of the graph as well.
const TAP: f64 = 0.08;
/// The probability that the next nodes follow a template of the policy.
const TEMPLATE: f64 = 0.12;
/// How many draws are made for each node wanted before the graph is left smaller.
const ATTEMPTS_PER_NODE: usize = 60;

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

/// A random model. It has `settings.nodes` operator nodes, or fewer where the settings admit no more.
pub fn generate(settings: &Settings, policy: &dyn Policy, stream: Stream) -> Generated {
    let available = settings.available();
    let mut inserter = Inserter::new(settings);
    let attempts = settings.nodes * ATTEMPTS_PER_NODE;
    let mut rejected = 0;
    for attempt in 0..attempts {
        let stream = stream.child("node").at(attempt as u64);
        let missing = settings.nodes - inserter.sketch.nodes.len();
        if missing == 0 {
            break;
        }
        rejected += usize::from(!step(&mut inserter, settings, policy, &available, missing, stream));
    }
    let mut model = Model::new(settings.opset, finish(&inserter, stream.child("finish")));
    function::extract(&mut model, settings.function, stream.child("function"));
    let constants = model.graph.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Constant(_)));
    let constants = constants.map(|(id, _)| id).collect();
    Generated { model, constants, rejected, refused: inserter.refused() }
}

/// Inserts a node, or a chain of at most `missing` nodes. Says whether it did.
fn step(
    inserter: &mut Inserter<'_>,
    settings: &Settings,
    policy: &dyn Policy,
    available: &[&'static Spec],
    missing: usize,
    stream: Stream,
) -> bool {
    let mut rng = stream.child("choice").rng();
    if missing > 1 && rng.random_bool(TEMPLATE) {
        return policy
            .templates()
            .choose(&mut rng)
            .is_some_and(|t| chain(inserter, available, t, missing, stream));
    }
    let Some(spec) = choose(policy, available, &mut rng) else { return false };
    let wanted =
        inserter.open_placeholder(&mut rng).filter(|_| rng.random_bool(settings.backward.clamp(0.0, 1.0)));
    match wanted {
        Some(wanted) => inserter.backward(spec, wanted, stream),
        None => inserter.forward(spec, None, stream),
    }
}

/// Inserts the operators of a template one after the other, as far as they go.
fn chain(
    inserter: &mut Inserter<'_>,
    available: &[&'static Spec],
    template: &[&str],
    missing: usize,
    stream: Stream,
) -> bool {
    const TRIES: u64 = 8;
    let mut last: Option<Vec<ValueId>> = None;
    for (i, name) in template.iter().take(missing).enumerate() {
        let Some(spec) = available.iter().find(|s| s.name == *name) else { break };
        let stream = stream.child("chain").at(i as u64);
        if !(0..TRIES).any(|t| inserter.forward(spec, last.as_deref(), stream.at(t))) {
            break;
        }
        last = inserter.sketch.nodes.last().map(|n| n.outputs.clone());
    }
    last.is_some()
}

fn finish(inserter: &Inserter<'_>, stream: Stream) -> ops::Graph {
    let sketch = &inserter.sketch;
    let placeholder =
        |v: &ValueId| !matches!(sketch.values[*v].origin, Origin::Node(_)) && sketch.values[*v].uses > 0;
    // A graph without inputs would be folded into constants by any optimiser, so one placeholder stays open.
    let first = (0..sketch.values.len()).find(placeholder);
    let mut forms = stream.child("form").rng();
    let mut taps = stream.child("tap").rng();
    sketch.finish(
        |v| {
            let constant = forms.random_bool(CONSTANT) && Some(v) != first;
            if constant { Placeholder::Constant } else { Placeholder::Variable }
        },
        |_| taps.random_bool(TAP),
    )
}
