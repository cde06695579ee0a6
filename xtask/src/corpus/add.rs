//! A saved case becomes a finding.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use harness::validity::Expectation;
use onnx::CaseFolder;
use triage::folder::About;
use triage::known::{Covered, Date, ENGINE, FILE, Judgement, Kept, Pattern, Upstream, WriteUp};
use triage::stored;

use super::CORPUS;

/// Writes what is known of a case as the finding `ENGINE-VERSION/NAME`. What is right, why the engine says something else, and
/// what it is, a person has to say: that is left empty, and the check asks for it.
pub(super) fn add(root: &Path, case: &Path, name: &str, today: Date) -> Result<()> {
    let (engine, short) = name.split_once('/').with_context(|| {
        format!("`{name}` does not name a finding; write ENGINE-VERSION/NAME, such as rten-0.27/sign-zero")
    })?;
    let (_, version) = engine.rsplit_once('-').with_context(|| format!("`{engine}` has no version"))?;
    let versions = version.parse().with_context(|| format!("`{version}` is no version"))?;
    let is_plain = |name: &str| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)) && !name.starts_with('.')
    };
    ensure!(
        is_plain(engine) && is_plain(short) && !short.is_empty(),
        "`{name}` has more in it than letters, digits, - and ."
    );
    let at = root.join(CORPUS).join(engine);
    ensure!(
        at.join(ENGINE).is_file(),
        "{CORPUS}/{engine} has no {ENGINE}; write one for a new engine or version, as its neighbours have it"
    );
    let at = at.join(short);
    ensure!(!at.exists(), "{CORPUS}/{name} is there already");

    let saved = stored::read(case).with_context(|| format!("cannot read {}", case.display()))?;
    let about = About::read(&saved).context("cannot read case.json")?;
    let About { findings: found, check, relaxed, .. } = about;
    let is_decided = relaxed.as_ref().is_none_or(|relaxed| relaxed.expected == Expectation::Refusal);
    ensure!(is_decided, "nobody knows whether its model is valid, so nobody can say what is right");
    let covered = |signature: String| Covered { pattern: Pattern::from(signature), note: None };
    let kept = Kept::of(&saved).unwrap_or_else(|why| Kept::Bytes { why, check, relaxed });
    let bytes = matches!(kept, Kept::Bytes { .. });
    let finding = WriteUp {
        says: found.first().map(|f| f.detail.clone()).unwrap_or_default(),
        right: String::new(),
        judgement: Judgement::Undecided,
        cause: None,
        remarks: None,
        upstream: Upstream::NotReported,
        versions,
        expires: today.next_year(),
        signatures: found.first().map(|f| covered(f.signature().to_string())).into_iter().collect(),
        unmet: None,
        shows: None,
        case: kept,
    };
    if bytes {
        CaseFolder { json: None, ..saved }.write(&at)?;
    }
    fs::create_dir_all(&at).with_context(|| format!("cannot create {}", at.display()))?;
    fs::write(at.join(FILE), finding.to_string()).with_context(|| format!("cannot write {FILE}"))?;
    eprintln!("wrote {CORPUS}/{name}/{FILE}; complete it, then run `cargo xtask corpus`");
    Ok(())
}
