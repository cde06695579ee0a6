//! Findings of different signatures that have one cause, as one group: what a person looks at, and opens an issue for.
//!
//! [`oracles::cause`] says what belongs together. Nothing is lost: a group keeps its signatures, each with its smallest
//! case, so that a second fault behind the same operator can still be seen. One of them stands for the group: what it is called, the
//! signature that is told and the case are of one and the same finding.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use oracles::{AtFault, Broken, Finding, Symptom, cause};
use serde::Serialize;

use crate::report::others::{Others, is_odd_one_out};
use crate::report::{Cluster, Report, element_types};

/// The findings of one cause.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The engine.
    pub backend: String,
    /// The operator at fault, or what is known of it.
    pub place: String,
    /// What the engine does, in a few words.
    pub does: String,
    /// How many findings there are.
    pub count: u64,
    /// The case of the signature that stands for the group, if one was saved.
    pub smallest: Option<PathBuf>,
    /// What that case was reduced to.
    pub reduced: Option<PathBuf>,
    /// Whether a process that has run nothing else shows what cases of that case's signature are reduced to
    /// ([`Cluster::steady`]).
    pub steady: Option<bool>,
    /// What that case shows.
    pub example: Finding,
    /// Where the findings are written up, if all of them are known.
    pub known: Option<String>,
    /// The versions of the engine for which a list has a signature that is new for the one that ran ([`Cluster::known_in`]).
    pub known_in: Option<String>,
    /// What the targets made of the whole cases that have the example's signature.
    pub others: BTreeMap<String, Others>,
    /// The signatures: first the one that stands for the group, then unknown ones before known ones, and of each the most frequent first.
    pub signatures: Vec<Member>,
}

/// A signature in a group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Member {
    /// The signature.
    pub signature: String,
    /// How many findings have it.
    pub count: u64,
    /// Its case with the fewest nodes, if one was saved.
    pub smallest: Option<PathBuf>,
    /// Where it is written up, if it is known.
    pub known: Option<String>,
}

impl Report {
    /// The findings in groups of one cause each. New causes come before known ones, those with the most new
    /// findings first, then the most frequent. `alike` is how alike messages have to be, from 0 to 1;
    /// [`cause::ALIKE`] is usual.
    pub fn groups(&self, alike: f64) -> Vec<Group> {
        let findings: Vec<&Finding> = self.clusters.iter().map(|c| &c.example).collect();
        let parts = cause::join(&findings, alike);
        let members = |part: Vec<usize>| part.into_iter().map(|i| &self.clusters[i]).collect::<Vec<_>>();
        let mut groups: Vec<Group> = parts.into_iter().filter_map(|part| Group::of(&members(part))).collect();
        groups.sort_by(|a, b| {
            let order = a.known.is_some().cmp(&b.known.is_some()).then(b.new_count().cmp(&a.new_count()));
            let order = order.then(b.count.cmp(&a.count));
            order.then_with(|| a.title().cmp(&b.title())).then_with(|| a.smallest.cmp(&b.smallest))
        });
        groups
    }
}

impl Group {
    /// The group of these clusters; none of no clusters.
    fn of(clusters: &[&Cluster]) -> Option<Self> {
        let shown = *clusters.iter().min_by_key(|c| telling(c))?;
        let mut clusters = clusters.to_vec();
        clusters.sort_by_cached_key(|c| {
            (c.signature != shown.signature, c.known.is_some(), Reverse(c.count), c.signature.clone())
        });
        let all_known = clusters.iter().all(|c| c.known.is_some());
        let member = |c: &&Cluster| Member {
            signature: c.signature.clone(),
            count: c.count,
            smallest: c.smallest.clone(),
            known: c.known.clone(),
        };
        Some(Self {
            backend: shown.example.backend.clone(),
            place: place(shown, &clusters),
            does: does(&shown.example),
            count: clusters.iter().map(|c| c.count).sum(),
            smallest: shown.smallest.clone(),
            reduced: shown.reduced.clone(),
            steady: shown.steady,
            example: shown.example.clone(),
            known: shown.known.clone().filter(|_| all_known),
            known_in: clusters.iter().find_map(|c| c.known_in.clone()),
            others: shown.others.clone(),
            signatures: clusters.iter().map(member).collect(),
        })
    }

    /// The signatures that are not known.
    pub fn new_signatures(&self) -> impl Iterator<Item = &Member> {
        self.signatures.iter().filter(|member| member.known.is_none())
    }

    /// How many findings have a signature that is not known.
    pub fn new_count(&self) -> u64 {
        self.new_signatures().map(|member| member.count).sum()
    }

    /// What is wrong, in a line.
    pub fn title(&self) -> String {
        format!("{}: {}: {}", self.backend, self.place, self.does)
    }

    /// Whether two or more other targets agreed with the reference, and none disagreed.
    pub fn is_odd_one_out(&self) -> bool {
        is_odd_one_out(&self.backend, &self.others)
    }

