//! Many faults in one campaign: is there one group of findings for each?
//!
//! Every fault is in another operator, all are planted at once, and a campaign runs as `onnxsmith fuzz` runs it and saves
//! every finding. The truth about a finding comes from its saved case: it belongs to each fault that is found there when
//! it is the only one planted. A group belongs to the fault that most of its findings belong to, and is pure if all do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use campaign::fuzz::{Plan, fuzz};
use campaign::store::{Beside, Identity};
use campaign::{Shard, Store};
use graphgen::Settings;
use harness::evaluated::Evaluated;
use harness::invalid::schedule::{Choice, Levels};
use harness::{Maker, Target};
use harness::{case, reference, threads};
use ir::Stream;
use onnx::{CaseFolder, Imported};
use oracles::{Verdict, cause};
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use triage::folder::About;
use triage::known::Known;

use crate::kernels::target;
use crate::{PlantedFault, catalogue};

/// What the groups are worth.
pub struct Results {
    cases: u64,
    seed: u64,
    faults: Vec<&'static PlantedFault>,
    findings: usize,
    /// The findings that no fault alone explains.
    unexplained: usize,
    signatures: usize,
    groups: Vec<Scored>,
}

/// A group against the truth.
struct Scored {
    title: String,
    /// Its fault, by name.
    fault: Option<&'static str>,
    findings: usize,
    /// How many of them belong to the fault.
    right: usize,
}

/// A finding with the faults that explain it.
pub(crate) struct Explained {
    signature: String,
    pub(crate) faults: Vec<&'static PlantedFault>,
}

/// Plants `count` faults at once, and runs a campaign of so many cases.
pub fn run(count: usize, cases: u64, seed: u64) -> Result<Results> {
    campaign(&draw(count, seed)?, cases, seed)
}

/// Faults in different operators.
fn draw(count: usize, seed: u64) -> Result<Vec<&'static PlantedFault>> {
    let mut all: Vec<&PlantedFault> = catalogue::all().collect();
    all.shuffle(&mut Stream::new(seed).child("faults").rng());
    let mut drawn: Vec<&PlantedFault> = Vec::new();
    for fault in all {
        if drawn.len() < count && drawn.iter().all(|f| f.operator != fault.operator) {
            drawn.push(fault);
        }
    }
    ensure!(drawn.len() == count, "there are faults in {} operators only", drawn.len());
    Ok(drawn)
}

fn campaign(faults: &[&'static PlantedFault], cases: u64, seed: u64) -> Result<Results> {
    let out = tempfile::tempdir()?;
    let threads = threads::all();
    let plan = Plan {
        maker: Maker::new(
            seed,
            Settings { opset: *ir::graph::OPSETS.end(), nodes: 10, ..Settings::default() },
        ),
        levels: Levels { choice: Choice::Valid, rules: Vec::new() },
        targets: vec![open(faults)?],
        oracles: triage::oracle::Oracles::default(),
        jobs: threads,
        cases: Some(cases),
        time: None,
        shard: Shard::WHOLE,
        saved_per_signature: u64::MAX,
        max_disk: None,
        known: Known::default(),
        until_found: false,
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan))?;
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| ())?;
    ensure!(report.trouble.is_empty(), "trouble: {}", report.trouble.join("; "));
    let explained = explain_all(&saved(&out.path().join("findings"))?, faults, threads)?;
    ensure!(explained.len() as u64 == report.findings, "not every finding is saved");
    let groups = report.groups(cause::ALIKE);
    let group_of: BTreeMap<&str, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(i, group)| group.signatures.iter().map(move |s| (s.signature.as_str(), i)))
        .collect();
    let mut members: Vec<Vec<&Explained>> = groups.iter().map(|_| Vec::new()).collect();
    for finding in &explained {
        members[group_of[finding.signature.as_str()]].push(finding);
    }
    Ok(Results {
        cases,
        seed,
        faults: faults.to_vec(),
        findings: explained.len(),
        unexplained: explained.iter().filter(|f| f.faults.is_empty()).count(),
        signatures: report.clusters.len(),
        groups: groups.iter().zip(members).map(|(group, of)| score(group.title(), &of)).collect(),
    })
}

fn open(faults: &[&'static PlantedFault]) -> Result<Target> {
    target(faults).context("the kernels have no optimisation level")
}

/// The fault that most of a group's findings belong to, and how many do.
fn score(title: String, findings: &[&Explained]) -> Scored {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for fault in findings.iter().flat_map(|f| &f.faults) {
        *counts.entry(fault.name).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(name, count)| (**count, **name));
    let (fault, right) = (most.map(|(name, _)| *name), most.map_or(0, |(_, count)| *count));
    Scored { title, fault, findings: findings.len(), right }
}

/// The saved cases, but for what they were reduced to.
fn saved(findings: &Path) -> Result<Vec<PathBuf>> {
    let mut cases = Vec::new();
    for signature in fs::read_dir(findings)? {
        for case in fs::read_dir(signature?.path())? {
            let path = case?.path();
            let is_beside = |beside: &Beside| path.to_string_lossy().ends_with(beside.suffix());
            if !Beside::ALL.iter().any(is_beside) {
                cases.push(path);
            }
        }
    }
    cases.sort();
    Ok(cases)
}

fn explain_all(
    cases: &[PathBuf],
    faults: &[&'static PlantedFault],
    threads: usize,
) -> Result<Vec<Explained>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<Explained>> {
        let opened = faults.iter().map(|fault| Ok((*fault, open(&[fault])?)));
        let alone: Vec<(&'static PlantedFault, Target)> = opened.collect::<Result<_>>()?;
        let mut explained = Vec::new();
        while let Some(path) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            explained.push(explain(path, &alone).with_context(|| path.display().to_string())?);
        }
        Ok(explained)
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for thread in running {
            all.extend(thread.join().ok().context("a thread panicked")??);
        }
        Ok(all)
    })
}

