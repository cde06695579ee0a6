//! Which findings have one cause, as far as can be told without repairing it.
//!
//! A signature says all that was seen; one fault is seen in many ways. The dtype, the shapes and how far an element is
//! off depend on the case more than on the fault, and so does the place where a message comes up. What a maintainer
//! would open one issue for is this:
//!
//! 1. the same engine did the same kind of thing: wrong elements, a wrong type, a refusal, a panic, …
//! 2. with the same operator at fault, and
//! 3. where there is a message, its cause ([`message::cause`]) is the same but for one word in ten.
//!
//! An operator that is first to diverge within a graph is taken together with the same operator alone, where that fails
//! too; where it does not, a fusion is at fault, which is another cause. Where several operators are left of a graph with wrong
//! elements when it is reduced, these are at fault together. Where a wrong type makes a later operator fail,
//! the wrong type is the cause, whatever the later one says. A finding that nobody is blamed for belongs to
//! the operator whose message is most like its own. Without a message it stays apart.
//!
//! Where a model is not valid, the rule and the operator in whose use that is broken are at fault together: each
//! operator is checked by code of its own. But an engine that gives outputs for such a model does not look at all: of
//! one rule that is one cause, whatever the operator.
//!
//! The result does not depend on the order of the findings.

use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;

use crate::message::{self, similarity, words};
use crate::signature::Symptom;
use crate::verdict::{AtFault, Finding};

/// How alike two causes have to be, if nothing else is said: HirFuzz's 90 %.
pub const ALIKE: f64 = 0.9;

/// The findings in groups of one cause each, by their numbers. `alike` is how alike the causes in their messages have
/// to be, from 0 to 1. Groups, and findings in a group, are in ascending order.
pub fn join(findings: &[&Finding], alike: f64) -> Vec<Vec<usize>> {
    let seen: Vec<Seen<'_>> = findings.iter().map(|finding| Seen::new(finding)).collect();
    let mut deeds: BTreeMap<Deed<'_>, Vec<usize>> = BTreeMap::new();
    for (i, of) in seen.iter().enumerate() {
        deeds.entry(of.deed()).or_default().push(i);
    }
    let mut groups = UnionFind::new(seen.len());
    for deed in deeds.values() {
        join_deed(&seen, deed, alike, &mut groups);
    }
    lists(groups)
}

/// Unites the findings of one deed that have one cause, by their numbers.
fn join_deed(seen: &[Seen<'_>], deed: &[usize], alike: f64, groups: &mut UnionFind<usize>) {
    let named = pairs(deed).filter(|&(i, j)| seen[i].names_the_same(&seen[j]));
    unite(seen, named, alike, groups);
    let nobodys = deed.iter().copied().filter(|&i| seen[i].at_fault == AtFault::Nobody);
    let mut homeless = Vec::new();
    for i in nobodys {
        match seen[i].home(deed.iter().map(|&j| (j, &seen[j])), alike) {
            Some(home) => _ = groups.union(i, home),
            None => homeless.push(i),
        }
    }
    unite(seen, pairs(&homeless), alike, groups);
}

/// Unites those pairs that speak of their deed in like words.
fn unite(
    seen: &[Seen<'_>],
    pairs: impl Iterator<Item = (usize, usize)>,
    alike: f64,
    groups: &mut UnionFind<usize>,
) {
    for (i, j) in pairs {
        // To compare words is what costs.
        if !groups.equiv(i, j) && seen[i].is_like(&seen[j], alike) {
            groups.union(i, j);
        }
    }
}

/// Every two of some numbers.
fn pairs(of: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    of.iter().enumerate().flat_map(|(k, &i)| of[k + 1..].iter().map(move |&j| (i, j)))
}

/// What an engine did, whatever the operator and the message: the engine, the oracle's question, and the kind of the symptom.
type Deed<'a> = (&'a str, Option<(&'a str, &'a str)>, &'a str);

/// What a cause is judged by.
struct Seen<'a> {
    finding: &'a Finding,
    kind: &'a str,
    at_fault: AtFault<'a>,
    /// The words of the whole message, and of the cause in it.
    words: Vec<&'a str>,
    cause: Vec<&'a str>,
}

impl<'a> Seen<'a> {
    fn new(finding: &'a Finding) -> Self {
        let (kind, text) = kind(finding);
        let at_fault = match &finding.symptom {
            Symptom::Accepted { .. } => AtFault::Nobody,
            _ if text.is_empty() => finding.at_fault_when_reduced(),
            _ => finding.at_fault(),
        };
        Self { finding, kind, at_fault, words: words(text), cause: message::cause(text) }
    }

    /// What was done. Findings of different deeds have different causes.
    fn deed(&self) -> Deed<'a> {
        let check = self.finding.telling_check().map(|check| (check.oracle.as_str(), check.name.as_str()));
        (&self.finding.backend, check, self.kind)
    }

    /// Whether two findings of one deed speak of it in like words.
    fn is_like(&self, other: &Self, alike: f64) -> bool {
        similarity(&self.cause, &other.cause) >= alike
    }

    /// Whether both know who is at fault, and agree.
    fn names_the_same(&self, other: &Self) -> bool {
        self.at_fault == other.at_fault && self.at_fault != AtFault::Nobody
    }

    fn says_something(&self) -> bool {
        message::is_telling(&self.cause)
    }

    /// For a finding that nobody is blamed for: the finding of an operator, among those of its deed, whose message is most like
    /// this one's.
    fn home<'s>(&self, deed: impl Iterator<Item = (usize, &'s Self)>, alike: f64) -> Option<usize>
    where
        Self: 's,
    {
        if !self.says_something() {
            return None;
        }
        let is_home =
            |other: &Self| matches!(other.at_fault, AtFault::Operator(_)) && self.is_like(other, alike);
        let homes = deed.filter(|(_, other)| is_home(other));
        let likeness = |other: &Self| similarity(&self.words, &other.words);
        // Of equals the first by name, so that the order of the findings does not matter.
        homes
            .max_by(|(_, a), (_, b)| {
                likeness(a).total_cmp(&likeness(b)).then_with(|| b.operator().cmp(a.operator()))
            })
            .map(|(i, _)| i)
    }

    fn operator(&self) -> &'a str {
        match self.at_fault {
            AtFault::Operator(operator) => operator,
            AtFault::Together(_) | AtFault::Unnoticed(_) | AtFault::Hidden | AtFault::Nobody => "",
        }
    }
}

