//! `onnxsmith fuzz`

mod summary;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use backends::usage::CpuTime;
use campaign::fuzz::{Plan, fuzz};
use campaign::junit::{TestCase, TestResult};
use campaign::report::{Cluster, Report};
use campaign::store::{Identity, StoreError};
use campaign::{Event, Shard, Store};
use graphgen::Settings;
use harness::Target;
use harness::invalid::schedule::{Choice, Levels};
use harness::target;
use oracles::Tally;
use present::shell;
use serde_json::json;
use triage::known::{Date, Known};
use triage::oracle::Oracles;
use worker::Limits;

use super::junit_file::JunitFile;
use super::{campaign_folder, jobs, maker, probe, rules, targets};
use crate::args::{self, Common, Fuzz};
use crate::board::{Extent, Live};
use crate::bounds::Domains;
use crate::interrupts::Interrupts;
use crate::{progress, screen};
use campaign::Exit;
use campaign::exit::SearchEnd;

/// What CI systems call a campaign.
pub(super) const SUITE: &str = "onnxsmith fuzz";

/// How long a campaign lasts when nothing is said.
const DEFAULT_TIME: Duration = Duration::from_mins(1);

/// Runs a campaign.
pub(crate) fn run(common: Common, args: &Fuzz) -> anyhow::Result<Exit> {
    let junit = JunitFile::of(SUITE, args.junit.file.as_deref());
    junit.ended(campaign(common, args, &junit))
}

fn campaign(common: Common, args: &Fuzz, junit: &JunitFile<'_>) -> anyhow::Result<Exit> {
    let taste = args.bounds.taste()?;
    let settings = args.bounds.settings(&taste, Domains::Any)?;
    let known = known(args.known.as_deref())?;
    let levels = levels(args)?;
    let oracles = Oracles::named(&args.oracles, &args.related.relations)?;
    junit.check()?;
    let mut store = campaign_folder::earlier(args.out.as_deref(), args.resume)?;
    let limits = args.patience.limits();
    let interrupts = Interrupts::take("nothing is stored yet")?;
    let before = CpuTime::now();
    let told = probe::read(&args.probed)?;
    let is_endless = args.cases.is_none() && !args.until_found;
    let time = args.time.or_else(|| is_endless.then_some(DEFAULT_TIME));
    let mut plan = Plan {
        maker: maker(common.seed, settings.clone(), &taste, args.values.into()),
        levels,
        targets: open(common, &args.on, &limits)?,
        oracles,
        jobs: jobs(args.at_once.jobs),
        cases: args.cases,
        time,
        shard: args.shard.unwrap_or_default(),
        saved_per_signature: 3,
        until_found: args.until_found,
        max_disk: args.max_disk,
        known,
    };
    for told in &told {
        told.is_of_one_of(&plan.targets)?;
    }
    if let Some(store) = &store {
        goes_on(store, &mut plan)?;
    } else {
        let stop = || interrupts.came();
        learn(common, &mut plan.targets, &told, &settings, jobs(args.at_once.jobs), &stop)?;
    }
    for target in &plan.targets {
        probe::check_opset(&target.support, taste.opset.as_ref())?;
    }
    probe::check_any(&plan.targets, &settings)?;
    let session = if store.is_some() { Session::Later } else { Session::Only };
    let mut store = match store.take() {
        Some(store) => store,
        None => campaign_folder::begin(args.out.as_deref(), &Identity::of(&plan))?,
    };
    screen::tell(common, &format!("campaign folder: {}", store.folder().display()));
    let extent = Extent { cases: plan.cases.map(|cases| plan.shard.cases_below(cases)), time };
    let board = if common.quiet { None } else { Live::start(store.folder(), extent, &plan.known) };
    let mut lines = Lines::new(!common.quiet && board.is_none());
    interrupts.keep("the cases under way are finished and stored");
    let report = fuzz(&plan, &mut store, interrupts.flag(), &mut |event| lines.take(event));
    drop(board);
    let report = report?;
    if report.cases == 0
        && let Some(what) = report.trouble.first()
    {
        bail!("no case could be made: {what}");
    }
    // Workers count into this process's figures once they have ended.
    drop(plan);
    let cpu = before.since();
    let was_interrupted = interrupts.came();
    let results = Results { report: &report, store: &store, was_interrupted, cpu, session };
    results.show(common, junit)
}