/// The finding of a saved case, with the faults that are found there alone.
pub(crate) fn explain(path: &Path, alone: &[(&'static PlantedFault, Target)]) -> Result<Explained> {
    let folder = CaseFolder::read(path)?;
    let about = About::read(&folder)?;
    let finding = about.findings.first().context("it has no finding")?;
    let inputs = case::known_inputs(&folder);
    let Imported { model, interface, .. } = case::import(&folder.model, &inputs)?;
    let inputs = reference::bind(&model, &inputs).map_err(anyhow::Error::msg)?;
    let named = case::named(&model, inputs.clone());
    let operators: Vec<&str> = case::operators(&model).map(|(name, _)| name).collect();
    let mut faults = Vec::new();
    for (fault, target) in alone.iter().filter(|(fault, _)| operators.contains(&fault.operator)) {
        let evaluated = Evaluated::of(&model, &inputs, target.profile)?;
        let ran = target.run(&folder.model, &named, &interface)?;
        if let Verdict::Bug(_) = target.judge(&ran.outcome, &evaluated.expected()) {
            faults.push(*fault);
        }
    }
    Ok(Explained { signature: finding.signature().to_string(), faults })
}

impl Results {
    /// The findings in a group of their fault.
    fn right(&self) -> usize {
        self.groups.iter().map(|g| g.right).sum()
    }

    fn pure(&self) -> usize {
        self.groups.iter().filter(|g| g.right == g.findings).count()
    }

    /// The faults that have a group.
    fn found(&self) -> usize {
        self.faults.iter().filter(|f| self.groups.iter().any(|g| g.fault == Some(f.name))).count()
    }
}

/// One JSON object.
pub fn json(results: &Results) -> Value {
    let group =
        |g: &Scored| json!({ "title": g.title, "fault": g.fault, "findings": g.findings, "right": g.right });
    json!({
        "faults": results.faults.iter().map(|f| f.name).collect::<Vec<_>>(),
        "cases": results.cases,
        "seed": results.seed,
        "findings": results.findings,
        "unexplained": results.unexplained,
        "signatures": results.signatures,
        "clusters": results.groups.len(),
        "pure": results.pure(),
        "faults_with_a_cluster": results.found(),
        "right": results.right(),
        "right_share": results.right() as f64 / results.findings.max(1) as f64,
        "each": results.groups.iter().map(group).collect::<Vec<_>>(),
    })
}

/// A few lines: the totals, and each group.
pub fn text(results: &Results) -> String {
    let share = 100.0 * results.right() as f64 / results.findings.max(1) as f64;
    let mut text = format!(
        "{} faults, {} findings of {} signatures in {} clusters\n{} clusters are pure, {} faults have one; {share:.2} % of \
         the findings are in a cluster of their fault\n",
        results.faults.len(),
        results.findings,
        results.signatures,
        results.groups.len(),
        results.pure(),
        results.found(),
    );
    for group in &results.groups {
        let fault = group.fault.unwrap_or("no fault");
        text += &format!("{:>6} of {:>6} × {fault}: {}\n", group.right, group.findings, group.title);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str) -> &'static PlantedFault {
        catalogue::all().find(|fault| fault.name == name).expect("a fault")
    }

    /// Findings, each explained by the faults of these names.
    fn explained(all: &[&[&str]]) -> Vec<Explained> {
        let of = |names: &&[&str]| Explained {
            signature: "a signature".to_owned(),
            faults: names.iter().map(|name| fault(name)).collect(),
        };
        all.iter().map(of).collect()
    }

    fn scored(all: &[&[&str]]) -> (Option<&'static str>, usize, usize) {
        let findings = explained(all);
        let group = score("a group".to_owned(), &findings.iter().collect::<Vec<_>>());
        (group.fault, group.right, group.findings)
    }

    #[test]
    fn a_group_belongs_to_the_fault_of_most_of_its_findings() {
        let (floor, round) = ("floor-truncates", "round-halves-away");
        assert_eq!(scored(&[&[floor], &[floor], &[round]]), (Some(floor), 2, 3));
        // One that two faults explain belongs to both.
        assert_eq!(scored(&[&[floor, round], &[round]]), (Some(round), 2, 2));
        assert_eq!(scored(&[&[], &[floor]]), (Some(floor), 1, 2));
        assert_eq!(scored(&[&[], &[]]), (None, 0, 2));
    }

    #[test]
    fn what_a_group_is_worth_is_counted_by_findings_groups_and_faults() {
        let faults = vec![fault("floor-truncates"), fault("round-halves-away"), fault("ceil-adds-one")];
        let group = |fault, right, findings| Scored { title: String::new(), fault, findings, right };
        let groups = vec![
            group(Some("floor-truncates"), 3, 3),
            group(Some("floor-truncates"), 1, 2),
            group(Some("round-halves-away"), 5, 5),
            group(None, 0, 1),
        ];
        let results =
            Results { cases: 9, seed: 0, faults, findings: 11, unexplained: 1, signatures: 6, groups };
        assert_eq!((results.right(), results.pure(), results.found()), (9, 2, 2));
        assert_eq!(json(&results)["right_share"], 9.0 / 11.0);
    }

    #[test]
    fn faults_are_drawn_in_operators_of_their_own() {
        let drawn = draw(30, 7).expect("so many");
        let operators: std::collections::BTreeSet<&str> = drawn.iter().map(|fault| fault.operator).collect();
        assert_eq!(operators.len(), 30);
        assert!(draw(10_000, 7).is_err());
    }
}
