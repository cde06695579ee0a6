//! Adds accepted findings to lists. An accepted entry for another version of the engine is renewed, and not repeated.

use std::collections::BTreeMap;

use semver::{Comparator, Op, Version, VersionReq};

use super::list::{Known, KnownEntry};

impl Known {
    /// The text of a list with further entries, each of which covers one signature ([`KnownEntry::exactly`]). If the
    /// list has such an entry for the same signature, and it is for another version or has expired, it is renewed: from
    /// its first version to its last. Everything else stays as it is. `self` must have all entries of the text,
    /// including those that have expired.
    pub fn with(&self, text: &str, accepted: &[KnownEntry]) -> String {
        let mut renewed: BTreeMap<usize, KnownEntry> = BTreeMap::new();
        let mut added = Vec::new();
        for entry in accepted {
            let renew = |(number, old)| Some((number, renewed.get(&number).unwrap_or(old).renewed(entry)?));
            match self.entries().iter().enumerate().find_map(renew) {
                Some((number, entry)) => drop(renewed.insert(number, entry)),
                None => added.push(entry),
            }
        }
        let replacements: BTreeMap<_, _> =
            renewed.into_iter().map(|(number, entry)| (number, vec![entry])).collect();
        let rewritten = (!replacements.is_empty()).then(|| self.rewrite(text, &replacements)).flatten();
        // Nothing can be replaced in a list whose entries are not tables of their own.
        let added = if rewritten.is_some() { added } else { accepted.iter().collect() };
        let stands = rewritten.as_deref().unwrap_or(text);
        let before = (!stands.is_empty()).then(|| stands.to_owned());
        before.into_iter().chain(added.iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
    }
}

impl KnownEntry {
    /// This accepted entry, after its signature was accepted again; `None` if the signature is another one, or the
    /// entry was written in another way.
    fn renewed(&self, again: &Self) -> Option<Self> {
        if self.signature.to_string() != again.signature.to_string() {
            return None;
        }
        let versions = match (&self.versions, &again.versions) {
            (Some(before), Some(now)) => Some(Span::of(before)?.and(Span::of(now)?).range()),
            (None, None) => None,
            _ => return None,
        };
        Some(Self { versions, note: self.note.clone(), ..again.clone() })
    }
}

/// From one version to another, both included.
pub(super) struct Span {
    first: Version,
    last: Version,
}

impl Span {
    /// One version.
    pub(super) fn only(version: Version) -> Self {
        Self { first: version.clone(), last: version }
    }

    /// The versions of an accepted entry. Somebody has thought about a range of another kind.
    fn of(range: &VersionReq) -> Option<Self> {
        let (first, last) = match &range.comparators[..] {
            [one] if one.op == Op::Exact => (one, one),
            [first, last] if first.op == Op::GreaterEq && last.op == Op::LessEq => (first, last),
            _ => return None,
        };
        Some(Self { first: whole(first)?, last: whole(last)? })
    }

    fn and(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    pub(super) fn range(self) -> VersionReq {
        let is = |op, Version { major, minor, patch, pre, .. }| Comparator {
            op,
            major,
            minor: Some(minor),
            patch: Some(patch),
            pre,
        };
        let comparators = if self.first == self.last {
            vec![is(Op::Exact, self.first)]
        } else {
            vec![is(Op::GreaterEq, self.first), is(Op::LessEq, self.last)]
        };
        VersionReq { comparators }
    }
}

/// A comparator's version, if it names all of its numbers.
fn whole(comparator: &Comparator) -> Option<Version> {
    let Comparator { major, minor, patch, pre, .. } = comparator.clone();
    Some(Version { major, minor: minor?, patch: patch?, pre, build: semver::BuildMetadata::EMPTY })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Date;
    use super::*;

    fn accepted(signature: &str, version: &str) -> KnownEntry {
        KnownEntry::exactly(
            signature.to_owned(),
            version,
            format!("campaign of {version}"),
            Date::from_unix_days(30_000),
        )
    }

    fn with(text: &str, entries: &[KnownEntry]) -> String {
        Known::parse(text, Path::new("known.toml"), Date::from_unix_days(0))
            .expect("a list")
            .with(text, entries)
    }

    fn versions(list: &str) -> Vec<&str> {
        list.lines().filter(|line| line.starts_with("versions")).collect()
    }

    #[test]
    fn what_was_accepted_of_one_version_is_of_all_from_it_to_another() {
        let first = with(
            "",
            &[accepted("e | Relu | mismatch gross", "0.2.0"), accepted("e | Sign | mismatch gross", "0.2.0")],
        );
        assert_eq!(versions(&first), ["versions = '=0.2.0'"; 2]);
        let again =
            with(&format!("# Mine.\n{first}# Last.\n"), &[accepted("e | Sign | mismatch gross", "0.10.1")]);
        assert_eq!(versions(&again), ["versions = '=0.2.0'", "versions = '>=0.2.0, <=0.10.1'"]);
        assert!(again.starts_with("# Mine.\n") && again.ends_with("# Last.\n"), "{again}");
        assert!(again.contains("campaign of 0.10.1"), "it is looked up where it was seen last: {again}");
        // Neither the order nor how often counts.
        let third = with(
            &again,
            &[accepted("e | Sign | mismatch gross", "0.1.0"), accepted("e | Sign | mismatch gross", "0.3.0")],
        );
        assert_eq!(versions(&third)[1], "versions = '>=0.1.0, <=0.10.1'");
    }

    #[test]
    fn an_entry_that_has_expired_is_renewed() {
        let before = with("", &[accepted("e | Relu | mismatch gross", "1.0.0")]);
        let again = KnownEntry {
            expires: Date::from_unix_days(40_000),
            ..accepted("e | Relu | mismatch gross", "1.0.0")
        };
        let after = with(&before, std::slice::from_ref(&again));
        assert_eq!(versions(&after), ["versions = '=1.0.0'"]);
        assert!(after.contains(&again.expires.to_string()), "{after}");
    }

    #[test]
    fn an_entry_for_all_versions_is_renewed_for_an_engine_without_them_alone() {
        let before = with("", &[accepted("e | Relu | mismatch gross", "nightly")]);
        assert!(versions(&before).is_empty(), "{before}");
        let again = with(&before, &[accepted("e | Relu | mismatch gross", "nightly")]);
        assert_eq!(again.matches("[[known]]").count(), 1, "{again}");
        let numbered = with(&before, &[accepted("e | Relu | mismatch gross", "2.0.0")]);
        assert!(numbered.starts_with(&before) && numbered.contains("versions = '=2.0.0'"), "{numbered}");
    }

    #[test]
    fn what_others_have_written_stays() {
        let entry = |signature: &str, versions: &str| {
            format!(
                "[[known]]\nsignature = '{signature}'\nversions = '{versions}'\nfinding = 'here'\nexpires = '2099-01-01'\n"
            )
        };
        let new = [accepted("e | Relu | mismatch gross", "2.0.0")];
        for mine in [entry("e | Relu | *", "=1.0.0"), entry("e | Relu | mismatch gross", ">=1, <2")] {
            let list = with(&mine, &new);
            assert!(list.starts_with(&mine) && list.contains("versions = '=2.0.0'"), "{list}");
        }
        let inline = "known = [{ signature = 'e | Relu | mismatch gross', versions = '=1.0.0', finding = 'here', expires = '2099-01-01' }]\n";
        assert!(with(inline, &new).starts_with(inline));
    }
}
