//! What is judged, by the operators of the program as it is written.
//!
//! A target runs the model written out flat. What an operator is written out in are no operators of the program: that
//! they are right says nothing of that operator, which is asked about as what it is, or else listed as not told.

use std::collections::{BTreeMap, BTreeSet};

use ir::{NodeKind, Operation};
use onnx::import::{Origin, Path};
use onnx::program::Program;
use ops::Model;

use super::{Called, Judged, OperatorResult, Standing, Subject};

/// Why nothing is said of an operator in a body that is written out.
const INSIDE: &str = "the reference writes it out in others, and inside of a body the engine is not asked about it as what it is";

/// Why nothing is said of an operator that takes what the reference does not have.
const ALONE: &str = "the reference writes it out in others, and has not what it would be asked about";

/// Why nothing is said of an operator that nobody has.
const UNKNOWN: &str = "nobody here knows it: numbers stand for its result";

/// The nodes of a program, by their bodies and positions, that its model has other operators for: several, or one of
/// another name. Nodes that hold bodies are not among them.
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
    /// The operators by their names in the program, each once that is written out in others. `too_large` is why the
    /// reference has no values to ask about these.
    pub(super) fn as_written(&self, operators: Vec<Judged>, too_large: Option<&String>) -> Vec<Judged> {
        let mut all = Vec::new();
        let mut inner: BTreeMap<(String, usize), Judged> = BTreeMap::new();
        for judged in operators {
            let origin = &self.origins[judged.node as usize];
            // What an output is taken apart into is no operator of the program.
            let Some(node) = origin.find(&self.program) else { continue };
            let judged = Judged { called: Called::of(origin, &self.program), ..judged };
            if !self.is_written_out(origin) {
                // What joins the turns of a loop is none either, and the loop is seen end to end.
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

    /// Whether a node comes from one of the program that the model has other operators for.
    pub(super) fn is_written_out(&self, origin: &Origin) -> bool {
        self.written_out.contains(&(origin.path.clone(), origin.node))
    }

    /// What is said of an operator that is written out in nodes of which this is the first.
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
