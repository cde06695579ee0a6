//! `cargo xtask survive`: campaigns that are killed again and again, and what they come to.
//!
//! Each campaign runs twice, with the same seed: once undisturbed, and once killed with SIGKILL at random moments and
//! continued by `--resume` until it is done. What both leave behind has to be the same: report, findings, case folders.
//! The moments are random in time, so no two runs of this command do the same; the campaigns are the same every time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use campaign::Store;
use campaign::report::Report;
use clap::Args;
use rand::RngExt;

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
    /// The program
    #[arg(long, default_value = "target/release/onnxsmith", value_name = "FILE")]
    program: PathBuf,
    /// Flags of `fuzz`, after `--`
    #[arg(last = true)]
    flags: Vec<String>,
}

/// What is run where no flags are given: engines with findings, levels that depend on them, small models.
const FLAGS: &[&str] = &["--on", "cpu,rten", "--nodes", "3", "--level", "adaptive"];

/// Runs the campaigns and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut kills = 0;
    for seed in 0..arguments.campaigns {
        let folder = tempfile::tempdir()?;
        let (calm, killed) = (folder.path().join("calm"), folder.path().join("killed"));
        finish(arguments, seed, &calm)?;
        let times = kill_until_done(arguments, seed, &killed)?;
        let blocks = Store::read(&killed)?.blocks()?;
        let (calm, killed) = (Remains::read(&calm)?, Remains::read(&killed)?);
        ensure!(
            blocks.windows(2).all(|b| b[0].past == b[1].first),
            "campaign {seed}: cases are lost or doubled"
        );
        ensure!(killed.report == calm.report, "campaign {seed}: the report differs");
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

/// What a campaign leaves behind, but for times.
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
        for path in report.clusters.iter_mut().filter_map(|c| c.smallest.as_mut()) {
            *path = path.strip_prefix(folder)?.to_owned();
        }
        let mut files = BTreeMap::new();
        let mut open = vec![folder.join("findings")];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs::read_dir(&path)?.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?,
                );
            } else if path.is_file() {
                files.insert(path.strip_prefix(folder)?.to_owned(), fs::read(&path)?);
            }
        }
        // What a kill leaves of a case that it interrupts is hidden, and not a case.
        files.retain(|path, _| !path.components().any(|c| c.as_os_str().to_string_lossy().starts_with('.')));
        Ok(Self { report, findings: store.findings()?, files })
    }
}

fn command(arguments: &Arguments, seed: u64, out: &Path) -> Command {
    let mut command = Command::new(&arguments.program);
    command.args(["fuzz", "--quiet", "--resume"]).arg("--out").arg(out);
    command.args(["--seed", &seed.to_string(), "--cases", &arguments.cases.to_string()]);
    if arguments.flags.is_empty() {
        command.args(FLAGS)
    } else {
        command.args(&arguments.flags)
    };
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a campaign to its end.
fn finish(arguments: &Arguments, seed: u64, out: &Path) -> Result<()> {
    let status = command(arguments, seed, out).status().with_context(|| start(arguments))?;
    ensure!(matches!(status.code(), Some(0 | 1)), "{:?} ended with {status}", command(arguments, seed, out));
    Ok(())
}

/// Runs a campaign to its end, and kills it on the way. Returns how often.
fn kill_until_done(arguments: &Arguments, seed: u64, out: &Path) -> Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let mut rng = ir::Stream::new(now).child("survive").rng();
    let mut times = 0;
    loop {
        let mut child = command(arguments, seed, out).spawn().with_context(|| start(arguments))?;
        let moment = Duration::from_millis(rng.random_range(50..=arguments.longest.max(50)));
        std::thread::sleep(moment);
        if let Some(status) = child.try_wait()? {
            ensure!(matches!(status.code(), Some(0 | 1)), "a continued campaign ended with {status}");
            return Ok(times);
        }
        child.kill()?;
        child.wait()?;
        times += 1;
    }
}

fn start(arguments: &Arguments) -> String {
    format!("cannot start {}; build it first: cargo build --release", arguments.program.display())
}
