//! Rules about attributes.

use ir::Type;
use ops::Spec;
use ops::schema::{self, Absence};
use ops::spec::Place;

use super::site::{Edit, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "missing-attribute",
        clause: "attributes that the operator requires are there",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["it must be there"],
        edit: missing_attribute,
    },
    Rule {
        name: "unknown-attribute",
        clause: "a node has no attribute that its operator lacks",
        scope: Scope::Model,
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
        scope: Scope::Model,
        source: Source::Ir("Nodes"),
        checker: Checker::Refuses,
        says: &["given twice"],
        edit: duplicate_attribute,
    },
    Rule {
        name: "attribute-type",
        clause: "an attribute has the type that the schema states",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["must be"],
        edit: attribute_type,
    },
    Rule {
        name: "attribute-range",
        clause: "an attribute has one of the values that the operator is defined for",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Partly(
            "not names (`direction`, `mode`, `padding_mode`, `reduction`, `approximate` and mostly `auto_pad`), some of `kernel_shape` of Conv and ConvTranspose, the `group` of Conv, the `axis` and the `block_size` of DequantizeLinear and QuantizeLinear, `num_groups`, `p`, `size`, the axes of ReverseSequence, and the `axis` of GatherElements, LpNormalization, RMSNormalization, ScatterElements and mostly LayerNormalization",
        ),
        says: &[
            "attribute `",
            "is outside of rank",
            "must not exceed",
            "must equal",
            "must have",
            "entries instead of",
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

fn missing_attribute(site: &mut Site) -> Option<Edit> {
    let is_required = |&(node, position): &(usize, usize)| {
        let proto = &site.graph.node[node];
        let schema = schema::in_force(proto.op_type(), site.opset);
        let mut known = schema.into_iter().flat_map(|schema| &schema.attributes);
        known.any(|a| a.name == proto.attribute[position].name() && a.absence == Absence::Forbidden)
    };
    let required = attributes(site).into_iter().filter(is_required).collect();
    let (node, position) = site.choose(required)?;
    let gone = site.node(node).attribute.remove(position);
    Some(edit(site.graph.node[node].name(), format!("{} has no `{}`", site.label(node), gone.name())))
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
    /// An axis that operand 0 lacks, where operand 1 is a list along an axis.
    AxisOfList,
    /// A list of such an axis.
    Axes,
    /// A permutation that has 0 twice.
    Permutation,
    /// A permutation of one axis more than there are.
    LongPermutation,
    /// This number.
    Number(i64),
    /// This number for each spatial dimension.
    Spatial(i64),
    /// As many numbers as there are spatial dimensions, and one more.
    LongSpatial,
    /// -1 for both ends of each spatial dimension.
    Pads,
    /// 1 for both ends of each spatial dimension, and one more.
    LongPads,
    /// The kernel's shape, but one more on each axis than the weights, operand 1, have.
    OtherKernel,
    /// A name that no operator knows.
    Name,
}

use Wrong::{
    Axes, AxisBefore, AxisBeyond, AxisOfList, LongPads, LongPermutation, LongSpatial, Name, Number,
    OtherKernel, Pads, Permutation, Spatial,
};

impl Wrong {
    /// The attribute for operands of these types; `None` where every value is in range.
    fn attribute(self, name: &str, operands: &[Type]) -> Option<AttributeProto> {
        let rank = operands.first()?.rank();
        let beyond = rank as i64 + 2;
        let spatial = rank.checked_sub(2).filter(|&axes| axes > 0);
        match self {
            AxisBeyond => Some(int(name, beyond)),
            AxisBefore => Some(int(name, -beyond)),
            AxisOfList => (operands.get(1)?.rank() == 1).then(|| int(name, beyond)),
            Axes => Some(ints(name, vec![beyond])),
            Permutation => (rank > 1).then(|| ints(name, vec![0; rank])),
            LongPermutation => Some(ints(name, (0..=rank as i64).collect())),
            Number(value) => Some(int(name, value)),
            Spatial(value) => Some(ints(name, vec![value; spatial?])),
            LongSpatial => Some(ints(name, vec![1; spatial? + 1])),
            Pads => Some(ints(name, vec![-1; 2 * spatial?])),
            LongPads => Some(ints(name, vec![1; 2 * spatial? + 1])),
            OtherKernel => {
                let kernel = operands.get(1)?.shape.get(2..).filter(|kernel| !kernel.is_empty())?;
                Some(ints(name, kernel.iter().map(|size| size + 1).collect()))
            }
            Name => Some(string(name, "ONNXSMITH")),
        }
    }
}

/// Pools that slide a kernel.
const POOLS: &[&str] = &["AveragePool", "LpPool", "MaxPool"];

/// Convolutions and such pools.
const WINDOWS: &[&str] = &["AveragePool", "Conv", "LpPool", "MaxPool"];

/// What may be out of range, by operator and attribute.
///
/// Of LRN a `size` of 0 is not among it: the text has a formula for that, which divides by 0.
const RANGES: &[(&[&str], &str, Wrong)] = &[
    (&["ArgMax", "ArgMin", "Concat", "Flatten", "Gather", "GatherElements", "Hardmax"], "axis", AxisBeyond),
    (
        &["LayerNormalization", "LogSoftmax", "LpNormalization", "OneHot", "RMSNormalization"],
        "axis",
        AxisBeyond,
    ),
    (&["Compress", "ScatterElements", "Softmax", "Split", "TopK"], "axis", AxisBeyond),
    (&["ArgMax", "ArgMin", "Concat", "Flatten", "Gather", "GatherElements", "Hardmax"], "axis", AxisBefore),
    (
        &["Compress", "LogSoftmax", "OneHot", "ScatterElements", "Softmax", "Split", "TopK"],
        "axis",
        AxisBefore,
    ),
    (&["LayerNormalization", "LpNormalization", "RMSNormalization"], "axis", AxisBefore),
    (&["DequantizeLinear", "QuantizeLinear"], "axis", AxisOfList),
    (&["DequantizeLinear", "QuantizeLinear"], "block_size", Number(-1)),
    (&["GatherND"], "batch_dims", AxisBeyond),
    (&["GatherND"], "batch_dims", Number(-1)),
    (&["ReverseSequence"], "batch_axis", Number(2)),
    (&["ReverseSequence"], "time_axis", Number(2)),
    (&["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"], "axes", Axes),
    (&["MeanVarianceNormalization", "ReduceMin", "ReduceProd", "ReduceSumSquare"], "axes", Axes),
    (&["Transpose"], "perm", Permutation),
    (&["Transpose"], "perm", LongPermutation),
    (&["BitCast", "Cast"], "to", Number(0)),
    (&["Einsum"], "equation", Name),
    (&["Conv", "ConvTranspose"], "group", Number(0)),
    (&["Conv", "ConvTranspose"], "group", Number(-1)),
    (WINDOWS, "strides", Spatial(0)),
    (WINDOWS, "strides", LongSpatial),
    (WINDOWS, "dilations", Spatial(0)),
    (WINDOWS, "dilations", LongSpatial),
    (WINDOWS, "pads", Pads),
    (WINDOWS, "pads", LongPads),
    (WINDOWS, "auto_pad", Name),
    (&["ConvTranspose"], "strides", Spatial(0)),
    (&["ConvTranspose"], "strides", LongSpatial),
    (&["ConvTranspose"], "dilations", Spatial(0)),
    (&["ConvTranspose"], "dilations", LongSpatial),
    (&["ConvTranspose"], "auto_pad", Name),
    (POOLS, "kernel_shape", Spatial(0)),
    (POOLS, "kernel_shape", Spatial(-1)),
    (POOLS, "kernel_shape", LongSpatial),
    (&["Conv", "ConvTranspose"], "kernel_shape", OtherKernel),
    (&["Conv", "ConvTranspose"], "kernel_shape", Spatial(0)),
    (&["GroupNormalization"], "num_groups", Number(0)),
    (&["GroupNormalization"], "num_groups", Number(-1)),
    (&["LpNormalization"], "p", Number(3)),
    (&["LRN"], "size", Number(-1)),
    (&["DepthToSpace", "SpaceToDepth"], "blocksize", Number(0)),
    (&["DepthToSpace", "SpaceToDepth"], "blocksize", Number(-1)),
    (&["DepthToSpace", "GridSample", "Pad", "SpaceToDepth"], "mode", Name),
    (&["GridSample"], "padding_mode", Name),
    (&["ScatterElements", "ScatterND"], "reduction", Name),
    (&["BitShift"], "direction", Name),
    (&["Gelu"], "approximate", Name),
];

fn attribute_range(site: &mut Site) -> Option<Edit> {
    let opset = site.opset;
    let is_attribute = |spec: &Spec, name| spec.place(name, opset) == Place::Attribute;
    let mut places = Vec::new();
    for (node, spec) in site.operators() {
        let operands: Vec<Type> = site.operands_of(node).into_iter().map(|(_, ty)| ty).collect();
        let rows =
            RANGES.iter().filter(|(names, name, _)| names.contains(&spec.name) && is_attribute(spec, name));
        places.extend(rows.filter_map(|(_, name, wrong)| Some((node, wrong.attribute(name, &operands)?))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_about_an_attribute_that_there_is() {
        for (operators, name, _) in RANGES {
            for operator in *operators {
                let is_there = |opset| {
                    let known = schema::in_force(operator, opset).into_iter().flat_map(|s| &s.attributes);
                    known.map(|a| a.name).any(|known| known == *name)
                };
                assert!(ops::find(operator).is_some(), "there is no {operator}");
                assert!(ir::graph::OPSETS.into_iter().any(is_there), "{operator}: {name}");
            }
        }
    }
}
