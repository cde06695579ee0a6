//! What a model gets at an input or gives at an output: a tensor, a sequence of tensors, or an optional.
//!
//! Graphs hold tensors alone, and so does all that computes and judges. What is no tensor is taken apart at the edge
//! ([`Datum::parts`]): a sequence is its length and its elements, an optional is whether it holds something, and that. So a
//! length that is wrong is a wrong number like any other. [`Kind::gather`] puts the parts together again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::{DType, Tensor, Type};

/// A tensor, a sequence of tensors, or an optional of either. `T` is what stands for a tensor: the tensor itself, its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum<T = Tensor> {
    /// A tensor.
    Tensor(T),
    /// Tensors in order.
    Sequence(Vec<T>),
    /// An optional, with what it holds.
    Optional(Option<Held<T>>),
}

/// What an optional holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held<T = Tensor> {
    /// A tensor.
    Tensor(T),
    /// Tensors in order.
    Sequence(Vec<T>),
}

/// What a [`Datum`] may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A tensor.
    Tensor,
    /// A sequence of tensors.
    Sequence,
    /// An optional that may hold a tensor.
    Optional,
    /// An optional that may hold a sequence of tensors.
    OptionalSequence,
}

/// The name of the length of the sequence of that name: a scalar i64.
pub fn length_of(name: &str) -> String {
    format!("SequenceLength({name})")
}

/// The name of an element of the sequence of that name.
pub fn item_of(name: &str, position: usize) -> String {
    format!("{name}[{position}]")
}

/// The name of whether the optional of that name holds something: a scalar bool.
pub fn presence_of(name: &str) -> String {
    format!("OptionalHasElement({name})")
}

fn items_of(name: &str, length: usize) -> Vec<String> {
    (0..length).map(|i| item_of(name, i)).collect()
}

impl From<Tensor> for Datum {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<T> From<Held<T>> for Datum<T> {
    fn from(held: Held<T>) -> Self {
        match held {
            Held::Tensor(tensor) => Self::Tensor(tensor),
            Held::Sequence(items) => Self::Sequence(items),
        }
    }
}

impl<T> Held<T> {
    fn as_ref(&self) -> Held<&T> {
        match self {
            Self::Tensor(tensor) => Held::Tensor(tensor),
            Self::Sequence(items) => Held::Sequence(items.iter().collect()),
        }
    }

    fn try_map<U, E>(self, change: &mut impl FnMut(T) -> Result<U, E>) -> Result<Held<U>, E> {
        Ok(match self {
            Self::Tensor(tensor) => Held::Tensor(change(tensor)?),
            Self::Sequence(items) => Held::Sequence(items.into_iter().map(change).collect::<Result<_, E>>()?),
        })
    }
}

impl<T> Datum<T> {
    /// The same, of references.
    pub fn as_ref(&self) -> Datum<&T> {
        match self {
            Self::Tensor(tensor) => Datum::Tensor(tensor),
            Self::Sequence(items) => Datum::Sequence(items.iter().collect()),
            Self::Optional(held) => Datum::Optional(held.as_ref().map(Held::as_ref)),
        }
    }

    /// The same, with something else for each tensor.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Datum<U> {
        match self.try_map(|tensor| Ok::<U, Infallible>(change(tensor))) {
            Ok(datum) => datum,
            Err(never) => match never {},
        }
    }

    /// The same, with something else for each tensor, or the first error.
    pub fn try_map<U, E>(self, mut change: impl FnMut(T) -> Result<U, E>) -> Result<Datum<U>, E> {
        Ok(match self {
            Self::Tensor(tensor) => Datum::Tensor(change(tensor)?),
            Self::Sequence(items) => {
                Datum::Sequence(items.into_iter().map(change).collect::<Result<_, E>>()?)
            }
            Self::Optional(held) => Datum::Optional(held.map(|h| h.try_map(&mut change)).transpose()?),
        })
    }

    /// The tensors, in order.
    pub fn tensors(&self) -> impl Iterator<Item = &T> {
        let tensors = match self {
            Self::Tensor(tensor) | Self::Optional(Some(Held::Tensor(tensor))) => std::slice::from_ref(tensor),
            Self::Sequence(items) | Self::Optional(Some(Held::Sequence(items))) => items,
            Self::Optional(None) => &[],
        };
        tensors.iter()
    }

