//! `onnxsmith corpus`

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use campaign::Exit;
use campaign::corpus::{Revisited, Standing, findings, revisit};
use campaign::exit::SearchEnd;
use harness::Target;
use harness::target::OpenError;
use serde_json::json;
use triage::known::{self, ENGINE};
use worker::Limits;

use super::{jobs, targets};
use crate::args::{Common, Corpus};
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::screen;

/// Runs the findings that are written up on the engines that they accuse.
pub(crate) fn run(common: Common, args: &Corpus) -> anyhow::Result<Exit> {
    if !args.folder.is_dir() {
        let folder = args.folder.display();
        bail!(
            "there is no folder {folder}; findings that are written up are in `corpus` of a checkout of onnxsmith: `onnxsmith corpus FOLDER`"
        );
    }
    let interrupts = Interrupts::at_once()?;
    let (corpus, around) = read(&args.folder)?;
    let limits = args.patience.limits();
    let engines = corpus.engines.iter().map(|engine| engine.about.engine.as_str()).collect();
    let Opened { targets, not_opened } = open(&engines, &args.on, &limits)?;
    let count = findings(&corpus, &targets).count();
    if count == 0 {
        let why: Vec<String> =
            not_opened.iter().map(|(engine, why)| format!("\n  {engine}: {why}")).collect();
        bail!("{} has no finding of an engine that can be run{}", args.folder.display(), why.concat());
    }
    let bar = Progress::new(common, Some(count as u64), "running");
    interrupts.keep("the findings under way are finished, and all that have run are told");
    let stop = || interrupts.came();
    let all = revisit(&corpus, &around, &targets, jobs(args.jobs), &stop, &|| bar.inc(1));
    bar.finish_and_clear();
    if common.json {
        screen::json(&json!({ "findings": all, "not_opened": not_opened }))?;
    } else {
        screen::told(&text(&all))?;
    }
    for (engine, why) in &not_opened {
        screen::say(&format!("onnxsmith: the findings of {engine} were not run: {why}"));
    }
    let was_interrupted = all.len() < count;
    if was_interrupted {
        screen::say(&format!("onnxsmith: stopped after {} of {count} findings", all.len()));
    }
    Ok(Exit::of(SearchEnd { has_found: !all.iter().all(Revisited::holds), was_interrupted }))
}

/// The findings of a folder, and the folder that their names are from: `rten-0.27/sign-zero`. One engine's folder is a corpus of its
/// findings alone.
fn read(folder: &Path) -> anyhow::Result<(known::Corpus, PathBuf)> {
    let has_engine = |folder: &Path| folder.join(ENGINE).is_file();
    if has_engine(folder) {
        // Its name is that of the folder, however it is given.
        let whole = fs::canonicalize(folder).with_context(|| format!("cannot open {}", folder.display()))?;
        if let (Some(corpus), Some(name)) = (whole.parent(), whole.file_name()) {
            let read = known::Corpus::of_engine(corpus, name.to_string_lossy().into_owned())?;
            return Ok((read, corpus.to_owned()));
        }
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    if !entries.flatten().any(|entry| has_engine(&entry.path())) {
        bail!(
            "{} holds no findings: neither it nor a folder in it has an {ENGINE}; give a folder such as `corpus` of a checkout of \
             onnxsmith, or one engine's in it, such as `corpus/rten-0.27`",
            folder.display()
        );
    }
    Ok((known::Corpus::read(folder)?, folder.to_owned()))
}

/// Engines that findings accuse.
pub(super) struct Opened {
    pub(super) targets: Vec<Target>,
    /// The accused engines that are not there, and why.
    pub(super) not_opened: BTreeMap<String, String>,
}

/// Opens the engines in `on`. If there are none, opens the accused engines that are there.
pub(super) fn open(engines: &BTreeSet<&str>, on: &[String], limits: &Limits) -> anyhow::Result<Opened> {
    if !on.is_empty() {
        return Ok(Opened { targets: targets(on, limits)?, not_opened: BTreeMap::new() });
    }
    let mut opened = Opened { targets: Vec::new(), not_opened: BTreeMap::new() };
    for &engine in engines {
        match targets(&[engine.to_owned()], limits) {
            Ok(levels) => opened.targets.extend(levels),
            Err(e) => {
                opened.not_opened.insert(engine.to_owned(), not_there(engine, &e));
            }
        }
    }
    Ok(opened)
}

/// Why an engine is not there. A list has the name that a runner gives itself, and not its command.
fn not_there(engine: &str, why: &anyhow::Error) -> String {
    match why.downcast_ref() {
        Some(OpenError::Unknown { .. }) => {
            format!(
                "there is no backend `{engine}`; if it is a runner of yours, --on 'cmd:…' says how it is started"
            )
        }
        _ => format!("{why:#}"),
    }
}

/// A table of engines, then what somebody should look at.
fn text(all: &[Revisited]) -> String {
    let mut counts: BTreeMap<(&str, &str), BTreeMap<Standing, usize>> = BTreeMap::new();
    for one in all {
        *counts.entry((&one.engine, &one.version)).or_default().entry(one.standing).or_default() += 1;
    }
    let mut out = String::new();
    for ((engine, version), of) in counts {
        let each = Standing::ALL.map(|s| format!("{} {}", of.get(&s).copied().unwrap_or(0), s.name()));
        out += &format!("{engine} {version}: {}\n", each.join(", "));
    }
    for one in all.iter().filter(|one| one.standing != Standing::Shown) {
        let Revisited { finding, standing, levels, seen, is_about_version, .. } = one;
        let other = if *is_about_version { "" } else { " (written up for another version)" };
        out += &format!("{finding}{other}: {} at {}: {seen}\n", standing.name(), levels.join(", "));
    }
    out
}
