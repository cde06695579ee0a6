//! Counting, saving and storing, in the order of cases.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use harness::evaluated::Evaluated;
use onnx::CaseFolder;

use super::Plan;
use super::count::{CaseFindings, Counted, Find};
use super::queue::Queue;
use super::reduced::{Reduced, Stopped};
use crate::event::Event;
use crate::report::{MAX_TROUBLE, Report, SavedSuspect, Suspects};
use crate::store::{Added, Beside, Block, FindingRow, Place, Selected, Shelf, Store, StoreError};
use triage::folder::Saved;
use triage::smaller::Smaller;

/// A campaign's results, as far as they are counted.
pub(super) struct Ledger<'p> {
    plan: &'p Plan<'p>,
    store: &'p mut Store,
    on_event: &'p mut dyn FnMut(&Event),
    /// Knows when it is enough.
    queue: &'p Queue<'p>,
    shelf: Shelf,
    /// The sum over all cases so far.
    total: Report,
    /// What is counted and not stored.
    block: Block,
    /// When the first case of the block was counted.
    since: Instant,
    /// The seconds inside the engines in earlier sessions.
    earlier: f64,
    /// By engine, the first cases of this session in which a process died of what ran before.
    late: BTreeMap<String, BTreeSet<u64>>,
}

/// How many of these cases are told of an engine.
const TOLD: usize = 10;

/// Why a case is not saved, and so not counted: it will run again.
enum Unsaved {
    /// A stop came while it was reduced.
    Stopped,
    /// The case cannot be written.
    Store(StoreError),
}

impl From<StoreError> for Unsaved {
    fn from(why: StoreError) -> Self {
        Self::Store(why)
    }
}

/// What was saved of a case, and what there is to say about it.
#[derive(Default)]
struct Kept {
    saved: Vec<Selected>,
    events: Vec<Event>,
}

impl<'p> Ledger<'p> {
    pub(super) fn new(
        plan: &'p Plan<'p>,
        store: &'p mut Store,
        on_event: &'p mut dyn FnMut(&Event),
        queue: &'p Queue<'p>,
    ) -> Result<Self, StoreError> {
        let (from, _) = store.progress()?;
        let (total, shelf) = (store.total()?, Shelf::of(store)?);
        let block = Block { first: from, past: from, ..Block::default() };
        if from > 0 {
            let (tally, findings) = (total.verdicts, total.findings);
            on_event(&Event::Resumed { next: from, cases: total.cases, tally, findings });
        }
        let earlier = total.backend_seconds;
        Ok(Self {
            plan,
            store,
            on_event,
            queue,
            shelf,
            total,
            block,
            since: Instant::now(),
            earlier,
            late: BTreeMap::new(),
        })
    }

    /// The number of the case that has to come next.
    pub(super) fn next(&self) -> u64 {
        self.block.past
    }

    /// By engine, the first cases of this session in which a process died of what ran before.
    pub(super) fn late_cases(self) -> BTreeMap<String, BTreeSet<u64>> {
        self.late
    }

    /// How long the oldest result has not been stored.
    pub(super) fn waits(&self) -> Duration {
        if self.block.first == self.block.past { Duration::ZERO } else { self.since.elapsed() }
    }