    /// The tensors, in order.
    pub fn into_tensors(self) -> Vec<T> {
        match self {
            Self::Tensor(tensor) | Self::Optional(Some(Held::Tensor(tensor))) => vec![tensor],
            Self::Sequence(items) | Self::Optional(Some(Held::Sequence(items))) => items,
            Self::Optional(None) => Vec::new(),
        }
    }

    /// The tensors, with the names that they have where this has that name.
    pub fn into_named(self, name: &str) -> impl Iterator<Item = (String, T)> + use<T> {
        self.names(name).into_tensors().into_iter().zip(self.into_tensors())
    }

    /// The tensor, if it is one.
    pub const fn tensor(&self) -> Option<&T> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Sequence(_) | Self::Optional(_) => None,
        }
    }

    /// The name of each of its tensors, where this has that name.
    pub fn names(&self, name: &str) -> Datum<String> {
        match self {
            Self::Tensor(_) => Datum::Tensor(name.to_owned()),
            Self::Sequence(items) => Datum::Sequence(items_of(name, items.len())),
            Self::Optional(held) => Datum::Optional(held.as_ref().map(|held| match held {
                Held::Tensor(_) => Held::Tensor(name.to_owned()),
                Held::Sequence(items) => Held::Sequence(items_of(name, items.len())),
            })),
        }
    }
}

impl Datum {
    /// What this is in tensors, with the names that they have where this has that name.
    pub fn parts(self, name: &str) -> Vec<(String, Tensor)> {
        match self {
            Self::Tensor(tensor) => vec![(name.to_owned(), tensor)],
            Self::Sequence(items) => {
                let length = (length_of(name), scalar(DType::I64, items.len()));
                let items = items.into_iter().enumerate().map(|(i, item)| (item_of(name, i), item));
                std::iter::once(length).chain(items).collect()
            }
            Self::Optional(held) => {
                let mut parts = vec![(presence_of(name), scalar(DType::Bool, held.is_some().into()))];
                parts.extend(held.into_iter().flat_map(|held| Self::from(held).parts(name)));
                parts
            }
        }
    }
}

impl<'t> Datum<&'t Tensor> {
    /// Named tensors, each as a datum of that name.
    pub fn of_tensors(named: &'t [(String, Tensor)]) -> Vec<(&'t str, Self)> {
        named.iter().map(|(name, tensor)| (name.as_str(), Self::Tensor(tensor))).collect()
    }
}

fn scalar(dtype: DType, value: usize) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, []), |_| value as i128)
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tensor, Self::Sequence, Self::Optional, Self::OptionalSequence];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Sequence => "sequence",
            Self::Optional => "optional",
            Self::OptionalSequence => "optional sequence",
        }
    }

    /// Whether it may hold nothing.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::OptionalSequence)
    }

    /// Whether a datum is of this kind.
    pub fn admits<T>(self, datum: &Datum<T>) -> bool {
        match (self, datum) {
            (Self::Tensor, Datum::Tensor(_))
            | (Self::Sequence, Datum::Sequence(_))
            | (Self::Optional, Datum::Optional(None | Some(Held::Tensor(_))))
            | (Self::OptionalSequence, Datum::Optional(None | Some(Held::Sequence(_)))) => true,
            (Self::Tensor | Self::Sequence | Self::Optional | Self::OptionalSequence, _) => false,
        }
    }

    /// Whether it is an optional, and a datum is what it may hold.
    pub fn may_hold<T>(self, datum: &Datum<T>) -> bool {
        match self {
            Self::Optional => Self::Tensor.admits(datum),
            Self::OptionalSequence => Self::Sequence.admits(datum),
            Self::Tensor | Self::Sequence => false,
        }
    }

    /// The datum of this kind and name whose parts are among these, which loses them. The error is the name of the part
    /// that is missing.
    pub fn gather(self, name: &str, parts: &mut BTreeMap<String, Tensor>) -> Result<Datum, String> {
        let sequence = |parts: &mut BTreeMap<String, Tensor>| {
            let length = number(parts, length_of(name))?;
            (0..length).map(|i| take(parts, item_of(name, i))).collect::<Result<Vec<Tensor>, String>>()
        };
        Ok(match self {
            Self::Tensor => Datum::Tensor(take(parts, name.to_owned())?),
            Self::Sequence => Datum::Sequence(sequence(parts)?),
            Self::Optional | Self::OptionalSequence if number(parts, presence_of(name))? == 0 => {
                Datum::Optional(None)
            }
            Self::Optional => Datum::Optional(Some(Held::Tensor(take(parts, name.to_owned())?))),
            Self::OptionalSequence => Datum::Optional(Some(Held::Sequence(sequence(parts)?))),
        })
    }
}

