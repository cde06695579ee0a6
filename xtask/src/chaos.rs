//! `cargo xtask chaos`: a whole campaign on an engine that does everything wrong.
//!
//! The engine is `onnxsmith worker chaos`, which misbehaves as a case's bytes say. So the cases can be made again
//! afterwards, and what happened in each is known: the campaign's report must count every case once, and of each kind of
//! verdict as many as there were reasons for it. Then this process must have as many open files as before, no child,
//! and nothing of ours may be left in the folder for temporary files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use campaign::fuzz::{self, fuzz};
use campaign::report::Report;
use campaign::store::Identity;
use campaign::{Shard, Store};
use graphgen::Settings;
use harness::invalid::schedule::{Choice, Levels};
use harness::target;
use harness::{Maker, Target, Values};
use ir::{Datum, Interface};
use oracles::Symptom;
use triage::known::Known;
use triage::oracle::Oracles;
use worker::chaos::{LACK, Misbehaviour, Rates, Shows};
use worker::{Case, FaultKind, Limits};

use crate::program::{Build, onnxsmith};

/// What the command line asks for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many cases
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    cases: u64,
    /// The seed of the cases
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// How many cases run at the same time
    #[arg(long, default_value_t = 2, value_name = "N")]
    jobs: usize,
    /// How much of the time-outs' length a case may take, in seconds; right answers must come within it
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    timeout: f64,
    /// The program to test; without it, it is built here
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Other rates than the usual ones, such as segfault=1 (per cent)
    rates: Vec<String>,
}

/// What the names of our temporary files and folders begin with. Other programs make such files meanwhile.
const OURS: &str = "onnxsmith-";

/// What costs a time-out or the wait for a process to end is rarer than what does not, in per cent.
const SLOW: ([&str; 6], f64, f64) =
    (["hang", "late", "hang-with-child", "leave-child", "leave-stranger", "close"], 0.05, 0.3);

/// Runs the campaign and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = onnxsmith(arguments.program.as_deref(), Build::Release, &[])?;
    let words = if arguments.rates.is_empty() { usual(arguments.timeout) } else { arguments.rates.clone() };
    let rates = Rates::parse(&words)?;
    let before = Traces::now()?;
    let started = Instant::now();
    let out = tempfile::Builder::new().prefix(OURS).tempdir().context("no folder for findings")?;
    let line = format!("cmd:{} worker chaos {}", program.display(), rates.words().join(" "));
    let timeout = Duration::try_from_secs_f64(arguments.timeout).context("--timeout is no time")?;
    let limits = Limits { timeout, memory: Some(1 << 30), ..Limits::default() };
    let targets = target::open(&line, &limits)?;
    let maker = Maker {
        values: Values::Plain,
        ..Maker::new(arguments.seed, Settings { nodes: 3, ..Settings::default() })
    };
    let campaign = fuzz::Plan {
        maker,
        levels: Levels { choice: Choice::Valid, rules: Vec::new() },
        targets,
        oracles: Oracles::default(),
        jobs: arguments.jobs,
        cases: Some(arguments.cases),
        time: None,
        shard: Shard::WHOLE,
        saved_per_signature: 1,
        max_disk: None,
        known: Known::default(),
        until_found: false,
    };
    let mut store = Store::create(out.path(), &Identity::of(&campaign))?;
    let report = fuzz(&campaign, &mut store, &AtomicBool::new(false), &mut |_| {})?;
    drop(store);
    let seconds = started.elapsed().as_secs_f64();
    let injected = injected(&rates, &campaign, arguments.cases)?;
    drop(campaign);
    drop(out);
    let counted = Counts::of(&report);
    print!("{}", text(&report, &injected, &counted, seconds));
    account_for(&report, &injected, &counted, arguments.cases)?;
    before.must_be_all()
}

/// The usual rates; late answers come half a time-out too late.
fn usual(timeout: f64) -> Vec<String> {
    let (slow, rarely, often) = SLOW;
    let rate = |m: Misbehaviour| if slow.contains(&m.name()) { rarely } else { often };
    let rates = Misbehaviour::all().map(|m| format!("{}={}", m.name(), rate(m)));
    rates.chain([format!("pause={}", 1.5 * timeout)]).collect()
}

