//! Learns the forms of an operator that an engine refuses, from uses of the operator and the engine's answers.
//!
//! The search is for few short conjunctions of facts that hold for all refused uses and for no other. It is greedy:
//! first conjunctions of no fact (the whole operator), then of one, then of two; among these, the one that explains the
//! most uses. A set of words (of dtypes, say) counts as one fact. Otherwise an engine that lacks five dtypes might be
//! explained by the ranks that happened to be drawn. Thresholds are as tight as the refused uses: nothing is said about
//! ranks that were not tried.
//!
//! Few uses may mislead. So a form is only a guess until uses that were drawn for it were refused too ([`atoms`] says
//! which uses are needed). A single use that is not refused disproves it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use graphgen::support::{Fact, Reading, Subject, Test, Use, UseForm};
use ir::DType;
use ops::Spec;

/// A use of an operator that was tried.
#[derive(Clone, Debug)]
pub(super) struct UseTrial {
    pub(super) use_: Use,
    /// What the engine said that it lacks, if it refused the use.
    pub(super) said: Option<String>,
}

impl UseTrial {
    /// The dtypes of the first operand and of another one.
    pub(super) fn dtypes(&self, other: usize) -> Option<(DType, DType)> {
        Some((self.use_.dtype(0)?, self.use_.dtype(other)?))
    }

    /// Whether it is of a form.
    pub(super) fn has(&self, form: &UseForm) -> bool {
        form.holds(&self.use_) == Some(true)
    }
}

/// A guess: a form of which no use was seen that the engine takes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Guess {
    pub(super) form: UseForm,
    /// What the engine said of one of them.
    pub(super) said: String,
}

/// How many uses a guess must explain that no other guess explains, if it has no fact, one or two. (With three facts,
/// some conjunction always fits.)
const LEAST: [usize; 3] = [1, 1, 2];

