//! Tensor data in files beside the model (`TensorProto.external_data`).
//!
//! A model is untrusted input that names files to open. So external data is read only where the caller allows a
//! folder, and only from regular files inside that folder, symbolic links resolved.
//! It is read, not mapped into memory: a file that somebody cuts off while it is mapped ends the process that looks at it.

mod spill;
mod whole;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use ir::Type;

use crate::proto::StringStringEntryProto;
use crate::{Error, file};

pub(crate) use spill::DATA;
pub use spill::spill;
pub(crate) use whole::{elsewhere, whole};

/// The most bytes that a message may have, says protobuf. Ours may have more, but no runtime reads such a one.
pub const MESSAGE: u64 = file::MAX_BYTES;

/// Where tensor data outside the message may lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum External<'a> {
    /// Nowhere: such a tensor is an error.
    Refuse,
    /// In files inside this folder.
    Within(&'a Path),
}

/// The bytes of a tensor of the given type. Sizes are checked before anything is read.
pub(crate) fn read(
    entries: &[StringStringEntryProto],
    ty: &Type,
    external: External<'_>,
) -> Result<Vec<u8>, Error> {
    let External::Within(folder) = external else {
        return Err(Error::unsupported("external data", "no folder was given that it may be read from"));
    };
    let slice = Slice::parse(entries)?;
    let path = locate(folder, &slice.location)?;
    let available = file::regular(&path)?;
    let length = slice.length.or(available.checked_sub(slice.offset));
    let end = length.and_then(|n| n.checked_add(slice.offset));
    let Some(length) = length.filter(|_| end.is_some_and(|end| end <= available)) else {
        return Err(Error::invalid(
            "external data",
            format!("{} leaves `{}`, which has {available} bytes", slice.extent(), slice.location),
        ));
    };
    if length != ty.bytes() {
        return Err(Error::invalid(
            "external data",
            format!("a tensor {ty} needs {} bytes, but `{}` provides {length}", ty.bytes(), slice.location),
        ));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    let mut file = File::open(&path).map_err(Error::io("open", &path))?;
    file.seek(SeekFrom::Start(slice.offset)).map_err(Error::io("read", &path))?;
    file.take(length).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
    Ok(bytes)
}

/// What the entries of `external_data` say.
#[derive(Default, Debug)]
struct Slice {
    location: String,
    offset: u64,
    length: Option<u64>,
}

impl Slice {
    /// Where it lies in its file.
    fn extent(&self) -> String {
        let offset = self.offset;
        self.length.map_or_else(|| format!("offset {offset}"), |n| format!("length {n} at offset {offset}"))
    }

    fn parse(entries: &[StringStringEntryProto]) -> Result<Self, Error> {
        let mut slice = Self::default();
        for (i, entry) in entries.iter().enumerate() {
            let (key, value) = (entry.key(), entry.value());
            if entries[..i].iter().any(|e| e.key() == key) {
                return Err(Error::invalid("external data", format!("`{key}` is given twice")));
            }
            match key {
                "location" => value.clone_into(&mut slice.location),
                "offset" => slice.offset = number(key, value)?,
                "length" => slice.length = Some(number(key, value)?),
                // A SHA-1 digest: it guards against mix-ups, not attacks, and ONNX's own reader skips it too.
                "checksum" => {}
                _ => {
                    return Err(Error::unsupported("external data", format!("the key `{key}` is not known")));
                }
            }
        }
        Ok(slice)
    }
}

fn number(key: &str, value: &str) -> Result<u64, Error> {
    value.parse().map_err(|_| Error::invalid("external data", format!("{key} `{value}` is not a byte count")))
}

/// The file at a location inside the folder.
fn locate(folder: &Path, location: &str) -> Result<PathBuf, Error> {
    let outside = |why: &str| Err(Error::invalid("external data", format!("location `{location}` {why}")));
    let relative = Path::new(location);
    if location.is_empty() {
        return outside("is empty");
    }
    if !relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        return outside("is not a plain path inside the model's folder");
    }
    let root = folder.canonicalize().map_err(Error::io("open", folder))?;
    let joined = root.join(relative);
    let path = joined.canonicalize().map_err(Error::io("open", &joined))?;
    if path.starts_with(&root) {
        Ok(path)
    } else {
        outside("leaves the model's folder through a symbolic link")
    }
}

#[cfg(test)]
mod tests;
