//! `onnxsmith known migrate`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context;
use campaign::migrate::{Fate, Names, fates, in_campaign, in_case, renamed};
use campaign::{Exit, Store};
use harness::Target;
use serde_json::json;
use triage::known::{Covered, Date, FILE, Known, KnownEntry, WriteUp};

use super::text_of;
use crate::args::{Common, Migrate};
use crate::commands::corpus::{Opened, open};
use crate::progress::Progress;
use crate::{destination, screen};

/// Gives entries the names that what they cover has now.
pub(super) fn run(common: Common, args: &Migrate) -> anyhow::Result<Exit> {
    let text = text_of(&args.list)?.with_context(|| {
        format!("there is no {}; --list takes a list of known findings", args.list.display())
    })?;
    // Those that have expired have names as well.
    let known = Known::parse(&text, &args.list, Date::from_unix_days(0))?;
    let engines: BTreeSet<&str> = known.entries().iter().filter_map(KnownEntry::engine).collect();
    let limits = args.patience.limits();
    let Opened { targets, not_opened } = open(&engines, &args.on, &limits)?;
    let beside = args.list.parent().unwrap_or(Path::new("."));
    let mut seen = in_cases(common, &known, beside, &targets);
    for campaign in &args.campaigns {
        let store = Store::read(campaign)?;
        seen.names.extend(in_campaign(&store.report()?, store.identity()));
    }
    let fates = fates(&known, &seen.names);
    let becomes = |(number, fate): (usize, &Fate)| match fate {
        Fate::Becomes(names) => Some((number, renamed(&known.entries()[number], names))),
        Fate::Stays | Fate::Unseen => None,
    };
    let replaced: BTreeMap<usize, Vec<KnownEntry>> = fates.iter().enumerate().filter_map(becomes).collect();
    let rewritten = known.rewrite(&text, &replaced).with_context(|| {
        let list = args.list.display();
        format!("nothing was rewritten: {list} has entries that do not begin with a line `[[known]]`; write them so")
    })?;
    write_ups(&known, beside, &replaced)?;
    destination::write(&args.list, &rewritten)?;
    let unseen = || known.entries().iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Unseen);
    let unseen: Vec<String> = unseen().map(|(entry, _)| entry.signature.to_string()).collect();
    let said = Said { known: &known, replaced: &replaced, unseen: &unseen, not_run: &seen.not_run };
    if common.json {
        screen::json(&said.json())?;
    } else {
        screen::text(&said.text())?;
    }
    for (engine, why) in &not_opened {
        screen::say(&format!("onnxsmith: what is known of {engine} was not run: {why}"));
    }
    let nothing_ran = seen.names.is_empty() && !seen.not_run.is_empty();
    Ok(if nothing_ran { Exit::Failed } else { Exit::Clean })
}

/// What running the findings of a list told.
struct Seen {
    names: BTreeSet<Names>,
    /// The findings that could not be run, and why.
    not_run: BTreeMap<String, String>,
}

/// Runs each finding that a list names on the targets of its engine.
fn in_cases(common: Common, known: &Known, beside: &Path, targets: &[Target]) -> Seen {
    let findings: BTreeSet<(&str, &str)> =
        known.entries().iter().filter_map(|entry| Some((entry.engine()?, entry.finding.as_str()))).collect();
    let bar = Progress::new(common, Some(findings.len() as u64), "running");
    let mut seen = Seen { names: BTreeSet::new(), not_run: BTreeMap::new() };
    for (engine, finding) in findings {
        for target in targets.iter().filter(|target| target.backend == engine) {
            match in_case(&beside.join(finding), target) {
                Ok(names) => seen.names.extend(names),
                Err(why) => {
                    seen.not_run.insert(finding.to_owned(), why);
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    seen
}

/// Rewrites the findings that entries name, where these are written up: the list is made of them.
fn write_ups(
    known: &Known,
    beside: &Path,
    replaced: &BTreeMap<usize, Vec<KnownEntry>>,
) -> anyhow::Result<()> {
    let files = replaced.keys().map(|&number| beside.join(&known.entries()[number].finding).join(FILE));
    for file in files.filter(|file| file.is_file()).collect::<BTreeSet<_>>() {
        let mut write_up = WriteUp::read(&file)?;
        let is_of = |entry: &KnownEntry| beside.join(&entry.finding).join(FILE) == file;
        let others = |covered: &Covered| {
            replaced.iter().find_map(|(&number, others)| {
                let entry = &known.entries()[number];
                (is_of(entry) && entry.signature == covered.pattern).then_some(others)
            })
        };
        let signatures = write_up.signatures.iter().flat_map(|covered| match others(covered) {
            Some(others) => others
                .iter()
                .map(|entry| Covered { pattern: entry.signature.clone(), note: covered.note.clone() })
                .collect(),
            None => vec![covered.clone()],
        });
        write_up.signatures = signatures.collect();
        destination::write(&file, &write_up.to_string())?;
    }
    Ok(())
}

/// What became of a list.
struct Said<'a> {
    known: &'a Known,
    replaced: &'a BTreeMap<usize, Vec<KnownEntry>>,
    unseen: &'a [String],
    not_run: &'a BTreeMap<String, String>,
}

impl Said<'_> {
    /// Each entry that was rewritten, with what it has become.
    fn each(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        self.replaced.iter().map(|(&number, others)| {
            let before = self.known.entries()[number].signature.to_string();
            (before, others.iter().map(|entry| entry.signature.to_string()).collect())
        })
    }

    fn json(&self) -> serde_json::Value {
        let each = self.each().map(|(before, after)| json!({ "before": before, "after": after }));
        json!({ "rewritten": each.collect::<Vec<_>>(), "unseen": self.unseen, "not_run": self.not_run })
    }

    fn text(&self) -> String {
        let mut out = format!(
            "{} of {} entries rewritten; {} cover nothing that was seen\n",
            self.replaced.len(),
            self.known.entries().len(),
            self.unseen.len()
        );
        for (before, after) in self.each() {
            out += &format!("{before}\n");
            for name in &after {
                out += &format!("  now {name}\n");
            }
            if after.is_empty() {
                out += "  now covered by other entries\n";
            }
        }
        for signature in self.unseen {
            out += &format!("not seen: {signature}\n");
        }
        for (finding, why) in self.not_run {
            out += &format!("not run: {finding}: {why}\n");
        }
        out
    }
}
