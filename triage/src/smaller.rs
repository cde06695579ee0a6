//! A smaller case that shows a finding, saved beside the case in which the finding was made.
//!
//! Naming reduces a finding as far as its name needs ([`crate::peel`]). Some findings get their name from blame alone,
//! such as those of a program's forms. These are reduced only when their case is saved: under that name, as `reduce`
//! does it, and within as many tries.

use std::sync::Arc;
use std::time::Duration;

use interp::Taps;
use oracles::Finding;
use worker::WorkerError;

use crate::invent::UserInputs;
use crate::oracle::AskError;
use crate::peel::judged;
use crate::reduce::{Budget, Problem, ReduceError, Reduction, Shown, Start, Stop, reduce_problems};
use crate::symptom_match::same_kind;
use harness::reference::{self, Large};
use harness::target::Target;

/// A smaller case that shows a finding.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// The case.
    pub problem: Problem,
    /// What it shows, under the finding's name.
    pub finding: Finding,
    /// Whether a fresh process has already shown it, with the whole time limit. Naming a hang requires that.
    pub is_steady: bool,
}

/// What came of looking for a smaller case.
#[derive(Clone, Default, Debug)]
pub struct SmallerTrial {
    /// The case; `None` if nothing smaller shows the finding.
    pub smaller: Option<Smaller>,
    /// Whether a new process shows the finding on that case. It does not if it does not even show it on the whole case.
    /// `None` if that was not asked.
    pub steady: Option<bool>,
}

impl Smaller {
    /// Whether a fresh process shows the finding too. In the process in which it was found, something that earlier
    /// cases left behind may play a part. `None` if the case is too large for the reference.
    pub fn is_steady(&self, target: &Target) -> Result<Option<bool>, WorkerError> {
        if self.is_steady {
            return Ok(Some(true));
        }
        if reference::bearable(&self.problem.model, Taps::Outputs, Large::Refused).is_err() {
            return Ok(None);
        }
        let shown = judged(&target.afresh(&Arc::default()), &self.problem)?;
        Ok(Some(shown.is_some_and(|shown| same_kind(&shown.finding.symptom, &self.finding.symptom))))
    }

    /// The smallest case that shows a target's finding under the name that it has. The budget is a count, so that it is
    /// the same on every machine.
    pub fn under_its_name(
        target: &Target,
        problem: Problem,
        finding: &Finding,
        stop: Stop<'_>,
    ) -> Result<SmallerTrial, AskError> {
        let budget = Budget { time: Duration::MAX, tries: Start::Graph.tries(&finding.symptom), jobs: 1 };
        let targets = std::slice::from_ref(target);
        let reduction = Reduction { targets, seed: 0, given: &UserInputs::default(), budget, stop };
        let (before, mut best) = (problem.size(), None);
        let mut keep = |shown: &Shown, size| {
            best = Some((shown.clone(), size));
            Ok(())
        };
        let reduced = match reduce_problems(&[problem], &reduction, &mut keep) {
            Err(ReduceError::NoFinding { .. }) => {
                return Ok(SmallerTrial { smaller: None, steady: Some(false) });
            }
            Err(ReduceError::AnyGraph { .. }) => return Ok(SmallerTrial::default()),
            reduced => reduced?,
        };
        if stop() {
            return Err(AskError::Stopped);
        }
        let is_it = |shown: &Shown| shown.finding.signature() == finding.signature();
        let tried = best.filter(|(shown, size)| *size < before && is_it(shown));
        let smaller = tried.map(|(Shown { problem, finding, .. }, _)| Self {
            problem,
            finding,
            is_steady: reduced.steady,
        });
        Ok(SmallerTrial { steady: smaller.is_some().then_some(reduced.steady), smaller })
    }
}
