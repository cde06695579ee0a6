//! What can be read off one use of an operator, before and after its sizes are known.
//!
//! Before the solver has run, the sizes among an operator's attributes are unknown. Then its attributes are read
//! twice, with very small and with very large sizes in their place: what both readings say hangs on no size, and
//! anything else is not known yet.

use std::borrow::Cow;

use ir::{Attribute, Attributes, DType, Dim, Sym, Type};
use ops::Op;

use super::form::Subject;

/// What was read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reading {
    /// The subject is not there.
    Absent,
    /// A number.
    Number(i64),
    /// A word: a dtype, a name, or a number with a fraction as it is written.
    Word(Cow<'static, str>),
    /// A list; its length and its elements are readings of their own.
    List,
}

/// One use of an operator, as far as a form can speak of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Use {
    opset: u32,
    /// The dtype and the rank of each operand.
    operands: Vec<Option<(DType, usize)>>,
    outputs: Vec<DType>,
    /// How many of the last axes change; `None` if that depends on sizes that are not known yet.
    changed: Option<Reading>,
    attributes: Attributes,
    /// The attributes with other numbers in place of the sizes that are not known.
    otherwise: Option<Attributes>,
}

/// Sizes that lie below and above all that a model has.
const EXTREMES: [i64; 2] = [-ir::dim::LIMIT, ir::dim::LIMIT];

impl Use {
    /// A use whose sizes are known.
    pub fn of(opset: u32, op: &Op, operands: &[Option<&Type>], outputs: &[Type]) -> Self {
        let changed = changed(operands.first().copied().flatten(), outputs.first());
        Self::new(opset, operands, outputs, Some(changed), op.attributes())
    }

    /// A use whose sizes are not known yet.
    pub fn before_sizes<'a>(
        opset: u32,
        op: &Op<Sym<'a>>,
        operands: &[Option<&Type<Sym<'a>>>],
        outputs: &[Type<Sym<'a>>],
    ) -> Self {
        let read = |size: i64| op.settle(&|s: Sym<'_>| Dim::known(s).unwrap_or(size)).attributes();
        let [low, high] = EXTREMES.map(read);
        Self { otherwise: Some(high), ..Self::new(opset, operands, outputs, None, low) }
    }

    fn new<D: Dim>(
        opset: u32,
        operands: &[Option<&Type<D>>],
        outputs: &[Type<D>],
        changed: Option<Reading>,
        attributes: Attributes,
    ) -> Self {
        let operands = operands.iter().map(|ty| ty.map(|ty| (ty.dtype, ty.rank()))).collect();
        let outputs = outputs.iter().map(|ty| ty.dtype).collect();
        Self { opset, operands, outputs, changed, attributes, otherwise: None }
    }

    /// What a subject reads; `None` if that depends on sizes that are not known yet.
    pub fn read(&self, subject: &Subject) -> Option<Reading> {
        let operand = |i: usize| self.operands.get(i).copied().flatten();
        let number = |n: usize| Reading::Number(n as i64);
        let dtype = |d: Option<DType>| d.map_or(Reading::Absent, |d| Reading::Word(d.name().into()));
        Some(match subject {
            Subject::DType(i) => dtype(operand(*i).map(|(dtype, _)| dtype)),
            Subject::OutputDType(i) => dtype(self.outputs.get(*i).copied()),
            Subject::Operands => number(self.operands.iter().flatten().count()),
            Subject::Outputs => number(self.outputs.len()),
            Subject::Operand(i) => operand(*i).map_or(Reading::Absent, |_| Reading::List),
            Subject::Rank(i) => operand(*i).map_or(Reading::Absent, |(_, rank)| number(rank)),
            Subject::Changed => return self.changed.clone(),
            Subject::Opset => Reading::Number(i64::from(self.opset)),
            Subject::Attribute(name) => return self.attribute(name, whole),
            Subject::Length(name) => return self.attribute(name, |a| list(a, |l| Some(l.len() as i64))),
            Subject::Least(name) => return self.attribute(name, |a| list(a, |l| l.iter().min().copied())),
            Subject::Greatest(name) => return self.attribute(name, |a| list(a, |l| l.iter().max().copied())),
        })
    }

    fn attribute(&self, name: &str, read: impl Fn(&Attribute) -> Reading) -> Option<Reading> {
        let reading = |all: &Attributes| all.get(name).map_or(Reading::Absent, &read);
        let first = reading(&self.attributes);
        let is_known = self.otherwise.as_ref().is_none_or(|other| reading(other) == first);
        is_known.then_some(first)
    }

    /// The dtype of an operand, if it is there.
    pub fn dtype(&self, operand: usize) -> Option<DType> {
        self.operands.get(operand)?.map(|(dtype, _)| dtype)
    }

    /// All that can be read off a use whose sizes are known, less what is not there.
    pub fn readings(&self) -> Vec<(Subject, Reading)> {
        let mut subjects = vec![Subject::Opset, Subject::Operands, Subject::Outputs, Subject::Changed];
        for i in 0..self.operands.len() {
            subjects.extend([Subject::DType(i), Subject::Operand(i), Subject::Rank(i)]);
        }
        subjects.extend((0..self.outputs.len()).map(Subject::OutputDType));
        for (name, _) in self.attributes.iter() {
            let name = || name.to_owned();
            subjects.extend([Subject::Attribute(name()), Subject::Length(name())]);
            subjects.extend([Subject::Least(name()), Subject::Greatest(name())]);
        }
        let read = |subject: Subject| {
            let reading = self.read(&subject).filter(|reading| *reading != Reading::Absent)?;
            Some((subject, reading))
        };
        subjects.into_iter().filter_map(read).collect()
    }
}

/// How many of the last axes two types of one rank differ in.
fn changed(from: Option<&Type>, to: Option<&Type>) -> Reading {
    match (from, to) {
        (Some(from), Some(to)) if from.rank() == to.rank() => {
            let first = from.shape.iter().zip(&to.shape).position(|(a, b)| a != b);
            Reading::Number(first.map_or(0, |axis| from.rank() - axis) as i64)
        }
        _ => Reading::Absent,
    }
}

/// An attribute as one thing.
fn whole(attribute: &Attribute) -> Reading {
    match attribute {
        Attribute::Int(v) => Reading::Number(*v),
        Attribute::Ints(_) | Attribute::Floats(_) | Attribute::Strings(_) | Attribute::Tensor(_) => {
            Reading::List
        }
        Attribute::Float(v) => Reading::Word(format!("{v:?}").into()),
        Attribute::Name(name) => Reading::Word(name.clone().into()),
        Attribute::DType(dtype) => Reading::Word(dtype.name().into()),
    }
}

/// A number of an attribute that is a list.
fn list(attribute: &Attribute, of: impl Fn(&[i64]) -> Option<i64>) -> Reading {
    match attribute {
        Attribute::Ints(list) => of(list).map_or(Reading::Absent, Reading::Number),
        Attribute::Int(_)
        | Attribute::Float(_)
        | Attribute::Floats(_)
        | Attribute::Name(_)
        | Attribute::Strings(_)
        | Attribute::Tensor(_)
        | Attribute::DType(_) => Reading::Absent,
    }
}
