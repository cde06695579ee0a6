//! Entries of a list of known findings under names that findings do not have any more: `onnxsmith known migrate`.
//!
//! Findings are reduced before they are named (`docs/decisions/reduced-before-named.md`); entries from before cover them by their
//! former names, which say less and so cover more. What the entries were written for is run again, and campaigns that met it
//! are read: an entry that covers findings by their former names alone becomes one entry for each name that they have now. It
//! is then as narrow as what was seen, and what it covered besides is new again.

use std::collections::BTreeSet;
use std::path::Path;

use triage::folder::About;
use triage::known::{Known, KnownEntry};

use crate::report::Report;
use crate::store::Identity;
use harness::target::Target;

/// A finding of an engine under both of its names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Names {
    /// The version of the engine.
    pub version: String,
    /// The signature.
    pub now: String,
    /// The one that it had before findings were reduced.
    pub former: String,
}

/// What becomes of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The entry covers findings by the names that they have now.
    Stays,
    /// The entry covers findings by their former names alone. These are the names that they have now, except
    /// for those that other entries cover.
    Becomes(BTreeSet<String>),
    /// Nothing that was seen has a name that it covers.
    Unseen,
}

/// What becomes of each entry of a list. If several entries cover a former name, the most precise of them is
/// the one that was meant.
pub fn fates(known: &Known, seen: &BTreeSet<Names>) -> Vec<Fate> {
    let mut fates = vec![Fate::Unseen; known.entries().len()];
    for names in seen {
        for (number, _) in known.covering(&names.version, &names.now) {
            fates[number] = Fate::Stays;
        }
    }
    for names in seen {
        let is_covered = !known.covering(&names.version, &names.now).is_empty();
        let meant = known.covering(&names.version, &names.former);
        for (rank, (number, _)) in meant.into_iter().enumerate() {
            let name = (rank == 0 && !is_covered).then(|| names.now.clone());
            match &mut fates[number] {
                Fate::Stays => {}
                Fate::Becomes(others) => others.extend(name),
                fate @ Fate::Unseen => *fate = Fate::Becomes(name.into_iter().collect()),
            }
        }
    }
    fates
}

/// The entries that an entry becomes: as it is, under other names ([`Pattern::renamed`](triage::known::Pattern::renamed)).
pub fn renamed(entry: &KnownEntry, names: &BTreeSet<String>) -> Vec<KnownEntry> {
    let mut entries: Vec<KnownEntry> = Vec::new();
    for name in names {
        let signature = entry.signature.renamed(name);
        if entries.iter().all(|other| other.signature != signature) {
            entries.push(KnownEntry { signature, ..entry.clone() });
        }
    }
    entries
}

/// The names of what a campaign has found.
pub fn in_campaign(report: &Report, identity: &Identity) -> impl Iterator<Item = Names> {
    report.clusters.iter().flat_map(|cluster| {
        let version = identity.version(&cluster.example.backend);
        let names = |former: &String| Names {
            version: version.clone(),
            now: cluster.signature.clone(),
            former: former.clone(),
        };
        cluster.formerly.keys().map(names).collect::<Vec<_>>()
    })
}

/// The names that the case of a finding has on a target. The finding is a folder: one that is written up, or a saved
/// case. What is asked another question than comparison with the reference keeps its name, and is not run.
pub fn in_case(folder: &Path, target: &Target) -> Result<Vec<Names>, String> {
    let case = triage::stored::read(folder).map_err(|e| e.to_string())?;
    let about = About::read(&case).map_err(|e| format!("case.json cannot be read: {e}"))?;
    if about.check.is_some() {
        return Ok(Vec::new());
    }
    let names = |finding: &oracles::Finding| Names {
        version: target.description().version.clone(),
        now: finding.signature().to_string(),
        former: finding.former_signature().to_string(),
    };
    Ok(crate::corpus::found(&case, &about, target)?.iter().map(names).collect())
}

#[cfg(test)]
mod tests {
    use triage::known::Date;

    use super::*;

    fn list(patterns: &[&str]) -> Known {
        let entry = |pattern: &&str| {
            format!("[[known]]\nsignature = '{pattern}'\nfinding = 'here'\nexpires = '2099-06-30'\n")
        };
        let text: String = patterns.iter().map(entry).collect();
        Known::parse(&text, Path::new("known.toml"), Date::today()).expect("a list")
    }

    fn seen(names: &[(&str, &str)]) -> BTreeSet<Names> {
        let names = names.iter().map(|&(now, former)| Names {
            version: "1".to_owned(),
            now: now.to_owned(),
            former: former.to_owned(),
        });
        names.collect()
    }

    fn becomes(names: &[&str]) -> Fate {
        Fate::Becomes(names.iter().map(|&name| name.to_owned()).collect())
    }

    const HIDDEN: &str = "e | whole graph, hidden by taps | mismatch gross";

    #[test]
    fn an_entry_becomes_what_it_covered_by_former_names_alone() {
        let wide = list(&["e | whole graph* | mismatch *", "e | Sign *", "e | Tanh *"]);
        let seen = seen(&[
            ("e | Add + Exp f32 dense | mismatch gross", HIDDEN),
            ("e | Mul + Neg f32 dense | mismatch gross", HIDDEN),
            ("e | Sign f32 dense | wrong type", "e | Sign f32 dense | wrong type"),
        ]);
        let both = ["e | Add + Exp f32 dense | mismatch gross", "e | Mul + Neg f32 dense | mismatch gross"];
        assert_eq!(fates(&wide, &seen), [becomes(&both), Fate::Stays, Fate::Unseen]);
    }

    #[test]
    fn what_another_entry_covers_by_name_is_not_written_again() {
        let seen = seen(&[("e | Add + Exp f32 dense | mismatch gross", HIDDEN)]);
        let twice = list(&["e | whole graph* | mismatch *", "e | Add + Exp *"]);
        assert_eq!(fates(&twice, &seen), [becomes(&[]), Fate::Stays]);
        let nested = list(&["e | *", "e | whole graph, hidden* | mismatch *"]);
        assert_eq!(fates(&nested, &seen), [Fate::Stays, becomes(&[])]);
    }

    #[test]
    fn of_two_wide_entries_the_one_that_says_more_is_meant() {
        let seen = seen(&[("e | Add + Exp f32 dense | mismatch gross", HIDDEN)]);
        let two = list(&["e | whole graph*", "e | whole graph, hidden by taps | *"]);
        assert_eq!(
            fates(&two, &seen),
            [becomes(&[]), becomes(&["e | Add + Exp f32 dense | mismatch gross"])]
        );
    }
}
