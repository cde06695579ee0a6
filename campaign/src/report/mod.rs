//! What a campaign found, in numbers and clusters.
//!
//! A report is a sum: that of two sets of cases is `Report::merge` of theirs. All counts are exact integers, so the sum
//! depends neither on the order nor on how cases were grouped; what is no sum (shares, medians) follows from the counts.
//! One case gives a report, a campaign's is the sum over its cases, and that of a split campaign the sum over its parts.

mod cluster;
pub(crate) mod element_types;
pub(crate) mod others;
mod suspects;

use std::collections::{BTreeMap, BTreeSet};

use interp::{Comparison, Evaluation, Margins};
use ops::Model;
use oracles::Tally;
use serde::{Deserialize, Serialize};

pub use cluster::Cluster;
pub use others::Others;
pub use suspects::{SavedSuspect, SuspectKind, Suspects};

use crate::coverage::Coverage;
use crate::late::{self, LateFault, LateFaults};
use crate::store::Identity;
use harness::case::Adversarial;
use harness::counts;
use harness::footprint::Footprints;
use harness::invalid::tally::LevelTally;
use triage::known::{Known, KnownEntry};
use triage::oracle::OracleTally;

/// What a campaign found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How many cases ran.
    pub cases: u64,
    /// The verdicts, one per case, target and question.
    pub verdicts: Tally,
    /// The verdicts by target.
    pub by_target: BTreeMap<String, Tally>,
    /// The elements of the outputs that targets were asked for, by target: how many are undecidable depends on the accuracy
    /// profile that a target is held to.
    #[serde(default)]
    pub elements_by_target: BTreeMap<String, Elements>,
    /// What the oracles besides the reference were asked, and the verdicts.
    pub oracles: OracleTally,
    /// Why runs were incomparable, and how often.
    pub incomparable: BTreeMap<String, u64>,
    /// How many answers rest on each allowance (`oracles::allowance`), by target and by the allowance's name.
    #[serde(default)]
    pub allowances: BTreeMap<String, BTreeMap<String, u64>>,
    /// What is right and suspect.
    #[serde(default)]
    pub suspects: Suspects,
    /// How many findings there are: verdicts that were bugs, and what showed behind these.
    pub findings: u64,
    /// What naming them took.
    #[serde(default)]
    pub naming: Naming,
    /// How many of them are known.
    pub known: u64,
    /// The findings by signature, most frequent first.
    pub clusters: Vec<Cluster>,
    /// How many cases with findings were not saved because the disk budget was used up.
    pub not_saved: u64,
    /// The signatures on the list of known findings that were not met. Only entries about an engine that ran,
    /// in the version that ran, are listed.
    pub known_unseen: Vec<String>,
    /// How many entries of that list are about other engines or versions.
    #[serde(default)]
    pub known_elsewhere: u64,
    /// The expired signatures on that list. They match nothing.
    pub known_expired: Vec<String>,
    /// What operators computed, and how their results compare with the reference.
    pub by_operator: BTreeMap<String, OperatorNumbers>,
    /// Which operators occurred, and which met.
    pub coverage: Coverage,
    /// The elements of outputs, once for each case.
    pub output_elements: u64,
    /// How many of them are undecidable under one of the profiles in use, always the same one; those of each target are in
    /// [`Report::elements_by_target`].
    pub undecidable_elements: u64,
    /// How many of them are undefined.
    pub undefined_values: u64,
    /// How many cases there are in which value search left something undefined.
    pub undefined_cases: u64,
    /// The share of output elements that are undecidable.
    pub undecidable_elements_share: f64,
    /// The share of output elements that are undefined.
    pub undefined_values_share: f64,
    /// The share of cases in which value search left something undefined.
    pub undefined_cases_share: f64,
    /// The cases that were to be adversarial.
    pub adversarial: Adversarial,
    /// What the models take.
    #[serde(default)]
    pub footprints: Footprints,
    /// The levels of the cases, and the answers to invalid models.
    pub levels: LevelTally,
    /// Faults that no case shows by itself, by engine and kind: an earlier case left something behind (a
    /// thread, a second answer, memory) that struck a later one, which then ran in a fresh process. They
    /// depend on which worker got which case, so they are of this session alone.
    pub late_faults: LateFaults,
    /// By engine, the first cases in which a process died so, of a kind that counts, in this session. What died after its last case, or
    /// while findings were named, is in none.
    #[serde(default)]
    pub late_cases: BTreeMap<String, BTreeSet<u64>>,
    /// The signatures of late faults that the list of known findings has, each with where it is written up.
    #[serde(default)]
    pub late_known: BTreeMap<String, String>,
    /// Seconds inside the engines: to load them, for cases, to find who is to blame, and before the campaign to see what
    /// they lack.
    pub backend_seconds: f64,
    /// Seconds by the clock; of a campaign in parts, those of the part that took longest.
    pub wall_seconds: f64,
    /// How often something went wrong on this side.
    pub troubles: u64,
    /// What it was, the first hundred times.
    pub trouble: Vec<String>,
}

