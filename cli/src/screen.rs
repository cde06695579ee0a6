//! What a person sees while a command works: on standard error, so that standard output stays machine-readable.

use std::io::{ErrorKind, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::args::Common;

/// A progress bar, or nothing where there is no terminal or `--quiet` was given.
pub(crate) fn progress(common: Common, length: Option<u64>, what: &str) -> ProgressBar {
    if common.quiet {
        return ProgressBar::hidden();
    }
    let template = match length {
        Some(_) => "{prefix} {bar:30} {pos}/{len} ({per_sec}) {msg}",
        None => "{prefix} {spinner} {elapsed} {pos} ({per_sec}) {msg}",
    };
    let bar = match length {
        Some(length) => ProgressBar::new(length),
        None => ProgressBar::new_spinner(),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_prefix(what.to_owned())
}

/// Says something on standard error, unless `--quiet` was given.
pub(crate) fn tell(common: Common, what: &str) {
    if !common.quiet {
        say(what);
    }
}

/// Prints a value as the command's one JSON object.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Prints text as the command's result.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    print(text)
}

/// Says something to a person. Where nobody can hear it, nothing is lost.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A reader that has closed the pipe (`| head`) has had enough: that is no error, and the exit code is what it would be.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}
