//! What a user asks of generated models: by flags, by a policy file, or by both.
//!
//! A policy file is TOML. Its keys are those of [`KEYS`], named as the flags of the command line are; amounts may be
//! numbers or text (`"1e6"`, `"2K"`), ranges are text:
//!
//! ```toml
//! nodes = "5..30"
//! flops = "1e6..1e9"
//! ops = ["Conv:f32", "TopK", "MatMul"]
//! templates = [["Conv", "Relu"]]
//! patterns = [["y = Conv", "z = Sigmoid(y)", "Mul(y, z)"]]
//!
//! [weights]
//! default = 5
//! "Reduce*" = 1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use ir::text::wildcard;
use ir::{DType, DTypes};
use ops::Spec;
use serde::Serialize;
use toml::{Table, Value};

use super::pattern::{Pattern, PatternError, most_like, nearest, operator};
use super::{Policy, Weights};
use crate::amount;
use crate::budget::Span;
use crate::settings::{DRAWN, Settings};

/// What is asked for. What is `None` or empty is as it is by default.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Taste {
    /// The number of nodes of a graph.
    pub nodes: Option<RangeInclusive<usize>>,
    /// The opset, or a range that it is drawn from for each case.
    pub opset: Option<RangeInclusive<u32>>,
    /// The operators in use, some on certain dtypes alone.
    pub ops: Vec<WantedOperator>,
    /// Operators that are not used.
    pub exclude: Vec<&'static str>,
    /// The dtypes that operators are used on.
    pub dtypes: Vec<DType>,
    /// The highest rank.
    pub max_rank: Option<usize>,
    /// The largest dimension.
    pub max_dim: Option<i64>,
    /// The most elements of a value.
    pub max_elements: Option<i64>,
    /// The scalar operations of a graph.
    pub flops: Option<Span>,
    /// The bytes that exist at one time.
    pub memory: Option<Span>,
    /// The bytes of all tensors.
    pub total: Option<Span>,
    /// Probabilities, by the name of their key.
    pub shares: BTreeMap<&'static str, f64>,
    /// Weights of operators, by name or by a pattern in which `*` is any text; `default` is what nothing else is said of.
    pub weights: BTreeMap<String, u32>,
    /// Patterns, instead of the built-in ones.
    pub patterns: Option<Vec<Pattern>>,
}

/// An operator that is asked for, on one dtype or on all that are in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WantedOperator {
    /// The operator's ONNX name.
    pub operator: &'static str,
    /// The dtype.
    pub dtype: Option<DType>,
}

