//! `onnxsmith blame`

use std::fmt::Write as _;

use serde_json::json;
use triage::local::{Judged, Local, Standing, Subject};
use worker::Limits;

use super::{given, targets};
use crate::args::{Blame, Common};
use crate::screen;
use campaign::Exit;

/// Judges each operator of a model on the operands that a backend itself has for it.
pub(crate) fn run(common: Common, args: &Blame) -> anyhow::Result<Exit> {
    let subject = Subject::read(&args.model, &given(&args.given)?, common.seed)?;
    let limits = Limits { timeout: args.timeout, ..Limits::default() };
    let bar = screen::progress(common, None, "judging");
    let mut all = Vec::new();
    for target in targets(&args.on, &limits)? {
        bar.set_message(target.name());
        all.push(subject.on(&target)?);
    }
    bar.finish_and_clear();
    if common.json {
        screen::json(&json!({ "targets": all, "drawn": subject.drawn }))?;
    } else {
        screen::text(&text(&subject, &all, args.all))?;
    }
    Ok(if all.iter().any(|local| local.first_wrong().is_some()) { Exit::Findings } else { Exit::Clean })
}

fn text(subject: &Subject, all: &[Local], shows_all: bool) -> String {
    let mut out = String::new();
    for local in all {
        let count = |standing: Standing| format!("{} {}", local.count(standing), standing.name());
        let standings =
            [Standing::Right, Standing::Suspect, Standing::Wrong, Standing::Open, Standing::Untold]
                .map(count);
        let _ =
            writeln!(out, "{}: {} operators: {}", local.target, local.operators.len(), standings.join(", "));
        for judged in local.operators.iter().filter(|judged| shows_all || is_told(judged.standing)) {
            let _ = writeln!(out, "    {}", line(judged));
        }
        if let Some(first) = local.first_wrong() {
            let _ = writeln!(out, "    the first that is wrong is {}", called(first));
        }
        if local.changed_by_taps {
            out += "    it gives other outputs where it need not tell the values within: what only a fusion gets wrong, this does not see\n";
        }
    }
    if !subject.drawn.is_empty() {
        let sizes: Vec<String> = subject.drawn.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let _ = writeln!(out, "sizes drawn: {}", sizes.join(", "));
    }
    out
}

/// Whether an operator is worth a line.
fn is_told(standing: Standing) -> bool {
    matches!(standing, Standing::Wrong | Standing::Suspect)
}

fn line(judged: &Judged) -> String {
    let Judged { types, standing, why, used, .. } = judged;
    let why = match why.as_str() {
        "" if *used > 0.0 => format!(": {:.0} % of its bound", 100.0 * used),
        "" => String::new(),
        why => format!(": {why}"),
    };
    format!("{} {} → {}{why}", standing.name(), called(judged), types.join(", "))
}

/// The operator, and what the model calls it.
fn called(judged: &Judged) -> String {
    let Judged { node, name, op, .. } = judged;
    if name.is_empty() { format!("{op} (%{node})") } else { format!("{op} `{name}` (%{node})") }
}
