//! A finding written up: `corpus/ENGINE-VERSION/NAME/finding.toml`, the one place that tells what was found.
//!
//! Everything else about it is generated from this file: its entries in `known.toml` and its row in the table of its engine.
//! `corpus/README.md` describes the keys.

use std::path::Path;

use semver::VersionReq;
use serde::Deserialize;

use super::case::{CaseKeys, Kept};
use super::content::{KnownError, read, text_of};
use super::date::Date;
use super::list::{KnownEntry, is_in, parse_version};
use super::pattern::Pattern;

/// The name of the file.
pub const FILE: &str = "finding.toml";

/// A finding written up.
#[derive(Clone, PartialEq, Debug)]
pub struct WriteUp {
    /// What the engine says, and at which of its levels.
    pub says: String,
    /// What is right.
    pub right: String,
    /// What it is.
    pub judgement: Judgement,
    /// Why the engine says so.
    pub cause: Option<String>,
    /// What else a reader should know: what the text says, what others do.
    pub remarks: Option<String>,
    /// Whether the engine's project knows of it.
    pub upstream: Upstream,
    /// The engine's versions that have the fault.
    pub versions: VersionReq,
    /// The last day on which it counts as known without another look.
    pub expires: Date,
    /// How campaigns report it.
    pub signatures: Vec<Covered>,
    /// Why no campaign reports it.
    pub unmet: Option<String>,
    /// The signature of the case, if it is not among `signatures`: a list entry for this one would be so wide that it
    /// hides too much.
    pub shows: Option<Pattern>,
    /// The case that shows it.
    pub case: Kept,
}

/// What a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// The answer is wrong by the text of the standard.
    Bug,
    /// The engine refuses what the text allows.
    Limitation,
    /// The text does not decide it.
    Undecided,
    /// The answer is less accurate than it could be; the standard's text does not say how accurate it must be.
    Accuracy,
}

/// Signatures that a finding has in reports.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// The signatures, in the words of the report; `*` stands for any text.
    pub pattern: Pattern,
    /// What a reader should know about these.
    pub note: Option<String>,
}

/// Whether the engine's project knows of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Upstream {
    /// Nobody has told it.
    NotReported,
    /// Where it was told, by whomever: links.
    Told(Vec<String>),
}

/// The keys of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    says: String,
    right: String,
    judgement: Judgement,
    cause: Option<String>,
    remarks: Option<String>,
    upstream: Upstream,
    versions: VersionReq,
    expires: Date,
    #[serde(default)]
    signatures: Vec<Covered>,
    unmet: Option<String>,
    shows: Option<Pattern>,
    case: toml::Spanned<CaseKeys>,
}

impl WriteUp {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, KnownError> {
        Self::parse(&text_of(file)?, file)
    }

    /// What a text says; `file` is for messages.
    pub fn parse(text: &str, file: &Path) -> Result<Self, KnownError> {
        let keys: Keys = read(text, file)?;
        let case = CaseKeys::keep(keys.case, text, file)?;
        let Keys { says, right, judgement, cause, remarks, upstream, .. } = keys;
        let Keys { versions, expires, signatures, unmet, shows, .. } = keys;
        Ok(Self {
            says,
            right,
            judgement,
            cause,
            remarks,
            upstream,
            versions,
            expires,
            signatures,
            unmet,
            shows,
            case,
        })
    }

    /// Whether it is about this version of its engine.
    pub fn is_about(&self, version: &str) -> bool {
        parse_version(version).is_some_and(|version| is_in(&self.versions, &version))
    }

    /// Whether its case is wrong as described, under one of these names.
    pub fn is_shown_by(&self, names: impl IntoIterator<Item = String>) -> bool {
        let patterns = || self.signatures.iter().map(|covered| &covered.pattern).chain(&self.shows);
        patterns().next().is_none() || names.into_iter().any(|name| patterns().any(|it| it.matches(&name)))
    }

    /// Its entries in a list of known findings, which names it by its folder.
    pub fn entries(&self, finding: &str) -> Vec<KnownEntry> {
        let entry = |covered: &Covered| KnownEntry {
            signature: covered.pattern.clone(),
            versions: Some(self.versions.clone()),
            finding: finding.to_owned(),
            expires: self.expires,
            note: covered.note.clone(),
        };
        self.signatures.iter().map(entry).collect()
    }
}

impl Judgement {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Limitation => "limitation",
            Self::Undecided => "undecided",
            Self::Accuracy => "accuracy",
        }
    }
}

/// How [`Upstream::NotReported`] is written.
const NOT_REPORTED: &str = "not reported";

impl TryFrom<String> for Upstream {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == NOT_REPORTED {
            return Ok(Self::NotReported);
        }
        let links: Vec<String> = text.split(' ').map(str::to_owned).collect();
        if links.iter().all(|link| link.starts_with("https://")) {
            Ok(Self::Told(links))
        } else {
            Err(format!("`{text}` is neither \"{NOT_REPORTED}\" nor links that begin with https://"))
        }
    }
}

