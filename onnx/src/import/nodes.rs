//! The nodes of a program by kind: what adds which.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::allowed_types::Definition;
use super::context::domain;
use super::frame::Bound;
use super::translation::{SourceNode, Translation};
use super::walk::Walk;
use super::{
    attention, attribute, control, decoding, filled, function, grams, grid, integral, learning, losses,
    microsoft, old, opaque, operator, placed, random, recurrent, resize, sampled, sequence, signal,
    signature, strings, suppressed, training, unique,
};
use crate::Error;
use crate::names;
use crate::program::Node;
use crate::proto::AttributeProto;

/// Why an operator of a domain is not known.
const FOREIGN: &str = "only ONNX's default domain, some of its others and functions of the model are known";

/// Adds a node.
pub(super) fn step<'p>(walk: &mut Walk<'p, '_>, node: &'p Node) -> Result<(), Error> {
    let resolved = resolve(walk, node)?;
    let attributes: Vec<&AttributeProto> = resolved.iter().map(AsRef::as_ref).collect();
    if let Some(function) = walk.context.functions.find(node) {
        return function::call(walk, node, function, &attributes);
    }
    // What this program lacks, it lacks however it is written.
    let is_known = knows(domain(node.rest.domain()), node.rest.op_type());
    if walk.context.declared == 0 || is_known {
        signature::check_node(node, &walk.context.functions, walk.context.declared)?;
    }
    let definition = if is_known { Definition::of(node, walk.context)? } else { None };
    if let Some(definition) = definition.filter(|definition| definition.domain.is_some()) {
        signature::check_in_domain(node, definition.schema)?;
    }
    definition.map_or(Ok(()), |definition| definition.check_operands(walk, node))?;
    add(walk, node, &attributes)?;
    definition.map_or(Ok(()), |definition| definition.check_results(walk, node))
}

/// Adds what a node that is no call of a function is read as.
fn add<'p>(walk: &mut Walk<'p, '_>, node: &'p Node, attributes: &[&AttributeProto]) -> Result<(), Error> {
    match (domain(node.rest.domain()), node.rest.op_type(), walk.context.declared) {
        ("", "Constant", _) => constant(walk, node, attributes),
        ("", "Identity", _) if is_alias(walk, node) => alias(walk, node),
        ("", op_type, _) if strings::takes(walk, node, op_type) => {
            let source = SourceNode { node, attributes };
            walk.context.is_written_out = true;
            walk.written_out(node, |walk| strings::apply(walk, &source))
        }
        ("", op_type, declared) => match old::translation(op_type, declared).or_else(|| translation(op_type))
        {
            Some(form) => {
                let source = SourceNode { node, attributes };
                walk.context.is_written_out = true;
                // What is an operator of ours in another opset, or runs bodies, has the same nodes in the program.
                let is_inner = ops::find(op_type).is_none() && node.bodies().next().is_none();
                if is_inner {
                    walk.written_out(node, |walk| form(walk, &source))
                } else {
                    form(walk, &source)
                }
            }
            None => operator::read(walk, node, attributes),
        },
        (domain, op_type, _) => {
            let source = SourceNode { node, attributes };
            match other(domain).map(|translations| translations(op_type)) {
                Some(Some(form)) => {
                    walk.context.is_written_out = true;
                    walk.written_out(node, |walk| form(walk, &source))
                }
                Some(None) => {
                    walk.written_out(node, |walk| opaque::stand_in(walk, &source, lacking(op_type)))
                }
                None => walk.written_out(node, |walk| opaque::stand_in(walk, &source, FOREIGN)),
            }
        }
    }
}

/// Why an operator of a domain is not read of which others are.
fn lacking(op_type: &str) -> &'static str {
    match op_type {
        "ZipMap" => {
            "it makes maps, of which nothing can be compared (skl2onnx exports a classifier without it, given \
             `options={'zipmap': False}`)"
        }
        "SVMClassifier" => "the standard does not say what becomes of the votes of pairs",
        _ => "this program does not have it",
    }
}

fn constant<'p>(
    walk: &mut Walk<'p, '_>,
    node: &'p Node,
    attributes: &[&AttributeProto],
) -> Result<(), Error> {
    let [Some(output)] = node.outputs[..] else {
        return Err(Error::invalid("outputs", "Constant has one"));
    };
    if !node.inputs.is_empty() {
        return Err(Error::invalid("inputs", "Constant has none"));
    }
    if let Some(there) = walk.frame.constants.get(&output).cloned() {
        return walk.define(output, there);
    }
    if let Some(texts) = strings::of_constant(attributes, walk.context.options.external)? {
        return strings::constant(walk, output, texts);
    }
    let tensor = attribute::constant(attributes, walk.context.options.external)?;
    walk.constant(output, tensor, names::position(node.rest.name(), 'n'))
}

