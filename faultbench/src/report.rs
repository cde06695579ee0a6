//! The bench's results: one JSON object, the page docs/faults.md, or a few lines.

use serde_json::{Map, Value, json};

use crate::bench::{FaultResult, Results, Share, shares};
use crate::controls;
use crate::fault::Level;
use crate::judges::{FIRST, FIXED, JUDGES, PROFILES};
use crate::{reduction, unseen};

/// The generated page.
pub const PAGE: &str = "docs/faults.md";

/// One JSON object.
pub fn json(results: &Results) -> Value {
    let shares = shares(&results.faults);
    let row = |judge: usize| {
        let Share { found, of } = shares[judge];
        json!({ "found": found, "faults": of, "false_alarms": results.false_alarms[judge] })
    };
    json!({
        "faults": results.faults.len(),
        "found": shares[FIRST].found,
        "false_alarms": results.false_alarms[FIRST],
        "cases": results.cases,
        "by_profile": by_profile(row),
        "by_tolerance": by_tolerance(row),
        "by_level": by_level(results),
        "sources": results.faults.iter().filter(|t| t.fault.source().is_some()).count(),
        "seed": results.seed,
        "named": results.faults.iter().filter(|t| t.is_named()).count(),
        "reduction": reduction::json(&results.faults),
        "each": results.faults.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Something of each judge by bounds, by the name of the profile.
fn by_profile(of: impl Fn(usize) -> Value) -> Map<String, Value> {
    PROFILES.iter().enumerate().map(|(judge, profile)| (profile.name.to_owned(), of(judge))).collect()
}

/// Something of each judge by a fixed tolerance, by its name.
fn by_tolerance(of: impl Fn(usize) -> Value) -> Map<String, Value> {
    let judges = FIXED.iter().zip(PROFILES.len()..);
    judges.map(|(fixed, judge)| (fixed.name.to_owned(), of(judge))).collect()
}

/// How many faults there are at each level, and how many of them the bounds find under each profile.
fn by_level(results: &Results) -> Map<String, Value> {
    let levels = Level::ALL.into_iter().map(|level| {
        let (faults, found) = at(results, level);
        let row = json!({
            "faults": faults.len(),
            "sources": faults.iter().filter(|t| t.fault.source().is_some()).count(),
            "found": by_profile(|judge| json!(found[judge].found)),
        });
        (level.name().to_owned(), row)
    });
    levels.collect()
}

/// The faults of a level, and how many of them each judge finds.
fn at(results: &Results, level: Level) -> (Vec<&FaultResult>, [Share; JUDGES]) {
    let faults: Vec<&FaultResult> = results.faults.iter().filter(|t| t.fault.level() == level).collect();
    let found = shares(faults.iter().copied());
    (faults, found)
}

fn one(tried: &FaultResult) -> Value {
    let after = |judge: usize| json!(tried.found_after[judge]);
    json!({
        "name": tried.fault.name(),
        "level": tried.fault.level().name(),
        "operator": tried.fault.operator(),
        "does": tried.fault.does(),
        "source": tried.fault.source(),
        "found_after": after(FIRST),
        "by_profile": by_profile(after),
        "culprit": tried.culprit,
        "culprit_is_right": has_right_culprit(tried),
        "cases_with_operator": tried.concerned,
        "by_tolerance": by_tolerance(after),
        "unseen": unseen::json(&tried.accepted, &tried.found_after[..PROFILES.len()], tried.concerned),
        "reduced": tried.reduced,
    })
}

/// Whether the right operator is blamed, where the fault is found and in one.
fn has_right_culprit(tried: &FaultResult) -> Option<bool> {
    tried.found_after[FIRST].and(tried.fault.operator()).map(|_| tried.is_named())
}

/// A few lines: the totals, and what was missed.
pub fn text(results: &Results) -> String {
    let mut text = String::new();
    for (judge, Share { found, of }) in shares(&results.faults).into_iter().enumerate() {
        let (name, alarms) = (judge_name(judge), results.false_alarms[judge]);
        text += &format!(
            "{name:<22} {found:>3} of {of} faults found, {alarms} false alarms in {} cases\n",
            results.cases
        );
    }
    for tried in &results.faults {
        text += &missed(tried);
        if has_right_culprit(tried) == Some(false) {
            let blamed = tried.culprit.as_deref().unwrap_or("the whole graph");
            text += &format!("found, but {blamed} is blamed: {}\n", tried.fault.name());
        }
    }
    text + &reduction::text(&results.faults)
}

/// A line for a fault that the bounds do not find under each profile.
fn missed(tried: &FaultResult) -> String {
    let profiles: Vec<&str> = unfound(tried).map(|(profile, _)| profile).collect();
    let Some((_, why)) = unfound(tried).next() else { return String::new() };
    let (fault, place) = (tried.fault, tried.fault.operator().unwrap_or(tried.fault.level().name()));
    format!(
        "not found under {}: {} ({place} in {} cases; {why})\n",
        profiles.join(", "),
        fault.name(),
        tried.concerned
    )
}

/// The profiles under which the bounds do not find a fault, each with the reason.
fn unfound(tried: &FaultResult) -> impl Iterator<Item = (&'static str, String)> {
    let profiles = PROFILES.iter().zip(&tried.accepted).enumerate();
    let unfound =
        profiles.filter(|(judge, _)| tried.is_fault_to(*judge) && tried.found_after[*judge].is_none());
    unfound.map(|(_, (profile, accepted))| (profile.name, accepted.why(tried.concerned)))
}

fn judge_name(judge: usize) -> String {
    match judge.checked_sub(PROFILES.len()) {
        None => format!("bounds, {}", PROFILES[judge].name),
        Some(fixed) => FIXED[fixed].name.to_owned(),
    }
}

/// The page.
pub fn markdown(results: &Results, controls: &controls::bench::Results) -> String {
    let (cases, seed) = (results.cases, results.seed);
    let page = format!(
        "\
# Planted faults

Implementations that are right but for one thing each, and how soon a campaign on them notices; and controls, which are right in
another way than ours. Generated by

<!-- not run: takes long -->
```sh
cargo xtask faults --markdown --cases {cases} --seed {seed}
```

Each of the {count} faults is tried on the same {cases} cases of 10 operators, made as `onnxsmith fuzz` makes them, with every
operator in every opset; a case counts whether or not it holds what the fault concerns. The answers are judged by the
bounds that are derived for each element, under three accuracy profiles, and, side by side, by the fixed tolerances that are usual,
in the sense of NumPy's `allclose`. A false alarm is a case on which a judge takes our kernels without a fault for wrong; on
such a case it finds no fault either.

",
        count = results.faults.len()
    );
    page + &judges_table(results)
        + &levels_table(results)
        + &unfound_table(results)
        + &faults_tables(results)
        + &controls::report::markdown(controls)
}

fn judges_table(results: &Results) -> String {
    let cases = results.cases;
    let mut table = format!("| judge | faults found | false alarms in {cases} cases |\n|---|---|---|\n");
    for (judge, Share { found, of }) in shares(&results.faults).into_iter().enumerate() {
        let alarms = results.false_alarms[judge];
        table += &format!("| {} | {found} of {of} | {alarms} |\n", judge_name(judge));
    }
    table + "\nWhat a profile grants is no fault under it, and not counted there.\n"
}

fn levels_table(results: &Results) -> String {
    let names = PROFILES.map(|profile| format!(" {} |", profile.name)).concat();
    let mut table = format!(
        "\nBy where the fault sits: in the kernel of an operator, in what an optimiser makes of a graph, in how a process runs one\n\
         model after another. Some do as a public bug did, which is named.\n\n\
         | level | faults | as a public bug |{names}\n|---|---|---|{}\n",
        "---|".repeat(PROFILES.len())
    );
    for level in Level::ALL {
        let (faults, found) = at(results, level);
        let sources = faults.iter().filter(|t| t.fault.source().is_some()).count();
        let found: Vec<String> =
            found[..PROFILES.len()].iter().map(|share| format!("{} of {}", share.found, share.of)).collect();
        let (found, count) = (found.join(" | "), faults.len());
        table += &format!("| {} | {count} | {sources} | {found} |\n", level.name());
    }
    table
}

fn unfound_table(results: &Results) -> String {
    let mut table = "\nWhat is not found, and why: no case has what it concerns; its answers are the right ones on all that have; or \
                     they differ only where nothing is known, or inside the bounds.\n\n\
                     | fault | under | cases with it | why |\n|---|---|---|---|\n"
        .to_owned();
    for tried in &results.faults {
        for (profile, why) in unfound(tried) {
            table += &format!("| {} | {profile} | {} | {why} |\n", tried.fault.name(), tried.concerned);
        }
    }
    table
}

fn faults_tables(results: &Results) -> String {
    let (operators, found) = at(results, Level::Operator);
    let named = operators.iter().filter(|t| t.is_named()).count();
    let mut page = format!(
        "\nOf the {} in kernels that are found under \"{}\", {named} are blamed on the operator they are in.\n\n\
         A number says after how many cases a judge finds the fault; – that it does not.\n",
        found[FIRST].found, PROFILES[FIRST].name,
    );
    for (level, what, who) in [
        (Level::Operator, "operator", "the kernel …"),
        (Level::Graph, "rewriting", "the optimiser …"),
        (Level::Process, "process", "the process …"),
    ] {
        page += &faults_table(&at(results, level).0, what, who);
    }
    page
}

fn faults_table(faults: &[&FaultResult], what: &str, who: &str) -> String {
    let profiles = PROFILES.map(|profile| format!(" {} |", profile.name)).concat();
    let tolerances =
        FIXED.map(|f| format!(" {} |", f.name.replace("rtol ", "").replace(", atol ", " / "))).concat();
    let mut table = format!(
        "\n| {what} | {who} | as in | cases with it |{profiles}{tolerances} blamed |\n|---|---|---|---|{}---|\n",
        "---|".repeat(JUDGES),
    );
    for tried in faults {
        let after =
            tried.found_after.map(|a| a.map_or_else(|| "–".to_owned(), |n| n.to_string())).join(" | ");
        let blamed = match tried.found_after[FIRST] {
            None => "",
            Some(_) if tried.fault.level() == Level::Process => "",
            Some(_) => tried.culprit.as_deref().unwrap_or("whole graph"),
        };
        let (fault, cases) = (tried.fault, tried.concerned);
        let (place, source) = (fault.operator().unwrap_or(fault.name()), fault.source().unwrap_or(""));
        table += &format!("| {place} | {} | {source} | {cases} | {after} | {blamed} |\n", fault.does());
    }
    table
}
