//! Uses whose turn it is.
//!
//! Independent draws leave out for long what is one of many: among all pairs of an operand's dtype and a result's, the cast from f64 to
//! f16 comes once in hundreds of graphs, and what a runtime gets wrong there alone is not seen. So the graphs of a campaign take turns:
//! each has, among its nodes, the uses that come next in a list of all operators on all dtypes, in an order that has nothing to do with
//! either.

use std::sync::LazyLock;

use ir::{DType, DTypes, Stream};
use ops::Spec;
use rand::seq::SliceRandom;

use crate::insert::Inserter;
use crate::policy::Policy;
use crate::related::keeps_dtype;
use crate::settings::Settings;

/// How many times as many there are in a graph that may have narrow dtypes, all of them on these: such graphs are few, and their casts
/// alone are many.
const OF_NARROW: f64 = 2.0;

/// How many draws are made of one: most operators take the dtypes that are asked for, and some forms are refused.
const DRAWS: u64 = 12;

/// A use of an operator: by the dtypes of its first operand and of its first result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) spec: &'static Spec,
    pub(crate) takes: DType,
    pub(crate) gives: DType,
}

/// The uses that are drawn in a graph besides what chance brings.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Turns {
    usual: Vec<Turn>,
    /// The due uses of a graph that may have narrow dtypes.
    narrow: Vec<Turn>,
}

/// Uses that take turns among themselves.
struct Round {
    /// The uses, in an order of chance. Each has the place of its operator among those that are drawn.
    uses: Vec<(usize, Turn)>,
    /// How many there are in a graph, by the settings' share.
    times: f64,
}

/// All uses of the operators that are drawn, in the newest opset: those on usual dtypes, and the others.
static ALL: LazyLock<[Round; 2]> = LazyLock::new(|| {
    let placed = ops::registry().enumerate();
    let mut all: Vec<(usize, Turn)> =
        placed.flat_map(|(place, spec)| uses(spec).into_iter().map(move |turn| (place, turn))).collect();
    all.shuffle(&mut Stream::new(0).child("turns").rng());
    let is_usual =
        |(_, turn): &(usize, Turn)| [turn.takes, turn.gives].iter().all(|&dtype| DTypes::IR4.contains(dtype));
    let (usual, narrow) = all.into_iter().partition(is_usual);
    [Round { uses: usual, times: 1.0 }, Round { uses: narrow, times: OF_NARROW }]
});

/// The dtypes that an operator's first operand and first result may have within the settings; none where it does not occur.
fn in_use(spec: &Spec, settings: &Settings, policy: &dyn Policy, opset: u32) -> Option<[DTypes; 2]> {
    (settings.may_have(spec, opset) && policy.weight(spec) > 0).then(|| {
        [spec.input_types(0, opset), spec.output_types(0, opset)].map(|types| settings.in_use(spec, types))
    })
}

impl Round {
    /// The uses that are due in the graph of this number, in an opset.
    fn due(&self, settings: &Settings, policy: &dyn Policy, opset: u32, number: u64) -> Vec<Turn> {
        // Asked once for each operator, as it has many uses.
        let operators: Vec<Option<[DTypes; 2]>> =
            ops::registry().map(|spec| in_use(spec, settings, policy, opset)).collect();
        let is_drawn = |place: usize, turn: &Turn| {
            operators[place]
                .is_some_and(|[takes, gives]| takes.contains(turn.takes) && gives.contains(turn.gives))
        };
        let drawn = self.uses.iter().filter(|(place, turn)| is_drawn(*place, turn));
        let within: Vec<Turn> = drawn.map(|(_, turn)| *turn).collect();
        let share = (settings.turns.clamp(0.0, 1.0) * self.times).min(1.0);
        let place = |number: u64| (number as f64 * settings.nodes as f64 * share) as u64;
        let places = place(number)..if within.is_empty() { 0 } else { place(number + 1) };
        places.map(|place| within[(place % within.len() as u64) as usize]).collect()
    }
}

fn uses(spec: &'static Spec) -> Vec<Turn> {
    let opset = *ir::graph::OPSETS.end();
    if spec.inputs.is_empty() || spec.outputs.is_empty() {
        return Vec::new();
    }
    let (takes, gives) = (spec.input_types(0, opset), spec.output_types(0, opset));
    let keeps = keeps_dtype(spec, opset);
    let pairs = takes.iter().flat_map(|takes| gives.iter().map(move |gives| (takes, gives)));
    let pairs = pairs.filter(|(takes, gives)| !keeps || takes == gives);
    pairs.map(|(takes, gives)| Turn { spec, takes, gives }).collect()
}

impl Turns {
    /// The due uses of the graph of this number, in an opset, those of narrow dtypes apart ([`in_opset`](Self::in_opset) has them).
    /// Graphs in a row take all uses within the settings before a use comes again.
    pub fn of(settings: &Settings, policy: &dyn Policy, opset: u32, number: u64) -> Self {
        let [usual, _] = &*ALL;
        Self { usual: usual.due(settings, policy, opset, number), narrow: Vec::new() }
    }

    /// The oldest opset that has all of them.
    pub fn since(&self) -> u32 {
        self.usual.iter().map(Turn::since).max().unwrap_or(*ir::graph::OPSETS.start())
    }