/// The kind of the symptom, and the text that tells findings of this kind apart.
fn kind(finding: &Finding) -> (&str, &str) {
    // Where a later operator fails on a wrong type, that is the cause.
    if finding.is_consequence() {
        return (Symptom::WrongType.kind(), "");
    }
    (finding.symptom.kind(), finding.symptom.text())
}

/// The members of each set. The order in which sets were united decides which member stands for one, so a set is placed
/// by its smallest.
fn lists(groups: UnionFind<usize>) -> Vec<Vec<usize>> {
    let mut lists: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, of) in groups.into_labeling().into_iter().enumerate() {
        lists.entry(of).or_default().push(i);
    }
    let mut lists: Vec<Vec<usize>> = lists.into_values().collect();
    lists.sort_unstable();
    lists
}

#[cfg(test)]
mod tests {
    use worker::{FaultKind, Stage};

    use super::*;
    use crate::message::normalise;
    use crate::signature::{Core, Culprit, ErrorShape};
    use crate::verdict::Broken;

    fn finding(backend: &str, symptom: Symptom, culprit: Option<&str>) -> Finding {
        let culprit = culprit.map(|text| {
            let words: Vec<&str> = text.split(' ').collect();
            let (operator, dtype) = (words[0].to_owned(), words[1].to_owned());
            Culprit {
                operator,
                dtype,
                shapes: "dense".to_owned(),
                alone: !words.contains(&"in"),
                is_reason: false,
            }
        });
        let (backend, level) = (backend.to_owned(), "all".to_owned());
        Finding {
            check: None,
            backend,
            level,
            symptom,
            broken: None,
            culprit,
            hidden_by_taps: false,
            core: None,
            after: Vec::new(),
            detail: String::new(),
            worst: None,
            stderr: String::new(),
        }
    }

    fn off(culprit: Option<&str>, shape: ErrorShape) -> Finding {
        finding("e", Symptom::Mismatch(shape), culprit)
    }

    fn refused(stage: Stage, culprit: Option<&str>, message: &str) -> Finding {
        finding("e", Symptom::Rejected { stage, message: normalise(message) }, culprit)
    }

    /// The groups, which have to be the same in reverse.
    fn joined(findings: &[Finding]) -> Vec<Vec<usize>> {
        let forward: Vec<&Finding> = findings.iter().collect();
        let backward: Vec<&Finding> = findings.iter().rev().collect();
        let groups = join(&forward, ALIKE);
        let mut mirrored = join(&backward, ALIKE);
        for group in &mut mirrored {
            for i in group.iter_mut() {
                *i = findings.len() - 1 - *i;
            }
            group.sort_unstable();
        }
        mirrored.sort();
        assert_eq!(groups, mirrored, "the order matters");
        groups
    }

    #[test]
    fn dtype_shapes_and_distance_are_no_causes_but_engine_and_operator_are() {
        let groups = joined(&[
            off(Some("Mod f32"), ErrorShape::Gross),
            off(Some("Mod u8"), ErrorShape::NaN),
            off(Some("Mul f32"), ErrorShape::Gross),
            finding("other", Symptom::Mismatch(ErrorShape::Gross), Some("Mod f32")),
            finding("e", Symptom::WrongType, Some("Mod f32")),
            off(Some("Mod f32 in context"), ErrorShape::Slight),
            off(None, ErrorShape::Gross),
        ]);
        assert_eq!(groups, [vec![0, 1, 5], vec![2], vec![3], vec![4], vec![6]]);
    }

