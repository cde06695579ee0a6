//! Faults in what an optimiser makes of a model, by the kind of its mistake.
//!
//! Each is a rewriting that an optimiser might take for right: the right kernels run what it makes of a model whose calls are
//! replaced by the functions' bodies. A rewriting may hold in a graph and still change nothing for the values at hand.

mod algebra;
mod axes;
mod constants;
mod fusions;
mod memory;
mod operands;
mod site;
mod spellings;

use ir::inline::inline;
use ops::{Graph, Model};

use site::{Rule, at_each};

/// A rewriting of models that does not keep what they compute.
pub struct WrongRewriting {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) does: &'static str,
    /// The public bug that it does as: repository and number.
    pub(crate) source: Option<&'static str>,
    pass: Pass,
}

/// How a rewriting goes about.
enum Pass {
    /// Node by node.
    Each(Rule),
    /// Over the whole graph; `None` where there is nothing for it to do.
    Whole(fn(&Graph) -> Option<Graph>),
}

/// The kinds of mistakes.
const KINDS: [&[WrongRewriting]; 7] = [
    fusions::FAULTS,
    algebra::FAULTS,
    constants::FAULTS,
    axes::FAULTS,
    operands::FAULTS,
    spellings::FAULTS,
    memory::FAULTS,
];

/// Every wrong rewriting.
pub(crate) fn all() -> impl Iterator<Item = &'static WrongRewriting> {
    KINDS.into_iter().flatten()
}

impl WrongRewriting {
    /// What it makes of a model; `None` where it finds nothing to rewrite.
    pub(crate) fn of(&self, model: &Model) -> Option<Model> {
        let graph = inline(model)?;
        let rewritten = match self.pass {
            Pass::Each(rule) => at_each(&graph, rule),
            Pass::Whole(pass) => pass(&graph),
        };
        rewritten.map(|graph| Model::new(model.opset, graph))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sample;

    #[test]
    fn what_a_rewriting_makes_of_a_model_is_valid_and_has_its_inputs_and_outputs() {
        let sample = Sample { seed: 5, cases: 150, nodes: 10, max_elements: Some(64), reduce: false };
        let maker = sample.maker();
        let interface = |model: &Model| {
            let graph = &model.graph;
            let outputs = graph.outputs.iter().map(|o| (o.name.clone(), graph.ty(o.value).clone()));
            let inputs = graph.variables().map(|(_, name, ty)| (name.to_owned(), ty.clone()));
            inputs.chain(outputs).collect::<Vec<_>>()
        };
        let mut held = 0;
        for index in 0..sample.cases {
            let model = maker.make(index).unwrap().model;
            for rewriting in all() {
                let Some(rewritten) = rewriting.of(&model) else { continue };
                assert!(rewritten.validate().is_ok(), "{} on case {index}", rewriting.name);
                assert_eq!(interface(&rewritten), interface(&model), "{} on case {index}", rewriting.name);
                held += 1;
            }
        }
        assert!(held > 300, "{held}");
    }
}
