//! The campaign's loop: make a case, run it on every target, judge, blame, save.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use interp::{Evaluation, Taps};
use oracles::{Expected, Finding, Verdict};

use crate::case::{self, Case, Maker};
use crate::event::Event;
use crate::folder;
use crate::judged::Judged;
use crate::known::Known;
use crate::oracle::Oracles;
use crate::relax::schedule::{Levels, Schedule};
use crate::relax::{Level, Relaxed, answer};
use crate::report::{Cluster, Report};
use crate::target::Target;

/// What to do and for how long.
pub struct Plan<'p> {
    /// How cases are made.
    pub maker: Maker<'p>,
    /// How far they are from the constraints of the standard.
    pub levels: Levels,
    /// What they run on.
    pub targets: Vec<Target>,
    /// Who judges the answers.
    pub oracles: Oracles,
    /// How many cases run at the same time.
    pub jobs: usize,
    /// The most cases.
    pub cases: Option<u64>,
    /// The most time.
    pub time: Option<Duration>,
    /// This machine's part: the cases whose number is `0` modulo `1`.
    pub shard: (u64, u64),
    /// Where findings are saved.
    pub out: PathBuf,
    /// How many cases of one signature are saved.
    pub saved_per_signature: u64,
    /// The findings that are known.
    pub known: Known,
}

/// What one case gave.
struct Ran<'p> {
    index: u64,
    case: Option<Case>,
    reference: Option<Evaluation>,
    verdicts: Vec<(&'p Target, Judged)>,
    backend_seconds: f64,
    trouble: Vec<String>,
}

impl<'p> Ran<'p> {
    /// Runs and judges a case whose model is not, or may not be, valid.
    fn ask(&mut self, plan: &'p Plan<'_>, case: &Case, relaxed: &Relaxed) {
        for target in &plan.targets {
            match answer::ask(target, case, relaxed) {
                Ok((verdict, seconds)) => {
                    self.backend_seconds += seconds;
                    let judged = Judged { seconds, ..Judged::only(verdict) };
                    self.verdicts.push((target, judged));
                }
                Err(e) => self.trouble.push(format!("{}: {e}", target.name())),
            }
        }
    }

    /// What was found, in the order of the targets.
    fn signatures(&self) -> Vec<String> {
        let verdicts = self.verdicts.iter().flat_map(|(_, judged)| judged.verdicts());
        let found = verdicts.filter_map(|verdict| match verdict {
            Verdict::Bug(finding) => Some(finding.signature().to_string()),
            Verdict::Pass | Verdict::Incomparable(_) => None,
        });
        found.collect()
    }
}

/// Runs a campaign until its plan is done or `stop` is set.
pub fn fuzz(plan: &Plan<'_>, stop: &AtomicBool, on_event: &mut dyn FnMut(&Event)) -> Report {
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let (sender, receiver) = mpsc::sync_channel::<Ran<'_>>(plan.jobs * 4);
    let mut tally = Totals::default();
    let schedule = Schedule::new(plan.levels.choice);
    let over = || stop.load(Ordering::Relaxed) || plan.time.is_some_and(|t| started.elapsed() >= t);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            let sender = sender.clone();
            let (next, over, schedule) = (&next, &over, &schedule);
            scope.spawn(move || {
                while !over() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let index = number * plan.shard.1 + plan.shard.0;
                    if plan.cases.is_some_and(|most| index >= most) {
                        break;
                    }
                    let mut turn = schedule.turn(number, plan.maker.stream(index));
                    let ran = run(plan, index, turn.level);
                    turn.signatures = ran.signatures();
                    if sender.send(ran).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for ran in receiver {
            tally.take(plan, ran, on_event);
        }
    });
    let mut report = tally.report;
    report.clusters = tally.clusters.into_values().collect();
    report.clusters.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signature.cmp(&b.signature)));
    let unmet = plan.known.entries().iter().enumerate().filter(|(i, _)| !tally.met.contains(i));
    report.known_unseen = unmet.map(|(_, entry)| entry.signature.to_string()).collect();
    report.known_expired = plan.known.expired().to_vec();
    let [elements, undecidable, undefined] = tally.shares;
    let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    report.undecidable_elements_share = share(undecidable, elements);
    report.undefined_values_share = share(undefined, elements);
    report.undefined_cases_share = share(tally.undefined_cases, report.cases);
    report.settle();
    report.levels.p = schedule.path();
    report.wall_seconds = started.elapsed().as_secs_f64();
    report
}

