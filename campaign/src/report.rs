//! What a campaign found, in numbers and clusters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use interp::{Comparison, Evaluation, Margins};
use ops::Model;
use oracles::{Finding, Tally, Verdict};
use serde::Serialize;

use crate::case::Adversarial;
use crate::coverage::Coverage;
use crate::oracle::Asked;
use crate::relax::tally::LevelTally;

/// What a campaign found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// How many cases ran.
    pub cases: u64,
    /// The verdicts, one per case, target and question.
    pub verdicts: Tally,
    /// The verdicts by target.
    pub by_target: BTreeMap<String, Tally>,
    /// What the oracles besides the reference were asked, and the verdicts.
    pub oracles: Asked,
    /// Why runs were incomparable, and how often.
    pub incomparable: BTreeMap<String, u64>,
    /// How many verdicts were bugs.
    pub findings: u64,
    /// How many of them are known.
    pub known: u64,
    /// The findings by signature, most frequent first.
    pub clusters: Vec<Cluster>,
    /// The signatures of the list of known findings that were not met.
    pub known_unseen: Vec<String>,
    /// The signatures of that list whose date has passed, so that they matched nothing.
    pub known_expired: Vec<String>,
    /// What operators computed, and how their results compare with the reference.
    pub by_operator: BTreeMap<String, OperatorNumbers>,
    /// Which operators occurred, and which met.
    pub coverage: Coverage,
    /// The share of output elements that are undecidable.
    pub undecidable_elements_share: f64,
    /// The share of output elements that are undefined.
    pub undefined_values_share: f64,
    /// The share of cases in which value search left something undefined.
    pub undefined_cases_share: f64,
    /// The cases that were to be adversarial.
    pub adversarial: Adversarial,
    /// The levels of the cases, and the answers to invalid models.
    pub levels: LevelTally,
    /// Seconds inside the engines.
    pub backend_seconds: f64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// What went wrong on this side.
    pub trouble: Vec<String>,
}

/// All findings of one signature.
#[derive(Clone, Debug, Serialize)]
pub struct Cluster {
    /// The signature.
    pub signature: String,
    /// How many findings have it.
    pub count: u64,
    /// The saved case with the fewest nodes.
    pub smallest: PathBuf,
    /// One finding, as an example.
    pub example: Finding,
    /// Where it is written up, if it is known.
    pub known: Option<String>,
    /// The verdicts of the other targets on the same cases. Where all of them pass, the engine is the odd one out;
    /// where they are bugs too, the reference may be.
    pub others: BTreeMap<String, Tally>,
    #[serde(skip)]
    pub(crate) nodes: usize,
}

impl Cluster {
    /// Whether two or more other targets compared with the reference on the same cases, and agreed with it.
    pub fn is_odd_one_out(&self) -> bool {
        crate::group::is_odd_one_out(&self.others)
    }

    /// Counts the verdict of another target on one of the cluster's cases.
    pub(crate) fn other(&mut self, target: &str, verdict: &Verdict) {
        self.others.entry(target.to_owned()).or_default().add(verdict);
    }
}

/// What operators of one name computed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OperatorNumbers {
    /// The elements of its results, whether or not they are outputs.
    pub elements: u64,
    /// Those that it made undecidable: that are so although its operands are known. What comes after it is not
    /// counted again.
    pub undecidable: u64,
    /// Elements of outputs that it computed, on any target, and that were within their bound but not what the
    /// reference has.
    pub inexact: u64,
    /// The median of bound ÷ observed error of these elements, within 9 %.
    pub median_margin: Option<f64>,
    #[serde(skip)]
    margins: Margins,
}

impl Report {
    /// Counts what the reference computed for a case.
    pub(crate) fn computed(&mut self, evaluation: &Evaluation) {
        for (operator, decided) in &evaluation.operators {
            let numbers = self.by_operator.entry((*operator).to_owned()).or_default();
            numbers.elements += decided.elements;
            numbers.undecidable += decided.undecidable;
        }
    }

    /// Counts how a target's outputs compare with the reference.
    pub(crate) fn compared(&mut self, model: &Model, comparisons: &[Comparison]) {
        for (output, comparison) in model.graph.outputs.iter().zip(comparisons) {
            if let ir::NodeKind::Operator(op) = &model.graph.node(output.value.node).kind {
                let numbers = self.by_operator.entry(ir::Operation::name(op).to_owned()).or_default();
                numbers.margins.merge(&comparison.margins);
            }
        }
    }

    /// The operators that make elements undecidable, with their shares of all that are, the largest first.
    pub fn undecidable_sources(&self) -> Vec<(&str, f64)> {
        let all: u64 = self.by_operator.values().map(|o| o.undecidable).sum();
        let sources = self.by_operator.iter().filter(|(_, o)| o.undecidable > 0);
        let mut shares: Vec<(&str, f64)> =
            sources.map(|(name, o)| (name.as_str(), o.undecidable as f64 / all as f64)).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// Fills in what follows from the counts.
    pub(crate) fn settle(&mut self) {
        for numbers in self.by_operator.values_mut() {
            numbers.inexact = numbers.margins.elements();
            numbers.median_margin = numbers.margins.median();
        }
    }
}