    /// Counts the next case, and saves it where it is one to keep. Breaks where a stop came before it could be saved, and behind a case in
    /// which something new was found, where the campaign is to end with that.
    pub(super) fn take(&mut self, counted: Counted) -> Result<ControlFlow<()>, StoreError> {
        let Counted { index, mut report, late, trouble, found, .. } = counted;
        if self.waits() == Duration::ZERO {
            self.since = Instant::now();
        }
        // First what may fail.
        let kept = match found.as_ref().map(|found| self.keep(found, &mut report)) {
            Some(Err(Unsaved::Stopped)) => return Ok(ControlFlow::Break(())),
            Some(Err(Unsaved::Store(why))) => return Err(why),
            Some(Ok(kept)) => kept,
            None => Kept::default(),
        };
        let (has_run, verdicts) = (report.cases > 0, report.verdicts);
        for what in trouble {
            if self.total.troubles < MAX_TROUBLE as u64 {
                self.block.trouble.push((index, what.clone()));
            }
            (self.on_event)(&Event::Trouble { index, what });
        }
        for engine in late {
            let cases = self.late.entry(engine).or_default();
            if cases.len() < TOLD {
                cases.insert(index);
            }
        }
        self.block.verdicts.merge(verdicts);
        self.total.merge(report);
        self.block.past += 1;
        for (ordinal, find) in found.iter().flat_map(|found| &found.findings).enumerate() {
            self.block.findings.push(FindingRow {
                case: index,
                ordinal,
                target: find.target,
                signature: find.signature.clone(),
            });
        }
        self.block.saved.extend(kept.saved);
        kept.events.iter().for_each(|event| (self.on_event)(event));
        if has_run {
            let (tally, findings) = (self.total.verdicts, self.total.findings);
            (self.on_event)(&Event::Ran { index, verdicts, tally, findings });
        }
        let is_found = |event: &Event| matches!(event, Event::NewFinding { known: None, .. });
        if self.plan.until_found && kept.events.iter().any(is_found) {
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Stores what is counted.
    pub(super) fn commit(&mut self, seconds: f64) -> Result<(), StoreError> {
        if self.block.first == self.block.past {
            return Ok(());
        }
        self.total.wall_seconds = seconds;
        self.total.backend_seconds = self.earlier + self.plan.engine_seconds();
        self.store.commit(&self.block, &mut self.total)?;
        let next = self.next();
        self.block = Block { first: next, past: next, ..Block::default() };
        Ok(())
    }

    /// Saves the case for each of its signatures that wants it.
    fn keep(&mut self, found: &CaseFindings, report: &mut Report) -> Result<Kept, Unsaved> {
        let mut kept = Kept::default();
        for cluster in &mut report.clusters {
            let signature = &cluster.signature;
            let before = self.total.cluster(signature);
            let is_new = before.is_none();
            let wanted =
                before.is_none_or(|b| cluster.nodes < b.nodes || b.cases < self.plan.saved_per_signature);
            let wanted = wanted && self.plan.saved_per_signature > 0;
            let finds = found.of(signature);
            let mut saved = None;
            if wanted {
                let reduced = self.reduced(found, signature, &finds)?;
                cluster.steady = reduced.steady;
                saved = self.save(found, &finds, &reduced)?;
                report.not_saved = report.not_saved.max(u64::from(saved.is_none()));
            }
            if let (true, Some(find)) = (is_new, finds.first()) {
                kept.events.push(Event::NewFinding {
                    index: found.case.index,
                    signature: signature.clone(),
                    finding: Box::new(find.finding.clone()),
                    saved: saved.as_ref().map(|saved| self.store.folder().join(&saved.folder)),
                    known: self.plan.known_entry(find).map(|entry| entry.finding.clone()),
                });
            }
            kept.saved.extend(saved);
        }
        self.keep_suspects(found, &mut report.suspects)?;
        Ok(kept)
    }

    /// Saves the case for each kind of suspect answer that has not been met.
    fn keep_suspects(&mut self, found: &CaseFindings, suspects: &mut Suspects) -> Result<(), StoreError> {
        for (name, kind) in &mut suspects.kinds {
            if self.total.suspects.kinds.contains_key(name) || self.plan.saved_per_signature == 0 {
                continue;
            }
            let target = self.plan.targets.iter().find(|target| target.name() == kind.target);
            let Some(profile) = target.map(|target| target.profile) else { continue };
            let outputs = found.outputs.get(profile.name).map_or(&[][..], Vec::as_slice);
            let case = Saved::of(&found.case, self.plan.maker.seed, profile, outputs, &[], None).folder();
            let place = kind.place();
            let added = self.shelf.save(&place, &case)?;
            let saved = |Added { hash, bytes }| SavedSuspect {
                folder: place.to_string(),
                hash: hash.to_string(),
                bytes,
            };
            kind.saved = added.map(saved);
        }
        Ok(())
    }

    /// What a case is reduced to for some of its findings. Where the campaign's time is over, that takes no more runs.
    fn reduced(&self, found: &CaseFindings, signature: &str, finds: &[&Find]) -> Result<Reduced, Unsaved> {
        if let Some(reduced) = found.reduced.get(signature) {
            return Ok(reduced.clone());
        }
        match Reduced::of(self.plan, found, finds, &|| self.queue.is_over()) {
            Ok(reduced) => Ok(reduced),
            Err(Stopped) if self.queue.is_stopped() => Err(Unsaved::Stopped),
            Err(Stopped) => Ok(Reduced::by_name(finds)),
        }
    }

    /// Saves a case for one signature, and the reduced case beside it if there is one. Saves nothing if the
    /// disk budget is used up.
    fn save(
        &mut self,
        found: &CaseFindings,
        finds: &[&Find],
        reduced: &Reduced,
    ) -> Result<Option<Selected>, StoreError> {
        let Some(first) = finds.first() else { return Ok(None) };
        let name = first.finding.signature().file_name();
        let folder = Place::of_finding(&name, found.case.index);
        let same: Vec<&Find> =
            finds.iter().copied().filter(|f| f.finding.check == first.finding.check).collect();
        let case = self.folder(found, first, &same);
        let Some(mut added) = self.shelf.save(&folder, &case)? else {
            return Ok(None);
        };
        self.shelf.clear_beside(&folder)?;
        let mut smaller_hash = None;
        if let Some((beside, smaller)) = self.smaller(found, reduced)?
            && let Some(more) = self.shelf.save(&folder.reduced(beside), &smaller)?
        {
            added.bytes += more.bytes;
            smaller_hash = Some(more.hash);
        }
        Ok(Some(Selected {
            signature: first.signature.clone(),
            case: found.case.index,
            nodes: found.case.model.graph.nodes.len(),
            folder,
            hash: added.hash,
            smaller_hash,
            bytes: added.bytes,
        }))
    }

    /// The case with findings that are answers to one question, the first of them among these; and with bounds for the
    /// target that has it.
    fn folder(&self, found: &CaseFindings, first: &Find, finds: &[&Find]) -> CaseFolder {
        let findings: Vec<_> = finds.iter().map(|find| find.finding.clone()).collect();
        let rewritten = finds.iter().find_map(|find| find.rewritten.as_ref());
        let profile = self.plan.targets[first.target].profile;
        // What is not valid has no reference.
        let outputs = found.outputs.get(profile.name).map_or(&[][..], Vec::as_slice);
        Saved::of(&found.case, self.plan.maker.seed, profile, outputs, &findings, rewritten).folder()
    }

    /// What the case was reduced to, as a case, and what the name of its folder says of it.
    fn smaller(
        &self,
        found: &CaseFindings,
        reduced: &Reduced,
    ) -> Result<Option<(Beside, CaseFolder)>, StoreError> {
        let Some((target, smaller)) = &reduced.case else { return Ok(None) };
        if reduced.steady == Some(false) {
            return Ok(None);
        }
        let Smaller { problem, finding, .. } = smaller;
        let profile = self.plan.targets[*target].profile;
        let Ok(evaluated) = Evaluated::of(&problem.model, &problem.inputs, profile) else { return Ok(None) };
        let (onnx, inputs, findings) = (problem.onnx()?, problem.named(), std::slice::from_ref(finding));
        let saved = Saved::of_problem(problem, (&onnx, &inputs), &evaluated, findings);
        let saved = Saved { seed: Some(self.plan.maker.seed), index: Some(found.case.index), ..saved };
        Ok(Some((Beside::of_finding(finding), saved.folder())))
    }
}
