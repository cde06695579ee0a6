//! Values of attributes: how those of each kind are read and written, and those of which there are a few.

use ir::{Attribute, Attributes, BadAttribute, DType};

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