/// What naming findings took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Naming {
    /// How many findings are called by what their case was reduced to.
    pub reduced: u64,
    /// How many candidates were run for that.
    pub tries: u64,
    /// How many findings are no verdict on the whole case: they show alone, or when others are cut out.
    pub behind: u64,
}

impl Naming {
    fn merge(&mut self, more: Self) {
        self.reduced += more.reduced;
        self.tries += more.tries;
        self.behind += more.behind;
    }
}

/// Elements of outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elements {
    /// How many there are.
    pub outputs: u64,
    /// How many of them are undecidable.
    pub undecidable: u64,
    /// How many of them are undefined.
    pub undefined: u64,
    /// How many of the right elements are suspect.
    #[serde(default)]
    pub suspect: u64,
    /// The share that is undecidable.
    pub undecidable_share: f64,
}

impl Elements {
    /// Counts what the reference says of a case.
    pub(crate) fn of(reference: &Evaluation) -> Self {
        let [outputs, undecidable, undefined] = harness::case::shares(reference);
        Self { outputs, undecidable, undefined, ..Self::default() }
    }

    /// Adds others.
    pub(crate) fn merge(&mut self, more: Self) {
        self.outputs += more.outputs;
        self.undecidable += more.undecidable;
        self.undefined += more.undefined;
        self.suspect += more.suspect;
    }
}

/// What operators of one name computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperatorNumbers {
    /// The elements of its results, whether or not they are outputs.
    pub elements: u64,
    /// Elements that the operator made undecidable: that are so although its operands are known. What comes after it is not
    /// counted again.
    pub undecidable: u64,
    /// Elements of outputs that it computed, on any target, and that were within their bound but not what the
    /// reference has.
    pub inexact: u64,
    /// The median of bound ÷ observed error of these elements, within 9 %.
    pub median_margin: Option<f64>,
    /// How many of them there are by that quotient, in classes of a quarter of an octave from 1 on.
    pub margins: Margins,
}

impl OperatorNumbers {
    fn merge(&mut self, more: &Self) {
        self.elements += more.elements;
        self.undecidable += more.undecidable;
        self.margins.merge(&more.margins);
    }
}

