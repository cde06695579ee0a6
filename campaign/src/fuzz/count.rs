//! What one case adds to the report.

use std::collections::{BTreeMap, BTreeSet};

use oracles::{Finding, Verdict, allowance};

use super::Plan;
use super::reduced::{Reduced, Seen, Stopped};
use super::run::CaseRun;
use crate::report::{Cluster, Others, Report, element_types};
use harness::case::{self, Case};
use harness::target::Target;
use triage::doubted::Doubted;
use triage::oracle::Rewritten;
use triage::reduce::Stop;
use triage::smaller::Smaller;

/// A case that has run, counted.
pub(super) struct Counted {
    /// Its number in the campaign.
    pub(super) index: u64,
    /// What it adds to the report.
    pub(super) report: Report,
    /// The engines of which a process that had run other cases died on this case, while a fresh process runs it.
    pub(super) late: BTreeSet<String>,
    /// What went wrong on our side.
    pub(super) trouble: Vec<String>,
    /// Whether the campaign's time was over before the case was judged.
    pub(super) is_cut_off: bool,
    /// The case and its findings, if anything was found: what is needed to save it.
    pub(super) found: Option<Box<CaseFindings>>,
}

/// A case in which something was found, or is suspect.
pub(super) struct CaseFindings {
    pub(super) case: Case,
    /// The outputs by the reference, by the name of the accuracy.
    pub(super) outputs: BTreeMap<&'static str, Vec<interp::Bounded>>,
    /// Each finding, in the order of the targets, and of the questions to each.
    pub(super) findings: Vec<Find>,
    /// The reduced cases, by signature, as far as the case was reduced when it ran.
    pub(super) reduced: BTreeMap<String, Reduced>,
}

/// One finding.
pub(super) struct Find {
    /// The number of the target.
    pub(super) target: usize,
    pub(super) finding: Finding,
    pub(super) signature: String,
    /// The case that it was reduced to.
    pub(super) smaller: Option<Smaller>,
    /// The other form of the model that it showed on.
    pub(super) rewritten: Option<Rewritten>,
}

impl Counted {
    pub(super) fn new(plan: &Plan<'_>, ran: CaseRun) -> Self {
        let mut report = Report { troubles: ran.trouble.len() as u64, ..Report::default() };
        let index = ran.index;
        if let Some(case) = &ran.case {
            count(&mut report, plan, &ran, case);
            for (_, told) in ran.findings() {
                count_finding(&mut report, case, told.finding);
            }
            count_others(&mut report, plan, &ran);
        }
        let (late, trouble, is_cut_off) = (ran.late.clone(), ran.trouble.clone(), ran.is_cut_off);
        let is_kept = report.findings > 0 || !report.suspects.kinds.is_empty();
        let found = is_kept.then(|| CaseFindings::new(ran)).flatten().map(Box::new);
        Self { index, report, late, trouble, is_cut_off, found }
    }

    /// Reduces the case for what it seems to be saved for.
    pub(super) fn reduce(&mut self, plan: &Plan<'_>, seen: &Seen, stop: Stop<'_>) -> Result<(), Stopped> {
        if let Some(found) = &mut self.found {
            found.reduced = seen.reduce(plan, &self.report.clusters, found, stop)?;
        }
        Ok(())
    }
}

impl CaseFindings {
    fn new(ran: CaseRun) -> Option<Self> {
        let finds = ran.findings().map(|(target, told)| Find {
            target,
            signature: told.finding.signature().to_string(),
            smaller: told.smaller,
            rewritten: told.rewritten.cloned(),
            finding: told.finding.clone(),
        });
        let findings = finds.collect();
        Some(Self { case: ran.case?, outputs: ran.outputs, findings, reduced: BTreeMap::new() })
    }

    /// The findings of one signature.
    pub(super) fn of(&self, signature: &str) -> Vec<&Find> {
        self.findings.iter().filter(|find| find.signature == signature).collect()
    }
}

fn count(report: &mut Report, plan: &Plan<'_>, ran: &CaseRun, case: &Case) {
    report.cases = 1;
    report.undefined_cases = u64::from(!case.all_defined);
    report.adversarial.take(case);
    if case.relaxed.is_none() {
        report.footprints.add(&case.footprint, &plan.maker.settings.budget);
    }
    report.levels.take(case);
    if let Some(reference) = &ran.reference {
        [report.output_elements, report.undecidable_elements, report.undefined_values] =
            case::shares(reference);
        report.computed(reference);
        report.coverage.take(&case.model);
    }
    for (target, elements) in &ran.elements {
        let name = plan.targets[*target].name();
        report.elements_by_target.entry(name).or_default().merge(*elements);
    }
    for (target, judged) in &ran.verdicts {
        let name = plan.targets[*target].name();
        report.compared(&case.model, &judged.comparisons);
        for answer in &judged.answers {
            report.oracles.add(answer);
        }
        if let Some(verdict) = &judged.verdict {
            report.levels.count_verdict(case, &name, verdict);
        }
        if let Some(doubted) = &judged.doubted {
            count_doubted(report, &plan.targets[*target], case.index, doubted);
        }
        for allowance in allowance::needed(judged.verdict.as_ref(), &judged.comparisons) {
            let by_name = report.allowances.entry(name.clone()).or_default();
            *by_name.entry(allowance.name().to_owned()).or_default() += 1;
        }
        let by_target = report.by_target.entry(name).or_default();
        for verdict in judged.verdicts() {
            report.verdicts.add(verdict);
            by_target.add(verdict);
            if let Verdict::Incomparable(why) = verdict {
                let why = element_types::normalise(&why.to_string());
                *report.incomparable.entry(why).or_default() += 1;
            }
        }
    }
    for (_, told) in ran.findings() {
        report.findings += 1;
        report.naming.behind += u64::from(!told.is_verdict);
        report.naming.reduced += u64::from(told.finding.core.is_some());
    }
    report.naming.tries = ran.verdicts.iter().map(|(_, judged)| judged.tries).sum();
}

fn count_doubted(report: &mut Report, target: &Target, case: u64, doubted: &Doubted) {
    report.elements_by_target.entry(target.name()).or_default().suspect += doubted.elements();
    report.suspects.add(target, case, doubted);
}

fn count_finding(report: &mut Report, case: &Case, finding: &Finding) {
    let signature = finding.signature().to_string();
    let cluster = report.cluster_mut(&signature, || Cluster {
        signature: signature.clone(),
        count: 0,
        cases: 1,
        first: case.index,
        level: case.level,
        example: finding.clone(),
        smallest: None,
        reduced: None,
        steady: None,
        nodes: case.model.graph.nodes.len(),
        known: None,
        known_in: None,
        formerly: BTreeMap::new(),
        others: BTreeMap::new(),
    });
    cluster.count += 1;
    *cluster.formerly.entry(finding.former_signature().to_string()).or_default() += 1;
}

/// Counts what each target made of the case, for each signature in it.
fn count_others(report: &mut Report, plan: &Plan<'_>, ran: &CaseRun) {
    let found: Vec<(usize, &Finding)> = ran.findings().map(|(target, told)| (target, told.finding)).collect();
    for (target, judged) in &ran.verdicts {
        let has: Vec<&Finding> =
            found.iter().filter(|(of, _)| of == target).map(|(_, finding)| *finding).collect();
        for cluster in &mut report.clusters {
            if let Some(made) = Others::of(&cluster.example, judged, &has) {
                cluster.others.insert(plan.targets[*target].name(), made);
            }
        }
    }
}
