//! A case: a model with inputs on which it is defined, made from a seed.

mod content;
mod maker;

use std::collections::{BTreeMap, BTreeSet};

use interp::Evaluation;
use ir::{DType, Datum, NodeId, Tensor};
use onnx::CaseFolder;
use onnx::import::{Calls, Imported, Options, Unknown, specialise};
use onnx::program::Program;
use onnx::violate::NotRefused;
use ops::{Footprint, Model};
use serde::{Deserialize, Serialize};
use values::AtEdge;

pub use content::{dtypes, operators, uses};
pub use maker::{Maker, Values};

use crate::counts;
use crate::validity::{Relaxed, Validity};

/// A model with inputs, ready to be run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number in the campaign; with the seed it determines everything else.
    pub index: u64,
    /// The model, its constants filled in.
    pub model: Model,
    /// The model as ONNX bytes.
    pub onnx: Vec<u8>,
    /// The program in the bytes, if it is more than the model (it has a Loop, say). Import turns it into the model at
    /// these inputs.
    pub program: Option<Program>,
    /// The forms that it was written in, by name.
    pub forms: Vec<&'static str>,
    /// The operators that are written out in the model, before its program is.
    pub composites: Vec<forms::Placed>,
    /// The nodes of the model that the program does not contain: import wrote them for an operator of the program.
    pub unseen: BTreeSet<NodeId>,
    /// The operators that this program does not know. In the model, numbers stand for their results. No drawn case has
    /// any.
    pub unknown: BTreeSet<String>,
    /// The inputs, by name.
    pub inputs: Vec<(String, Tensor)>,
    /// Whether value search found values on which everything is defined.
    pub all_defined: bool,
    /// The share of the outputs' elements that are open on them, see [`FoundValues::open`](values::FoundValues::open).
    pub open: f64,
    /// Whether adversarial values were asked for.
    pub adversarial: bool,
    /// The edges that the values are at, if any was reached.
    pub edges: Vec<AtEdge>,
    /// How many draws the generator threw away.
    pub rejected: usize,
    /// How many models were passed over, because too much was open on all values that were found.
    pub passed_over: u64,
    /// What its valid model takes.
    pub footprint: Footprint,
    /// How many draws it threw away because an engine that the case is for lacks their form.
    pub refused: usize,
    /// How far it is from the constraints of the standard.
    pub level: Validity,
    /// Why its model is not valid, where it is not or may not be. Then engines get that model, and `model` and `onnx`
    /// are the valid one that it was made from, if there is one.
    pub relaxed: Option<Relaxed>,
}

impl Case {
    /// A valid model that has neither inputs nor bytes yet.
    pub fn bare(model: Model) -> Self {
        Self {
            index: 0,
            model,
            onnx: Vec::new(),
            program: None,
            forms: Vec::new(),
            composites: Vec::new(),
            unseen: BTreeSet::new(),
            unknown: BTreeSet::new(),
            inputs: Vec::new(),
            all_defined: true,
            open: 0.0,
            adversarial: false,
            edges: Vec::new(),
            rejected: 0,
            passed_over: 0,
            refused: 0,
            footprint: Footprint::default(),
            level: Validity::Valid,
            relaxed: None,
        }
    }
}

/// How many cases were meant to be adversarial, and what came of them.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Adversarial {
    /// How many cases were planned so.
    pub planned: u64,
    /// How many have such values. The others kept their plain ones.
    pub kept: u64,
    /// How many edges they are at, by kind.
    pub by_edge: BTreeMap<String, u64>,
}

impl Adversarial {
    /// Counts a case.
    pub fn take(&mut self, case: &Case) {
        self.planned += u64::from(case.adversarial);
        self.kept += u64::from(!case.edges.is_empty());
        for edge in &case.edges {
            *self.by_edge.entry(edge.edge.to_owned()).or_default() += 1;
        }
    }

    /// Adds other cases.
    pub fn merge(&mut self, more: Self) {
        self.planned += more.planned;
        self.kept += more.kept;
        counts::add(&mut self.by_edge, more.by_edge);
    }
}

/// Why there is no case. Each reason is a defect of this program, as generated models are valid.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The model cannot be written as ONNX.
    #[error("case {index} cannot be written as ONNX: {cause}")]
    Export {
        /// The case.
        index: u64,
        /// Why.
        cause: onnx::Error,
    },
    /// The model is not valid.
    #[error("case {index} has no values: {cause}")]
    Values {
        /// The case.
        index: u64,
        /// Why.
        cause: interp::Error,
    },
    /// The program that the model was written as does not lead to a model.
    #[error("case {index}, written with {}, cannot be read: {cause}", forms.join(", "))]
    Form {
        /// The case.
        index: u64,
        /// The forms that it is written in.
        forms: Vec<&'static str>,
        /// Why.
        cause: onnx::Error,
    },
    /// A model that breaks a rule is not refused as it should be.
    #[error("case {index}: {cause}")]
    NotRefused {
        /// The case.
        index: u64,
        /// What is wrong.
        cause: Box<NotRefused>,
    },
    /// No model was drawn that has a node and keeps to the budget, if there is one.
    #[error(
        "case {index}: nothing can be drawn{}{}; allow more operators or dtypes{}{}",
        if *draws > 0 { format!(": none of {draws} models has a node") } else { String::new() },
        if *is_budgeted && *draws > 0 { " and keeps to the budget" } else { "" },
        if *is_withheld { ", or another engine" } else { "" },
        if *is_budgeted { ", or a larger budget" } else { "" },
    )]
    Nothing {
        /// The case.
        index: u64,
        /// How many were drawn; none where no operator is available.
        draws: u64,
        /// Whether forms of operators are left out that an engine lacks.
        is_withheld: bool,
        /// Whether there is a budget.
        is_budgeted: bool,
    },
    /// No model that was drawn has a place for a rule.
    #[error(
        "case {index}: no model was drawn that can break one of the rules {rules}; allow more nodes or operators"
    )]
    NoPlace {
        /// The case.
        index: u64,
        /// The rules.
        rules: String,
    },
}

