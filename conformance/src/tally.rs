//! What a backend or an engine makes of all problems, counted, and held against its row.

use std::collections::BTreeSet;

use crate::lacking::LackEntry;
use crate::problem::Problem;
use crate::row::Row;
use crate::subject::{ProblemResult, Subject};

/// The answers to some problems, counted.
#[derive(Default)]
pub struct Tally {
    /// How many problems it was asked.
    pub asked: usize,
    /// How many it was not asked, because it says that it does not compute in their dtypes.
    pub not_asked: usize,
    /// How many answers are right.
    pub right: usize,
    /// How many say what is listed as lacking.
    pub listed: usize,
    /// How many are wrong in a way that is written up.
    pub known: usize,
    /// How many nobody can judge.
    pub open: usize,
    /// How many elements were compared with the reference.
    pub compared: usize,
    /// The operators of problems of which elements were compared.
    pub operators: BTreeSet<&'static str>,
    /// The entries of the list of what is lacking that a problem shows on its own.
    pub entries: BTreeSet<LackEntry>,
    /// The findings that problems show.
    pub findings: BTreeSet<String>,
    /// What is not as the row says.
    pub unexpected: Vec<String>,
}

impl Tally {
    /// Puts problems to a backend or an engine.
    pub fn of<'p>(subject: &Subject, problems: impl IntoIterator<Item = &'p Problem>) -> Self {
        let mut all = Self::default();
        for problem in problems {
            if !subject.takes(problem) {
                all.not_asked += 1;
                continue;
            }
            all.asked += 1;
            match subject.ask(problem) {
                Ok(answers) => answers.into_iter().for_each(|answer| all.add(problem, answer)),
                Err(e) => all.unexpected.push(format!("{}: {e}", problem.name)),
            }
        }
        all
    }

    fn add(&mut self, problem: &Problem, answer: ProblemResult) {
        match answer {
            ProblemResult::Right { compared } => {
                self.right += 1;
                self.compared += compared;
                if compared > 0 {
                    self.operators.extend(problem.operators());
                }
            }
            ProblemResult::Lacks { entries } => {
                self.listed += 1;
                if let [one] = &entries[..] {
                    self.entries.insert(one.clone());
                }
            }
            ProblemResult::Known { findings } => {
                self.known += 1;
                self.findings.extend(findings);
            }
            ProblemResult::Open(_) => self.open += 1,
            ProblemResult::Unexpected(what) => self.unexpected.push(format!("{}: {what}", problem.name)),
        }
    }

    /// Whatever is not as the row says. Where nothing ran, that is.
    pub fn failures(&self, subject: &Subject) -> Vec<String> {
        let Row { name, operators, findings, .. } = *subject.row;
        let mut failures = self.unexpected.clone();
        if self.compared == 0 || self.operators.len() < operators {
            failures.push(format!(
                "{} elements of {} operators were compared, of at least {operators}",
                self.compared,
                self.operators.len()
            ));
        }
        let unmet = subject.lacking().all().into_iter().filter(|entry| !self.entries.contains(entry));
        failures.extend(unmet.map(|entry| format!("{name} is listed to lack what nobody asks for: {entry}")));
        let listed: BTreeSet<&str> = findings.iter().copied().collect();
        let shown: BTreeSet<&str> = self.findings.iter().map(String::as_str).collect();
        failures.extend(
            shown.difference(&listed).map(|finding| format!("{name} shows {finding}, which is not listed")),
        );
        failures.extend(
            listed.difference(&shown).map(|finding| format!("{name} does not show {finding} any more")),
        );
        failures
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { asked, not_asked, right, listed, known, open, compared, .. } = self;
        write!(
            f,
            "{asked} problems asked, {not_asked} not; of the answers {right} right, {listed} lacking, {known} known to be \
             wrong, {open} open; {compared} elements of {} operators compared",
            self.operators.len()
        )
    }
}