/// How often each misbehaviour was met; `None` for cases without one.
type Injected = BTreeMap<Option<Misbehaviour>, u64>;

/// Makes the cases again, and looks what happened in each.
fn injected(rates: &Rates, campaign: &fuzz::Plan<'_>, cases: u64) -> Result<Injected> {
    let [target] = &campaign.targets[..] else { bail!("the engine has more than one level") };
    let settings = target.narrow(campaign.maker.settings.clone());
    let mut all = Injected::new();
    for index in 0..cases {
        let made = campaign.maker.make_within(index, &settings)?;
        let planned = of(rates, target, &made);
        // What refuses an undefined value may do so, and is not counted as a finding.
        let is_excused = planned == Some(Misbehaviour::Reject) && !made.all_defined;
        *all.entry(planned.filter(|_| !is_excused)).or_default() += 1;
    }
    Ok(all)
}

fn of(rates: &Rates, target: &Target, made: &harness::Case) -> Option<Misbehaviour> {
    let Interface { outputs, .. } = Interface::of(&made.model);
    let inputs = Datum::of_tensors(&made.inputs);
    rates.of(&Case {
        model: worker::Source::Message(&made.onnx),
        level: &target.level,
        inputs: &inputs,
        outputs: &outputs,
    })
}

/// The verdicts of a report, by what they say happened.
struct Counts {
    faults: Vec<(FaultKind, String, u64)>,
    wrong_type: u64,
    rejected: u64,
    other: u64,
    unsupported: u64,
}

impl Counts {
    fn of(report: &Report) -> Self {
        let mut counts = Self { faults: Vec::new(), wrong_type: 0, rejected: 0, other: 0, unsupported: 0 };
        for cluster in &report.clusters {
            match &cluster.example.symptom {
                Symptom::Fault { kind, .. } => {
                    counts.faults.push((*kind, cluster.example.detail.clone(), cluster.count));
                }
                Symptom::WrongType => counts.wrong_type += cluster.count,
                Symptom::Rejected { .. } => counts.rejected += cluster.count,
                _ => counts.other += cluster.count,
            }
        }
        let lacking = report.incomparable.iter().filter(|(why, _)| why.contains(LACK));
        counts.unsupported = lacking.map(|(_, count)| count).sum();
        counts
    }

    /// How many verdicts say that this happened.
    fn shown(&self, shows: Shows) -> u64 {
        match shows {
            Shows::Answer | Shows::LateFault => 0,
            Shows::WrongType => self.wrong_type,
            Shows::Rejected => self.rejected,
            Shows::Unsupported => self.unsupported,
            Shows::Fault(..) => {
                let same = self.faults.iter().filter(|(kind, text, _)| shows.is_fault(*kind, text));
                same.map(|(.., count)| count).sum()
            }
        }
    }
}

/// One thing that can be shown.
struct ShownCount {
    shows: Shows,
    /// The misbehaviours that show it.
    names: Vec<&'static str>,
    /// How many cases they were injected into.
    count: u64,
    /// How many verdicts say so.
    shown: u64,
}

/// One line for each thing that can be shown.
fn lines(injected: &Injected, counted: &Counts) -> Vec<ShownCount> {
    let mut lines: Vec<ShownCount> = Vec::new();
    for misbehaviour in Misbehaviour::all() {
        let count = injected.get(&Some(misbehaviour)).copied().unwrap_or(0);
        let (name, shows) = (misbehaviour.name(), misbehaviour.shows());
        match lines.iter_mut().find(|line| line.shows == shows) {
            Some(line) => {
                line.names.push(name);
                line.count += count;
            }
            None => lines.push(ShownCount { shows, names: vec![name], count, shown: counted.shown(shows) }),
        }
    }
    lines
}

fn text(report: &Report, injected: &Injected, counted: &Counts, seconds: f64) -> String {
    let mut out = format!("{} cases in {seconds:.0} s\n{:>8} {:>8}\n", report.cases, "injected", "verdicts");
    for ShownCount { names, count, shown, .. } in lines(injected, counted) {
        out += &format!("{count:>8} {shown:>8}  {}\n", names.join(", "));
    }
    out + &format!(
        "verdicts: {:?}; other findings: {}\nlate faults: {:?}\n",
        report.verdicts, counted.other, report.late_faults
    )
}

