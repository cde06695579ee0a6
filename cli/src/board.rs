//! A running campaign at a glance, drawn anew every second: `fuzz` on a terminal, and `watch` for one that runs
//! elsewhere. Both read the campaign's folder, so they show what is stored.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use campaign::Store;
use campaign::report::{Cluster, Report};
use campaign::store::{StoreError, Stored};
use console::{Term, truncate_str};
use triage::known::Known;

/// How often the board is drawn, and how often a thread looks whether it is to end.
const EVERY: Duration = Duration::from_secs(1);
const BLINK: Duration = Duration::from_millis(50);
/// How many seconds of running time the shown rate covers, counted back from the latest block.
const RECENT: f64 = 20.0;
/// So many findings, and so many engines, are shown.
const NEWEST: usize = 6;
const TARGETS: usize = 14;

/// How much a campaign is to do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// The most cases of this part.
    pub(crate) cases: Option<u64>,
    /// The most time.
    pub(crate) time: Option<Duration>,
}

/// A board on standard error.
pub(crate) struct Board {
    term: Term,
    drawn: usize,
}

impl Board {
    pub(crate) fn new() -> Self {
        Self { term: Term::stderr(), drawn: 0 }
    }

    /// Whether somebody can see it.
    pub(crate) fn is_seen(&self) -> bool {
        self.term.features().is_attended()
    }

    /// Draws lines over those that were drawn before.
    pub(crate) fn draw(&mut self, lines: &[String]) -> std::io::Result<()> {
        let (height, width) = self.term.size();
        let kept = &lines[..lines.len().min(usize::from(height).saturating_sub(1))];
        self.clear()?;
        for line in kept {
            self.term.write_line(&truncate_str(line, usize::from(width), "…"))?;
        }
        self.drawn = kept.len();
        self.term.flush()
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) -> std::io::Result<()> {
        self.term.clear_last_lines(std::mem::take(&mut self.drawn))
    }
}