fn take(parts: &mut BTreeMap<String, Tensor>, name: String) -> Result<Tensor, String> {
    parts.remove(&name).ok_or(name)
}

fn number(parts: &mut BTreeMap<String, Tensor>, name: String) -> Result<usize, String> {
    let tensor = take(parts, name.clone())?;
    tensor.to_i128s().first().and_then(|&number| usize::try_from(number).ok()).ok_or(name)
}

impl<T: fmt::Display> fmt::Display for Datum<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Optional(held) = self {
            f.write_str(if held.is_some() { "optional of " } else { "optional of nothing" })?;
        }
        match self {
            Self::Tensor(tensor) | Self::Optional(Some(Held::Tensor(tensor))) => write!(f, "{tensor}"),
            Self::Sequence(items) | Self::Optional(Some(Held::Sequence(items))) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "sequence of ({})", items.join(", "))
            }
            Self::Optional(None) => Ok(()),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("no value is of the kind `{name}`"))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(length: i64) -> Tensor {
        Tensor::from_i128_fn(&Type::new(DType::I32, [length]), |i| i as i128)
    }

    fn each() -> [(Kind, Datum); 7] {
        let two = || vec![numbers(2), numbers(0)];
        [
            (Kind::Tensor, Datum::Tensor(numbers(3))),
            (Kind::Sequence, Datum::Sequence(two())),
            (Kind::Sequence, Datum::Sequence(Vec::new())),
            (Kind::Optional, Datum::Optional(Some(Held::Tensor(numbers(1))))),
            (Kind::Optional, Datum::Optional(None)),
            (Kind::OptionalSequence, Datum::Optional(Some(Held::Sequence(two())))),
            (Kind::OptionalSequence, Datum::Optional(Some(Held::Sequence(Vec::new())))),
        ]
    }

    #[test]
    fn parts_make_up_what_they_were_taken_from() {
        for (kind, datum) in each() {
            assert!(kind.admits(&datum));
            let mut parts: BTreeMap<String, Tensor> = datum.clone().parts("x").into_iter().collect();
            assert_eq!(kind.gather("x", &mut parts), Ok(datum));
            assert!(parts.is_empty());
        }
    }

    #[test]
    fn what_differs_has_other_parts() {
        let all = each().map(|(_, datum)| datum.parts("x"));
        for (i, parts) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != parts), "{parts:?}");
        }
    }

    #[test]
    fn the_parts_of_a_sequence_are_its_length_and_its_elements() {
        let names = |datum: Datum| datum.parts("x").into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let held = Held::Sequence(vec![numbers(1), numbers(2)]);
        let parts = ["SequenceLength(x)", "x[0]", "x[1]"];
        assert_eq!(names(Datum::from(held.clone())), parts);
        assert_eq!(names(Datum::Optional(Some(held)))[1..], parts);
    }

    #[test]
    fn a_part_that_is_missing_is_named() {
        let mut parts: BTreeMap<String, Tensor> =
            Datum::Sequence(vec![numbers(1)]).parts("x").into_iter().collect();
        parts.remove("x[0]");
        assert_eq!(Kind::Sequence.gather("x", &mut parts), Err("x[0]".to_owned()));
        assert_eq!(Kind::Optional.gather("x", &mut parts), Err("OptionalHasElement(x)".to_owned()));
    }
}
