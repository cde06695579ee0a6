//! docs/zoo.md itself.

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::{Catalogue, Model, Operator};
use super::measured::{JUDGED, Judged, Local, Measured, ModelResult, Whole};

const ABOUT: &str = include_str!("../zoo.md");

/// What a line says where an operator is not known.
const LACKING: &str = "Not known here: ";

/// The whole page.
pub(crate) fn whole(
    catalogue: &Catalogue,
    packages: &str,
    measured: &BTreeMap<String, Measured>,
    budget: u64,
) -> String {
    let mut page = format!("{ABOUT}\nMade with {packages}.\n");
    page += &summary(catalogue.models.len(), measured, budget);
    page += &models(catalogue, measured);
    page += &told(measured);
    page += &operators(&catalogue.models);
    page += "\n## What could not be exported\n\n";
    for failed in &catalogue.failed {
        page += &format!("- {}: {}\n", failed.name, line(&failed.why));
    }
    page
}

fn summary(models: usize, measured: &BTreeMap<String, Measured>, budget: u64) -> String {
    let count = |wanted: &dyn Fn(&Measured) -> bool| measured.values().filter(|m| wanted(m)).count();
    let unread = count(&|m| m.unread().is_some());
    let judged = |engine: &str| count(&|m| m.on(engine).is_some_and(|judged| every(judged, "right")));
    let [cpu, runtime] = JUDGED;
    format!(
        "\n## Models\n\n{models} models; {} were measured, of which {} are read. Of {} every operator is right, judged on \
         the operands that `{cpu}` itself has; on those of `{runtime}` of {}. A question to an engine was ended after {budget} seconds.\n",
        measured.len(),
        measured.len() - unread,
        judged(cpu),
        judged(runtime)
    )
}

fn every(judged: &Judged, standing: &str) -> bool {
    judged.targets.iter().flat_map(|local| &local.operators).all(|operator| operator.standing == standing)
}

impl Measured {
    /// What came of an engine that was judged.
    fn on(&self, engine: &str) -> Option<&Judged> {
        match self.answer(engine)? {
            ModelResult::Judged(judged) => Some(judged),
            ModelResult::Unread(_) | ModelResult::TooLong | ModelResult::Absent(_) => None,
        }
    }

    fn answer(&self, engine: &str) -> Option<&ModelResult> {
        self.engines.iter().find_map(|(name, answer)| (name == engine).then_some(answer))
    }

    /// Why the model is not read, if it is not.
    fn unread(&self) -> Option<&str> {
        self.engines.iter().find_map(|(_, answer)| match answer {
            ModelResult::Unread(why) => Some(why.as_str()),
            ModelResult::Judged(_) | ModelResult::TooLong | ModelResult::Absent(_) => None,
        })
    }
}

/// A line for each model.
fn models(catalogue: &Catalogue, measured: &BTreeMap<String, Measured>) -> String {
    let mut text = "\n| model | from | opset | nodes | operators | judged on cpu | on ONNX Runtime | undecided | bound ÷ error | bound ÷ value | \
                    reference | cpu | ONNX Runtime | optimised | rten | OpenVINO |\n\
                    |---|---|---|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---|---|---|\n"
        .to_owned();
    for model in &catalogue.models {
        let nodes: usize = model.operators.values().sum();
        text += &format!(
            "| {} | {} | {} | {nodes} | {} | ",
            model.name,
            model.from,
            opsets(model),
            model.operators.len()
        );
        match measured.get(&model.name) {
            Some(measured) => text += &row(measured),
            None => text += "not measured",
        }
        text += " |\n";
    }
    text
}

