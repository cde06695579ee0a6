//! From uses of an operator and what an engine said of them to the forms that it refuses.
//!
//! Sought are few short conjunctions of facts that hold of all uses that were refused and of none that was not. They
//! are found greedily: first those of no fact (the whole operator), then of one, two and three, and among these the
//! one that explains the most. A set of words (of dtypes, say) counts as one fact, so that an engine that lacks five
//! dtypes is not explained by the ranks that happened to be drawn. Thresholds are as tight as what was refused:
//! nothing is said of a rank that nobody tried.
//!
//! What is learnt from few uses may be an accident. So a form is a guess until uses drawn for it were refused too
//! ([`atoms`] says which those are), and one that was not kills it.

use std::collections::{BTreeMap, BTreeSet};

use graphgen::support::{Fact, Form, Reading, Subject, Test, Use};
use ops::Spec;

/// A use of an operator that was tried.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) use_: Use,
    /// What the engine said that it lacks, if it refused it.
    pub(super) said: Option<String>,
}

impl Tried {
    /// Whether it is of a form.
    pub(super) fn has(&self, form: &Form) -> bool {
        form.holds(&self.use_) == Some(true)
    }
}

/// A guess: a form of which no use was seen that the engine has.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Guess {
    pub(super) form: Form,
    /// What the engine said of one of them.
    pub(super) said: String,
}

/// So many uses that no other guess explains are worth one of no, one, two, three facts.
const LEAST: [usize; 4] = [1, 1, 2, 3];

/// The guesses that explain the uses that were refused, as far as there are some.
pub(super) fn guesses(spec: &Spec, tried: &[Tried]) -> Vec<Guess> {
    let table = Table::of(spec, tried);
    let mut open = table.refused.clone();
    let mut found = Vec::new();
    for (facts, least) in LEAST.into_iter().enumerate() {
        while let Some((facts, covers)) =
            table.best(facts, &open).filter(|(_, c)| c.in_common(&open) >= least)
        {
            found.push(guess(facts.into_iter().collect(), tried, &covers, &open));
            open.remove(&covers);
        }
    }
    found
}

fn guess(form: Form, tried: &[Tried], covers: &Bits, open: &Bits) -> Guess {
    let said = (0..tried.len()).filter(|&i| covers.has(i) && open.has(i)).find_map(|i| tried[i].said.clone());
    Guess { form, said: said.unwrap_or_default() }
}

/// The forms that a form consists of: one for each choice of words from its sets. Each has to be seen refused.
pub(super) fn atoms(form: &Form) -> Vec<Form> {
    let mut all = vec![Vec::new()];
    for fact in form.facts() {
        let choices: Vec<Fact> = match &fact.test {
            Test::OneOf(words) => {
                words.iter().map(|word| word_fact(fact.subject.clone(), word.clone())).collect()
            }
            Test::Is(_) | Test::AtLeast(_) | Test::AtMost(_) | Test::Absent | Test::Present => {
                vec![fact.clone()]
            }
        };
        let with =
            |facts: &Vec<Fact>, choice: &Fact| facts.iter().chain([choice]).cloned().collect::<Vec<_>>();
        all = all
            .iter()
            .flat_map(|facts| choices.iter().map(|choice| with(facts, choice)).collect::<Vec<_>>())
            .collect();
    }
    all.into_iter().map(|facts| facts.into_iter().collect()).collect()
}

fn word_fact(subject: Subject, word: String) -> Fact {
    Fact { subject, test: Test::OneOf([word].into()) }
}

/// Some of the uses that were tried.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(all: usize, has: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; all.div_ceil(64)];
        (0..all).filter(|&i| has(i)).for_each(|i| words[i / 64] |= 1 << (i % 64));
        Self(words)
    }

    fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn count(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    fn in_common(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }
}

/// Which facts hold of which uses.
struct Table {
    refused: Bits,
    supported: Bits,
    /// All uses.
    all: Bits,
    /// The facts that hold of a use that was refused; sets have one word.
    facts: Vec<(Fact, Bits)>,
}

impl Table {
    fn of(spec: &Spec, tried: &[Tried]) -> Self {
        let count = tried.len();
        let readings: Vec<BTreeMap<Subject, Reading>> = tried
            .iter()
            .map(|t| t.use_.readings().into_iter().filter(|(s, _)| is_named(s, spec)).collect())
            .collect();
        let subjects: BTreeSet<&Subject> = readings.iter().flat_map(BTreeMap::keys).collect();
        let mut facts = BTreeSet::new();
        for (reading, _) in readings.iter().zip(tried).filter(|(_, t)| t.said.is_some()) {
            for &subject in &subjects {
                let tests = tests(reading.get(subject).unwrap_or(&Reading::Absent));
                facts.extend(tests.into_iter().map(|test| Fact { subject: subject.clone(), test }));
            }
        }
        let bits = |fact: Fact| {
            let reading = |i: usize| readings[i].get(&fact.subject).unwrap_or(&Reading::Absent);
            let bits = Bits::of(count, |i| fact.test.accepts(reading(i)));
            (fact, bits)
        };
        Self {
            refused: Bits::of(count, |i| tried[i].said.is_some()),
            supported: Bits::of(count, |i| tried[i].said.is_none()),
            all: Bits::of(count, |_| true),
            facts: facts.into_iter().map(bits).collect(),
        }
    }