/// Why a policy file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TasteError {
    /// The file is not TOML.
    #[error("it is not TOML: {0}")]
    Toml(String),
    /// There is no such key.
    #[error("there is no key `{key}`{}", nearest(.near.as_deref()))]
    Key {
        /// The key.
        key: String,
        /// The known name that is most like it.
        near: Option<String>,
    },
    /// A key has a value that it cannot have.
    #[error("`{key}`: {why}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// Two keys say the same in two ways.
    #[error("`{}` and `{}` bound the same; leave one of them out", .0[0], .0[1])]
    Twice([&'static str; 2]),
    /// Nothing is left to draw.
    #[error("no operator is left: --ops, --exclude, --dtypes and --opset exclude each other (opset {opset})")]
    Nothing {
        /// The newest opset that was asked for.
        opset: u32,
    },
}

type Set = fn(&mut Taste, &Value) -> Result<(), String>;

/// Every key of a policy file, with how it is read.
const KEYS: &[(&str, Set)] = &[
    ("nodes", |t, v| amount::nodes(&text(v)?).map(|n| t.nodes = Some(n))),
    ("opset", |t, v| opsets(&text(v)?).map(|all| t.opset = Some(all))),
    ("ops", |t, v| each(v, wanted_operator).map(|ops| t.ops = ops)),
    ("exclude", |t, v| each(v, name).map(|names| t.exclude = names)),
    ("dtypes", |t, v| each(v, dtype).map(|dtypes| t.dtypes = dtypes)),
    ("max-rank", |t, v| amount::rank(&text(v)?).map(|n| t.max_rank = Some(n))),
    ("max-dim", |t, v| size(&text(v)?).map(|n| t.max_dim = Some(n))),
    ("max-elements", |t, v| size(&text(v)?).map(|n| t.max_elements = Some(n))),
    ("flops", |t, v| amount::span(&text(v)?).map(|s| t.flops = Some(s))),
    ("max-flops", |t, v| amount::positive(&text(v)?).map(|n| t.flops = Some(Span::up_to(n)))),
    ("memory", |t, v| amount::span(&text(v)?).map(|s| t.memory = Some(s))),
    ("max-memory", |t, v| amount::positive(&text(v)?).map(|n| t.memory = Some(Span::up_to(n)))),
    ("max-total", |t, v| amount::positive(&text(v)?).map(|n| t.total = Some(Span::up_to(n)))),
    ("functions", |t, v| share(t, "functions", v)),
    ("zero-dims", |t, v| share(t, "zero-dims", v)),
    ("long-dims", |t, v| share(t, "long-dims", v)),
    ("equal-dims", |t, v| share(t, "equal-dims", v)),
    ("other-dtypes", |t, v| share(t, "other-dtypes", v)),
    ("narrow", |t, v| share(t, "narrow", v)),
    ("turns", |t, v| share(t, "turns", v)),
    ("high-ranks", |t, v| share(t, "high-ranks", v)),
    ("backward", |t, v| share(t, "backward", v)),
    ("terse", |t, v| share(t, "terse", v)),
    ("unnamed", |t, v| share(t, "unnamed", v)),
    ("constants", |t, v| share(t, "constants", v)),
    ("taps", |t, v| share(t, "taps", v)),
    ("onward", |t, v| share(t, "onward", v)),
    ("reuse", |t, v| share(t, "reuse", v)),
    ("aliases", |t, v| share(t, "aliases", v)),
    ("pattern-share", |t, v| share(t, "pattern-share", v)),
    ("related-share", |t, v| share(t, "related-share", v)),
    ("forms", |t, v| share(t, "forms", v)),
    ("composites", |t, v| share(t, "composites", v)),
    ("weights", weights),
    ("templates", |t, v| patterns(t, v, Pattern::chain)),
    ("patterns", |t, v| patterns(t, v, Pattern::graph)),
];

/// Keys of which a file has one at most: they set the same.
const EITHER: &[[&str; 2]] = &[["flops", "max-flops"], ["memory", "max-memory"]];

/// A number or a text, as text.
fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(n) => Ok(n.to_string()),
        Value::Float(x) => Ok(x.to_string()),
        other => Err(format!("a number or a text is wanted, not {}", other.type_str())),
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("a list is wanted, not {}", value.type_str()))
}

fn each<T>(value: &Value, read: fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    list(value)?.iter().map(|v| text(v).and_then(|text| read(&text))).collect()
}

fn share(taste: &mut Taste, key: &'static str, value: &Value) -> Result<(), String> {
    taste.shares.insert(key, amount::share(&text(value)?)?);
    Ok(())
}

/// An operator's name.
pub fn name(text: &str) -> Result<&'static str, String> {
    operator(text).map_err(|e| format!("{e} (`onnxsmith ops` lists them)"))
}

/// An operator's name, with a dtype or without: `TopK`, `Conv:f32`.
pub fn wanted_operator(text: &str) -> Result<WantedOperator, String> {
    let (op, on) = text.split_once(':').map_or((text, None), |(op, on)| (op, Some(on)));
    Ok(WantedOperator { operator: name(op)?, dtype: on.map(dtype).transpose()? })
}

/// A dtype's name, ours or ONNX's: `f32`, `float`, `float32`.
pub fn dtype(text: &str) -> Result<DType, String> {
    let ours = text.parse().or_else(|_| short(text).parse());
    let found = ours.ok().filter(|&dtype| DRAWN.contains(dtype));
    found.ok_or_else(|| format!("there is no dtype `{text}`; there are {DRAWN}"))
}

/// What a dtype is called here that ONNX or NumPy call by this name.
fn short(text: &str) -> String {
    match text {
        "float" => return "f32".to_owned(),
        "double" => return "f64".to_owned(),
        _ => {}
    }
    let starts = [("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")];
    let shorter =
        starts.iter().find_map(|(long, short)| Some(format!("{short}{}", text.strip_prefix(long)?)));
    shorter.unwrap_or_else(|| text.to_owned())
}

/// A version of ONNX's default operator set.
pub fn opset(text: &str) -> Result<u32, String> {
    let all = ir::graph::OPSETS;
    let number = text.parse().ok().filter(|n| all.contains(n));
    number.ok_or_else(|| format!("`{text}` is no opset from {} to {}", all.start(), all.end()))
}