/// What came of a model, cell by cell.
fn row(measured: &Measured) -> String {
    if let Some(why) = measured.unread() {
        return format!("not read: {}", line(why));
    }
    let [cpu, runtime] = JUDGED;
    let judged = |engine: &str| match measured.answer(engine) {
        Some(ModelResult::Judged(judged)) => standings(judged),
        Some(other) => short(other).to_owned(),
        None => "–".to_owned(),
    };
    let best =
        measured.on(runtime).filter(|judged| judged.targets.iter().any(|local| !local.operators.is_empty()));
    let local = best.or_else(|| measured.on(cpu)).and_then(|judged| judged.targets.first());
    let whole = |engine: &str| measured.on(engine).and_then(|judged| judged.whole.first());
    let seconds = |seconds: Option<f64>| seconds.map_or_else(|| "–".to_owned(), |s| format!("{s:.2}"));
    let mut cells = vec![judged(cpu), judged(runtime)];
    cells.push(local.map_or_else(|| "–".to_owned(), undecided));
    cells.push(local.and_then(margin).map_or_else(|| "–".to_owned(), |margin| format!("{margin:.0}")));
    cells.push(whole(runtime).or_else(|| whole(cpu)).map_or_else(|| "–".to_owned(), reach));
    cells.push(seconds(whole(cpu).and_then(|whole| whole.reference_seconds)));
    cells.push(seconds(whole(cpu).filter(|whole| whole.answer != "none").map(|whole| whole.seconds)));
    cells.push(seconds(whole(runtime).filter(|whole| whole.answer != "none").map(|whole| whole.seconds)));
    for (engine, answer) in measured.engines.iter().filter(|(engine, _)| !JUDGED.contains(&engine.as_str())) {
        cells.push(match answer {
            ModelResult::Judged(_) => {
                whole(engine).map_or_else(|| "–".to_owned(), |whole| whole.answer.clone())
            }
            other => short(other).to_owned(),
        });
    }
    cells.join(" | ")
}

/// An answer that is no judgement, in a word or two.
fn short(answer: &ModelResult) -> &'static str {
    match answer {
        ModelResult::Judged(_) => "judged",
        ModelResult::Unread(_) => "not read",
        ModelResult::TooLong => "takes longer",
        ModelResult::Absent(_) => "not there",
    }
}

/// How many operators stand how: `all 12 right`, or each number.
fn standings(judged: &Judged) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let operators: Vec<_> = judged.targets.iter().flat_map(|local| &local.operators).collect();
    for operator in &operators {
        *counts.entry(&operator.standing).or_default() += 1;
    }
    if every(judged, "right") {
        return format!("all {} right", operators.len());
    }
    let order = ["right", "suspect", "wrong", "open", "untold", "dear"];
    let each = order.iter().filter_map(|standing| Some(format!("{} {standing}", counts.get(standing)?)));
    each.collect::<Vec<_>>().join(", ")
}

/// The share of elements of which nothing is said.
fn undecided(local: &Local) -> String {
    let all: usize = local.operators.iter().map(|operator| operator.elements).sum();
    let undecided: usize = local.operators.iter().map(|operator| operator.undecided).sum();
    match undecided {
        0 => "0".to_owned(),
        _ => format!("{:.2} %", 100.0 * undecided as f64 / all as f64),
    }
}

/// The median over the operators that are not exact of how much wider the bound is than the error of the element that
/// uses it most.
fn margin(local: &Local) -> Option<f64> {
    let used = local.operators.iter().map(|operator| operator.used).filter(|&used| used > 0.0);
    let mut margins: Vec<f64> = used.map(|used| 1.0 / used).collect();
    margins.sort_by(f64::total_cmp);
    margins.get(margins.len() / 2).copied()
}

/// How wide the widest of the outputs' bounds is, as a part of its values.
fn reach(whole: &Whole) -> String {
    if whole.outputs.is_empty() {
        return "–".to_owned();
    }
    let bounds: Option<Vec<f64>> =
        whole.outputs.iter().filter(|reach| reach.elements > 0).map(|reach| reach.bound).collect();
    match bounds.map(|bounds| bounds.into_iter().fold(0.0, f64::max)) {
        // What a sum of zeros may be off by is none of a result.
        Some(bound) if bound < f64::from(f32::MIN_POSITIVE) => "0".to_owned(),
        Some(bound) if bound < 1.0 => format!("{bound:.0e}"),
        Some(_) | None => "says nothing".to_owned(),
    }
}

