//! Where saved cases are, and what their contents are called.
//!
//! A database comes from outside as a model does: somebody sends the part of a campaign that is to be merged. What it says of
//! files is therefore read into these types before a path is made of it.

use std::fmt;
use std::path::{Component, Path};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::Beside;

/// The folder of findings.
pub(super) const FINDINGS: &str = "findings";

/// The folder of suspect answers.
pub(super) const SUSPECTS: &str = "suspects";

/// What the name of a saved case starts with; the number of the case follows.
const CASE: &str = "case-";

/// The folder of a saved case, relative to the campaign's: `findings/NAME/case-7` or `suspects/NAME/case-7`, with
/// `-alone` or `-reduced` behind it where it is what that case was reduced to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place(String);

impl Place {
    /// The place of a case that is saved for a finding. The name of a signature's file has nothing in it but digits.
    pub(crate) fn of_finding(name: &str, case: u64) -> Self {
        Self(format!("{FINDINGS}/{name}/{CASE}{case}"))
    }

    /// The place of a case that is saved for a kind of suspect answers. What separates folders in a name is left out.
    pub(crate) fn of_suspect(kind: &str, case: u64) -> Self {
        let parts = kind.split([' ', '|', ':', '/']).filter(|part| !part.is_empty());
        let name = parts.collect::<Vec<_>>().join("-");
        Self(format!("{SUSPECTS}/{name}/{CASE}{case}"))
    }

    /// The place that a database names; an error where it is none, as that could be anywhere on the disk.
    pub(super) fn parse(text: &str) -> Result<Self, BadPlace> {
        let bad =
            || BadPlace(format!("it has a case in `{}`, which is no folder of cases", text.escape_debug()));
        let parts: Vec<&str> = text.split('/').collect();
        let [FINDINGS | SUSPECTS, name, case] = parts[..] else { return Err(bad()) };
        if is_name(name) && is_case(case) { Ok(Self(text.to_owned())) } else { Err(bad()) }
    }

    /// The place of what the case was reduced to.
    pub(crate) fn reduced(&self, beside: Beside) -> Self {
        Self(format!("{self}{}", beside.suffix()))
    }
}

/// Whether a text is the name of one file or folder.
fn is_name(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

fn is_case(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(CASE) else { return false };
    let number = Beside::ALL.iter().find_map(|beside| rest.strip_suffix(beside.suffix())).unwrap_or(rest);
    number.parse::<u64>().is_ok()
}

impl AsRef<Path> for Place {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a content: 32 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ContentName(String);

impl ContentName {
    /// The name of the content that has a digest.
    pub(super) fn of(digest: [u8; 16]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(digest)))
    }

    /// The name that a database has; an error where it is none.
    pub(super) fn parse(text: &str) -> Result<Self, BadPlace> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 32 && text.bytes().all(is_digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(BadPlace(format!("it has a content `{}`, which is no hash", text.escape_debug())))
    }
}

impl AsRef<Path> for ContentName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for ContentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a database says of a file that it cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadPlace(String);

impl FromSql for Place {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl FromSql for ContentName {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl ToSql for Place {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl ToSql for ContentName {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_within_the_campaign() {
        let finding = Place::of_finding("0123456789abcdef", 7);
        assert_eq!(finding.to_string(), "findings/0123456789abcdef/case-7");
        assert_eq!(
            Place::of_suspect("cmd:../run | Conv f32", 7).to_string(),
            "suspects/cmd-..-run-Conv-f32/case-7"
        );
        for place in [finding.clone(), finding.reduced(Beside::Alone), finding.reduced(Beside::Reduced)] {
            assert_eq!(Place::parse(&place.to_string()), Ok(place));
        }
        for elsewhere in [
            "../evil/1",
            "/tmp/evil/case-1",
            "findings/../case-1",
            "findings/./case-1",
            "findings//case-1",
            "findings/a/../case-1",
            "findings/a/case-1/..",
            "findings/a/case-../1",
            "findings/a/case-",
            "findings/a/case-1-other",
            "findings/a",
            ".cases/a/case-1",
            "",
        ] {
            assert!(Place::parse(elsewhere).is_err(), "{elsewhere}");
        }
    }

    #[test]
    fn a_content_is_named_by_its_digits() {
        let name = ContentName::of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff]);
        assert_eq!(name.to_string(), "000102030405060708090a0b0c0d0eff");
        assert_eq!(ContentName::parse(&name.to_string()), Ok(name));
        for other in ["", "..", "/", "000102030405060708090A0B0C0D0EFF", "00010203040506070809/a0b0c0d0eff"] {
            assert!(ContentName::parse(other).is_err(), "{other}");
        }
    }
}
