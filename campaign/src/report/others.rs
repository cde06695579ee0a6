//! What the targets made of the cases of a finding: whether one is alone with it.
//!
//! A campaign asks all targets about the whole case, and reduces it for the target that is wrong alone. So a target that is
//! wrong about the whole case may be right about what is left of it: what it got wrong is told with it.

use std::collections::{BTreeMap, BTreeSet};

use oracles::{Finding, Symptom, Verdict};
use serde::{Deserialize, Serialize};

use harness::counts;
use triage::judged::Judged;

/// What one target made of the whole cases of a finding. Each case counts once.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Others {
    /// In how many it is right.
    pub right: u64,
    /// In how many it has the same finding: the same operators at fault, with the same kind of symptom.
    pub same: u64,
    /// In how many it is wrong, but not known to be so in the same way.
    pub otherwise: u64,
    /// In how many its answer says nothing.
    pub silent: u64,
    /// What it does there instead: the signature of the first finding in each of them.
    pub as_signatures: BTreeMap<String, u64>,
}

impl Others {
    /// What a target made of one case in which this finding was found. `found` are the target's own findings
    /// on the case. `None` if the target was not asked.
    pub(crate) fn of(finding: &Finding, judged: &Judged, found: &[&Finding]) -> Option<Self> {
        if found.iter().any(|other| is_same(finding, other)) {
            return Some(Self { same: 1, ..Self::default() });
        }
        if let Some(other) = found.first() {
            let as_signatures = BTreeMap::from([(other.signature().to_string(), 1)]);
            return Some(Self { otherwise: 1, as_signatures, ..Self::default() });
        }
        Some(match judged.verdict_on(finding)? {
            Verdict::Pass => Self { right: 1, ..Self::default() },
            Verdict::Bug(_) => Self { otherwise: 1, ..Self::default() },
            Verdict::Incomparable(_) => Self { silent: 1, ..Self::default() },
        })
    }

    /// Adds what it made of other cases.
    pub(super) fn merge(&mut self, more: Self) {
        let Self { right, same, otherwise, silent, as_signatures } = more;
        self.right += right;
        self.same += same;
        self.otherwise += otherwise;
        self.silent += silent;
        counts::add(&mut self.as_signatures, as_signatures);
    }

    /// In how many cases it is wrong.
    pub fn wrong(&self) -> u64 {
        self.same + self.otherwise
    }
}

/// Whether two or more other engines agree with the reference, at one of their levels at least, and none disagrees.
pub(crate) fn is_odd_one_out(backend: &str, others: &BTreeMap<String, Others>) -> bool {
    let of_others = || {
        let named = others.iter().map(|(target, made)| (engine_of(target), made));
        named.filter(|(engine, _)| *engine != backend)
    };
    let right: BTreeSet<&str> =
        of_others().filter(|(_, made)| made.right > 0).map(|(engine, _)| engine).collect();
    of_others().all(|(_, made)| made.wrong() == 0) && right.len() >= 2
}

/// The engine of a target, which is named by it and the level.
fn engine_of(target: &str) -> &str {
    target.rsplit_once(':').map_or(target, |(engine, _)| engine)
}

/// Whether two findings in one case are the same, but for the engine. What nobody is blamed for is the same on one engine alone.
fn is_same(a: &Finding, b: &Finding) -> bool {
    if a.backend == b.backend && a.signature() == b.signature() {
        return true;
    }
    blamed(a).is_some_and(|blamed_for_a| Some(blamed_for_a) == blamed(b))
        && kind(&a.symptom) == kind(&b.symptom)
}

/// Who is to blame: the operators that are left of the case or else the culprit, and whether it is wrong alone.
fn blamed(finding: &Finding) -> Option<(&str, bool)> {
    let is_alone = finding.culprit.as_ref().is_some_and(|culprit| culprit.alone);
    let left = finding.core.as_ref().map(|core| core.operators.as_str());
    let culprit = || finding.culprit.as_ref().map(|culprit| culprit.operator.as_str());
    Some((left.or_else(culprit)?, is_alone))
}

