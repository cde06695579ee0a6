//! Verdicts: pass, bug, or incomparable and why.

use serde::{Deserialize, Serialize};

use crate::allowance::Allowance;
use crate::signature::{Core, Culprit, Signature, Symptom};

/// What an oracle makes of one engine's answer to one case.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Every element that can be judged is right.
    Pass,
    /// The engine is wrong.
    Bug(Box<Finding>),
    /// The case says nothing about the engine.
    Incomparable(Why),
}

impl Verdict {
    /// A bug that nobody is blamed for yet.
    pub fn bug(backend: &str, level: &str, symptom: Symptom, detail: String) -> Self {
        Self::Bug(Box::new(Finding {
            backend: backend.to_owned(),
            level: level.to_owned(),
            check: None,
            symptom,
            broken: None,
            culprit: None,
            hidden_by_taps: false,
            core: None,
            after: Vec::new(),
            detail,
            worst: None,
            stderr: String::new(),
        }))
    }

    /// A bug that is found on a model which breaks a rule.
    pub(crate) fn on_broken(mut self, broken: &Broken) -> Self {
        if let Self::Bug(finding) = &mut self {
            finding.broken = Some(broken.clone());
        }
        self
    }

    /// Keeps what the engine wrote to its standard error, with a bug that is a fault or a refusal: what it says of other
    /// answers is not about the case.
    pub fn with_stderr(mut self, text: &str) -> Self {
        if let Self::Bug(finding) = &mut self
            && matches!(finding.symptom, Symptom::Fault { .. } | Symptom::Rejected { .. })
        {
            finding.stderr = last(text.trim_end(), MAX_STDERR).into();
        }
        self
    }
}

/// Why a case says nothing about an engine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The engine says that it lacks something.
    Unsupported(String),
    /// The engine declares that it computes in a narrower dtype, and the case needs the wider one.
    Widened(String),
    /// Not one element of the outputs is decidable.
    Undecidable,
    /// The engine refuses to run a case in which the specification leaves a value undefined (a division by zero,
    /// an index out of range), as it may.
    Undefined,
    /// Nobody can say what is right here.
    Undecided(String),
}

impl Why {
    /// What the engine may do, if that is why.
    pub fn allowance(&self) -> Option<Allowance> {
        match self {
            Self::Unsupported(_) => Some(Allowance::Unsupported),
            Self::Widened(_) => Some(Allowance::Widened),
            Self::Undefined => Some(Allowance::Undefined),
            Self::Undecidable | Self::Undecided(_) => None,
        }
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
            Self::Widened(what) => write!(f, "declared limitation: {what}"),
            Self::Undecided(why) => write!(f, "undecided: {why}"),
            Self::Undecidable => f.write_str("every element is undecidable"),
            Self::Undefined => f.write_str("a value is undefined, and the engine refuses to compute it"),
        }
    }
}

/// Something an engine got wrong.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The engine.
    pub backend: String,
    /// The optimisation level it ran at.
    pub level: String,
    /// The question that showed it; `None` for comparison with the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// What it did.
    pub symptom: Symptom,
    /// The rule that the model breaks; `None` where the model is valid, or may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// The operator at fault, as far as it could be narrowed down.
    pub culprit: Option<Culprit>,
    /// Whether the fault is gone when every value of the graph is an output: a fusion, or a value that is never stored.
    #[serde(default)]
    pub hidden_by_taps: bool,
    /// What is left of the case when it is reduced; `None` where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Core>,
    /// The operators that were cut out before it showed: they are wrong as well, and the reference's values stand for theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What happened, in a sentence or two for a person.
    pub detail: String,
    /// The element that is off by most, where elements are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// The last that the engine wrote to its standard error during the case, where it faulted or refused; at most
    /// [`MAX_STDERR`] bytes. An engine may say something else in each process, so nothing follows from it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// A rule of the standard that a model breaks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Broken {
    /// The rule's name.
    pub rule: String,
    /// The operator, where the rule is broken in a use of one: each operator is checked by code of its own, so that two
    /// of them are two causes. `None` where what is broken has nothing to do with operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
}

impl Broken {
    /// What a signature says before the rule.
    pub const TOLD: &str = "violate ";
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rule, operator } = self;
        write!(f, "{}{rule}", Self::TOLD)?;
        operator.as_ref().map_or(Ok(()), |operator| write!(f, " of {operator}"))
    }
}

