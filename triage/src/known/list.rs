//! Lists of known findings, so that a campaign can tell a new finding from one that is already written up.

use std::collections::BTreeMap;
use std::path::Path;

use oracles::Finding;
use semver::{Prerelease, Version, VersionReq};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::accepted::Span;
use super::content::{KnownError, read, text_of};
use super::date::Date;
use super::pattern::Pattern;

/// A list of known findings, as a file such as `known.toml` has it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The entries that still hold.
    entries: Vec<KnownEntry>,
    /// The numbers of those that name their engine, by its name, and of the others, ascending.
    by_engine: BTreeMap<Option<String>, Vec<usize>>,
    /// The signatures of those whose date has passed.
    expired: Vec<String>,
}

/// Findings that are known.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownEntry {
    /// The signatures it covers, in the words of the report; `*` stands for any text.
    #[serde(deserialize_with = "telling")]
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    known: Vec<KnownEntry>,
}

/// A pattern that says something: an empty one matches no signature, and its entry would hide nothing without a word.
fn telling<'de, D: Deserializer<'de>>(from: D) -> Result<Pattern, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("the signature is empty, and matches nothing; `*` is any text"));
    }
    Ok(Pattern::from(text))
}

impl Known {
    /// Reads a list. Entries that expired before `today` match nothing.
    pub fn read(file: &Path, today: Date) -> Result<Self, KnownError> {
        Self::parse(&text_of(file)?, file, today)
    }

    /// The list in a text; `file` is for messages.
    pub fn parse(text: &str, file: &Path, today: Date) -> Result<Self, KnownError> {
        let list: List = read(text, file)?;
        let (entries, expired): (Vec<_>, Vec<_>) = list.known.into_iter().partition(|e| e.expires >= today);
        let mut by_engine: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            by_engine.entry(entry.engine().map(str::to_owned)).or_default().push(number);
        }
        let expired = expired.into_iter().map(|e| e.signature.to_string()).collect();
        Ok(Self { entries, by_engine, expired })
    }

    /// The entries that cover a finding of this version of an engine, with their numbers, the one that says most of its
    /// signature first: which finding is named does not depend on the order of the list.
    pub fn covering(&self, version: &str, signature: &str) -> Vec<(usize, &KnownEntry)> {
        let version = parse_version(version);
        let mut covering: Vec<_> =
            self.of_any_version(signature).filter(|(_, e)| e.has_version(version.as_ref())).collect();
        covering.sort_by(|(_, a), (_, b)| a.signature.cmp_telling(&b.signature));
        covering
    }

    /// The versions of its engine for which a signature is listed; `None` where it is not listed, or for all.
    pub fn versions_of(&self, signature: &str) -> Option<&VersionReq> {
        self.of_any_version(signature).find_map(|(_, entry)| entry.versions.as_ref())
    }

    /// The entries whose pattern matches a signature, with their numbers.
    fn of_any_version(&self, signature: &str) -> impl Iterator<Item = (usize, &KnownEntry)> {
        let other = signature
            .split_once(" | ")
            .and_then(|(engine, rest)| other_name(engine).map(|other| format!("{other} | {rest}")));
        let names: Vec<String> = [Some(signature.to_owned()), other].into_iter().flatten().collect();
        let engines = names.iter().filter_map(|name| name.split_once(" | ")).map(|(engine, _)| Some(engine));
        let of = |engine: Option<&str>| self.by_engine.get(&engine.map(str::to_owned));
        let mut numbers: Vec<usize> = engines.chain([None]).filter_map(of).flatten().copied().collect();
        numbers.sort_unstable();
        let entries = numbers.into_iter().map(|number| (number, &self.entries[number]));
        entries.filter(move |(_, entry)| names.iter().any(|name| entry.signature.matches(name)))
    }

    /// The entries that cover a finding under its name, or else, where that may be, under the one that it had before
    /// findings were reduced.
    pub fn covering_finding(&self, version: &str, finding: &Finding) -> Vec<(usize, &KnownEntry)> {
        let by_name = self.covering(version, &finding.signature().to_string());
        if !by_name.is_empty() || !finding.answers_to_former_name() {
            return by_name;
        }
        self.covering(version, &finding.former_signature().to_string())
    }

    /// Whether it lists something of an engine, in a version, that hangs.
    pub fn has_hangs_of(&self, engine: &str, version: &str) -> bool {
        let names = || [Some(engine), other_name(engine)].into_iter().flatten();
        let version = parse_version(version);
        self.entries.iter().any(|entry| {
            entry.signature.is_of_a_hang()
                && entry.has_version(version.as_ref())
                && names().any(|name| entry.signature.may_be_of(name))
        })
    }

    /// A text that lists these entries, some of them replaced by others. The rest of it stays as it is, comments
    /// included. `None` where the entries are not tables that begin with `[[known]]` each, but are written in another
    /// of TOML's ways.
    pub fn rewrite(&self, text: &str, replacements: &BTreeMap<usize, Vec<KnownEntry>>) -> Option<String> {
        let mut out = String::new();
        for (number, part) in parts(text).into_iter().enumerate() {
            // What is before the first entry is no entry.
            match number.checked_sub(1).and_then(|number| replacements.get(&number)) {
                None => out += part,
                Some(others) => {
                    out.extend(others.iter().map(|entry| format!("{entry}\n")));
                    out += comments_after(part);
                }
            }
        }
        let out = out.trim_end().to_owned() + "\n";
        let kept = |(number, entry)| {
            replacements.get(&number).cloned().unwrap_or_else(|| vec![KnownEntry::clone(entry)])
        };
        let wanted = self.entries.iter().enumerate().flat_map(kept);
        let List { known } = toml::from_str(&out).ok()?;
        known.into_iter().eq(wanted).then_some(out)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries that hold.
    pub fn entries(&self) -> &[KnownEntry] {
        &self.entries
    }

    /// The signatures of the entries that have expired.
    pub fn expired(&self) -> &[String] {
        &self.expired
    }
}

