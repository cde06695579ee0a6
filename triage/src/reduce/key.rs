//! A key that tells a problem from others: its content, hashed to 128 bits.
//!
//! A reduction asks every candidate for its key, and most of a candidate's content is weights. So the weights are
//! hashed as bytes, and only the rest of the model as text.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ir::{NodeId, NodeKind, Tensor};
use ops::{Graph, Model};

use super::problem::Problem;

/// Two hashes of one content. If both agree by chance, a candidate is taken for one that was tried.
pub(super) type Key = [u64; 2];

/// What tells a problem from others.
pub(super) fn key(problem: &Problem) -> Key {
    let mut hasher = Twice::new();
    let (model, constants) = apart(&problem.model);
    model.to_string().hash(&mut hasher);
    for (graph, node, tensor) in constants {
        (graph, node).hash(&mut hasher);
        tensor.to_bytes().hash(&mut hasher);
    }
    problem.program.as_ref().map(|written| onnx::encode(&written.program.write())).hash(&mut hasher);
    for tensor in &problem.inputs {
        tensor.to_bytes().hash(&mut hasher);
    }
    hasher.0.map(|half| half.finish())
}

/// A model with variables in place of its constants, and the constants by graph (functions, then the main graph) and
/// node.
fn apart(model: &Model) -> (Model, Vec<(usize, NodeId, Arc<Tensor>)>) {
    let mut model = model.clone();
    let mut constants = Vec::new();
    let functions = model.functions.iter_mut().map(|function| &mut function.body);
    for (number, graph) in functions.chain([&mut model.graph]).enumerate() {
        constants.extend(taken(graph).into_iter().map(|(node, tensor)| (number, node, tensor)));
    }
    (model, constants)
}

fn taken(graph: &mut Graph) -> Vec<(NodeId, Arc<Tensor>)> {
    let mut constants = Vec::new();
    for (at, node) in graph.nodes.iter_mut().enumerate() {
        if let NodeKind::Constant(tensor) = &node.kind {
            constants.push((NodeId(at as u32), Arc::clone(tensor)));
            node.kind = NodeKind::Variable { name: String::new() };
        }
    }
    constants
}

/// Two hashers that begin differently.
struct Twice([DefaultHasher; 2]);

impl Twice {
    fn new() -> Self {
        Self([0u8, 1].map(|which| {
            let mut hasher = DefaultHasher::new();
            which.hash(&mut hasher);
            hasher
        }))
    }
}

impl Hasher for Twice {
    fn write(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|half| half.write(bytes));
    }

    fn finish(&self) -> u64 {
        self.0[0].finish()
    }
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};

    use super::*;

    fn problem(body: &str, x: f64) -> Problem {
        let text = format!("onnxsmith 1 opset 17\ngraph {{\n  %0: f32[2] = variable \"x\"\n  {body}\n}}\n");
        let ty = Type::new(DType::F32, [2]);
        let model: Model = text.parse().expect("a model");
        let count = model.graph.variables().count();
        Problem::flat(model, (0..count).map(|_| Tensor::from_f64_fn(&ty, |_| x)).collect())
    }

    #[test]
    fn whatever_differs_changes_the_key() {
        let of =
            |given: &str| format!("%1: f32[2] = {given}\n  %2: f32[2] = Add(%0, %1)\n  return \"y\" = %2");
        let all = [
            problem(&of("constant {1, 2}"), 1.0),
            problem(&of("constant {1, 3}"), 1.0),
            problem(&of("constant {1, 2}"), 2.0),
            problem(&of("variable \"\""), 1.0),
            problem(&of("Abs(%0)"), 1.0),
            problem(&of("Abs(%0)").replace('y', "z"), 1.0),
        ];
        let keys: Vec<Key> = all.iter().map(key).collect();
        for (at, one) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(one), "{}", all[at].model);
            assert_eq!(*one, key(&all[at].clone()));
        }
        assert!(keys.iter().all(|[one, other]| one != other));
    }
}