#[derive(Default)]
struct Totals {
    report: Report,
    clusters: BTreeMap<String, Cluster>,
    shares: [u64; 3],
    undefined_cases: u64,
    /// The known findings that were met, by their number in the list.
    met: BTreeSet<usize>,
}

impl Totals {
    fn take(&mut self, plan: &Plan<'_>, ran: Ran<'_>, on_event: &mut dyn FnMut(&Event)) {
        for what in ran.trouble {
            on_event(&Event::Trouble { what: what.clone() });
            self.report.trouble.push(what);
        }
        let Some(case) = ran.case else { return };
        self.report.cases += 1;
        self.report.backend_seconds += ran.backend_seconds;
        self.undefined_cases += u64::from(!case.all_defined);
        self.report.adversarial.take(&case);
        self.report.levels.take(&case);
        let outputs = ran.reference.as_ref().map_or(&[][..], |r| &r.outputs);
        if let Some(reference) = &ran.reference {
            let shares = case::shares(reference);
            self.shares.iter_mut().zip(shares).for_each(|(total, part)| *total += part);
            self.report.computed(reference);
            self.report.coverage.take(&case.model);
        }
        for (target, judged) in &ran.verdicts {
            self.report.compared(&case.model, &judged.comparisons);
            for answer in &judged.answers {
                self.report.oracles.add(answer);
            }
            if let Some(verdict) = &judged.verdict {
                self.report.levels.judge(&case, &target.name(), verdict);
            }
            for verdict in judged.verdicts() {
                self.report.verdicts.add(verdict);
                self.report.by_target.entry(target.name()).or_default().add(verdict);
                match verdict {
                    Verdict::Pass => {}
                    Verdict::Incomparable(why) => {
                        let why = oracles::message::normalise(&why.to_string());
                        *self.report.incomparable.entry(why).or_default() += 1;
                    }
                    Verdict::Bug(finding) => {
                        self.report.findings += 1;
                        let others: Vec<_> =
                            ran.verdicts.iter().filter(|(t, _)| !std::ptr::eq(*t, *target)).collect();
                        let found = Found { case: &case, outputs, target, finding, judged, others };
                        self.found(plan, &found, on_event);
                    }
                }
            }
        }
        let (tally, findings) = (self.report.verdicts, self.report.findings);
        on_event(&Event::Ran { index: ran.index, tally, findings });
    }

    fn found(&mut self, plan: &Plan<'_>, found: &Found<'_>, on_event: &mut dyn FnMut(&Event)) {
        let Found { case, finding, .. } = found;
        let signature = finding.signature();
        let mut written_up = None;
        let version = &found.target.description().version;
        for (number, entry) in plan.known.covering(version, &signature.to_string()) {
            self.met.insert(number);
            written_up.get_or_insert_with(|| entry.finding.clone());
        }
        self.report.known += u64::from(written_up.is_some());
        let nodes = case.model.graph.nodes.len();
        let before = self.clusters.get(&signature.to_string());
        let (count, smaller) = before.map_or((0, false), |c| (c.count, nodes < c.nodes));
        let path = folder_of(&plan.out, &signature.file_name(), case.index);
        if (count < plan.saved_per_signature || smaller)
            && let Err(e) = found.save(&path, plan.maker.seed)
        {
            let what = format!("case {} was not saved: {e}", case.index);
            on_event(&Event::Trouble { what: what.clone() });
            self.report.trouble.push(what);
        }
        let cluster = self.clusters.entry(signature.to_string()).or_insert_with(|| Cluster {
            signature: signature.to_string(),
            count: 0,
            smallest: path.clone(),
            example: (*finding).clone(),
            known: written_up.clone(),
            others: BTreeMap::new(),
            nodes,
        });
        cluster.count += 1;
        for (target, judged) in &found.others {
            if let Some(verdict) = judged.verdict_on(finding) {
                cluster.other(&target.name(), verdict);
            }
        }
        if smaller {
            cluster.smallest.clone_from(&path);
            cluster.nodes = nodes;
        }
        if count == 0 {
            let (signature, finding) = (signature.to_string(), Box::new((*finding).clone()));
            let known = written_up;
            on_event(&Event::NewFinding { index: case.index, signature, finding, saved: path, known });
        }
    }
}

