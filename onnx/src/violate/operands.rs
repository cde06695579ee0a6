//! Rules about how many operands and results a node has, and the types of operands.
//!
//! Which operators tie which operands together stands here once more, from the operators' schemas: with the type
//! rules of `ops` as the source, a mistake in them would break and hide the same rule.

use ir::{DTypes, Type};
use ops::Spec;
use ops::spec::Arity;

use super::site::{self, Edit, NEW, Operand, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::names::static_slots;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "missing-input",
        clause: "operands that the operator requires are there",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["is missing", "it must be there"],
        edit: missing_input,
    },
    Rule {
        name: "extra-input",
        clause: "an operator has no more operands than its schema",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["at most"],
        edit: extra_input,
    },
    Rule {
        name: "extra-output",
        clause: "an operator has no more outputs than its schema",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Refuses,
        says: &["are named, but there"],
        edit: extra_output,
    },
    Rule {
        name: "operand-dtype",
        clause: "an operand has one of the element types that the schema allows",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Infers,
        says: &["must be one of", "operands must have one dtype"],
        edit: operand_dtype,
    },
    Rule {
        name: "mixed-dtypes",
        clause: "operands that share a type variable have one element type",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Infers,
        says: &["operands must have one dtype"],
        edit: mixed_dtypes,
    },
    Rule {
        name: "operand-rank",
        clause: "an operand has the rank that the operator is defined for",
        scope: Scope::Operator,
        source: Source::Schemas,
        checker: Checker::Partly(
            "not for InstanceNormalization, the weights of a Conv with `kernel_shape`, and some of BatchNormalization",
        ),
        says: &["rank", "must equal"],
        edit: operand_rank,
    },
    Rule {
        name: "broken-broadcast",
        clause: "sizes that broadcast are equal, or one of them is 1",
        scope: Scope::Operator,
        source: Source::Broadcasting,
        checker: Checker::Partly("not for PRelu, whose slope it does not look at"),
        says: &["do not broadcast", "must equal"],
        edit: broken_broadcast,
    },
];

/// How many operands an operator has in an opset, including those that are attributes here.
fn positions(spec: &Spec, opset: u32) -> usize {
    let data = spec.inputs.iter().filter(|port| ops::spec::at(&port.types, opset).is_some()).count();
    data + static_slots(spec, opset).len()
}

/// An operand goes that must be there, data or a parameter; the first, perhaps with all others.
fn missing_input(site: &mut Site) -> Option<Edit> {
    let is_required = |(operand, spec): &(Operand, &'static Spec)| {
        spec.port(operand.port).is_some_and(|port| match port.arity {
            Arity::One => true,
            Arity::Optional => false,
            Arity::Variadic => operand.port == 0,
        })
    };
    let data = site.operands().into_iter().filter(is_required).map(|(o, _)| (o.node, o.position));
    let parameters = site.parameters().into_iter().filter(|parameter| parameter.is_required);
    let places = data.chain(parameters.map(|parameter| (parameter.node, parameter.position)));
    let (node, position) = site.choose(places.collect())?;
    let all = position == 0 && site.coin();
    let inputs = &mut site.node(node).input;
    if all || position + 1 == inputs.len() {
        inputs.truncate(position);
    } else {
        inputs[position].clear();
    }
    Some(edit(site.graph.node[node].name(), format!("{} has no operand {position}", site.label(node))))
}

fn extra_input(site: &mut Site) -> Option<Edit> {
    let is_open = |spec: &Spec| spec.inputs.last().is_some_and(|port| port.arity == Arity::Variadic);
    let nodes = site.operators().into_iter().filter(|(_, spec)| !is_open(spec));
    let (node, spec) = site.choose(nodes.collect())?;
    let most = positions(spec, site.opset);
    let extra = site.graph.node[node].input.iter().find(|name| !name.is_empty())?.clone();
    let inputs = &mut site.node(node).input;
    inputs.resize(most, String::new());
    inputs.push(extra);
    Some(edit(site.graph.node[node].name(), format!("{} has {} operands", site.label(node), most + 1)))
}

/// Operators with more outputs in ONNX than they have here, or with any number of them.
const OPEN_OUTPUTS: &[&str] = &["BatchNormalization", "LayerNormalization", "Split"];

fn extra_output(site: &mut Site) -> Option<Edit> {
    let nodes = site.operators().into_iter().filter(|(_, spec)| !OPEN_OUTPUTS.contains(&spec.name));
    let (node, spec) = site.choose(nodes.collect())?;
    let outputs = &mut site.node(node).output;
    outputs.resize(spec.outputs.len(), String::new());
    outputs.push(NEW.to_owned());
    Some(edit(site.graph.node[node].name(), format!("{} gives `{NEW}` as well", site.label(node))))
}

fn operand_dtype(site: &mut Site) -> Option<Edit> {
    let opset = site.opset;
    let forbidden = |(operand, spec): &(Operand, &'static Spec)| {
        DTypes::IR4.difference(site::allowed(spec, *operand, opset)).iter().collect::<Vec<_>>()
    };
    let places = site.operands().into_iter().map(|place| (place.0, forbidden(&place)));
    let (operand, dtypes) = site.choose(places.filter(|(_, dtypes)| !dtypes.is_empty()).collect())?;
    let dtype = site.choose(dtypes)?;
    let shape = site.operand_type(operand)?.shape.clone();
    Some(site.retype(operand, &Type::new(dtype, shape)))
}

