//! `onnxsmith fuzz`

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use campaign::fuzz::{Plan, fuzz};
use campaign::junit::{self, TestCase, TestResult};
use campaign::report::Report;
use campaign::store::Identity;
use campaign::{Event, Store};
use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::invalid::tally::LevelTally;
use harness::target;
use harness::validity::Validity;
use harness::{Maker, Target};
use oracles::Tally;
use present::shell;
use serde_json::json;
use triage::known::{Date, Known};
use triage::oracle::Oracles;
use worker::Limits;

use super::{campaign_folder, interrupts, jobs, probe, rules, targets, writable};
use crate::args::{self, Common, Fuzz};
use crate::board::{Extent, Live};
use crate::screen;
use campaign::Exit;

/// How long a campaign lasts when nothing is said.
const DEFAULT_TIME: Duration = Duration::from_mins(1);

/// Runs a campaign.
pub(crate) fn run(common: Common, args: &Fuzz) -> anyhow::Result<Exit> {
    let taste = args.bounds.taste()?;
    let mut settings = args.bounds.settings(&taste)?;
    let known = known(args.known.as_deref())?;
    let levels = levels(args)?;
    let oracles = Oracles::named(&args.oracles, &args.relations)?;
    writable(None, args.junit.as_deref())?;
    let mut store = campaign_folder::earlier(args.out.as_deref(), args.resume)?;
    let limits = Limits { timeout: args.timeout, ..Limits::default() };
    let mut targets = open(common, &args.on, &limits)?;
    let before = backends::usage::cpu_seconds();
    learn(common, &mut targets, store.as_ref(), &settings, jobs(args.jobs))?;
    // What an engine has is found out by models without forms.
    settings.forms.each = forms::usual();
    let time = args.time.or_else(|| args.cases.is_none().then_some(DEFAULT_TIME));
    let plan = Plan {
        maker: Maker {
            seed: common.seed,
            settings,
            opset: taste.opset,
            nodes: taste.nodes.clone(),
            policy: &taste,
            swarm: true,
            values: args.values.into(),
        },
        levels,
        targets,
        oracles,
        jobs: jobs(args.jobs),
        cases: args.cases,
        time,
        shard: args.shard.unwrap_or_default(),
        saved_per_signature: 3,
        max_disk: args.max_disk,
        known,
    };
    let mut store = match store.take() {
        Some(store) => store,
        None => campaign_folder::begin(args.out.as_deref(), &Identity::of(&plan))?,
    };
    screen::tell(common, &format!("campaign folder: {}", store.folder().display()));
    let stop = interrupts()?;
    let extent = Extent { cases: plan.cases.map(|cases| plan.shard.number(cases)), time };
    let board = if common.quiet { None } else { Live::start(store.folder(), extent, &plan.known) };
    let mut lines = Lines::new(!common.quiet && board.is_none());
    let report = fuzz(&plan, &mut store, &stop, &mut |event| lines.take(event));
    drop(board);
    let report = report?;
    if report.cases == 0
        && let Some(what) = report.trouble.first()
    {
        bail!("no case could be made: {what}");
    }
    // Workers count into this process's figures once they have ended.
    drop(plan);
    let cpu_seconds = backends::usage::cpu_seconds() - before;
    // A campaign without limits ends by a signal.
    let was_interrupted = stop.load(Ordering::Relaxed) && (extent.cases.is_some() || extent.time.is_some());
    let results = Results { report: &report, store: &store, was_interrupted, cpu_seconds };
    results.show(common, args.junit.as_deref())
}

/// Finds out what the targets lack: from the campaign's earlier sessions, from another level of the same engine, or by trying.
fn learn(
    common: Common,
    targets: &mut [Target],
    store: Option<&Store>,
    settings: &Settings,
    jobs: usize,
) -> anyhow::Result<()> {
    for number in 0..targets.len() {
        let (known, rest) = targets.split_at_mut(number);
        let target = &mut rest[0];
        if store.is_some_and(|store| store.identity().recall(target))
            || known.iter().any(|other| target.recall(other))
        {
            continue;
        }
        probe::find_out(common, target, settings, jobs)?;
    }
    Ok(())
}

/// What a campaign's command ends with.
pub(super) struct Results<'a> {
    pub(super) report: &'a Report,
    pub(super) store: &'a Store,
    /// Whether a signal came before all that was asked for had run.
    pub(super) was_interrupted: bool,
    /// Processor time of this command.
    pub(super) cpu_seconds: f64,
}

impl Results<'_> {
    /// Prints the report, and writes it as JUnit XML.
    pub(super) fn show(&self, common: Common, to: Option<&Path>) -> anyhow::Result<Exit> {
        let report = self.report;
        if let Some(file) = to {
            std::fs::write(file, junit(report, self.store.identity()))
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        if common.json {
            let mut all = serde_json::to_value(report)?;
            all["cpu_seconds"] = json!(self.cpu_seconds);
            all["out"] = json!(self.store.folder());
            screen::json(&all)?;
        } else {
            screen::text(&summary(report, self.cpu_seconds))?;
        }
        if report.cases == 0 && !report.trouble.is_empty() {
            bail!("no case could be run: {}", report.trouble[0]);
        }
        Ok(Exit::of(report.findings > report.known, self.was_interrupted))
    }
}

/// A list of known findings, as of today.
pub(super) fn known(file: Option<&Path>) -> anyhow::Result<Known> {
    Ok(file.map(|file| Known::read(file, Date::today())).transpose()?.unwrap_or_default())
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
    Ok(Levels { choice, rules: rules(&args.rules, choice != Choice::Valid)? })
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

/// How often the lines say how far the campaign is.
const EVERY: Duration = Duration::from_secs(30);

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
            Event::Ran { .. } if self.last.elapsed() < EVERY => return None,
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
            Event::Trouble { index, what } => format!("case {index}: trouble: {what}"),
        })
    }
}