/// The node's attributes. An attribute that refers to one of the function's gets the value from the call.
fn resolve<'p>(walk: &Walk<'p, '_>, node: &'p Node) -> Result<Vec<Cow<'p, AttributeProto>>, Error> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::with_capacity(node.attributes.len());
    for attribute in &node.attributes {
        let proto = &attribute.rest;
        let what = || format!("attribute `{}`", proto.name());
        if !seen.insert(proto.name()) {
            return Err(Error::invalid(what(), "it is given twice"));
        }
        if proto.ref_attr_name().is_empty() {
            all.push(Cow::Borrowed(proto));
            continue;
        }
        let Some(bound) = &walk.frame.attributes else {
            return Err(Error::invalid(what(), "it refers to an attribute of a function, outside of one"));
        };
        // An attribute that the call leaves out is left out here too.
        if let Some(value) = bound.get(proto.ref_attr_name()) {
            if value.r#type() != proto.r#type() {
                return Err(Error::invalid(what(), "the attribute it refers to has another type"));
            }
            all.push(Cow::Owned(AttributeProto { name: proto.name.clone(), ..value.clone() }));
        }
    }
    Ok(all)
}

/// The groups of operators that are written out in others.
const TRANSLATIONS: &[Translations] = &[
    control::translation,
    sequence::translation,
    filled::translation,
    recurrent::translation,
    resize::translation,
    losses::translation,
    attention::translation,
    decoding::translation,
    integral::translation,
    placed::translation,
    signal::translation,
    grid::translation,
    unique::translation,
    grams::translation,
    suppressed::translation,
    sampled::translation,
    strings::translation,
    random::translation,
    microsoft::in_default_domain,
];

/// What adds an operator of that name, if it is written out in others: it holds bodies, handles sequences, fills a tensor or goes
/// step by step.
fn translation(op_type: &str) -> Option<Translation> {
    TRANSLATIONS.iter().find_map(|translations| translations(op_type))
}

/// What adds the operators of a group, by their names.
type Translations = fn(&str) -> Option<Translation>;

/// ONNX's other domains and those of runtimes, each with what adds its operators.
const OTHERS: &[(&str, Translations)] = &[
    (learning::DOMAIN, learning::translation),
    (training::DOMAIN, training::translation),
    (attention::flexible::DOMAIN, attention::flexible::translation),
    (microsoft::DOMAIN, microsoft::translation),
];

fn other(domain: &str) -> Option<Translations> {
    OTHERS.iter().find(|(name, _)| *name == domain).map(|&(_, translations)| translations)
}

/// Whether an operator of that name in a domain is written out in others.
pub(super) fn is_written_out(domain: &str, op_type: &str) -> bool {
    let translations = if domain.is_empty() { Some(translation as Translations) } else { other(domain) };
    translations.is_some_and(|translations| translations(op_type).is_some())
}

/// Whether an operator of a domain is read in some opset.
pub(super) fn knows(domain: &str, op_type: &str) -> bool {
    let is_operator = || op_type == "Constant" || ops::find(op_type).is_some();
    is_written_out(domain, op_type) || domain.is_empty() && is_operator()
}

/// Whether this Identity only gives a value a further name: because this program made it so, or because there is no
/// tensor.
fn is_alias(walk: &Walk<'_, '_>, node: &Node) -> bool {
    let ([Some(of)], [Some(_)]) = (&node.inputs[..], &node.outputs[..]) else { return false };
    let is_ours = node.attributes.is_empty() && names::is_alias(node.rest.name());
    is_ours || matches!(walk.frame.get(*of), Ok(Bound::Sequence(_) | Bound::Nothing(_) | Bound::Strings(_)))
}

/// Another name for a value.
fn alias<'p>(walk: &mut Walk<'p, '_>, node: &'p Node) -> Result<(), Error> {
    let of = node.inputs[0].ok_or_else(|| Error::invalid("operand 0", "Identity must have one"))?;
    let name = node.outputs[0].ok_or_else(|| Error::invalid("outputs", "Identity has one"))?;
    let bound = walk.frame.get(of)?.clone();
    walk.define(name, bound)
}
