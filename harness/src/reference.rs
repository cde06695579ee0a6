//! The reference interpreter as an engine, so that `--on interp` works like any other backend.

use std::collections::BTreeMap;

use backends::engines::models::Runner;
use interp::Profile;
use ir::{DType, Datum, NodeKind, Tensor};
use ops::operator::elements;
use ops::{Graph, Model, Operator};
use values::Budget;
use worker::{Description, EngineError};

/// The name of the reference interpreter as a backend.
pub const REFERENCE: &str = "interp";

/// Evaluates models with the reference semantics, values alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reference;

impl Runner for Reference {
    fn describe(&self) -> Description {
        Description {
            engine: REFERENCE.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), d.to_string())).into(),
            opset: Some(i64::from(*ir::graph::OPSETS.end())),
            levels: vec!["reference".to_owned()],
            profile: Some(Profile::TIGHT.name.to_owned()),
            repeats: true,
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        interp::evaluate_plain(model, inputs).map_err(|e| EngineError::Run(e.to_string()))
    }
}

/// The most scalar operations of a model that the reference evaluates: with bounds, some minutes.
pub const MAX_FLOPS: u64 = 1 << 31;

/// The most elements that the values of such a model have together: with bounds, a gigabyte or two.
pub const MAX_ELEMENTS: u64 = 1 << 25;

/// What evaluating a valid model costs, if the reference may do it. It runs in this process, which has no limits on
/// time and memory, and a model of a few bytes can ask for any amount of both.
pub fn affordable(model: &Model) -> Result<Spent, String> {
    let mut functions = Vec::with_capacity(model.functions.len());
    for function in &model.functions {
        functions.push(spent(&function.body, &functions));
    }
    let all = spent(&model.graph, &functions);
    for (takes, most, what) in
        [(all.flops, MAX_FLOPS, "scalar operations"), (all.elements, MAX_ELEMENTS, "tensor elements")]
    {
        if takes > most {
            return Err(format!(
                "the model is too large for the reference: {takes} {what} of at most {most}"
            ));
        }
    }
    Ok(all)
}

/// What evaluating a model costs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spent {
    /// Scalar operations.
    pub flops: u64,
    /// The elements of all values.
    pub elements: u64,
}

impl Spent {
    /// How many evaluations may be made together.
    pub fn runs(self) -> u64 {
        (MAX_FLOPS / self.flops.max(1)).min(MAX_ELEMENTS / self.elements.max(1))
    }

    /// What a search for the model's values may do: what one run costs decides how many there may be.
    pub fn search(self) -> Budget {
        let all = Budget::default();
        Budget { runs: self.runs().clamp(1, all.runs.into()) as u32, ..all }
    }

    fn and(self, other: Self) -> Self {
        Self {
            flops: self.flops.saturating_add(other.flops),
            elements: self.elements.saturating_add(other.elements),
        }
    }
}

fn spent(graph: &Graph, functions: &[Spent]) -> Spent {
    graph.nodes.iter().fold(Spent::default(), |all, node| {
        let types = graph.types(&node.inputs);
        let inside = match &node.kind {
            NodeKind::Operator(op) => {
                Spent { flops: op.facts(&types).cost.flops(&types, &node.outputs), elements: 0 }
            }
            // Calls in a valid model go to earlier functions.
            NodeKind::Call(function) => functions.get(function.0 as usize).copied().unwrap_or_default(),
            _ => Spent::default(),
        };
        let elements = node.outputs.iter().map(elements).fold(0, u64::saturating_add);
        all.and(inside).and(Spent { flops: 0, elements })
    })
}

/// The tensors for a model's variables, from the values of its program's inputs by name.
pub fn bind(model: &Model, named: &BTreeMap<String, Datum>) -> Result<Vec<Tensor>, String> {
    let tensors = named.iter().flat_map(|(name, value)| value.as_ref().into_named(name));
    let tensors: BTreeMap<String, &Tensor> = tensors.collect();
    let find = |name: &str| {
        let tensor = tensors.get(name).copied().cloned();
        tensor.ok_or_else(|| format!("there is no tensor for input `{name}`"))
    };
    model.graph.variables().map(|(_, name, _)| find(name)).collect()
}
