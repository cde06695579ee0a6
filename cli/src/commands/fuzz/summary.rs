//! What a campaign's command says at its end.

use std::collections::BTreeMap;

use backends::usage::CpuTime;
use campaign::late::LateFault;
use campaign::report::Report;
use harness::invalid::tally::LevelTally;
use harness::validity::Validity;

use super::Session;
use crate::commands::report::{known_causes, new_causes, suspects};
use crate::commands::{late_fault, late_faults};

/// The numbers, what is known of the findings, and last what is new.
pub(super) fn text(report: &Report, cpu: CpuTime, session: Session) -> String {
    let groups = report.groups(oracles::cause::ALIKE);
    let parts = [
        counts_text(report, cpu, session),
        values_text(report),
        levels_text(&report.levels),
        oracles_text(report),
        targets_text(report),
        suspects(report),
        late_faults(&report.late_faults),
        known_causes(&groups),
        left_out_text(report),
        unmet(report),
        // What is new comes last, where it is seen.
        new_causes(&groups),
        late_text(report),
    ];
    parts.concat()
}

/// Cases, times, verdicts and findings.
fn counts_text(report: &Report, cpu: CpuTime, session: Session) -> String {
    let of = match session {
        Session::Only => "",
        Session::Later => " by this command alone",
    };
    format!(
        "{} cases in {:.1} s ({:.1} s of CPU{of}, {:.1} of them in the engines' processes)\n\
         verdicts: {} pass, {} bug, {} incomparable\n\
         findings: {}, of which {} are known\n",
        report.cases,
        report.wall_seconds,
        cpu.total(),
        cpu.children,
        report.verdicts.pass,
        report.verdicts.bug,
        report.verdicts.incomparable,
        report.findings,
        report.known,
    ) + &troubles(report)
}

/// What went wrong on this side, such as that a case could not be made: a campaign of 200 cases may have run fewer.
fn troubles(report: &Report) -> String {
    report.trouble.first().map_or_else(String::new, |first| {
        format!("not made, or not judged on an engine: {} cases, the first: {first}\n", report.troubles)
    })
}

/// What models hold, and how much of it can be compared.
fn values_text(report: &Report) -> String {
    let mut out = format!(
        "undefined elements {:.3} %, cases with something undefined {:.2} %\n",
        100.0 * report.undefined_values_share,
        100.0 * report.undefined_cases_share,
    );
    if report.elements_by_target.is_empty() {
        // Stored before they were counted by target.
        out += &format!("undecidable elements {:.2} %\n", 100.0 * report.undecidable_elements_share);
    }
    let (kept, planned) = (report.adversarial.kept, report.adversarial.planned);
    out += &format!("adversarial values in {kept} cases of {planned} that were to have them\n");
    for (name, amounts) in report.footprints.each().into_iter().filter(|(_, amounts)| amounts.most > 0) {
        out += &format!("{}\n", amounts.text(name));
    }
    let sources = report.undecidable_sources();
    if !sources.is_empty() {
        let named = sources.iter().take(6).map(|(name, share)| format!("{name} {:.0} %", 100.0 * share));
        out += &format!("undecidable because of {}\n", named.collect::<Vec<_>>().join(", "));
    }
    out
}

/// The further questions about each case.
fn oracles_text(report: &Report) -> String {
    let mut out = String::new();
    for (oracle, by_name) in &report.oracles.0 {
        for (name, a) in by_name {
            out += &format!(
                "{oracle} {name}: {} asked, {} pass, {} bug, {} incomparable; {} cases to which it does not apply\n",
                a.asked, a.pass, a.bug, a.incomparable, a.inapplicable
            );
        }
    }
    out
}

/// What came of each target, and what rests on an allowance.
fn targets_text(report: &Report) -> String {
    let mut out = String::new();
    for (target, t) in &report.by_target {
        let share = report.elements_by_target.get(target).map_or_else(String::new, |elements| {
            format!(
                "; {:.2} % of {} elements undecidable",
                100.0 * elements.undecidable_share,
                elements.outputs
            )
        });
        out += &format!("{target}: {} pass, {} bug, {} incomparable{share}\n", t.pass, t.bug, t.incomparable);
    }
    out + &allowances_text(&report.allowances)
}

