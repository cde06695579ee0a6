//! The refusal oracle: an engine's answer to a model that breaks a rule of the standard.
//!
//! No output is right for such a model. The engine passes if it says so, in whatever words and whether it loads the
//! model or runs it; saying that it lacks something is as good, as nothing is computed. Anything else is a bug: a
//! crash, a hang, an answer out of the protocol, and outputs as if nothing were wrong.

use worker::Outcome;

use crate::differential::fault_symptom;
use crate::signature::Symptom;
use crate::verdict::{Broken, Verdict, Why};

/// Judges an engine's answer to a model that breaks a rule; `why` says what is wrong with the model.
pub fn judge_refusal(backend: &str, level: &str, outcome: &Outcome, broken: &Broken, why: &str) -> Verdict {
    let verdict = match outcome {
        Outcome::Rejected { .. } | Outcome::Unsupported { .. } => Verdict::Pass,
        Outcome::Outputs(_) => {
            let symptom = Symptom::Accepted { rule: broken.rule.clone() };
            Verdict::bug(backend, level, symptom, format!("it gives outputs for an invalid model: {why}"))
        }
        Outcome::Fault(fault) => Verdict::bug(
            backend,
            level,
            fault_symptom(fault),
            format!("{fault}; the model is invalid: {why}"),
        ),
    };
    verdict.on_broken(broken)
}

/// Judges an engine's answer to a model of which nobody knows whether it is valid; `why` says what is not known.
pub fn judge_survival(backend: &str, level: &str, outcome: &Outcome, why: &str) -> Verdict {
    match outcome {
        Outcome::Fault(fault) => Verdict::bug(backend, level, fault_symptom(fault), fault.to_string()),
        Outcome::Outputs(_) | Outcome::Rejected { .. } | Outcome::Unsupported { .. } => {
            Verdict::Incomparable(Why::Undecided(why.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use worker::{Fault, Stage};

    use super::*;

    fn broken(rule: &str, operator: Option<&str>) -> Broken {
        Broken { rule: rule.to_owned(), operator: operator.map(str::to_owned) }
    }

    fn refusal(outcome: &Outcome) -> Verdict {
        judge_refusal("engine", "all", outcome, &broken("cycle", None), "node `n1` depends on itself")
    }

    fn signature(verdict: Verdict) -> String {
        match verdict {
            Verdict::Bug(finding) => finding.signature().to_string(),
            other => panic!("{other:?} is no bug"),
        }
    }

    #[test]
    fn saying_no_in_any_words_is_right() {
        let rejected = |stage| Outcome::Rejected { stage, message: "I do not like it".to_owned() };
        let unsupported = Outcome::Unsupported { why: "no cycles here".to_owned() };
        for outcome in [rejected(Stage::Load), rejected(Stage::Run), unsupported] {
            assert_eq!(refusal(&outcome), Verdict::Pass);
            let survived = judge_survival("engine", "all", &outcome, "?");
            assert!(matches!(survived, Verdict::Incomparable(Why::Undecided(_))));
        }
    }

    #[test]
    fn outputs_are_wrong_and_the_rule_is_in_the_signature() {
        let outputs = Outcome::Outputs(Vec::new());
        assert_eq!(signature(refusal(&outputs)), "engine | whole graph | accepted an invalid model: cycle");
        assert!(matches!(judge_survival("engine", "all", &outputs, "?"), Verdict::Incomparable(_)));
    }

    #[test]
    fn a_rule_about_the_use_of_an_operator_is_named_with_the_operator() {
        let of = |operator: &str, outcome: &Outcome| {
            let broken = broken("parameter-value", Some(operator));
            let Verdict::Bug(finding) = judge_refusal("engine", "all", outcome, &broken, "it is 0") else {
                panic!("no bug");
            };
            [finding.signature(), finding.former_signature()].map(|signature| signature.to_string())
        };
        let (hang, outputs) = (Outcome::Fault(Fault::Timeout), Outcome::Outputs(Vec::new()));
        assert_eq!(
            of("Slice", &hang),
            ["engine | violate parameter-value of Slice | timeout", "engine | whole graph | timeout"]
        );
        assert_eq!(of("Tile", &hang)[0], "engine | violate parameter-value of Tile | timeout");
        assert_eq!(
            of("Tile", &outputs),
            [
                "engine | violate parameter-value of Tile | accepted an invalid model: parameter-value",
                "engine | whole graph | accepted an invalid model: parameter-value"
            ]
        );
    }

    #[test]
    fn faults_are_findings_of_the_usual_kind() {
        for fault in [Fault::Timeout, Fault::Memory, Fault::StackOverflow, Fault::Exit { code: 3 }] {
            let outcome = Outcome::Fault(fault);
            let signature = signature(refusal(&outcome));
            assert!(!signature.contains("accepted") && !signature.contains("cycle"), "{signature}");
            assert!(matches!(judge_survival("engine", "all", &outcome, "?"), Verdict::Bug(_)));
        }
    }
}
