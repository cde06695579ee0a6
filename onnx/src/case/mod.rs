//! Test-case folders in the layout of ONNX's backend tests, which every ONNX tool can read:
//!
//! ```text
//! case/model.onnx
//! case/test_data_set_0/input_0.pb, input_1.pb, …, output_0.pb, …
//! case/bounds_set_0/bound_0.pb, mask_0.pb, …  ours, optional: how far each element of output_0.pb … may be off
//! case/case.json                              ours, optional
//! case/rewritten/                             ours, optional: a case folder of the model in another form
//! ```
//!
//! The files are numbered in the order of the graph's inputs and outputs, without a gap: only the last inputs may have
//! none, which then take their defaults. What is in one is what the graph declares: a tensor, a sequence of tensors, or
//! an optional. A lone model is a case without data: an `.onnx` file, or one in ONNX's text syntax (`.onnxtxt`, see
//! [`crate::text`]).

mod datum;
mod find;
mod npy;
mod own;
mod write;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use ir::{DType, Datum, DatumKind, Tensor, Type};

pub use datum::encode;
pub use find::find;
pub use own::replaceable;
pub use write::{clear, place};

use crate::import::declared_kind;
use crate::program::sparse;
use crate::proto::{GraphProto, ModelProto, TensorProto, ValueInfoProto, decode_shared};
use crate::tensor::each::all_in_bytes;
use crate::{Error, external, file, text};

/// The name of the model inside a case folder.
pub const MODEL: &str = "model.onnx";
/// The name of our own description inside a case folder.
pub const JSON: &str = "case.json";
/// The name of the folder that holds the model in another form.
const REWRITTEN: &str = "rewritten";
/// What the names of data-set folders start with; a number follows.
const DATA_SET: &str = "test_data_set_";
/// The beginning of the names of the folders beside them, which ONNX's own tools pass over.
const BOUNDS_SET: &str = "bounds_set_";

/// A test case: a model and data to run it on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CaseFolder {
    /// The model's bytes as they are in the file, so that a runtime sees exactly those.
    pub model: Bytes,
    /// The data sets, in the order of their numbers.
    pub sets: Vec<DataSet>,
    /// The bytes of `case.json`, which this crate does not interpret.
    pub json: Option<Vec<u8>>,
    /// The model in another form, whose outputs must be the same.
    pub rewritten: Option<Box<CaseFolder>>,
}

/// One `test_data_set_N`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DataSet {
    /// Values of the graph's inputs, in their order. Trailing inputs that have an initializer may be left out.
    pub inputs: Vec<NamedDatum>,
    /// What the model must produce, for every output of the graph in order. Empty if that is not known.
    pub outputs: Vec<NamedDatum>,
    /// How far each of the outputs may be off, in their order; or nothing, where no bounds are known.
    pub leeways: Vec<Leeway>,
}

/// How far the elements of an output may be off. What the numbers mean is not interpreted here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leeway {
    /// The largest difference allowed, as f64 in the shapes of the output.
    pub bound: Datum,
    /// Whether the element is judged, as u8 in the shapes of the output.
    pub mask: Datum,
}

/// A value, and the graph input or output it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedDatum {
    /// The name in the graph.
    pub name: String,
    /// The value.
    pub datum: Datum,
}

impl NamedDatum {
    /// A value with a name.
    pub fn new(name: impl Into<String>, datum: impl Into<Datum>) -> Self {
        Self { name: name.into(), datum: datum.into() }
    }
}

/// A value in a file of its own: an array of NumPy (`.npy`), or a message as data sets have it. Which message it is,
/// `kind` tells.
pub fn read_value(path: &Path, kind: DatumKind) -> Result<Datum, Error> {
    let bytes = file::read(path)?;
    let is_array = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let value = if is_array { npy::read(&bytes).map(Datum::Tensor) } else { datum::read(&bytes, kind) };
    value.map_err(|e| e.inside(path.display().to_string()))
}

impl CaseFolder {
    /// Reads a case folder, or a lone model. With the data in files beside it a model may have as many bytes as a message.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_within(path, external::MESSAGE)
    }

    /// The same with another limit for the bytes of a model.
    pub fn read_within(path: &Path, most: u64) -> Result<Self, Error> {
        if path.is_dir() {
            Self::read_folder(path, most).map_err(|e| e.inside(format!("case {}", path.display())))
        } else {
            Ok(Self { model: read_model(path, most)?, ..Self::default() })
        }
    }

    /// The model, decoded.
    pub fn decode(&self) -> Result<ModelProto, Error> {
        decode_shared("model", &self.model)
    }

    /// Reads a folder, and below it at most one with a rewritten form: a link may lead back up.
    fn read_folder(path: &Path, most: u64) -> Result<Self, Error> {
        let mut case = Self::read_form(path, most)?;
        let rewritten = path.join(REWRITTEN);
        if rewritten.join(MODEL).is_file() {
            let form = Self::read_form(&rewritten, most).map_err(|e| e.inside(REWRITTEN.to_owned()))?;
            case.rewritten = Some(Box::new(form));
        }
        Ok(case)
    }

    fn read_form(path: &Path, most: u64) -> Result<Self, Error> {
        let model = external::whole(file::read(&path.join(MODEL))?, path, most)?;
        let mut case = Self { model, ..Self::default() };
        let json = path.join(JSON);
        if json.exists() {
            case.json = Some(file::read(&json)?);
        }
        let sets = numbered(path, DATA_SET, "")?;
        if !sets.is_empty() {
            let model: ModelProto = decode_shared(MODEL, &case.model)?;
            let ports =
                Ports::of(model.graph.as_ref().ok_or_else(|| Error::invalid(MODEL, "it has no graph"))?);
            let read = |(i, set): (usize, &PathBuf)| {
                let mut data = ports.read_set(set).map_err(|e| e.inside(file_name(set)))?;
                let bounds = path.join(format!("{BOUNDS_SET}{i}"));
                if bounds.is_dir() {
                    data.leeways = ports
                        .read_leeways(&bounds, &data.outputs)
                        .map_err(|e| e.inside(file_name(&bounds)))?;
                }
                Ok(data)
            };
            case.sets = sets.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        }
        Ok(case)
    }
}

