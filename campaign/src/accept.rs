//! Entries of a list of known findings, for what a user accepts of a campaign.
//!
//! An entry covers one signature, exactly, of the version of the engine that ran: what is accepted is what was found, and
//! nothing that is like it. Whoever knows that the cause is the same on other dtypes asks for entries that leave the
//! dtype open, and nothing else.
//!
//! Some signatures say next to nothing: of a fault that nobody could be blamed for, `whole graph | mismatch gross`. Such an entry
//! would cover whatever else nobody can be blamed for. So it is written only where a user asks for that very signature.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use oracles::signature::is_form;
use oracles::{AtFault, Finding, Signature, Symptom, message};
use serde::Serialize;

use crate::report::{Cluster, Report};
use crate::store::Identity;
use triage::known::{Date, Known, KnownEntry, Pattern};

/// What is accepted.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Accepted {
    /// The entries.
    pub entries: Vec<KnownEntry>,
    /// What is not accepted, although it was asked for.
    pub skipped: Vec<Skipped>,
    /// What need not be accepted, as the list covers it.
    pub covered: Vec<Covered>,
    /// What would cover the entries on every dtype: entries are for the one that was met, and what has the same cause
    /// on another is new.
    pub one_dtype: BTreeSet<String>,
}

/// A signature that is no entry, as it would cover too much.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Skipped {
    /// The signature.
    pub signature: String,
    /// Why it would.
    pub why: &'static str,
}

/// A signature for which there is an entry already, as wide as the one that is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Covered {
    /// The signature that was found.
    pub signature: String,
    /// The entry's.
    pub by: String,
}

/// What is to be accepted was not found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("nothing was found whose signature is `{pattern}`")]
pub struct NotFound {
    /// The signatures that were asked for.
    pub pattern: Pattern,
}

impl Accepted {
    /// The entries with their findings as seen from the folder that a list is in.
    #[must_use]
    pub fn beside(self, list: &Path) -> Self {
        let Some(folder) = list.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return self };
        let seen = |entry: KnownEntry| KnownEntry { finding: seen_from(folder, &entry.finding), ..entry };
        Self { entries: self.entries.into_iter().map(seen).collect(), ..self }
    }
}

/// A path as seen from a folder; as it is where one of them cannot be found.
fn seen_from(folder: &Path, path: &str) -> String {
    let (Ok(folder), Ok(there)) = (folder.canonicalize(), Path::new(path).canonicalize()) else {
        return path.to_owned();
    };
    let shared = folder.components().zip(there.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(there.components().skip(shared)).collect::<PathBuf>().display().to_string()
}

/// What an entry covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// One signature.
    Exact,
    /// Those that differ from it in the dtype alone.
    EveryDtype,
}

impl Width {
    /// The signature of an entry for what was found.
    fn signature(self, cluster: &Cluster) -> String {
        match self {
            Self::Exact => None,
            Self::EveryDtype => Signature::of_every_dtype(&cluster.example),
        }
        .map_or_else(|| cluster.signature.clone(), |open| open.to_string())
    }
}

/// What a user asks to accept.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The list as it is.
    pub known: &'w Known,
    /// The patterns of the signatures; none for all.
    pub only: &'w [Pattern],
    /// What an entry covers.
    pub width: Width,
    /// The last day on which an entry holds.
    pub expires: Date,
}

impl Wanted<'_> {
    fn takes(&self, signature: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(signature))
    }

    /// Whether a signature is named word for word.
    fn names(&self, signature: &str) -> bool {
        self.only.iter().any(|pattern| pattern.to_string() == signature)
    }

    /// The entry of the list that covers all that an entry of the signature would. An entry for the very signature that was found covers
    /// less than one for every dtype, and stays beside it.
    fn covering(&self, cluster: &Cluster, version: &str) -> Option<String> {
        let of = |signature: &str| self.known.covering(version, signature).into_iter().next();
        let wide = self.width.signature(cluster);
        let is_former = || of(&cluster.signature).is_none() && cluster.known.is_some();
        let former = || {
            let covering = self.known.covering_finding(version, &cluster.example);
            covering.into_iter().next().filter(|_| is_former())
        };
        of(&wide).or_else(former).map(|(_, entry)| entry.signature.to_string())
    }

    fn entry(&self, cluster: &Cluster, version: &str) -> KnownEntry {
        KnownEntry::exactly(self.width.signature(cluster), version, place(cluster), self.expires)
    }
}

/// An entry for each signature that the list does not cover yet: for all of them, or for those that a pattern in
/// `only` matches. A signature that says too little is skipped, unless `only` names it word for word. The
/// report says which signatures are covered ([`Report::mark_known`]).
pub fn entries(report: &Report, identity: &Identity, wanted: &Wanted<'_>) -> Result<Accepted, NotFound> {
    let is_unmet =
        |pattern: &&Pattern| !report.clusters.iter().any(|cluster| pattern.matches(&cluster.signature));
    if let Some(pattern) = wanted.only.iter().find(is_unmet) {
        return Err(NotFound { pattern: pattern.clone() });
    }
    let mut accepted = Accepted::default();
    for cluster in report.clusters.iter().filter(|cluster| wanted.takes(&cluster.signature)) {
        accepted.take(cluster, &identity.version(&cluster.example.backend), wanted);
    }
    Ok(accepted)
}

