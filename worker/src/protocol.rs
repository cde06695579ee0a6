//! The worker protocol, version 1: one JSON header line, then the raw blobs whose lengths the header states.
//!
//! `docs/worker-protocol.md` describes it for authors of runners. Readers here trust nothing: every length is
//! checked against a limit before memory is reserved for it, and unknown header fields are ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use ir::{DType, DTypes, Datum, DatumKind, Tensor, Type};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::headers;

/// The version this code speaks. A worker that answers another one is refused.
pub const VERSION: u32 = 1;

/// The longest header line, its newline included.
pub const MAX_HEADER: u64 = 4 << 20;

/// What the parent sends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "headers::Request")]
pub enum Request {
    /// The first request: who are you?
    Hello {
        /// [`VERSION`].
        protocol: u32,
        /// What tells the parent's program from others, for a worker of the same program: the parent names the frames
        /// of its panics.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
    },
    /// Run a model; the model's bytes follow, then each input's.
    Run(RunHeader),
}

/// The header of [`Request::Run`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunHeader {
    /// The reply must carry the same number.
    pub id: u64,
    /// The optimisation level, one of [`Description::levels`].
    pub level: String,
    /// The parent kills the worker after this many milliseconds.
    pub timeout_ms: u64,
    /// The bytes of the ONNX model.
    pub model: u64,
    /// The file of the model, where it does not follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The graph inputs.
    pub inputs: Vec<Blob>,
    /// The wanted graph outputs.
    pub outputs: Vec<Wanted>,
}

/// A graph input or output. The row-major little-endian elements of each of its tensors follow the header, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "headers::Blob", into = "headers::Blob")]
pub struct Blob {
    /// The name of the graph input or output.
    pub name: String,
    /// What it is, and its tensors.
    pub value: Datum<Part>,
}

/// A tensor whose elements follow the header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The element type.
    #[serde(with = "headers::dtype_name")]
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<i64>,
    /// How many bytes follow.
    pub bytes: u64,
}

/// An output as the model declares it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// The name of the graph output.
    pub name: String,
    /// The element type to answer in.
    #[serde(with = "headers::dtype_name")]
    pub dtype: DType,
    /// What it is: a tensor, unless something else is said.
    #[serde(with = "headers::kind_name", default = "tensor", skip_serializing_if = "is_tensor")]
    pub kind: DatumKind,
}

impl From<ir::Wanted> for Wanted {
    fn from(ir::Wanted { name, dtype, kind }: ir::Wanted) -> Self {
        Self { name, dtype, kind }
    }
}

impl From<Wanted> for ir::Wanted {
    fn from(Wanted { name, dtype, kind }: Wanted) -> Self {
        Self { name, dtype, kind }
    }
}

fn tensor() -> DatumKind {
    DatumKind::Tensor
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde prescribes the signature")]
fn is_tensor(kind: &DatumKind) -> bool {
    *kind == DatumKind::Tensor
}

/// What the worker answers to [`Request::Hello`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "there is one for each process")]
pub enum Greeting {
    /// The engine is ready.
    Hello(Hello),
    /// The engine cannot run here.
    Unavailable {
        /// What it lacks: a package, a driver.
        why: String,
    },
}

/// Who a worker is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The version the worker speaks.
    pub protocol: u32,
    /// What it took to load the engine.
    #[serde(default)]
    pub seconds: f64,
    /// What the engine is and can do.
    #[serde(flatten)]
    pub description: Description,
}

/// What the worker answers to [`Request::Run`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "headers::Reply")]
pub enum Reply {
    /// The outputs; their bytes follow.
    Ok {
        /// Of the request.
        id: u64,
        /// What loading and running took, without the protocol.
        seconds: f64,
        /// The outputs, in the order they were wanted.
        outputs: Vec<Blob>,
    },
    /// A clean error of the engine.
    Rejected {
        /// Of the request.
        id: u64,
        /// Where it came up.
        stage: Stage,
        /// The engine's words.
        message: String,
        /// What it took to find that out.
        seconds: f64,
    },
    /// The engine lacks an operator, dtype or the like.
    Unsupported {
        /// Of the request.
        id: u64,
        /// What it lacks.
        why: String,
        /// What it took to find that out.
        seconds: f64,
    },
    /// The engine panicked and the worker survived it.
    Panicked {
        /// Of the request.
        id: u64,
        /// The panic's message.
        message: String,
        /// `file:line:column`, or empty.
        location: String,
        /// The innermost frames, or none.
        frames: Vec<String>,
        /// The places of the frames in the program, where the parent names them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<i64>,
        /// What it took until then.
        seconds: f64,
    },
}

