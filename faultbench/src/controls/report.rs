//! What came of the controls: one JSON object, a part of the page docs/faults.md, or a few lines.

use serde_json::{Map, Value, json};

use super::bench::{ControlResult, Results};
use crate::judges::PROFILES;

/// One JSON object.
pub fn json(results: &Results) -> Value {
    json!({
        "controls": results.controls.len(),
        "cases": results.cases,
        "seed": results.seed,
        "alarms": alarms(results, Standing::Closed),
        "open_alarms": alarms(results, Standing::Open),
        "each": results.controls.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Whether an alarm is known and waits to be mended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Closed,
    Open,
}

/// On how many cases, control by control and profile by profile, something is found.
pub(super) fn alarms(results: &Results, standing: Standing) -> u64 {
    let is_so = |t: &&ControlResult| (t.control.open.is_some()) == (standing == Standing::Open);
    results.controls.iter().filter(is_so).flat_map(|t| t.alarms).flatten().map(|alarm| alarm.cases).sum()
}

fn one(tried: &ControlResult) -> Value {
    let alarms = PROFILES.iter().zip(tried.alarms).filter_map(|(profile, alarm)| {
        alarm.map(|alarm| (profile.name.to_owned(), json!({ "cases": alarm.cases, "first": alarm.first })))
    });
    json!({
        "name": tried.control.name,
        "does": tried.control.does,
        "conforms_to": tried.control.profiles().collect::<Vec<_>>(),
        "cases": tried.cases,
        "different": tried.different,
        "alarms": alarms.collect::<Map<_, _>>(),
        "open": tried.control.open,
    })
}

/// A few lines: the totals, and each alarm.
pub fn text(results: &Results) -> String {
    let mut text = format!(
        "{} controls, {} alarms and {} open ones in {} cases\n",
        results.controls.len(),
        alarms(results, Standing::Closed),
        alarms(results, Standing::Open),
        results.cases,
    );
    for tried in &results.controls {
        let of = format!("{} of {} cases", tried.different, tried.cases);
        for (profile, alarm) in PROFILES.iter().zip(tried.alarms) {
            if let Some((alarm, first)) = alarm.and_then(|alarm| Some((alarm, alarm.first?))) {
                let open = if tried.control.open.is_some() { ", open" } else { "" };
                text += &format!(
                    "{} under {}: {} alarms, the first on case {first} (different in {of}{open})\n",
                    tried.control.name, profile.name, alarm.cases
                );
            }
        }
        if tried.different == 0 {
            text += &format!("{} is never different ({} cases)\n", tried.control.name, tried.cases);
        }
    }
    text
}

/// The part of the page.
pub(crate) fn markdown(results: &Results) -> String {
    let names = PROFILES.map(|profile| format!(" {} |", profile.name)).concat();
    let mut page = format!(
        "
## Controls

{count} implementations that conform and are different: each that is called wrong is a false alarm. They are tried on {cases} cases. A
column says on how many of them a control is called wrong under a profile that it conforms to; – that it does not conform to it.
*Different* counts the cases on which it has other bits than a plain way to calculate (`sums-in-order`) or, of a single operator, than
our kernel. {alarms} alarms are not explained below.

| control | it … | cases | different |{names}
|---|---|---|---|{rule}
",
        count = results.controls.len(),
        cases = results.cases,
        alarms = alarms(results, Standing::Closed),
        rule = "---|".repeat(PROFILES.len()),
    );
    for tried in &results.controls {
        let alarms = tried.alarms.map(|alarm| alarm.map_or_else(|| "–".to_owned(), |a| a.cases.to_string()));
        let (control, row) = (tried.control, alarms.join(" | "));
        page += &format!(
            "| {} | {} | {} | {} | {row} |\n",
            control.name, control.does, tried.cases, tried.different
        );
    }
    page += &never_different(results);
    for control in results.controls.iter().map(|tried| tried.control) {
        if let Some(why) = control.open {
            page += &format!("\n`{}`: {why}.\n", control.name);
        }
    }
    page
}

/// What shows nothing, as it has the same bits throughout.
fn never_different(results: &Results) -> String {
    let same = results.controls.iter().filter(|tried| tried.different == 0);
    let names: Vec<String> = same.map(|tried| format!("`{}`", tried.control.name)).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("\nNever different, so that they show no false alarm either: {}.\n", names.join(", "))
}