/// One of these versions, or a range of them.
pub fn opsets(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (oldest, newest) = text.split_once("..").unwrap_or((text, text));
    let (oldest, newest) = (opset(oldest)?, opset(newest)?);
    if oldest <= newest { Ok(oldest..=newest) } else { Err(format!("`{text}` is no range; write 13..17")) }
}

/// A dimension or a number of elements.
pub fn size(text: &str) -> Result<i64, String> {
    let n = amount::positive(text)?;
    i64::try_from(n)
        .ok()
        .filter(|&n| n <= ir::dim::LIMIT)
        .ok_or_else(|| format!("{n} is more than a tensor holds"))
}

fn weights(taste: &mut Taste, value: &Value) -> Result<(), String> {
    let table = value.as_table().ok_or("a table is wanted, such as `[weights]` with `Conv = 10`")?;
    for (key, weight) in table {
        let weight = weight.as_integer().and_then(|w| u32::try_from(w).ok());
        let weight = weight.ok_or_else(|| format!("the weight of `{key}` is a whole number, 0 for never"))?;
        if key != DEFAULT && !ops::registry().any(|spec| wildcard::matches(key, spec.name)) {
            operator(key).map_err(|e| e.to_string())?;
        }
        taste.weights.insert(key.clone(), weight);
    }
    Ok(())
}

fn patterns(
    taste: &mut Taste,
    value: &Value,
    read: fn(&[String]) -> Result<Pattern, PatternError>,
) -> Result<(), String> {
    let all = taste.patterns.get_or_insert_default();
    for pattern in list(value)? {
        let steps: Vec<String> = each(pattern, |step| Ok(step.to_owned()))?;
        all.push(read(&steps).map_err(|e| e.to_string())?);
    }
    Ok(())
}

/// The key of what nothing else is said of.
const DEFAULT: &str = "default";

impl Taste {
    /// What a policy file asks for.
    pub fn parse(text: &str) -> Result<Self, TasteError> {
        let table: Table = toml::from_str(text).map_err(|e| TasteError::Toml(e.to_string()))?;
        let mut taste = Self::default();
        for (key, value) in &table {
            let Some((_, set)) = KEYS.iter().find(|(known, _)| known == key) else {
                let near = most_like(key, KEYS.iter().map(|(known, _)| *known));
                return Err(TasteError::Key { key: key.clone(), near });
            };
            set(&mut taste, value).map_err(|why| TasteError::Value { key: key.clone(), why })?;
        }
        match EITHER.iter().find(|keys| keys.iter().all(|key| table.contains_key(*key))) {
            Some(keys) => Err(TasteError::Twice(*keys)),
            None => Ok(taste),
        }
    }