/// A finding with what it was found on.
struct Found<'a> {
    case: &'a Case,
    outputs: &'a [interp::Judged],
    target: &'a Target,
    finding: &'a Finding,
    judged: &'a Judged,
    /// What the other targets made of the case.
    others: Vec<&'a (&'a Target, Judged)>,
}

impl Found<'_> {
    /// Saves the case, and beside it the culprit alone where it fails alone: `case-7` and `case-7-alone`.
    fn save(&self, path: &Path, seed: u64) -> Result<(), onnx::Error> {
        let findings = std::slice::from_ref(self.finding);
        let rewritten = self.judged.answer_on(self.finding).and_then(|answer| answer.rewritten.as_ref());
        folder::save(path, seed, self.case, self.outputs, findings, rewritten)?;
        let Some((model, inputs)) = self.judged.alone(self.finding) else { return Ok(()) };
        let Ok(evaluation) = interp::evaluate(model, inputs, self.target.profile, Taps::Outputs) else {
            return Ok(());
        };
        let alone = Case {
            index: self.case.index,
            onnx: case::export(model)?,
            inputs: case::named(model, inputs.clone()),
            model: model.clone(),
            all_defined: true,
            adversarial: self.case.adversarial,
            edge: self.case.edge,
            rejected: 0,
            level: self.case.level,
            relaxed: None,
        };
        let mut name = path.as_os_str().to_owned();
        name.push("-alone");
        folder::save(Path::new(&name), seed, &alone, &evaluation.outputs, findings, None)
    }
}

fn folder_of(out: &Path, signature: &str, index: u64) -> PathBuf {
    out.join("findings").join(signature).join(format!("case-{index}"))
}

/// The settings that a case is made within. Half of the cases suit every target, so that all are compared; the
/// other half suit one target each, so that what the others lack is tested too.
fn settings(plan: &Plan<'_>, index: u64) -> graphgen::Settings {
    let base = plan.maker.settings.clone();
    let targets = &plan.targets;
    match targets.get((index / 2) as usize % targets.len().max(1)) {
        Some(target) if index % 2 == 1 => target.narrow(base),
        _ => targets.iter().fold(base, |settings, target| target.narrow(settings)),
    }
}

/// Makes, runs and judges one case.
fn run<'p>(plan: &'p Plan<'_>, index: u64, level: Level) -> Ran<'p> {
    let mut ran = Ran {
        index,
        case: None,
        reference: None,
        verdicts: Vec::new(),
        backend_seconds: 0.0,
        trouble: Vec::new(),
    };
    let case = match plan.levels.make(&plan.maker, index, &settings(plan, index), level) {
        Ok(case) => case,
        Err(e) => {
            ran.trouble.push(e.to_string());
            return ran;
        }
    };
    if let Some(relaxed) = &case.relaxed {
        ran.ask(plan, &case, relaxed);
        ran.case = Some(case);
        return ran;
    }
    let inputs = case::tensors(&case.inputs);
    let outputs = case::outputs(&case.model);
    let names: Vec<String> = outputs.iter().map(|(name, _)| name.clone()).collect();
    let mut references: BTreeMap<&str, Evaluation> = BTreeMap::new();
    for target in &plan.targets {
        let profile = target.profile;
        if !references.contains_key(profile.name) {
            match interp::evaluate(&case.model, &inputs, profile, Taps::Outputs) {
                Ok(evaluation) => {
                    references.insert(profile.name, evaluation);
                }
                Err(e) => {
                    ran.trouble.push(format!("case {index} has no reference: {e}"));
                    return ran;
                }
            }
        }
        let evaluation = &references[profile.name];
        let expected = Expected { names: &names, outputs: &evaluation.outputs, profile };
        match Judged::of(plan, target, &case, &inputs, &outputs, &expected) {
            Ok(judged) => {
                ran.backend_seconds += judged.seconds;
                ran.verdicts.push((target, judged));
            }
            Err(e) => ran.trouble.push(format!("{}: {e}", target.name())),
        }
    }
    ran.reference = references.into_values().next();
    ran.case = Some(case);
    ran
}
