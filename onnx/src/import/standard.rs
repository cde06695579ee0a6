//! What ONNX itself has: names of operators, the opsets that define them, their attributes.
//!
//! This is what tells a broken model from one that uses more of ONNX than this program does.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use ops::Spec;

use crate::Error;

/// The latest opset of the table.
const NEWEST: u32 = 28;

/// An operator of the default domain.
#[derive(Debug)]
struct Standard {
    /// The opsets that define it anew, ascending, and whether they deprecate it.
    versions: Vec<(u32, bool)>,
    attributes: Vec<&'static str>,
}

static TABLE: LazyLock<BTreeMap<&'static str, Standard>> = LazyLock::new(|| {
    let lines = include_str!("operators.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(parse).collect()
});

fn parse(line: &'static str) -> Option<(&'static str, Standard)> {
    let mut words = line.split_ascii_whitespace();
    let (name, versions) = (words.next()?, words.next()?);
    let version = |v: &str| Some((v.trim_end_matches('x').parse().ok()?, v.ends_with('x')));
    let versions = versions.split(',').map(version).collect::<Option<_>>()?;
    Some((name, Standard { versions, attributes: words.collect() }))
}

impl Standard {
    /// The definition that holds in an opset.
    fn at(&self, opset: u32) -> Option<(u32, bool)> {
        self.versions.iter().rev().find(|(since, _)| *since <= opset).copied()
    }
}

/// The opset that a model with this default opset is read as.
///
/// Opsets 27 and 28 only add to the operators of 26 (dtypes, attributes and operators), so that a model without the
/// additions means the same in 26. Of an older opset than 13, operators that have not changed since can be read.
pub(super) fn read_as(declared: i64) -> Result<u32, Error> {
    let what = || format!("opset {declared}");
    if declared < 1 {
        return Err(Error::invalid(what(), "opsets count from 1"));
    }
    match u32::try_from(declared) {
        Ok(opset) if opset <= NEWEST => Ok(opset.clamp(*OPSETS.start(), *OPSETS.end())),
        _ => Err(Error::unsupported(what(), format!("the latest known is {NEWEST}"))),
    }
}

const OPSETS: RangeInclusive<u32> = ir::graph::OPSETS;

/// Whether an opset later than ours defines the operator anew. Then what we refuse may be legal there.
pub(super) fn is_redefined(name: &str, declared: u32) -> bool {
    TABLE.get(name).and_then(|s| s.at(declared)).is_some_and(|(since, _)| since > *OPSETS.end())
}

/// The operator called `name` in an opset of ONNX's default domain.
pub(super) fn operator(name: &str, declared: u32) -> Result<&'static Spec, Error> {
    let what = || format!("operator {name}");
    let Some(standard) = TABLE.get(name) else {
        return Err(Error::invalid(what(), "ONNX has no such operator"));
    };
    let Some((since, deprecated)) = standard.at(declared) else {
        let first = standard.versions.first().map_or(0, |v| v.0);
        return Err(Error::invalid(
            what(),
            format!("it came with opset {first}, but the model has {declared}"),
        ));
    };
    if deprecated {
        return Err(Error::invalid(what(), format!("it is deprecated from opset {since} on")));
    }
    let spec = ops::find(name).ok_or_else(|| Error::unsupported(what(), "this program does not have it"))?;
    if declared >= *OPSETS.start() && spec.since() > declared {
        return Err(Error::unsupported(what(), format!("it is known from opset {} on", spec.since())));
    }
    if declared < *OPSETS.start() && standard.at(*OPSETS.start()) != Some((since, false)) {
        return Err(Error::unsupported(
            what(),
            format!("as defined in opset {since}; only definitions from opset 13 on are known"),
        ));
    }
    Ok(spec)
}

/// The attributes that ONNX's operator has in any opset from 13 on.
pub(super) fn attributes(operator: &str) -> &'static [&'static str] {
    TABLE.get(operator).map_or(&[], |s| &s.attributes)
}

/// Whether ONNX's operator has an attribute of that name in any opset from 13 on.
pub(super) fn has_attribute(operator: &str, attribute: &str) -> bool {
    attributes(operator).contains(&attribute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_of_ours_is_in_the_table() {
        for spec in ops::registry() {
            let found = operator(spec.name, 26).map(|s| s.name).map_err(|e| e.to_string());
            assert_eq!(found, Ok(spec.name));
            let standard = &TABLE[spec.name];
            let first = standard.versions.iter().find(|(_, deprecated)| !deprecated);
            let first = first.map_or(0, |v| v.0.max(13));
            assert_eq!(spec.since(), first, "{} came with another opset", spec.name);
        }
    }

    #[test]
    fn invalid_is_told_from_unsupported() {
        assert!(matches!(operator("Frobnicate", 20), Err(Error::Invalid { .. })));
        assert!(matches!(operator("Upsample", 13), Err(Error::Invalid { .. })));
        assert!(matches!(operator("BitwiseAnd", 13), Err(Error::Invalid { .. })));
        assert!(matches!(operator("Loop", 20), Err(Error::Unsupported { .. })));
        assert!(matches!(operator("Add", 7), Err(Error::Unsupported { .. })));
        assert!(operator("And", 7).is_ok());
        assert!(operator("Add", 28).is_ok());
        assert!(matches!(read_as(0), Err(Error::Invalid { .. })));
        assert!(matches!(read_as(29), Err(Error::Unsupported { .. })));
        assert!(matches!(read_as(i64::MAX), Err(Error::Unsupported { .. })));
        assert_eq!(read_as(28).ok(), Some(26));
    }
}