    /// This taste, with what `other` asks for where nothing is asked for here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let list = |a: Vec<_>, b| if a.is_empty() { b } else { a };
        Self {
            nodes: self.nodes.or(other.nodes),
            opset: self.opset.or(other.opset),
            ops: if self.ops.is_empty() { other.ops } else { self.ops },
            exclude: list(self.exclude, other.exclude),
            dtypes: if self.dtypes.is_empty() { other.dtypes } else { self.dtypes },
            max_rank: self.max_rank.or(other.max_rank),
            max_dim: self.max_dim.or(other.max_dim),
            max_elements: self.max_elements.or(other.max_elements),
            flops: self.flops.or(other.flops),
            memory: self.memory.or(other.memory),
            total: self.total.or(other.total),
            shares: other.shares.into_iter().chain(self.shares).collect(),
            weights: other.weights.into_iter().chain(self.weights).collect(),
            patterns: self.patterns.or(other.patterns),
        }
    }

    /// The opset that every case has, if it is one.
    pub fn one_opset(&self) -> Option<u32> {
        self.opset.as_ref().filter(|all| all.start() == all.end()).map(|all| *all.end())
    }

    /// The settings of a generator.
    pub fn settings(&self) -> Result<Settings, TasteError> {
        self.settings_over(Settings::default())
    }

    /// The same, with other settings where nothing is asked for.
    pub fn settings_over(&self, mut settings: Settings) -> Result<Settings, TasteError> {
        if let Some(nodes) = &self.nodes {
            settings.nodes = *nodes.end();
        }
        if let Some(opset) = &self.opset {
            (settings.oldest_opset, settings.opset) = (*opset.start(), *opset.end());
        }
        if !self.ops.is_empty() {
            settings.operators = self.ops.iter().map(|u| u.operator).collect::<BTreeSet<_>>();
        }
        settings.operators.retain(|name| !self.exclude.contains(name));
        if !self.dtypes.is_empty() {
            settings.wanted = self.dtypes.iter().copied().collect();
        }
        for WantedOperator { operator, dtype } in &self.ops {
            let on = dtype.map_or(settings.wanted, |d| DTypes::of(&[d]));
            let known = settings.wanted_on.entry(operator).or_insert(DTypes::NONE);
            *known = known.union(on);
        }
        settings.max_rank = self.max_rank.unwrap_or(settings.max_rank);
        settings.max_dim = self.max_dim.unwrap_or(settings.max_dim);
        settings.max_elements = self.max_elements.unwrap_or(settings.max_elements);
        settings.grown.max_dim = self.max_dim.or(settings.grown.max_dim);
        settings.grown.max_elements = self.max_elements.or(settings.grown.max_elements);
        settings.budget.flops = self.flops.unwrap_or(settings.budget.flops);
        settings.budget.peak = self.memory.unwrap_or(settings.budget.peak);
        settings.budget.total = self.total.unwrap_or(settings.budget.total);
        let share = |key: &str, default| self.shares.get(key).copied().unwrap_or(default);
        settings.function = share("functions", settings.function);
        settings.empty_dims = share("zero-dims", settings.empty_dims);
        // Who names a largest one means it.
        let unless_bounded = |is_bounded: bool, default| if is_bounded { 0.0 } else { default };
        settings.long_dims = share("long-dims", unless_bounded(self.max_dim.is_some(), settings.long_dims));
        settings.equal_dims = share("equal-dims", settings.equal_dims);
        settings.other_dtypes = share("other-dtypes", settings.other_dtypes);
        // Who names one means it.
        let mut named = self.dtypes.iter().chain(self.ops.iter().filter_map(|asked| asked.dtype.as_ref()));
        let is_named = named.any(|&dtype| DTypes::NARROW.contains(dtype));
        settings.narrow = share("narrow", if is_named { 1.0 } else { settings.narrow });
        settings.turns = share("turns", settings.turns);
        settings.high_ranks =
            share("high-ranks", unless_bounded(self.max_rank.is_some(), settings.high_ranks));
        settings.backward = share("backward", settings.backward);
        settings.terse = share("terse", settings.terse);
        settings.unnamed = share("unnamed", settings.unnamed);
        settings.constant = share("constants", settings.constant);
        settings.tap = share("taps", settings.tap);
        settings.onward = share("onward", settings.onward);
        settings.reuse = share("reuse", settings.reuse);
        settings.again = share("aliases", settings.again);
        settings.pattern = share("pattern-share", settings.pattern);
        settings.related = share("related-share", settings.related);
        settings.forms.share = share("forms", settings.forms.share);
        settings.composites.share = share("composites", settings.composites.share);
        let opset = settings.opset;
        if settings.opsets().is_empty() { Err(TasteError::Nothing { opset }) } else { Ok(settings) }
    }
}

/// What a taste says of weights and patterns, in a form that can be stored and compared.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct PolicyRecord {
    /// [`Taste::weights`].
    pub weights: BTreeMap<String, u32>,
    /// [`Taste::patterns`].
    pub patterns: Option<Vec<Pattern>>,
}

impl Policy for Taste {
    /// The weight of the longest form that fits.
    fn weight(&self, spec: &Spec) -> u32 {
        let fitting = self.weights.iter().filter(|(form, _)| wildcard::matches(form, spec.name));
        let longest = fitting.max_by_key(|(form, _)| form.len());
        longest
            .map(|(_, weight)| *weight)
            .or_else(|| self.weights.get(DEFAULT).copied())
            .unwrap_or_else(|| Weights.weight(spec))
    }

    fn patterns(&self) -> &[Pattern] {
        self.patterns.as_deref().unwrap_or_else(|| Weights.patterns())
    }

