//! Patterns: operators that occur together, connected in a certain way.

use std::collections::BTreeMap;

use serde::Serialize;

/// Some operators of which each may have to use what earlier ones give.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pattern {
    /// The operators, in order.
    pub steps: Vec<Step>,
}

/// One operator of a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// Its ONNX name.
    pub operator: &'static str,
    /// The steps whose first outputs are among its operands, in any order. Its other operands are free.
    pub uses: Vec<usize>,
}

/// Why a text is no pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// There is no such operator.
    #[error("there is no operator `{name}`{}", nearest(.near.as_deref()))]
    Operator {
        /// The name.
        name: String,
        /// The known name that is most like it.
        near: Option<String>,
    },
    /// An operand is no earlier step.
    #[error("`{step}` uses `{name}`, which no step before it is called")]
    Operand {
        /// The step.
        step: String,
        /// The operand.
        name: String,
    },
    /// The text of a step cannot be read.
    #[error("`{0}` is no step; write `Conv`, `y = Conv` or `Mul(y, z)`")]
    Step(String),
    /// There is no step.
    #[error("a pattern needs a step")]
    Empty,
}

/// A hint at what was meant.
pub(super) fn nearest(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// The one of the known names that is most like `name`, if one is at all.
pub(super) fn most_like<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    const ALIKE: f64 = 0.7;
    let scored = known.into_iter().map(|k| (strsim::jaro_winkler(name, k), k));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(alike, _)| *alike >= ALIKE).map(|(_, k)| k.to_owned())
}

/// The operator of that name.
pub(super) fn operator(name: &str) -> Result<&'static str, PatternError> {
    ops::find(name).map(|spec| spec.name).ok_or_else(|| PatternError::Operator {
        name: name.to_owned(),
        near: most_like(name, ops::registry().map(|s| s.name)),
    })
}

impl Pattern {
    /// Operators in a row: each reads the result of the one before it.
    pub fn chain(names: &[impl AsRef<str>]) -> Result<Self, PatternError> {
        let step = |(i, name): (usize, &_)| {
            let name: &str = AsRef::as_ref(name);
            Ok(Step { operator: operator(name)?, uses: i.checked_sub(1).into_iter().collect() })
        };
        Self::of(names.iter().enumerate().map(step).collect::<Result<_, _>>()?)
    }

    /// Operators that name the earlier ones which they use: `["y = Conv", "z = Sigmoid(y)", "Mul(y, z)"]`. What else they
    /// use is free.
    pub fn graph(steps: &[impl AsRef<str>]) -> Result<Self, PatternError> {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        let mut all = Vec::with_capacity(steps.len());
        for (i, text) in steps.iter().enumerate() {
            let text = text.as_ref();
            let bad = || PatternError::Step(text.to_owned());
            let (name, call) =
                text.split_once('=').map_or((None, text), |(name, call)| (Some(name.trim()), call));
            let (op, operands) = match call.trim().split_once('(') {
                None => (call.trim(), ""),
                Some((op, rest)) => (op.trim(), rest.strip_suffix(')').ok_or_else(bad)?),
            };
            let operands = operands.split(',').map(str::trim).filter(|o| !o.is_empty());
            let uses = operands.map(|o| {
                let missing = || PatternError::Operand { step: text.to_owned(), name: o.to_owned() };
                named.get(o).copied().ok_or_else(missing)
            });
            let mut uses: Vec<usize> = uses.collect::<Result<_, _>>()?;
            uses.sort_unstable();
            uses.dedup();
            all.push(Step { operator: operator(op)?, uses });
            if let Some(name) = name {
                if name.is_empty() {
                    return Err(bad());
                }
                named.insert(name, i);
            }
        }
        Self::of(all)
    }

    fn of(steps: Vec<Step>) -> Result<Self, PatternError> {
        if steps.is_empty() { Err(PatternError::Empty) } else { Ok(Self { steps }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_use_what_they_name() {
        let swish = Pattern::graph(&["y = Conv", "z = Sigmoid(y)", "Mul(y, z)"]).expect("a pattern");
        let uses: Vec<(&str, &[usize])> = swish.steps.iter().map(|s| (s.operator, &s.uses[..])).collect();
        assert_eq!(uses, [("Conv", &[][..]), ("Sigmoid", &[0]), ("Mul", &[0, 1])]);
        let chain = Pattern::chain(&["MatMul", "Add"]).expect("a chain");
        assert_eq!(chain, Pattern::graph(&["y = MatMul", "Add(y)"]).expect("the same"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |steps: &[&str]| Pattern::graph(steps).expect_err("no pattern").to_string();
        assert_eq!(error(&["Convv"]), "there is no operator `Convv`; did you mean `Conv`?");
        assert_eq!(error(&["Relu(x)"]), "`Relu(x)` uses `x`, which no step before it is called");
        assert!(error(&["Relu("]).contains("is no step"));
        assert!(error(&["= Relu"]).contains("is no step"));
        assert!(error(&[]).contains("needs a step"));
    }
}
