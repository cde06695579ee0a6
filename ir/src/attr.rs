//! Named attribute values, the form in which operators' attributes are written down.

use std::fmt;
use std::sync::Arc;

use crate::{DType, Tensor};

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// An integer; ONNX's truth values are integers too.
    Int(i64),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A single-precision number, as ONNX stores float attributes.
    Float(f32),
    /// A list of such numbers.
    Floats(Vec<f32>),
    /// A string: mostly a name from a fixed list, such as `auto_pad`'s.
    Name(String),
    /// A list of strings.
    Strings(Vec<String>),
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// An element type.
    DType(DType),
}

/// Equality is bit for bit, as that of tensors: a NaN equals the same NaN, +0 differs from -0.
impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        let bits = |list: &[f32]| -> Vec<u32> { list.iter().map(|v| v.to_bits()).collect() };
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Ints(a), Self::Ints(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Floats(a), Self::Floats(b)) => bits(a) == bits(b),
            (Self::Name(a), Self::Name(b)) => a == b,
            (Self::Strings(a), Self::Strings(b)) => a == b,
            (Self::Tensor(a), Self::Tensor(b)) => a == b,
            (Self::DType(a), Self::DType(b)) => a == b,
            (
                Self::Int(_)
                | Self::Ints(_)
                | Self::Float(_)
                | Self::Floats(_)
                | Self::Name(_)
                | Self::Strings(_)
                | Self::Tensor(_)
                | Self::DType(_),
                _,
            ) => false,
        }
    }
}

impl Eq for Attribute {}

/// Attributes by name, in the order the operator lists them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attributes(Vec<(String, Attribute)>);

/// An attribute is missing, of the wrong kind, or has a value the operator does not know.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadAttribute {
    /// A required attribute is absent.
    #[error("attribute `{0}` is missing")]
    Missing(String),
    /// The attribute has another kind of value.
    #[error("attribute `{name}` must be {wanted}")]
    Kind {
        /// The attribute.
        name: String,
        /// What it should have been.
        wanted: &'static str,
    },
    /// The value is not allowed.
    #[error("attribute `{name}` is {value}; it must be {wanted}")]
    Value {
        /// The attribute.
        name: String,
        /// The value found.
        value: String,
        /// What would be allowed.
        wanted: String,
    },
    /// The operator has no such attribute.
    #[error("there is no attribute `{0}` here")]
    Unknown(String),
    /// The value is legal ONNX that this program does not handle yet.
    #[error("attribute `{name}` is {value}, which is not supported")]
    Unsupported {
        /// The attribute.
        name: String,
        /// The value found.
        value: String,
    },
}