/// What an engine is and can do.
#[allow(clippy::struct_excessive_bools, reason = "each is a field of the header")]
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The engine's name.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// The dtype (by short name) that each dtype it accepts is calculated in. `"i64": "i32"` says that 64-bit
    /// integers run as 32-bit ones; a dtype that is missing is not accepted.
    pub dtypes: BTreeMap<String, String>,
    /// The [kinds](DatumKind) of inputs and outputs it takes, by name; none says tensors alone. Names that this program does not
    /// know are those of a later one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The newest `ai.onnx` opset it accepts, if known.
    #[serde(default)]
    pub opset: Option<i64>,
    /// The optimisation levels it has, from none to all.
    pub levels: Vec<String>,
    /// Further levels, at which it runs only where they are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_request: Vec<String>,
    /// Whether its convolutions may transform their operands (Winograd, FFT), which makes their errors relative to all
    /// of an image.
    #[serde(default)]
    pub transforms_convolutions: bool,
    /// The accuracy profile that it keeps, by name; none says what is granted to a runtime that documents nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// For a dtype, the dtype in which the engine sums elements of it (both by short name). Where nothing is
    /// said, that is taken to be f32 for the halves and the dtype itself for all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accumulators: BTreeMap<String, String>,
    /// Whether an operator gives the same bits for the same operands wherever it stands: it has one kernel, and fuses
    /// nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// Whether a value that comes for an input with a default takes the place of that. To one where it does not, a
    /// model is sent without the default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides_defaults: bool,
    /// Whether it takes a model that has tensor data in files beside it. One that is too large for a message comes in
    /// no other way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// The levels at which it can also write the optimised model, read it again and run that. A request for this
    /// has [`WRITTEN`] after the level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
}

/// The dtypes that the protocol has had from the start.
const FIRST: DTypes = DTypes::IR4;

/// What follows the level where the optimised model is to be written and read again before it runs.
pub const WRITTEN: &str = "+written";

impl Description {
    /// Why nothing can be asked of such an engine. Single names that this program does not know are those of a later
    /// one; but without a dtype and a level there is no case.
    pub fn useless(&self) -> Option<String> {
        self.wrong_level().or_else(|| self.wrong_opset()).or_else(|| self.lacks_dtypes())
    }

    /// Why a level is none that can be asked for.
    fn wrong_level(&self) -> Option<String> {
        if self.all_levels().next().is_none() {
            return Some("its hello names no level in `levels`".to_owned());
        }
        if let Some(level) = self.all_levels().find(|level| !is_level(level)) {
            return Some(format!(
                "its hello names the level {level:?}, which --on cannot name: a level is one word, without `,`, `:` and quotes"
            ));
        }
        let mut seen = BTreeSet::new();
        let twice = self.all_levels().find(|level| !seen.insert(*level))?;
        Some(format!("its hello names the level `{twice}` twice"))
    }

    fn wrong_opset(&self) -> Option<String> {
        let opset = self.opset.filter(|&opset| opset < 1)?;
        Some(format!("its hello says that it accepts opset {opset} at most; the first is 1"))
    }

    fn lacks_dtypes(&self) -> Option<String> {
        if DType::ALL.iter().any(|&dtype| self.computes_in(dtype).is_some()) {
            return None;
        }
        let pairs: Vec<String> = self.dtypes.iter().map(|(of, by)| format!("{of}: {by}")).collect();
        let named = if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") };
        let known = DType::ALL.map(DType::name).join(", ");
        Some(format!("its hello names no dtype in `dtypes` that there is, but {named}; there are {known}"))
    }

    /// All levels that a request may name.
    pub fn all_levels(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().chain(&self.on_request).map(String::as_str)
    }

    /// The dtypes in which sums of each dtype are made, as far as the engine says so. Names that this program
    /// does not know belong to a later one, and are left out.
    pub fn accumulators(&self) -> impl Iterator<Item = (DType, DType)> {
        self.accumulators.iter().filter_map(|(of, made_in)| Some((of.parse().ok()?, made_in.parse().ok()?)))
    }

    /// The dtype that `dtype` is calculated in; `None` where the engine does not accept it.
    pub fn computes_in(&self, dtype: DType) -> Option<DType> {
        self.dtypes.get(dtype.name())?.parse().ok()
    }

    /// Whether the worker can read and write tensors of a dtype. Every worker can with the dtypes of the
    /// first protocol, whether the engine accepts them or not. A dtype that was added later may be unknown to
    /// a worker.
    pub fn has_heard_of(&self, dtype: DType) -> bool {
        FIRST.contains(dtype) || self.dtypes.contains_key(dtype.name())
    }

    /// Whether the worker takes inputs and gives outputs of a kind. Tensors each one does.
    pub fn takes(&self, kind: DatumKind) -> bool {
        kind == DatumKind::Tensor || self.values.iter().any(|name| name == kind.name())
    }
}

/// Whether a word names a level: on the command line and in reports it stands behind a colon, in lists with commas.
fn is_level(word: &str) -> bool {
    let parts = |c: char| c.is_whitespace() || c.is_control() || ",:'\"".contains(c);
    !word.is_empty() && !word.contains(parts)
}

