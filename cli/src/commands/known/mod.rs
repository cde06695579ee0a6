//! `onnxsmith known`

mod migrate;

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use anyhow::Context;
use campaign::accept::{self, Accepted, Covered, Wanted, Width};
use campaign::{Exit, Store};
use serde_json::json;
use triage::known::{Date, Known, Pattern};

use crate::args::{self, Accept, Common};
use crate::{destination, screen};

/// Changes a list of known findings.
pub(crate) fn run(common: Common, args: &args::Known) -> anyhow::Result<Exit> {
    match args {
        args::Known::Accept(args) => accept(common, args),
        args::Known::Migrate(args) => migrate::run(common, args),
    }
}

/// Adds what a campaign has found to a list.
fn accept(common: Common, args: &Accept) -> anyhow::Result<Exit> {
    let today = Date::today();
    let before = text_of(&args.list)?.unwrap_or_default();
    let known = Known::parse(&before, &args.list, today)?;
    let store = Store::read(&args.campaign.folder)?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let only: Vec<Pattern> = args.only.iter().cloned().map(Pattern::from).collect();
    let width = if args.every_dtype { Width::EveryDtype } else { Width::Exact };
    let wanted = Wanted { known: &known, only: &only, width, expires: today.next_year() };
    let accepted = accept::entries(&report, store.identity(), &wanted)?;
    let Accepted { entries, skipped, covered, one_dtype } = accepted.beside(&args.list);
    // Those that have expired may be accepted again.
    let all = Known::parse(&before, &args.list, Date::from_unix_days(0))?;
    destination::write(&args.list, &all.with(&before, &entries))?;
    let signatures: Vec<String> = entries.iter().map(|entry| entry.signature.to_string()).collect();
    if common.json {
        screen::json(
            &json!({ "list": args.list, "accepted": signatures, "covered": covered, "skipped": skipped, "every_dtype": one_dtype }),
        )?;
    } else {
        let added = format!("entries added to {}: {}", args.list.display(), entries.len());
        let skipped = skipped.iter().map(|skipped| {
            format!("not added, unless --only names it in full: {}\n    {}", skipped.signature, skipped.why)
        });
        // What was not asked for by name is of interest where nothing else was done.
        let is_told = !only.is_empty() || entries.is_empty();
        let covered = covered.iter().filter(|_| is_told);
        let covered =
            covered.map(|Covered { signature, by }| format!("already covered by {by}: {signature}"));
        let parts = [vec![added], signatures, covered.collect(), skipped.collect(), siblings(one_dtype)];
        screen::text(&parts.concat().join("\n"))?;
    }
    Ok(Exit::Clean)
}

/// The text of a list that is to be rewritten, if there is one. What is no file, a device say, is refused: it may have no end.
fn text_of(list: &Path) -> anyhow::Result<Option<String>> {
    let read = || match fs::metadata(list) {
        Ok(there) if !there.is_file() => Err(io::Error::other("it is no file")),
        Ok(_) => fs::read_to_string(list).map(Some),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    };
    read().with_context(|| format!("cannot read {}; --list takes a list of known findings", list.display()))
}

/// What is new again although it may have the cause of what was accepted, and what would cover it.
fn siblings(one_dtype: BTreeSet<String>) -> Vec<String> {
    if one_dtype.is_empty() {
        return Vec::new();
    }
    let head = "the same on another dtype is new: where the cause is one, --every-dtype accepts these";
    std::iter::once(head.to_owned()).chain(one_dtype.into_iter().map(|open| format!("    {open}"))).collect()
}