/// Where a case was saved, in words.
pub(super) fn place(saved: Option<&Path>) -> String {
    saved.map_or_else(|| "not saved: --max-disk is used up".to_owned(), |path| path.display().to_string())
}

fn summary(report: &Report, cpu_seconds: f64) -> String {
    let mut out = format!(
        "{} cases in {:.1} s ({cpu_seconds:.1} s of CPU, {:.1} s inside the engines)\n\
         verdicts: {} pass, {} bug, {} incomparable\n\
         findings: {}, of which {} are known\n\
         undefined elements {:.3} %, cases with something undefined {:.2} %\n",
        report.cases,
        report.wall_seconds,
        report.backend_seconds,
        report.verdicts.pass,
        report.verdicts.bug,
        report.verdicts.incomparable,
        report.findings,
        report.known,
        100.0 * report.undefined_values_share,
        100.0 * report.undefined_cases_share,
    );
    if report.elements_by_target.is_empty() {
        // Stored before they were counted by target.
        out += &format!("undecidable elements {:.2} %\n", 100.0 * report.undecidable_elements_share);
    }
    let (kept, planned) = (report.adversarial.kept, report.adversarial.planned);
    out += &format!("adversarial values in {kept} cases of {planned} that were to have them\n");
    for (name, amounts) in report.footprints.each() {
        out += &format!("{}\n", amounts.text(name));
    }
    let sources = report.undecidable_sources();
    if !sources.is_empty() {
        let named = sources.iter().take(6).map(|(name, share)| format!("{name} {:.0} %", 100.0 * share));
        out += &format!("undecidable because of {}\n", named.collect::<Vec<_>>().join(", "));
    }
    out += &levels_text(&report.levels);
    for (oracle, by_name) in &report.oracles.0 {
        for (name, a) in by_name {
            out += &format!(
                "{oracle} {name}: {} asked, {} pass, {} bug, {} incomparable; {} cases to which it does not apply\n",
                a.asked, a.pass, a.bug, a.incomparable, a.inapplicable
            );
        }
    }
    for (target, t) in &report.by_target {
        let share = report.elements_by_target.get(target).map_or_else(String::new, |elements| {
            format!(
                "; {:.2} % of {} elements undecidable",
                100.0 * elements.undecidable_share,
                elements.outputs
            )
        });
        out += &format!("{target}: {} pass, {} bug, {} incomparable{share}\n", t.pass, t.bug, t.incomparable);
    }
    for (target, by_name) in &report.allowances {
        let named: Vec<String> = by_name.iter().map(|(name, count)| format!("{name} {count}")).collect();
        out += &format!("{target}: answers that rest on an allowance: {}\n", named.join(", "));
    }
    out += &super::report::suspects(report);
    for (engine, faults) in &report.late_faults {
        let kinds: Vec<String> = faults.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
        out += &format!("{engine}: {} that no case has in a fresh process\n", kinds.join(", "));
    }
    out += &super::report::causes(&report.groups(oracles::cause::ALIKE));
    if report.not_saved > 0 {
        out += &format!("{} cases with findings are not saved: --max-disk is used up\n", report.not_saved);
    }
    for (what, signatures) in [("not met", &report.known_unseen), ("expired", &report.known_expired)] {
        for signature in signatures {
            out += &format!("known, but {what}: {signature}\n");
        }
    }
    if report.known_elsewhere > 0 {
        out += &format!(
            "{} known findings are those of engines or versions that did not run\n",
            report.known_elsewhere
        );
    }
    out
}

/// The levels, where there is more than one.
fn levels_text(levels: &LevelTally) -> String {
    let mut out = String::new();
    if levels.cases.keys().any(|level| *level != Validity::Valid) {
        let count = |level| levels.cases.get(&level).copied().unwrap_or(0);
        let [valid, violate, random] = [Validity::Valid, Validity::Violate, Validity::Random].map(count);
        out += &format!(
            "cases: {valid} valid, {violate} that break a rule, {random} random ({} of them valid)\n",
            levels.random_valid
        );
    }
    if let Some(path) = &levels.p {
        let ends = [path.points.first(), path.points.last()].map(|point| point.map_or(0.0, |p| p.1));
        out += &format!("p went from {:.2} to {:.2}\n", ends[0], ends[1]);
    }
    for (rule, by_target) in &levels.rules {
        for (target, a) in by_target {
            out += &format!(
                "{rule} on {target}: {} refused, {} accepted, {} faulted, {} incomparable\n",
                a.refused, a.accepted, a.faulted, a.incomparable
            );
        }
    }
    out
}

/// How to run a saved case again.
fn again(saved: Option<&Path>, engine: &str) -> String {
    saved.map_or_else(|| place(None), |case| shell::run(case, engine))
}

pub(super) fn junit(report: &Report, identity: &Identity) -> String {
    let found = report.clusters.iter().map(|c| TestCase {
        class: c.example.backend.clone(),
        name: c.signature.clone(),
        result: match &c.known {
            Some(finding) => TestResult::Skipped(format!("{} times; known: {finding}", c.count)),
            None => TestResult::Failed(
                format!("{} times", c.count),
                format!(
                    "{}\n{}",
                    c.example.detail,
                    again(c.smallest.as_deref(), identity.engine(&c.example.backend))
                ),
            ),
        },
    });
    let ran = TestCase {
        class: "onnxsmith".to_owned(),
        name: format!("{} cases ran", report.cases),
        result: TestResult::Passed,
    };
    junit::document("onnxsmith fuzz", &std::iter::once(ran).chain(found).collect::<Vec<_>>())
}
