//! How far a command is: a bar on a terminal, and elsewhere a line now and then, so that a log shows that it still works.

use std::ops::Deref;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;
use crate::screen;

/// How often a bar shows that time passes, and how often a line does where there is no bar.
const TICK: Duration = Duration::from_secs(1);
pub(crate) const LINES: Duration = Duration::from_secs(30);

/// How far a command is. What is shown ends with it.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Ends the lines when it is dropped.
    _lines: Option<Sender<()>>,
}

impl Progress {
    /// A bar for `length` steps, if the number is known. Hidden with `--quiet`.
    pub(crate) fn new(common: Common, length: Option<u64>, what: &str) -> Self {
        if common.quiet {
            return Self { bar: ProgressBar::hidden(), _lines: None };
        }
        let bar = bar(length, what);
        if bar.is_hidden() {
            let lines = lines(bar.clone(), LINES, screen::say);
            return Self { bar, _lines: Some(lines) };
        }
        bar.enable_steady_tick(TICK);
        Self { bar, _lines: None }
    }
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar(length: Option<u64>, what: &str) -> ProgressBar {
    let template = match length {
        Some(_) => "{prefix} {bar:30} {pos}/{len} ({per_sec}) {elapsed} {msg}",
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

/// Says in a thread, now and then, how far a bar is that nobody sees, until it is finished or what is returned is dropped.
fn lines(bar: ProgressBar, every: Duration, say: impl Fn(&str) + Send + 'static) -> Sender<()> {
    let (sender, over) = mpsc::channel();
    thread::spawn(move || {
        while over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) && !bar.is_finished() {
            say(&line(&bar));
        }
    });
    sender
}

fn line(bar: &ProgressBar) -> String {
    let of = bar.length().map_or_else(String::new, |length| format!(" of {length}"));
    let seconds = Duration::from_secs(bar.elapsed().as_secs());
    format!("{}: {}{of} after {seconds:?}", bar.prefix(), bar.position())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nobody_sees_a_bar_lines_tell_how_far_it_is() {
        let hidden = |length, what: &'static str| {
            let bar = bar(length, what);
            bar.set_draw_target(ProgressDrawTarget::hidden());
            bar
        };
        let known = hidden(Some(7), "generating");
        known.inc(2);
        assert_eq!(line(&known), "generating: 2 of 7 after 0ns");
        assert_eq!(line(&hidden(None, "trying operators on x")), "trying operators on x: 0 after 0ns");

        let (told, heard) = mpsc::channel();
        let over = lines(known.clone(), Duration::from_millis(1), move |line| _ = told.send(line.to_owned()));
        assert!(heard.recv().is_ok_and(|line| line.starts_with("generating: 2 of 7 after ")));
        drop(over);
        assert!(heard.iter().count() < 10_000, "it ends");
    }
}
