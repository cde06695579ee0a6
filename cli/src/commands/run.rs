//! `onnxsmith run`

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;
use campaign::replay::{
    Drawn, Grade, Misdeclared, Naming, NotPassing, OracleRecord, Replay, Replayed, Settled, SuspectsCount,
    Unjudged, Untried, misfits, own_case, replay,
};
use harness::Target;
use oracles::Tolerance;
use present::shell;
use serde_json::json;
use triage::NotRun;
use triage::invent::UserInputs;
use triage::oracle::Oracles;

use super::fuzz::known;
use super::junit_file::JunitFile;
use super::{flags, given, jobs, large, late_fault, late_faults, limits, targets, writable_folder};
use crate::args::{Common, Inputs, Run};
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::screen;
use campaign::Exit;
use campaign::exit::SearchEnd;
use campaign::late::{LateFault, certain};

/// Runs saved cases and compares.
pub(crate) fn run(common: Common, args: &Run) -> anyhow::Result<Exit> {
    let junit = JunitFile::of("onnxsmith run", args.junit.as_deref());
    junit.ended(replayed(common, args, &junit))
}

fn replayed(common: Common, args: &Run, junit: &JunitFile<'_>) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::at_once()?;
    let cases = triage::stored::find(&args.paths)?;
    if cases.is_empty() {
        bail!("there is no case folder and no .onnx or .onnxtxt file in {}", names(args));
    }
    let given = UserInputs { large: large(args.means.large), ..given(&args.given)? };
    about_these(&cases, &given)?;
    let list = known(args.known.as_deref())?;
    let targets = targets(&args.on, &limits(args.patience.timeout, &cases))?;
    if let Some(out) = &args.out {
        outside_of_cases(&cases, out)?;
    }
    writable_folder("--out", args.out.as_deref())?;
    junit.check()?;
    interrupts.keep("the cases under way are finished, and all that have run are told");
    let how = Replay {
        targets: &targets,
        jobs: jobs(args.at_once.jobs),
        out: args.out.as_deref(),
        tolerance: tolerance(args),
        seed: common.seed,
        given,
        naming: if args.known.is_some() { Naming::Every } else { Naming::OfCampaigns },
        oracles: Oracles::named(&args.oracles, &args.related.relations)?,
        stop: &|| interrupts.came(),
    };
    let bar = Progress::new(common, Some(cases.len() as u64), "running");
    let replayed = replay(&cases, &how, &|| bar.inc(1));
    bar.finish_and_clear();
    let suspects = if args.fail_on_suspect { SuspectsCount::Fail } else { SuspectsCount::Pass };
    let settled = replayed.settle(&list, suspects);
    let idle: Vec<&str> = replayed.nothing_compared().collect();
    if common.json {
        screen::json(&all_json(&replayed, &settled, &idle)?)?;
    } else {
        let further = Further {
            targets: &targets,
            inputs: &args.given,
            common,
            settled: &settled,
            has_list: args.known.is_some(),
        };
        screen::told(&summary(&replayed, &further))?;
    }
    junit.write(&settled.results())?;
    let failed = settled.has_found();
    match usable(&replayed) {
        // What is wrong counts before what could not be done.
        Err(why) if failed => screen::say(&format!("onnxsmith: {why}")),
        usable => usable?,
    }
    if replayed.left_out > 0 {
        let all = replayed.cases + replayed.left_out;
        screen::say(&format!("onnxsmith: stopped after {} of {all} cases", replayed.cases));
        return Ok(Exit::of(SearchEnd { has_found: failed, was_interrupted: true }));
    }
    if idle.len() == replayed.backends.len() {
        bail!("nothing was compared{}", first_reason(&replayed));
    }
    if !idle.is_empty() {
        screen::say(&format!("onnxsmith: nothing was compared on {}", idle.join(", ")));
    }
    Ok(if failed { Exit::Findings } else { Exit::Clean })
}

/// All that came of the cases, and what is known of it.
fn all_json(replayed: &Replayed, settled: &Settled<'_>, idle: &[&str]) -> anyhow::Result<serde_json::Value> {
    let mut all = serde_json::to_value(replayed)?;
    for (number, answer) in replayed.not_passing.iter().enumerate() {
        all["not_passing"][number]["known"] = json!(settled.known(answer));
    }
    all["nothing_compared"] = json!(idle);
    all["known"] = json!(settled.counts().1);
    all["late_known"] = json!(settled.late_known);
    Ok(all)
}

/// Requires that outputs are not written into the case folders that are run.
fn outside_of_cases(cases: &[PathBuf], out: &Path) -> anyhow::Result<()> {
    match own_case(cases, out) {
        Some(case) => bail!(
            "--out {} puts outputs into {}, which is a case that is run; --out takes another folder",
            out.display(),
            case.display()
        ),
        None => Ok(()),
    }
}

