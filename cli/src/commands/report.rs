//! `onnxsmith report`

use std::cmp::Reverse;
use std::path::Path;

use anyhow::Context;
use campaign::Store;
use campaign::group::Group;
use campaign::report::{Report, SuspectKind, Suspects};
use present::evidence::Evidence;
use present::issue::Issue;
use present::page::{self, Page};
use serde_json::json;

use super::fuzz::{SUITE, known, test_cases};
use super::junit_file::JunitFile;
use super::{writable_file, writable_folder};
use crate::args::{self, Common};
use crate::{destination, screen};
use campaign::Exit;

/// Shows what a campaign found, in the forms that are asked for.
pub(crate) fn run(common: Common, args: &args::Report) -> anyhow::Result<Exit> {
    let junit = JunitFile::of(SUITE, args.junit.file.as_deref());
    junit.ended(shown(common, args, &junit))
}

fn shown(common: Common, args: &args::Report, junit: &JunitFile<'_>) -> anyhow::Result<Exit> {
    let known = known(args.known.file.as_deref())?;
    let store = Store::read(&args.campaign.folder)?;
    if let Some(folder) = &args.markdown {
        // An issue of an earlier campaign, or of what is known by now, would be taken for one of this.
        destination::empty(folder).context("--markdown takes a new or empty folder")?;
    }
    writable_folder("--markdown", args.markdown.as_deref())?;
    writable_file("--html", args.html.as_deref())?;
    junit.check()?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let groups = report.groups(args.alike);
    if let Some(file) = &args.html {
        let blocks = store.blocks()?;
        let (identity, campaign) = (store.identity(), store.folder());
        let page = Page { report: &report, groups: &groups, campaign, identity, blocks: &blocks };
        destination::write(file, &page::html(&page))?;
    }
    junit.write(&test_cases(&report, store.identity()))?;
    if let Some(folder) = &args.markdown {
        issues(common, &store, &groups, folder)?;
    }
    if common.json {
        let mut all = serde_json::to_value(&report)?;
        all["groups"] = json!(groups);
        all["identity"] = json!(store.identity());
        screen::json(&all)?;
    } else {
        screen::told(&text(&report, &groups))?;
    }
    Ok(if report.findings > report.known { Exit::Findings } else { Exit::Clean })
}

/// Writes an issue for each group of which a case is there.
fn issues(common: Common, store: &Store, groups: &[Group], folder: &Path) -> anyhow::Result<()> {
    for group in groups.iter().filter(|group| group.known.is_none()) {
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
    out += &known_causes(groups);
    out += &suspects(report);
    out + &new_causes(groups)
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

/// Each cause that is written up, with where that is and its smallest case.
pub(super) fn known_causes(groups: &[Group]) -> String {
    groups.iter().filter(|group| group.known.is_some()).map(cause).collect()
}

/// Each cause that is new, with its signature, as lists of known findings have it, and its smallest case. Nothing is said where
/// nothing was found.
pub(super) fn new_causes(groups: &[Group]) -> String {
    let new: Vec<&Group> = groups.iter().filter(|group| group.known.is_none()).collect();
    match (groups.len(), new.len()) {
        (0, _) => String::new(),
        (_, 0) => "new causes: none\n".to_owned(),
        (_, count) => format!("new causes: {count}\n") + &new.into_iter().map(cause).collect::<String>(),
    }
}

/// A cause with its smallest case, reduced. Of one that is new, its new findings are counted, and those that are known apart.
fn cause(group: &Group) -> String {
    let alone = if group.is_odd_one_out() { " (the others agree with the reference)" } else { "" };
    let (count, told) = match &group.known {
        Some(at) => (group.count, format!("known: {at}")),
        None => (group.new_count(), signatures(group)),
    };
    let smallest = super::fuzz::place(group.reduced.as_deref().or(group.smallest.as_deref()));
    let lines = [vec![told], group.cautions(), vec![smallest]].concat();
    format!("{count:>6} × {}{alone}\n         {}\n", group.title(), lines.join("\n         "))
}

/// The new signature that most of a cause's findings have, how many others there are, and how many findings are known.
fn signatures(group: &Group) -> String {
    let Some(first) = group.new_signatures().next() else { return String::new() };
    let others = match group.new_signatures().count() - 1 {
        0 => None,
        1 => Some("one more signature".to_owned()),
        more => Some(format!("{more} more signatures")),
    };
    let known = match group.count - group.new_count() {
        0 => None,
        1 => Some("one more finding is known".to_owned()),
        known => Some(format!("{known} more findings are known")),
    };
    let told: Vec<String> = [others, known].into_iter().flatten().collect();
    if told.is_empty() {
        return first.signature.clone();
    }
    format!("{} (and {})", first.signature, told.join(", and "))
}
