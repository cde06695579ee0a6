//! What of a run counts: what a list of known findings covers does not, and what is suspect does where that is asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use triage::known::Known;

use super::result::{Grade, Judgement, NotPassing, Replayed};
use crate::junit::{TestCase, TestResult};
use crate::late;

/// Which wrong answers get the names that a campaign gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Naming {
    /// Those to cases that a campaign saved.
    OfCampaigns,
    /// All of them, so that a list of known findings can cover them.
    Every,
}

/// What an answer is that is right, and suspect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuspectsCount {
    /// A pass.
    Pass,
    /// A failure.
    Fail,
}

/// What does not pass, and what is known of it.
#[derive(Clone, Debug)]
pub struct Settled<'r> {
    replayed: &'r Replayed,
    suspects: SuspectsCount,
    /// Where the wrong answers are written up of which a list has every signature, by case and target.
    known: BTreeMap<(PathBuf, String), String>,
    /// By signature, where faults of processes are written up that no case shows by itself.
    pub late_known: BTreeMap<String, String>,
}

impl Replayed {
    /// What counts of it, by a list of known findings.
    pub fn settle(&self, known: &Known, suspects: SuspectsCount) -> Settled<'_> {
        let written_up = |version: &str, signature: &str| {
            known.covering(version, signature).first().map(|(_, entry)| entry.finding.clone())
        };
        let place = |answer: &NotPassing| {
            let version = self.versions.get(&answer.backend).map_or("", String::as_str);
            let mut all = answer.signatures.iter().map(|signature| written_up(version, signature));
            let first = all.next()??;
            all.all(|place| place.is_some()).then_some(first)
        };
        let answers = self.wrong().filter_map(|answer| Some((key(answer), place(answer)?))).collect();
        let late = late::certain(&self.late_faults).filter_map(|late| {
            let signature = late.to_string();
            written_up(self.version_of(late.backend), &signature).map(|place| (signature, place))
        });
        Settled { replayed: self, suspects, known: answers, late_known: late.collect() }
    }

    /// The answers that are wrong.
    fn wrong(&self) -> impl Iterator<Item = &NotPassing> {
        self.not_passing.iter().filter(|answer| answer.outcome.is_wrong())
    }

    /// The version of an engine, whatever the level.
    fn version_of(&self, backend: &str) -> &str {
        let is_of = |target: &str| target.strip_prefix(backend).is_some_and(|rest| rest.starts_with(':'));
        self.versions.iter().find(|(target, _)| is_of(target)).map_or("", |(_, version)| version)
    }
}

fn key(answer: &NotPassing) -> (PathBuf, String) {
    (answer.case.clone(), answer.backend.clone())
}

impl Settled<'_> {
    /// Where an answer that does not pass is written up, if all that is wrong with it is.
    pub fn known(&self, answer: &NotPassing) -> Option<&str> {
        self.known.get(&key(answer)).map(String::as_str)
    }

    /// How many answers are wrong, and of how many of these all is known.
    pub fn counts(&self) -> (usize, usize) {
        let known = |answer: &&NotPassing| self.known(answer).is_some();
        (self.replayed.wrong().count(), self.replayed.wrong().filter(known).count())
    }

    /// Whether something counts: an answer, or a process that had run other cases. Where a signal ended the command, whoever sent it may
    /// have ended processes too.
    pub fn has_found(&self) -> bool {
        let Self { replayed, late_known, .. } = self;
        let mut late = late::certain(&replayed.late_faults).map(|late| late.to_string());
        let is_late = replayed.left_out == 0 && late.any(|late| !late_known.contains_key(&late));
        is_late
            || replayed.wrong().any(|answer| self.known(answer).is_none())
            || self.failing().next().is_some()
    }

    /// The answers that are no pass because they are suspect.
    fn failing(&self) -> impl Iterator<Item = &NotPassing> {
        let count = self.suspects == SuspectsCount::Fail;
        self.replayed.not_passing.iter().filter(move |answer| count && answer.outcome == Grade::Suspect)
    }

    /// The results as CI systems show them.
    pub fn results(&self) -> Vec<TestCase> {
        let known = self
            .known
            .iter()
            .map(|((case, target), place)| ((target.clone(), case.display().to_string()), place));
        let known: BTreeMap<(String, String), &String> = known.collect();
        let suspect = self
            .failing()
            .map(|answer| ((answer.backend.clone(), answer.case.display().to_string()), &answer.why));
        let suspect: BTreeMap<(String, String), &String> = suspect.collect();
        let settled = |test: &TestCase| {
            let key = (test.class.clone(), test.name.clone());
            let place = known.get(&key).copied().or_else(|| self.late_known.get(&test.name));
            match (place, suspect.get(&key)) {
                (Some(place), _) => TestResult::Skipped(format!("known: {place}")),
                (None, Some(why)) => TestResult::Failed(Grade::Suspect.name().to_owned(), (*why).clone()),
                (None, None) => test.result.clone(),
            }
        };
        self.replayed.results.iter().map(|test| TestCase { result: settled(test), ..test.clone() }).collect()
    }
}