    /// What is due where the graph has another opset: these uses, as far as it has them, and of narrow dtypes, which few opsets have,
    /// those that are due there.
    #[must_use]
    pub fn in_opset(self, settings: &Settings, policy: &dyn Policy, opset: u32, number: u64) -> Self {
        let usual = self.usual.into_iter().filter(|turn| turn.since() <= opset).collect();
        let [_, narrow] = &*ALL;
        Self { usual, narrow: narrow.due(settings, policy, opset, number) }
    }

    /// The due uses of a graph, which has narrow dtypes or not.
    pub(crate) fn one(&self, is_narrow: bool) -> &[Turn] {
        if is_narrow { &self.narrow } else { &self.usual }
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        (self.spec.name, self.takes, self.gives) == (other.spec.name, other.takes, other.gives)
    }
}

impl Turn {
    /// The oldest opset that has the use.
    fn since(&self) -> u32 {
        let has = |opset: &u32| {
            self.spec.input_types(0, *opset).contains(self.takes)
                && self.spec.output_types(0, *opset).contains(self.gives)
        };
        let opsets = self.spec.since()..=*ir::graph::OPSETS.end();
        opsets.clone().find(has).unwrap_or(*opsets.end())
    }

    /// Inserts a node that is the use. Says whether it did: not where the operator has no such use, or the settings refuse its form.
    pub(crate) fn insert(self, inserter: &mut Inserter<'_>, stream: Stream) -> bool {
        (0..DRAWS).any(|draw| inserter.forward_as(self, stream.at(draw)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Weights, generate};

    fn key(turn: &Turn) -> (&'static str, &'static str, &'static str) {
        (turn.spec.name, turn.takes.name(), turn.gives.name())
    }

    #[test]
    fn an_operator_that_has_no_wanted_dtype_takes_no_turn() {
        let wanted = DTypes::of(&[DType::F32]);
        let settings = Settings { wanted, turns: 1.0, nodes: 100, ..Settings::default() };
        for number in 0..20 {
            for turn in &Turns::of(&settings, &Weights, settings.opset, number).usual {
                assert!([turn.takes, turn.gives].contains(&DType::F32), "{}", turn.spec.name);
            }
        }
    }

    #[test]
    fn graphs_in_a_row_take_every_use_once() {
        let settings = Settings::default();
        let all = ALL[0].uses.len();
        let graphs = (all as f64 / (settings.turns * settings.nodes as f64)).ceil() as u64;
        let turns = |first: u64| {
            (first..first + graphs)
                .flat_map(|number| Turns::of(&settings, &Weights, settings.opset, number).usual)
        };
        for first in [0, 12_345] {
            let different: BTreeSet<_> = turns(first).map(|turn| key(&turn)).collect();
            assert_eq!((different.len(), turns(first).count().abs_diff(all) <= 2), (all, true));
        }
        assert!(all > 1000 && graphs < 2000, "{all} {graphs}");
    }

    #[test]
    fn an_older_opset_has_the_uses_that_it_knows() {
        let settings = Settings { operators: ["BitCast", "Abs"].into(), ..Settings::default() };
        let due = (0..).map(|number| (number, Turns::of(&settings, &Weights, settings.opset, number)));
        let with_a_bit_cast = due.filter(|(_, due)| due.usual.iter().any(|turn| turn.spec.name == "BitCast"));
        for (number, due) in with_a_bit_cast.take(5) {
            assert_eq!(due.since(), 26);
            assert_eq!(due.clone().in_opset(&settings, &Weights, 26, number).usual, due.usual);
            let older = due.in_opset(&settings, &Weights, 25, number);
            assert!(older.usual.iter().all(|turn| turn.spec.name == "Abs"), "{older:?}");
        }
    }

    #[test]
    fn what_is_not_asked_for_has_no_turn() {
        let settings = Settings {
            operators: ["Cast", "Conv"].into(),
            wanted: DTypes::of(&[DType::F32, DType::I8]),
            ..Settings::default()
        };
        let of = |settings: &Settings, number| Turns::of(settings, &Weights, 21, number).usual;
        let turns: BTreeSet<_> =
            (0..100).flat_map(|number| of(&settings, number)).map(|turn| key(&turn)).collect();
        let casts = ["f32", "i8"].into_iter().flat_map(|a| ["f32", "i8"].map(|b| ("Cast", a, b)));
        assert_eq!(turns, casts.chain([("Conv", "f32", "f32")]).collect());
        let none = Settings { operators: BTreeSet::new(), ..settings };
        assert_eq!(Turns::of(&none, &Weights, 21, 7), Turns::default());
    }

    #[test]
    fn a_turn_is_in_the_graph() {
        let settings = Settings { nodes: 20, narrow: 0.0, ..Settings::default() };
        let (mut taken, mut all) = (0, 0);
        for number in 0..100 {
            let due = Turns::of(&settings, &Weights, settings.opset, number);
            let turns = due.usual.clone();
            let settings = Settings { due, ..settings.clone() };
            let model = generate(&settings, &Weights, Stream::new(number)).model;
            for turn in &turns {
                let is_it = |(_, node): (ir::NodeId, &ir::Node<ops::Op>)| {
                    let ir::NodeKind::Operator(op) = &node.kind else { return false };
                    let first = node.inputs.first().copied().flatten();
                    op.spec().name == turn.spec.name
                        && first.is_some_and(|value| model.graph.ty(value).dtype == turn.takes)
                        && node.outputs[0].dtype == turn.gives
                };
                all += 1;
                taken += usize::from(model.graph.iter().any(is_it));
            }
        }
        println!("{taken} of {all}");
        assert!(taken * 10 > all * 8, "{taken} of {all}");
    }
}
