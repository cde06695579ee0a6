//! What a campaign is: everything its cases and verdicts follow from.
//!
//! Two campaigns with the same identity give the same report, but for what hangs on time and memory, and for how far findings
//! that a list knows are reduced: `--timeout` and `--known` may be other ones when it is continued. So a campaign is
//! continued, and parts of one are merged, only where identities agree; otherwise the message names what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graphgen::Settings;
use graphgen::support::text;
use ops::Spec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fuzz::Plan;
use crate::shard::Shard;
use harness::case::Values;
use harness::invalid::schedule::Choice;
use harness::support::{Lacking, LackingForm};
use harness::target::Target;

/// What a campaign is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The version of this program.
    pub onnxsmith: String,
    /// The seed.
    pub seed: u64,
    /// The part, where the campaign is split.
    pub shard: Shard,
    /// The opset of every case, if it is fixed.
    pub opset: Option<u32>,
    /// The number of nodes, where it is drawn for each case.
    #[serde(default)]
    pub nodes: Option<(usize, usize)>,
    /// Weights and patterns, where they are not the built-in ones.
    #[serde(default)]
    pub policy: Value,
    /// What may occur in graphs.
    pub settings: BTreeMap<String, Value>,
    /// Whether settings are varied from case to case.
    pub swarm: bool,
    /// Which values cases have.
    pub values: Values,
    /// How a case gets its level.
    pub level: Choice,
    /// The only rules that are broken; empty for all.
    pub rules: Vec<String>,
    /// What is asked about them, by oracle.
    pub oracles: BTreeMap<String, Vec<String>>,
    /// What cases run on.
    pub targets: Vec<Tested>,
    /// How many cases of one signature are saved.
    pub saved_per_signature: u64,
    /// The most bytes that saved cases take.
    pub max_disk: Option<u64>,
}

/// A target, as it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tested {
    /// The engine's name in reports, and the level.
    pub name: String,
    /// The engine on the command line, where it has another name there: `cmd:` and a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The version of the engine.
    pub version: String,
    /// The accuracy profile that it is held to.
    pub accuracy: String,
    /// Whether it takes model-local functions.
    pub functions: bool,
    /// The newest opset that it loads, if that is known.
    pub newest_opset: Option<u32>,
    /// The forms that it was found to lack, in words, by operator.
    #[serde(default)]
    pub refused: BTreeMap<String, BTreeSet<String>>,
    /// The forms of programs that it was found to lack.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub refused_forms: BTreeSet<String>,
}

impl Identity {
    /// The identity of what a plan describes.
    pub fn of(plan: &Plan<'_>) -> Self {
        let maker = &plan.maker;
        Self {
            onnxsmith: env!("CARGO_PKG_VERSION").to_owned(),
            seed: maker.seed,
            shard: plan.shard,
            opset: maker.opset,
            nodes: maker.nodes.as_ref().map(|nodes| (*nodes.start(), *nodes.end())),
            policy: as_json(&maker.policy.record()),
            settings: settings(&maker.settings),
            swarm: maker.swarm,
            values: maker.values,
            level: plan.levels.choice,
            rules: plan.levels.rules.iter().map(|rule| rule.name.to_owned()).collect(),
            oracles: plan.oracles.questions(),
            targets: plan.targets.iter().map(Tested::of).collect(),
            saved_per_signature: plan.saved_per_signature,
            max_disk: plan.max_disk,
        }
    }

    /// What differs, one line each; empty where nothing does. The command of a program does not count: it is what its name and its
    /// version say, wherever it lies. Of an engine of another version that is all there is to say.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (mut found, mut other) = (Vec::new(), other.clone());
        for (theirs, ours) in other.targets.iter_mut().zip(&self.targets) {
            if theirs.name == ours.name && theirs.engine.is_some() == ours.engine.is_some() {
                theirs.engine.clone_from(&ours.engine);
                if theirs.version != ours.version {
                    *theirs = Tested { version: theirs.version.clone(), ..ours.clone() };
                }
            }
        }
        compare("", &as_json(self), &as_json(&other), &mut found);
        found
    }

    /// The version of an engine, by its name in reports.
    pub fn version(&self, backend: &str) -> String {
        self.tested(backend).map(|t| t.version.clone()).unwrap_or_default()
    }

    /// The engine as `--on` takes it, by its name in reports.
    pub fn engine<'a>(&'a self, backend: &'a str) -> &'a str {
        self.tested(backend).and_then(|t| t.engine.as_deref()).unwrap_or(backend)
    }

    fn tested(&self, backend: &str) -> Option<&Tested> {
        self.targets.iter().find(|t| t.backend() == backend)
    }

    /// Fills in what a target was found to lack when the campaign began. Says whether it knows the target.
    pub fn recall(&self, target: &mut Target) -> bool {
        let now = Tested::of(target);
        let is_it = |t: &&Tested| {
            (&t.name, t.engine.is_some(), &t.version) == (&now.name, now.engine.is_some(), &now.version)
        };
        let Some(tested) = self.targets.iter().find(is_it) else { return false };
        // What a later version wrote, and this one does not understand, is drawn.
        let forms = |spec: &'static Spec| {
            let sentences = tested.refused.get(spec.name).into_iter().flatten();
            sentences
                .filter_map(move |sentence| Some((spec.name, text::parse_sentence(sentence, spec).ok()?)))
        };
        let lacking =
            ops::registry().flat_map(forms).map(|(operator, form)| Lacking::recalled(operator, form));
        let known = (*target.support).clone();
        let known = known.with_opset(tested.newest_opset).with_functions(tested.functions);
        let composites = forms::composite::all().filter_map(|composite| {
            let dtypes = tested.refused.get(composite.name)?.iter().filter_map(|name| name.parse().ok());
            Some((composite.name, dtypes.collect()))
        });
        let known = known.with_lacking(lacking.collect()).with_composites(composites.collect());
        let forms = tested.refused_forms.iter().filter_map(|form| LackingForm::recalled(form));
        let known = known.with_lacking_forms(forms.collect());
        target.support = Arc::new(known);
        true
    }
}

