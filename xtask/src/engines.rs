//! The table in docs/engines.md: ONNX's node tests on every engine.
//!
//! It needs the exported tests, ONNX Runtime's library and `.venv`, so CI does not check it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::checked_in::{Mode, bring_up_to_date, root};
use crate::program::{Build, onnxsmith};

/// The page, and the lines between which the table stands.
const PAGE: &str = "docs/engines.md";
const BEGIN: &str = "<!-- begin: cargo xtask engines -->\n";
const END: &str = "<!-- end -->\n";

/// The cargo features that add engines.
const FEATURES: &[&str] = &["ort", "oxionnx", "tract"];

/// How long a case may take: the pure Python of ONNX's reference evaluator is slow.
const TIMEOUT: &str = "60s";

/// The columns, in the words of `onnxsmith run`.
pub(crate) const OUTCOMES: [&str; 7] =
    ["pass", "mismatch", "unsupported", "no_reference", "rejected", "crash", "timeout"];

/// What is read of `onnxsmith run --json`.
#[derive(Deserialize)]
pub(crate) struct Replayed {
    pub(crate) cases: u64,
    pub(crate) backends: BTreeMap<String, BTreeMap<String, u64>>,
    versions: BTreeMap<String, String>,
    pub(crate) not_passing: Vec<NotPassing>,
}

/// A case that did not pass.
#[derive(Deserialize)]
pub(crate) struct NotPassing {
    pub(crate) case: PathBuf,
    pub(crate) backend: String,
    pub(crate) outcome: String,
    pub(crate) why: String,
}

/// Runs the node tests in a folder on engines, and writes the table.
pub(crate) fn run(tests: &Path, on: &[String], program: Option<&Path>) -> Result<()> {
    let root = root();
    let tests = tests.canonicalize().with_context(|| format!("there is no {}", tests.display()))?;
    let program = onnxsmith(program, Build::Release, FEATURES)?;
    let mut results = Vec::new();
    for engine in on {
        eprintln!("{engine} …");
        results.push(replay(&root, &program, &tests, engine)?);
    }
    let page = std::fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let Some((before, (_, after))) =
        page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)))
    else {
        bail!("{PAGE} lacks the lines `{}` and `{}`", BEGIN.trim(), END.trim());
    };
    let page = format!("{before}{BEGIN}{}{END}{after}", table(&results));
    bring_up_to_date(&root, PAGE, &page, Mode::Write, "engines")
}

/// The cases in a folder on all levels of engines. One engine a run keeps figures apart from what others do to the machine.
pub(crate) fn replay(root: &Path, program: &Path, tests: &Path, engine: &str) -> Result<Replayed> {
    let mut command = Command::new(program);
    command
        .current_dir(root)
        .args(["run", "--quiet", "--json", "--timeout", TIMEOUT, "--on", engine])
        .arg(tests);
    let output = command.output().with_context(|| format!("cannot run {}", program.display()))?;
    // 1 means that something did not pass, which the table is about.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "`onnxsmith run --on {engine}` failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("the results are not the JSON of `onnxsmith run`")
}

/// One line for each engine and level; levels with the same counts share one.
fn table(results: &[Replayed]) -> String {
    let mut out = format!("| engine | level | version | {} |\n", OUTCOMES.join(" | "));
    out += &format!("|---|---|---|{}\n", "---:|".repeat(OUTCOMES.len()));
    for replayed in results {
        let mut lines: Vec<(Vec<&str>, &BTreeMap<String, u64>)> = Vec::new();
        for (target, counts) in &replayed.backends {
            match lines.iter_mut().find(|(_, same)| *same == counts) {
                Some((targets, _)) => targets.push(target),
                None => lines.push((vec![target], counts)),
            }
        }
        for (targets, counts) in lines {
            let engine = targets[0].split(':').next().unwrap_or_default();
            let levels: Vec<&str> = targets.iter().filter_map(|t| Some(t.split_once(':')?.1)).collect();
            let version = replayed.versions.get(targets[0]).map_or("", String::as_str);
            let counts = OUTCOMES.map(|outcome| counts.get(outcome).copied().unwrap_or(0).to_string());
            out += &format!("| {engine} | {} | {version} | {} |\n", levels.join(", "), counts.join(" | "));
        }
    }
    let cases = results.iter().map(|r| r.cases).max().unwrap_or(0);
    out + &format!("\n{cases} cases.\n")
}
