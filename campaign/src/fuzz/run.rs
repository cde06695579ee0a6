//! One case: made, run on every target and judged.

use std::cell::Cell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graphgen::Settings;
use interp::Evaluation;
use ir::{Interface, Tensor};
use onnx::program::Program;
use oracles::{Expected, Verdict, Why};

use super::Plan;
use crate::late;
use crate::report::Elements;
use harness::case::{self, Case, CaseError};
use harness::evaluated::Evaluated;
use harness::hurry::Hurry;
use harness::invalid::answer;
use harness::target::Target;
use harness::validity::{Relaxed, Validity};
use triage::TargetProgram;
use triage::blame::Suspect;
use triage::judged::{FindingRecord, Judged};
use triage::oracle::{AskError, Extent, Question};
use triage::reduce::Stop;
use worker::Run;

/// What one case gave.
#[derive(Default)]
pub(super) struct CaseRun {
    /// Its number in the campaign.
    pub(super) index: u64,
    /// The case, unless it could not be made.
    pub(super) case: Option<Case>,
    /// What the reference computed, under one of the profiles in use.
    pub(super) reference: Option<Evaluation>,
    /// The outputs by the reference under each accuracy in use, by its name, where something was found or is suspect.
    pub(super) outputs: BTreeMap<&'static str, Vec<interp::Bounded>>,
    /// What it says of the outputs under the profile of each target that was asked for them, by the target's number.
    pub(super) elements: Vec<(usize, Elements)>,
    /// What came of it on each target, by the target's number.
    pub(super) verdicts: Vec<(usize, Judged)>,
    /// The engines of which a process that had run other cases died on this case, while a fresh process runs it.
    pub(super) late: BTreeSet<String>,
    /// What went wrong on our side; each names the case.
    pub(super) trouble: Vec<String>,
    /// Whether the campaign's time was over before the case was judged.
    pub(super) is_cut_off: bool,
}

/// Why a case is not judged.
enum Unjudged {
    /// The reference cannot evaluate it.
    NoReference(interp::Error),
    /// The campaign ended before everything that was found had a name. The case runs again.
    Stopped,
}

impl CaseRun {
    /// A case that is not judged, as the campaign's time was over.
    pub(super) fn cut_off(index: u64) -> Self {
        let why = format!(
            "case {index} is not judged: the time was over before it was answered, or while its findings were named"
        );
        Self { index, trouble: vec![why], is_cut_off: true, ..Self::default() }
    }

    /// Runs and judges a case whose model is not, or may not be, valid.
    fn ask(&mut self, plan: &Plan<'_>, case: &Case, relaxed: &Relaxed) {
        for (number, target) in plan.targets.iter().enumerate() {
            match answer::ask(target, case, relaxed) {
                Ok(verdict) => self.verdicts.push((number, Judged::only(verdict))),
                Err(e) => self.trouble.push(format!("case {}: {}: {e}", self.index, target.name())),
            }
        }
    }

