//! What running a model takes: scalar operations and memory, by the conventions of docs/budgets.md.

use ir::dataflow::peak_memory;
use ir::inline::inline;
use ir::{Attribute, NodeKind, Type};

use crate::list::{Graph, Model, Op};
use crate::operator::Operator;
use crate::spec::Place;

/// The bytes of an element of an operand that stands for an attribute: they are int64.
const STATIC_ELEMENT: u64 = 8;

/// What one run of a model takes, its functions inlined.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Footprint {
    /// Scalar operations ([`Cost`](crate::Cost)).
    pub flops: u64,
    /// The most bytes of tensors that exist at one time: inputs, constants and the operands that stand for attributes
    /// from the first node to the last, what a node computes until its last use, nothing in place.
    pub peak: u64,
    /// The bytes of all tensors together.
    pub total: u64,
}

impl Footprint {
    /// The footprint of a valid model; `None` if inlining its functions gives more nodes than there may be.
    pub fn of(model: &Model) -> Option<Self> {
        inline(model).map(|graph| Self::of_graph(&graph, model.opset))
    }

    /// The footprint of a valid graph without calls.
    pub fn of_graph(graph: &Graph, opset: u32) -> Self {
        let (mut flops, mut statics) = (0_u64, 0_u64);
        for node in &graph.nodes {
            if let NodeKind::Operator(op) = &node.kind {
                let types = graph.types(&node.inputs);
                flops = flops.saturating_add(op.facts(&types).cost.flops(&types, &node.outputs));
                statics = statics.saturating_add(static_bytes(op, opset));
            }
        }
        let values = graph.nodes.iter().flat_map(|n| &n.outputs).map(Type::bytes);
        Self {
            flops,
            peak: peak_memory(graph).saturating_add(statics),
            total: values.fold(statics, u64::saturating_add),
        }
    }
}

/// The bytes of the constant operands that an opset writes attributes as.
fn static_bytes(op: &Op, opset: u32) -> u64 {
    let (spec, attributes) = (op.spec(), op.attributes());
    let elements =
        spec.fields.iter().map(|field| match (spec.place(field.name, opset), attributes.get(field.name)) {
            (Place::List(_), Some(Attribute::Ints(list))) => list.len() as u64,
            (Place::Scalar(_) | Place::Single(_), Some(_)) => 1,
            _ => 0,
        });
    STATIC_ELEMENT * elements.sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_counts_that_a_runtime_holds() {
        let model: Model = r#"onnxsmith 1 opset 21
function f {
  %0: f32[2, 2] = variable "p"
  %1: f32[2, 3] = constant {1, 2, 3, 4, 5, 6}
  %2: f32[2, 3] = MatMul(%0, %1)
  return "r" = %2
}
graph {
  %0: f32[4] = variable "x"
  %1: f32[2, 2] = Reshape(%0) {allowzero = 0, shape = [2, 2]}
  %2: f32[2, 3] = call f(%1)
  %3: f32[2, 3] = Relu(%2)
  return "y" = %3
}
"#
        .parse()
        .expect("a model");
        let found = Footprint::of(&model).expect("few nodes");
        // Two multiply-adds for each of six elements, and a comparison; nothing for Reshape.
        assert_eq!(found.flops, 6 * 2 * 2 + 6);
        let (x, reshaped, weights, product, shape) = (16, 16, 24, 24, 2 * 8);
        assert_eq!(found.total, x + reshaped + weights + 2 * product + shape);
        // While Relu runs; nothing is computed in place.
        assert_eq!(found.peak, (x + weights + shape) + 2 * product);
    }
}