/// Whether the report accounts for every case rightly.
fn account_for(report: &Report, injected: &Injected, counted: &Counts, cases: u64) -> Result<()> {
    ensure!(report.cases == cases, "{} cases are reported", report.cases);
    let tally = report.verdicts;
    ensure!(tally.pass + tally.bug + tally.incomparable == cases, "the verdicts are {tally:?}");
    ensure!(report.trouble.is_empty(), "there was trouble: {:?}", report.trouble);
    ensure!(counted.other == 0, "{} findings are of a kind that was not injected", counted.other);
    let (mut wrong, mut late) = (0, 0);
    for ShownCount { shows, names, count, shown } in lines(injected, counted) {
        match shows {
            Shows::Answer => {}
            Shows::LateFault => late += count,
            // What is left of a case once its fault is named runs as well, and misbehaves at the same rates: findings
            // may be more.
            Shows::WrongType | Shows::Rejected | Shows::Fault(..) => {
                ensure!(count <= shown, "{}: {count} injected, {shown} verdicts", names.join(", "));
                wrong += count;
            }
            Shows::Unsupported => {
                ensure!(count == shown, "{}: {count} injected, {shown} verdicts", names.join(", "));
            }
        }
    }
    ensure!(tally.bug == wrong, "{wrong} cases were to be wrong, and {} are", tally.bug);
    // No case comes after the last one of a process, and what a process has in store when it is ended for a fault is
    // not looked at.
    let told: u64 = report.late_faults.values().flat_map(BTreeMap::values).sum();
    ensure!(late <= 2 * told, "{late} cases were to break the next one, and {told} late faults are told");
    Ok(())
}

/// What a campaign could leave behind.
struct Traces {
    open_files: usize,
    temporary: BTreeSet<OsString>,
}

impl Traces {
    fn now() -> Result<Self> {
        let names = |folder: PathBuf| -> Result<Vec<_>> {
            let entries =
                std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
            Ok(entries.flatten().map(|entry| entry.file_name()).collect())
        };
        let open_files = names("/proc/self/fd".into())?.len();
        let temporary = names(std::env::temp_dir())?.into_iter().collect();
        Ok(Self { open_files, temporary })
    }

    /// Fails if there is more now.
    fn must_be_all(&self) -> Result<()> {
        // Threads that listen to processes which are gone end on their own.
        std::thread::sleep(Duration::from_secs(1));
        let now = Self::now()?;
        let children = children()?;
        ensure!(children.is_empty(), "processes are left: {children:?}");
        let (before, after) = (self.open_files, now.open_files);
        ensure!(after <= before, "{before} files were open, {after} are");
        let left = left(&self.temporary, &now.temporary);
        ensure!(left.is_empty(), "temporary files are left: {left:?}");
        println!("no process, no open file, no temporary file is left");
        Ok(())
    }
}

/// What of ours is new among temporary files.
fn left<'n>(before: &'n BTreeSet<OsString>, now: &'n BTreeSet<OsString>) -> Vec<&'n OsString> {
    now.difference(before).filter(|name| name.as_encoded_bytes().starts_with(OURS.as_bytes())).collect()
}

/// The children of this process, zombies included.
fn children() -> Result<Vec<String>> {
    let threads = std::fs::read_dir("/proc/self/task").context("cannot read /proc/self/task")?;
    let mut all = Vec::new();
    for thread in threads.flatten() {
        let text = std::fs::read_to_string(thread.path().join("children")).context("no list of children")?;
        all.extend(text.split_whitespace().map(str::to_owned));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_is_left_where_it_is_new_and_ours() {
        let names = |names: &[&str]| names.iter().map(OsString::from).collect::<BTreeSet<_>>();
        let now = names(&["onnxsmith-old", "onnxsmith-new", "another-new"]);
        assert_eq!(left(&names(&["onnxsmith-old"]), &now), ["onnxsmith-new"]);
    }
}
