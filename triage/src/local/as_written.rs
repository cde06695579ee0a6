//! The judgements, by the operators of the program as it is written.
//!
//! A target runs the flat model. The operators of an expansion are no operators of the program. If they are right, that
//! says nothing about the composite operator, which is asked about as a whole, or else listed as not judged.

use std::collections::{BTreeMap, BTreeSet};

use ir::{NodeKind, Operation};
use onnx::import::{Origin, Path};
use onnx::program::Program;
use ops::Model;

use super::{Called, Judged, OperatorResult, Standing, Subject};

/// Why nothing is said about an operator in a body that is written out.
const INSIDE: &str = "the reference writes it out in others, and inside of a body the engine is not asked about it as what it is";

/// Why nothing is said about an operator with operands that the reference does not have.
const ALONE: &str = "the reference writes it out in others, and has not what it would be asked about";

/// Why nothing is said about an operator that nobody knows.
const UNKNOWN: &str = "nobody here knows it: numbers stand for its result";

/// The nodes of a program that have become several operators in its model, or one of another name, by their bodies and
/// positions. Nodes with bodies are not among them.
pub(super) fn written_out(program: &Program, model: &Model, origins: &[Origin]) -> BTreeSet<(Path, usize)> {
    let mut operators: BTreeMap<(&Path, usize), Vec<&str>> = BTreeMap::new();
    for (origin, (_, node)) in origins.iter().zip(model.graph.iter()) {
        if let NodeKind::Operator(op) = &node.kind {
            operators.entry((&origin.path, origin.node)).or_default().push(op.name());
        }
    }
    let is_other = |&((path, at), ref names): &((&Path, usize), Vec<&str>)| {
        let node = path.body(program).and_then(|body| body.nodes.get(at));
        node.is_some_and(|node| node.bodies().next().is_none() && names[..] != [node.rest.op_type()])
    };
    operators.into_iter().filter(is_other).map(|((path, at), _)| (path.clone(), at)).collect()
}

impl Subject {
    /// The operators by their names in the program; a composite operator is there once. `too_large` is the reason why
    /// the reference has no values to ask about these.
    pub(super) fn as_written(&self, operators: Vec<Judged>, too_large: Option<&String>) -> Vec<Judged> {
        let mut all = Vec::new();
        let mut inner: BTreeMap<(String, usize), Judged> = BTreeMap::new();
        for judged in operators {
            let origin = &self.origins[judged.node as usize];
            // The parts that an output is taken apart into are no operators of the program.
            let Some(node) = origin.find(&self.program) else { continue };
            let judged = Judged { called: Called::of(origin, &self.program), ..judged };
            if !self.is_written_out(origin) {
                // The nodes that join the iterations of a loop are none either, and the loop is judged end to end.
                all.extend(node.bodies().next().is_none().then_some(judged));
                continue;
            }
            let place = (origin.path.name(&self.program), origin.node);
            let types = judged.types.clone();
            let row = inner
                .entry(place)
                .or_insert_with(|| self.of_written_out(origin, &node.operator(), judged, too_large));
            // The last node gives the result.
            row.types = types;
        }
        all.extend(inner.into_values());
        all
    }

    /// Whether a node comes from a node of the program that has become other operators.
    pub(super) fn is_written_out(&self, origin: &Origin) -> bool {
        self.written_out.contains(&(origin.path.clone(), origin.node))
    }

    /// The judgement of a composite operator whose expansion begins with this node.
    fn of_written_out(
        &self,
        origin: &Origin,
        op: &str,
        Judged { node, called, types, .. }: Judged,
        too_large: Option<&String>,
    ) -> Judged {
        let (standing, why) = match too_large {
            _ if self.unknown.contains(op) => (Standing::Open, UNKNOWN),
            Some(why) => (Standing::Dear, why.as_str()),
            None if origin.path.is_empty() => (Standing::Untold, ALONE),
            None => (Standing::Untold, INSIDE),
        };
        OperatorResult::without(standing, why).of(node, called, op, types)
    }
}
