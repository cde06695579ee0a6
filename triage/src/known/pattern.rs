//! Patterns of signatures.

use std::cmp::Ordering;
use std::fmt;

use serde::Deserialize;

/// A text in which `*` stands for any text, the empty one included.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Pattern(String);

/// What stands between the parts of a signature, the engine first.
const SEPARATOR: &str = " | ";

impl Pattern {
    /// Whether the whole text is as the pattern says.
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == text };
        let Some(mut left) = text.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = rest.split('*').collect();
        let last = parts.pop().unwrap_or_default();
        // The leftmost place for each part leaves the most room for the others.
        for part in parts {
            let Some(at) = left.find(part) else { return false };
            left = &left[at + part.len()..];
        }
        left.ends_with(last)
    }

    /// The pattern that says more of what it matches first; equal only to itself.
    pub(super) fn cmp_telling(&self, other: &Self) -> Ordering {
        let said = |pattern: &Self| pattern.0.chars().filter(|&c| c != '*').count();
        said(other).cmp(&said(self)).then_with(|| self.0.cmp(&other.0))
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
    fn a_star_is_any_text_and_everything_else_itself() {
        let matches = |pattern: &str, text: &str| Pattern(pattern.to_owned()).matches(text);
        assert!(matches("a*c", "abc") && matches("a*c", "ac") && matches("*", "") && matches("a**", "a"));
        assert!(matches("a*b*b", "abb") && matches("*aa*", "xaax") && matches("abc", "abc"));
        assert!(!matches("a*b*b", "ab") && !matches("ab*ba", "aba") && !matches("abc", "abcd"));
        assert!(!matches("a.c", "abc") && !matches("*b", "abc") && matches("‹n›*", "‹n› of ‹n›"));
    }
}
