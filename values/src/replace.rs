//! Graphs that no values make defined: one operand of the operator at fault becomes a new input.
//!
//! A remainder by the zeros of a unit matrix or the arc sine of a large softmax's logarithm is undefined whatever the
//! inputs are. To throw such a graph away costs its other nodes, and makes operators with a domain rarer the more
//! of them there are. So the operator reads a new input of the same type, and the
//! value that it read becomes an output where nothing else reads it, so that all operators stay and stay compared.

use std::collections::BTreeSet;

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Stream, Value};
use ops::Model;

use crate::found::{Budget, FoundValues};
use crate::search::search;
use crate::undefined::UndefinedAt;
use interp::Error;

/// The most operators of one model whose operands become inputs.
const MOST_REPLACED: u32 = 4;

/// A model with the values that were found for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Searched {
    /// The model, some operands of which became inputs.
    pub model: Model,
    /// Where the constants that values were found for are now.
    pub constants: Vec<NodeId>,
    /// The values; `runs` counts those of all searches.
    pub found: FoundValues,
    /// How many operators had operands that became inputs.
    pub replaced: u32,
}

/// Searches values as [`find_values`](crate::find_values) does, and replaces operands in the main graph where none are found.
pub fn find_or_replace(
    model: Model,
    free: &[NodeId],
    stream: Stream,
    budget: Budget,
) -> Result<Searched, Error> {
    model.validate()?;
    let (found, mut undefined) = search(&model, free, stream, budget);
    let mut searched = Searched { model, constants: free.to_vec(), found, replaced: 0 };
    while searched.replaced < MOST_REPLACED
        && let Some(at_fault) = &undefined
        && searched.replace(at_fault)
    {
        searched.replaced += 1;
        let at = stream.child("cut").at(searched.replaced.into());
        let runs = searched.found.runs;
        (searched.found, undefined) = search(&searched.model, &searched.constants, at, budget);
        searched.found.runs += runs;
    }
    Ok(searched)
}

impl Searched {
    /// Makes inputs of the operands that are the fault of the operator at fault, or of all of the call it is inside
    /// of. Says whether there was one that starts at another operator.
    fn replace(&mut self, undefined: &UndefinedAt) -> bool {
        let graph = &self.model.graph;
        let node = graph.node(undefined.node);
        let operands: Vec<usize> = match node.kind {
            NodeKind::Operator(_) => undefined.wishes.iter().map(|&(operand, _)| operand).collect(),
            _ => (0..node.inputs.len()).collect(),
        };
        let is_computed =
            |v: Value| matches!(graph.node(v.node).kind, NodeKind::Operator(_) | NodeKind::Call(_));
        let edges: Vec<(usize, Value)> = operands
            .into_iter()
            .filter_map(|operand| Some((operand, (*node.inputs.get(operand)?)?)))
            .filter(|&(_, value)| is_computed(value))
            .collect();
        !edges.is_empty() && self.free(undefined.node, &edges).is_some()
    }

    /// Makes operands of a node new inputs. What nothing else reads becomes an output.
    fn free(&mut self, node: NodeId, edges: &[(usize, Value)]) -> Option<()> {
        let old = &self.model.graph;
        let mut rewrite = Rewrite::of(old);
        let mut taken: Vec<String> = old.variables().map(|(_, name, _)| name.to_owned()).collect();
        for (id, each) in old.iter() {
            if id != node {
                rewrite.keep(id)?;
                continue;
            }
            let mut operands = rewrite.operands(&each.inputs)?;
            for &(operand, value) in edges {
                let name = unused("x", taken.iter().map(String::as_str));
                taken.push(name.clone());
                operands[operand] = Some(rewrite.graph.variable(name, old.ty(value).clone()));
            }
            rewrite.keep_on(id, operands);
        }
        let moved = |&id: &NodeId| rewrite.at(Value::new(id, 0)).map(|value| value.node);
        let constants = self.constants.iter().map(moved).collect::<Option<_>>()?;
        let replaced: Vec<Value> = edges.iter().filter_map(|&(_, value)| rewrite.at(value)).collect();
        let mut graph = rewrite.finish()?;
        // A value that several operands were is let go with the last of them.
        for (i, &value) in replaced.iter().enumerate() {
            let is_replaced_later = replaced[i + 1..].contains(&value);
            let is_read = is_replaced_later || graph.nodes.iter().any(|n| n.inputs.contains(&Some(value)));
            if !is_read && graph.outputs.iter().all(|o| o.value != value) {
                let name = unused("y", graph.outputs.iter().map(|o| o.name.as_str()));
                graph.output(name, value);
            }
        }
        self.constants = constants;
        self.model.graph = graph;
        Some(())
    }
}

/// The first numbered name that is not among those in use.
fn unused<'n>(prefix: &str, used: impl Iterator<Item = &'n str>) -> String {
    let used: BTreeSet<&str> = used.collect();
    let mut names = (0..).map(|i| format!("{prefix}{i}"));
    names.find(|name| !used.contains(name.as_str())).unwrap_or_default()
}