/// Who is to blame for a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtFault<'a> {
    /// An operator, shown alone or within a graph, without attributes.
    Operator(&'a str),
    /// Several operators together, none of which is wrong alone.
    Together(&'a str),
    /// What does not notice that a rule is broken in a use of an operator.
    Unnoticed(&'a Broken),
    /// Something that is gone when every value is an output.
    Hidden,
    /// Nobody could be blamed.
    Nobody,
}

impl std::fmt::Display for AtFault<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operator(operators) | Self::Together(operators) => f.write_str(operators),
            Self::Unnoticed(broken) => broken.fmt(f),
            Self::Hidden => f.write_str("whole graph, hidden by taps"),
            Self::Nobody => f.write_str("whole graph"),
        }
    }
}

/// How many bytes of an engine's standard error a finding keeps.
pub const MAX_STDERR: usize = 16 << 10;

/// The end of a text, of at most so many bytes.
fn last(text: &str, bytes: usize) -> &str {
    let begins = (text.len().saturating_sub(bytes)..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[begins.unwrap_or(text.len())..]
}

/// An element of an output that is off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Worst {
    /// The output.
    pub output: String,
    /// The position of the element in row-major order.
    pub index: usize,
    /// What the engine gave, as a decimal number, `NaN` or `inf`: JSON has no such numbers.
    pub got: String,
    /// What is right.
    pub expected: String,
    /// By how much the engine may be off.
    pub bound: String,
    /// What else is right, in words: where there is no bound, and something is known nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub besides: Option<String>,
    /// How many elements of the output are off.
    pub mismatches: usize,
    /// How many it has.
    pub elements: usize,
}

impl Worst {
    /// What is right, in words.
    pub fn right(&self) -> String {
        let Self { expected, bound, besides, .. } = self;
        if let Some(besides) = besides {
            return format!("{expected} or {besides}");
        }
        let is = |text: &str, number: f64| text.parse() == Ok(number);
        if is(expected, 0.0) && is(bound, f64::from_bits(1)) {
            // The bound of a zero of which the sign alone is open.
            return "a zero of either sign".to_owned();
        }
        format!("{expected} ± {bound}")
    }
}

/// One question of an oracle that asks further questions about a case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// The oracle.
    pub oracle: String,
    /// Which of its questions: the name of a relation, say.
    pub name: String,
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.oracle, self.name)
    }
}

/// The name of the oracle that asks about a model that was written and read again.
pub const ROUND_TRIP: &str = "roundtrip";

impl Finding {
    /// The question that showed it, if that belongs to its identity. If an operator alone is wrong, the bug
    /// is the same whichever question showed it, except for a round trip: a model that is wrong after it was
    /// written and read again is right without that.
    pub fn telling_check(&self) -> Option<&Check> {
        let is_alone = self.culprit.as_ref().is_some_and(|culprit| culprit.alone);
        self.check.as_ref().filter(|check| !is_alone || check.oracle == ROUND_TRIP)
    }

    /// Whether it is only the consequence of what the culprit does: a later operator refuses a wrong type, panics on
    /// it, or makes wrong elements of it. Which operator that is, in which words and how far they are off, is the
    /// case's and not the fault's.
    pub fn is_consequence(&self) -> bool {
        let Some(culprit) = self.culprit.as_ref().filter(|culprit| !culprit.alone && !culprit.is_form())
        else {
            return false;
        };
        culprit.is_reason || matches!(self.symptom, Symptom::Rejected { .. } | Symptom::Fault { .. })
    }

    /// Whether several operators are at fault together: more than one is left of its case, and none is wrong alone.
    pub fn is_of_several(&self) -> bool {
        self.core.as_ref().is_some_and(|core| core.nodes > 1)
    }

    /// Whether the engine refuses what it should take.
    pub fn is_refusal(&self) -> bool {
        matches!(self.symptom, Symptom::Rejected { .. })
    }

    /// Who is to blame, as far as runs of the whole case and of operators alone tell.
    pub fn at_fault(&self) -> AtFault<'_> {
        match (&self.culprit, self.broken_use()) {
            (Some(culprit), _) => AtFault::Operator(&culprit.operator),
            (None, Some(broken)) => AtFault::Unnoticed(broken),
            (None, None) if self.hidden_by_taps => AtFault::Hidden,
            (None, None) => AtFault::Nobody,
        }
    }

    /// Whether entries of lists cover it by its former name. They do not if the model breaks a rule in a use of an
    /// operator: the former name says neither the rule nor the operator, so that unrelated findings have it too.
    pub fn answers_to_former_name(&self) -> bool {
        self.broken_use().is_none()
    }

    /// The rule that is broken in a use of an operator, if one is.
    pub(crate) fn broken_use(&self) -> Option<&Broken> {
        self.broken.as_ref().filter(|broken| broken.operator.is_some())
    }

    /// Who is to blame, by what is left of the reduced case, as in the signature. What one operator is blamed for in the whole case
    /// may be left of another.
    pub fn at_fault_when_reduced(&self) -> AtFault<'_> {
        match &self.core {
            Some(core) if core.nodes > 1 => AtFault::Together(&core.operators),
            Some(core) if core.nodes == 1 => AtFault::Operator(core.names().next().unwrap_or_default()),
            Some(_) | None => self.at_fault(),
        }
    }

    /// What makes this finding the same as another.
    pub fn signature(&self) -> Signature {
        Signature::new(self)
    }

    /// What did so before findings were reduced.
    pub fn former_signature(&self) -> Signature {
        Signature::former(self)
    }
}