    /// What is to be known before the finding is reported.
    pub fn cautions(&self) -> Vec<String> {
        let unsteady =
            "models that ran before may have a part in it: by itself, in a fresh process, the case is right";
        let listed = self.known_in.as_ref().map(|versions| format!("listed for {versions}, and still so"));
        (self.steady == Some(false)).then(|| unsteady.to_owned()).into_iter().chain(listed).collect()
    }
}

/// How well a signature stands for its group: the best has the least key. A signature that is not known goes before a
/// known one, one with a saved case before one without, a fault before what follows from it, an operator alone before
/// one in context, and a case with few nodes before a larger one.
fn telling(cluster: &Cluster) -> impl Ord + use<> {
    let Cluster { known, smallest, example, signature, .. } = cluster;
    let is_alone = example.culprit.as_ref().map(|culprit| culprit.alone);
    let unlike = (known.is_some(), smallest.is_none(), example.is_consequence());
    (unlike, Reverse(is_alone), nodes_left(cluster), signature.clone())
}

/// How many nodes a cluster's case has once it is reduced.
fn nodes_left(cluster: &Cluster) -> usize {
    let Cluster { example, nodes, .. } = cluster;
    match (&example.core, &example.culprit) {
        (Some(core), _) => core.nodes,
        (None, Some(culprit)) if culprit.alone => 1,
        (None, _) => *nodes,
    }
}

/// Where the fault is of the signature that stands for a group.
fn place(shown: &Cluster, clusters: &[&Cluster]) -> String {
    let finding = &shown.example;
    let place = finding.at_fault_when_reduced();
    if let AtFault::Unnoticed(broken) = place
        && clusters.iter().any(|c| c.example.broken.as_ref() != Some(broken))
    {
        return Broken { operator: None, ..broken.clone() }.to_string();
    }
    let is_operator = matches!(place, AtFault::Operator(_));
    let in_context = is_operator && is_in_context(finding);
    if in_context { format!("{place} in context") } else { place.to_string() }
}

/// Whether an operator at fault shows it in its graph alone, as the signature says: also one that was found by reducing a case that
/// nobody is blamed for.
fn is_in_context(finding: &Finding) -> bool {
    finding.culprit.as_ref().is_none_or(|culprit| !culprit.alone)
}

/// What an engine does, for a headline.
fn does(finding: &Finding) -> String {
    let under = finding.telling_check().map_or_else(String::new, |check| format!(" ({check})"));
    if finding.is_consequence() {
        return format!("wrong type or shape, on which later operators fail{under}");
    }
    symptom(finding) + &under
}

fn symptom(finding: &Finding) -> String {
    let headline = |masked: &str| headline(&element_types::restored(masked, &finding.detail));
    match &finding.symptom {
        Symptom::Fault { kind, place } if place.is_empty() => kind.to_string(),
        Symptom::Fault { kind, place } => format!("{kind}: {}", headline(place)),
        Symptom::Rejected { message, .. } => format!("refuses a valid model: {}", headline(message)),
        Symptom::Accepted { rule } => format!("accepts an invalid model: {rule}"),
        Symptom::MissingOutput => "an output is missing".to_owned(),
        Symptom::WrongType => "wrong type or shape".to_owned(),
        Symptom::Mismatch(_) => "wrong elements".to_owned(),
        Symptom::Slow => "much slower than what is next to it".to_owned(),
    }
}

/// A headline has so many characters of a message's start, and of its end, where runtimes tend to put the cause.
const HEADLINE: (usize, usize) = (40, 80);

