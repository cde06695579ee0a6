//! The saved case that shows a group of findings best, read back: what reports draw, and what an issue is made of.
//!
//! Beside `case-7` the campaign has saved what it was reduced to: `case-7-alone`, the operator at fault by itself, or
//! `case-7-reduced`. `reduce` may have made something smaller of any. The one with the fewest nodes is taken.

use std::path::{Path, PathBuf};

use ir::inline::inline;
use ir::{DType, Node, NodeKind, Operation, Tensor, cone};
use onnx::CaseFolder;
use onnx::case::{Leeway, NamedDatum};
use ops::Model;
use oracles::Finding;
use oracles::signature::is_form;

use crate::shell;
use campaign::group::Group;
use campaign::store::{Beside, Identity};
use harness::case;
use triage::folder::{About, ZeroSign};
use triage::reduce::SUFFIX;

/// A saved case with its finding.
#[derive(Debug)]
pub struct Evidence {
    /// The folder.
    pub folder: PathBuf,
    /// The engine and its level, by their names in reports.
    pub target: String,
    /// The target as a command to be pasted names it.
    on: String,
    /// The case.
    pub case: CaseFolder,
    /// Its model, or the part of it that the wrong output depends on, where what is at fault is in that; `None` if it is not valid, or
    /// more than this program knows.
    pub model: Option<Model>,
    /// The program that leads to the model, in ONNX's own syntax, where it says more: where it has a Loop, say. It is whole.
    pub program: Option<String>,
    /// Whether +0 and −0 differ in this case where a bound is 0.
    pub zero_signs_count: bool,
    /// The finding: one of the folder's, of the group's if it has such; else the group's example.
    pub finding: Finding,
}

/// Why there is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum NoEvidence {
    /// No case was saved.
    #[error("no case was saved")]
    NotSaved,
    /// The case is not there.
    #[error("{} is no longer there", .0.display())]
    Gone(PathBuf),
    /// The case cannot be read.
    #[error(transparent)]
    Unreadable(#[from] onnx::Error),
}

/// What the folders of one case end in: from what tends to be small, where `reduce` has made something of what was saved, to the case itself.
fn forms() -> Vec<String> {
    let saved = Beside::ALL.map(Beside::suffix);
    let again = saved.iter().map(|saved| format!("{saved}{SUFFIX}"));
    again.chain(saved.iter().rev().map(|saved| (*saved).to_owned())).chain([String::new()]).collect()
}

fn tensor(value: &NamedDatum) -> Option<(&str, &Tensor)> {
    Some((value.name.as_str(), value.datum.tensor()?))
}

impl Evidence {
    /// The evidence for a group, from the folder of its campaign, which says what ran.
    pub fn of(group: &Group, campaign: &Path, identity: &Identity) -> Result<Self, NoEvidence> {
        let saved = group.smallest.as_ref().ok_or(NoEvidence::NotSaved)?;
        let base = resolve(campaign, saved);
        let forms =
            forms().into_iter().map(|form| with_suffix(&base, &form)).filter(|folder| folder.is_dir());
        let mut read = Vec::new();
        for folder in forms {
            let case = CaseFolder::read(&folder)?;
            read.push(Self::new(folder, case, group, identity));
        }
        let size = |e: &Self| e.model.as_ref().map_or(usize::MAX, operators);
        read.into_iter().min_by_key(size).ok_or(NoEvidence::Gone(base))
    }

    fn new(folder: PathBuf, case: CaseFolder, group: &Group, identity: &Identity) -> Self {
        let (model, program) = read(&case).map_or((None, None), |(model, program)| (Some(model), program));
        let about = About::read(&case).unwrap_or_default();
        let is_here = |f: &Finding| {
            let signature = f.signature().to_string();
            group.signatures.iter().any(|member| member.signature == signature)
        };
        // What is saved beside a case has the finding of that case, in the numbers of what it was reduced to.
        let is_shown = |f: &&Finding| f.signature() == group.example.signature();
        let findings = &about.findings;
        let own = findings.iter().find(is_shown).or_else(|| findings.iter().find(|f| is_here(f)));
        let own = own.or(findings.first());
        let finding = own.unwrap_or(&group.example).clone();
        let target = format!("{}:{}", finding.backend, finding.level);
        let on = harness::target::on(identity.engine(&group.backend), &finding.level);
        let part = model.as_ref().zip(finding.worst.as_ref()).and_then(|(m, w)| cone::only(m, &w.output));
        let part = part.filter(|part| has_fault(part, &finding));
        let model = part.or(model);
        let zero_signs_count = about.zero_sign == Some(ZeroSign::Counts);
        Self { folder, target, on, case, model, program, zero_signs_count, finding }
    }

