//! What ran: enough to run it again.

use maud::{Markup, html};
use serde_json::Value;

use super::{Page, scrolling};
use campaign::shard::Shard;
use campaign::store::Identity;
use campaign::store::identity::Tested;

/// Longer lists of settings are counted.
const LIST: usize = 14;

/// The engines, and what the campaign follows from.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let engines = html! {
        table {
            thead { tr { th { "engine" } th { "version" } th { "held to" } th.number { "lacks forms" } th.number { "lacks dtypes" } } }
            tbody {
                @for tested in &page.identity.targets {
                    @let [forms, dtypes] = lacks(tested);
                    tr {
                        td {
                            code { (tested.name) }
                            @if let Some(engine) = &tested.engine { " " span.muted { code { (engine) } } }
                        }
                        td { (tested.version) }
                        td { (tested.accuracy) }
                        td.number { (forms) }
                        td.number { (dtypes) }
                    }
                }
            }
        }
        p.muted { "“lacks forms” counts the forms of operators (of a dtype, with an attribute, of a rank) that the engine was found to lack, as the campaign said \
            when it began; “lacks dtypes” the dtypes on which it lacks operators that are written out in others where they are read, one by one." }
    };
    html! {
        section id="ran" {
            h2 { "What ran" }
            div.columns {
                (scrolling(&engines))
                dl.facts { @for (name, value) in facts(page.identity) { dt { (name) } dd { (value) } } }
            }
        }
    }
}

/// How many forms an engine lacks of operators of ours, and how many of operators that are written out in
/// others.
fn lacks(tested: &Tested) -> [usize; 2] {
    let is_written_out = |name: &str| forms::composite::find(name).is_some();
    let count = |written_out: bool| {
        let of_kind = tested.refused.iter().filter(|(name, _)| is_written_out(name) == written_out);
        of_kind.map(|(_, lacking)| lacking.len()).sum()
    };
    [count(false), count(true)]
}

/// Names and values.
fn facts(identity: &Identity) -> Vec<(String, String)> {
    let value = serde_json::to_value(identity).unwrap_or_default();
    let mut facts = vec![
        ("onnxsmith".to_owned(), identity.onnxsmith.clone()),
        ("seed".to_owned(), identity.seed.to_string()),
    ];
    if identity.shard != Shard::WHOLE {
        facts.push(("shard".to_owned(), identity.shard.to_string()));
    }
    // The settings come last: they are many, and seldom changed.
    let told = ["onnxsmith", "seed", "shard", "targets", "settings"];
    let rest = value.as_object().into_iter().flatten().filter(|(name, _)| !told.contains(&name.as_str()));
    let settings = identity.settings.iter();
    facts.extend(
        rest.chain(settings).filter_map(|(name, value)| Some((name.replace('_', " "), text(value)?))),
    );
    facts
}

/// A value in a few words; none for what was left open.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.len() > LIST => Some(items.len().to_string()),
        Value::Array(items) => listed(items.iter().filter_map(text)),
        Value::Object(fields) => {
            let part = |(name, value): (&String, &Value)| Some(format!("{name} {}", text(value)?));
            listed(fields.iter().filter_map(part))
        }
        Value::Number(number) => Some(number.to_string()),
    }
}

fn listed(parts: impl Iterator<Item = String>) -> Option<String> {
    let all = parts.collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn forms_of_operators_and_dtypes_of_written_out_ones_are_counted_apart() {
        let lacking = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let refused = BTreeMap::from([
            ("Add".to_owned(), lacking(&["dtype of A is bf16", "opset <= 13"])),
            ("LSTM".to_owned(), lacking(&["f16", "f32", "f64"])),
        ]);
        let tested = Tested {
            name: "e:all".to_owned(),
            engine: None,
            version: String::new(),
            accuracy: String::new(),
            functions: true,
            newest_opset: None,
            refused,
            refused_forms: BTreeSet::new(),
        };
        assert_eq!(lacks(&tested), [2, 3]);
    }
}