impl Tested {
    /// The engine's name in reports.
    pub fn backend(&self) -> &str {
        self.name.rsplit_once(':').map_or(self.name.as_str(), |(backend, _)| backend)
    }

    fn of(target: &Target) -> Self {
        let support = &target.support;
        let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for lacking in support.lacking() {
            refused.entry(lacking.operator.to_owned()).or_default().insert(lacking.sentence());
        }
        for (name, dtypes) in support.composites() {
            let names = dtypes.iter().map(|dtype| dtype.name().to_owned());
            refused.entry((*name).to_owned()).or_default().extend(names);
        }
        Self {
            name: target.name(),
            engine: (target.engine != target.backend).then(|| target.engine.clone()),
            version: target.description().version.clone(),
            accuracy: target.profile.name.to_owned(),
            functions: support.functions,
            newest_opset: support.opset,
            refused,
            refused_forms: support.lacking_forms().iter().map(|lacking| lacking.form.to_owned()).collect(),
        }
    }
}

/// Settings by the names of their fields.
fn settings(settings: &Settings) -> BTreeMap<String, Value> {
    match as_json(settings) {
        Value::Object(fields) => fields.into_iter().collect(),
        other => unreachable!("a struct is an object of JSON, and not {other}"),
    }
}

/// A value as JSON. No other one may stand for a value that has none: two of these would be alike, and another campaign would be
/// gone on with.
fn as_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("names, numbers and lists and maps of them are JSON")
}