/// How many bytes a model takes with the data that it keeps in files beside it; 0 where none can be read. `path` is a
/// case folder or a lone model.
pub fn size(path: &Path) -> u64 {
    let path = if path.is_dir() { path.join(MODEL) } else { path.to_owned() };
    file::read(&path).map_or(0, |bytes| bytes.len() as u64 + external::elsewhere(&bytes.into()))
}

/// The bytes of a lone model, with the data that it has in files beside it. One that is text is put into bytes, as
/// runtimes take no other.
fn read_model(path: &Path, most: u64) -> Result<Bytes, Error> {
    let bytes = file::read(path)?;
    if path.extension().is_none_or(|e| e != text::EXTENSION) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return external::whole(bytes, folder.unwrap_or(Path::new(".")), most)
            .map_err(|e| e.inside(format!("model {}", path.display())));
    }
    let what = || format!("text {}", path.display());
    let written = String::from_utf8(bytes).map_err(|e| Error::invalid(what(), e.to_string()))?;
    let model = text::parse(&written).map_err(|e| e.inside(what()))?;
    Ok(crate::encode(&all_in_bytes(model)).into())
}

/// The inputs and outputs of a graph: what the files of a data set are matched with.
struct Ports<'a> {
    graph: &'a GraphProto,
    /// Inputs that have a default.
    initialized: HashSet<&'a str>,
}

impl<'a> Ports<'a> {
    fn of(graph: &'a GraphProto) -> Self {
        let (dense, sparse) = (graph.initializer.iter(), graph.sparse_initializer.iter());
        Self { graph, initialized: dense.map(TensorProto::name).chain(sparse.map(sparse::name)).collect() }
    }

    fn read_set(&self, set: &Path) -> Result<DataSet, Error> {
        let inputs = read_values(set, "input_", &self.graph.input)?;
        let mut left_out = self.graph.input.iter().enumerate().skip(inputs.len());
        if let Some((i, port)) = left_out.find(|(_, port)| !self.initialized.contains(port.name())) {
            return Err(Error::invalid(
                format!("input `{}`", port.name()),
                format!("there is no input_{i}.pb, and the graph has no initializer for it"),
            ));
        }
        let outputs = read_values(set, "output_", &self.graph.output)?;
        if let Some(port) = self.graph.output.get(outputs.len())
            && !outputs.is_empty()
        {
            return Err(Error::invalid(
                format!("output `{}`", port.name()),
                format!("there is no output_{}.pb, though other outputs have a file", outputs.len()),
            ));
        }
        Ok(DataSet { inputs, outputs, leeways: Vec::new() })
    }

    /// The bounds and masks that belong to some outputs.
    fn read_leeways(&self, folder: &Path, outputs: &[NamedDatum]) -> Result<Vec<Leeway>, Error> {
        let read = |prefix: &str, i: usize, dtype: DType| {
            let name = format!("{prefix}_{i}.pb");
            let datum = read_datum(&folder.join(&name), &self.graph.output[i])?;
            let types = datum.as_ref().map(Tensor::ty);
            let expected = outputs[i].datum.as_ref().map(|tensor| Type { dtype, ..tensor.ty() });
            if types != expected {
                let why = format!("it is {types} where {expected} belongs to output_{i}.pb");
                return Err(Error::invalid(name, why));
            }
            Ok(datum)
        };
        let leeway =
            |i| Ok(Leeway { bound: read("bound", i, DType::F64)?, mask: read("mask", i, DType::U8)? });
        (0..outputs.len()).map(leeway).collect()
    }
}

/// The values in `PREFIX0.pb`, `PREFIX1.pb`, … of a data set, named after the ports they stand for.
fn read_values(set: &Path, prefix: &str, ports: &[ValueInfoProto]) -> Result<Vec<NamedDatum>, Error> {
    let files = numbered(set, prefix, ".pb")?;
    if files.len() > ports.len() {
        return Err(Error::invalid(
            file_name(&files[ports.len()]),
            format!("there are {} such files, but the graph declares {}", files.len(), ports.len()),
        ));
    }
    let value =
        |(path, port): (&PathBuf, &ValueInfoProto)| Ok(NamedDatum::new(port.name(), read_datum(path, port)?));
    files.iter().zip(ports).map(value).collect()
}

/// The value in one file. The port decides which message that is.
fn read_datum(path: &Path, port: &ValueInfoProto) -> Result<Datum, Error> {
    let kind = declared_kind(format!("value of `{}`", port.name()), port)?.unwrap_or(DatumKind::Tensor);
    let bytes = file::read(path)?;
    datum::read(&bytes, kind).map_err(|e| e.inside(file_name(path)))
}

/// The entries of a folder called `PREFIX0SUFFIX`, `PREFIX1SUFFIX`, … in that order. A gap is an error.
fn numbered(folder: &Path, prefix: &str, suffix: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let name = file_name(&path);
        let digits = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
        if let Some(number) = digits.and_then(|d| d.parse::<usize>().ok()) {
            found.push((number, path));
        }
    }
    found.sort();
    for (i, (number, path)) in found.iter().enumerate() {
        if *number != i {
            return Err(Error::invalid(
                file_name(path),
                format!("{prefix}{i}{suffix} should come before it"),
            ));
        }
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The last component of a path, for messages and comparisons.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