/// What an entry begins with.
const HEADER: &str = "[[known]]";

/// What is before the first entry of a text, and each entry with what stands behind it.
fn parts(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(HEADER) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

/// The comments behind the last key of an entry.
fn comments_after(entry: &str) -> &str {
    let is_key = |line: &str| !line.trim_start().starts_with('#') && !line.trim().is_empty();
    let (mut at, mut end) = (0, 0);
    for line in entry.split_inclusive('\n') {
        at += line.len();
        if is_key(line) {
            end = at;
        }
    }
    entry[end..].trim_start_matches('\n')
}

impl KnownEntry {
    /// The engine that it is about, if it says so before its first star.
    pub fn engine(&self) -> Option<&str> {
        self.signature.engine()
    }

    /// The entry that covers one signature, of one version of its engine; of all versions where this has no number.
    pub fn exactly(signature: String, version: &str, finding: String, expires: Date) -> Self {
        let versions = parse_version(version).map(|version| Span::only(version).range());
        Self { signature: Pattern::from(signature), versions, finding, expires, note: None }
    }

    /// Whether it may cover findings of this version of an engine.
    pub fn is_about(&self, engine: &str, version: &str) -> bool {
        let is_of = |engine| self.signature.may_be_of(engine);
        self.has_version(parse_version(version).as_ref())
            && (is_of(engine) || other_name(engine).is_some_and(is_of))
    }

    /// Whether this version of its engine has the fault.
    fn has_version(&self, version: Option<&Version>) -> bool {
        match (&self.versions, version) {
            (None, _) => true,
            (Some(range), Some(version)) => is_in(range, version),
            // A version that is no number cannot be shown to be in a range.
            (Some(_), None) => false,
        }
    }
}

/// Engines that are one library, once as a backend and once behind its Python package: what a version of it gets wrong, both do.
const SAME_LIBRARY: [[&str; 2]; 1] = [["ort", "onnxruntime"]];

/// The other engine of the same library.
fn other_name(engine: &str) -> Option<&'static str> {
    let [one, other] = SAME_LIBRARY.into_iter().find(|pair| pair.contains(&engine))?;
    Some(if engine == one { other } else { one })
}

/// Whether a version is in a range. To one that names no prerelease, a prerelease is the version that it precedes: whether it
/// is spelt 3.13.0rc1 or 3.13.0-rc.1 does not count.
pub(super) fn is_in(range: &VersionReq, version: &Version) -> bool {
    let plain = || Version { pre: Prerelease::EMPTY, ..version.clone() };
    let names_none = range.comparators.iter().all(|comparator| comparator.pre.is_empty());
    range.matches(version) || names_none && range.matches(&plain())
}

