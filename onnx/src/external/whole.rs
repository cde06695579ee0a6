//! Models that keep tensor data in files beside them, made whole.

use std::path::Path;

use bytes::Bytes;
use prost::Message;

use super::{External, read};
use crate::proto::tensor_proto::DataLocation;
use crate::proto::{GraphProto, ModelProto, NodeProto, TensorProto, decode_shared};
use crate::tensor::type_of;
use crate::{Error, encode};

/// The key that every tensor with data elsewhere has.
const KEY: &[u8] = b"location";

/// The most bytes that a message may have, says protobuf.
const MOST: u64 = i32::MAX as u64;

/// The bytes of a model with the data of its tensors in them, from files inside a folder: what leaves the folder, a worker's input or a saved
/// case, needs no file. A model that has all its data stays as it is, byte by byte.
///
/// # Errors
/// If data cannot be read, or all of it together is more than a message may hold.
pub(crate) fn whole(model: Vec<u8>, folder: &Path) -> Result<Bytes, Error> {
    let model = Bytes::from(model);
    if !model.windows(KEY.len()).any(|window| window == KEY) {
        return Ok(model);
    }
    // What is no model, whoever wants to know more about it says.
    let Ok(mut proto) = decode_shared::<ModelProto>("model", &model) else { return Ok(model) };
    let mut reader = Reader { folder, bytes: model.len() as u64, found: false };
    for node in proto.functions.iter_mut().flat_map(|function| &mut function.node) {
        reader.node(node)?;
    }
    if let Some(graph) = &mut proto.graph {
        reader.graph(graph)?;
    }
    if !reader.found {
        return Ok(model);
    }
    if proto.encoded_len() as u64 > MOST {
        return Err(too_much());
    }
    Ok(encode(&proto).into())
}

fn too_much() -> Error {
    Error::unsupported("external data", format!("the model has more than {MOST} bytes with it"))
}

/// Brings data in, tensor by tensor.
struct Reader<'a> {
    folder: &'a Path,
    /// How many bytes the model has by now.
    bytes: u64,
    found: bool,
}

impl Reader<'_> {
    fn graph(&mut self, graph: &mut GraphProto) -> Result<(), Error> {
        for tensor in &mut graph.initializer {
            self.tensor(tensor)?;
        }
        for sparse in &mut graph.sparse_initializer {
            sparse.values.iter_mut().chain(&mut sparse.indices).try_for_each(|tensor| self.tensor(tensor))?;
        }
        graph.node.iter_mut().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &mut NodeProto) -> Result<(), Error> {
        for attribute in &mut node.attribute {
            let sparse = attribute.sparse_tensor.iter_mut().chain(&mut attribute.sparse_tensors);
            let sparse = sparse.flat_map(|sparse| sparse.values.iter_mut().chain(&mut sparse.indices));
            for tensor in attribute.t.iter_mut().chain(&mut attribute.tensors).chain(sparse) {
                self.tensor(tensor)?;
            }
            for graph in attribute.g.iter_mut().chain(&mut attribute.graphs) {
                self.graph(graph)?;
            }
        }
        Ok(())
    }

    fn tensor(&mut self, tensor: &mut TensorProto) -> Result<(), Error> {
        if tensor.data_location() != DataLocation::External {
            return Ok(());
        }
        let name = tensor.name().to_owned();
        let inside = |e: Error| e.inside(format!("tensor `{name}`"));
        let ty = type_of(tensor)?;
        self.bytes = self.bytes.saturating_add(ty.bytes());
        if self.bytes > MOST {
            return Err(inside(too_much()));
        }
        let data = read(&tensor.external_data, &ty, External::Within(self.folder)).map_err(inside)?;
        tensor.raw_data = Some(data.into());
        tensor.external_data.clear();
        tensor.data_location = None;
        self.found = true;
        Ok(())
    }
}