/// How many verdicts there were of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Passes.
    pub pass: u64,
    /// Bugs.
    pub bug: u64,
    /// Incomparable runs.
    pub incomparable: u64,
}

impl Tally {
    /// Adds the verdicts of another tally.
    pub fn merge(&mut self, more: Self) {
        self.pass += more.pass;
        self.bug += more.bug;
        self.incomparable += more.incomparable;
    }

    /// Counts one verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Bug(_) => self.bug += 1,
            Verdict::Incomparable(_) => self.incomparable += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use worker::{FaultKind, Stage};

    use super::*;

    fn bug(symptom: Symptom) -> Verdict {
        Verdict::bug("engine", "all", symptom, String::new())
    }

    fn kept(verdict: Verdict, text: &str) -> Finding {
        match verdict.with_stderr(text) {
            Verdict::Bug(finding) => *finding,
            other => panic!("{other:?} is no bug"),
        }
    }

    #[test]
    fn standard_error_is_kept_of_faults_and_refusals_and_is_no_part_of_what_they_are() {
        let crash = || bug(Symptom::Fault { kind: FaultKind::Signal, place: "SIGSEGV".to_owned() });
        let refusal = || bug(Symptom::Rejected { stage: Stage::Load, message: "no".to_owned() });
        for verdict in [crash, refusal] {
            let (silent, loud) = (kept(verdict(), ""), kept(verdict(), "went wrong at 0x7f\n"));
            assert_eq!((silent.stderr.as_str(), loud.stderr.as_str()), ("", "went wrong at 0x7f"));
            assert_eq!(silent.signature(), loud.signature());
        }
        assert_eq!(kept(bug(Symptom::WrongType), "a warning").stderr, "");
        assert_eq!(Verdict::Pass.with_stderr("a warning"), Verdict::Pass);
    }

    /// What is off in the whole case may come from an operator before it, of which alone the case is left.
    #[test]
    fn what_one_operator_is_left_of_is_at_fault_whoever_is_blamed_in_the_whole_case() {
        let core = |operators: &[&str]| {
            let operators: Vec<String> = operators.iter().map(ToString::to_string).collect();
            Core::new(&operators, &[], Symptom::WrongType)
        };
        let of = |culprit: Option<&str>, operators: &[&str]| Finding {
            culprit: culprit.map(|name| Culprit::in_context(name, &[])),
            core: Some(core(operators)),
            ..kept(bug(Symptom::WrongType), "")
        };
        assert_eq!(of(Some("Softmax"), &["Tanh"]).at_fault_when_reduced(), AtFault::Operator("Tanh"));
        assert_eq!(of(None, &["Conv(auto_pad=VALID)"]).at_fault_when_reduced(), AtFault::Operator("Conv"));
        let together = of(Some("Softmax"), &["Add", "Exp"]);
        assert_eq!(together.at_fault_when_reduced(), AtFault::Together("Add + Exp"));
        assert_eq!(of(None, &[]).at_fault_when_reduced(), AtFault::Nobody);
    }

    #[test]
    fn the_end_is_kept_in_whole_characters() {
        assert_eq!([last("abc", 5), last("abc", 2), last("aé", 1), last("é", 0)], ["abc", "bc", "", ""]);
        let long = "é".repeat(MAX_STDERR);
        let finding = kept(bug(Symptom::Fault { kind: FaultKind::Exit, place: String::new() }), &long);
        assert_eq!(finding.stderr.len(), MAX_STDERR);
    }

    #[test]
    fn a_finding_without_it_reads_as_before() {
        let text = r#"{"backend":"x","level":"l","symptom":"wrong_type","culprit":null,"detail":""}"#;
        let finding: Finding = serde_json::from_str(text).expect("a finding");
        assert_eq!(finding.stderr, "");
        assert!(!serde_json::to_string(&finding).expect("JSON").contains("stderr"));
    }
}
