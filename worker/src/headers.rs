//! Headers as they come: the fields of all types of header together, each of which may be missing.
//!
//! Serde can tell the variants of an enum apart by a field, too, but keeps all fields in a buffer first; for a case that
//! runs in a millisecond that is too long.

use serde::Deserialize;

use super::protocol::{self, Blob, RunHeader, Stage, Wanted};

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
    id: Option<u64>,
    level: Option<String>,
    timeout_ms: Option<u64>,
    model: Option<u64>,
    inputs: Option<Vec<Blob>>,
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
    outputs: Option<Vec<Blob>>,
    stage: Option<Stage>,
    message: Option<String>,
    why: Option<String>,
    #[serde(default)]
    location: String,
    #[serde(default)]
    frames: Vec<String>,
}

fn need<T>(field: Option<T>, name: &str) -> Result<T, String> {
    field.ok_or_else(|| format!("missing field `{name}`"))
}

impl TryFrom<Request> for protocol::Request {
    type Error = String;

    fn try_from(header: Request) -> Result<Self, String> {
        Ok(match header.r#type {
            RequestType::Hello => Self::Hello { protocol: need(header.protocol, "protocol")? },
            RequestType::Run => Self::Run(RunHeader {
                id: need(header.id, "id")?,
                level: need(header.level, "level")?,
                timeout_ms: need(header.timeout_ms, "timeout_ms")?,
                model: need(header.model, "model")?,
                inputs: need(header.inputs, "inputs")?,
                outputs: need(header.outputs, "outputs")?,
            }),
        })
    }
}

impl TryFrom<Reply> for protocol::Reply {
    type Error = String;

    fn try_from(header: Reply) -> Result<Self, String> {
        let Reply { r#type, id, seconds, outputs, stage, message, why, location, frames } = header;
        Ok(match r#type {
            ReplyType::Ok => {
                Self::Ok { id, seconds: need(seconds, "seconds")?, outputs: need(outputs, "outputs")? }
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
                seconds: seconds.unwrap_or_default(),
            },
        })
    }
}
