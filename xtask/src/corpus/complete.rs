//! What findings lack, and what is told of none.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use triage::known::{Corpus, Date, EngineFindings, FILE, Kept, Known, WriteUp};

use super::{KNOWN, entries, folder};

/// What is wrong with the findings, each with its place.
pub(super) fn lacks(corpus: &Corpus, root: &Path, today: Date) -> Vec<String> {
    let mut wrong = Vec::new();
    for (engine, name, finding) in corpus.findings() {
        let folder = folder(&name);
        let found = incomplete(engine, finding, today).into_iter().chain(misplaced(root, &folder, finding));
        wrong.extend(found.map(|what| format!("{folder}/{FILE}: {what}")));
    }
    wrong.extend(duplicates(corpus));
    wrong
}

/// Signatures that more than one finding has, or one has twice: a list would name the first of them only.
fn duplicates(corpus: &Corpus) -> Vec<String> {
    let mut by_signature: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in entries(corpus) {
        by_signature.entry(entry.signature.to_string()).or_default().push(entry.finding);
    }
    let twice = by_signature.into_iter().filter(|(_, findings)| findings.len() > 1);
    twice
        .map(|(signature, at)| format!("the signature `{signature}` is given twice: {}", at.join(", ")))
        .collect()
}

/// The signatures of the checked-in list that no finding has.
pub(super) fn without_finding(corpus: &Corpus, root: &Path) -> Vec<String> {
    // As of a day on which nothing had expired.
    let list = match Known::read(&root.join(KNOWN), Date::from_unix_days(0)) {
        Ok(list) => list,
        Err(e) => return vec![e.to_string()],
    };
    let has = |signature: &str, folder: &str| {
        entries(corpus).any(|e| e.finding == folder && e.signature.to_string() == signature)
    };
    let strays = list.entries().iter().map(|e| (e.signature.to_string(), &e.finding));
    let strays = strays.filter(|(signature, folder)| !has(signature, folder));
    strays
        .map(|(signature, folder)| format!("{KNOWN}: `{signature}` is no signature of a finding {folder}"))
        .collect()
}

/// What a person still has to say of a finding, or look at again.
fn incomplete(engine: &EngineFindings, finding: &WriteUp, today: Date) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, text) in [("says", &finding.says), ("right", &finding.right)] {
        if text.trim().is_empty() {
            wrong.push(format!("`{key}` is empty"));
        }
    }
    match (finding.signatures.is_empty(), &finding.unmet) {
        (true, None) => wrong.push("it has no signature; `unmet` would say why".to_owned()),
        (true, Some(why)) if why.trim().is_empty() => wrong.push("`unmet` is empty".to_owned()),
        (false, Some(_)) => wrong.push("it has a signature, and `unmet` says that it has none".to_owned()),
        (true, Some(_)) | (false, None) => {}
    }
    let name = &engine.about.engine;
    for covered in finding.signatures.iter().filter(|c| !c.pattern.may_be_of(name)) {
        wrong.push(format!("`{}` is no signature of {name}", covered.pattern));
    }
    if finding.expires < today {
        wrong.push(format!(
            "it expired on {}: replay it; where the engine is repaired, remove it or limit `versions`, else move the date",
            finding.expires
        ));
    }
    wrong
}

/// What is wrong with the files of a finding.
fn misplaced(root: &Path, folder: &str, finding: &WriteUp) -> Vec<String> {
    let at = root.join(folder);
    if let Err(e) = finding.case.folder(&at) {
        return vec![format!("its case cannot be read: {e}")];
    }
    let Kept::Text { .. } = finding.case else { return Vec::new() };
    let entries = fs::read_dir(&at).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name != FILE)
        .map(|name| format!("its case is text, and `{name}` belongs to nothing"))
        .collect()
}