/// Operators all of whose operands broadcast together.
const BROADCASTING: &[&str] = &[
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "PRelu",
    "Pow",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

/// Operators of which the operands from a position on share a type variable.
const TIED: &[(&str, usize)] = &[
    ("Add", 0),
    ("BitwiseAnd", 0),
    ("BitwiseOr", 0),
    ("BitwiseXor", 0),
    ("Clip", 0),
    ("Concat", 0),
    ("Conv", 0),
    ("Div", 0),
    ("Equal", 0),
    ("Gemm", 0),
    ("Greater", 0),
    ("GreaterOrEqual", 0),
    ("InstanceNormalization", 0),
    ("Less", 0),
    ("LessOrEqual", 0),
    ("MatMul", 0),
    ("Max", 0),
    ("Mean", 0),
    ("Min", 0),
    ("Mod", 0),
    ("Mul", 0),
    ("PRelu", 0),
    ("Sub", 0),
    ("Sum", 0),
    ("Where", 1),
];

fn mixed_dtypes(site: &mut Site) -> Option<Edit> {
    let mut places = Vec::new();
    for (node, spec) in site.operators() {
        let Some((_, from)) = TIED.iter().find(|(name, _)| *name == spec.name) else { continue };
        let tied: Vec<_> = site.operands_of(node).into_iter().filter(|(o, _)| o.port >= *from).collect();
        if tied.len() > 1 {
            places.extend(tied.into_iter().map(|(operand, ty)| (operand, ty, spec)));
        }
    }
    let (operand, ty, spec) = site.choose(places)?;
    let others = spec.input_types(operand.port, site.opset).without(ty.dtype);
    let dtype = site.choose(others.iter().collect())?;
    Some(site.retype(operand, &Type::new(dtype, ty.shape)))
}

/// A rank that an operand must not have.
#[derive(Clone, Copy)]
enum WrongRank {
    /// One more than it has.
    OneMore,
    /// None at all.
    Scalar,
}

use WrongRank::{OneMore, Scalar};

/// Ports whose rank the operator fixes, ties to that of another operand, or bounds from below.
const RANKS: &[(&str, usize, WrongRank)] = &[
    ("BatchNormalization", 1, OneMore),
    ("BatchNormalization", 2, OneMore),
    ("BatchNormalization", 3, OneMore),
    ("BatchNormalization", 4, OneMore),
    ("Concat", 0, OneMore),
    ("Concat", 1, OneMore),
    ("Conv", 1, OneMore),
    ("DepthToSpace", 0, OneMore),
    ("EyeLike", 0, OneMore),
    ("GatherElements", 1, OneMore),
    ("Gemm", 0, OneMore),
    ("Gemm", 1, OneMore),
    ("InstanceNormalization", 1, OneMore),
    ("InstanceNormalization", 2, OneMore),
    ("MatMul", 0, Scalar),
    ("MatMul", 1, Scalar),
    ("ReverseSequence", 0, Scalar),
    ("ReverseSequence", 1, OneMore),
    ("SpaceToDepth", 0, OneMore),
    ("TopK", 0, Scalar),
    ("Trilu", 0, Scalar),
];

fn operand_rank(site: &mut Site) -> Option<Edit> {
    let wrong = |(operand, spec): (Operand, &'static Spec)| {
        let row = RANKS.iter().find(|(name, port, _)| (*name, *port) == (spec.name, operand.port))?;
        // A tensor that is concatenated with nothing may have any rank.
        if spec.name == "Concat" && site.operands_of(operand.node).len() < 2 {
            return None;
        }
        let mut ty = site.operand_type(operand)?.clone();
        match row.2 {
            OneMore => ty.shape.push(1),
            Scalar => ty.shape.clear(),
        }
        Some((operand, ty))
    };
    let places = site.operands().into_iter().filter_map(wrong).collect();
    let (operand, ty) = site.choose(places)?;
    Some(site.retype(operand, &ty))
}

/// An operand that broadcasts with another gets a size that does not.
fn broken_broadcast(site: &mut Site) -> Option<Edit> {
    let mut places = Vec::new();
    for (node, spec) in site.operators().into_iter().filter(|(_, s)| BROADCASTING.contains(&s.name)) {
        let operands = site.operands_of(node);
        for (i, (operand, ty)) in operands.iter().enumerate() {
            // A slope of PRelu broadcasts to X, so it is the slope that is wrong.
            let others =
                operands.iter().enumerate().filter(|&(j, _)| j != i && (spec.name != "PRelu" || i == 1));
            for (_, (_, other)) in others {
                let axes = (0..other.rank()).filter(|&axis| other.shape[axis] > 1);
                places.extend(axes.map(|axis| {
                    let mut shape = other.shape.clone();
                    shape[axis] += 1;
                    (*operand, Type::new(ty.dtype, shape))
                }));
            }
        }
    }
    let (operand, ty) = site.choose(places)?;
    Some(site.retype(operand, &ty))
}