/// A version. Engines need not follow Semantic Versioning: of any other text the numbers count that it begins with, perhaps behind
/// a v, three at most, so that 0.27 and 0.27.0.post1 are 0.27.0, and 3.13.0rc1 is 3.13.0. One without a dot is a number alone, or no
/// version: digits begin the name of a commit, too.
pub(super) fn parse_version(text: &str) -> Option<Version> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if !text.contains('.') && text.contains(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    Version::parse(text).ok().or_else(|| {
        let digits = |part: &str| part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let whole = text.split('.').take_while(|part| !part.is_empty() && digits(part) == part.len()).count();
        let number = |part: &str| part[..digits(part)].parse().ok();
        let mut numbers = text.split('.').take(whole + 1).map_while(number);
        let major = numbers.next()?;
        let [minor, patch] = [(); 2].map(|()| numbers.next().unwrap_or(0));
        Some(Version::new(major, minor, patch))
    })
}

#[cfg(test)]
mod tests {
    use oracles::{Broken, Symptom, Verdict};

    use super::*;

    const LIST: &str = r#"
[[known]]
signature = "rten | Sign f32 * | mismatch gross"
versions = ">=0.27, <0.28"
finding = "corpus/rten-0.27/sign-zero"
expires = "2027-06-30"

[[known]]
signature = "rten | Sign *"
finding = "elsewhere"
expires = "2026-01-31"
"#;

    #[test]
    fn versions_begin_with_numbers() {
        let read = |text| parse_version(text).map(|version| version.to_string());
        for (text, version) in [
            ("0.27", "0.27.0"),
            ("7", "7.0.0"),
            ("1.31.1", "1.31.1"),
            ("1.2.3-rc.1", "1.2.3-rc.1"),
            ("0.27.0.post1", "0.27.0"),
            ("3.13.0rc20261016", "3.13.0"),
            ("2.1rc3.4", "2.1.0"),
            ("2026.4.1-21000-abc", "2026.4.1-21000-abc"),
            ("v3.1", "3.1.0"),
        ] {
            assert_eq!(read(text).as_deref(), Some(version), "{text}");
        }
        assert!(["", "unknown", ".1", "1f3e9c", "vnext"].into_iter().all(|text| read(text).is_none()));
    }

