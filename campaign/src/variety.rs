//! How different generated models are from one another.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use harness::Case;
use ir::{NodeKind, Operation};
use onnx::program::{Program, Scope};
use ops::Graph;
use serde::{Serialize, Serializer};

/// What occurs in some models, each thing once, however often it does. As JSON, how much there is of each.
#[derive(Clone, Debug, Default)]
pub struct Variety {
    /// Pairs of operators in the models as they are written: one gives a value that the other reads, in
    /// branches, loops and functions, too. An operator that import writes out counts as one.
    pairs: BTreeSet<(String, String)>,
    /// Uses of operators in what is computed at the inputs, by a digest of each: the operator, and the shapes of all
    /// its operands and outputs.
    uses: HashSet<u64>,
}

impl Variety {
    /// Counts what occurs in a case, which is written as this program.
    pub fn take(&mut self, case: &Case, program: &Program) {
        for scope in program.functions.iter().map(|f| &f.scope).chain([&program.main]) {
            self.take_pairs(scope);
        }
        for graph in case.model.functions.iter().map(|f| &f.body).chain([&case.model.graph]) {
            self.take_uses(graph);
        }
    }

    fn take_uses(&mut self, graph: &Graph) {
        for node in &graph.nodes {
            let NodeKind::Operator(op) = &node.kind else { continue };
            let mut digest = DefaultHasher::new();
            op.name().hash(&mut digest);
            for ty in graph.types(&node.inputs) {
                ty.map(|ty| &ty.shape).hash(&mut digest);
            }
            for ty in &node.outputs {
                ty.shape.hash(&mut digest);
            }
            self.uses.insert(digest.finish());
        }
    }

    fn take_pairs(&mut self, scope: &Scope) {
        let mut makers: Vec<Option<&str>> = vec![None; scope.values()];
        scope.body.each_node(&mut |node| {
            for output in node.outputs.iter().flatten() {
                makers[output.index()] = Some(node.rest.op_type());
            }
        });
        scope.body.each_node(&mut |node| {
            for maker in node.inputs.iter().flatten().filter_map(|operand| makers[operand.index()]) {
                self.pairs.insert((maker.to_owned(), node.rest.op_type().to_owned()));
            }
        });
    }
}

impl Serialize for Variety {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BTreeMap::from([("pairs", self.pairs.len()), ("uses", self.uses.len())]).serialize(serializer)
    }
}