/// Tells the targets what they were found to lack in the campaign's earlier sessions, and makes sure that it is this campaign that goes on:
/// before anything is tried.
fn goes_on(store: &Store, plan: &mut Plan<'_>) -> Result<(), StoreError> {
    for target in &mut plan.targets {
        store.identity().recall(target);
    }
    store.expect(&Identity::of(plan))
}

/// Finds out what the targets lack: from files, from another level of the same engine, or by trying.
fn learn(
    common: Common,
    targets: &mut [Target],
    told: &[probe::SupportFile],
    settings: &Settings,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<()> {
    for number in 0..targets.len() {
        let (known, rest) = targets.split_at_mut(number);
        let target = &mut rest[0];
        if known.iter().any(|other| target.recall(other)) || probe::tell(target, told) {
            continue;
        }
        probe::find_out(common, target, settings, jobs, stop)?;
    }
    Ok(())
}

/// What a campaign's command ends with.
pub(super) struct Results<'a> {
    pub(super) report: &'a Report,
    pub(super) store: &'a Store,
    /// Whether a signal came before all that was asked for had run.
    pub(super) was_interrupted: bool,
    /// Processor time of this command and of its workers.
    pub(super) cpu: CpuTime,
    /// Whether that is all of the campaign's.
    pub(super) session: Session,
}

/// Whether a command ran all of a campaign. The processor time of others is not known: their workers count once they have ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    /// This one did.
    Only,
    /// Others ran before.
    Later,
}

impl Results<'_> {
    /// Prints the report, and writes it as JUnit XML.
    pub(super) fn show(&self, common: Common, to: &JunitFile<'_>) -> anyhow::Result<Exit> {
        let report = self.report;
        if common.json {
            let mut all = serde_json::to_value(report)?;
            all["cpu_seconds"] = json!(self.cpu.total());
            all["engine_cpu_seconds"] = json!(self.cpu.children);
            all["out"] = json!(self.store.folder());
            all["nothing_compared"] = json!(report.nothing_compared().collect::<Vec<_>>());
            screen::json(&all)?;
        } else {
            screen::told(&summary::text(report, self.cpu, self.session))?;
        }
        to.write(&test_cases(report, self.store.identity()))?;
        if report.cases == 0 && !report.trouble.is_empty() {
            bail!("no case could be run: {}", report.trouble[0]);
        }
        self.exit()
    }

    /// What is wrong counts before what could not be done. A part of a campaign may be too small to judge an engine by:
    /// `merge` does.
    fn exit(&self) -> anyhow::Result<Exit> {
        let Self { report, was_interrupted, .. } = *self;
        // Whoever sent the signal may have ended processes too.
        let is_late = !was_interrupted && report.new_late_faults().next().is_some();
        let has_found = report.findings > report.known || is_late;
        let exit = Exit::of(SearchEnd { has_found, was_interrupted });
        match (nothing_compared(report), exit) {
            (Some(why), Exit::Clean) if is_whole(self.store.identity()) => bail!("{why}"),
            (Some(why), _) => screen::say(&format!("onnxsmith: {why}")),
            (None, _) => {}
        }
        Ok(exit)
    }
}

/// Whether a campaign is no part of one that is split.
fn is_whole(identity: &Identity) -> bool {
    identity.shard == Shard::WHOLE
}

/// The targets on which nothing was compared, if there are any, in words.
fn nothing_compared(report: &Report) -> Option<String> {
    let idle: Vec<&str> = report.nothing_compared().collect();
    if idle.is_empty() {
        return None;
    }
    let said = report.most_often_incomparable().filter(|_| idle.len() == report.by_target.len());
    let said = said.map_or_else(String::new, |said| format!("; most often: {said}"));
    Some(format!("nothing was compared on {}{said}", idle.join(", ")))
}

/// A list of known findings, as of today.
pub(super) fn known(file: Option<&Path>) -> anyhow::Result<Known> {
    let read = file.map(|file| Known::read(file, Date::today())).transpose();
    Ok(read.context("--known takes a list of known findings")?.unwrap_or_default())
}

/// The probability of a valid case at the start, and by how much it moves, where nothing is said.
const P: f64 = 0.6;
const ALPHA: f64 = 0.01;