/// Pairs inputs with the names of the model's variables.
pub fn named(model: &Model, inputs: Vec<Tensor>) -> Vec<(String, Tensor)> {
    model.graph.variables().map(|(_, name, _)| name.to_owned()).zip(inputs).collect()
}

/// A model as ONNX bytes.
pub fn export(model: &Model) -> Result<Vec<u8>, onnx::Error> {
    Ok(onnx::export::encode(&onnx::export::export(model)?))
}

/// The model of ONNX bytes. Known inputs settle sizes and operands that the model leaves open.
pub fn import(bytes: &[u8], known: &BTreeMap<String, Datum>) -> Result<Imported, onnx::Error> {
    trace(&program(bytes)?, known)
}

/// The program of ONNX bytes.
pub fn program(bytes: &[u8]) -> Result<Program, onnx::Error> {
    onnx::proto::decode("model", bytes).and_then(Program::read)
}

/// The model that a program computes for known inputs. Stand-ins replace operators that this program does not know, and
/// the reference says nothing of values that depend on these.
pub fn trace(program: &Program, known: &BTreeMap<String, Datum>) -> Result<Imported, onnx::Error> {
    specialise(program, &Options { known_inputs: known, unknown: Unknown::StandIn, ..Options::default() })
}

/// The result of [`trace`], with the nodes of functions in place of their calls.
pub fn trace_into_calls(program: &Program, known: &BTreeMap<String, Datum>) -> Result<Imported, onnx::Error> {
    let calls = Calls::WrittenOut;
    specialise(
        program,
        &Options { known_inputs: known, unknown: Unknown::StandIn, calls, ..Options::default() },
    )
}

/// The inputs of a case folder's first data set, by name.
pub fn known_inputs(folder: &CaseFolder) -> BTreeMap<String, Datum> {
    let inputs = folder.sets.iter().take(1).flat_map(|s| &s.inputs);
    inputs.map(|value| (value.name.clone(), value.datum.clone())).collect()
}

/// The names and dtypes of a model's outputs.
pub fn outputs(model: &Model) -> Vec<(String, DType)> {
    model.graph.outputs.iter().map(|o| (o.name.clone(), model.graph.ty(o.value).dtype)).collect()
}

/// The tensors of named inputs, in order.
pub fn tensors(inputs: &[(String, Tensor)]) -> Vec<Tensor> {
    inputs.iter().map(|(_, t)| t.clone()).collect()
}

/// The number of elements in the outputs of an evaluation, and how many of these are undecidable, and undefined.
pub fn shares(evaluation: &Evaluation) -> [u64; 3] {
    evaluation.outputs.iter().fold([0; 3], |[all, undecidable, undefined], o| {
        [
            all + o.tensor.len() as u64,
            undecidable + o.undecidable() as u64,
            undefined + o.undefined.len() as u64,
        ]
    })
}

#[cfg(test)]
mod tests {
    use graphgen::support::{Fact, Subject, Test};
    use graphgen::{Budget, Settings, Span, UseForm};

    use super::*;

    /// Why no case can be drawn within settings of one operator.
    fn nothing(settings: Settings) -> String {
        let settings = Settings { operators: ["Conv"].into(), empty_dims: 0.0, ..settings };
        let made = Maker { swarm: false, ..Maker::new(1, settings) }.make(7);
        made.err().map_or_else(String::new, |why| why.to_string())
    }

    #[test]
    fn a_case_that_cannot_be_drawn_is_blamed_on_what_was_given() {
        let small = Budget { peak: Span::up_to(4), ..Budget::default() };
        assert_eq!(
            nothing(Settings { budget: small, ..Settings::default() }),
            "case 7: nothing can be drawn: none of 24 models has a node and keeps to the budget; allow more operators or \
             dtypes, or a larger budget"
        );
        let mut lacking = Settings::default();
        lacking.refused.insert("Conv", UseForm::default());
        assert_eq!(
            nothing(lacking),
            "case 7: nothing can be drawn; allow more operators or dtypes, or another engine"
        );
        // Of all ranks: that it is all of the operator is not seen before it is drawn.
        let of_any_rank = Fact { subject: Subject::Rank(0), test: Test::AtLeast(0) };
        let mut lacking = Settings::default();
        lacking.refused.insert("Conv", [of_any_rank].into_iter().collect());
        assert_eq!(
            nothing(lacking),
            "case 7: nothing can be drawn: none of 24 models has a node; allow more operators or dtypes, or another engine"
        );
    }
}
