//! Rules about attributes.

use ops::Spec;
use ops::spec::Place;

use super::site::{Edit, Site, edit};
use super::{Checker, Rule, Source};
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unknown-attribute",
        clause: "a node has no attribute that its operator lacks",
        source: Source::Schemas,
        checker: Checker::Partly(
            "not for LayerNormalization, of which it checks the function that stands for it",
        ),
        says: &["has no such attribute"],
        edit: unknown_attribute,
    },
    Rule {
        name: "duplicate-attribute",
        clause: "the names of a node's attributes differ",
        source: Source::Ir("Nodes"),
        checker: Checker::Refuses,
        says: &["given twice"],
        edit: duplicate_attribute,
    },
    Rule {
        name: "attribute-type",
        clause: "an attribute has the type that the schema states",
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["must be"],
        edit: attribute_type,
    },
    Rule {
        name: "attribute-range",
        clause: "an attribute has one of the values that the operator is defined for",
        source: Source::Schemas,
        checker: Checker::Partly(
            "not names (`direction`, `auto_pad`, `approximate`), the `group` of Conv, and the `axis` of GatherElements, LpNormalization and mostly LayerNormalization",
        ),
        says: &[
            "attribute `",
            "is outside of rank",
            "must not exceed",
            "is named twice",
            "ONNX defines no such code",
        ],
        edit: attribute_range,
    },
];

/// The name of an attribute that no operator has.
const UNKNOWN: &str = "onnxsmith_violation";

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..Default::default()
    }
}

fn ints(name: &str, values: Vec<i64>) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Ints as i32),
        ints: values,
        ..Default::default()
    }
}

fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Float as i32),
        f: Some(value),
        ..Default::default()
    }
}

fn string(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::String as i32),
        s: Some(value.as_bytes().to_vec()),
        ..Default::default()
    }
}

fn unknown_attribute(site: &mut Site) -> Option<Edit> {
    let nodes = site.operators().into_iter().map(|(node, _)| node);
    let node = site.choose(nodes.collect())?;
    site.node(node).attribute.push(int(UNKNOWN, 1));
    Some(edit(site.graph.node[node].name(), format!("{} has an attribute `{UNKNOWN}`", site.label(node))))
}

/// The attributes of all operators: node and position.
fn attributes(site: &Site) -> Vec<(usize, usize)> {
    let nodes = site.operators().into_iter().map(|(node, _)| node);
    nodes.flat_map(|n| (0..site.graph.node[n].attribute.len()).map(move |i| (n, i))).collect()
}

fn duplicate_attribute(site: &mut Site) -> Option<Edit> {
    let (node, position) = site.choose(attributes(site))?;
    let again = site.graph.node[node].attribute[position].clone();
    let what = format!("{} has `{}` twice", site.label(node), again.name());
    site.node(node).attribute.push(again);
    Some(edit(site.graph.node[node].name(), what))
}

/// A number becomes a list or a fraction, and the other way round.
fn attribute_type(site: &mut Site) -> Option<Edit> {
    let (node, position) = site.choose(attributes(site))?;
    let was = site.graph.node[node].attribute[position].clone();
    let as_list = site.coin();
    let name = was.name();
    let is = match was.r#type() {
        AttributeType::Int if as_list => ints(name, vec![was.i()]),
        AttributeType::Int => float(name, was.i() as f32),
        AttributeType::Ints => string(name, "0"),
        AttributeType::Float | AttributeType::String => int(name, 0),
        _ => return None,
    };
    let what = format!(
        "attribute `{name}` of {} is {} instead of {}",
        site.label(node),
        is.r#type().as_str_name(),
        was.r#type().as_str_name()
    );
    site.node(node).attribute[position] = is;
    Some(edit(site.graph.node[node].name(), what))
}