/// The levels that the command line asks for.
fn levels(args: &Fuzz) -> anyhow::Result<Levels> {
    let choice = match args.level {
        args::Levels::Valid => Choice::Valid,
        args::Levels::Violate => Choice::Violate,
        args::Levels::Adaptive => {
            Choice::Adaptive { p: args.p.unwrap_or(P), alpha: args.alpha.unwrap_or(ALPHA) }
        }
    };
    for (flag, is_given) in [("--p", args.p.is_some()), ("--alpha", args.alpha.is_some())] {
        if is_given && args.level != args::Levels::Adaptive {
            bail!(
                "{flag} says how the level of a case is drawn, and it is the same for all; add --level adaptive"
            );
        }
    }
    Ok(Levels { choice, rules: rules(&args.broken.rules, choice != Choice::Valid)? })
}

/// The targets asked for, or all there are.
fn open(common: Common, on: &[String], limits: &Limits) -> anyhow::Result<Vec<Target>> {
    let mut targets = targets(on, limits)?;
    if on.is_empty() {
        for name in backends::engines::all() {
            match target::open(name, limits) {
                Ok(opened) => targets.extend(opened),
                Err(e) if backends::engines::needs(name).is_some() => {
                    screen::tell(common, &format!("without {name}: {e}"));
                }
                Err(e) => return Err(e.into()),
            }
        }
        let left_out = backends::engines::left_out();
        if !left_out.is_empty() {
            screen::tell(
                common,
                &format!(
                    "without {}: not built in; cargo features of these names add them",
                    left_out.join(", ")
                ),
            );
        }
    }
    if targets.is_empty() {
        bail!("there is nothing to test: name backends with --on");
    }
    Ok(targets)
}

/// What happens, as lines on standard error: where there is no terminal for a board.
struct Lines {
    are_wanted: bool,
    last: Instant,
}

impl Lines {
    fn new(are_wanted: bool) -> Self {
        Self { are_wanted, last: Instant::now() }
    }

    fn take(&mut self, event: &Event) {
        if self.are_wanted
            && let Some(line) = self.line(event)
        {
            screen::say(&line);
        }
    }

    fn line(&mut self, event: &Event) -> Option<String> {
        Some(match event {
            Event::Resumed { cases, findings, .. } => {
                format!("going on after {cases} cases, {findings} findings")
            }
            Event::Ran { .. } if self.last.elapsed() < progress::LINES => return None,
            Event::Ran { index, tally, findings, .. } => {
                self.last = Instant::now();
                let Tally { pass, incomparable, .. } = tally;
                format!("case {index}: so far {pass} right, {findings} wrong, {incomparable} say nothing")
            }
            Event::NewFinding { index, signature, known: Some(known), .. } => {
                format!("case {index}: {signature}\n    known: {known}")
            }
            Event::NewFinding { index, signature, finding, saved, known: None } => {
                format!("case {index}: {signature}\n    {}\n    {}", finding.detail, place(saved.as_deref()))
            }
            Event::Trouble { what, .. } => format!("trouble: {what}"),
        })
    }
}

/// Where a case was saved, in words.
pub(super) fn place(saved: Option<&Path>) -> String {
    saved.map_or_else(|| "not saved: --max-disk is used up".to_owned(), |path| path.display().to_string())
}

/// How to run what a saved case was reduced to again, on the level that shows it.
fn again(cluster: &Cluster, identity: &Identity) -> String {
    let Cluster { example, smallest, reduced, .. } = cluster;
    let on = target::on(identity.engine(&example.backend), &example.level);
    let saved = reduced.as_deref().or(smallest.as_deref());
    saved.map_or_else(|| place(None), |case| shell::run(case, &on))
}

/// The results of a campaign, as CI systems show them.
pub(super) fn test_cases(report: &Report, identity: &Identity) -> Vec<TestCase> {
    let found = report.clusters.iter().map(|c| TestCase {
        class: c.example.backend.clone(),
        name: c.signature.clone(),
        result: match &c.known {
            Some(finding) => TestResult::Skipped(format!("{} times; known: {finding}", c.count)),
            None => TestResult::Failed(
                format!("{} times", c.count),
                format!("{}\n{}", c.example.detail, again(c, identity)),
            ),
        },
    });
    let ran = TestCase {
        class: "onnxsmith".to_owned(),
        name: format!("{} cases ran", report.cases),
        result: TestResult::Passed,
    };
    let idle = report.nothing_compared().filter(|_| is_whole(identity)).map(|target| TestCase {
        class: target.to_owned(),
        name: "cases are compared".to_owned(),
        result: TestResult::Error(
            "nothing was compared".to_owned(),
            "no answer, or every one is incomparable".to_owned(),
        ),
    });
    let late = report.new_late_faults().map(|late| late.test_case());
    std::iter::once(ran).chain(idle).chain(found).chain(late).collect()
}
