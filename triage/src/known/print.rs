//! Writes findings as TOML that is read back unchanged. `cargo xtask corpus` uses it to write lists of known findings,
//! and the draft of a new finding for a person to complete.

use std::fmt::{self, Display, Formatter};

use ir::Tensor;
use semver::VersionReq;

use harness::validity::Relaxed;

use super::case::Kept;
use super::list::KnownEntry;
use super::write_up::WriteUp;

impl Display for WriteUp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        pair(f, "says", &self.says)?;
        pair(f, "right", &self.right)?;
        pair(f, "judgement", self.judgement.name())?;
        optional(f, "cause", self.cause.as_deref())?;
        optional(f, "remarks", self.remarks.as_deref())?;
        pair(f, "upstream", &self.upstream.to_string())?;
        pair(f, "versions", &range(&self.versions))?;
        pair(f, "expires", &self.expires.to_string())?;
        optional(f, "unmet", self.unmet.as_deref())?;
        optional(f, "shows", self.shows.as_ref().map(ToString::to_string).as_deref())?;
        for covered in &self.signatures {
            f.write_str("\n[[signatures]]\n")?;
            pair(f, "pattern", &covered.pattern.to_string())?;
            optional(f, "note", covered.note.as_deref())?;
        }
        write!(f, "\n{}", self.case)
    }
}

impl Display for Kept {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[case]\n")?;
        optional(f, "check", self.check().map(ToString::to_string).as_deref())?;
        match self {
            Self::Text { model, inputs, outputs, .. } => {
                pair(f, "model", &model.to_string())?;
                let mut values = |port: &str, values: &[(String, Tensor)]| {
                    values.iter().try_for_each(|(name, tensor)| {
                        pair(f, &format!("{port}.{}", key(name)), &tensor.to_string())
                    })
                };
                values("inputs", inputs)?;
                values("outputs", outputs)
            }
            Self::Bytes { why, relaxed, .. } => {
                pair(f, "bytes", why)?;
                relaxed.as_ref().map_or(Ok(()), |relaxed| broken(f, relaxed))
            }
        }
    }
}

impl Display for KnownEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[[known]]\n")?;
        pair(f, "signature", &self.signature.to_string())?;
        optional(f, "versions", self.versions.as_ref().map(range).as_deref())?;
        pair(f, "finding", &self.finding)?;
        pair(f, "expires", &self.expires.to_string())?;
        optional(f, "note", self.note.as_deref())
    }
}

/// What is wrong with a model that is kept as bytes, and the outputs to ask for.
fn broken(f: &mut Formatter<'_>, Relaxed { rule, operator, outputs, .. }: &Relaxed) -> fmt::Result {
    pair(f, "rule", rule)?;
    optional(f, "operator", operator.as_deref())?;
    outputs
        .iter()
        .try_for_each(|(name, dtype)| pair(f, &format!("outputs.{}", key(name)), &dtype.to_string()))
}

fn pair(f: &mut Formatter<'_>, key: &str, text: &str) -> fmt::Result {
    writeln!(f, "{key} = {}", quoted(text))
}

fn optional(f: &mut Formatter<'_>, key: &str, text: Option<&str>) -> fmt::Result {
    text.map_or(Ok(()), |text| pair(f, key, text))
}

/// A range of versions as people write it: `0.27`, which means `^0.27`.
fn range(versions: &VersionReq) -> String {
    versions.to_string().replace('^', "")
}

/// A key, in quotes where it needs them.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { basic(name) }
}

/// A text as it is between single quotes, where TOML allows that.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c == '\t' || c == '\n' || !c.is_control();
    let has_no = |quotes: &str| !text.contains(quotes) && !text.ends_with('\'');
    match text.contains('\n') {
        false if has_no("'") && text.chars().all(is_plain) => format!("'{text}'"),
        true if has_no("'''") && text.chars().all(is_plain) => format!("'''\n{text}'''"),
        true | false => basic(text),
    }
}

/// A text between double quotes, with escapes.
fn basic(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}
