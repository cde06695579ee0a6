//! `onnxsmith report`

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use anyhow::Context;
use campaign::Store;
use campaign::group::Group;
use campaign::report::{Report, SuspectKind, Suspects};
use present::evidence::Evidence;
use present::issue::Issue;
use present::page::{self, Page};
use serde_json::json;

use super::fuzz::{junit, known};
use super::writable;
use crate::args::{self, Common};
use crate::screen;
use campaign::Exit;

/// Shows what a campaign found, in the forms that are asked for.
pub(crate) fn run(common: Common, args: &args::Report) -> anyhow::Result<Exit> {
    let known = known(args.known.as_deref())?;
    let store = Store::read(&args.campaign)?;
    writable(args.markdown.as_deref(), args.junit.as_deref())?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let groups = report.groups(args.alike);
    if let Some(file) = &args.html {
        let blocks = store.blocks()?;
        let (identity, campaign) = (store.identity(), store.folder());
        let page = Page { report: &report, groups: &groups, campaign, identity, blocks: &blocks };
        write(file, &page::html(&page))?;
    }
    if let Some(file) = &args.junit {
        write(file, &junit(&report, store.identity()))?;
    }
    if let Some(folder) = &args.markdown {
        issues(common, &store, &groups, folder)?;
    }
    if common.json {
        let mut all = serde_json::to_value(&report)?;
        all["groups"] = json!(groups);
        all["identity"] = json!(store.identity());
        screen::json(&all)?;
    } else {
        screen::text(&text(&report, &groups))?;
    }
    Ok(if report.findings > report.known { Exit::Findings } else { Exit::Clean })
}

fn write(file: &Path, content: &str) -> anyhow::Result<()> {
    fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// Writes an issue for each group of which a case is there.
fn issues(common: Common, store: &Store, groups: &[Group], folder: &Path) -> anyhow::Result<()> {
    for group in groups {
        match Evidence::of(group, store.folder(), store.identity()) {
            Ok(evidence) => {
                let issue = Issue::new(group, &evidence, &store.identity().version(&group.backend));
                issue.write(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
            }
            Err(why) if !common.quiet => screen::say(&format!("no issue for {}: {why}", group.title())),
            Err(_) => {}
        }
    }
    Ok(())
}

/// The causes, a line each.
fn text(report: &Report, groups: &[Group]) -> String {
    let mut out = format!(
        "{} cases, {} findings ({} known), {} signatures, {} causes\n",
        report.cases,
        report.findings,
        report.known,
        report.clusters.len(),
        groups.len()
    );
    out += &causes(groups);
    out += &suspects(report);
    out
}

/// What is right and suspect: by target, and a line for each kind of operator with the first case.
pub(super) fn suspects(report: &Report) -> String {
    let suspects = &report.suspects;
    let mut out = String::new();
    for (target, answers) in &suspects.answers {
        let elements = report.elements_by_target.get(target).map_or(0, |elements| elements.suspect);
        out += &format!("{target}: {answers} right answers are suspect, {elements} elements of them\n");
    }
    if suspects.taken_apart > 0 {
        let Suspects { taken_apart, runs, .. } = suspects;
        out += &format!("{taken_apart} suspect answers taken apart, {runs} operators run alone for that\n");
    }
    let mut kinds: Vec<&SuspectKind> = suspects.kinds.values().collect();
    kinds.sort_by_key(|kind| Reverse(kind.answers));
    for kind in kinds {
        let saved = super::fuzz::place(kind.saved.as_ref().map(|saved| Path::new(&saved.folder)));
        out += &format!("{:>6} × suspect: {}\n         {saved}\n", kind.answers, kind.name());
    }
    out
}

/// Each cause with its smallest case, reduced.
pub(super) fn causes(groups: &[Group]) -> String {
    let mut out = String::new();
    for group in groups {
        let known = group.known.as_ref().map_or_else(String::new, |at| format!("known: {at}\n         "));
        let alone = if group.is_odd_one_out() { " (the others agree with the reference)" } else { "" };
        let smallest = super::fuzz::place(group.reduced.as_deref().or(group.smallest.as_deref()));
        let caution = group.caution().map_or_else(String::new, |words| format!("{words}\n         "));
        out +=
            &format!("{:>6} × {}{alone}\n         {known}{caution}{smallest}\n", group.count, group.title());
    }
    out
}
