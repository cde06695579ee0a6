//! Known findings: data, so that a campaign can tell a new finding from one that is already written up.
//!
//! An operator is never kept from an engine because the engine fails on it. Its findings are listed instead, each
//! with a date after which somebody has to look again.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use semver::{Version, VersionReq};
use serde::Deserialize;

/// A list of known findings, as a file such as `known.toml` has it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The entries that still hold.
    entries: Vec<Entry>,
    /// The signatures of those whose date has passed.
    expired: Vec<String>,
}

/// Findings that are known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The signatures it covers, in the words of the report; `*` stands for any text.
    pub signature: Pattern,
    /// The engine's versions that have the fault, such as `>=0.27, <0.28`; without it all.
    pub versions: Option<VersionReq>,
    /// Where the finding is written up.
    pub finding: String,
    /// The last day on which the entry holds.
    pub expires: Date,
    /// What else a reader should know.
    pub note: Option<String>,
}

/// A text in which `*` stands for any text, the empty one included.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "String")]
pub struct Pattern(String);

/// A day of the calendar, written as `2027-06-30`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// Why a list of known findings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file does not say what it should.
    #[error("{}:{line}: {why}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// What stands between the parts of a signature, the engine first.
const SEPARATOR: &str = " | ";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    known: Vec<Entry>,
}