/// What kind of thing an engine does; where it takes an invalid model, which rule that breaks.
fn kind(symptom: &Symptom) -> &str {
    match symptom {
        Symptom::Accepted { rule } => rule,
        symptom => symptom.kind(),
    }
}

#[cfg(test)]
mod tests {
    use oracles::signature::Core;
    use oracles::{Culprit, ErrorShape};
    use worker::Stage;

    use super::*;

    fn finding(backend: &str, operator: &str, symptom: Symptom) -> Finding {
        let Verdict::Bug(finding) = Verdict::bug(backend, "all", symptom.clone(), String::new()) else {
            panic!("it is a bug");
        };
        let culprit = Culprit::alone(operator.split('(').next().expect("a name"), &[]);
        let core = Core::new(&[operator.to_owned()], &[], symptom);
        Finding { culprit: Some(culprit), core: Some(core), ..*finding }
    }

    fn off(backend: &str, operator: &str) -> Finding {
        finding(backend, operator, Symptom::Mismatch(ErrorShape::Gross))
    }

    /// What a target that has some findings, and else this verdict, made of a case of a Loop that ort refuses.
    fn made(found: &[Finding], verdict: Verdict) -> Others {
        let refused = Symptom::Rejected { stage: Stage::Run, message: "no".to_owned() };
        let accused = finding("ort", "form Loop", refused);
        let found: Vec<&Finding> = found.iter().collect();
        Others::of(&accused, &Judged::only(verdict), &found).expect("it was asked")
    }

    #[test]
    fn what_is_wrong_elsewhere_for_another_reason_is_told_as_what_it_is() {
        let unrelated = off("rten", "Conv(auto_pad=SAME_LOWER)");
        let signature = unrelated.signature().to_string();
        let verdict = Verdict::Bug(Box::new(unrelated.clone()));
        let rten = made(&[unrelated], verdict);
        assert_eq!((rten.right, rten.same, rten.otherwise), (0, 0, 1));
        assert_eq!(rten.as_signatures, BTreeMap::from([(signature, 1)]));
        assert_eq!(made(&[], Verdict::Pass).right, 1);
        assert_eq!(made(&[], Verdict::Incomparable(oracles::Why::Undecidable)).silent, 1);
    }

    #[test]
    fn the_same_operators_with_the_same_symptom_are_the_same_finding_on_any_engine() {
        let same = |a: &Finding, b: &Finding| is_same(a, b);
        let conv = off("ort", "Conv(auto_pad=SAME_LOWER)");
        assert!(same(&conv, &off("rten", "Conv(auto_pad=SAME_LOWER)")));
        assert!(!same(&conv, &off("rten", "Conv(dilations)")));
        assert!(!same(&conv, &finding("rten", "Conv(auto_pad=SAME_LOWER)", Symptom::WrongType)));
        let nobody = |backend| Finding { culprit: None, core: None, ..off(backend, "Conv") };
        assert!(same(&nobody("ort"), &nobody("ort")) && !same(&nobody("ort"), &nobody("rten")));
    }

    #[test]
    fn levels_of_the_accused_engine_are_no_others() {
        let right = || Others { right: 1, ..Others::default() };
        let same = || Others { same: 1, ..Others::default() };
        let of = |targets: Vec<(&str, Others)>| {
            let others = targets.into_iter().map(|(target, made)| (target.to_owned(), made)).collect();
            is_odd_one_out("ort", &others)
        };
        assert!(of(vec![("ort:all", same()), ("cpu:default", right()), ("rten:all", right())]));
        assert!(!of(vec![("ort:all", same()), ("ort:none", right()), ("rten:all", right())]));
        assert!(!of(vec![("tract:all", same()), ("cpu:default", right()), ("rten:all", right())]));
    }
}