/// The innermost parts of a message that say something.
fn headline(message: &str) -> String {
    let words = oracles::message::cause(message).len();
    let starts = message.match_indices(": ").map(|(at, colon)| &message[at + colon.len()..]);
    let mut parts: Vec<&str> = std::iter::once(message).chain(starts).collect();
    parts.reverse();
    let part = parts.into_iter().find(|part| oracles::message::words(part).len() >= words).unwrap_or(message);
    // Where in the runtime's sources it was said tells a reader nothing, and the names of files and lines are left out anyway.
    let part = part.trim_start_matches("‹path›:‹n›").trim_start();
    // Nor does the function, nor the condition, where words say what they are about (ONNX Runtime's `ORT_ENFORCE`).
    let said = part.split_once(" was false. ").map(|(_, said)| said);
    let part =
        said.filter(|said| oracles::message::is_telling(&oracles::message::words(said))).unwrap_or(part);
    let letters: Vec<char> = part.chars().collect();
    let (start, end) = HEADLINE;
    if letters.len() <= start + end {
        return part.to_owned();
    }
    let middle = [' ', '…', ' '];
    letters[..start].iter().chain(&middle).chain(&letters[letters.len() - end..]).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use harness::validity::Validity;
    use oracles::{Core, Culprit, Verdict};
    use worker::Stage;

    use super::*;

    #[test]
    fn a_headline_is_what_is_said_and_not_where() {
        let enforced = "‹path›:‹n› onnxruntime::Shape onnxruntime::Pool::SetOutputSize(const Shape&) const _shape[‹n›] == ‹n› was false. \
                        Invalid input shape. Only N can be zero.";
        assert_eq!(headline(enforced), "Invalid input shape. Only N can be zero.");
        let bare = "‹path›:‹n› onnxruntime::LRN<T>::LRN(const Info&) size_ % ‹n› == ‹n› was false. ";
        assert!(headline(bare).contains("was false"), "{}", headline(bare));
    }

    fn cluster(signature: &str, count: u64, known: Option<&str>) -> Cluster {
        let Verdict::Bug(example) = Verdict::bug("engine", "all", Symptom::WrongType, String::new()) else {
            panic!("it is a bug");
        };
        Cluster {
            signature: signature.to_owned(),
            count,
            cases: count,
            first: 0,
            level: Validity::Valid,
            example: Finding { detail: signature.to_owned(), ..*example },
            smallest: Some(PathBuf::from(signature)),
            reduced: None,
            steady: None,
            nodes: count as usize,
            known: known.map(str::to_owned),
            known_in: None,
            formerly: BTreeMap::new(),
            others: BTreeMap::new(),
        }
    }

    #[test]
    fn a_group_is_shown_by_what_is_not_known_of_it() {
        let all = [cluster("often", 1, Some("here")), cluster("seldom", 2, None), cluster("more", 9, None)];
        let group = Group::of(&all.iter().collect::<Vec<_>>()).expect("a group");
        let signatures: Vec<&str> = group.signatures.iter().map(|member| member.signature.as_str()).collect();
        assert_eq!(signatures, ["seldom", "more", "often"]);
        assert_eq!((group.new_signatures().count(), group.new_count()), (2, 11));
        assert_eq!((group.example.detail.as_str(), group.known, group.count), ("seldom", None, 12));
        let known = Group::of(&[&all[0]]).expect("a group");
        assert_eq!(known.known.as_deref(), Some("here"));
    }

    #[test]
    fn a_group_is_called_by_the_operator_that_its_signature_names() {
        let title = |culprit: Option<Culprit>, operator: &str| {
            let mut cluster = cluster("s", 1, None);
            let core = Core::new(&[operator.to_owned()], &[], Symptom::WrongType);
            cluster.example = Finding { culprit, core: Some(core), ..cluster.example };
            let signature = cluster.example.signature().to_string();
            (Group::of(&[&cluster]).expect("a group").title(), signature)
        };
        let told = |title: &str, signature: &str| (title.to_owned(), signature.to_owned());
        for blamed in [Some(Culprit::in_context("Softmax", &[])), None] {
            assert_eq!(
                title(blamed, "Tanh"),
                told(
                    "engine: Tanh in context: wrong type or shape",
                    "engine | Tanh bool dense in context | wrong type"
                )
            );
        }
        assert_eq!(
            title(Some(Culprit::alone("Conv", &[])), "Conv(auto_pad=VALID)"),
            told(
                "engine: Conv: wrong type or shape",
                "engine | Conv(auto_pad=VALID) bool dense | wrong type"
            )
        );
    }

    /// The whole case of the second has fewer nodes, and what follows from the fault is more frequent.
    #[test]
    fn a_group_is_called_by_the_finding_whose_case_is_shown() {
        let culprit = |alone| Some(Culprit { alone, ..Culprit::alone("MatMul", &[]) });
        let of = |signature: &str, count, culprit: Option<Culprit>, symptom: Symptom| {
            let mut cluster = cluster(signature, count, None);
            cluster.example = Finding { culprit, symptom, ..cluster.example };
            cluster
        };
        let refused = Symptom::Rejected { stage: Stage::Run, message: "no such rank".to_owned() };
        let reason = culprit(false).map(|culprit| Culprit { is_reason: true, ..culprit });
        let all = [
            Cluster { nodes: 9, ..of("alone", 1, culprit(true), Symptom::WrongType) },
            of("in context", 2, culprit(false), Symptom::WrongType),
            of("later", 3, reason, refused),
        ];
        assert!(all[2].example.is_consequence());
        let group = Group::of(&all.iter().collect::<Vec<_>>()).expect("a group");
        assert_eq!(group.title(), "engine: MatMul: wrong type or shape");
        assert_eq!(group.smallest.as_deref(), Some(Path::new("alone")));
        assert_eq!(group.signatures[0].signature, "alone");
        let group = Group::of(&[&all[1], &all[2]]).expect("a group");
        assert_eq!(group.title(), "engine: MatMul in context: wrong type or shape");
        assert_eq!(group.signatures[0].signature, "in context");
    }
}
