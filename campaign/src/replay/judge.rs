//! The answer to a case by the reference, and what a campaign calls what is wrong with it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use interp::{Profile, Taps};
use ir::{Datum, Interface, NodeId, Stream, Tensor, Value, Wanted};
use onnx::Bytes;
use onnx::case::NamedDatum;
use onnx::import::{Imported, Origin};
use onnx::program::Program;
use onnx::proto::decode_shared;
use ops::Model;
use oracles::{Afar, Expected, Nearness, Verdict, Why};
use worker::{Outcome, Run, WorkerError};

use super::result::{Grade, Judgement};
use super::{Replay, named, unusable, verdict};
use harness::case::Case;
use harness::evaluated::Evaluated;
use harness::hurry::Hurry;
use harness::isolate::Isolated;
use harness::reached::Reached;
use harness::reference::Large;
use harness::target::Target;
use harness::{case, reference};
use triage::allowance::Exam;
use triage::blame::Suspect;
use triage::oracle::{self, AskError, Extent, OracleAnswer};
use triage::peel::Peeled;
use triage::whole::unproved;
use triage::{NotRun, TargetProgram};

/// A model with inputs, as the reference reads it.
pub(super) struct ReplayedModel {
    model: Model,
    /// The nodes of it that the target does not see.
    unseen: BTreeSet<NodeId>,
    inputs: Vec<Tensor>,
    /// Its operators that nobody here knows.
    unknown: BTreeSet<String>,
    /// What of it these inputs do not run.
    not_run: Vec<NotRun>,
    /// What the target got.
    onnx: Bytes,
    /// The program that this is.
    written: TargetProgram,
    /// For each node of the model's main graph, where in the program it comes from.
    origins: Vec<Origin>,
    /// Whether that says more than the model.
    says_more: bool,
    /// How far good implementations are from the outputs, once that was needed: levels of one engine share it.
    reached: Rc<Reached>,
    /// What of it is known to hang, by engine.
    hurries: RefCell<BTreeMap<String, Arc<Hurry>>>,
    /// The model as a case of a campaign, once an oracle needed that.
    case: OnceCell<Case>,
}

/// A model with inputs, and what is right under a profile.
pub(crate) struct Reference {
    replayed: Rc<ReplayedModel>,
    evaluated: Evaluated,
}

/// The outputs that the reference gives.
pub(crate) fn refer(model: &Bytes, inputs: &[NamedDatum], target: &Target) -> Result<Reference, Judgement> {
    Reference::of(&Rc::new(ReplayedModel::read(model, inputs, Large::Refused)?), target.profile)
}

/// The outputs that the reference gives for one data set, under one profile after the other. Engines share profiles, and their
/// levels do: each is evaluated once.
pub(super) struct References<'s> {
    model: &'s Bytes,
    inputs: &'s [NamedDatum],
    large: Large,
    replayed: OnceCell<Result<Rc<ReplayedModel>, Judgement>>,
    by_profile: RefCell<BTreeMap<&'static str, Result<Rc<Reference>, Judgement>>>,
}

impl<'s> References<'s> {
    /// The operators that nobody here knows, where the model was read.
    pub(super) fn unknown(&self) -> BTreeSet<String> {
        let replayed = self.replayed.get().and_then(|replayed| replayed.as_ref().ok());
        replayed.map(|replayed| replayed.unknown.clone()).unwrap_or_default()
    }

    /// What the inputs do not run, where the model was read.
    pub(super) fn not_run(&self) -> Option<&[NotRun]> {
        Some(&self.replayed.get()?.as_ref().ok()?.not_run)
    }

    pub(super) fn of(model: &'s Bytes, inputs: &'s [NamedDatum], large: Large) -> Self {
        Self { model, inputs, large, replayed: OnceCell::new(), by_profile: RefCell::default() }
    }

    pub(super) fn under(&self, profile: &'static Profile) -> Result<Rc<Reference>, Judgement> {
        let read = || ReplayedModel::read(self.model, self.inputs, self.large).map(Rc::new);
        let replayed = self.replayed.get_or_init(read);
        let replayed = replayed.as_ref().map_err(Judgement::clone)?;
        let mut all = self.by_profile.borrow_mut();
        all.entry(profile.name).or_insert_with(|| Reference::of(replayed, profile).map(Rc::new)).clone()
    }
}

