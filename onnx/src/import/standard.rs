//! What ONNX itself has: names of operators, the opsets that define them, their attributes.
//!
//! This is what tells a broken model from one that uses more of ONNX than this program does.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ir::Attribute;
use ops::Spec;
use ops::schema::{self, Absence, Schema};

use super::old;
use crate::Error;

/// The opset that a model with this default opset is read as.
///
/// Definitions of older opsets than 13 are those of 13, or read by `old`.
pub(super) fn read_as(declared: i64) -> Result<u32, Error> {
    let what = || format!("opset {declared}");
    if declared < 1 {
        return Err(Error::invalid(what(), "opsets count from 1"));
    }
    match u32::try_from(declared) {
        Ok(opset) if opset <= *OPSETS.end() => Ok(opset.max(*OPSETS.start())),
        _ => Err(Error::unsupported(what(), format!("the latest known is {}", OPSETS.end()))),
    }
}

const OPSETS: RangeInclusive<u32> = ir::graph::OPSETS;

/// The opset whose spelling a model has that declares one and is read as another.
pub(super) fn spelled_as(opset: u32, declared: i64) -> u32 {
    if old::OPSETS.contains(&u32::try_from(declared).unwrap_or(opset)) { declared as u32 } else { opset }
}

/// The opset whose spelling a model has that declares this one.
pub(super) fn spelled(declared: u32) -> u32 {
    spelled_as(declared.clamp(*OPSETS.start(), *OPSETS.end()), declared.into())
}

/// What ONNX says of the operator called `name` in an opset of its default domain.
pub(super) fn definition(name: &str, declared: u32) -> Result<&'static Schema, Error> {
    let what = || format!("operator {name}");
    let Some(first) = schema::definitions(name).first() else {
        return Err(Error::invalid(what(), "ONNX has no such operator"));
    };
    let Some(schema) = schema::in_force(name, declared) else {
        let why = format!("it came with opset {}, but the model has {declared}", first.since);
        return Err(Error::invalid(what(), why));
    };
    let since = schema.since;
    if schema.deprecated {
        return Err(Error::invalid(what(), format!("it is deprecated from opset {since} on")));
    }
    Ok(schema)
}

/// The operator called `name` in an opset of ONNX's default domain.
pub(super) fn operator(name: &str, declared: u32) -> Result<&'static Spec, Error> {
    let what = || format!("operator {name}");
    let schema = definition(name, declared)?;
    let spec = ops::find(name).ok_or_else(|| Error::unsupported(what(), "this program does not have it"))?;
    if declared >= *OPSETS.start() && spec.since() > declared {
        return Err(Error::unsupported(what(), format!("it is known from opset {} on", spec.since())));
    }
    if declared < *OPSETS.start()
        && !still_holds(schema)
        && let Some(why) = old::refused(schema, declared)
    {
        return Err(Error::unsupported(what(), why));
    }
    Ok(spec)
}

/// Whether a definition still holds in the first opset of ours.
fn still_holds(schema: &Schema) -> bool {
    schema::in_force(schema.name, *OPSETS.start()).is_some_and(|held| held.since == schema.since)
}

/// The definitions of an operator that hold from opset 13 on, by opset. What only deprecates it counts where there is nothing
/// else: what a deprecated operator had is still told from what no operator has.
fn held(operator: &str) -> Vec<(u32, &'static Schema)> {
    let held = OPSETS.filter_map(|opset| Some((opset, schema::in_force(operator, opset)?)));
    let (deprecated, live): (Vec<_>, Vec<_>) = held.partition(|(_, schema)| schema.deprecated);
    if live.is_empty() { deprecated } else { live }
}

/// The attributes that ONNX's operator has in any opset from 13 on, by name.
pub(super) fn attributes(operator: &str) -> BTreeSet<&'static str> {
    held(operator).iter().flat_map(|(_, schema)| &schema.attributes).map(|attribute| attribute.name).collect()
}

/// Whether an integer says the same as leaving the attribute out.
pub(super) fn is_default(operator: &str, attribute: &str, value: &Attribute, declared: u32) -> bool {
    let Attribute::Int(value) = value else { return false };
    let schema = schema::in_force(operator, declared);
    let found = schema.and_then(|schema| schema.attributes.iter().find(|a| a.name == attribute));
    found.is_some_and(|a| matches!(a.absence, Absence::Default(default) if default == value.to_string()))
}

/// Why ONNX's operator has no attribute of that name in an opset, if it has none.
pub(super) fn lacks_attribute(operator: &str, attribute: &str, declared: u32) -> Option<String> {
    let has = |schema: &Schema| schema.attributes.iter().any(|a| a.name == attribute);
    // Nearly always there is one, and every attribute of every model is asked for.
    let schema = schema::in_force(operator, declared);
    if schema.is_some_and(|schema| !schema.deprecated && has(schema)) {
        return None;
    }
    let held = held(operator);
    let mut opsets = held.iter().filter(|(_, schema)| has(schema)).map(|&(opset, _)| opset);
    let Some(first) = opsets.next() else { return Some("the operator has no such attribute".to_owned()) };
    let opsets = first..=opsets.next_back().unwrap_or(first);
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
    fn every_operator_of_ours_is_one_of_onnx() {
        for spec in ops::registry() {
            let found = operator(spec.name, 28).map(|s| s.name).map_err(|e| e.to_string());
            assert_eq!(found, Ok(spec.name));
        }
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

    #[test]
    fn invalid_is_told_from_unsupported() {
        assert!(matches!(operator("Frobnicate", 20), Err(Error::Invalid { .. })));
        assert!(matches!(operator("Upsample", 13), Err(Error::Invalid { .. })));
        assert!(matches!(operator("BitwiseAnd", 13), Err(Error::Invalid { .. })));
        assert!(matches!(operator("Loop", 20), Err(Error::Unsupported { .. })));
        assert!(matches!(operator("Add", 6), Err(Error::Unsupported { .. })));
        assert!(operator("Add", 7).is_ok());
        assert!(operator("OneHot", 9).is_ok() && operator("OneHot", 8).is_err());
        assert!(operator("And", 7).is_ok());
        assert!(operator("Add", 28).is_ok());
        assert!(matches!(read_as(0), Err(Error::Invalid { .. })));
        assert!(matches!(read_as(29), Err(Error::Unsupported { .. })));
        assert!(matches!(read_as(i64::MAX), Err(Error::Unsupported { .. })));
        assert_eq!([7, 13, 28].map(|opset| read_as(opset).ok()), [Some(13), Some(13), Some(28)]);
    }
}
