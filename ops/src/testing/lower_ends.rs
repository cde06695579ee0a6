//! What type rules say of few axes and of none, and of sizes of 0, beside what ONNX's shape inference says: `lower_ends.txt`,
//! made by `scripts/lower_ends.py`.

use std::collections::BTreeSet;

use ir::text::wildcard;
use ir::{Operation, Type};

use super::table::Call;

/// "(N x C x D1 x D2 ... Dn)": type rules ask for a spatial axis.
const IMAGE: &str = "the text speaks of images, and inference gives what it is given";
/// An axis is within the rank, or "r >= 1".
const RANK: &str = "the text has a rank of 1 or more, and inference does not look";
const OUT_OF_RANGE: &str = "no index is within an axis without elements";

/// Where type rules refuse what inference lets pass, and why: uses by a pattern of their lines.
const STRICTER: &[(&str, &str)] = &[
    ("Global*", IMAGE),
    ("LRN(f32[]*", IMAGE),
    ("LRN(f32[0])*", IMAGE),
    ("LRN(f32[2])*", IMAGE),
    ("InstanceNormalization(*", IMAGE),
    ("GroupNormalization(*", IMAGE),
    ("LpNormalization(f32[])*", RANK),
    ("CumSum(f32[])*", RANK),
    ("GatherElements(f32[],*", RANK),
    ("ScatterElements(f32[],*", RANK),
    ("ScatterND(f32[],*", RANK),
    ("BatchNormalization(f32[],*", RANK),
    ("LayerNormalization(f32[],*", RANK),
    ("RMSNormalization(f32[],*", RANK),
    ("QuantizeLinear(f32[],*axis*", RANK),
    ("Gather(f32[0*", OUT_OF_RANGE),
    ("GatherND(f32[0*", OUT_OF_RANGE),
    ("ScatterND(f32[0*", OUT_OF_RANGE),
    (
        "GatherND(*, i64[0])*",
        "\"value between 1 (inclusive) and rank r-b (inclusive)\", says the text of the last size of indices",
    ),
    ("TopK(*k = 0*", "\"a single positive value\", says the text"),
    ("Compress(*", "the list is longer than what it is a list of"),
];

/// What ONNX's shape inference says of a use.
enum Said<'t> {
    Refused,
    /// The shapes of the outputs, `?` for what is open.
    Given(Vec<&'t str>),
}

fn said(verdict: &str) -> Said<'_> {
    match verdict.strip_prefix("->").expect("a verdict").trim() {
        "refused" => Said::Refused,
        shapes => Said::Given(super::table::separate(shapes)),
    }
}

/// Whether a type is of a shape of which some sizes, or the rank, may be open.
fn is_of(ty: &Type, shape: &str) -> bool {
    if shape == "?" {
        return true;
    }
    let sizes = super::table::separate(shape.trim_start_matches('[').trim_end_matches(']'));
    let is_size = |(wanted, size): (&&str, &i64)| *wanted == "?" || wanted.parse() == Ok(*size);
    sizes.len() == ty.rank() && sizes.iter().zip(&ty.shape).all(is_size)
}

/// What is different, if anything is.
fn difference(line: &str) -> Option<String> {
    let names = super::table::Names::new();
    let (call, verdict) = Call::parse(line, &names);
    let types = call.types();
    let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
    match (said(verdict), Operation::infer(call.op(), &types)) {
        (Said::Refused, Err(_)) => None,
        (Said::Given(shapes), Ok(found))
            if shapes.len() == found.len()
                && found.iter().zip(&shapes).all(|(ty, shape)| is_of(ty, shape)) =>
        {
            None
        }
        (_, found) => Some(match found {
            Ok(types) => types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            Err(why) => format!("refused: {why}"),
        }),
    }
}

#[test]
fn type_rules_begin_where_those_of_onnx_do() {
    let mut met = BTreeSet::new();
    let mut unexplained = Vec::new();
    for line in include_str!("lower_ends.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some(ours) = difference(line) else { continue };
        match STRICTER.iter().find(|(pattern, _)| wildcard::matches(pattern, line)) {
            Some((pattern, _)) if ours.starts_with("refused") => _ = met.insert(pattern),
            _ => unexplained.push(format!("{line}, here {ours}")),
        }
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    for (pattern, why) in STRICTER {
        assert!(met.contains(pattern), "nothing that is {pattern} is refused: {why}");
    }
}