    /// The conjunction of so many facts that holds of the most uses among `open`, and of none that is supported.
    fn best(&self, facts: usize, open: &Bits) -> Option<(Vec<Fact>, Bits)> {
        match facts {
            0 => {
                (!self.supported.meets(&self.all) && open.count() > 0).then(|| (Vec::new(), self.all.clone()))
            }
            1 => self.best_within(&[], &self.all, open),
            _ => {
                let mut best: Option<(usize, Vec<Fact>, Bits)> = None;
                self.contexts(facts - 1, open, &mut |context, within| {
                    let Some((facts, covers)) = self.best_within(context, within, open) else { return };
                    let explains = covers.in_common(open);
                    if best.as_ref().is_none_or(|(most, ..)| explains > *most) {
                        best = Some((explains, facts, covers));
                    }
                });
                best.map(|(_, facts, covers)| (facts, covers))
            }
        }
    }

    /// The best last fact for a context, which holds of the uses `within`.
    fn best_within(&self, context: &[&Fact], within: &Bits, open: &Bits) -> Option<(Vec<Fact>, Bits)> {
        let mut best: Option<(usize, Fact, Bits)> = None;
        let mut offer = |fact: Fact, covers: Bits| {
            let explains = covers.in_common(open);
            if explains > 0 && best.as_ref().is_none_or(|(most, ..)| explains > *most) {
                best = Some((explains, fact, covers));
            }
        };
        let rest = self.facts.iter().filter(|(fact, _)| context.iter().all(|c| c.subject != fact.subject));
        let pure = rest
            .map(|(fact, bits)| (fact, bits.and(within)))
            .filter(|(_, bits)| !bits.meets(&self.supported));
        let mut words: BTreeMap<&Subject, (BTreeSet<String>, Bits)> = BTreeMap::new();
        for (fact, bits) in pure {
            match &fact.test {
                Test::OneOf(word) => {
                    if bits.meets(&self.refused) {
                        let none = || (BTreeSet::new(), Bits::of(0, |_| false));
                        let (set, covers) = words.entry(&fact.subject).or_insert_with(none);
                        set.extend(word.iter().cloned());
                        covers.0.resize(bits.0.len(), 0);
                        covers.add(&bits);
                    }
                }
                Test::Is(_) | Test::AtLeast(_) | Test::AtMost(_) | Test::Absent | Test::Present => {
                    offer(fact.clone(), bits);
                }
            }
        }
        // Last, but they win a tie: dtypes say the most of an engine.
        let mut best_words: Option<(usize, Fact, Bits)> = None;
        for (subject, (set, covers)) in words {
            let explains = covers.in_common(open);
            if explains > 0 && best_words.as_ref().is_none_or(|(most, ..)| explains > *most) {
                best_words =
                    Some((explains, Fact { subject: subject.clone(), test: Test::OneOf(set) }, covers));
            }
        }
        let (_, fact, covers) = match (best_words, best) {
            (Some(words), Some(other)) => {
                if words.0 >= other.0 {
                    words
                } else {
                    other
                }
            }
            (words, other) => words.or(other)?,
        };
        Some((context.iter().map(|&fact| fact.clone()).chain([fact]).collect(), covers))
    }

    /// Visits the conjunctions of so many facts that hold of an open use and of a supported one: what holds of no
    /// supported one needs no further fact. Facts that hold of the same uses are visited once.
    fn contexts(&self, facts: usize, open: &Bits, visit: &mut dyn FnMut(&[&Fact], &Bits)) {
        let mut seen = BTreeSet::new();
        let useful: Vec<(&Fact, &Bits)> = self
            .facts
            .iter()
            .filter(|(_, bits)| bits.meets(open) && bits.meets(&self.supported) && *bits != self.all)
            .filter(|(_, bits)| seen.insert(bits))
            .map(|(fact, bits)| (fact, bits))
            .collect();
        for (i, (a, bits)) in useful.iter().enumerate() {
            if facts == 1 {
                visit(&[*a], bits);
                continue;
            }
            for (b, more) in &useful[i + 1..] {
                let both = bits.and(more);
                if a.subject != b.subject && both.meets(open) && both.meets(&self.supported) {
                    visit(&[*a, *b], &both);
                }
            }
        }
    }
}

/// Whether a subject can be spoken of by a name: a variadic operand that is repeated has one name for all.
fn is_named(subject: &Subject, spec: &Spec) -> bool {
    match subject {
        Subject::DType(i) | Subject::Rank(i) | Subject::Operand(i) => *i < spec.inputs.len(),
        _ => true,
    }
}

/// The tests that a reading passes, the narrowest first.
fn tests(reading: &Reading) -> Vec<Test> {
    match reading {
        Reading::Absent => vec![Test::Absent],
        Reading::List => vec![Test::Present],
        Reading::Word(word) => vec![Test::OneOf([word.to_string()].into()), Test::Present],
        Reading::Number(n) => vec![Test::Is(*n), Test::AtLeast(*n), Test::AtMost(*n), Test::Present],
    }
}