/// A value that is out of range.
#[derive(Clone, Copy)]
enum Wrong {
    /// An axis that operand 0 lacks, even where one more than its rank is allowed.
    AxisBeyond,
    /// An axis before the first, counted from the end.
    AxisBefore,
    /// A list of such an axis.
    Axes,
    /// A permutation that has 0 twice.
    Permutation,
    /// This number.
    Number(i64),
    /// A zero for each spatial dimension.
    SpatialZeros,
    /// A name that no operator knows.
    Name,
}

use Wrong::{Axes, AxisBefore, AxisBeyond, Name, Number, Permutation, SpatialZeros};

impl Wrong {
    /// The attribute for an operand 0 of some rank; `None` where every value is in range.
    fn attribute(self, name: &str, rank: usize) -> Option<AttributeProto> {
        let beyond = rank as i64 + 2;
        match self {
            AxisBeyond => Some(int(name, beyond)),
            AxisBefore => Some(int(name, -beyond)),
            Axes => Some(ints(name, vec![beyond])),
            Permutation => (rank > 1).then(|| ints(name, vec![0; rank])),
            Number(value) => Some(int(name, value)),
            SpatialZeros => (rank > 2).then(|| ints(name, vec![0; rank - 2])),
            Name => Some(string(name, "ONNXSMITH")),
        }
    }
}

/// What may be out of range, by operator and attribute.
const RANGES: &[(&[&str], &str, Wrong)] = &[
    (&["ArgMax", "ArgMin", "Concat", "Flatten", "Gather", "GatherElements", "Hardmax"], "axis", AxisBeyond),
    (
        &["LayerNormalization", "LogSoftmax", "LpNormalization", "OneHot", "RMSNormalization"],
        "axis",
        AxisBeyond,
    ),
    (&["Softmax", "Split", "TopK"], "axis", AxisBeyond),
    (&["ArgMax", "ArgMin", "Concat", "Gather", "GatherElements", "Hardmax"], "axis", AxisBefore),
    (&["LogSoftmax", "Softmax", "Split", "TopK"], "axis", AxisBefore),
    (&["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"], "axes", Axes),
    (&["ReduceMin", "ReduceProd", "ReduceSumSquare"], "axes", Axes),
    (&["Transpose"], "perm", Permutation),
    (&["Cast"], "to", Number(0)),
    (&["Conv"], "group", Number(0)),
    (&["Conv", "MaxPool", "AveragePool", "LpPool"], "strides", SpatialZeros),
    (&["Conv", "MaxPool"], "dilations", SpatialZeros),
    (&["Conv", "MaxPool", "AveragePool", "LpPool"], "auto_pad", Name),
    (&["DepthToSpace", "SpaceToDepth"], "blocksize", Number(0)),
    (&["DepthToSpace", "SpaceToDepth"], "blocksize", Number(-1)),
    (&["DepthToSpace"], "mode", Name),
    (&["BitShift"], "direction", Name),
    (&["Gelu"], "approximate", Name),
];

fn attribute_range(site: &mut Site) -> Option<Edit> {
    let opset = site.opset;
    let is_attribute = |spec: &Spec, name| spec.place(name, opset) == Place::Attribute;
    let mut places = Vec::new();
    for (node, spec) in site.operators() {
        let Some((_, first)) = site.operands_of(node).into_iter().next() else { continue };
        let rows =
            RANGES.iter().filter(|(names, name, _)| names.contains(&spec.name) && is_attribute(spec, name));
        places.extend(rows.filter_map(|(_, name, wrong)| Some((node, wrong.attribute(name, first.rank())?))));
    }
    let (node, attribute) = site.choose(places)?;
    let what = format!("attribute `{}` of {} is out of range", attribute.name(), site.label(node));
    let all = &mut site.node(node).attribute;
    match all.iter_mut().find(|a| a.name == attribute.name) {
        Some(was) => *was = attribute,
        None => all.push(attribute),
    }
    Some(edit(site.graph.node[node].name(), what))
}
