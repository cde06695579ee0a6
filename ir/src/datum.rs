//! What a model gets at an input or gives at an output: a tensor, a sequence of tensors, an optional, or a tensor of strings.
//!
//! Graphs hold tensors of numbers alone, and so does all that computes and judges. What is no such tensor is taken
//! apart at the edge ([`Datum::parts`]): a sequence is its length and its elements, an optional is whether it holds
//! something, and that, and a tensor of strings is its shape and the bytes of each. So a length or a letter that is
//! wrong is a wrong number like any other. [`DatumKind::gather`] puts the parts together again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::{DType, Tensor, Type};

/// A tensor, a sequence of tensors, an optional of either, or a tensor of strings. `T` is what stands for a tensor: the
/// tensor itself, its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum<T = Tensor> {
    /// A tensor.
    Tensor(T),
    /// Tensors in order.
    Sequence(Vec<T>),
    /// An optional, with what it holds.
    Optional(Option<Held<T>>),
    /// A tensor of strings.
    Strings(Strings<T>),
}

/// A tensor of strings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strings<T = Tensor> {
    /// The size of each axis.
    pub shape: Vec<i64>,
    /// The strings in row-major order, each as a list of u8: its bytes in UTF-8.
    pub items: Vec<T>,
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
pub enum DatumKind {
    /// A tensor.
    Tensor,
    /// A sequence of tensors.
    Sequence,
    /// An optional that may hold a tensor.
    Optional,
    /// An optional that may hold a sequence of tensors.
    OptionalSequence,
    /// A tensor of strings.
    Strings,
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

/// The name of the shape of the tensor of strings of that name: a list of i64.
pub fn shape_of(name: &str) -> String {
    format!("Shape({name})")
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

impl<T> Strings<T> {
    /// Strings of that shape, if it has as many places.
    pub fn new(shape: Vec<i64>, items: Vec<T>) -> Option<Self> {
        let count =
            shape.iter().try_fold(1_i64, |count, &size| count.checked_mul(size).filter(|_| size >= 0))?;
        (usize::try_from(count) == Ok(items.len())).then_some(Self { shape, items })
    }
}

impl Strings {
    /// These strings, if the shape has as many places.
    pub fn of_texts(shape: Vec<i64>, texts: &[String]) -> Option<Self> {
        Self::new(shape, texts.iter().map(|text| bytes_of(text)).collect())
    }

    /// The strings; `None` where bytes are none in UTF-8.
    pub fn texts(&self) -> Option<Vec<String>> {
        self.items.iter().map(text_of).collect()
    }
}

/// The bytes of a string in UTF-8, as a tensor.
pub fn bytes_of(text: &str) -> Tensor {
    let bytes = text.as_bytes();
    Tensor::from_i128_fn(&Type::new(DType::U8, [bytes.len() as i64]), |i| bytes[i].into())
}

/// The string whose bytes a tensor has; `None` where they are those of none.
pub fn text_of(tensor: &Tensor) -> Option<String> {
    let is_list = tensor.dtype() == DType::U8 && tensor.shape().len() == 1;
    is_list.then(|| String::from_utf8(tensor.to_bytes()).ok())?
}

impl<T> Datum<T> {
    /// The same, of references.
    pub fn as_ref(&self) -> Datum<&T> {
        match self {
            Self::Tensor(tensor) => Datum::Tensor(tensor),
            Self::Sequence(items) => Datum::Sequence(items.iter().collect()),
            Self::Optional(held) => Datum::Optional(held.as_ref().map(Held::as_ref)),
            Self::Strings(Strings { shape, items }) => {
                Datum::Strings(Strings { shape: shape.clone(), items: items.iter().collect() })
            }
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
            Self::Strings(Strings { shape, items }) => {
                let items = items.into_iter().map(change).collect::<Result<_, E>>()?;
                Datum::Strings(Strings { shape, items })
            }
        })
    }

    /// The tensors, in order.
    pub fn tensors(&self) -> impl Iterator<Item = &T> {
        let tensors = match self {
            Self::Tensor(tensor) | Self::Optional(Some(Held::Tensor(tensor))) => std::slice::from_ref(tensor),
            Self::Sequence(items)
            | Self::Optional(Some(Held::Sequence(items)))
            | Self::Strings(Strings { items, .. }) => items,
            Self::Optional(None) => &[],
        };
        tensors.iter()
    }

    /// The tensors, in order.
    pub fn into_tensors(self) -> Vec<T> {
        match self {
            Self::Tensor(tensor) | Self::Optional(Some(Held::Tensor(tensor))) => vec![tensor],
            Self::Sequence(items)
            | Self::Optional(Some(Held::Sequence(items)))
            | Self::Strings(Strings { items, .. }) => items,
            Self::Optional(None) => Vec::new(),
        }
    }

    /// The tensors of this datum, each under the name that it has if the datum is called `name`.
    pub fn into_named(self, name: &str) -> impl Iterator<Item = (String, T)> + use<T> {
        self.names(name).into_tensors().into_iter().zip(self.into_tensors())
    }

    /// The tensor, if it is one.
    pub const fn tensor(&self) -> Option<&T> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Sequence(_) | Self::Optional(_) | Self::Strings(_) => None,
        }
    }

    /// The name of each tensor of this datum, if the datum is called `name`.
    pub fn names(&self, name: &str) -> Datum<String> {
        match self {
            Self::Tensor(_) => Datum::Tensor(name.to_owned()),
            Self::Sequence(items) => Datum::Sequence(items_of(name, items.len())),
            Self::Optional(held) => Datum::Optional(held.as_ref().map(|held| match held {
                Held::Tensor(_) => Held::Tensor(name.to_owned()),
                Held::Sequence(items) => Held::Sequence(items_of(name, items.len())),
            })),
            Self::Strings(Strings { shape, items }) => {
                Datum::Strings(Strings { shape: shape.clone(), items: items_of(name, items.len()) })
            }
        }
    }
}