/// How many troubles a report has in words.
pub(crate) const MAX_TROUBLE: usize = 100;

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

    /// The cluster of a signature. Clusters are in the order of their signatures until the report is settled.
    pub(crate) fn cluster(&self, signature: &str) -> Option<&Cluster> {
        let at = self.clusters.binary_search_by(|c| c.signature.as_str().cmp(signature));
        at.ok().map(|at| &self.clusters[at])
    }

    /// The cluster of a signature, made by `new` where there is none yet.
    pub(crate) fn cluster_mut(&mut self, signature: &str, new: impl FnOnce() -> Cluster) -> &mut Cluster {
        let at = self.clusters.binary_search_by(|c| c.signature.as_str().cmp(signature));
        let at = at.unwrap_or_else(|at| {
            self.clusters.insert(at, new());
            at
        });
        &mut self.clusters[at]
    }

    /// Adds the report on other cases. Neither may be settled.
    pub(crate) fn merge(&mut self, more: Self) {
        // Every field is named, so that a new one is not forgotten.
        let Self {
            cases,
            verdicts,
            by_target,
            elements_by_target,
            incomparable,
            allowances,
            suspects,
            findings,
            naming,
            clusters,
            not_saved,
            by_operator,
            coverage,
            oracles,
            output_elements,
            undecidable_elements,
            undefined_values,
            undefined_cases,
            adversarial,
            footprints,
            levels,
            backend_seconds,
            wall_seconds,
            troubles,
            trouble,
            known: _,
            known_unseen: _,
            known_elsewhere: _,
            late_faults: _,
            late_cases: _,
            late_known: _,
            known_expired: _,
            undecidable_elements_share: _,
            undefined_values_share: _,
            undefined_cases_share: _,
        } = more;
        self.cases += cases;
        self.verdicts.merge(verdicts);
        add_tallies(&mut self.by_target, by_target);
        for (target, elements) in elements_by_target {
            self.elements_by_target.entry(target).or_default().merge(elements);
        }
        counts::add(&mut self.incomparable, incomparable);
        for (target, by_name) in allowances {
            counts::add(self.allowances.entry(target).or_default(), by_name);
        }
        self.suspects.merge(suspects);
        self.findings += findings;
        self.naming.merge(naming);
        for cluster in clusters {
            match self.clusters.binary_search_by(|c| c.signature.cmp(&cluster.signature)) {
                Ok(at) => self.clusters[at].merge(cluster),
                Err(at) => self.clusters.insert(at, cluster),
            }
        }
        self.not_saved += not_saved;
        for (operator, numbers) in by_operator {
            self.by_operator.entry(operator).or_default().merge(&numbers);
        }
        self.coverage.merge(coverage);
        self.oracles.merge(oracles);
        self.output_elements += output_elements;
        self.undecidable_elements += undecidable_elements;
        self.undefined_values += undefined_values;
        self.undefined_cases += undefined_cases;
        self.adversarial.merge(adversarial);
        self.footprints.merge(footprints);
        self.levels.merge(levels);
        self.backend_seconds += backend_seconds;
        self.wall_seconds = self.wall_seconds.max(wall_seconds);
        self.troubles += troubles;
        self.trouble.extend(trouble);
        self.trouble.truncate(MAX_TROUBLE);
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

    /// The targets of which no answer was compared with anything: all are incomparable, or there is none.
    pub fn nothing_compared(&self) -> impl Iterator<Item = &str> {
        let is_idle = |tally: &Tally| tally.pass == 0 && tally.bug == 0;
        self.by_target.iter().filter(move |(_, tally)| is_idle(tally)).map(|(name, _)| name.as_str())
    }

    /// The faults of processes that had run other cases, where they are the engines' for certain and on no list of known findings.
    pub fn new_late_faults(&self) -> impl Iterator<Item = LateFault<'_>> {
        late::certain(&self.late_faults).filter(|late| !self.late_known.contains_key(&late.to_string()))
    }

    /// What is said most often of answers that are incomparable.
    pub fn most_often_incomparable(&self) -> Option<&str> {
        let most = self.incomparable.iter().max_by_key(|(_, count)| **count);
        most.map(|(why, _)| why.as_str())
    }

    /// Fills in what follows from the counts.
    pub(crate) fn complete(&mut self) {
        for numbers in self.by_operator.values_mut() {
            numbers.inexact = numbers.margins.elements();
            numbers.median_margin = numbers.margins.median();
        }
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        for elements in self.elements_by_target.values_mut() {
            elements.undecidable_share = share(elements.undecidable, elements.outputs);
        }
        self.undecidable_elements_share = share(self.undecidable_elements, self.output_elements);
        self.undefined_values_share = share(self.undefined_values, self.output_elements);
        self.undefined_cases_share = share(self.undefined_cases, self.cases);
        self.clusters.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signature.cmp(&b.signature)));
    }

    /// Says which findings of a campaign are on a list of known ones.
    pub fn mark_known(&mut self, known: &Known, identity: &Identity) {
        let mut met = BTreeSet::new();
        self.known = 0;
        for cluster in &mut self.clusters {
            let version = identity.version(&cluster.example.backend);
            self.known += cluster.mark_known(known, &version, &mut met);
        }
        self.late_known.clear();
        for late in late::certain(&self.late_faults) {
            let signature = late.to_string();
            let covering = known.covering(&identity.version(late.backend), &signature);
            met.extend(covering.iter().map(|(number, _)| *number));
            let first = covering.first().map(|(_, entry)| (signature, entry.finding.clone()));
            self.late_known.extend(first);
        }
        let ran =
            |entry: &KnownEntry| identity.targets.iter().any(|t| entry.is_about(t.backend(), &t.version));
        let unmet = known.entries().iter().enumerate().filter(|(number, _)| !met.contains(number));
        let (here, elsewhere): (Vec<_>, Vec<_>) = unmet.map(|(_, entry)| entry).partition(|entry| ran(entry));
        self.known_unseen = here.into_iter().map(|entry| entry.signature.to_string()).collect();
        self.known_elsewhere = elsewhere.len() as u64;
        self.known_expired = known.expired().to_vec();
    }
}

fn add_tallies(to: &mut BTreeMap<String, Tally>, more: BTreeMap<String, Tally>) {
    for (name, tally) in more {
        to.entry(name).or_default().merge(tally);
    }
}
