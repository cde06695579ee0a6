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
    /// The names of its attributes.
    attributes: Vec<&'static str>,
    /// The opsets that have the attributes, in the same order.
    opsets: Vec<RangeInclusive<u32>>,
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
    let (attributes, opsets) = words.map(attribute).collect::<Option<_>>()?;
    Some((name, Standard { versions, attributes, opsets }))
}

/// An attribute with the opsets that have it: `axis` with all, `axis@19` from one on, `axis@13-17` with some.
fn attribute(word: &'static str) -> Option<(&'static str, RangeInclusive<u32>)> {
    let Some((name, opsets)) = word.split_once('@') else { return Some((word, 0..=NEWEST)) };
    let (first, last) = opsets.split_once('-').map_or((opsets, None), |(first, last)| (first, Some(last)));
    Some((name, first.parse().ok()?..=last.map_or(Some(NEWEST), |last| last.parse().ok())?))
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

/// The opset whose definition of the operator `name` of ONNX's default domain holds in an opset.
pub(super) fn definition(name: &str, declared: u32) -> Result<u32, Error> {
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
    Ok(since)
}

/// The operator called `name` in an opset of ONNX's default domain.
pub(super) fn operator(name: &str, declared: u32) -> Result<&'static Spec, Error> {
    let what = || format!("operator {name}");
    let since = definition(name, declared)?;
    let spec = ops::find(name).ok_or_else(|| Error::unsupported(what(), "this program does not have it"))?;
    if declared >= *OPSETS.start() && spec.since() > declared {
        return Err(Error::unsupported(what(), format!("it is known from opset {} on", spec.since())));
    }
    let held = TABLE.get(name).and_then(|standard| standard.at(*OPSETS.start()));
    if declared < *OPSETS.start() && held != Some((since, false)) {
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

/// Why ONNX's operator has no attribute of that name in an opset, if it has none.
pub(super) fn lacks_attribute(operator: &str, attribute: &str, declared: u32) -> Option<String> {
    let found = TABLE.get(operator).and_then(|standard| {
        let at = standard.attributes.iter().position(|name| *name == attribute)?;
        standard.opsets.get(at)
    });
    let Some(opsets) = found else { return Some("the operator has no such attribute".to_owned()) };
    // What has not changed since an older opset has the attributes of the oldest one that is known.
    let opset = declared.max(*OPSETS.start());
    if opset < *opsets.start() {
        let came = opsets.start();
        return Some(format!(
            "the operator has no such attribute in opset {declared}; it came with opset {came}"
        ));
    }
    (opset > *opsets.end()).then(|| {
        let last = opsets.end();
        format!("the operator has no such attribute in opset {declared}; the last opset with it is {last}")
    })
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
    fn every_line_of_the_table_is_understood() {
        let lines = include_str!("operators.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(TABLE.len(), lines.count());
        assert_eq!(attribute("axis@13-17"), Some(("axis", 13..=17)));
        assert_eq!((attribute("axis@x"), attribute("axis@13-")), (None, None));
    }

    #[test]
    fn an_attribute_is_there_in_its_opsets_alone() {
        let lacks = |operator, attribute, opset| lacks_attribute(operator, attribute, opset).is_some();
        assert!(lacks("CastLike", "round_mode", 23) && !lacks("CastLike", "round_mode", 24));
        assert!(lacks("Cast", "saturate", 18) && !lacks("Cast", "saturate", 19));
        assert!(!lacks("ReduceMax", "axes", 17) && lacks("ReduceMax", "axes", 18));
        assert!(lacks("SpaceToDepth", "mode", 27) && !lacks("SpaceToDepth", "mode", 28));
        assert!(!lacks("Cast", "to", 13) && lacks("Abs", "axis", 13));
        // Its definition of opset 1 still held in 13.
        assert!(!lacks("Transpose", "perm", 7));
    }

    /// What an operator of ours writes as an attribute, ONNX has as one.
    #[test]
    fn the_rows_of_our_operators_agree_with_the_table() {
        for spec in ops::registry() {
            for opset in OPSETS.filter(|&opset| opset >= spec.since()) {
                for field in spec.fields {
                    if spec.place(field.name, opset) == ops::spec::Place::Attribute {
                        let lack = lacks_attribute(spec.name, field.name, opset);
                        assert_eq!(lack, None, "{} {} in {opset}", spec.name, field.name);
                    }
                }
            }
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
