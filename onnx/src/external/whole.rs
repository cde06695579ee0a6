//! Models that keep tensor data in files beside them, made whole.

use std::path::Path;

use bytes::Bytes;

use super::{External, read};
use crate::proto::tensor_proto::DataLocation;
use crate::proto::{ModelProto, TensorProto, decode_shared};
use crate::tensor::each::each_tensor;
use crate::tensor::type_of;
use crate::{Error, encode};

/// The key that every tensor with data elsewhere has.
const KEY: &[u8] = b"location";

/// The bytes of a model with the data of its tensors in them, from files inside a folder: what leaves the folder, a
/// worker's input or a saved case, needs no file. A model that has all its data stays as it is, byte by byte.
///
/// # Errors
/// If data cannot be read, or the tensors that have it take more than `most` bytes.
pub(crate) fn whole(model: Vec<u8>, folder: &Path, most: u64) -> Result<Bytes, Error> {
    let model = Bytes::from(model);
    let Some(mut proto) = with_data_elsewhere(&model) else { return Ok(model) };
    let mut bytes = model.len() as u64;
    let mut found = false;
    each_tensor(&mut proto, &mut |tensor| {
        if tensor.data_location() != DataLocation::External {
            return Ok(());
        }
        found = true;
        bring(tensor, folder, most, &mut bytes).map_err(|e| e.inside(format!("tensor `{}`", tensor.name())))
    })?;
    Ok(if found { encode(&proto).into() } else { model })
}

/// How many bytes the data has that a model keeps in files, as far as its tensors say. Whether they are there is not asked.
pub(crate) fn elsewhere(model: &Bytes) -> u64 {
    let mut bytes = 0u64;
    let Some(mut proto) = with_data_elsewhere(model) else { return 0 };
    let counted: Result<(), Error> = each_tensor(&mut proto, &mut |tensor| {
        if tensor.data_location() == DataLocation::External {
            bytes = bytes.saturating_add(type_of(tensor)?.bytes());
        }
        Ok(())
    });
    counted.map_or(0, |()| bytes)
}

/// The message, where it may have data elsewhere. What is no model, whoever wants to know more about it says.
fn with_data_elsewhere(model: &Bytes) -> Option<ModelProto> {
    let may_have = model.windows(KEY.len()).any(|window| window == KEY);
    may_have.then(|| decode_shared("model", model).ok())?
}

/// Brings the data of a tensor in; `bytes` is what the model has by now.
fn bring(tensor: &mut TensorProto, folder: &Path, most: u64, bytes: &mut u64) -> Result<(), Error> {
    let ty = type_of(tensor)?;
    *bytes = bytes.saturating_add(ty.bytes());
    if *bytes > most {
        let why = format!("the model has more than {most} bytes with it, which is all that it may have here");
        return Err(Error::unsupported("external data", why));
    }
    let data = read(&tensor.external_data, &ty, External::Within(folder))?;
    tensor.raw_data = Some(data.into());
    tensor.external_data.clear();
    tensor.data_location = None;
    Ok(())
}