impl ReplayedModel {
    fn read(model_bytes: &Bytes, inputs: &[NamedDatum], large: Large) -> Result<Self, Judgement> {
        let known: BTreeMap<String, Datum> =
            named(inputs).map(|(name, datum)| (name.to_owned(), datum.clone())).collect();
        let program =
            decode_shared("model", model_bytes).and_then(Program::read).map_err(|e| unusable(&e))?;
        let imported = case::trace(&program, &known).map_err(|e| unusable(&e))?;
        let unseen = imported.unseen();
        let not_run = NotRun::all(&program, &imported.ran);
        let Imported { model, interface, unknown, is_specialised, origins, .. } = imported;
        reference::bearable(&model, Taps::Outputs, large)
            .map_err(|why| Judgement::new(Grade::NoReference, why))?;
        let inputs = reference::bind(&model, &known).map_err(|why| Judgement::new(Grade::Broken, why))?;
        let written = TargetProgram { program, interface };
        let says_more = TargetProgram::says_more(&written.program, is_specialised);
        let onnx = model_bytes.clone();
        Ok(Self {
            model,
            unseen,
            inputs,
            unknown,
            not_run,
            onnx,
            written,
            origins,
            says_more,
            reached: Rc::default(),
            hurries: RefCell::default(),
            case: OnceCell::new(),
        })
    }
}

impl ReplayedModel {
    /// The model as a case of a campaign.
    fn case(&self, all_defined: bool) -> &Case {
        self.case.get_or_init(|| Case {
            onnx: self.onnx.to_vec(),
            program: self.says_more.then(|| self.written.program.clone()),
            unseen: self.unseen.clone(),
            unknown: self.unknown.clone(),
            inputs: case::named(&self.model, self.inputs.clone()),
            all_defined,
            ..Case::bare(self.model.clone())
        })
    }
}

impl Reference {
    fn of(replayed: &Rc<ReplayedModel>, profile: &'static Profile) -> Result<Self, Judgement> {
        let evaluated = Evaluated::of(&replayed.model, &replayed.inputs, profile)
            .map_err(|e| Judgement::new(Grade::Broken, e.to_string()))?;
        Ok(Self { replayed: Rc::clone(replayed), evaluated })
    }

    /// What the reference says of the outputs' types.
    pub(super) fn wanted(&self) -> &[Wanted] {
        &self.replayed.written.interface.outputs
    }

    /// The outputs that the reference computes, whatever the bounds.
    pub(super) fn outputs(&self) -> Vec<NamedDatum> {
        let outputs = self.evaluated.outputs();
        outputs.map(|(name, output)| NamedDatum::new(name, output.tensor.clone())).collect()
    }

    /// The judgement of a target's answer, by what the target says that it computes in.
    pub(super) fn judge(&self, target: &Target, outcome: &Outcome) -> Judgement {
        let expected = self.evaluated.expected();
        let allowed = self.allowed(target, outcome).map_err(AskError::from);
        let judged = allowed.and_then(|judged| match judged {
            Verdict::Pass => self.passed(target, outcome, &expected),
            Verdict::Incomparable(Why::Undecidable) => Ok(self.undecidable(target, outcome, &expected)),
            Verdict::Incomparable(Why::Undefined) => Ok(verdict(&judged).with(self.undefined_at(target))),
            Verdict::Bug(_) | Verdict::Incomparable(_) => Ok(verdict(&judged)),
        });
        judged.unwrap_or_else(|e| Judgement::trouble(&e))
    }

    /// The judgement of an answer of which no element is decidable.
    fn undecidable(&self, target: &Target, outcome: &Outcome, expected: &Expected<'_>) -> Judgement {
        let Outcome::Outputs(outputs) = outcome else {
            return verdict(&Verdict::Incomparable(Why::Undecidable));
        };
        let afar = Afar::of(outputs, expected, &self.suspect(target).limits(target));
        match afar.nearness() {
            Nearness::Untold => {
                let at = if self.evaluated.is_defined() { None } else { self.undefined_at(target) };
                Judgement::new(Grade::Undecidable, afar.to_string()).with(at)
            }
            Nearness::Near => Judgement::new(Grade::Plausible, afar.to_string()),
            Nearness::Far => Judgement::new(Grade::Suspect, afar.to_string()),
        }
    }

    /// Where in the program a value is undefined first, if one is, in words.
    fn undefined_at(&self, target: &Target) -> Option<String> {
        let suspect = self.suspect(target);
        let Isolated { flat, from, evaluation, .. } = suspect.isolated()?;
        let is_undefined = |id: &NodeId| {
            let mut values = (0..flat.graph.node(*id).outputs.len()).map(|port| Value::new(*id, port));
            values.any(|value| evaluation.taps.get(&value).is_some_and(|tap| !tap.undefined.is_empty()))
        };
        let first = flat.graph.iter().map(|(id, _)| id).find(is_undefined)?;
        let (origin, program) =
            (&self.replayed.origins[from[first.index()].index()], &self.replayed.written.program);
        let is_known = !self.replayed.unknown.contains(&origin.find(program)?.operator());
        let label = origin.label(program).filter(|_| is_known)?;
        Some(format!("what {label} gives is undefined for these operands"))
    }

