//! `cargo xtask corpus`: the list of known findings and the pages of `corpus/`, made from the findings there, and whether
//! those are complete.
//!
//! `corpus/ENGINE-VERSION/NAME/finding.toml` is the one place that tells of a finding; `known.toml`, `corpus/README.md` and a
//! page for each engine are written from it. With `--add` a saved case becomes a finding, as far as that goes without a
//! person.

mod add;
mod complete;
mod pages;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use triage::known::{Corpus, Date, KnownEntry};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// The folder of all findings.
const CORPUS: &str = "corpus";
/// The list of known findings.
const KNOWN: &str = "known.toml";

/// What to do.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail if a checked-in file is stale
    #[arg(long, conflicts_with = "add")]
    check: bool,
    /// Make a finding of a saved case, such as `reduce` writes
    #[arg(long, value_name = "CASE", requires = "name")]
    add: Option<PathBuf>,
    /// What the new finding is called
    #[arg(long = "as", value_name = "ENGINE-VERSION/NAME", requires = "add")]
    name: Option<String>,
}

/// Reads, then writes or checks.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (root, today) = (root(), Date::today());
    match (&arguments.add, &arguments.name) {
        (Some(case), Some(name)) => add::add(&root, case, name, today),
        (_, _) => bring(&root, today, Mode::of(arguments.check)),
    }
}

/// Brings what is generated up to date, or checks that it is, and says what findings lack.
fn bring(root: &Path, today: Date, mode: Mode) -> Result<()> {
    let corpus = Corpus::read(&root.join(CORPUS))?;
    let mut wrong = complete::lacks(&corpus, root, today);
    if mode == Mode::Check {
        wrong.extend(complete::without_finding(&corpus, root));
    }
    for (file, text) in pages::files(&corpus) {
        wrong.extend(bring_up_to_date(root, &file, &text, mode, "corpus").err().map(|e| format!("{e:#}")));
    }
    ensure!(
        wrong.is_empty(),
        "{} things are wrong with the findings in {CORPUS}/:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("{} findings, {} signatures", corpus.findings().count(), entries(&corpus).count());
    Ok(())
}

/// The entries of the list of known findings.
fn entries(corpus: &Corpus) -> impl Iterator<Item = KnownEntry> {
    corpus.findings().flat_map(|(_, name, finding)| finding.entries(&folder(&name)))
}

/// The folder of a finding, from the root.
fn folder(name: &str) -> String {
    format!("{CORPUS}/{name}")
}

/// The folders of all engines, from the root.
pub(crate) fn engines(root: &Path) -> Result<Vec<String>> {
    let corpus = Corpus::read(&root.join(CORPUS))?;
    Ok(corpus.engines.iter().map(|engine| folder(&engine.folder)).collect())
}

#[cfg(test)]
mod tests;