fn opsets(model: &Model) -> String {
    let each = model.opsets.iter().map(|(domain, version)| {
        if domain == "ai.onnx" { version.to_string() } else { format!("{domain} {version}") }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The answers that are not right, each kind once: the engine, the operator and the verdict.
fn told(measured: &BTreeMap<String, Measured>) -> String {
    let mut kinds: BTreeMap<FailureKind<'_>, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, measured) in measured {
        for (engine, answer) in &measured.engines {
            let ModelResult::Judged(judged) = answer else { continue };
            for whole in
                judged.whole.iter().filter(|whole| !["right", "unjudged"].contains(&whole.answer.as_str()))
            {
                let kind = (engine.as_str(), WHOLE, whole.answer.as_str(), message(whole));
                kinds.entry(kind).or_default().push((name, &whole.why));
            }
            for operator in
                judged.targets.iter().flat_map(|local| &local.operators).filter(|o| o.standing != "right")
            {
                let kind = (engine.as_str(), operator.op.as_str(), operator.standing.as_str(), String::new());
                kinds.entry(kind).or_default().push((name, &operator.why));
            }
        }
    }
    let mut text = "\n## What is not right\n\n| engine | what | stands | times | models | for example |\n|---|---|---|---:|---:|---|\n".to_owned();
    for ((engine, what, stands, _), found) in &kinds {
        let models: BTreeSet<&str> = found.iter().map(|(model, _)| *model).collect();
        let (model, why) = found[0];
        let (times, models) = (found.len(), models.len());
        text += &format!("| {engine} | {what} | {stands} | {times} | {models} | {model}: {} |\n", line(why));
    }
    text
}

/// An engine, an operator, how it stands, and what an engine says that gives no answer.
type FailureKind<'a> = (&'a str, &'a str, &'a str, String);

/// What stands in place of an operator for the model end to end.
const WHOLE: &str = "the whole";

/// The end of the message of an engine that gives no answer, without the parts that are about one model
/// alone. Empty for an engine that answers.
fn message(whole: &Whole) -> String {
    if whole.answer != "none" {
        return String::new();
    }
    let said = whole.why.split_once("\": ").map_or(whole.why.as_str(), |(_, said)| said);
    line(said)
}

/// A text as it may stand in a line of a table.
fn line(text: &str) -> String {
    let text: String = text.replace('|', "/").split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// How much of a text is told.
const MOST_CHARACTERS: usize = 240;

/// What the models are made of.
fn operators(models: &[Model]) -> String {
    let mut used: BTreeMap<&Operator, usize> = BTreeMap::new();
    models
        .iter()
        .flat_map(|model| model.operators.keys())
        .for_each(|operator| *used.entry(operator).or_default() += 1);
    let (known, lacking): (Vec<_>, Vec<_>) =
        used.into_iter().partition(|((domain, name), _)| onnx::import::knows(domain, name));
    let listed = |mut operators: Vec<(&Operator, usize)>| {
        operators.sort_by_key(|&(_, models)| std::cmp::Reverse(models));
        let each: Vec<String> =
            operators.iter().map(|(operator, models)| format!("{} {models}", name(operator))).collect();
        if each.is_empty() { "none".to_owned() } else { each.join(", ") }
    };
    format!(
        "\n## Operators\n\nEach with the number of models that use it, bodies and functions included.\n\nKnown: {}.\n\n{LACKING}{}.\n",
        listed(known),
        listed(lacking)
    )
}

fn name((domain, name): &Operator) -> String {
    if domain.is_empty() { name.clone() } else { format!("{domain}.{name}") }
}

/// The operators that a page says are not known.
pub(crate) fn lacking(page: &str) -> BTreeSet<(&str, &str)> {
    let line =
        page.lines().find_map(|line| line.strip_prefix(LACKING)?.strip_suffix('.')).unwrap_or_default();
    let names = line.split(", ").filter_map(|each| Some(each.split_once(' ')?.0));
    names.map(|name| name.rsplit_once('.').unwrap_or(("", name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_lacks_is_read_from_it() {
        let page = format!("Known: Abs 3.\n\n{LACKING}Resize 6, ai.onnx.ml.Scaler 2.\n");
        assert_eq!(lacking(&page), [("", "Resize"), ("ai.onnx.ml", "Scaler")].into());
        assert!(lacking(&format!("{LACKING}none.\n")).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = "é".repeat(MOST_CHARACTERS + 1);
        assert_eq!(line(&text), format!("{} …", "é".repeat(MOST_CHARACTERS)));
        assert_eq!(line("a |\n b"), "a / b");
    }
}