    /// Runs and judges a valid case.
    fn run_valid(&mut self, plan: &Plan<'_>, case: &mut Case, stop: Stop<'_>) -> Result<(), Unjudged> {
        let inputs = case::tensors(&case.inputs);
        let mut references: BTreeMap<&'static str, Evaluated> = BTreeMap::new();
        let mut first = 0;
        for levels in plan.targets.chunk_by(Target::is_beside) {
            let profile = levels[0].profile;
            let evaluated = match references.entry(profile.name) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(open) => {
                    let evaluated = Evaluated::of(&case.model, &inputs, profile);
                    open.insert(evaluated.map_err(Unjudged::NoReference)?)
                }
            };
            // Value search passes over integers that are undefined whatever the values are.
            case.all_defined &= evaluated.is_defined();
            // What an engine lacks is known of the engine.
            if let Some(why) = levels[0].lacks_of(case) {
                let lacks = || Judged::only(Verdict::Incomparable(Why::Unsupported(why.clone())));
                self.verdicts.extend((first..).zip(levels).map(|(number, _)| (number, lacks())));
            } else {
                let elements = Elements::of(&evaluated.evaluation);
                self.elements.extend((first..).zip(levels).map(|(number, _)| (number, elements)));
                let (expected, is_late) = (&evaluated.expected(), Cell::new(false));
                let valid = ValidCase { case, inputs: &inputs, expected, stop, is_late };
                let judged = valid.of_levels(plan, first, levels);
                self.late.extend(valid.is_late.get().then(|| levels[0].backend.clone()));
                match judged {
                    Ok(verdicts) => self.verdicts.extend(verdicts),
                    Err(AskError::Stopped) => return Err(Unjudged::Stopped),
                    Err(e) => self.trouble.push(format!("case {}: {}: {e}", self.index, levels[0].backend)),
                }
            }
            first += levels.len();
        }
        if self.findings().next().is_some()
            || self.verdicts.iter().any(|(_, judged)| judged.doubted.is_some())
        {
            let outputs = |known: &Evaluated| known.evaluation.outputs.clone();
            self.outputs = references.iter().map(|(name, known)| (*name, outputs(known))).collect();
        }
        self.reference = references.into_values().next().map(|known| known.evaluation);
        Ok(())
    }

    /// The findings, in the order of the targets, and of the questions to each.
    pub(super) fn findings(&self) -> impl Iterator<Item = (usize, FindingRecord<'_>)> {
        self.verdicts.iter().flat_map(|(target, judged)| judged.told().map(move |told| (*target, told)))
    }

    /// What was found, in the same order.
    pub(super) fn signatures(&self) -> Vec<String> {
        self.findings().map(|(_, told)| told.finding.signature().to_string()).collect()
    }
}

/// A valid case, and what all levels of an engine are asked about it.
struct ValidCase<'a> {
    case: &'a Case,
    inputs: &'a [Tensor],
    expected: &'a Expected<'a>,
    stop: Stop<'a>,
    /// Whether a process that had run other cases died on this case, while a fresh process runs it.
    is_late: Cell<bool>,
}

impl ValidCase<'_> {
    /// What comes of the case on levels of one engine, which get it together, by their numbers. `first` is the number
    /// of the first.
    fn of_levels(
        &self,
        plan: &Plan<'_>,
        first: usize,
        levels: &[Target],
    ) -> Result<Vec<(usize, Judged)>, AskError> {
        let Target { backend, .. } = &levels[0];
        if plan.known.has_hangs_of(backend, &levels[0].description().version) {
            // Who has listed a hang has waited for it.
            let briefly: Vec<Target> = levels.iter().map(Target::briefly).collect();
            let runs = self.run(&briefly)?;
            let judged = self.judged(plan, first, levels, &runs, Hurry::first_look())?;
            let mut each = judged.iter().zip(&runs);
            if each.all(|((number, judged), ran)| are_hangs_listed(plan, *number, judged, ran)) {
                return Ok(judged);
            }
        }
        self.judged(plan, first, levels, &self.run(levels)?, Hurry::default())
    }

    fn run(&self, levels: &[Target]) -> Result<Vec<Run>, AskError> {
        let Self { case, .. } = *self;
        let runs = Target::run_all(levels, &case.onnx, &case.inputs, &Interface::of(&case.model))?;
        if runs.iter().flat_map(|ran| &ran.late_faults).any(|fault| late::is_certain(fault.kind())) {
            self.is_late.set(true);
        }
        Ok(runs)
    }

    /// What comes of their answers.
    fn judged(
        &self,
        plan: &Plan<'_>,
        first: usize,
        levels: &[Target],
        runs: &[Run],
        hurry: Hurry,
    ) -> Result<Vec<(usize, Judged)>, AskError> {
        let Self { case, inputs, expected, stop, .. } = *self;
        let interface = Interface::of(&case.model);
        let written =
            |program: &Program| TargetProgram { program: program.clone(), interface: interface.clone() };
        let written = case.program.as_ref().map(written);
        runs.iter().filter(|ran| !ran.has_hung()).for_each(|ran| hurry.took(ran.engine_seconds));
        let mut suspect = Suspect::new(&case.model, inputs, levels[0].profile).written(written.as_ref());
        suspect.hurry = Arc::new(hurry);
        let each = (first..).zip(levels).zip(runs);
        each.map(|((number, target), ran)| {
            let question = Question {
                target,
                targets: &plan.targets,
                case,
                inputs,
                interface: &interface,
                expected,
                suspect: &suspect,
                outcome: &ran.outcome,
                stderr: &ran.stderr,
                seconds: ran.engine_seconds,
                stop,
                stream: plan.maker.stream(case.index),
                extent: Extent::One,
            };
            Ok((number, Judged::of(&plan.oracles, &question)?))
        })
        .collect()
    }
}

