//! `cargo xtask corpus`: the list of known findings and the pages of `corpus/`, made from the findings there, and whether
//! those are complete.
//!
//! `corpus/ENGINE-VERSION/NAME/finding.toml` is the one place that tells of a finding; `known.toml`, `corpus/README.md` and a
//! page for each engine are written from it. With `--add` a saved case becomes a finding, as far as that goes without a
//! person.

mod add;
mod complete;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;
use triage::known::{Date, Entry, FILE, WriteUp};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// The folder of all findings.
const CORPUS: &str = "corpus";
/// What is said of an engine.
const ENGINE: &str = "engine.toml";
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

/// All findings, by engine.
struct Corpus {
    engines: Vec<Engine>,
}

/// The findings in one version of an engine.
struct Engine {
    /// The name of the folder, such as `rten-0.27`.
    folder: String,
    about: About,
    /// By name, sorted.
    findings: Vec<(String, WriteUp)>,
}

/// The keys of [`ENGINE`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    /// The engine and its version, for readers.
    title: String,
    /// What it is called in signatures.
    engine: String,
    /// What stands before the table.
    before: String,
    /// What stands after it.
    #[serde(default)]
    after: String,
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
    let corpus = Corpus::read(root)?;
    let mut wrong = corpus.lacks(root, today);
    if mode == Mode::Check {
        wrong.extend(corpus.without_finding(root));
    }
    for (file, text) in corpus.files() {
        wrong.extend(bring_up_to_date(root, &file, &text, mode, "corpus").err().map(|e| format!("{e:#}")));
    }
    ensure!(
        wrong.is_empty(),
        "{} things are wrong with the findings in {CORPUS}/:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("{} findings, {} signatures", corpus.findings().count(), corpus.entries().count());
    Ok(())
}

impl Corpus {
    /// Reads all findings under the root.
    fn read(root: &Path) -> Result<Self> {
        let mut wrong = Vec::new();
        let mut engines = Vec::new();
        for folder in folders(&root.join(CORPUS))? {
            let at = root.join(CORPUS).join(&folder);
            let mut findings = Vec::new();
            for name in folders(&at)? {
                match finding(root, &Path::new(CORPUS).join(&folder).join(&name).join(FILE)) {
                    Ok(finding) => findings.push((name, finding)),
                    Err(e) => wrong.push(format!("{e:#}")),
                }
            }
            match about(&at.join(ENGINE)) {
                Ok(about) => engines.push(Engine { folder, about, findings }),
                Err(e) => wrong.push(format!("{e:#}")),
            }
        }
        if !wrong.is_empty() {
            bail!("{}", wrong.join("\n"));
        }
        Ok(Self { engines })
    }

    /// The findings, with their engines and folders.
    fn findings(&self) -> impl Iterator<Item = (&Engine, String, &WriteUp)> {
        self.engines.iter().flat_map(|engine| {
            engine
                .findings
                .iter()
                .map(move |(name, finding)| (engine, format!("{CORPUS}/{}/{name}", engine.folder), finding))
        })
    }

    /// The list of known findings.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.findings().flat_map(|(_, folder, finding)| finding.entries(&folder))
    }
}

/// A finding, whose file is called as it is in the repository.
fn finding(root: &Path, file: &Path) -> Result<WriteUp> {
    let text =
        fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(WriteUp::parse(&text, file)?)
}

fn about(file: &Path) -> Result<About> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

/// The folders of all engines, from the root.
pub(crate) fn engines(root: &Path) -> Result<Vec<String>> {
    Ok(folders(&root.join(CORPUS))?.into_iter().map(|name| format!("{CORPUS}/{name}")).collect())
}

/// The names of the folders in one, sorted.
fn folders(path: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let paths = paths.with_context(|| format!("cannot list {}", path.display()))?;
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = paths.into_iter().filter(|path| path.is_dir()).filter_map(name).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
