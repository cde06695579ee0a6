//! Values of attributes: how those of each kind are read and written, and those of which there are a few.

use std::ops::{RangeFrom, RangeInclusive};

use ir::dim::LIMIT;
use ir::{Attribute, Attributes, BadAttribute, DType, DTypes};

/// The value of an attribute.
pub trait Value: Sized {
    /// The value that is given. `None` where it is not, and that means nothing of itself.
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute>;

    /// What is written, if anything is.
    fn written(&self) -> Option<Attribute>;
}

impl Value for bool {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_flag(name, false)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Int(i64::from(*self)))
    }
}

impl Value for i64 {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_int(name, None)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Int(*self))
    }
}

impl Value for f32 {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get(name).map(|_| given.get_float(name, 0.0)).transpose()
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Float(*self))
    }
}

impl Value for DType {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get_dtype(name)
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::DType(*self))
    }
}

impl Value for Vec<i64> {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        given.get_ints(name)
    }

    fn written(&self) -> Option<Attribute> {
        Some(Attribute::Ints(self.clone()))
    }
}

impl<T: Value> Value for Option<T> {
    fn read(given: &Attributes, name: &str) -> Result<Option<Self>, BadAttribute> {
        T::read(given, name).map(Some)
    }

    fn written(&self) -> Option<Attribute> {
        self.as_ref().and_then(T::written)
    }
}

/// The value of an attribute that is given, has a default, or means something by its absence.
pub fn read<T: Value>(given: &Attributes, name: &str, default: Option<T>) -> Result<T, BadAttribute> {
    T::read(given, name)?.or(default).ok_or_else(|| BadAttribute::Missing(name.to_owned()))
}

/// The values that an attribute may have: a range, a set of dtypes, [`Clamped`] numbers. Of a list it is said of each
/// entry, and of what may be absent where it is there.
pub trait Among<T> {
    /// The value, as it is meant; what it must be, where it is none of these.
    fn admit(&self, value: T) -> Result<T, String>;
}

impl Among<i64> for RangeInclusive<i64> {
    fn admit(&self, value: i64) -> Result<i64, String> {
        let (low, high) = (*self.start(), *self.end());
        let wanted =
            if high == low + 1 { format!("{low} or {high}") } else { format!("from {low} to {high}") };
        self.contains(&value).then_some(value).ok_or(wanted)
    }
}

impl Among<i64> for RangeFrom<i64> {
    fn admit(&self, value: i64) -> Result<i64, String> {
        self.contains(&value).then_some(value).ok_or_else(|| format!("{} or more", self.start))
    }
}

impl Among<DType> for DTypes {
    fn admit(&self, value: DType) -> Result<DType, String> {
        self.contains(value).then_some(value).ok_or_else(|| format!("one of {self}"))
    }
}

/// Every number. One beyond [`LIMIT`] means the same as the limit, where it counts axes or elements: no tensor has more of them.
#[derive(Clone, Copy, Debug)]
pub struct Clamped;

impl Among<i64> for Clamped {
    fn admit(&self, value: i64) -> Result<i64, String> {
        Ok(value.clamp(-LIMIT, LIMIT))
    }
}

impl<T, A: Among<T>> Among<Option<T>> for A {
    fn admit(&self, value: Option<T>) -> Result<Option<T>, String> {
        value.map(|value| self.admit(value)).transpose()
    }
}

impl<A: Among<i64>> Among<Vec<i64>> for A {
    fn admit(&self, value: Vec<i64>) -> Result<Vec<i64>, String> {
        let each = value.into_iter().map(|number| self.admit(number));
        each.collect::<Result<_, _>>().map_err(|wanted| format!("a list of numbers that are {wanted}"))
    }
}

/// The value of an attribute that is among some.
pub fn read_among<T: Value>(
    given: &Attributes,
    name: &str,
    values: &impl Among<T>,
    default: Option<T>,
) -> Result<T, BadAttribute> {
    values.admit(read(given, name, default)?).map_err(|wanted| {
        let value = given.get(name).map_or_else(|| "absent".to_owned(), ToString::to_string);
        BadAttribute::Value { name: name.to_owned(), value, wanted }
    })
}

/// Writes a value, if there is something to write.
pub fn write(all: &mut Attributes, name: &str, value: &impl Value) {
    if let Some(value) = value.written() {
        all.set(name, value);
    }
}

/// How ONNX spells one of a few values: a name or a number.
pub trait Spelling: Copy + std::fmt::Display {
    /// The attribute.
    fn written(self) -> Attribute;

    /// The spelling that is given, as text; an error if that is of another kind.
    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute>;
}

impl Spelling for &'static str {
    fn written(self) -> Attribute {
        Attribute::Name(self.to_owned())
    }

    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute> {
        given.get_name(name, "")
    }
}

impl Spelling for i64 {
    fn written(self) -> Attribute {
        Attribute::Int(self)
    }

    fn given(given: &Attributes, name: &str) -> Result<String, BadAttribute> {
        given.get_int(name, None).map(|number| number.to_string())
    }
}

/// The value of an attribute that is one of a few, each with its spelling.
pub fn read_choice<S: Spelling, T: Copy>(
    given: &Attributes,
    name: &str,
    choices: &[(S, T)],
    default: Option<T>,
) -> Result<T, BadAttribute> {
    if given.get(name).is_none() {
        return default.ok_or_else(|| BadAttribute::Missing(name.to_owned()));
    }
    let value = S::given(given, name)?;
    let found = choices.iter().find(|(spelling, _)| spelling.to_string() == value);
    found.map(|&(_, choice)| choice).ok_or_else(|| {
        let spellings: Vec<String> = choices.iter().map(|(spelling, _)| spelling.to_string()).collect();
        let wanted = match spellings.as_slice() {
            [one, other] => format!("{one} or {other}"),
            all => format!("one of {}", all.join(", ")),
        };
        BadAttribute::Value { name: name.to_owned(), value, wanted }
    })
}

/// Writes one of a few values.
pub fn write_choice<S: Spelling, T: PartialEq>(
    all: &mut Attributes,
    name: &str,
    value: &T,
    choices: &[(S, T)],
) {
    if let Some((spelling, _)) = choices.iter().find(|(_, choice)| choice == value) {
        all.set(name, spelling.written());
    }
}
