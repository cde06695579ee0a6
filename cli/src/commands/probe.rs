//! Finding out what an engine has, for `fuzz`, `gen --for` and `backends --probe`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use graphgen::Settings;
use harness::support::Lacking;
use harness::{Support, Target, probe, target};
use present::shell;
use worker::Limits;

use crate::args::Common;
use crate::progress::Progress;
use crate::screen;

/// Finds out what a target lacks, by trying, and tells what that took and gave. `stop` says whether to end early, with an error.
pub(super) fn find_out(
    common: Common,
    target: &mut Target,
    settings: &Settings,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<probe::Probed> {
    screen::tell(common, &format!("trying each operator on {}", target.name()));
    let started = Instant::now();
    let bar = Progress::new(common, None, &format!("models on {}", target.name()));
    let watch = probe::Watch { on_run: &|| bar.inc(1), stop };
    let probed = probe::probe(target, settings, probe::ProbeBudget::usual(jobs), watch);
    drop(bar);
    let probed = probed?;
    screen::tell(common, &told(&target.support, &probed, started.elapsed().as_secs_f64()));
    Ok(probed)
}

/// What a file tells of an engine.
pub(super) struct SupportFile {
    file: PathBuf,
    support: Support,
}

/// Reads what files tell of engines.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<SupportFile>> {
    let told = |file: &PathBuf| Ok(SupportFile { file: file.clone(), support: Support::read(file)? });
    files.iter().map(told).collect()
}

impl SupportFile {
    /// Fails unless it is told of one of these targets, in its version.
    pub(super) fn is_of_one_of(&self, targets: &[Target]) -> anyhow::Result<()> {
        let Self { file, support: Support { name, version, .. } } = self;
        let told = file.display();
        let mut named = targets.iter().filter(|target| self.names(target)).peekable();
        let Some(&other) = named.peek() else {
            let there: BTreeSet<&str> = targets.iter().map(|target| target.support.name.as_str()).collect();
            let there = there.into_iter().collect::<Vec<_>>().join(", ");
            let again = targets.iter().map(|target| shell::probe(&target.engine, Path::new("FILE"))).next();
            bail!(
                "{told} tells of {name}, and the campaign is on {there}; `{}` writes what an engine has",
                again.unwrap_or_default()
            );
        };
        if !named.any(|target| self.is_of(target)) {
            let now = &other.description().version;
            let again = shell::probe(&other.engine, file);
            bail!("{told} tells of {name} {version}, and this is {now}; `{again}` writes it again");
        }
        Ok(())
    }

    /// Whether it tells of an engine of the target's name. Of one that is started by a command that is its hello's,
    /// wherever it lies and whatever its flags; a file from before names were written has the command alone.
    fn names(&self, target: &Target) -> bool {
        self.is_of_command(target) || self.support.name == target.support.name
    }

    /// Whether it was written of the very command of a target.
    fn is_of_command(&self, target: &Target) -> bool {
        self.support.engine == target.engine
    }

    /// Whether it tells of the target's engine, in its version.
    fn is_of(&self, target: &Target) -> bool {
        self.names(target) && self.support.version == target.description().version
    }
}

/// Tells a target what it has, if one of the files is of this engine: that of its command before one of another.
pub(super) fn tell(target: &mut Target, files: &[SupportFile]) -> bool {
    let mut fitting: Vec<&SupportFile> = files.iter().filter(|file| file.is_of(target)).collect();
    fitting.sort_by_key(|file| !file.is_of_command(target));
    let Some(file) = fitting.first() else { return false };
    target.support = Arc::new(file.support.clone().as_of(&target.support));
    true
}

