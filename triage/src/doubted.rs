//! Which operators are to blame for suspect elements.
//!
//! An answer with suspect elements is taken apart like a wrong one ([`crate::blame`]): the operators that a suspect
//! output depends on run alone, on the reference's values for their operands. All operators that are suspect alone are
//! to blame; their cases are not reduced. If there are none, the engine's answer to the whole is suspect, and no
//! operator in particular. An operator that is wrong alone, where the graph hides it, is a finding like any other.

use ops::Graph;
use oracles::{Assessment, Culprit, Doubt, Expected};
use worker::Outcome;

use crate::blame::Suspect;
use crate::oracle::AskError;
use crate::peel::{NamedFinding, alone_found};
use crate::reduce::Stop;
use harness::target::Target;
use harness::trial::is_off;

/// The cases below this number are all taken apart if they are suspect.
const FIRST: u64 = 1024;

/// Of the later suspect cases, one in this many is taken apart. An engine that is suspect in half of its
/// cases must not make a campaign several times as long.
const ONE_IN: u64 = 16;

/// Whether a suspect answer to the campaign's case of this number is taken apart. The number alone decides, so that
/// threads and shards agree.
pub fn is_taken_apart(index: u64) -> bool {
    index < FIRST || index.is_multiple_of(ONE_IN)
}

/// An answer that is not wrong, and suspect.
#[derive(Clone, PartialEq, Debug)]
pub struct Doubted {
    /// The outputs with suspect elements; one at least.
    pub doubts: Vec<Doubt>,
    /// Who is to blame; `None` where that was not asked.
    pub blamed: Option<Blamed>,
}

/// Who is to blame for what is suspect.
#[derive(Clone, PartialEq, Debug)]
pub struct Blamed {
    /// The operators that are suspect alone, each kind once; none if the suspicion takes more than one operator.
    pub alone: Vec<Culprit>,
    /// How many operators were run to find out.
    pub runs: u64,
}

impl Doubted {
    /// How many elements are suspect.
    pub fn elements(&self) -> u64 {
        self.doubts.iter().map(|doubt| doubt.suspects as u64).sum()
    }

    /// Whether it names operators that are suspect alone.
    pub fn names_operators(&self) -> bool {
        self.blamed.as_ref().is_some_and(|blamed| !blamed.alone.is_empty())
    }
}

impl std::fmt::Display for Doubted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let doubts: Vec<String> = self.doubts.iter().map(Doubt::to_string).collect();
        f.write_str(&doubts.join("; "))?;
        let alone = self.blamed.iter().flat_map(|blamed| &blamed.alone);
        let names: Vec<String> = alone.map(|c| format!("{} {}", c.operator, c.dtype)).collect();
        if names.is_empty() { Ok(()) } else { write!(f, "; suspect alone: {}", names.join(", ")) }
    }
}

impl Suspect<'_> {
    /// The suspect elements of a target's answer, if the answer is not wrong.
    pub fn doubted(
        &self,
        target: &Target,
        assessment: &Assessment,
        outcome: &Outcome,
        expected: &Expected<'_>,
    ) -> Option<Doubted> {
        let limits = |outputs: &[usize]| self.limits_of(outputs, target);
        let doubts = assessment.doubts(outcome, expected, limits);
        (!doubts.is_empty()).then_some(Doubted { doubts, blamed: None })
    }

    /// Finds out who is to blame, and what is wrong alone.
    pub fn take_apart(
        &self,
        target: &Target,
        doubted: &mut Doubted,
        stop: Stop<'_>,
    ) -> Result<Vec<NamedFinding>, AskError> {
        let blamed = doubted.blamed.insert(Blamed { alone: Vec::new(), runs: 0 });
        let mut wrong = Vec::new();
        let Some(whole) = self.whole(target) else { return Ok(wrong) };
        let concerned = concerned(&whole.isolated.flat.graph, &doubted.doubts);
        let is_only = whole.operators().count() == 1;
        for id in whole.operators().filter(|id| concerned[id.index()]) {
            let Some(trial) = whole.isolated.alone(id) else { continue };
            blamed.runs += u64::from(!is_only);
            if !is_only && !trial.is_doubtful(target)? {
                continue;
            }
            blamed.accuse(whole.alone(id).culprit);
            // An operator that hangs or is refused alone is no reason for suspect elements.
            let is_wrong = !is_only && whole.shows_alone(id)?.is_some_and(|told| is_off(&told.0));
            if is_wrong && let Some(found) = alone_found(&whole, id, stop)? {
                let name = found.finding.signature();
                if wrong.iter().all(|known: &NamedFinding| known.finding.signature() != name) {
                    wrong.push(found);
                }
            }
        }
        Ok(wrong)
    }
}

impl Blamed {
    fn accuse(&mut self, culprit: Option<Culprit>) {
        let is_told = |c: &Culprit| {
            self.alone.iter().any(|known| known.operator == c.operator && known.dtype == c.dtype)
        };
        if let Some(culprit) = culprit.filter(|culprit| !is_told(culprit)) {
            self.alone.push(culprit);
        }
    }
}

/// For each node, whether a suspect output depends on it.
fn concerned(graph: &Graph, doubts: &[Doubt]) -> Vec<bool> {
    let mut concerned = vec![false; graph.nodes.len()];
    let is_suspect = |name: &str| doubts.iter().any(|doubt| doubt.output == name);
    for output in graph.outputs.iter().filter(|output| is_suspect(&output.name)) {
        let members = ir::cone::members(graph, output.value);
        concerned.iter_mut().zip(members).for_each(|(all, member)| *all |= member);
    }
    concerned
}
