//! How like the symptom of an operator alone is to the symptom of its graph.
//!
//! An engine may get several operators of a graph wrong. An operator that fails in exactly the same way is a better
//! suspect than one that merely fails. If no operator fails in a similar way, an operator that gives a wrong type may
//! be the reason: a later operator refuses its operands, or broadcasts them into wrong elements.

use oracles::Symptom;
use oracles::message::cause;
use worker::FaultKind;

/// How like, from nothing in common to the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum SymptomMatch {
    /// Nothing in common.
    Other,
    /// Not similar, but a possible reason: a wrong type, which a later operator refuses, panics on, or turns into wrong
    /// elements.
    Reason,
    /// Symptoms of one kind: other wrong elements, a panic at another place, the same refusal at another
    /// stage.
    Related,
    /// One and the same symptom.
    Same,
}

impl SymptomMatch {
    /// How like the symptom of a part is to the symptom of the whole.
    pub(crate) fn of(part: &Symptom, whole: &Symptom) -> Self {
        match (part, whole) {
            (part, whole) if part == whole => Self::Same,
            (Symptom::Mismatch(_), Symptom::Mismatch(_)) => Self::Related,
            // A division by 0 is no access to memory. After a wrong access, one run may end with one signal, and the
            // next with another.
            (Symptom::Fault { place: a, .. }, Symptom::Fault { place: b, .. })
                if (a == DIVIDED) != (b == DIVIDED) =>
            {
                Self::Other
            }
            (Symptom::Fault { kind: a, .. }, Symptom::Fault { kind: b, .. }) if a == b => Self::Related,
            (Symptom::Rejected { message: a, .. }, Symptom::Rejected { message: b, .. }) if a == b => {
                Self::Related
            }
            (Symptom::WrongType, Symptom::Rejected { .. } | Symptom::Mismatch(_)) => Self::Reason,
            (Symptom::WrongType, Symptom::Fault { kind, .. }) if *kind == FaultKind::Panic => Self::Reason,
            _ => Self::Other,
        }
    }
}

/// The signal that ends a process which divides integers by 0.
const DIVIDED: &str = "SIGFPE";

/// Whether two refusals have one cause. One message may have more words around it, or be cut off sooner: a
/// runtime puts what it was doing with the node before what is wrong in the node's body.
pub(crate) fn same_cause(a: &Symptom, b: &Symptom) -> bool {
    let (Symptom::Rejected { message: a, .. }, Symptom::Rejected { message: b, .. }) = (a, b) else {
        return false;
    };
    let [a, b] = [a, b].map(|message| cause(message));
    let length = a.len().min(b.len());
    length >= SENTENCE && a[..length] == b[..length]
}

/// How many words a message must have to tell a cause.
const SENTENCE: usize = 3;

/// Whether two symptoms are of one kind.
pub(crate) fn same_kind(a: &Symptom, b: &Symptom) -> bool {
    SymptomMatch::of(a, b) >= SymptomMatch::Related
}

#[cfg(test)]
mod tests {
    use oracles::ErrorShape;
    use worker::Stage;

    use super::*;

    fn fault(kind: FaultKind, place: &str) -> Symptom {
        Symptom::Fault { kind, place: place.to_owned() }
    }

    fn refusal(stage: Stage, message: &str) -> Symptom {
        Symptom::Rejected { stage, message: message.to_owned() }
    }

    #[test]
    fn a_refusal_within_another_has_its_cause() {
        let alone =
            refusal(Stage::Run, "Error: while running LpPool: Status: no size may be zero. Got: a shape");
        let inside =
            refusal(Stage::Run, "Error: while running If: Status: while running LpPool: Status: no size may");
        let other = refusal(Stage::Run, "Error: while running If: Status: no such thing");
        assert!(same_cause(&inside, &alone));
        assert!(!same_cause(&other, &alone) && !same_cause(&fault(FaultKind::Panic, "x"), &alone));
    }

    #[test]
    fn the_same_is_more_than_the_same_kind() {
        let [slight, gross] = [ErrorShape::Slight, ErrorShape::Gross].map(Symptom::Mismatch);
        for (one, other) in [
            (slight, gross),
            (
                fault(FaultKind::Panic, "ndarray: could not broadcast"),
                fault(FaultKind::Panic, "can't build a WeightType"),
            ),
            (refusal(Stage::Load, "rank 0"), refusal(Stage::Run, "rank 0")),
        ] {
            assert_eq!(SymptomMatch::of(&one, &one), SymptomMatch::Same);
            assert_eq!(SymptomMatch::of(&one, &other), SymptomMatch::Related);
        }
        assert_eq!(
            SymptomMatch::of(&refusal(Stage::Load, "rank 0"), &refusal(Stage::Load, "axis 3")),
            SymptomMatch::Other
        );
        assert_eq!(
            SymptomMatch::of(&fault(FaultKind::Panic, ""), &fault(FaultKind::Signal, "")),
            SymptomMatch::Other
        );
        let [memory, abort, divided] =
            ["SIGSEGV", "SIGABRT", "SIGFPE"].map(|place| fault(FaultKind::Signal, place));
        assert_eq!(SymptomMatch::of(&memory, &abort), SymptomMatch::Related);
        assert_eq!(SymptomMatch::of(&memory, &divided), SymptomMatch::Other);
    }

    #[test]
    fn a_wrong_type_is_a_reason_to_fail_and_not_the_other_way_round() {
        let off = Symptom::Mismatch(ErrorShape::Gross);
        for whole in
            [refusal(Stage::Run, "rank 0"), fault(FaultKind::Panic, "chunk_size must not be zero"), off]
        {
            assert_eq!(SymptomMatch::of(&Symptom::WrongType, &whole), SymptomMatch::Reason);
            assert_eq!(SymptomMatch::of(&whole, &Symptom::WrongType), SymptomMatch::Other);
            assert!(!same_kind(&Symptom::WrongType, &whole));
        }
        assert_eq!(
            SymptomMatch::of(&Symptom::WrongType, &fault(FaultKind::Timeout, "")),
            SymptomMatch::Other
        );
    }
}