impl Datum {
    /// The tensors that this datum is written as: its items, and its length, presence or shape, each under
    /// the name that it has if the datum is called `name`.
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
            Self::Strings(Strings { shape, items }) => {
                let rank = Type::new(DType::I64, [shape.len() as i64]);
                let shape = (shape_of(name), Tensor::from_i128_fn(&rank, |i| shape[i].into()));
                let items = items.into_iter().enumerate().map(|(i, item)| (item_of(name, i), item));
                std::iter::once(shape).chain(items).collect()
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

impl DatumKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Tensor, Self::Sequence, Self::Optional, Self::OptionalSequence, Self::Strings];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Sequence => "sequence",
            Self::Optional => "optional",
            Self::OptionalSequence => "optional sequence",
            Self::Strings => "strings",
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
            | (Self::Strings, Datum::Strings(_))
            | (Self::Optional, Datum::Optional(None | Some(Held::Tensor(_))))
            | (Self::OptionalSequence, Datum::Optional(None | Some(Held::Sequence(_)))) => true,
            (Self::Tensor | Self::Sequence | Self::Optional | Self::OptionalSequence | Self::Strings, _) => {
                false
            }
        }
    }

    /// Whether this is a kind of optional that may hold the datum.
    pub fn may_hold<T>(self, datum: &Datum<T>) -> bool {
        match self {
            Self::Optional => Self::Tensor.admits(datum),
            Self::OptionalSequence => Self::Sequence.admits(datum),
            Self::Tensor | Self::Sequence | Self::Strings => false,
        }
    }

    /// Takes the parts of the datum with this name out of `parts`, and puts the datum of this kind together. The error
    /// is the name of a part that is missing.
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
            Self::Strings => {
                let shape = take(parts, shape_of(name))?;
                let shape: Vec<i64> = shape.to_i128s().into_iter().map(|size| size as i64).collect();
                let mut items = Vec::new();
                while let Some(item) = parts.remove(&item_of(name, items.len())) {
                    items.push(item);
                }
                let missing = item_of(name, items.len());
                Datum::Strings(Strings::new(shape, items).ok_or(missing)?)
            }
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
            Self::Strings(Strings { shape, .. }) => write!(f, "strings {shape:?}"),
        }
    }
}

impl FromStr for DatumKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("no value is of the kind `{name}`"))
    }
}

impl fmt::Display for DatumKind {
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

    fn strings(shape: &[i64], texts: &[&str]) -> Strings {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Strings::of_texts(shape.to_vec(), &texts).unwrap()
    }

    fn each() -> [(DatumKind, Datum); 9] {
        let two = || vec![numbers(2), numbers(0)];
        [
            (DatumKind::Tensor, Datum::Tensor(numbers(3))),
            (DatumKind::Sequence, Datum::Sequence(two())),
            (DatumKind::Sequence, Datum::Sequence(Vec::new())),
            (DatumKind::Optional, Datum::Optional(Some(Held::Tensor(numbers(1))))),
            (DatumKind::Optional, Datum::Optional(None)),
            (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(two())))),
            (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(Vec::new())))),
            (DatumKind::Strings, Datum::Strings(strings(&[2, 1], &["a", "é"]))),
            (DatumKind::Strings, Datum::Strings(strings(&[0, 3], &[]))),
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
        assert_eq!(DatumKind::Sequence.gather("x", &mut parts), Err("x[0]".to_owned()));
        assert_eq!(DatumKind::Optional.gather("x", &mut parts), Err("OptionalHasElement(x)".to_owned()));
    }

    #[test]
    fn strings_are_their_bytes_and_as_many_as_there_are_places() {
        let one = strings(&[], &["né"]);
        assert_eq!(one.items[0].to_bytes(), [b'n', 0xc3, 0xa9]);
        assert_eq!(one.texts(), Some(vec!["né".to_owned()]));
        assert!(Strings::of_texts(vec![2], &["a".to_owned()]).is_none());
        assert!(Strings::of_texts(vec![-1, -1], &["a".to_owned()]).is_none());
        assert!(Strings::of_texts(vec![i64::MAX, 2], &[]).is_none());
        let broken = Tensor::from_i128_fn(&Type::new(DType::U8, [1]), |_| 0xff);
        assert_eq!(text_of(&broken), None);
        let mut parts = Datum::Strings(one).parts("x").into_iter().collect();
        assert!(DatumKind::Strings.gather("x", &mut parts).is_ok());
        assert_eq!(DatumKind::Strings.gather("x", &mut parts), Err("Shape(x)".to_owned()));
    }
}
