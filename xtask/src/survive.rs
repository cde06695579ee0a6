//! `cargo xtask survive`: campaigns that are killed again and again, and what they come to.
//!
//! Each campaign runs twice, with the same seed: once undisturbed, and once killed with SIGKILL at random moments and
//! continued by `--resume` until it is done. What both leave behind has to be the same: report, findings, case folders.
//! Only the words of an engine may differ, which it may choose anew in each process (rten names one of two values, by the
//! order in a hash table), and times.
//! The moments are random in time, so no two runs of this command do the same; the campaigns are the same every time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail, ensure};
use campaign::Store;
use campaign::report::Report;
use clap::Args;
use rand::RngExt;

use crate::program::{Build, onnxsmith};

/// What to run.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How many campaigns
    #[arg(long, default_value_t = 20)]
    campaigns: u64,
    /// How many cases each has
    #[arg(long, default_value_t = 2000)]
    cases: u64,
    /// The longest time between two kills, in milliseconds
    #[arg(long, default_value_t = 3000)]
    longest: u64,
    /// The program; without it, it is built here
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Flags of `fuzz`, after `--`
    #[arg(last = true)]
    flags: Vec<String>,
}

/// What is run where no flags are given: engines with findings, levels that depend on them, small models.
const FLAGS: &[&str] = &["--on", "cpu,rten", "--nodes", "3", "--level", "adaptive"];

/// Runs the campaigns and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let runs = Runs { program: onnxsmith(arguments.program.as_deref(), Build::Release, &[])?, arguments };
    let mut kills = 0;
    for seed in 0..arguments.campaigns {
        let folder = tempfile::tempdir()?;
        let (calm, killed) = (folder.path().join("calm"), folder.path().join("killed"));
        runs.finish(seed, &calm)?;
        let times = runs.kill_until_done(seed, &killed)?;
        let blocks = Store::read(&killed)?.blocks()?;
        let (calm, killed) = (Remains::read(&calm)?, Remains::read(&killed)?);
        ensure!(
            blocks.windows(2).all(|b| b[0].past == b[1].first),
            "campaign {seed}: cases are lost or doubled"
        );
        if let Some(place) = first_difference(&calm.report, &killed.report)? {
            bail!("campaign {seed}: the report differs, {place}");
        }
        ensure!(killed.findings == calm.findings, "campaign {seed}: the findings differ");
        ensure!(killed.files == calm.files, "campaign {seed}: the saved cases differ");
        let Report { cases, findings, clusters, .. } = calm.report;
        println!(
            "campaign {seed}: killed {times} times; {cases} cases, {findings} findings, {} signatures: the same",
            clusters.len()
        );
        kills += times;
    }
    println!("{} campaigns, {kills} kills: every case once, no finding lost or doubled", arguments.campaigns);
    Ok(())
}

/// What a campaign leaves behind, but for times and the words of engines.
struct Remains {
    report: Report,
    findings: Vec<(u64, String, String)>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Remains {
    fn read(folder: &Path) -> Result<Self> {
        let store = Store::read(folder)?;
        let mut report = store.report()?;
        (report.backend_seconds, report.wall_seconds) = (0.0, 0.0);
        for cluster in &mut report.clusters {
            cluster.example.detail.clear();
            cluster.example.stderr.clear();
            for path in [&mut cluster.smallest, &mut cluster.reduced].into_iter().flatten() {
                *path = path.strip_prefix(folder)?.to_owned();
            }
        }
        for saved in report.suspects.kinds.values_mut().filter_map(|kind| kind.saved.as_mut()) {
            saved.folder = Path::new(&saved.folder).strip_prefix(folder)?.display().to_string();
        }
        let mut files = BTreeMap::new();
        let mut open = vec![folder.join("findings"), folder.join("suspects")];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs::read_dir(&path)?.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?,
                );
            } else if path.is_file() {
                let bytes = fs::read(&path)?;
                let is_case = path.file_name().is_some_and(|name| name == "case.json");
                let bytes = if is_case { without_words(&bytes)? } else { bytes };
                files.insert(path.strip_prefix(folder)?.to_owned(), bytes);
            }
        }
        Ok(Self { report, findings: store.findings()?, files })
    }
}

/// Where two reports begin to differ, as JSON.
fn first_difference(calm: &Report, killed: &Report) -> Result<Option<String>> {
    if calm == killed {
        return Ok(None);
    }
    let [calm, killed] = [calm, killed].map(serde_json::to_string_pretty);
    let (calm, killed) = (calm?, killed?);
    let differ = calm.lines().zip(killed.lines()).enumerate().find(|(_, (one, other))| one != other);
    Ok(Some(differ.map_or_else(
        || "in what JSON cannot say".to_owned(),
        |(line, (one, other))| {
            format!("in line {} of its JSON: `{}` and `{}`", line + 1, one.trim(), other.trim())
        },
    )))
}

/// A case's `case.json` without what the engines said.
fn without_words(json: &[u8]) -> Result<Vec<u8>> {
    let mut case: serde_json::Value = serde_json::from_slice(json)?;
    for finding in case["findings"].as_array_mut().into_iter().flatten() {
        finding["detail"].take();
        finding.as_object_mut().and_then(|finding| finding.remove("stderr"));
    }
    Ok(case.to_string().into_bytes())
}

/// A program, and what to run it with.
struct Runs<'a> {
    program: PathBuf,
    arguments: &'a Arguments,
}

impl Runs<'_> {
    fn command(&self, seed: u64, out: &Path) -> Command {
        let Arguments { cases, flags, .. } = self.arguments;
        let mut command = Command::new(&self.program);
        command.args(["fuzz", "--quiet", "--resume"]).arg("--out").arg(out);
        command.args(["--seed", &seed.to_string(), "--cases", &cases.to_string()]);
        match flags.as_slice() {
            [] => command.args(FLAGS),
            flags => command.args(flags),
        };
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs a campaign to its end.
    fn finish(&self, seed: u64, out: &Path) -> Result<()> {
        let mut command = self.command(seed, out);
        let status = command.status()?;
        ensure!(matches!(status.code(), Some(0 | 1)), "{command:?} ended with {status}");
        Ok(())
    }

    /// Runs a campaign to its end, and kills it on the way. Returns how often.
    fn kill_until_done(&self, seed: u64, out: &Path) -> Result<u64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let mut rng = ir::Stream::new(now).child("survive").rng();
        let mut times = 0;
        loop {
            let mut command = self.command(seed, out);
            let mut child = command.spawn()?;
            let longest = self.arguments.longest.max(SHORTEST);
            std::thread::sleep(Duration::from_millis(rng.random_range(SHORTEST..=longest)));
            if let Some(status) = child.try_wait()? {
                ensure!(matches!(status.code(), Some(0 | 1)), "{command:?} ended with {status}");
                return Ok(times);
            }
            child.kill()?;
            child.wait()?;
            times += 1;
        }
    }
}

/// The shortest time between two kills, in milliseconds.
const SHORTEST: u64 = 50;
