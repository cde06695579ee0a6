//! Uses whose turn it is.
//!
//! Independent draws leave out for long what is one of many: among all pairs of an operand's dtype and a result's, the
//! cast from f64 to f16 comes once in hundreds of graphs, and what a runtime gets wrong there alone is not seen. So the
//! graphs of a campaign take turns: each has, among its nodes, the uses that come next in a list of all operators on
//! all dtypes, in an order that has nothing to do with either.

use std::sync::LazyLock;

use ir::{DType, DTypes, Stream};
use ops::Spec;
use rand::seq::SliceRandom;

use crate::insert::Inserter;
use crate::policy::Policy;
use crate::related::keeps_dtype;
use crate::settings::Settings;

/// How many times as many there are besides, on narrow dtypes, in a graph that may have these: such graphs are few, and their casts
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
    /// Those of narrow dtypes; none of them where the graph is not one that may have such.
    narrow: Option<Vec<Turn>>,
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

/// How many graphs before the one of this number may have narrow dtypes, if it may itself: so many of all, spread evenly.
fn narrow_before(number: u64, share: f64) -> Option<u64> {
    let before = |number: u64| (number as f64 * share.clamp(0.0, 1.0)) as u64;
    (before(number) < before(number + 1)).then(|| before(number))
}

impl Turns {
    /// The due uses of the graph of this number, in an opset. Graphs in a row take all uses within the settings before a use comes
    /// again: those of usual dtypes all graphs, those of narrow dtypes the graphs that may have such.
    pub fn of(settings: &Settings, policy: &dyn Policy, opset: u32, number: u64) -> Self {
        let [usual, narrow] = &*ALL;
        let usual = usual.due(settings, policy, opset, number);
        let narrow =
            narrow_before(number, settings.narrow).map(|number| narrow.due(settings, policy, opset, number));
        Self { usual, narrow }
    }

    /// Whether the graph may have narrow dtypes.
    pub const fn may_be_narrow(&self) -> bool {
        self.narrow.is_some()
    }

    /// The oldest opset that has all of them.
    pub fn since(&self) -> u32 {
        self.all().map(|turn| turn.since()).max().unwrap_or(*ir::graph::OPSETS.start())
    }

    /// Those that the settings have in an opset.
    #[must_use]
    pub fn within(self, settings: &Settings, opset: u32, policy: &dyn Policy) -> Self {
        let is_there = |turn: &Turn| {
            in_use(turn.spec, settings, policy, opset)
                .is_some_and(|[takes, gives]| takes.contains(turn.takes) && gives.contains(turn.gives))
        };
        let within = |turns: Vec<Turn>| turns.into_iter().filter(is_there).collect();
        Self { usual: within(self.usual), narrow: self.narrow.map(within) }
    }

    /// All of them, those of narrow dtypes first: what the graph has of these shall be read by others.
    pub(crate) fn all(&self) -> impl Iterator<Item = Turn> {
        self.narrow.iter().flatten().chain(&self.usual).copied()
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

    /// Inserts a node that is the use. Says whether it did: not where the operator has no such use, or the settings
    /// refuse its form.
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
    fn graphs_with_narrow_dtypes_take_their_uses_one_after_the_other() {
        let settings = Settings::default();
        let all = ALL[1].uses.len();
        let turns = (0..).map(|number| Turns::of(&settings, &Weights, settings.opset, number));
        let narrow = turns.filter_map(|turns| turns.narrow);
        let graphs = (all as f64 / (settings.turns * OF_NARROW * settings.nodes as f64)).ceil() as usize;
        let taken: Vec<Turn> = narrow.take(graphs).flatten().collect();
        let different: BTreeSet<_> = taken.iter().map(key).collect();
        assert_eq!((different.len(), taken.len().abs_diff(all) <= 4), (all, true));
        let share = (0..10_000).filter(|&number| narrow_before(number, settings.narrow).is_some()).count();
        assert_eq!(share, (settings.narrow * 10_000.0) as usize);
    }

    #[test]
    fn an_older_opset_has_the_uses_that_it_knows() {
        let settings = Settings { operators: ["BitCast", "Abs"].into(), ..Settings::default() };
        let due = (0..).map(|number| Turns::of(&settings, &Weights, settings.opset, number));
        let with_a_bit_cast = due.filter(|due| due.usual.iter().any(|turn| turn.spec.name == "BitCast"));
        for due in with_a_bit_cast.take(5) {
            assert!(due.since() >= 26);
            let within = |opset| due.clone().within(&settings, opset, &Weights);
            assert_eq!(within(settings.opset), due);
            assert!(within(25).usual.iter().all(|turn| turn.spec.name == "Abs"), "{due:?}");
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

    /// Of the uses that are due in some graphs, how many there are and how many are in their graph; by those of usual dtypes and others.
    fn taken(numbers: impl Iterator<Item = u64>, settings: &Settings) -> [(usize, usize); 2] {
        let mut counts = [(0, 0); 2];
        for number in numbers {
            let due = Turns::of(settings, &Weights, settings.opset, number);
            let narrow = f64::from(u8::from(due.may_be_narrow()));
            let one = Settings { due: due.clone(), narrow, ..settings.clone() };
            let model = generate(&one, &Weights, Stream::new(number)).model;
            for (turns, (all, taken)) in [due.usual, due.narrow.unwrap_or_default()].iter().zip(&mut counts) {
                *all += turns.len();
                *taken += turns.iter().filter(|turn| is_in(&model, turn)).count();
            }
        }
        counts
    }

    fn is_in(model: &ops::Model, turn: &Turn) -> bool {
        model.graph.iter().any(|(_, node)| {
            let ir::NodeKind::Operator(op) = &node.kind else { return false };
            let first = node.inputs.first().copied().flatten();
            op.spec().name == turn.spec.name
                && first.is_some_and(|value| model.graph.ty(value).dtype == turn.takes)
                && node.outputs[0].dtype == turn.gives
        })
    }

    #[test]
    fn a_turn_is_in_the_graph() {
        let settings = Settings { nodes: 20, narrow: 0.0, function: 0.0, ..Settings::default() };
        let [(all, taken), none] = taken(0..100, &settings);
        assert_eq!(none, (0, 0));
        assert!(all > 200 && taken * 10 > all * 8, "{taken} of {all}");
    }

    #[test]
    fn a_graph_with_narrow_dtypes_has_turns_of_both_kinds() {
        let settings = Settings { nodes: 20, function: 0.0, ..Settings::default() };
        let narrow = (0..600).filter(|&number| narrow_before(number, settings.narrow).is_some());
        let [(usual, usual_taken), (narrow, narrow_taken)] = taken(narrow, &settings);
        println!("{usual_taken} of {usual}, {narrow_taken} of {narrow}");
        assert!(usual > 100 && usual_taken * 10 > usual * 8, "{usual_taken} of {usual}");
        assert!(narrow > 200 && narrow_taken * 10 > narrow * 7, "{narrow_taken} of {narrow}");
    }
}
