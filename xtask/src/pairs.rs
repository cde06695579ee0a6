//! Every operator on every dtype that is drawn, asked for alone: does it occur, and what do our own engines say?
//!
//! For each pair the program runs a campaign of one-node cases. A case without the operator, a pair that never occurs or
//! a finding fails the task; what is unsupported is listed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use harness::threads;
use serde::Deserialize;

use crate::program::{Build, onnxsmith};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The cases of each pair
    #[arg(long, default_value_t = 20)]
    cases: u64,
    /// The engines
    #[arg(long, default_value = "cpu,wgpu")]
    on: String,
    /// The seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many campaigns run at the same time; without it, one per processor
    #[arg(long)]
    jobs: Option<usize>,
    /// The program to run; without it, it is built here
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// What this task reads of `onnxsmith ops --json`.
#[derive(Deserialize)]
struct Listed {
    operators: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    operator: String,
    dtypes: Vec<String>,
}

/// What it reads of `onnxsmith fuzz --json`.
#[derive(Deserialize)]
struct Report {
    cases: u64,
    by_target: BTreeMap<String, Tally>,
    coverage: Coverage,
}

#[derive(Deserialize)]
struct Tally {
    pass: u64,
    bug: u64,
    incomparable: u64,
}

#[derive(Deserialize)]
struct Coverage {
    operators: BTreeMap<String, u64>,
    dtypes: BTreeMap<String, BTreeMap<String, u64>>,
}

/// One pair, and what came of it.
struct Pair<'r> {
    operator: &'r str,
    dtype: &'r str,
    report: Result<Report>,
}

/// Runs all pairs and prints the table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = onnxsmith(arguments.program.as_deref(), Build::Release, &["rten"])?;
    let listed = Command::new(&program).args(["ops", "--json"]).output().context("cannot run the program")?;
    let Listed { operators: rows } =
        serde_json::from_slice(&listed.stdout).context("`onnxsmith ops --json`")?;
    let pairs = rows.iter().flat_map(|r| r.dtypes.iter().map(|d| (r.operator.as_str(), d.as_str())));
    let all: Vec<(&str, &str)> = pairs.filter(|(_, dtype)| is_drawn(dtype)).collect();
    let pairs = threads::each(arguments.jobs.unwrap_or_else(threads::all), &all, |&(operator, dtype)| {
        let report = campaign(&program, arguments, operator, dtype);
        Pair { operator, dtype, report }
    });
    println!("{}", table(&pairs));
    let wrong: Vec<String> = pairs.iter().filter_map(Pair::wrong).collect();
    let all = pairs.len();
    println!("{} of {all} pairs of operator and dtype are drawn, without a finding", all - wrong.len());
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Whether the generator draws a dtype for an operator that takes it.
fn is_drawn(dtype: &str) -> bool {
    dtype.parse().is_ok_and(|dtype| graphgen::DRAWN.contains(dtype))
}

/// The campaign of one pair.
fn campaign(program: &Path, arguments: &Arguments, operator: &str, dtype: &str) -> Result<Report> {
    let out = tempfile::tempdir()?;
    let output = Command::new(program)
        .args(["fuzz", "--nodes", "1", "--functions", "0", "--jobs", "1", "--json", "--quiet"])
        .args(["--ops", &format!("{operator}:{dtype}"), "--on", &arguments.on])
        .args(["--cases", &arguments.cases.to_string(), "--seed", &arguments.seed.to_string()])
        .arg("--out")
        .arg(out.path().join("campaign"))
        .output()?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

impl Pair<'_> {
    /// What is wrong with it, if anything.
    fn wrong(&self) -> Option<String> {
        let name = format!("{} on {}", self.operator, self.dtype);
        let report = match &self.report {
            Ok(report) => report,
            Err(e) => return Some(format!("{name}: {e:#}")),
        };
        let has_operator = report.coverage.operators.get(self.operator).copied().unwrap_or(0);
        let on_dtype = report.coverage.dtypes.get(self.operator).and_then(|d| d.get(self.dtype)).copied();
        let bugs: u64 = report.by_target.values().map(|t| t.bug).sum();
        if report.cases == 0 || has_operator < report.cases {
            Some(format!("{name}: the operator is in {has_operator} of {} cases", report.cases))
        } else if on_dtype.unwrap_or(0) == 0 {
            Some(format!("{name}: no case has the operator on the dtype"))
        } else {
            (bugs > 0).then(|| format!("{name}: {bugs} findings"))
        }
    }
}

/// A row for each operator: the dtypes it was met on and, for each target, what it said.
fn table(pairs: &[Pair<'_>]) -> String {
    let mut targets: Vec<&String> =
        pairs.iter().filter_map(|p| p.report.as_ref().ok()).flat_map(|r| r.by_target.keys()).collect();
    targets.sort();
    targets.dedup();
    let mut out = String::from("| operator | dtypes met |");
    for name in &targets {
        _ = write!(out, " {name} |");
    }
    out += "\n|---|---:|";
    out += &"---|".repeat(targets.len());
    for of in pairs.chunk_by(|a, b| a.operator == b.operator) {
        _ = write!(out, "\n| {} | {} |", of[0].operator, of.len());
        for name in &targets {
            let mut all = Tally { pass: 0, bug: 0, incomparable: 0 };
            let mut lacks: Vec<&str> = Vec::new();
            for pair in of {
                let Some(tally) = pair.report.as_ref().ok().and_then(|r| r.by_target.get(*name)) else {
                    continue;
                };
                all.pass += tally.pass;
                all.bug += tally.bug;
                all.incomparable += tally.incomparable;
                if tally.pass + tally.bug == 0 {
                    lacks.push(pair.dtype);
                }
            }
            let lacks =
                if lacks.is_empty() { String::new() } else { format!(", nothing on {}", lacks.join(" ")) };
            _ = write!(out, " {} pass, {} bug, {} say nothing{lacks} |", all.pass, all.bug, all.incomparable);
        }
    }
    out
}