/// Requires that what is given of inputs is about the cases, before any is run.
fn about_these(cases: &[PathBuf], given: &UserInputs) -> anyhow::Result<()> {
    match &misfits(cases, given)[..] {
        [] => Ok(()),
        [(case, why)] => bail!("{}: {why}", case.display()),
        several => {
            let lines: Vec<String> =
                several.iter().map(|(case, why)| format!("{}: {why}", case.display())).collect();
            bail!(
                "what is given is not about {} of {} cases:{}",
                several.len(),
                cases.len(),
                indented(&lines)
            )
        }
    }
}

/// Names the cases that cannot be used, and those that could not be run. What came of the others is told before.
fn usable(replayed: &Replayed) -> anyhow::Result<()> {
    let broken = replayed.broken();
    if !broken.is_empty() {
        let all = format!("{} of {} cases cannot be used:", broken.len(), replayed.cases);
        bail!("{all}{}", listed(&broken, |case| case.case.display().to_string()));
    }
    let troubles: Vec<&NotPassing> = replayed.troubles().collect();
    if !troubles.is_empty() {
        let place = |case: &NotPassing| format!("{} on {}", case.case.display(), case.backend);
        bail!("{} answers could not be had:{}", troubles.len(), listed(&troubles, place));
    }
    Ok(())
}

/// The first of some cases, a line each, with why they are there.
fn listed(cases: &[&NotPassing], place: impl Fn(&NotPassing) -> String) -> String {
    let lines: Vec<String> =
        cases.iter().map(|case| format!("{}: {}", place(case), within(&case.why))).collect();
    indented(&lines)
}

/// The first of some lines, and how many others there are.
fn indented(lines: &[String]) -> String {
    let shown = lines.iter().take(SHOWN).map(|line| format!("\n  {line}"));
    let more = (lines.len() > SHOWN).then(|| format!("\n  and {} more", lines.len() - SHOWN));
    shown.chain(more).collect()
}

/// How many cases an error names.
const SHOWN: usize = 10;

/// An example of why nothing was compared.
fn first_reason(replayed: &Replayed) -> String {
    let first = replayed.not_passing.first();
    first.map_or_else(String::new, |NotPassing { case, backend, outcome, why, .. }| {
        format!(": {} on {backend}: {}: {why}", case.display(), outcome.name())
    })
}

fn names(args: &Run) -> String {
    args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The tolerance on the command line, completed by ONNX's own.
fn tolerance(args: &Run) -> Option<Tolerance> {
    let given = args.rtol.is_some() || args.atol.is_some();
    given.then(|| Tolerance {
        relative: args.rtol.unwrap_or(Tolerance::ONNX.relative),
        absolute: args.atol.unwrap_or(Tolerance::ONNX.absolute),
    })
}

/// What it takes to ask further.
struct Further<'r> {
    targets: &'r [Target],
    /// What is given of the inputs.
    inputs: &'r Inputs,
    common: Common,
    /// What is known of what does not pass.
    settled: &'r Settled<'r>,
    /// Whether there is a list that it could be known by.
    has_list: bool,
}

impl Further<'_> {
    /// The command that says which operator it is.
    fn blame(&self, case: &Path, backend: &str) -> Option<String> {
        let target = self.targets.iter().find(|target| target.name() == backend)?;
        Some(shell::blame(case, &target.on(), &flags(case, self.inputs, self.common)))
    }
}

/// What the backends made of one case. Backends of which the same is told stand together.
fn alike<'c>(of_case: &'c [NotPassing], settled: &Settled<'_>) -> Vec<(&'c NotPassing, Vec<&'c str>)> {
    let mut all: Vec<(&NotPassing, Vec<&str>)> = Vec::new();
    let known = |case: &NotPassing| settled.known(case).map(str::to_owned);
    let told = |case: &NotPassing| (case.outcome, case.why.clone(), case.signatures.clone(), known(case));
    for case in of_case {
        match all.iter_mut().find(|(first, _)| told(first) == told(case)) {
            Some((_, backends)) => backends.push(&case.backend),
            None => all.push((case, vec![&case.backend])),
        }
    }
    all
}

/// What was said, its later lines below the line that it begins in.
fn within(said: &str) -> String {
    said.trim_end().replace('\n', "\n        ")
}

fn not_passing(of_case: &[NotPassing], further: &Further<'_>) -> String {
    let mut out = String::new();
    for (not_passing, backends) in alike(of_case, further.settled) {
        let NotPassing { case, backend, outcome, why, signatures, .. } = not_passing;
        let why = within(why);
        out += &format!("{} on {}: {}: {why}\n", case.display(), backends.join(", "), outcome.name());
        out.extend(signatures.iter().map(|signature| format!("    {signature}\n")));
        out.extend(further.settled.known(not_passing).map(|place| format!("    known: {place}\n")));
        let is_off = matches!(outcome, Grade::Mismatch | Grade::Suspect);
        let command = (is_off && !not_passing.is_named()).then(|| further.blame(case, backend)).flatten();
        out.extend(command.map(|command| format!("    {command}\n")));
    }
    out
}