    /// The judgement of an answer that is right, and may be suspect.
    fn passed(
        &self,
        target: &Target,
        outcome: &Outcome,
        expected: &Expected<'_>,
    ) -> Result<Judgement, AskError> {
        let suspect = self.suspect(target);
        let assessment = target.assess(outcome, expected);
        let Some(mut doubted) = suspect.doubted(target, &assessment, outcome, expected) else {
            return Ok(match unproved(outcome, expected, || suspect.limits(target)) {
                Some((Nearness::Far, why)) => Judgement::new(Grade::Suspect, why),
                Some((_, why)) => Judgement::new(Grade::Plausible, why),
                None => verdict(&Verdict::Pass),
            });
        };
        let wrong = suspect.take_apart(target, &mut doubted, &|| false)?;
        let Some(first) = wrong.first() else {
            let names_suspects = doubted.names_operators();
            return Ok(Judgement { names_suspects, ..Judgement::new(Grade::Suspect, doubted.to_string()) });
        };
        let why = format!("alone, on the operands that it should have: {}", first.finding.detail);
        let signatures = wrong.iter().map(|found| found.finding.signature().to_string()).collect();
        Ok(Judgement { signatures, ..Judgement::new(Grade::Mismatch, why) })
    }

    /// The judgement on a run, with the signatures under which a campaign reports what is wrong.
    pub(super) fn judge_and_name(&self, target: &Target, ran: &Run) -> Judgement {
        self.name(target, ran, self.judge(target, &ran.outcome))
    }

    /// A judgement on a run, whoever gave it, with these signatures. What is right by the reference has none.
    pub(super) fn name(&self, target: &Target, ran: &Run, judged: Judgement) -> Judgement {
        if !judged.grade.is_wrong() || !judged.signatures.is_empty() {
            return judged;
        }
        match self.signatures(target, ran) {
            Ok(signatures) => Judgement { signatures, ..judged },
            Err(e) => judged.with(Some(format!("what a campaign calls it is not known: {e}"))),
        }
    }

    /// A target's answer.
    pub(crate) fn run(
        &self,
        model: &[u8],
        inputs: &[NamedDatum],
        target: &Target,
    ) -> Result<Run, WorkerError> {
        let (interface, inputs) = Interface::taking(named(inputs), self.wanted().to_vec());
        target.run(model, &inputs, &interface)
    }

    /// What a campaign would make of a target's answer.
    pub(crate) fn peeled(&self, target: &Target, ran: &Run) -> Result<Peeled, AskError> {
        let expected = self.evaluated.expected();
        let exam = Exam::new(target, &ran.outcome, "", &expected);
        let suspect = self.suspect(target);
        if !ran.has_hung() {
            suspect.hurry.took(ran.engine_seconds);
        }
        suspect.peel(target, self.evaluated.is_defined(), &exam, &|| false)
    }

    /// What the oracles besides the reference say of a target's answer.
    pub(super) fn ask(
        &self,
        how: &Replay<'_>,
        target: &Target,
        ran: &Run,
        stream: Stream,
    ) -> Result<Vec<OracleAnswer>, AskError> {
        how.oracles.ask(&oracle::Question {
            target,
            targets: how.targets,
            case: self.replayed.case(self.evaluated.is_defined()),
            inputs: &self.replayed.inputs,
            interface: &self.replayed.written.interface,
            expected: &self.evaluated.expected(),
            suspect: &self.suspect(target),
            outcome: &ran.outcome,
            stderr: &ran.stderr,
            seconds: ran.engine_seconds,
            stop: &|| false,
            stream,
            extent: Extent::Every,
        })
    }

    fn suspect(&self, target: &Target) -> Suspect<'_> {
        let ReplayedModel { model, inputs, written, says_more, reached, hurries, .. } = &*self.replayed;
        let program = says_more.then_some(written);
        let hurry = Arc::clone(hurries.borrow_mut().entry(target.backend.clone()).or_default());
        let mut suspect = Suspect::new(model, inputs, target.profile).written(program).sharing(reached);
        suspect.hurry = hurry;
        suspect
    }

    /// What a campaign calls all that is wrong.
    fn signatures(&self, target: &Target, ran: &Run) -> Result<Vec<String>, AskError> {
        Ok(match self.peeled(target, ran)? {
            Peeled::Nothing(_) => Vec::new(),
            Peeled::Found(first, behind) => {
                let all = std::iter::once(*first).chain(behind);
                all.map(|found| found.finding.signature().to_string()).collect()
            }
        })
    }

    /// Why a target does not take the model, if its hello lacks a dtype of it.
    pub(super) fn declined(&self, target: &Target) -> Option<String> {
        target.declines(&self.replayed.model, &self.replayed.unseen)
    }

    /// The verdict after all allowances.
    fn allowed(&self, target: &Target, outcome: &Outcome) -> Result<Verdict, WorkerError> {
        self.suspect(target).allowed(target, &self.replayed.unseen, outcome, &self.evaluated)
    }
}
