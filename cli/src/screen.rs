//! What a person sees while a command works: on standard error, so that standard output stays machine-readable.

use std::io::{ErrorKind, Write};

use anyhow::Context;
use present::outside::Outside;
use serde::Serialize;

use crate::args::Common;

/// Says something on standard error, unless `--quiet` was given.
pub(crate) fn tell(common: Common, what: &str) {
    if !common.quiet {
        say(what);
    }
}

/// Prints a value as the command's one JSON object, its keys in the order of the alphabet.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(&serde_json::to_value(value)?)?)
}

/// Prints text as the command's result, as it is: a program may read it.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    print(text)
}

/// Prints text as the command's result for a person: what engines say is in it.
pub(crate) fn told(text: &str) -> anyhow::Result<()> {
    print(&harmless(text))
}

/// Says something to a person. Where nobody can hear it, nothing is lost.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

/// The most characters of a line: engines say what they like, and some say megabytes.
const LONGEST: usize = 2000;

/// Text as it may go to a terminal: what engines and models say in it moves no cursor, and no line goes on for pages.
fn harmless(text: &str) -> String {
    let text = Outside(text).lines();
    let each = text.split('\n').map(|line| match line.char_indices().nth(LONGEST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} … and {} characters more", &line[..end], line[end..].chars().count()),
    });
    each.collect::<Vec<_>>().join("\n")
}

/// A reader that has closed the pipe (`| head`) has had enough: that is no error, and the exit code is what it would be.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to standard output"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_engines_say_moves_no_cursor_and_does_not_go_on_for_pages() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\tc\nd\n"), "ab␍\tc\nd");
        let long = harmless(&"é".repeat(LONGEST + 7));
        assert!(long.ends_with("é … and 7 characters more") && long.chars().count() < LONGEST + 30);
    }
}
