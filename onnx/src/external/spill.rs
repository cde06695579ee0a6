//! Models that are too large for a message, written with the data of their tensors beside them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::case::MODEL;
use crate::proto::tensor_proto::DataLocation;
use crate::proto::{ModelProto, StringStringEntryProto, decode};
use crate::{Error, encode};

/// The file that the data goes to.
pub(crate) const DATA: &str = "model.data";

/// What fewer bytes of an initializer are not worth: they stay in the message, as shapes and axes do that a reader wants at once.
const LEAST: usize = 1024;

/// Where data begins in its file: at the start of a page, so that a reader may map it.
const ALIGNMENT: u64 = 4096;

/// Writes a model to a folder, `model.onnx` with the data of the main graph's initializers in a file beside it. (ONNX
/// has it for any tensor, but not every runtime reads it elsewhere.) The path of the model.
///
/// # Errors
/// If the bytes are no model, or a file cannot be written.
pub fn spill(model: &[u8], folder: &Path) -> Result<PathBuf, Error> {
    let mut proto = decode::<ModelProto>("model", model)?;
    let path = folder.join(DATA);
    let failed = |e| Error::io("write", &path)(e);
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    let mut at = 0u64;
    for tensor in proto.graph.iter_mut().flat_map(|graph| &mut graph.initializer) {
        let Some(data) = tensor.raw_data.take_if(|data| data.len() >= LEAST) else { continue };
        let offset = at.next_multiple_of(ALIGNMENT);
        let padding = vec![0; (offset - at) as usize];
        file.write_all(&padding).and_then(|()| file.write_all(&data)).map_err(failed)?;
        let said = [
            ("location", DATA.to_owned()),
            ("offset", offset.to_string()),
            ("length", data.len().to_string()),
        ];
        let entry = |(key, value): (&str, String)| StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value),
        };
        tensor.external_data = said.map(entry).into();
        tensor.data_location = Some(DataLocation::External as i32);
        at = offset + data.len() as u64;
    }
    file.flush().map_err(failed)?;
    let path = folder.join(MODEL);
    std::fs::write(&path, encode(&proto)).map_err(Error::io("write", &path))?;
    Ok(path)
}