/// The judgement that stands for several of one case, with the names of all that is wrong. One that is wrong and has no name stands
/// before the others: no list covers it.
pub(super) fn all_named(all: impl Iterator<Item = Judgement>) -> Option<Judgement> {
    let all: Vec<Judgement> = all.collect();
    let mut signatures: Vec<String> = Vec::new();
    for signature in all.iter().flat_map(|judgement| &judgement.signatures) {
        if !signatures.contains(signature) {
            signatures.push(signature.clone());
        }
    }
    let is_nameless = |judgement: &Judgement| judgement.grade.is_wrong() && judgement.signatures.is_empty();
    let worst = all.into_iter().max_by_key(|judgement| (is_nameless(judgement), judgement.grade))?;
    Some(if is_nameless(&worst) { worst } else { Judgement { signatures, ..worst } })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const LIST: &str =
        "[[known]]\nsignature = 'e | Sign *'\nversions = '1'\nfinding = 'here'\nexpires = '2099-01-01'\n
        [[known]]\nsignature = 'e | after other cases | *'\nfinding = 'there'\nexpires = '2099-01-01'\n";

    fn judged(grade: Grade, signatures: &[&str]) -> Judgement {
        let signatures = signatures.iter().map(ToString::to_string).collect();
        Judgement { signatures, ..Judgement::new(grade, "why") }
    }

    fn replayed(version: &str, cases: &[(&str, Grade, &[&str])]) -> Replayed {
        let versions = BTreeMap::from([("e:all".to_owned(), version.to_owned())]);
        let mut all = Replayed { versions, ..Replayed::default() };
        for (case, grade, signatures) in cases {
            all.add(PathBuf::from(case), "e:all".to_owned(), judged(*grade, signatures));
        }
        all
    }

    fn list() -> Known {
        let today = "2026-01-01".parse().expect("a date");
        Known::parse(LIST, Path::new("known.toml"), today).expect("a list")
    }

    #[test]
    fn what_is_listed_does_not_count_where_every_signature_is() {
        const SIGN: &str = "e | Sign f32 dense | mismatch gross";
        const ADD: &str = "e | Add f32 dense | mismatch gross";
        let found = |version, signatures: &[&str]| {
            let all = replayed(version, &[("a", Grade::Pass, &[]), ("b", Grade::Mismatch, signatures)]);
            let settled = all.settle(&list(), SuspectsCount::Pass);
            let is_failed = matches!(settled.results()[1].result, TestResult::Failed(..));
            assert_eq!(is_failed, settled.has_found());
            (settled.has_found(), settled.counts())
        };
        assert_eq!(found("1.2", &[SIGN]), (false, (1, 1)));
        assert_eq!(found("2.0", &[SIGN]), (true, (1, 0)), "of another version");
        assert_eq!(found("1.2", &[SIGN, ADD]), (true, (1, 0)), "something else is behind it");
        assert_eq!(found("1.2", &[]), (true, (1, 0)), "what has no name is not listed");
    }

    #[test]
    fn a_fault_that_no_case_shows_may_be_listed() {
        let kinds = BTreeMap::from([(worker::FaultKind::Signal, 1)]);
        let all = Replayed { late_faults: BTreeMap::from([("e".to_owned(), kinds)]), ..replayed("1", &[]) };
        assert!(all.settle(&Known::default(), SuspectsCount::Pass).has_found());
        assert!(!all.settle(&list(), SuspectsCount::Pass).has_found());
    }

    #[test]
    fn what_is_suspect_counts_where_that_is_asked_for() {
        let all = replayed("1", &[("a", Grade::Suspect, &[])]);
        for (suspects, counts) in [(SuspectsCount::Pass, false), (SuspectsCount::Fail, true)] {
            let settled = all.settle(&Known::default(), suspects);
            assert_eq!(settled.has_found(), counts);
            assert_eq!(matches!(settled.results()[0].result, TestResult::Failed(..)), counts);
        }
    }

    #[test]
    fn what_is_wrong_and_has_no_name_stands_for_a_case() {
        let of = |all: Vec<Judgement>| all_named(all.into_iter()).map(|one| (one.grade, one.signatures));
        let (crash, off) = (judged(Grade::Crash, &["a"]), judged(Grade::Mismatch, &["b", "a"]));
        let both = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(of(vec![crash.clone(), off, judged(Grade::Pass, &[])]), Some((Grade::Crash, both)));
        let nameless = judged(Grade::Mismatch, &[]);
        assert_eq!(of(vec![crash, nameless]), Some((Grade::Mismatch, Vec::new())));
        assert_eq!(of(Vec::new()), None);
    }
}