impl Known {
    /// Reads a list. Entries that expired before `today` match nothing.
    pub fn read(file: &Path, today: Date) -> Result<Self, KnownError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| KnownError::Read { file: file.to_owned(), source })?;
        Self::parse(&text, file, today)
    }

    /// The list in a text; `file` is for messages.
    pub fn parse(text: &str, file: &Path, today: Date) -> Result<Self, KnownError> {
        let list: List = toml::from_str(text).map_err(|e| {
            let before = e.span().and_then(|s| text.get(..s.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            KnownError::Content { file: file.to_owned(), line, why: e.message().to_owned() }
        })?;
        let (entries, expired): (Vec<_>, Vec<_>) = list.known.into_iter().partition(|e| e.expires >= today);
        Ok(Self { entries, expired: expired.into_iter().map(|e| e.signature.0).collect() })
    }

    /// The entries that cover a finding of this version of an engine, with their numbers.
    pub fn covering(&self, version: &str, signature: &str) -> impl Iterator<Item = (usize, &Entry)> {
        let version = parse_version(version);
        let entries = self.entries.iter().enumerate();
        entries.filter(move |(_, e)| e.has_version(version.as_ref()) && e.signature.matches(signature))
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries that hold.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The signatures of the entries that have expired.
    pub fn expired(&self) -> &[String] {
        &self.expired
    }
}

impl Entry {
    /// Whether it may cover findings of this version of an engine.
    pub fn is_about(&self, engine: &str, version: &str) -> bool {
        self.has_version(parse_version(version).as_ref()) && self.signature.may_be_of(engine)
    }

    /// Whether this version of its engine has the fault.
    fn has_version(&self, version: Option<&Version>) -> bool {
        match (&self.versions, version) {
            (None, _) => true,
            (Some(range), Some(version)) => range.matches(version),
            // A version that is no number cannot be shown to be in a range.
            (Some(_), None) => false,
        }
    }
}

/// A version with one to three numbers; engines need not follow Semantic Versioning.
fn parse_version(text: &str) -> Option<Version> {
    let missing = 2usize.saturating_sub(text.matches('.').count());
    Version::parse(text).ok().or_else(|| Version::parse(&format!("{text}{}", ".0".repeat(missing))).ok())
}

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

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Date {
    /// The day that is so many days after 1970-01-01, in UTC.
    pub fn from_unix_days(days: u32) -> Self {
        let length = |year: u32| if is_leap(year) { 366 } else { 365 };
        let (mut year, mut left) = (1970, days);
        while left >= length(year) {
            left -= length(year);
            year += 1;
        }
        let mut month = 1;
        while left >= month_length(year, month) {
            left -= month_length(year, month);
            month += 1;
        }
        Self { year: year as u16, month: month as u8, day: left as u8 + 1 }
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_length(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || format!("`{text}` is no date; write it as \"2027-06-30\"");
        let parts: Vec<&str> = text.split('-').collect();
        let &[y, m, d] = parts.as_slice() else { return Err(wanted()) };
        if (y.len(), m.len(), d.len()) != (4, 2, 2) {
            return Err(wanted());
        }
        let date = Self {
            year: y.parse().map_err(|_| wanted())?,
            month: m.parse().map_err(|_| wanted())?,
            day: d.parse().map_err(|_| wanted())?,
        };
        let (year, month, day) = (u32::from(date.year), u32::from(date.month), u32::from(date.day));
        if (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day) {
            Ok(date)
        } else {
            Err(wanted())
        }
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
[[known]]
signature = "rten | Sign f32 * | mismatch gross"
versions = ">=0.27, <0.28"
finding = "findings/rten-0.27/sign-zero"
expires = "2027-06-30"

[[known]]
signature = "rten | Sign *"
finding = "elsewhere"
expires = "2026-01-31"
"#;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn parse(text: &str, today: &str) -> Result<Known, String> {
        Known::parse(text, Path::new("known.toml"), date(today)).map_err(|e| e.to_string())
    }

    #[test]
    fn an_entry_covers_its_signatures_in_its_versions_until_it_expires() {
        let signature = "rten | Sign f32 dense | mismatch gross";
        let known = parse(LIST, "2027-06-30").unwrap();
        let covering = |version: &str, text: &str| known.covering(version, text).count();
        assert_eq!(covering("0.27", signature), 1);
        assert_eq!(covering("0.27.3", signature), 1);
        assert_eq!(covering("0.28.0", signature), 0);
        assert_eq!(covering("a build of mine", signature), 0);
        assert_eq!(covering("0.27", "rten | Sign f32 dense | mismatch nan"), 0);
        assert_eq!(known.expired(), ["rten | Sign *"]);
        assert_eq!(parse(LIST, "2026-01-31").unwrap().covering("0.27", signature).count(), 2);
        assert_eq!(parse(LIST, "2027-07-01").unwrap().entries().len(), 0);
    }

    #[test]
    fn a_star_is_any_text_and_everything_else_itself() {
        let matches = |pattern: &str, text: &str| Pattern(pattern.to_owned()).matches(text);
        assert!(matches("a*c", "abc") && matches("a*c", "ac") && matches("*", "") && matches("a**", "a"));
        assert!(matches("a*b*b", "abb") && matches("*aa*", "xaax") && matches("abc", "abc"));
        assert!(!matches("a*b*b", "ab") && !matches("ab*ba", "aba") && !matches("abc", "abcd"));
        assert!(!matches("a.c", "abc") && !matches("*b", "abc") && matches("‹n›*", "‹n› of ‹n›"));
    }

    #[test]
    fn an_entry_is_about_the_engines_whose_signatures_it_may_match() {
        let may = |pattern: &str, engine: &str| Pattern(pattern.to_owned()).may_be_of(engine);
        for pattern in ["rten | Sign*", "rten | Sign f32", "rten*", "*", "*| Sign", "r*n | x", "rten |*"] {
            assert!(may(pattern, "rten"), "{pattern}");
        }
        for pattern in ["tract | *", "rte | *", "rten2*", "rten", "", "ort | rten | x"] {
            assert!(!may(pattern, "rten"), "{pattern}");
        }
        let known = parse(LIST, "2026-01-31").unwrap();
        let about = |engine, version| known.entries().iter().filter(|e| e.is_about(engine, version)).count();
        assert_eq!([about("rten", "0.27"), about("rten", "0.28"), about("ort", "0.27")], [2, 1, 0]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let says = |from: &str, to: &str| parse(&LIST.replacen(from, to, 1), "2026-01-01").unwrap_err();
        let date = says("2027-06-30", "2027-06-31");
        assert!(date.starts_with("known.toml:6:") && date.contains("`2027-06-31` is no date"), "{date}");
        let range = says(">=0.27, <0.28", "new");
        assert!(range.starts_with("known.toml:4:"), "{range}");
        let field = says("versions", "version");
        assert!(field.starts_with("known.toml:4:") && field.contains("version"), "{field}");
        assert!(says("finding = \"e", "finding \"e").starts_with("known.toml:10:"));
    }

    #[test]
    fn days_are_counted_by_the_calendar() {
        for (days, text) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_454, "2026-01-01")]
        {
            assert_eq!(Date::from_unix_days(days), date(text));
        }
        for text in ["2027-02-29", "2027-13-01", "2027-1-1", "27-01-01", "2027-00-10", "soon"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