    fn record(&self) -> PolicyRecord {
        PolicyRecord { weights: self.weights.clone(), patterns: self.patterns.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::settings::Grown;

    #[test]
    fn a_policy_says_all_that_flags_say() {
        let text = r#"
            nodes = "5..30"
            ops = ["Conv:f32", "Conv:f16", "TopK"]
            dtypes = ["i8"]
            flops = "1e6..1e9"
            max-memory = 2_000
            max-dim = "2K"
            functions = 1.0
            composites = 0.75
            templates = [["Conv", "Relu"]]
            patterns = [["y = Conv", "Mul(y, y)"]]
            [weights]
            default = 3
            "Reduce*" = 1
            ReduceMax = 7
        "#;
        let taste = Taste::parse(text).expect("a policy");
        let settings = taste.settings().expect("settings");
        assert_eq!((taste.nodes.clone(), settings.max_dim, settings.function), (Some(5..=30), 2000, 1.0));
        assert!((settings.composites.share - 0.75).abs() < f64::EPSILON);
        assert_eq!(settings.operators, ["Conv", "TopK"].into());
        assert_eq!(settings.wanted_on["Conv"], DTypes::of(&[DType::F16, DType::F32]));
        assert_eq!(settings.wanted_on["TopK"], DTypes::of(&[DType::I8]));
        assert_eq!(settings.budget.peak, Span::up_to(2000));
        let weight = |name| taste.weight(ops::find(name).expect("an operator"));
        assert_eq!((weight("ReduceMin"), weight("ReduceMax"), weight("Abs")), (1, 7, 3));
        assert_eq!(taste.patterns().len(), 2);
    }

    #[test]
    fn what_is_not_asked_for_stays_as_it_is_in_other_settings() {
        let base = Settings {
            nodes: 3,
            max_dim: 5,
            grown: Grown { max_dim: Some(70), max_elements: Some(900) },
            budget: Budget { flops: Span::up_to(7), peak: Span::up_to(8), total: Span::up_to(9) },
            ..Settings::default()
        };
        assert_eq!(Taste::default().settings_over(base.clone()), Ok(base.clone()));
        let asked = Taste { max_dim: Some(2), total: Some(Span::up_to(1)), ..Taste::default() };
        let settings = asked.settings_over(base.clone()).expect("settings");
        assert_eq!(settings.grown, Grown { max_dim: Some(2), ..base.grown });
        assert_eq!(settings.budget, Budget { total: Span::up_to(1), ..base.budget });
    }

    #[test]
    fn dtypes_have_the_names_of_onnx_as_well() {
        let names = [
            ("float", "f32"),
            ("double", "f64"),
            ("float16", "f16"),
            ("bfloat16", "bf16"),
            ("float32", "f32"),
        ];
        let narrow =
            [("uint4", "u4"), ("int64", "i64"), ("float8e4m3fnuz", "f8e4m3fnuz"), ("float4e2m1", "f4e2m1")];
        for (name, ours) in names.iter().chain(&narrow) {
            assert_eq!(dtype(name).expect("a dtype").to_string(), *ours);
        }
        assert!(
            dtype("floaty").expect_err("no dtype").starts_with("there is no dtype `floaty`; there are bool")
        );
    }

    #[test]
    fn flags_overrule_a_policy() {
        let flags = Taste { max_rank: Some(2), ..Taste::default() };
        let file = Taste::parse("max-rank = 3\nmax-dim = 9").expect("a policy");
        let both = flags.or(file);
        assert_eq!((both.max_rank, both.max_dim), (Some(2), Some(9)));
    }

    #[test]
    fn what_is_wrong_in_a_policy_is_named() {
        let error = |text: &str| Taste::parse(text).expect_err("no policy").to_string();
        assert_eq!(error("max-dims = 3"), "there is no key `max-dims`; did you mean `max-dim`?");
        assert!(error("nodes = [").starts_with("it is not TOML"));
        assert!(error("flops = 5").starts_with("`flops`: `5` is no range"));
        assert!(error("[weights]\nConvv = 1").contains("did you mean `Conv`"));
        assert!(error("[weights]\nConv = -1").contains("whole number"));
        let twice = "`memory` and `max-memory` bound the same; leave one of them out";
        assert_eq!(error("max-memory = 5\nmemory = \"1..5\""), twice);
        assert!(error("flops = \"1..5\"\nmax-flops = 5").starts_with("`flops` and `max-flops`"));
        assert!(error("functions = 2").contains("no number from 0 to 1"));
        assert!(error("ops = [\"Conv:f33\"]").contains("no dtype `f33`"));
        let none = Taste::parse("ops = [\"Not\"]\ndtypes = [\"f32\"]").expect("a policy");
        assert!(none.settings().expect_err("nothing").to_string().contains("no operator is left"));
    }
}