impl Attributes {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// These attributes with one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: Attribute) -> Self {
        self.set(name, value);
        self
    }

    /// These attributes with one more integer.
    #[must_use]
    pub fn int(self, name: &str, value: i64) -> Self {
        self.with(name, Attribute::Int(value))
    }

    /// These attributes with one more truth value, which ONNX writes as 0 or 1.
    #[must_use]
    pub fn flag(self, name: &str, value: bool) -> Self {
        self.int(name, i64::from(value))
    }

    /// These attributes with one more list of integers.
    #[must_use]
    pub fn ints(self, name: &str, value: &[i64]) -> Self {
        self.with(name, Attribute::Ints(value.to_vec()))
    }

    /// These attributes with one more float.
    #[must_use]
    pub fn float(self, name: &str, value: f32) -> Self {
        self.with(name, Attribute::Float(value))
    }

    /// These attributes with one more list of floats.
    #[must_use]
    pub fn floats(self, name: &str, value: &[f32]) -> Self {
        self.with(name, Attribute::Floats(value.to_vec()))
    }

    /// These attributes with one more list of strings.
    #[must_use]
    pub fn strings(self, name: &str, value: &[String]) -> Self {
        self.with(name, Attribute::Strings(value.to_vec()))
    }

    /// These attributes with one more tensor.
    #[must_use]
    pub fn tensor(self, name: &str, value: &Arc<Tensor>) -> Self {
        self.with(name, Attribute::Tensor(value.clone()))
    }

    /// These attributes with one more name.
    #[must_use]
    pub fn name(self, name: &str, value: &str) -> Self {
        self.with(name, Attribute::Name(value.to_owned()))
    }

    /// These attributes with one more dtype.
    #[must_use]
    pub fn dtype(self, name: &str, value: DType) -> Self {
        self.with(name, Attribute::DType(value))
    }

    /// Adds or replaces an attribute.
    pub fn set(&mut self, name: &str, value: Attribute) {
        match self.0.iter_mut().find(|(n, _)| n == name) {
            Some(slot) => slot.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// The value of an attribute, if present.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let at = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.remove(at).1)
    }

    /// The attributes in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An integer, or the default where there is one.
    pub fn get_int(&self, name: &str, default: Option<i64>) -> Result<i64, BadAttribute> {
        match self.get(name) {
            Some(Attribute::Int(v)) => Ok(*v),
            Some(_) => Err(kind(name, "an integer")),
            None => default.ok_or_else(|| BadAttribute::Missing(name.to_owned())),
        }
    }

    /// A truth value: 0 or 1.
    pub fn get_flag(&self, name: &str, default: bool) -> Result<bool, BadAttribute> {
        match self.get_int(name, Some(i64::from(default)))? {
            0 => Ok(false),
            1 => Ok(true),
            v => Err(BadAttribute::Value {
                name: name.to_owned(),
                value: v.to_string(),
                wanted: "0 or 1".to_owned(),
            }),
        }
    }

    /// A list of integers, `None` if absent.
    pub fn get_ints(&self, name: &str) -> Result<Option<Vec<i64>>, BadAttribute> {
        match self.get(name) {
            Some(Attribute::Ints(v)) => Ok(Some(v.clone())),
            Some(_) => Err(kind(name, "a list of integers")),
            None => Ok(None),
        }
    }

    /// A float, or the default.
    pub fn get_float(&self, name: &str, default: f32) -> Result<f32, BadAttribute> {
        match self.get(name) {
            Some(Attribute::Float(v)) => Ok(*v),
            Some(_) => Err(kind(name, "a float")),
            None => Ok(default),
        }
    }

    /// A name, or the default.
    pub fn get_name(&self, name: &str, default: &str) -> Result<String, BadAttribute> {
        match self.get(name) {
            Some(Attribute::Name(v)) => Ok(v.clone()),
            Some(_) => Err(kind(name, "a string")),
            None => Ok(default.to_owned()),
        }
    }

    /// A dtype, if present.
    pub fn get_dtype(&self, name: &str) -> Result<Option<DType>, BadAttribute> {
        match self.get(name) {
            Some(Attribute::DType(v)) => Ok(Some(*v)),
            Some(_) => Err(kind(name, "a dtype")),
            None => Ok(None),
        }
    }
}

fn kind(name: &str, wanted: &'static str) -> BadAttribute {
    BadAttribute::Kind { name: name.to_owned(), wanted }
}

impl FromIterator<(String, Attribute)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (String, Attribute)>>(iter: I) -> Self {
        let mut all = Self::new();
        iter.into_iter().for_each(|(n, v)| all.set(&n, v));
        all
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(v) => write!(f, "{v}"),
            Self::Ints(v) => write!(f, "{v:?}"),
            Self::Float(v) => write!(f, "{v:?}"),
            Self::Floats(v) => write!(f, "{v:?}"),
            Self::Name(v) => write!(f, "{v:?}"),
            Self::Strings(v) => write!(f, "{v:?}"),
            Self::Tensor(v) => write!(f, "{v}"),
            Self::DType(v) => write!(f, "{v}"),
        }
    }
}