/// Guesses that explain the refused uses, as far as they can be explained.
pub(super) fn guesses(spec: &Spec, tried: &[UseTrial]) -> Vec<Guess> {
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

fn guess(form: UseForm, tried: &[UseTrial], covers: &Bits, open: &Bits) -> Guess {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for i in (0..tried.len()).filter(|&i| covers.has(i) && open.has(i)) {
        *said.entry(tried[i].said.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let most = said.into_iter().max_by_key(|(_, count)| *count);
    Guess { form, said: most.map(|(said, _)| said.to_owned()).unwrap_or_default() }
}

/// The forms that a form consists of: one for each choice of words from its sets. A refused use of each has to be seen.
pub(super) fn atoms(form: &UseForm) -> Vec<UseForm> {
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

    fn in_all_three(&self, b: &Self, c: &Self) -> bool {
        self.0.iter().zip(&b.0).zip(&c.0).any(|((a, b), c)| a & b & c != 0)
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
    /// The facts that hold for some refused use, with a single word in each set.
    facts: Vec<(Fact, Bits)>,
}

impl Table {
    fn of(spec: &Spec, tried: &[UseTrial]) -> Self {
        let count = tried.len();
        let readings: Vec<BTreeMap<Subject, Reading>> = tried
            .iter()
            .map(|t| t.use_.readings().into_iter().filter(|(s, _)| is_named(s, spec)).collect())
            .collect();
        let subjects: BTreeSet<&Subject> = readings.iter().flat_map(BTreeMap::keys).collect();
        let mut facts = BTreeSet::new();
        for (reading, _) in readings.iter().zip(tried).filter(|(_, t)| t.said.is_some()) {
            for &subject in &subjects {
                let tests = tests(subject, reading.get(subject).unwrap_or(&Reading::Absent));
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

    /// The conjunction of `facts` facts that holds of the most uses among `open`. It holds of no supported
    /// use.
    fn best(&self, facts: usize, open: &Bits) -> Option<(Vec<Fact>, Bits)> {
        match facts {
            0 => {
                (!self.supported.meets(&self.all) && open.count() > 0).then(|| (Vec::new(), self.all.clone()))
            }
            1 => self.best_within(None, &self.all, open),
            _ => {
                let mut best: Option<(usize, Vec<Fact>, Bits)> = None;
                for (context, within) in self.contexts(open) {
                    // A conjunction explains at most the uses for which its context holds.
                    let most = best.as_ref().map_or(0, |(most, ..)| *most);
                    if within.in_common(open) <= most {
                        continue;
                    }
                    let Some((facts, covers)) = self.best_within(Some(context), within, open) else {
                        continue;
                    };
                    let explains = covers.in_common(open);
                    if explains > most {
                        best = Some((explains, facts, covers));
                    }
                }
                best.map(|(_, facts, covers)| (facts, covers))
            }
        }
    }

    /// The best last fact for a context, which holds of the uses `within`.
    fn best_within(&self, context: Option<&Fact>, within: &Bits, open: &Bits) -> Option<(Vec<Fact>, Bits)> {
        let mut sets: BTreeMap<&Subject, (BTreeSet<String>, Bits)> = BTreeMap::new();
        let mut others: Vec<(Fact, Bits)> = Vec::new();
        let is_told = |fact: &Fact| context.is_some_and(|context| context.subject == fact.subject);
        for (fact, bits) in self.facts.iter().filter(|(fact, _)| !is_told(fact)) {
            if bits.in_all_three(within, &self.supported) || !bits.in_all_three(within, open) {
                continue;
            }
            let covers = bits.and(within);
            match &fact.test {
                Test::OneOf(word) => match sets.entry(&fact.subject) {
                    Entry::Occupied(mut set) => {
                        set.get_mut().0.extend(word.iter().cloned());
                        set.get_mut().1.add(&covers);
                    }
                    Entry::Vacant(new) => _ = new.insert((word.clone(), covers)),
                },
                Test::Is(_) | Test::AtLeast(_) | Test::AtMost(_) | Test::Absent | Test::Present => {
                    others.push((fact.clone(), covers));
                }
            }
        }
        let set = |(subject, (words, covers)): (&Subject, (BTreeSet<String>, Bits))| {
            (Fact { subject: subject.clone(), test: Test::OneOf(words) }, covers)
        };
        // Of equals the first wins: dtypes and names say most about an engine.
        let all: Vec<(Fact, Bits)> = sets.into_iter().map(set).chain(others).collect();
        let (fact, covers) = all.into_iter().rev().max_by_key(|(_, covers)| covers.in_common(open))?;
        Some((context.cloned().into_iter().chain([fact]).collect(), covers))
    }

    /// The facts that hold for an open use and for a supported one, and so need another fact beside them. Of facts that
    /// hold for the same uses, only the first is given.
    fn contexts(&self, open: &Bits) -> impl Iterator<Item = (&Fact, &Bits)> {
        let mut seen = BTreeSet::new();
        let is_useful = |bits: &Bits| bits.meets(open) && bits.meets(&self.supported) && *bits != self.all;
        let useful: Vec<_> = self
            .facts
            .iter()
            .filter(|(_, bits)| is_useful(bits))
            .filter(|(_, bits)| seen.insert(bits))
            .collect();
        useful.into_iter().map(|(fact, bits)| (fact, bits))
    }
}

/// Whether a subject is worth a guess. Repetitions of a variadic operand have one name, and the number of outputs
/// already says whether there is a second one.
fn is_named(subject: &Subject, spec: &Spec) -> bool {
    match subject {
        Subject::DType(i) | Subject::Rank(i) | Subject::Operand(i) => *i < spec.inputs.len(),
        Subject::OutputDType(i) => *i == 0,
        Subject::Operands
        | Subject::Outputs
        | Subject::Attribute(_)
        | Subject::Length(_)
        | Subject::Least(_)
        | Subject::Greatest(_)
        | Subject::Changed
        | Subject::Opset => true,
    }
}

/// How a guess came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// Each dtype was tried on purpose, so that all uses with it count as evidence.
    Planned(usize),
    /// The form was found among all forms that fit, perhaps by accident. So only uses that are tried afterwards count.
    Sought(usize),
}

/// How many refused uses must be seen before a form is believed to be refused. With 6 uses, a form of one
/// fact of which a third is supported is believed in one of eleven cases, (2/3)⁶, and one of which half is
/// supported in one of sixty-four. Each further fact gives more forms to choose from, and a number gives even
/// more, so these need more.
pub(super) fn needed(form: &UseForm) -> Evidence {
    let number = |fact: &Fact| match fact.test {
        Test::Is(_) | Test::AtLeast(_) | Test::AtMost(_) => NUMBER,
        Test::OneOf(_) | Test::Absent | Test::Present => 0,
    };
    let is_dtype = |fact: &Fact| matches!(fact.subject, Subject::DType(_) | Subject::OutputDType(_));
    let facts = form.facts().count();
    if facts <= 1 && form.facts().all(is_dtype) {
        Evidence::Planned(FACT)
    } else {
        Evidence::Sought(FACT * facts + form.facts().map(number).sum::<usize>())
    }
}

/// How many uses must have been refused for each fact.
const FACT: usize = 6;
/// How many more if the fact is about a number.
const NUMBER: usize = 4;

/// The tests that a reading passes, the narrowest first.
fn tests(subject: &Subject, reading: &Reading) -> Vec<Test> {
    let may_be_absent = matches!(subject, Subject::Operand(_) | Subject::Attribute(_));
    let mut tests = match reading {
        Reading::Absent if may_be_absent => vec![Test::Absent],
        Reading::Absent | Reading::List => Vec::new(),
        Reading::Word(word) => vec![Test::OneOf([word.to_string()].into())],
        // Engines gain and lose support from some opset on, not in a single one.
        Reading::Number(n) if *subject == Subject::Opset => vec![Test::AtLeast(*n), Test::AtMost(*n)],
        Reading::Number(n) => vec![Test::Is(*n), Test::AtLeast(*n), Test::AtMost(*n)],
    };
    if may_be_absent && *reading != Reading::Absent {
        tests.push(Test::Present);
    }
    tests
}