fn summary(replayed: &Replayed, further: &Further<'_>) -> String {
    let mut out = format!("{} case{}\n", replayed.cases, if replayed.cases == 1 { "" } else { "s" });
    for (backend, counts) in &replayed.backends {
        let counts: Vec<String> = counts
            .each()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        out += &format!("{backend}: {}\n", counts.join(", "));
    }
    out += &late_faults(&replayed.late_faults);
    if further.has_list {
        let (wrong, known) = further.settled.counts();
        out += &format!("{known} of {wrong} wrong answers are known\n");
    }
    out += &numbered(further.targets);
    for of_case in replayed.not_passing.chunk_by(|one, other| one.case == other.case) {
        out += &not_passing(of_case, further);
    }
    for about in replayed.asked.chunk_by(is_same_oracle) {
        out += &asked(about);
    }
    out += &made_up(replayed);
    for Drawn { case, drawn } in &replayed.drawn {
        out += &format!("{}: {}\n", case.display(), drawn.in_words());
    }
    for Unjudged { case, operators } in &replayed.unjudged {
        let operators: Vec<&str> = operators.iter().map(String::as_str).collect();
        out +=
            &format!("{}: nothing is said of what follows from {}\n", case.display(), operators.join(", "));
    }
    for Untried { case, bodies } in &replayed.not_run {
        out.extend(NotRun::told(bodies.iter()).map(|told| format!("{}: {told}\n", case.display())));
    }
    for Misdeclared { case, why } in &replayed.misdeclared {
        out += &format!("{}: run without the shapes that it declares: {why}\n", case.display());
    }
    out + &late(replayed, further.settled)
}

/// Of how many models the inputs were made up.
fn made_up(replayed: &Replayed) -> String {
    match replayed.made_up {
        0 => String::new(),
        made_up => format!(
            "inputs were made up for {made_up} of {} cases, which come without data (--seed makes others, --input gives them)\n",
            replayed.cases
        ),
    }
}

/// What is wrong with processes that no case shows by itself and no list has, and how to go on.
fn late(replayed: &Replayed, settled: &Settled<'_>) -> String {
    let told = |late: LateFault<'_>| {
        let cases = replayed.late_cases.get(late.backend).into_iter().flatten();
        let cases: Vec<String> = cases.take(SHOWN).map(|case| case.display().to_string()).collect();
        late_fault(&late, &cases, "the same cases with --jobs 1 run in their order, in one process")
    };
    let is_new = |late: &LateFault<'_>| !settled.late_known.contains_key(&late.to_string());
    certain(&replayed.late_faults).filter(is_new).map(told).collect()
}

/// Which command is which engine, where programs give the same name.
fn numbered(targets: &[Target]) -> String {
    let has_number = |target: &Target| target.backend.contains('#');
    let shared: BTreeSet<&str> = targets
        .iter()
        .filter(|target| has_number(target))
        .filter_map(|t| t.backend.split('#').next())
        .collect();
    let engines = targets.chunk_by(Target::is_beside).map(|levels| &levels[0]);
    let is_shared =
        |target: &&Target| target.backend.split('#').next().is_some_and(|name| shared.contains(name));
    let told = |target: &Target| format!("{} is {}\n", target.backend, target.engine);
    engines.filter(is_shared).map(told).collect()
}

fn is_same_oracle(one: &OracleRecord, other: &OracleRecord) -> bool {
    (&one.case, &one.backend, &one.oracle) == (&other.case, &other.backend, &other.oracle)
}

/// What one oracle says of a case on a backend: how many of its questions came out how, and those that did not pass.
fn asked(about: &[OracleRecord]) -> String {
    let Some(OracleRecord { case, backend, oracle, .. }) = about.first() else { return String::new() };
    let mut counts: BTreeMap<Option<Grade>, usize> = BTreeMap::new();
    for asked in about {
        *counts.entry(asked.outcome).or_default() += 1;
    }
    let counted = |(outcome, count): (Option<Grade>, usize)| {
        format!("{count} {}", outcome.map_or("not applicable", Grade::name))
    };
    let counts: Vec<String> = counts.into_iter().rev().map(counted).collect();
    let mut out = format!("{} on {backend}: {oracle}: {}\n", case.display(), counts.join(", "));
    for OracleRecord { question, outcome, why, signatures, .. } in about {
        if let Some(outcome) = outcome.filter(|outcome| *outcome != Grade::Pass) {
            out += &format!("    {question}: {}: {}\n", outcome.name(), within(why));
            out.extend(signatures.iter().map(|signature| format!("        {signature}\n")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_several_lines_stands_below_its_first() {
        assert_eq!(within("no kernel:\n  Conv\n"), "no kernel:\n          Conv");
    }
}
