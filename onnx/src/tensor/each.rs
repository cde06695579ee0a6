//! The tensors of a model.

use std::convert::Infallible;

use super::elements::in_bytes;
use crate::proto::{GraphProto, ModelProto, NodeProto, TensorProto};

/// The model with the elements of all its tensors as bytes, which every runtime reads.
pub(crate) fn all_in_bytes(mut model: ModelProto) -> ModelProto {
    let mut visit = |tensor: &mut TensorProto| -> Result<(), Infallible> {
        if let Some(bytes) = in_bytes(tensor) {
            *tensor = bytes;
        }
        Ok(())
    };
    let Ok(()) = each_tensor(&mut model, &mut visit);
    model
}

/// Visits every tensor of a model that is part of its graph, of bodies and of functions.
pub(crate) fn each_tensor<E>(
    model: &mut ModelProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    for node in model.functions.iter_mut().flat_map(|function| &mut function.node) {
        of_node(node, visit)?;
    }
    model.graph.as_mut().map_or(Ok(()), |graph| of_graph(graph, visit))
}

fn of_graph<E>(
    graph: &mut GraphProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    graph.initializer.iter_mut().try_for_each(&mut *visit)?;
    for sparse in &mut graph.sparse_initializer {
        sparse.values.iter_mut().chain(&mut sparse.indices).try_for_each(&mut *visit)?;
    }
    graph.node.iter_mut().try_for_each(|node| of_node(node, visit))
}

fn of_node<E>(
    node: &mut NodeProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), E>,
) -> Result<(), E> {
    for attribute in &mut node.attribute {
        let sparse = attribute.sparse_tensor.iter_mut().chain(&mut attribute.sparse_tensors);
        let sparse = sparse.flat_map(|sparse| sparse.values.iter_mut().chain(&mut sparse.indices));
        attribute.t.iter_mut().chain(&mut attribute.tensors).chain(sparse).try_for_each(&mut *visit)?;
        for graph in attribute.g.iter_mut().chain(&mut attribute.graphs) {
            of_graph(graph, visit)?;
        }
    }
    Ok(())
}