    #[test]
    fn what_several_operators_do_together_is_told_apart_by_the_operators() {
        let left = |operators: [&str; 2]| {
            let hidden = off(None, ErrorShape::Gross);
            let core = Core::new(&operators.map(str::to_owned), &[], hidden.symptom.clone());
            Finding { hidden_by_taps: true, core: Some(core), ..hidden }
        };
        let exp = off(Some("Exp f32"), ErrorShape::Gross);
        let in_context =
            Finding { culprit: off(Some("Exp f32 in"), ErrorShape::Gross).culprit, ..left(["Exp", "Neg"]) };
        let groups =
            joined(&[left(["Add", "Exp"]), left(["Mul", "Exp"]), left(["Add", "Exp"]), exp, in_context]);
        assert_eq!(groups, [vec![0, 2], vec![1], vec![3], vec![4]]);
    }

    #[test]
    fn a_rule_that_an_engine_does_not_look_at_is_one_cause_and_what_it_does_not_survive_is_one_for_each_operator()
     {
        let broken = |rule: &str, operator: &str, symptom: Symptom| {
            let broken = Broken { rule: rule.to_owned(), operator: Some(operator.to_owned()) };
            Finding { broken: Some(broken), ..finding("e", symptom, None) }
        };
        let takes =
            |rule: &str, operator| broken(rule, operator, Symptom::Accepted { rule: rule.to_owned() });
        let panic = || Symptom::Fault { kind: FaultKind::Panic, place: "divide by zero".to_owned() };
        let groups = joined(&[
            takes("operand-size", "Conv"),
            takes("operand-size", "MatMul"),
            takes("operand-dtype", "Conv"),
            broken("operand-size", "Conv", panic()),
            broken("operand-size", "MatMul", panic()),
        ]);
        assert_eq!(groups, [vec![0, 1], vec![2], vec![3], vec![4]]);
    }

    #[test]
    fn one_message_in_many_wrappings_is_one_cause() {
        let rank = "Condition failed: `a_rank > 1 || b_rank > 1`";
        let analyse = format!("Failed analyse for node #12 \"n10\" MatMulInference: Eager eval: {rank}");
        let translate = format!("Translating node #12 \"n10\" MatMulInference ToTypedTranslator: {rank}");
        let other = analyse.replace("a_rank", "m == n && a_rank");
        let groups = joined(&[
            refused(Stage::Load, Some("MatMul f32"), &translate),
            refused(Stage::Load, Some("MatMul u64"), &analyse),
            refused(Stage::Run, None, &analyse),
            refused(Stage::Load, Some("MatMul f32"), &other),
            refused(Stage::Load, Some("Gemm f32"), &translate),
        ]);
        assert_eq!(groups, [vec![0, 1, 2], vec![3], vec![4]]);
    }

    #[test]
    fn a_finding_without_a_culprit_goes_to_the_operator_that_its_message_names() {
        let groups = joined(&[
            refused(
                Stage::Run,
                Some("IsInf f64"),
                "Evaluating #4 \"n6\" IsInf: Element wise eval not defined",
            ),
            refused(
                Stage::Run,
                Some("IsNaN f64"),
                "Evaluating #4 \"n6\" IsNan: Element wise eval not defined",
            ),
            refused(Stage::Load, None, "Analysing \"n8\" IsNan: Element wise eval not defined"),
            refused(Stage::Load, None, "Analysing \"n8\" IsInf: Element wise eval not defined"),
        ]);
        assert_eq!(groups, [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn a_finding_without_a_culprit_stays_with_what_its_engine_did() {
        let message = "Analysing \"n8\" IsNan: Element wise eval not defined";
        let of = |backend: &str, culprit| {
            let symptom = Symptom::Rejected { stage: Stage::Load, message: normalise(message) };
            finding(backend, symptom, culprit)
        };
        let groups = joined(&[of("e", Some("IsNaN f64")), of("f", None), of("f", None), of("e", None)]);
        assert_eq!(groups, [vec![0, 3], vec![1, 2]]);
    }

    #[test]
    fn what_fails_on_a_wrong_type_belongs_to_the_wrong_type() {
        let panic = Symptom::Fault { kind: FaultKind::Panic, place: "chunk_size is zero".to_owned() };
        let groups = joined(&[
            refused(Stage::Run, Some("MatMul f32 in context"), "Transpose: permutation is invalid"),
            finding("e", Symptom::WrongType, Some("MatMul f32")),
            refused(Stage::Load, Some("MatMul f32 in context"), "Conv: kernel must have 4 dims"),
            refused(Stage::Load, Some("MatMul f32"), "Conv: kernel must have 4 dims"),
            finding("e", panic, Some("MatMul f32 in context")),
            refused(Stage::Run, Some("Slice f32 in context"), "Transpose: permutation is invalid"),
        ]);
        assert_eq!(groups, [vec![0, 1, 2, 4], vec![3], vec![5]]);
    }

    #[test]
    fn a_signal_without_a_culprit_is_nobodys() {
        let crash = |culprit| {
            let symptom = Symptom::Fault { kind: FaultKind::Signal, place: "SIGSEGV".to_owned() };
            finding("e", symptom, culprit)
        };
        let groups = joined(&[crash(Some("Pad f32")), crash(None), crash(Some("Pad u8")), crash(None)]);
        assert_eq!(groups, [vec![0, 2], vec![1, 3]]);
    }
}