    #[test]
    fn a_prerelease_is_in_the_range_of_its_version_however_it_is_spelt() {
        let is_in = |range: &str, version: &str| {
            is_in(&VersionReq::parse(range).unwrap(), &parse_version(version).expect("numbers"))
        };
        for version in ["2026.4.1", "2026.4.1rc1", "2026.4.1-rc.1", "2026.4.1-21000-abc"] {
            assert!(is_in("2026.4", version) && !is_in(">=2026.5", version), "{version}");
        }
        assert!(is_in("=1.2.0-rc.1", "1.2.0-rc.1") && !is_in("=1.2.0-rc.1", "1.2.0-rc.2"));
    }

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
        let covering = |version: &str, text: &str| known.covering(version, text).len();
        assert_eq!(covering("0.27", signature), 1);
        assert_eq!(covering("0.27.3", signature), 1);
        assert_eq!(covering("0.28.0", signature), 0);
        assert_eq!(covering("a build of mine", signature), 0);
        assert_eq!(covering("0.27", "rten | Sign f32 dense | mismatch nan"), 0);
        assert_eq!(known.expired(), ["rten | Sign *"]);
        assert_eq!(parse(LIST, "2026-01-31").unwrap().covering("0.27", signature).len(), 2);
        assert_eq!(parse(LIST, "2027-07-01").unwrap().entries().len(), 0);
    }

    #[test]
    fn what_breaks_a_rule_in_a_use_of_an_operator_is_not_covered_by_what_names_neither() {
        let Verdict::Bug(finding) = Verdict::bug("rten", "all", Symptom::WrongType, String::new()) else {
            panic!("it is a bug");
        };
        let broken = |operator: Option<&str>| {
            let operator = operator.map(str::to_owned);
            Finding { broken: Some(Broken { rule: "cycle".to_owned(), operator }), ..*finding.clone() }
        };
        let known = parse(&LIST.replace("rten | Sign *", "rten | whole graph | *"), "2026-01-01").unwrap();
        let covering = |finding: &Finding| known.covering_finding("0.27", finding).len();
        assert_eq!([&*finding, &broken(None), &broken(Some("Sign"))].map(covering), [1, 1, 0]);
        let own =
            parse(&LIST.replace("rten | Sign *", "rten | violate * of Sign | *"), "2026-01-01").unwrap();
        assert_eq!(own.covering_finding("0.27", &broken(Some("Sign"))).len(), 1);
    }

    #[test]
    fn the_entry_that_says_most_names_the_finding_wherever_it_stands() {
        let entry = |signature: &str, finding: &str| {
            format!("[[known]]\nsignature = '{signature}'\nfinding = '{finding}'\nexpires = '2027-06-30'\n")
        };
        let (wide, narrow) = (entry("rten | *", "wide"), entry("rten | Sign *", "narrow"));
        for list in [format!("{wide}{narrow}"), format!("{narrow}{wide}")] {
            let known = parse(&list, "2026-01-01").unwrap();
            let named: Vec<_> =
                known.covering("1", "rten | Sign f32").into_iter().map(|(_, e)| &e.finding).collect();
            assert_eq!(named, ["narrow", "wide"]);
        }
    }

    #[test]
    fn an_entry_is_about_the_engines_whose_signatures_it_may_match() {
        let may = |pattern: &str, engine: &str| Pattern::from(pattern.to_owned()).may_be_of(engine);
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
    fn what_is_known_of_a_library_is_known_of_it_under_either_name() {
        let known = parse(&LIST.replace("rten | Sign *", "ort | Sign *"), "2026-01-01").unwrap();
        for engine in ["ort", "onnxruntime"] {
            assert_eq!(
                known.covering("1.31.1", &format!("{engine} | Sign f32 dense | mismatch nan")).len(),
                1
            );
            assert!(known.entries().iter().any(|e| e.is_about(engine, "1.31.1")));
        }
        assert!(known.covering("1.31.1", "onnxruntime_webgpu | Sign f32 dense | mismatch nan").is_empty());
    }

    #[test]
    fn an_entry_for_one_version_is_for_no_other() {
        for (version, other) in [("0.27.0", "0.27.1"), ("0.27.0.post1", "0.27.1"), ("3.13.0rc1", "3.12.0")] {
            let entry =
                KnownEntry::exactly("a | b".to_owned(), version, "here".to_owned(), date("2027-01-01"));
            assert!(entry.is_about("a", version) && !entry.is_about("a", other), "{version}: {entry:?}");
        }
    }

    #[test]
    fn entries_are_replaced_and_all_else_stays() {
        let list = LIST.replacen("\n\n[[known]]", "\n\n# The next.\n[[known]]", 1);
        let text = format!("# Mine, each a [[known]].\n{list}# The end.\n");
        let known = parse(&text, "2026-01-01").unwrap();
        assert_eq!(known.rewrite(&text, &BTreeMap::new()).as_ref(), Some(&text));
        let other = |name: &str| {
            KnownEntry::exactly(name.to_owned(), "0.27.0", "here".to_owned(), date("2027-01-01"))
        };
        let replaced = BTreeMap::from([(0, vec![other("a"), other("b")]), (1, vec![])]);
        let two = known.rewrite(&text, &BTreeMap::from([(0, vec![other("a"), other("b")])])).unwrap();
        let read = parse(&two, "2026-01-01").unwrap();
        let signatures: Vec<String> = read.entries().iter().map(|e| e.signature.to_string()).collect();
        assert_eq!(signatures, ["a", "b", "rten | Sign *"]);
        assert!(two.starts_with("# Mine, each a [[known]].\n") && two.ends_with("# The end.\n"), "{two}");
        assert!(two.contains("\n\n# The next.\n[[known]]\nsignature = \"rten"), "{two}");
        let ended = known.rewrite(&text, &replaced).unwrap();
        assert!(ended.ends_with("\n\n# The next.\n# The end.\n"), "{ended}");
        let none = known.rewrite(&text, &BTreeMap::from([(0, vec![])])).unwrap();
        assert_eq!(parse(&none, "2026-01-01").unwrap().entries().len(), 1);
        // An entry that is found nowhere is not taken for the next one.
        let indented = text.replacen("[[known]]\nsignature", "[[ known ]]\nsignature", 1);
        assert_eq!(known.rewrite(&indented, &replaced), None);
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
        for empty in ["", " "] {
            let empty = says("rten | Sign *", empty);
            assert!(empty.starts_with("known.toml:9:") && empty.contains("matches nothing"), "{empty}");
        }
    }
}
