//! `onnxsmith known`

mod migrate;

use std::fs;

use anyhow::Context;
use campaign::accept::{self, Accepted};
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
    let before = match fs::read_to_string(&args.list) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", args.list.display())),
    };
    let known = Known::parse(&before, &args.list, today)?;
    let store = Store::read(&args.campaign)?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let only: Vec<Pattern> = args.only.iter().cloned().map(Pattern::from).collect();
    let Accepted { entries, skipped } = accept::entries(&report, store.identity(), &only, today.next_year())?;
    // Those that have expired may be accepted again.
    let all = Known::parse(&before, &args.list, Date::from_unix_days(0))?;
    destination::write(&args.list, &all.with(&before, &entries))?;
    let signatures: Vec<String> = entries.iter().map(|entry| entry.signature.to_string()).collect();
    if common.json {
        screen::json(&json!({ "list": args.list, "accepted": signatures, "skipped": skipped }))?;
    } else {
        let added = format!("entries added to {}: {}", args.list.display(), entries.len());
        let skipped = skipped.iter().map(|skipped| {
            format!("not added, unless --only names it in full: {}\n    {}", skipped.signature, skipped.why)
        });
        screen::text(&[vec![added], signatures, skipped.collect()].concat().join("\n"))?;
    }
    Ok(Exit::Clean)
}
