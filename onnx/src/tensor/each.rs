//! The tensors of a model that may have their data in files.

use crate::Error;
use crate::proto::{GraphProto, ModelProto, NodeProto, TensorProto};

/// Visits every tensor of a model that is part of its graph, of bodies and of functions.
pub(super) fn each_tensor(
    model: &mut ModelProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), Error>,
) -> Result<(), Error> {
    for node in model.functions.iter_mut().flat_map(|function| &mut function.node) {
        of_node(node, visit)?;
    }
    model.graph.as_mut().map_or(Ok(()), |graph| of_graph(graph, visit))
}

fn of_graph(
    graph: &mut GraphProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), Error>,
) -> Result<(), Error> {
    graph.initializer.iter_mut().try_for_each(&mut *visit)?;
    for sparse in &mut graph.sparse_initializer {
        sparse.values.iter_mut().chain(&mut sparse.indices).try_for_each(&mut *visit)?;
    }
    graph.node.iter_mut().try_for_each(|node| of_node(node, visit))
}

fn of_node(
    node: &mut NodeProto,
    visit: &mut dyn FnMut(&mut TensorProto) -> Result<(), Error>,
) -> Result<(), Error> {
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