/// Where a clean error came up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Parsing, checking or optimising the model.
    Load,
    /// Running it.
    Run,
    /// Either, at a level of optimisation, where the unoptimised level runs the case. No worker says so, as it runs a
    /// case at one level.
    #[serde(skip)]
    Optimise,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 3] = [Self::Load, Self::Run, Self::Optimise];

    /// The stage in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Run => "run",
            Self::Optimise => "optimise",
        }
    }
}

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended where a frame may start.
    #[error("the stream ended")]
    Closed,
    /// The stream ended elsewhere.
    #[error("the stream ended inside a frame")]
    Truncated,
    /// What was read is not a frame.
    #[error("{0}")]
    Malformed(String),
    /// A line is no header that may stand here.
    #[error("{what}, got {line}")]
    Header {
        /// What is wrong with it.
        what: String,
        /// The line, or its beginning.
        line: String,
    },
    /// The stream failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A frame ready to be sent in one write. It fails where JSON cannot say what the header holds, as a path that is no UTF-8.
pub fn frame(header: &impl Serialize, blobs: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    append(&mut out, header, blobs)?;
    Ok(out)
}

/// Appends a frame to others, see [`frame`].
pub fn append(out: &mut Vec<u8>, header: &impl Serialize, blobs: &[&[u8]]) -> io::Result<()> {
    serde_json::to_writer(&mut *out, header)?;
    out.reserve(1 + blobs.iter().map(|b| b.len()).sum::<usize>());
    out.push(b'\n');
    for blob in blobs {
        out.extend_from_slice(blob);
    }
    Ok(())
}

/// Reads a header line.
pub fn read_header<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<T, FrameError> {
    let mut line = Vec::new();
    from.take(MAX_HEADER).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(FrameError::Closed);
    }
    // A line that cannot become a header is better called malformed than cut off, even without its newline.
    if line.first() != Some(&b'{') {
        return Err(FrameError::Header { what: "expected a JSON header".to_owned(), line: excerpt(&line) });
    }
    if line.last() != Some(&b'\n') {
        let long = line.len() as u64 == MAX_HEADER;
        let too_long = || FrameError::Malformed(format!("a header is longer than {MAX_HEADER} bytes"));
        return Err(if long { too_long() } else { FrameError::Truncated });
    }
    serde_json::from_slice(&line)
        .map_err(|e| FrameError::Header { what: e.to_string(), line: excerpt(&line) })
}

/// Reads `bytes` bytes, of which at most `limit` are allowed.
pub fn read_blob(from: &mut impl BufRead, bytes: u64, limit: u64) -> Result<Vec<u8>, FrameError> {
    if bytes > limit {
        return Err(FrameError::Malformed(format!(
            "a blob of {bytes} bytes is announced; {limit} are allowed"
        )));
    }
    // The announcement is not proof: memory grows with what arrives.
    let mut blob = Vec::with_capacity(bytes.min(1 << 20) as usize);
    from.take(bytes).read_to_end(&mut blob)?;
    if (blob.len() as u64) < bytes { Err(FrameError::Truncated) } else { Ok(blob) }
}

/// Reads the values that `blobs` announces, of at most `limit` bytes together.
pub fn read_values(
    from: &mut impl BufRead,
    blobs: Vec<Blob>,
    mut limit: u64,
) -> Result<Vec<(String, Datum)>, FrameError> {
    let mut values = Vec::with_capacity(blobs.len());
    for Blob { name, value } in blobs {
        let value = value.try_map(|Part { dtype, shape, bytes }| {
            let elements = read_blob(from, bytes, limit)?;
            limit -= bytes;
            Tensor::answered(&Type::new(dtype, shape), &elements)
                .map_err(|e| FrameError::Malformed(format!("`{name}`: {e}")))
        })?;
        values.push((name, value));
    }
    Ok(values)
}

/// The headers and the bytes of named values.
pub fn blobs<'t>(values: impl Iterator<Item = (&'t str, Datum<&'t Tensor>)>) -> (Vec<Blob>, Vec<Vec<u8>>) {
    let mut all = Vec::new();
    let blobs = values.map(|(name, value)| {
        let value = value.map(|tensor| {
            let bytes = tensor.to_bytes();
            let Type { dtype, shape } = tensor.ty();
            let part = Part { dtype, shape, bytes: bytes.len() as u64 };
            all.push(bytes);
            part
        });
        Blob { name: name.to_owned(), value }
    });
    (blobs.collect(), all)
}

/// The start of a line for a message, printable.
fn excerpt(line: &[u8]) -> String {
    let shown = &line[..line.len().min(80)];
    let dots = if shown.len() < line.len() { "…" } else { "" };
    format!("`{}{dots}`", shown.trim_ascii_end().escape_ascii())
}

#[cfg(test)]
mod tests;
