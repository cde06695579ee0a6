//! Trying every control on the same cases.
//!
//! A case is generated and evaluated once; every control runs on it that computes something there in its way, and is judged by
//! the bounds under the profiles that it conforms to.

use anyhow::Result;
use backends::cpu::{Cpu, run_model};
use oracles::Finding;

use super::Control;
use crate::judges::PROFILES;
use crate::prepared::Prepared;
use crate::sample::{Sample, on_all_threads};

/// What came of all controls.
pub struct Results {
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) controls: Vec<ControlResult>,
}

impl Results {
    /// The controls whose alarms are explained, and which have none: the explanation is due to go.
    pub fn explained_without_alarm(&self) -> Vec<&'static str> {
        let has_none = |tried: &&ControlResult| tried.alarms.iter().flatten().all(|alarm| alarm.cases == 0);
        let explained = self.controls.iter().filter(|tried| tried.control.open.is_some());
        explained.filter(has_none).map(|tried| tried.control.name).collect()
    }

    /// How many right answers were called wrong that are not explained: each is a bug of ours.
    pub fn alarms(&self) -> u64 {
        super::report::alarms(self, super::report::Standing::Closed)
    }
}

/// What came of one control.
#[derive(Clone, Copy)]
pub(crate) struct ControlResult {
    pub(crate) control: &'static Control,
    /// The cases on which it ran.
    pub(crate) cases: u64,
    /// On how many cases it has other bits than the plain way to calculate, or, of a single operator, than our kernel.
    pub(crate) different: u64,
    /// What was found under each of [`PROFILES`]; `None` for one that it does not conform to.
    pub(crate) alarms: [Option<Alarms>; PROFILES.len()],
}

/// The cases on which something is found.
#[derive(Clone, Copy, Default)]
pub(crate) struct Alarms {
    pub(crate) cases: u64,
    pub(crate) first: Option<u64>,
}

impl Alarms {
    fn merge(self, other: Self) -> Self {
        let first = [self.first, other.first].into_iter().flatten().min();
        Self { cases: self.cases + other.cases, first }
    }
}

impl ControlResult {
    fn new(control: &'static Control) -> Self {
        let alarms = PROFILES.map(|profile| control.conforms_to(profile).then(Alarms::default));
        Self { control, cases: 0, different: 0, alarms }
    }

    fn merge(&mut self, other: &Self) {
        self.cases += other.cases;
        self.different += other.different;
        for (all, more) in self.alarms.iter_mut().zip(other.alarms) {
            *all = all.zip(more).map(|(all, more)| all.merge(more));
        }
    }
}

/// Tries the controls of these names, or all where none is named, on the cases of a sample.
pub fn run(sample: &Sample, names: &[String]) -> Result<Results> {
    let is_chosen = |control: &&Control| names.is_empty() || names.iter().any(|name| name == control.name);
    let chosen: Vec<&'static Control> = super::all().filter(is_chosen).collect();
    let maker = sample.maker();
    let fresh = || chosen.iter().map(|control| ControlResult::new(control)).collect::<Vec<_>>();
    let parts = on_all_threads(sample.cases, |indices| {
        let mut controls = fresh();
        for index in indices {
            let prepared = Prepared::new(&maker, index)?;
            try_each(&mut controls, &prepared);
        }
        Ok(controls)
    })?;
    let mut controls = fresh();
    for part in parts {
        controls.iter_mut().zip(&part).for_each(|(all, part)| all.merge(part));
    }
    Ok(Results { seed: sample.seed, cases: sample.cases, controls })
}

fn try_each(controls: &mut [ControlResult], on: &Prepared<'_>) {
    let ours = run_model(&on.case.model, &on.inputs, &mut Cpu).ok();
    let plain = super::plain(&on.case.model, &on.inputs);
    for tried in controls {
        let Some(outputs) = tried.control.outputs(&on.case.model, &on.inputs) else { continue };
        tried.cases += 1;
        let usual = if tried.control.is_another_way() { &plain } else { &ours };
        tried.different += u64::from(usual.as_ref() != Some(&outputs));
        if ours.as_ref() == Some(&outputs) {
            // Our kernels are judged by the bench of faults.
            continue;
        }
        let answer = on.reference.answer(outputs);
        for (profile, alarms) in tried.alarms.iter_mut().enumerate() {
            let Some(alarms) = alarms else { continue };
            if let Some(finding) = on.reference.finding(profile, &answer) {
                tell(tried.control, profile, on.case.index, &finding);
                *alarms = alarms.merge(Alarms { cases: 1, first: Some(on.case.index) });
            }
        }
    }
}

fn tell(control: &Control, profile: usize, case: u64, finding: &Finding) {
    let (profile, detail) = (PROFILES[profile].name, &finding.detail);
    eprintln!("false alarm on case {case}: {} under {profile}: {detail}", control.name);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Sample = Sample { seed: 0, cases: 60, nodes: 6, max_elements: Some(128), reduce: false };

    #[test]
    fn every_way_to_calculate_is_different_and_none_is_called_wrong() {
        let ways = super::super::all().filter(|control| control.is_another_way());
        let names: Vec<String> = ways.map(|control| control.name.to_owned()).collect();
        let results = run(&Sample { cases: 200, ..SMALL }, &names).unwrap();
        assert_eq!(results.controls.len(), names.len());
        for tried in &results.controls {
            let alarms: u64 = tried.alarms.iter().flatten().map(|alarms| alarms.cases).sum();
            assert_eq!(alarms, 0, "{}", tried.control.name);
        }
        let same: Vec<&str> =
            results.controls.iter().filter(|tried| tried.different == 0).map(|t| t.control.name).collect();
        assert!(same.is_empty(), "never other than the plain way: {same:?}");
    }

    #[test]
    fn an_implementation_that_does_not_conform_is_called_wrong() {
        let loose = super::super::all().find(|control| control.name == "rounded-up").unwrap();
        assert!(!loose.conforms_to(PROFILES[0]));
        let maker = SMALL.maker();
        let is_wrong = |index| {
            let on = Prepared::new(&maker, index).unwrap();
            let outputs = loose.outputs(&on.case.model, &on.inputs);
            outputs.is_some_and(|outputs| on.reference.finding(0, &on.reference.answer(outputs)).is_some())
        };
        assert!((0..SMALL.cases).any(is_wrong));
    }
}