/// What came of a probe, in words.
fn told(support: &Support, probed: &probe::Probed, seconds: f64) -> String {
    let operators: BTreeSet<&str> = support.lacking().iter().map(|l| l.operator).collect();
    let opset = support.opset.map_or_else(String::new, |opset| format!(", loads opsets up to {opset}"));
    let functions = if support.functions { "" } else { ", has no functions" };
    let forms: Vec<&str> = support.lacking_forms().iter().map(|lacking| lacking.form).collect();
    let forms = if forms.is_empty() { String::new() } else { format!(", has no {}", forms.join(", ")) };
    let probe::Probed { runs, graphs, refused } = probed;
    format!(
        "{} lacks {} forms of {} operators{opset}{functions}{forms} ({runs} models in {seconds:.1} s; of the last {graphs} graphs \
         without these forms it says of {refused} that it lacks something)",
        support.engine,
        support.lacking().len(),
        operators.len(),
    )
}

/// What an engine, or a file that tells of one, has.
pub(super) fn support(
    common: Common,
    name: &str,
    settings: &Settings,
    jobs: usize,
    limits: &Limits,
) -> anyhow::Result<Support> {
    let file = Path::new(name);
    if file.is_file() {
        return Ok(Support::read(file)?);
    }
    let is_meant_as_file = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if is_meant_as_file && !name.starts_with("cmd:") {
        bail!("there is no file {name}; `onnxsmith backends --probe ENGINE --out {name}` writes one");
    }
    let target = target::open(name, limits)?.into_iter().next();
    let mut target = target.with_context(|| format!("{name} has no optimisation level"))?;
    // Nothing is kept before it is done: a signal ends the program at once.
    find_out(common, &mut target, settings, jobs, &|| false)?;
    Ok((*target.support).clone())
}

/// Requires that an engine loads one of the opsets that are asked for.
pub(super) fn check_opset(support: &Support, asked: Option<&RangeInclusive<u32>>) -> anyhow::Result<()> {
    match (support.opset, asked.map(RangeInclusive::start)) {
        (Some(newest), Some(&oldest)) if oldest > newest => {
            bail!("{} loads no opset above {newest}; --opset asks for {oldest}", support.engine)
        }
        _ => Ok(()),
    }
}

/// Requires that at least one of the targets has something that may be drawn.
pub(super) fn check_any(targets: &[Target], settings: &Settings) -> anyhow::Result<()> {
    let mut idle: Vec<String> = Vec::new();
    for Target { support, .. } in targets {
        if !support.narrow(settings.clone()).is_barren() {
            return Ok(());
        }
        let why = lacks_all(support, settings);
        if !idle.contains(&why) {
            idle.push(why);
        }
    }
    bail!("{}", idle.join("; "))
}

/// Why nothing can be drawn for an engine, with what it said of the first operator where it lacks them all.
fn lacks_all(support: &Support, settings: &Settings) -> String {
    let engine = &support.engine;
    let oldest = *ir::graph::OPSETS.start();
    if let Some(newest) = support.opset.filter(|&newest| newest < oldest) {
        return format!(
            "{engine} loads no opset from {oldest} on (the newest is {newest}), and no older one is drawn"
        );
    }
    let dtypes = settings.dtypes.intersection(support.dtypes);
    let mut lacking =
        support.lacking().iter().filter(|lacking| settings.operators.contains(lacking.operator));
    match lacking.next() {
        Some(Lacking { operator, said, .. }) if !(Settings { dtypes, ..settings.clone() }).is_barren() => {
            let said = if said.is_empty() {
                String::new()
            } else {
                format!("; of {operator}, the first, it says: {said}")
            };
            format!("{engine} lacks every operator that may be drawn{said}")
        }
        _ => format!("{engine} has none of the operators and dtypes that are asked for"),
    }
}

/// The settings without what an engine lacks.
pub(super) fn narrowed(
    support: &Support,
    settings: &Settings,
    opset: Option<&RangeInclusive<u32>>,
) -> anyhow::Result<Settings> {
    check_opset(support, opset)?;
    let narrowed = support.narrow(settings.clone());
    if narrowed.is_barren() {
        bail!("{}", lacks_all(support, settings));
    }
    Ok(narrowed)
}
