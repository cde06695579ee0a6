//! Headers as they come: the fields of all types of header together, each of which may be missing.
//!
//! Serde can tell the variants of an enum apart by a field, too, but keeps all fields in a buffer first; for a case that
//! runs in a millisecond that is too long.

use std::path::PathBuf;

use ir::{DType, Datum, Held, Strings};
use serde::{Deserialize, Serialize};

use super::protocol::{self, Part, RunHeader, Stage, Wanted};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RequestType {
    Hello,
    Run,
}

#[derive(Deserialize)]
pub(super) struct Request {
    r#type: RequestType,
    protocol: Option<u32>,
    program: Option<String>,
    id: Option<u64>,
    level: Option<String>,
    timeout_ms: Option<u64>,
    model: Option<u64>,
    file: Option<PathBuf>,
    inputs: Option<Vec<protocol::Blob>>,
    outputs: Option<Vec<Wanted>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReplyType {
    Ok,
    Rejected,
    Unsupported,
    Panicked,
}

#[derive(Deserialize)]
pub(super) struct Reply {
    r#type: ReplyType,
    id: u64,
    seconds: Option<f64>,
    outputs: Option<Vec<protocol::Blob>>,
    stage: Option<Stage>,
    message: Option<String>,
    why: Option<String>,
    #[serde(default)]
    location: String,
    #[serde(default)]
    frames: Vec<String>,
    #[serde(default)]
    places: Vec<i64>,
}

fn need<T>(field: Option<T>, name: &str) -> Result<T, String> {
    field.ok_or_else(|| format!("missing field `{name}`"))
}

impl TryFrom<Request> for protocol::Request {
    type Error = String;

    fn try_from(header: Request) -> Result<Self, String> {
        Ok(match header.r#type {
            RequestType::Hello => {
                Self::Hello { protocol: need(header.protocol, "protocol")?, program: header.program }
            }
            RequestType::Run => Self::Run(RunHeader {
                id: need(header.id, "id")?,
                level: need(header.level, "level")?,
                timeout_ms: need(header.timeout_ms, "timeout_ms")?,
                model: need(header.model, "model")?,
                file: header.file,
                inputs: need(header.inputs, "inputs")?,
                outputs: need(header.outputs, "outputs")?,
            }),
        })
    }
}

impl TryFrom<Reply> for protocol::Reply {
    type Error = String;

    fn try_from(header: Reply) -> Result<Self, String> {
        let Reply { r#type, id, seconds, outputs, stage, message, why, location, frames, places } = header;
        Ok(match r#type {
            ReplyType::Ok => {
                let outputs = need(outputs, "outputs")?;
                Self::Ok { id, seconds: seconds.unwrap_or_default(), outputs }
            }
            ReplyType::Rejected => Self::Rejected {
                id,
                stage: need(stage, "stage")?,
                message: need(message, "message")?,
                seconds: seconds.unwrap_or_default(),
            },
            ReplyType::Unsupported => {
                Self::Unsupported { id, why: need(why, "why")?, seconds: seconds.unwrap_or_default() }
            }
            ReplyType::Panicked => Self::Panicked {
                id,
                message: need(message, "message")?,
                location,
                frames,
                places,
                seconds: seconds.unwrap_or_default(),
            },
        })
    }
}

/// A value. It has a name if it goes in or comes out, and none if an optional holds it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Blob {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<Vec<Part>>,
    /// What an optional holds, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    optional: Option<Vec<Blob>>,
}

/// A dtype by its name.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
struct Named(#[serde(with = "dtype_name")] DType);

impl From<Held<Part>> for Blob {
    fn from(held: Held<Part>) -> Self {
        match held {
            Held::Tensor(Part { dtype, shape, bytes }) => {
                Self { dtype: Some(Named(dtype)), shape: Some(shape), bytes: Some(bytes), ..Self::default() }
            }
            Held::Sequence(items) => Self { sequence: Some(items), ..Self::default() },
        }
    }
}

impl TryFrom<Blob> for Held<Part> {
    type Error = String;

    fn try_from(blob: Blob) -> Result<Self, String> {
        match blob {
            Blob { dtype: None, shape: None, bytes: None, sequence: Some(items), .. } => {
                Ok(Self::Sequence(items))
            }
            Blob { dtype, shape, bytes, sequence: None, .. } => Ok(Self::Tensor(Part {
                dtype: need(dtype, "dtype")?.0,
                shape: need(shape, "shape")?,
                bytes: need(bytes, "bytes")?,
            })),
            Blob { .. } => Err("a tensor and a sequence in one".to_owned()),
        }
    }
}

impl From<protocol::Blob> for Blob {
    /// Strings are a sequence with a shape.
    fn from(protocol::Blob { name, value }: protocol::Blob) -> Self {
        let value = match value {
            Datum::Strings(Strings { shape, items }) => {
                Self { shape: Some(shape), sequence: Some(items), ..Self::default() }
            }
            Datum::Tensor(part) => Held::Tensor(part).into(),
            Datum::Sequence(items) => Held::Sequence(items).into(),
            Datum::Optional(held) => {
                Self { optional: Some(held.into_iter().map(Self::from).collect()), ..Self::default() }
            }
        };
        Self { name: Some(name), ..value }
    }
}

impl TryFrom<Blob> for protocol::Blob {
    type Error = String;

    fn try_from(mut blob: Blob) -> Result<Self, String> {
        let name = need(blob.name.take(), "name")?;
        let optional = blob.optional.take();
        let value = match (blob, optional) {
            (Blob { dtype: None, bytes: None, shape: Some(shape), sequence: Some(items), .. }, None) => {
                let wrong = || format!("`{name}` has not as many strings as its shape has places");
                Datum::Strings(Strings::new(shape, items).ok_or_else(wrong)?)
            }
            (blob, None) => Held::try_from(blob)?.into(),
            (Blob { dtype: None, shape: None, bytes: None, sequence: None, .. }, Some(mut held)) => {
                let first = held.pop().map(Held::try_from).transpose()?;
                if !held.is_empty() {
                    return Err(format!("the optional `{name}` holds more than one value"));
                }
                Datum::Optional(first)
            }
            (Blob { .. }, Some(_)) => return Err(format!("`{name}` is an optional, and something else")),
        };
        Ok(Self { name, value })
    }
}

/// Makes a module for what is written as its name, to be named in `#[serde(with = "…")]`.
macro_rules! by_name {
    ($module:ident, $type:ty, $what:literal) => {
        pub(super) mod $module {
            use std::fmt;

            use serde::de::{Error, Visitor};
            use serde::{Deserializer, Serializer};

            #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde prescribes the signature")]
            pub(crate) fn serialize<S: Serializer>(named: &$type, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(named.name())
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                from.deserialize_str(Name)
            }

            struct Name;

            impl Visitor<'_> for Name {
                type Value = $type;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(concat!("the name of ", $what))
                }

                fn visit_str<E: Error>(self, name: &str) -> Result<$type, E> {
                    name.parse().map_err(E::custom)
                }
            }
        }
    };
}

by_name!(dtype_name, ir::DType, "a dtype");
by_name!(kind_name, ir::DatumKind, "a kind of value");
