//! A form of an operator: a conjunction of facts, each of one thing that can be read off a use.

use std::collections::BTreeSet;

use ir::DTypes;

use super::reading::{Reading, Use};

/// A form of an operator: every use of which all these facts hold. Without any, all uses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct UseForm(BTreeSet<Fact>);

/// One fact: what is read, and what it is found to be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fact {
    /// What is read.
    pub subject: Subject,
    /// What it is.
    pub test: Test,
}

/// What can be read off a use of an operator, those that say the most of an engine first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// The dtype of an operand.
    DType(usize),
    /// The dtype of an output.
    OutputDType(usize),
    /// How many operands there are.
    Operands,
    /// How many outputs there are.
    Outputs,
    /// An operand itself: is it there?
    Operand(usize),
    /// An attribute: is it there, and what is it, unless it is a list?
    Attribute(String),
    /// How many of the last axes the first output differs from the first operand in: 3 if the outermost axis of another size
    /// is the third from the last. Not there if their ranks differ.
    Changed,
    /// The rank of an operand.
    Rank(usize),
    /// How long a list among the attributes is.
    Length(String),
    /// The least element of a list among the attributes.
    Least(String),
    /// The greatest element of a list among the attributes.
    Greatest(String),
    /// The model's opset.
    Opset,
}

/// What a reading is found to be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Test {
    /// One of these words.
    OneOf(BTreeSet<String>),
    /// This number.
    Is(i64),
    /// This number or a larger one.
    AtLeast(i64),
    /// This number or a smaller one.
    AtMost(i64),
    /// Not there.
    Absent,
    /// There, whatever it is.
    Present,
}

impl Test {
    /// Whether a reading passes.
    pub fn accepts(&self, reading: &Reading) -> bool {
        match (self, reading) {
            (Self::OneOf(words), Reading::Word(word)) => words.contains(word.as_ref()),
            (Self::Is(n), Reading::Number(v)) => v == n,
            (Self::AtLeast(n), Reading::Number(v)) => v >= n,
            (Self::AtMost(n), Reading::Number(v)) => v <= n,
            (Self::Absent, reading) => *reading == Reading::Absent,
            (Self::Present, reading) => *reading != Reading::Absent,
            (
                Self::OneOf(_) | Self::Is(_) | Self::AtLeast(_) | Self::AtMost(_),
                Reading::Absent | Reading::Number(_) | Reading::Word(_) | Reading::List,
            ) => false,
        }
    }
}

impl Fact {
    /// Whether the fact holds of a use; `None` if that depends on sizes that are not known yet.
    pub fn holds(&self, use_: &Use) -> Option<bool> {
        use_.read(&self.subject).map(|reading| self.test.accepts(&reading))
    }

    /// Whether it holds of all uses in an opset; `None` where it depends on the use.
    fn holds_in(&self, opset: u32) -> Option<bool> {
        let is_opset = self.subject == Subject::Opset;
        is_opset.then(|| self.test.accepts(&Reading::Number(i64::from(opset))))
    }

    /// The operand and the dtypes, if the fact is about nothing else.
    fn dtypes(&self) -> Option<(usize, DTypes)> {
        let (Subject::DType(operand), Test::OneOf(words)) = (&self.subject, &self.test) else { return None };
        Some((*operand, words.iter().filter_map(|word| word.parse().ok()).collect()))
    }
}

impl UseForm {
    /// The facts.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.0.iter()
    }

    /// Whether all facts hold of a use; `None` if that depends on sizes that are not known yet.
    pub fn holds(&self, use_: &Use) -> Option<bool> {
        let mut known = Some(true);
        for fact in &self.0 {
            match fact.holds(use_) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => known = None,
            }
        }
        known
    }

    /// Whether these are all uses of the operator in an opset.
    pub(super) fn is_all(&self, opset: u32) -> bool {
        self.0.iter().all(|fact| fact.holds_in(opset) == Some(true))
    }

    /// The operand and the dtypes, if these are all uses with one of the dtypes there, in an opset.
    pub(super) fn only_dtypes(&self, opset: u32) -> Option<(usize, DTypes)> {
        let mut rest = self.0.iter().filter(|fact| fact.holds_in(opset) != Some(true));
        let only = rest.next()?;
        if rest.next().is_some() { None } else { only.dtypes() }
    }

    /// One form for two that differ in nothing but the words that one reading may be.
    pub fn merged(&self, other: &Self) -> Option<Self> {
        let differing: Vec<(&Fact, &Fact)> = self.0.iter().zip(&other.0).filter(|(a, b)| a != b).collect();
        let ([(a, b)], true) = (&differing[..], self.0.len() == other.0.len()) else { return None };
        let (Test::OneOf(x), Test::OneOf(y), true) = (&a.test, &b.test, a.subject == b.subject) else {
            return None;
        };
        let both = Fact { subject: a.subject.clone(), test: Test::OneOf(x.union(y).cloned().collect()) };
        Some(self.0.iter().filter(|fact| fact != a).cloned().chain([both]).collect())
    }
}

impl FromIterator<Fact> for UseForm {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Self {
        Self(facts.into_iter().collect())
    }
}