/// What rests on an allowance. Levels of an engine that rest on the same ones stand together.
fn allowances_text(allowances: &BTreeMap<String, BTreeMap<String, u64>>) -> String {
    let mut alike: Vec<(&BTreeMap<String, u64>, Vec<&str>)> = Vec::new();
    for (target, by_name) in allowances {
        match alike.iter_mut().find(|(other, _)| *other == by_name) {
            Some((_, targets)) => targets.push(target),
            None => alike.push((by_name, vec![target])),
        }
    }
    let line = |(by_name, targets): (&BTreeMap<String, u64>, Vec<&str>)| {
        let named: Vec<String> = by_name.iter().map(|(name, count)| format!("{name} {count}")).collect();
        format!("{}: answers that rest on an allowance: {}\n", targets.join(", "), named.join(", "))
    };
    alike.into_iter().map(line).collect()
}

/// What is not saved, and what the list of known findings has of others.
fn left_out_text(report: &Report) -> String {
    let mut out = String::new();
    if report.not_saved > 0 {
        out += &format!("{} cases with findings are not saved: --max-disk is used up\n", report.not_saved);
    }
    if report.known_elsewhere > 0 {
        out += &format!(
            "{} known findings are those of engines or versions that did not run\n",
            report.known_elsewhere
        );
    }
    out
}

/// What is wrong with processes that no case shows by itself, and how to go on.
fn late_text(report: &Report) -> String {
    let told = |late: LateFault<'_>| {
        let cases = report.late_cases.get(late.backend);
        let numbers: Vec<String> = cases.into_iter().flatten().map(|case| format!("case {case}")).collect();
        let enough = cases
            .and_then(|cases| cases.first())
            .map_or_else(String::new, |first| format!(" --cases {}", first + 1));
        let again = format!(
            "the same flags with --jobs 1{enough} and another --out run the cases in their order, in one process"
        );
        late_fault(&late, &numbers, &again)
    };
    report.new_late_faults().map(told).collect()
}

/// How many entries of the list say nothing of this campaign, and how to list them.
fn unmet(report: &Report) -> String {
    let counts = [(report.known_unseen.len(), "not met"), (report.known_expired.len(), "expired")];
    let counts =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} are {what}"));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return String::new();
    }
    format!(
        "of the known findings of what ran, {}: `report --known FILE` lists them with --json or --html PAGE\n",
        counts.join(", ")
    )
}

/// The levels, where there is more than one.
fn levels_text(levels: &LevelTally) -> String {
    let mut out = String::new();
    if levels.cases.keys().any(|level| *level != Validity::Valid) {
        let count = |level| levels.cases.get(&level).copied().unwrap_or(0);
        let [valid, violate, random] = [Validity::Valid, Validity::Violate, Validity::Random].map(count);
        out += &format!(
            "cases: {valid} valid, {violate} that break a rule, {random} random ({} of them valid)\n",
            levels.random_valid
        );
    }
    if let Some(path) = &levels.p {
        let ends = [path.points.first(), path.points.last()].map(|point| point.map_or(0.0, |p| p.1));
        out += &format!("p went from {:.2} to {:.2}\n", ends[0], ends[1]);
    }
    for (rule, by_target) in &levels.rules {
        for (target, a) in by_target {
            out += &format!(
                "{rule} on {target}: {} refused, {} accepted, {} faulted, {} incomparable\n",
                a.refused, a.accepted, a.faulted, a.incomparable
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rests_on_the_same_is_said_once() {
        let of = |count| BTreeMap::from([("flush to zero".to_owned(), count)]);
        let all = [("a:all", of(2)), ("a:none", of(2)), ("b:all", of(1))];
        let all = all.map(|(target, by_name)| (target.to_owned(), by_name)).into();
        assert_eq!(
            allowances_text(&all),
            "a:all, a:none: answers that rest on an allowance: flush to zero 2\nb:all: answers that rest on an allowance: flush to zero 1\n"
        );
    }
}