/// Whether all hangs that are found on the target of a number are known, and one is if it has hung: the case itself, or
/// an operator of it alone.
fn are_hangs_listed(plan: &Plan<'_>, target: usize, judged: &Judged, ran: &Run) -> bool {
    let hangs = || judged.told().map(|told| told.finding).filter(|finding| finding.symptom.is_hang());
    let is_told = !ran.has_hung() || hangs().next().is_some();
    is_told && hangs().all(|finding| plan.entry_for(target, finding).is_some())
}

/// The settings that cases are made within. Half of the cases suit every target, so that all are compared; the other half
/// suit one target each, so that what the others lack is tested too.
pub(super) struct Narrowed {
    for_all: Settings,
    for_each: Vec<Settings>,
}

impl Narrowed {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let base = || plan.maker.settings.clone();
        let for_all = plan.targets.iter().fold(base(), |settings, target| target.narrow(settings));
        Self { for_all, for_each: plan.targets.iter().map(|target| target.narrow(base())).collect() }
    }

    /// The settings of a case, and those to take instead where nothing can be drawn within them: an operator that was asked
    /// for may be in one engine alone.
    fn at(&self, index: u64) -> impl Iterator<Item = &Settings> {
        let each = self.for_each.len().max(1);
        let first = (index / 2) as usize % each;
        let singles = self.for_each.iter().cycle().skip(first).take(self.for_each.len());
        let is_shared = index.is_multiple_of(2);
        let [before, after] = [is_shared, !is_shared].map(|here| here.then_some(&self.for_all));
        before.into_iter().chain(singles).chain(after)
    }
}

/// Makes a case within the first settings in which something can be drawn.
fn make(plan: &Plan<'_>, narrowed: &Narrowed, index: u64, level: Validity) -> Result<Case, CaseError> {
    let mut nothing = CaseError::Nothing { index, draws: 0, is_withheld: false, is_budgeted: false };
    for settings in narrowed.at(index) {
        match plan.levels.make(&plan.maker, index, settings, level) {
            Err(e @ CaseError::Nothing { .. }) => nothing = e,
            made => return made,
        }
    }
    Err(nothing)
}

/// Makes, runs and judges one case; `None` where `stop` cuts that.
pub(super) fn run(
    plan: &Plan<'_>,
    narrowed: &Narrowed,
    index: u64,
    level: Validity,
    stop: Stop<'_>,
) -> Option<CaseRun> {
    let mut ran = CaseRun { index, ..CaseRun::default() };
    let mut case = match make(plan, narrowed, index, level) {
        Ok(case) => case,
        Err(e) => {
            ran.trouble.push(e.to_string());
            return Some(ran);
        }
    };
    if let Some(relaxed) = &case.relaxed {
        ran.ask(plan, &case, relaxed);
        ran.case = Some(case);
        return Some(ran);
    }
    match ran.run_valid(plan, &mut case, stop) {
        Ok(()) => ran.case = Some(case),
        Err(Unjudged::NoReference(e)) => ran.trouble.push(format!("case {index} has no reference: {e}")),
        Err(Unjudged::Stopped) => return None,
    }
    Some(ran)
}