impl Accepted {
    /// Accepts the findings of one signature.
    fn take(&mut self, cluster: &Cluster, version: &str, wanted: &Wanted<'_>) {
        let signature = || cluster.signature.clone();
        if let Some(by) = wanted.covering(cluster, version) {
            self.covered.push(Covered { signature: signature(), by });
            return;
        }
        if let Some(why) = says_too_little(&cluster.example).filter(|_| !wanted.names(&cluster.signature)) {
            self.skipped.push(Skipped { signature: signature(), why });
            return;
        }
        let entry = wanted.entry(cluster, version);
        let is_there =
            |other: &KnownEntry| other.signature == entry.signature && other.versions == entry.versions;
        if !self.entries.iter().any(is_there) {
            self.entries.push(entry);
        }
        if wanted.width == Width::Exact {
            let open = Signature::of_every_dtype(&cluster.example);
            self.one_dtype.extend(open.map(|open| open.to_string()));
        }
    }
}

/// Why the signature of a finding says too little to be accepted: it has neither an operator nor a message.
fn says_too_little(finding: &Finding) -> Option<&'static str> {
    let symptom = finding.core.as_ref().map_or(&finding.symptom, |core| &core.symptom);
    let message = match symptom {
        Symptom::Fault { place: message, .. } | Symptom::Rejected { message, .. } => message,
        _ => "",
    };
    if message::is_telling(&message::words(message)) {
        return None;
    }
    if matches!(finding.at_fault(), AtFault::Unnoticed(_)) {
        return None;
    }
    let blamed = match &finding.core {
        Some(core) => core.lists_operators().then_some(&core.operators),
        None => finding.culprit.as_ref().map(|culprit| &culprit.operator),
    };
    let Some(blamed) = blamed else {
        return Some("it names no operator: whatever is wrong with any graph would be known");
    };
    (is_form(blamed) && !blamed.contains(" of ")).then_some(
        "it names a form of programs and no operator: whatever is wrong with such programs would be known",
    )
}

/// Where to look at it until it is written up.
fn place(cluster: &Cluster) -> String {
    let saved = cluster.reduced.as_ref().or(cluster.smallest.as_ref());
    saved.map_or_else(|| format!("case {} of its campaign", cluster.first), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};
    use oracles::{Broken, Core, Culprit, ErrorShape, Verdict};
    use worker::{FaultKind, Stage};

    use super::*;

    #[test]
    fn a_finding_is_named_as_seen_from_its_list() {
        let root = tempfile::tempdir().expect("a folder");
        let [lists, case] = ["lists/mine", "campaign/findings/1"].map(|place| root.path().join(place));
        for folder in [&lists, &case] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        assert_eq!(seen_from(&lists, &case.display().to_string()), "../../campaign/findings/1");
        assert_eq!(seen_from(root.path(), &case.display().to_string()), "campaign/findings/1");
        assert_eq!(seen_from(&lists, "case 3 of its campaign"), "case 3 of its campaign");
    }

    type Who = fn(Finding) -> Finding;

    fn blamed(finding: Finding, operator: &str) -> Finding {
        let x = Type::new(DType::F32, [3]);
        Finding { culprit: Some(Culprit::in_context(operator, &[Some(&x)])), ..finding }
    }

    fn reduced(finding: Finding, operators: &[&str]) -> Finding {
        let x = Type::new(DType::F32, [3]);
        let operators: Vec<String> = operators.iter().map(ToString::to_string).collect();
        let core = Core::new(&operators, &[Some(&x)], finding.symptom.clone());
        Finding { core: Some(core), ..finding }
    }

    fn unnoticed(finding: Finding) -> Finding {
        let broken = Broken { rule: "missing-input".to_owned(), operator: Some("Conv".to_owned()) };
        Finding { broken: Some(broken), ..finding }
    }

    /// Whether a finding with this symptom may be accepted without being named.
    fn is_accepted(who: Who, symptom: Symptom) -> bool {
        let Verdict::Bug(finding) = Verdict::bug("e", "all", symptom, String::new()) else {
            panic!("it is a bug");
        };
        says_too_little(&who(*finding)).is_none()
    }

    #[test]
    fn what_names_neither_an_operator_nor_a_message_says_too_little() {
        let off = || Symptom::Mismatch(ErrorShape::Gross);
        let crash = || Symptom::Fault { kind: FaultKind::Signal, place: "SIGSEGV".to_owned() };
        let refused = |message: &str| Symptom::Rejected { stage: Stage::Load, message: message.to_owned() };
        let vague: [(&str, Who); 4] = [
            ("whole graph", |finding| finding),
            ("whole graph, hidden by taps", |finding| Finding { hidden_by_taps: true, ..finding }),
            ("graph of 8 f32 dense", |finding| reduced(finding, &["Neg"; 8])),
            ("form If f32 dense in context", |finding| blamed(finding, "form If")),
        ];
        let telling: [(&str, Who); 4] = [
            ("violate missing-input of Conv", unnoticed),
            ("Conv f32 dense in context", |finding| blamed(finding, "Conv")),
            ("Add + Exp f32 dense", |finding| reduced(finding, &["Add", "Exp"])),
            ("form parameter of Slice f32 dense in context", |finding| {
                blamed(finding, "form parameter of Slice")
            }),
        ];
        for (name, who) in vague.iter().chain(&telling) {
            let Verdict::Bug(finding) = Verdict::bug("e", "all", off(), String::new()) else {
                unreachable!()
            };
            assert_eq!(who(*finding).signature().to_string(), format!("e | {name} | mismatch gross"));
        }
        for (name, who) in vague {
            assert!(!is_accepted(who, off()) && !is_accepted(who, crash()), "{name}");
            assert!(is_accepted(who, refused("Broadcasting: shapes do not match")), "{name}");
        }
        for (name, who) in telling {
            assert!(is_accepted(who, off()) && is_accepted(who, crash()), "{name}");
        }
    }
}