impl std::fmt::Display for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotReported => f.write_str(NOT_REPORTED),
            Self::Told(links) => f.write_str(&links.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use harness::validity::Relaxed;
    use ir::DType;
    use oracles::Broken;

    use super::*;

    const TEXT: &str = r#"says = 'Sign(0) = 1'
right = '0'
judgement = 'bug'
upstream = 'not reported'
versions = '0.27'
expires = '2027-06-30'

[[signatures]]
pattern = 'rten | Sign f32 * | mismatch gross'

[case]
model = '''
onnxsmith 1 opset 17
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = Sign(%0)
  return "y" = %1
}
'''
inputs.x = 'f32[1] {0.0}'
outputs.y = 'f32[1] {0.0}'
"#;

    fn parse(text: &str) -> Result<WriteUp, String> {
        WriteUp::parse(text, Path::new("finding.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_finding_gives_the_entries_of_its_signatures() {
        let finding = parse(TEXT).unwrap();
        let entries = finding.entries("corpus/rten-0.27/sign-zero");
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].finding, "corpus/rten-0.27/sign-zero");
        assert!(entries[0].is_about("rten", "0.27") && !entries[0].is_about("rten", "0.28"));
        assert_eq!(finding.upstream, Upstream::NotReported);
        let told = parse(&TEXT.replace("not reported", "https://a.b/1 https://a.b/2")).unwrap();
        assert_eq!(told.upstream, Upstream::Told(vec!["https://a.b/1".into(), "https://a.b/2".into()]));
    }

    #[test]
    fn a_case_is_known_by_a_signature_or_by_what_it_shows() {
        let of = |text: &str| {
            let finding = parse(text).unwrap();
            ["rten | Sign f32 dense | mismatch gross", "rten | whole graph | wrong type", "rten | Neg"]
                .map(|name| finding.is_shown_by([name.to_owned()]))
        };
        let shows = "expires = '2027-06-30'\nshows = 'rten | whole graph | wrong type'";
        let also = TEXT.replace("expires = '2027-06-30'", shows);
        let (from, to) = (also.find("[[signatures]]").unwrap(), also.find("[case]").unwrap());
        let only = [&also[..from], &also[to..]].concat();
        assert_eq!(of(TEXT), [true, false, false]);
        assert_eq!(of(&also), [true, true, false]);
        assert_eq!(of(&only), [false, true, false]);
        assert_eq!(of(&only.replace("shows = 'rten | whole graph | wrong type'\n", "")), [true; 3]);
    }

    const WHY: &str = "an attribute twice";

    fn kept(relaxed: Option<Relaxed>) -> Kept {
        Kept::Bytes { why: WHY.to_owned(), check: None, relaxed }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let plain = parse(TEXT).unwrap();
        assert_eq!(plain.to_string(), TEXT);
        let full = WriteUp {
            cause: Some("it's \"quoted\"\\ and `…`".to_owned()),
            remarks: Some("two\nlines".to_owned()),
            unmet: Some("'''".to_owned()),
            shows: Some(Pattern::from("a | whole graph | *".to_owned())),
            signatures: vec![Covered {
                pattern: Pattern::from("a | 'b'".to_owned()),
                note: Some(String::new()),
            }],
            ..plain
        };
        assert_eq!(parse(&full.to_string()).unwrap(), full);
        let bytes = WriteUp { case: kept(None), ..full };
        assert_eq!(parse(&bytes.to_string()).unwrap(), bytes);
        let broken = |operator: Option<&str>| Broken {
            rule: "duplicate-attribute".to_owned(),
            operator: operator.map(str::to_owned),
        };
        for operator in [None, Some("Slice")] {
            let outputs = vec![("y 1".to_owned(), DType::F16)];
            let relaxed = Relaxed::refused(broken(operator), WHY.to_owned(), outputs);
            let invalid = WriteUp { case: kept(Some(relaxed)), ..bytes.clone() };
            assert_eq!(parse(&invalid.to_string()).unwrap(), invalid);
        }
    }

    #[test]
    fn a_mutated_file_is_refused_or_says_what_it_is_read_as() {
        let mut read = 0;
        for (at, found) in TEXT.char_indices() {
            for with in ["", "9", "'", "-", "[", "%"] {
                let text = [&TEXT[..at], with, &TEXT[at + found.len_utf8()..]].concat();
                if let Ok(finding) = parse(&text) {
                    read += 1;
                    let _ = finding.case.folder(Path::new("nowhere"));
                    assert_eq!(parse(&finding.to_string()), Ok(finding), "{text}");
                }
            }
        }
        let all = 6 * TEXT.chars().count();
        assert!(read > all / 10 && read < all, "{read} of {all} are read");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, line, what) in [
            ("says", "syas", 1, "unknown field `syas`"),
            ("'bug'", "'bugg'", 3, "bugg"),
            ("not reported", "reported", 4, "neither"),
            ("'0.27'", "'new'", 5, ""),
            ("2027-06-30", "2027-06-31", 6, "no date"),
            ("pattern", "patern", 9, "patern"),
            ("[case]", "[case]\nsize = 1", 12, "size"),
            ("= Sign(", "= Sing(", 16, "Sing"),
            ("f32[1] = Sign", "f32[2] = Sign", 12, "f32[2]"),
            ("inputs.x", "inputs.z", 20, "no input `z`"),
            ("inputs.x = 'f32[1] {0.0}'\n", "", 11, "no value for the input `x`"),
            ("inputs.x = 'f32[1] {0.0}'", "inputs.x = 'f32[2] {0.0, 0.0}'", 20, "f32[2]"),
            ("outputs.y = 'f32[1] {0.0}'", "outputs.y = 'f32[1] {0.0, 1.0}'", 21, ""),
            ("outputs.y", "outputs.z", 21, "no output `z`"),
            ("[case]", "[case]\nbytes = 'both'", 11, "either"),
            ("[case]", "[case]\ncheck = 'roundtrip'", 12, "oracle"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = parse(&text).unwrap_err();
            assert!(error.starts_with(&format!("finding.toml:{line}: ")), "{to}: {error}");
            assert!(error.contains(what), "{to}: {error}");
        }
    }
}