/// Collects where two values differ.
fn compare(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    match (a, b) {
        _ if a == b => {}
        (Value::Object(x), Value::Object(y)) => {
            let names: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(
                    &path,
                    x.get(name).unwrap_or(&Value::Null),
                    y.get(name).unwrap_or(&Value::Null),
                    found,
                );
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() && x.iter().all(Value::is_object) => {
            for (x, y) in x.iter().zip(y) {
                compare(&format!("{path}[{}]", label(x)), x, y, found);
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            let lacks = |x: &[Value], y: &[Value]| -> Vec<String> {
                x.iter().filter(|v| !y.contains(v)).map(label).collect()
            };
            found.push(format!(
                "{path}: only there {}; only here {}",
                list(&lacks(x, y)),
                list(&lacks(y, x))
            ));
        }
        _ => found.push(format!("{path}: {a} there, {b} here")),
    }
}

/// A value in a few words: a target by its name.
fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.get("name").and_then(Value::as_str).map_or_else(|| value.to_string(), str::to_owned),
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 5;
    match names {
        [] => "nothing".to_owned(),
        names if names.len() > SHOWN => {
            format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
        }
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use graphgen::{Budget, Span, UseForm};
    use ir::{DType, DTypes};
    use serde_json::json;

    use super::*;

    fn identity() -> Identity {
        let target = |name: &str| Tested {
            name: name.to_owned(),
            engine: None,
            version: "1.0".to_owned(),
            accuracy: "tight".to_owned(),
            functions: true,
            newest_opset: None,
            refused: BTreeMap::new(),
            refused_forms: BTreeSet::new(),
        };
        Identity {
            onnxsmith: "0.1.0".to_owned(),
            seed: 0,
            shard: Shard::WHOLE,
            opset: None,
            nodes: None,
            policy: Value::Null,
            settings: settings(&Settings::default()),
            swarm: true,
            values: Values::Mixed,
            level: Choice::Adaptive { p: 0.6, alpha: 0.01 },
            rules: Vec::new(),
            oracles: BTreeMap::new(),
            targets: vec![target("rten:none"), target("rten:all")],
            saved_per_signature: 3,
            max_disk: None,
        }
    }

    /// A campaign of an earlier version goes on only where its settings are found equal, so words and keys stay.
    #[test]
    fn settings_are_stored_as_they_always_were() {
        let dtypes = DTypes::NONE.with(DType::F16).with(DType::I4);
        let mut all = Settings { dtypes, ..Settings::default() };
        all.wanted_on.insert("Add", all.dtypes);
        all.composites.each.insert("GRU", all.dtypes);
        all.forms.each.insert("Loop", 0.25);
        all.budget =
            Budget { flops: Span { least: 3, most: 7 }, peak: Span::up_to(8), total: Span::up_to(9) };
        all.grown.max_dim = Some(5);
        all.refused.insert("Add", UseForm::default());
        let stored = settings(&all);
        for (key, value) in [
            ("opset", json!(28)),
            ("dtypes", json!(["f16", "i4"])),
            ("wanted_on", json!({ "Add": ["f16", "i4"] })),
            ("refused", json!(["Add: all of it"])),
            ("grown_max_dim", json!(5)),
            ("grown_max_elements", json!(null)),
            ("flops", json!([3, 7])),
            ("peak_bytes", json!([0, 8])),
            ("total_bytes", json!([0, 9])),
            ("forms", json!({ "share": 0.5, "each": { "Loop": 0.25 } })),
            ("composites", json!({ "share": 0.0, "each": { "GRU": ["f16", "i4"] } })),
        ] {
            assert_eq!(stored[key], value, "{key}");
        }
        let keys = "again backward composites constant dtypes empty_dims equal_dims flops forms function grown_max_dim \
                    grown_max_elements high_ranks long_dims max_dim max_elements max_rank narrow nodes oldest_opset onward \
                    operators opset other_dtypes pattern peak_bytes refused related reuse tap terse total_bytes turns unnamed wanted wanted_on";
        assert_eq!(
            stored.keys().map(String::as_str).collect::<Vec<_>>(),
            keys.split(' ').collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_differs_is_named() {
        let a = identity();
        assert_eq!(a.differences(&a.clone()), [""; 0]);
        let mut b = a.clone();
        b.seed = 7;
        b.settings.insert("nodes".to_owned(), json!(12));
        b.settings.insert("dtypes".to_owned(), json!(["f32"]));
        b.level = Choice::Valid;
        b.targets[1].version = "1.1".to_owned();
        let found = a.differences(&b).join("\n");
        for part in [
            "seed: 0 there, 7 here",
            "settings.nodes: 10 there, 12 here",
            "level: ",
            "more; only here nothing",
        ] {
            assert!(found.contains(part), "{part} is not in {found}");
        }
        assert!(found.contains("targets[rten:all].version: \"1.0\" there, \"1.1\" here"), "{found}");
        b.targets.remove(0);
        assert!(
            a.differences(&b).join("\n").contains("targets: only there rten:none"),
            "{:?}",
            a.differences(&b)
        );
    }

    #[test]
    fn a_program_is_what_its_name_and_version_say() {
        let mut a = identity();
        a.targets[0].engine = Some("cmd:./runner".to_owned());
        let mut b = a.clone();
        b.targets[0].engine = Some("cmd:/elsewhere/runner --verbose".to_owned());
        assert_eq!(a.differences(&b), [""; 0]);
        b.targets[0].version = "9.9".to_owned();
        b.targets[0].refused.insert("Acos".to_owned(), BTreeSet::from(["f16".to_owned()]));
        assert_eq!(a.differences(&b).len(), 1, "{:?}", a.differences(&b));
        b.targets[0] = Tested { engine: None, ..a.targets[0].clone() };
        assert_eq!(a.differences(&b).len(), 1, "{:?}", a.differences(&b));
    }

    #[test]
    fn an_identity_survives_being_stored() {
        let a = identity();
        let text = serde_json::to_string(&a).unwrap();
        assert_eq!(serde_json::from_str::<Identity>(&text).unwrap(), a);
    }

    #[test]
    fn the_version_of_an_engine_is_found_by_its_name() {
        assert_eq!(identity().version("rten"), "1.0");
        assert_eq!(identity().version("rte"), "");
    }

    #[test]
    fn the_command_of_an_engine_is_found_by_its_name() {
        let mut identity = identity();
        identity.targets[0].engine = Some("cmd:./runner --flag".to_owned());
        identity.targets[0].name = "mine:all".to_owned();
        assert_eq!((identity.engine("mine"), identity.engine("rten")), ("cmd:./runner --flag", "rten"));
        // As it was stored before programs had the name that they give.
        identity.targets[0].engine = None;
        identity.targets[0].name = "cmd:./runner:all".to_owned();
        assert_eq!(
            (identity.engine("cmd:./runner"), identity.version("cmd:./runner")),
            ("cmd:./runner", "1.0".to_owned())
        );
    }
}
