//! `onnxsmith blame`

use std::fmt::Write as _;

use anyhow::{Context, bail};
use serde_json::json;
use triage::NotRun;
use triage::invent::UserInputs;
use triage::local::{Called, Judged, Local, Standing, Subject};
use triage::whole::Whole;

use super::{given, large, limits, targets};
use crate::args::{Blame, Common};
use crate::interrupts::Interrupts;
use crate::progress::Progress;
use crate::screen;
use campaign::Exit;
use campaign::exit::SearchEnd;

/// Judges each operator of a model on the operands that a backend itself has for it.
pub(crate) fn run(common: Common, args: &Blame) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::at_once()?;
    let given = UserInputs { large: large(args.means.large), ..given(&args.given)? };
    let subject = Subject::read(&args.model, &given, common.seed)
        .with_context(|| format!("{} is not judged", args.model.display()))?;
    let limits = limits(args.timeout, std::slice::from_ref(&args.model));
    let bar = Progress::new(common, None, "judging");
    let targets = targets(&args.on, &limits)?;
    interrupts.keep("the backend under way is finished, and all that were asked are told");
    let mut all = Vec::new();
    for target in targets.iter().take_while(|_| !interrupts.came()) {
        bar.set_message(target.name());
        let whole = subject.whole_on(target)?;
        let local = if args.whole { None } else { Some(subject.on(target)?) };
        all.push((whole, local));
    }
    bar.finish_and_clear();
    if common.json {
        let (whole, targets): (Vec<_>, Vec<_>) = all.iter().map(|(whole, local)| (whole, local)).unzip();
        let targets: Vec<&Local> = targets.into_iter().flatten().collect();
        screen::json(
            &json!({ "targets": targets, "whole": whole, "drawn": subject.drawn.sizes, "inputs_drawn": subject.drawn.values,
            "unknown": subject.unknown, "not_run": subject.not_run, "misdeclared": subject.misdeclared }),
        )?;
    } else {
        screen::told(&text(&subject, &all, args.all))?;
    }
    if all.len() < targets.len() {
        screen::say(&format!("onnxsmith: stopped after {} of {} backends", all.len(), targets.len()));
        return Ok(Exit::of(SearchEnd { has_found: all.iter().any(is_wrong), was_interrupted: true }));
    }
    exit(&all)
}

/// Whether an answer, or an operator, is wrong.
fn is_wrong((whole, local): &(Whole, Option<Local>)) -> bool {
    whole.answer.is_wrong() || local.as_ref().is_some_and(|local| local.first_wrong().is_some())
}

/// What is wrong counts before what could not be done.
fn exit(all: &[(Whole, Option<Local>)]) -> anyhow::Result<Exit> {
    let is_told = |(whole, local): &&(Whole, Option<Local>)| {
        whole.answer.is_told() || local.as_ref().is_some_and(Local::is_told)
    };
    let (told, idle): (Vec<_>, Vec<_>) = all.iter().partition(is_told);
    let idle: Vec<&str> = idle.iter().map(|(whole, _)| whole.target.as_str()).collect();
    let why = format!("nothing could be judged on {}", idle.join(", "));
    if told.is_empty() {
        bail!("{why}");
    }
    if !idle.is_empty() {
        screen::say(&format!("onnxsmith: {why}"));
    }
    Ok(if all.iter().any(is_wrong) { Exit::Findings } else { Exit::Clean })
}

fn text(subject: &Subject, all: &[(Whole, Option<Local>)], shows_all: bool) -> String {
    let mut out = String::new();
    for (said, targets) in alike(all, shows_all) {
        let _ = write!(out, "{}:{said}", targets.join(", "));
    }
    if !subject.drawn.is_empty() {
        let _ = writeln!(out, "{}", subject.drawn.in_words());
    }
    if !subject.unknown.is_empty() {
        let unknown: Vec<&str> = subject.unknown.iter().map(String::as_str).collect();
        let _ = writeln!(out, "numbers stand for what is not known here: {}", unknown.join(", "));
    }
    if let Some(not_run) = NotRun::told(subject.not_run.iter()) {
        let _ = writeln!(out, "{not_run}");
    }
    if let Some(why) = &subject.misdeclared {
        let _ = writeln!(out, "run without the shapes that the model declares: {why}");
    }
    out
}

/// The text about each backend. Each text stands once, with the names of all backends that it is about.
fn alike(all: &[(Whole, Option<Local>)], shows_all: bool) -> Vec<(String, Vec<&str>)> {
    let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
    for (whole, local) in all {
        let operators =
            local.as_ref().map_or_else(|| "\n".to_owned(), |local| each_operator(local, shows_all));
        let said = operators + &end_to_end(whole);
        match alike.iter_mut().find(|(other, _)| *other == said) {
            Some((_, targets)) => targets.push(&whole.target),
            None => alike.push((said, vec![&whole.target])),
        }
    }
    alike
}

/// How the operators stand.
fn each_operator(local: &Local, shows_all: bool) -> String {
    const ALWAYS: [Standing; 5] =
        [Standing::Right, Standing::Suspect, Standing::Wrong, Standing::Open, Standing::Untold];
    let mut standings = ALWAYS.to_vec();
    standings.extend((local.count(Standing::Dear) > 0).then_some(Standing::Dear));
    let standings: Vec<String> = standings
        .into_iter()
        .map(|standing| format!("{} {}", local.count(standing), standing.name()))
        .collect();
    let mut out = format!(" {} operators: {}\n", local.operators.len(), standings.join(", "));
    for judged in local.operators.iter().filter(|judged| shows_all || is_told(judged.standing)) {
        let _ = writeln!(out, "    {}", line(judged));
    }
    if let Some(first) = local.first_wrong() {
        let _ = writeln!(out, "    the first that is wrong is {}", called(first));
    }
    if local.changed_by_taps {
        out += "    it gives other outputs where it need not tell the values within: what only a fusion gets wrong, this does not see\n";
    }
    out
}

/// The model as a whole: its answer, and whether its bounds say anything.
fn end_to_end(whole: &Whole) -> String {
    let why = if whole.why.is_empty() { String::new() } else { format!(": {}", whole.why.trim_end()) };
    let mut out = format!("    end to end: {}{why}\n", whole.answer.name());
    for reach in whole.outputs.iter().filter(|reach| !reach.says_something()) {
        let bound =
            reach.bound.map_or_else(|| "infinite".to_owned(), |bound| format!("{bound:.2e} of the value"));
        let _ = writeln!(out, "        the bound of `{}` says nothing: it is {bound}", reach.name);
    }
    out
}

/// Whether an operator is worth a line.
fn is_told(standing: Standing) -> bool {
    matches!(standing, Standing::Wrong | Standing::Suspect)
}

fn line(judged: &Judged) -> String {
    let Judged { types, standing, why, used, .. } = judged;
    let why = match why.trim_end() {
        "" if *used > 0.0 => format!(": {:.0} % of its bound", 100.0 * used),
        "" => String::new(),
        why => format!(": {why}"),
    };
    format!("{} {} → {}{why}", standing.name(), called(judged), types.join(", "))
}

/// The operator, and what the model calls it.
fn called(judged: &Judged) -> String {
    let Judged { node, called: Called { name, value }, op, .. } = judged;
    let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    let value = if value.is_empty() { String::new() } else { format!(", gives `{value}`") };
    format!("{op}{name} (%{node}{value})")
}
