//! Patterns of signatures.

use std::cmp::Ordering;
use std::fmt;

use ir::text::wildcard;
use oracles::Broken;
use serde::Deserialize;
use worker::FaultKind;

/// A text in which `*` stands for any text, the empty one included.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Pattern(String);

/// What stands between the parts of a signature, the engine first.
const SEPARATOR: &str = " | ";

/// The words behind an operator that is wrong only in its graph.
const IN_CONTEXT: &str = " in context";

impl Pattern {
    /// Whether the whole text is as the pattern says.
    pub fn matches(&self, text: &str) -> bool {
        wildcard::matches(&self.0, text)
    }

    /// A pattern for another name of the same finding. Parts that this pattern leaves open stay open: the dtype, the
    /// shapes, and the words of a message. The operators are those of the name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        let [before, after] = [&self.0, name].map(|text| text.splitn(3, SEPARATOR).collect::<Vec<_>>());
        let (&[_, subject, symptom], &[engine, found, shown]) = (&before[..], &after[..]) else {
            return Self(name.to_owned());
        };
        let (found, context) = match found.strip_suffix(IN_CONTEXT) {
            Some(found) => (found, IN_CONTEXT),
            None => (found, ""),
        };
        if found.starts_with(Broken::TOLD) {
            let wider = Self([engine, found, symptom].join(SEPARATOR));
            return if wider.matches(name) { wider } else { Self(name.to_owned()) };
        }
        // A dtype and a class of shapes follow the operators.
        let operators = found.rsplitn(3, ' ').last().unwrap_or(found);
        let open = match subject.strip_suffix(IN_CONTEXT).unwrap_or(subject).split_once(' ') {
            Some((_, open)) if !subject.starts_with("whole graph") => open,
            Some(_) | None => "*",
        };
        let candidates = [symptom, shown].into_iter().flat_map(|symptom| {
            let subjects = [open, "*"].map(|open| format!("{operators} {open}{context}"));
            subjects.map(|subject| Self([engine, &subject, symptom].join(SEPARATOR)))
        });
        candidates.into_iter().find(|pattern| pattern.matches(name)).unwrap_or_else(|| Self(name.to_owned()))
    }

    /// Orders patterns: the one with more characters that are not wildcards comes first. Only the same
    /// pattern is equal.
    pub(super) fn cmp_telling(&self, other: &Self) -> Ordering {
        let said = |pattern: &Self| pattern.0.chars().filter(|&c| c != '*').count();
        said(other).cmp(&said(self)).then_with(|| self.0.cmp(&other.0))
    }

    /// Whether every signature that it matches is of a hang.
    pub(super) fn is_of_a_hang(&self) -> bool {
        self.0.strip_suffix(FaultKind::Timeout.name()).is_some_and(|rest| rest.ends_with(SEPARATOR))
    }

    /// The engine whose signatures it matches, if it says so before its first star.
    pub fn engine(&self) -> Option<&str> {
        let (engine, _) = self.0.split_once(SEPARATOR)?;
        (!engine.contains('*')).then_some(engine)
    }

    /// Whether it may match a signature of an engine, as far as its text before the first star tells.
    pub fn may_be_of(&self, engine: &str) -> bool {
        let begins = format!("{engine}{SEPARATOR}");
        match self.0.split_once('*') {
            Some((first, _)) => first.starts_with(&begins) || begins.starts_with(first),
            None => self.0.starts_with(&begins),
        }
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_another_name_what_was_open_stays_open() {
        let renamed = |pattern: &str, name: &str| Pattern(pattern.to_owned()).renamed(name).to_string();
        let conv = "e | Conv(auto_pad=SAME_LOWER,strides) f32 dense | mismatch gross";
        for (pattern, wanted) in [
            (
                "e | Conv f32 * | mismatch gross",
                "e | Conv(auto_pad=SAME_LOWER,strides) f32 * | mismatch gross",
            ),
            ("e | Conv * in context | mismatch *", "e | Conv(auto_pad=SAME_LOWER,strides) * | mismatch *"),
            ("e | Conv f64 dense | mismatch *", "e | Conv(auto_pad=SAME_LOWER,strides) * | mismatch *"),
            ("e | Conv f32 * | mismatch nan", "e | Conv(auto_pad=SAME_LOWER,strides) f32 * | mismatch gross"),
            ("e *", conv),
        ] {
            assert_eq!(renamed(pattern, conv), wanted, "{pattern}");
        }
        let fused = "e | Add + Exp f32 dense in context | rejected at run: no";
        let wide = "e | whole graph, hidden by taps | rejected *";
        assert_eq!(renamed(wide, fused), "e | Add + Exp * in context | rejected *");
        let broken = "e | violate parameter-value of Slice | panic at here: no";
        assert_eq!(renamed("e | whole graph | panic at *", broken), broken.replace("here: no", "*"));
        assert_eq!(renamed("e | whole graph*", broken), broken);
        assert_eq!(renamed(wide, "e | graph of 7 f32 dense | rejected"), "e | graph of 7 * | rejected");
    }
}