/// A board that a thread keeps up to date until it is dropped.
pub(crate) struct Live {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Shows the campaign of a folder; nothing where nobody would see it.
    pub(crate) fn start(folder: &Path, extent: Extent, known: &Known) -> Option<Self> {
        let board = Board::new();
        if !board.is_seen() {
            return None;
        }
        let over = Arc::new(AtomicBool::new(false));
        let (folder, known, is_over): (PathBuf, _, _) = (folder.to_owned(), known.clone(), Arc::clone(&over));
        let thread = thread::spawn(move || keep(board, &folder, extent, &known, &is_over));
        Some(Self { over, thread: Some(thread) })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What cannot be read or drawn now may be the next time; a board is not worth ending a campaign for.
fn keep(mut board: Board, folder: &Path, extent: Extent, known: &Known, over: &AtomicBool) {
    let Ok(store) = Store::read(folder) else { return };
    while !over.load(Ordering::Relaxed) {
        if let Ok(lines) = lines(&store, extent, known) {
            let _ = board.draw(&lines);
        }
        for _ in 0..EVERY.as_millis() / BLINK.as_millis() {
            if !over.load(Ordering::Relaxed) {
                thread::sleep(BLINK);
            }
        }
    }
    let _ = board.clear();
}

/// What a campaign's folder has to show.
pub(crate) fn lines(store: &Store, extent: Extent, known: &Known) -> Result<Vec<String>, StoreError> {
    let (mut report, blocks) = (store.report()?, store.blocks()?);
    report.mark_known(known, store.identity());
    let mut lines = vec![format!("campaign in {}", store.folder().display()), pace(&report, &blocks, extent)];
    lines.push(String::new());
    lines.extend(verdicts(&report));
    lines.push(String::new());
    lines.extend(newest(&report, known));
    lines.extend(report.trouble.last().map(|what| format!("trouble, {} times: {what}", report.troubles)));
    Ok(lines)
}

/// How far the campaign is, and how fast.
fn pace(report: &Report, blocks: &[Stored], extent: Extent) -> String {
    let rate = rate(blocks);
    let cases = match extent.cases {
        Some(extent) => format!("{} of {extent} cases", report.cases),
        None => format!("{} cases", report.cases),
    };
    let by_cases =
        extent.cases.filter(|_| rate > 0.0).map(|extent| extent.saturating_sub(report.cases) as f64 / rate);
    let by_time = extent.time.map(|time| (time.as_secs_f64() - report.wall_seconds).max(0.0));
    let left = by_cases.into_iter().chain(by_time).reduce(f64::min);
    let left = left.map_or_else(String::new, |left| format!(", {} left", clock(left)));
    format!("{cases}, {rate:.1} a second, {} gone{left}", clock(report.wall_seconds))
}

/// Cases a second, lately.
fn rate(blocks: &[Stored]) -> f64 {
    let Some(last) = blocks.last() else { return 0.0 };
    let recent = blocks.iter().filter(|b| b.shard == last.shard && b.seconds >= last.seconds - RECENT);
    let earlier = blocks.iter().filter(|b| b.shard == last.shard && b.seconds < last.seconds - RECENT);
    let cases: u64 = recent.map(|b| b.past - b.first).sum();
    let seconds = last.seconds - earlier.map(|b| b.seconds).fold(0.0, f64::max);
    if seconds > 0.0 { cases as f64 / seconds } else { 0.0 }
}

fn clock(seconds: f64) -> String {
    let s = seconds as u64;
    format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

/// A line for each target.
fn verdicts(report: &Report) -> Vec<String> {
    let width =
        report.by_target.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("target".len());
    let mut lines =
        vec![format!("{:<width$} {:>10} {:>8} {:>12}", "target", "right", "wrong", "say nothing")];
    for (name, t) in report.by_target.iter().take(TARGETS) {
        lines.push(format!("{name:<width$} {:>10} {:>8} {:>12}", t.pass, t.bug, t.incomparable));
    }
    let more = report.by_target.len().saturating_sub(TARGETS);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The newest signatures. If there is a list of known findings, signatures that are not on it come first.
fn newest(report: &Report, known: &Known) -> Vec<String> {
    let mut clusters: Vec<_> = report.clusters.iter().collect();
    clusters.sort_by_key(|c| (c.known.is_some(), Reverse(c.first), &c.signature));
    let (count, findings) = (clusters.len(), report.findings);
    let head = if known.is_empty() {
        format!("{findings} findings of {count} signatures; the newest:")
    } else {
        let known = clusters.iter().filter(|c| c.known.is_some()).count();
        format!(
            "{findings} findings of {count} signatures, {} of them known; new are {} findings of {} signatures:",
            report.known,
            findings - report.known,
            count - known
        )
    };
    let mark = |c: &Cluster| match &c.known {
        _ if known.is_empty() => "",
        Some(_) => "known  ",
        None => "new    ",
    };
    let line = |c: &&Cluster| format!("case {:>8}  {}{}", c.first, mark(c), c.signature);
    std::iter::once(head).chain(clusters.iter().take(NEWEST).map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u64, past: u64, seconds: f64) -> Stored {
        Stored { shard: 0, first, past, verdicts: oracles::Tally::default(), finished: 0, seconds }
    }

    #[test]
    fn the_rate_is_that_of_the_latest_cases() {
        assert_eq!(rate(&[]), 0.0);
        assert_eq!(rate(&[block(0, 10, 2.0)]), 5.0);
        assert_eq!(
            rate(&[block(0, 1000, 10.0), block(1000, 1200, 110.0), block(1200, 1300, 120.0)]),
            300.0 / 110.0
        );
    }

    #[test]
    fn what_is_left_is_the_nearer_of_both_ends() {
        let report = Report { cases: 100, wall_seconds: 20.0, ..Report::default() };
        let blocks = [block(0, 100, 20.0)];
        let at = |cases, time: Option<u64>| {
            pace(&report, &blocks, Extent { cases, time: time.map(Duration::from_secs) })
        };
        assert_eq!(at(None, None), "100 cases, 5.0 a second, 0:00:20 gone");
        assert_eq!(at(Some(400), Some(3700)), "100 of 400 cases, 5.0 a second, 0:00:20 gone, 0:01:00 left");
        assert_eq!(at(Some(400), Some(30)), "100 of 400 cases, 5.0 a second, 0:00:20 gone, 0:00:10 left");
    }
}