    /// The inputs that the wrong output depends on, by name; of a program all.
    pub fn telling_inputs(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        let is_telling = |name: &str| match &self.model {
            Some(model) if self.program.is_none() => {
                model.graph.variables().any(|(_, variable, _)| variable == name)
            }
            Some(_) | None => true,
        };
        self.inputs().filter(move |(name, _)| is_telling(name))
    }

    /// The inputs, by name. Those of a campaign's cases are tensors.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.case.sets.iter().take(1).flat_map(|set| &set.inputs).filter_map(tensor)
    }

    /// The reference's outputs, by name. Those of a campaign's cases are tensors.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.case.sets.iter().take(1).flat_map(|set| &set.outputs).filter_map(tensor)
    }

    /// The reference's outputs with how far each element may be off, where that is known.
    pub fn judged_outputs(&self) -> impl Iterator<Item = (&str, &Tensor, Option<&Leeway>)> {
        self.case.sets.iter().take(1).flat_map(|set| {
            let numbered = set.outputs.iter().enumerate();
            numbered.filter_map(|(k, value)| {
                tensor(value).map(|(name, tensor)| (name, tensor, set.leeways.get(k)))
            })
        })
    }

    /// Whether the finding speaks of an output of this case, and not of a larger one that it comes from.
    pub fn has_worst_output(&self) -> bool {
        let is_here = |name: &str| self.outputs().any(|(output, _)| output == name);
        self.finding.worst.as_ref().is_some_and(|worst| is_here(&worst.output))
    }

    /// Whether the engine is a runner of the user's.
    pub fn is_of_a_runner(&self) -> bool {
        harness::target::is_runner(&self.on)
    }

    /// The command that runs the case.
    pub fn run_command(&self) -> String {
        shell::run(&self.folder, &self.on)
    }

    /// The command that runs a copy of the case.
    pub(crate) fn run_command_on(&self, copy: &Path) -> String {
        shell::run(copy, &self.on)
    }

    /// The command that looks for a smaller one.
    pub fn reduce_command(&self) -> String {
        shell::reduce(&self.folder, &self.on)
    }
}

/// The model that a case leads to, and the text of its program where that says more.
fn read(case: &CaseFolder) -> Result<(Model, Option<String>), onnx::Error> {
    let program = case::program(&case.model)?;
    let trace = case::trace(&program, &case::known_inputs(case))?;
    Ok((trace.model, trace.is_specialised.then(|| program.to_text().to_string())))
}

/// Whether a part of a model has the operators at fault. An engine that gives two values one place may show on an output what another
/// branch did.
fn has_fault(part: &Model, finding: &Finding) -> bool {
    let Some(graph) = inline(part) else { return false };
    let here: Vec<&str> = graph.nodes.iter().filter_map(operator).collect();
    let has = |name: &str| is_form(name) || here.contains(&name);
    match (&finding.core, &finding.culprit) {
        (Some(core), _) => here.len() >= core.nodes && core.names().all(has),
        (None, Some(culprit)) => has(&culprit.operator),
        (None, None) => true,
    }
}

/// The operator of a node, if it is one.
fn operator<O: Operation>(node: &Node<O>) -> Option<&str> {
    let NodeKind::Operator(op) = &node.kind else { return None };
    Some(op.name())
}

/// Where a saved case is, of a campaign's folder that may have been moved since.
fn resolve(campaign: &Path, saved: &Path) -> PathBuf {
    let mut tail: Vec<_> = saved.components().rev().take(3).collect();
    tail.reverse();
    let moved = campaign.join(tail.iter().collect::<PathBuf>());
    let inside = campaign.join(saved);
    [inside, moved].into_iter().find(|path| path.is_dir()).unwrap_or_else(|| saved.to_owned())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// How many operators a model has, functions included.
fn operators(model: &Model) -> usize {
    let graphs = model.functions.iter().map(|f| &f.body).chain([&model.graph]);
    graphs.flat_map(|g| &g.nodes).filter(|n| matches!(n.kind, NodeKind::Operator(_))).count()
}

/// The first elements of a tensor as a person writes them, each so that it reads back as it is.
pub fn elements(tensor: &Tensor, most: usize) -> Vec<String> {
    match tensor.dtype() {
        DType::Bool => tensor.to_i128s().iter().take(most).map(|v| (*v != 0).to_string()).collect(),
        DType::F32 => tensor.to_f64s().iter().take(most).map(|v| format!("{:?}", *v as f32)).collect(),
        dtype if dtype.is_float() => tensor.to_f64s().iter().take(most).map(|v| format!("{v:?}")).collect(),
        _ => tensor.to_i128s().iter().take(most).map(ToString::to_string).collect(),
    }
}
