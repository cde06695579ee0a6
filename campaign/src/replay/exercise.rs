//! One data set of a case on a target: run, judged, and asked about further.

use std::path::Path;
use std::rc::Rc;

use harness::target::Target;
use ir::{DatumKind, Interface, Stream, Tensor, Wanted};
use onnx::case::{DataSet, NamedDatum};
use onnx::import::{declared_dtype, declared_kind};
use onnx::{Bytes, CaseFolder};
use oracles::Tolerance;
use triage::folder::{About, DERIVED};
use triage::whole::NO_OUTPUTS;
use worker::Run;

use super::fixed::fixed;
use super::judge::{Reference, References};
use super::oracle_record::OracleResult;
use super::result::{Grade, Judgement};
use super::{Naming, Replay, named, written};
use crate::late;

/// One data set of a case.
pub(super) struct Exercise<'a> {
    pub(super) name: &'a Path,
    pub(super) folder: &'a CaseFolder,
    /// The model as the targets take it.
    pub(super) model: &'a Bytes,
    pub(super) about: &'a About,
    pub(super) number: usize,
    pub(super) set: &'a DataSet,
    pub(super) references: References<'a>,
    pub(super) how: &'a Replay<'a>,
}

/// What a target makes of a data set.
pub(super) struct Answer {
    pub(super) judged: Vec<Judgement>,
    pub(super) asked: Vec<OracleResult>,
    /// Whether a process of the target died that had run other cases, where a fresh one has run this one.
    pub(super) is_late: bool,
}

impl Answer {
    /// None, and why it cannot be judged.
    pub(super) fn without(why: Judgement) -> Self {
        Self { judged: vec![why], asked: Vec::new(), is_late: false }
    }
}

impl Exercise<'_> {
    /// What a target makes of it, and what other oracles say. What keeps it from being judged is the error.
    pub(super) fn on(&self, target: &Target) -> Result<Answer, Judgement> {
        let Self { name, folder, model, about, number, set, ref references, how } = *self;
        let derived = how.tolerance.is_none() && about.tolerance.as_deref() == Some(DERIVED);
        let needs_reference = derived || set.outputs.is_empty() || !how.oracles.others.is_empty();
        let reference = needs_reference.then(|| references.under(target.profile)).transpose()?;
        let wanted: Vec<Wanted> = match &reference {
            Some(reference) => reference.wanted().to_vec(),
            None => stored(folder, set),
        };
        let (interface, inputs) = Interface::taking(named(&set.inputs), wanted);
        if interface.outputs.is_empty() {
            return Err(Judgement::new(Grade::Unsupported, NO_OUTPUTS));
        }
        let ran = target.run(model, &inputs, &interface).map_err(|e| Judgement::trouble(&e))?;
        let stored = about.rtol.zip(about.atol).map(|(relative, absolute)| Tolerance { relative, absolute });
        let tolerance = how.tolerance.or(stored);
        let judged = || match &reference {
            Some(reference) if derived => reference.judge_and_name(target, &ran),
            Some(reference) if set.outputs.is_empty() && how.tolerance.is_none() => {
                reference.judge(target, &ran.outcome)
            }
            Some(reference) if set.outputs.is_empty() => {
                fixed(target, &ran.outcome, &set.inputs, &reference.outputs(), tolerance)
            }
            _ => fixed(target, &ran.outcome, &set.inputs, &set.outputs, tolerance),
        };
        let judged = how.oracles.differential.then(|| self.named(target, &ran, judged()));
        let judged: Vec<Judgement> = judged.into_iter().collect();
        // What an engine declares that it computes otherwise, another judge would call wrong.
        let is_unsupported = judged.iter().any(|judgement| judgement.grade == Grade::Unsupported);
        if let Some(out) = how.out.filter(|_| !is_unsupported) {
            written::outputs(out, name, target, number, &interface.outputs, &ran)
                .map_err(|e| Judgement::trouble(&format_args!("the outputs cannot be written: {e}")))?;
        }
        let is_late = ran.late_faults.iter().any(|fault| late::is_certain(fault.kind()));
        let is_asked = |reference: &&Rc<Reference>| {
            !how.oracles.others.is_empty() && reference.declined(target).is_none()
        };
        let Some(reference) = reference.as_ref().filter(is_asked) else {
            return Ok(Answer { judged, asked: Vec::new(), is_late });
        };
        let stream = Stream::new(how.seed).child("case").at(number as u64);
        let answers = reference.ask(how, target, &ran, stream).map_err(|e| Judgement::trouble(&e))?;
        Ok(Answer { judged, asked: answers.into_iter().map(OracleResult::of).collect(), is_late })
    }

    /// A judgement with the names of what is wrong, where every wrong answer gets some. Without a reference there are none.
    fn named(&self, target: &Target, ran: &Run, judged: Judgement) -> Judgement {
        let is_wanted = self.how.naming == Naming::Every && judged.grade.is_wrong();
        match is_wanted.then(|| self.references.under(target.profile)) {
            Some(Ok(reference)) => reference.name(target, ran, judged),
            Some(Err(_)) | None => judged,
        }
    }
}

/// The outputs that a data set has values of. What holds no tensor does not tell its element type, nor does an optional that
/// holds nothing tell its kind: the model declares them.
fn stored(folder: &CaseFolder, set: &DataSet) -> Vec<Wanted> {
    let ports =
        folder.decode().ok().and_then(|model| model.graph).map(|graph| graph.output).unwrap_or_default();
    let wanted = |value: &NamedDatum| {
        let port = ports.iter().find(|port| port.name() == value.name);
        let declared = port.and_then(|port| declared_kind("output", port).ok()?);
        let kind = declared.unwrap_or(DatumKind::Tensor);
        let dtype = value.datum.tensors().next().map(Tensor::dtype).or_else(|| declared_dtype(port?))?;
        Some(Wanted { name: value.name.clone(), dtype, kind })
    };
    set.outputs.iter().filter_map(wanted).collect()
}
