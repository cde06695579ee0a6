//! Rules about what a graph relies on: opsets, domains, initializers, functions.

use ir::Type;
use ops::Spec;
use ops::spec::Place;

use super::site::{self, Edit, NEW, Operand, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::import::domain;
use crate::names::static_slots;
use crate::proto::{NodeProto, OperatorSetIdProto};
use crate::tensor;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unknown-operator",
        clause: "a node names an operator of its domain, or a function of the model",
        scope: Scope::Model,
        source: Source::Ir("Nodes"),
        checker: Checker::Refuses,
        says: &["ONNX has no such operator"],
        edit: unknown_operator,
    },
    Rule {
        name: "unknown-domain",
        clause: "the domain of every node is imported",
        scope: Scope::Model,
        source: Source::Ir("Operator Sets"),
        checker: Checker::Refuses,
        says: &["is not imported"],
        edit: unknown_domain,
    },
    Rule {
        name: "missing-opset",
        clause: "the model imports an opset of each domain that it uses, the default one included",
        scope: Scope::Model,
        source: Source::Proto("ModelProto.opset_import"),
        checker: Checker::Refuses,
        says: &["is not imported", "imports no opset"],
        edit: missing_opset,
    },
    Rule {
        name: "opset-too-old",
        clause: "operators, their operands and their element types are those of the opset that is imported",
        scope: Scope::Model,
        source: Source::Ir("Operator Sets"),
        checker: Checker::Infers,
        says: &["opset"],
        edit: opset_too_old,
    },
    Rule {
        name: "initializer-size",
        clause: "the data of a tensor has as many elements as its dims say",
        scope: Scope::Model,
        source: Source::Proto("TensorProto.raw_data"),
        checker: Checker::Partly("not if there are more data than the dims say"),
        says: &["bytes"],
        edit: initializer_size,
    },
    Rule {
        name: "duplicate-initializer",
        clause: "the names of initializers differ",
        scope: Scope::Model,
        source: Source::Proto("GraphProto.initializer"),
        checker: Checker::Refuses,
        says: &["two inputs, initializers or nodes give it"],
        edit: duplicate_initializer,
    },
    Rule {
        name: "call-inputs",
        clause: "a call of a function has no more operands than the function has parameters",
        scope: Scope::Model,
        source: Source::Ir("Functions"),
        checker: Checker::Blind("it does not count the operands of calls"),
        says: &["parameters and is called with"],
        edit: call_inputs,
    },
    Rule {
        name: "recursive-function",
        clause: "no function calls itself",
        scope: Scope::Model,
        source: Source::Proto("ModelProto.functions"),
        checker: Checker::Refuses,
        says: &["it calls itself"],
        edit: recursive_function,
    },
    Rule {
        name: "duplicate-function",
        clause: "domain, name and overload of functions differ",
        scope: Scope::Model,
        source: Source::Proto("ModelProto.functions"),
        checker: Checker::Refuses,
        says: &["it is defined twice"],
        edit: duplicate_function,
    },
];

fn unknown_operator(site: &mut Site) -> Option<Edit> {
    const NAME: &str = "OnnxsmithViolation";
    let nodes = site.operators().into_iter().map(|(node, _)| node);
    let node = site.choose(nodes.collect())?;
    let what = format!("{} is called {NAME}", site.label(node));
    site.node(node).op_type = Some(NAME.to_owned());
    Some(edit(NAME, what))
}

fn unknown_domain(site: &mut Site) -> Option<Edit> {
    let nodes = site.operators().into_iter().map(|(node, _)| node);
    let node = site.choose(nodes.collect())?;
    let what = format!("{} is of the domain `{NEW}`", site.label(node));
    site.node(node).domain = Some(NEW.to_owned());
    Some(edit(format!("`{NEW}`"), what))
}

fn missing_opset(site: &mut Site) -> Option<Edit> {
    let used = |d: &str| site.graph.node.iter().any(|n| domain(n.domain()) == domain(d));
    // With calls, the default domain may be used by functions alone, which import it themselves.
    let is_candidate = |d: &str| used(d) && (!domain(d).is_empty() || site.calls().is_empty());
    let entries = site.model.opset_import.iter().map(|entry| entry.domain().to_owned());
    let name = site.choose(entries.filter(|d| is_candidate(d)).collect())?;
    site.model.opset_import.retain(|entry| entry.domain() != name);
    let subject = if domain(&name).is_empty() { "default domain".to_owned() } else { format!("`{name}`") };
    let what = format!("no opset of {subject} is imported");
    Some(edit(subject, what))
}

/// The first opset from which on the node is written as it is.
fn written_since(site: &Site, node: usize, spec: &'static Spec) -> u32 {
    let proto = &site.graph.node[node];
    let (operands, length) = (site.operands_of(node), proto.input.len());
    let results = proto.output.iter().enumerate().filter_map(|(port, name)| Some((port, site.ty(name)?)));
    let results: Vec<_> = results.collect();
    let is_same = |opset: u32| {
        let takes = |(operand, ty): &(Operand, Type)| site::allowed(spec, *operand, opset).contains(ty.dtype);
        let gives = |(port, ty): &(usize, &Type)| site::given(spec, *port, opset).contains(ty.dtype);
        let typed = operands.iter().all(takes) && results.iter().all(gives);
        let now = static_slots(spec, site.opset).into_iter().filter(|&(slot, ..)| slot < length);
        let places = now.into_iter().all(|(_, name, place)| spec.place(name, opset) == place);
        let named = proto.attribute.iter().all(|a| spec.place(a.name(), opset) == Place::Attribute);
        spec.since() <= opset && typed && places && named
    };
    (*ir::graph::OPSETS.start()..=site.opset)
        .rev()
        .take_while(|&opset| is_same(opset))
        .last()
        .unwrap_or(site.opset)
}

/// Operators of which some uses came later than the form that they are written in, and the opset from which on every use is
/// there: beside the newest operator they would be refused as well.
const BY_USE: [(&str, u32); 9] = [
    ("AveragePool", 22),
    ("GridSample", 20),
    ("LpPool", 22),
    ("MaxPool", 22),
    ("Mod", 28),
    ("Pad", 19),
    ("QuantizeLinear", 23),
    ("ScatterElements", 18),
    ("ScatterND", 18),
];

/// Whether an operand has a dtype that the standard has in an opset, and we do not: import calls that unsupported.
fn is_lacking(site: &Site, node: usize, spec: &Spec, opset: u32) -> bool {
    let lacks = |(operand, ty): (Operand, Type)| {
        let ours = spec.input_types(operand.port, opset);
        !ours.contains(ty.dtype) && site::allowed(spec, operand, opset).contains(ty.dtype)
    };
    site.operands_of(node).into_iter().any(lacks)
}

/// An opset from before the form of the newest operator. Models with functions are left alone: each function has
/// opsets of its own.
fn opset_too_old(site: &mut Site) -> Option<Edit> {
    if !site.model.functions.is_empty() {
        return None;
    }
    let forms: Vec<_> =
        site.operators().into_iter().map(|(n, spec)| (n, written_since(site, n, spec))).collect();
    let since = forms.iter().map(|&(_, since)| since).max()?;
    let (node, _) = *forms.iter().find(|(_, s)| *s == since)?;
    let is_by_use = |&(other, _): &(usize, u32)| {
        let name = site.graph.node[other].op_type();
        other != node && BY_USE.iter().any(|&(by_use, all)| by_use == name && since <= all)
    };
    if forms.iter().any(is_by_use) {
        return None;
    }
    let opset = i64::from(since).checked_sub(1).filter(|&o| o >= i64::from(*ir::graph::OPSETS.start()))?;
    if site.operators().into_iter().any(|(other, spec)| is_lacking(site, other, spec, since - 1)) {
        return None;
    }
    let what = format!("the opset is {opset}, but {} is written as from {since} on", site.label(node));
    let is_default = |entry: &&mut OperatorSetIdProto| domain(entry.domain()).is_empty();
    site.model.opset_import.iter_mut().find(is_default)?.version = Some(opset);
    Some(edit(site.graph.node[node].name(), what))
}

fn initializer_size(site: &mut Site) -> Option<Edit> {
    let at = site.choose((0..site.graph.initializer.len()).collect())?;
    let longer = site.coin();
    let tensor = &mut site.graph.initializer[at];
    let name = tensor.name().to_owned();
    let size = tensor::dtype_of(tensor.data_type()).ok()?.whole_bytes();
    let mut bytes = tensor.raw_data().to_vec();
    // Empty data is no data, which is another rule.
    let is_longer = longer || bytes.len() <= size;
    bytes.resize(if is_longer { bytes.len() + size } else { bytes.len() - size }, 0);
    tensor.raw_data = Some(bytes.into());
    let change = if is_longer { "more" } else { "less" };
    Some(edit(format!("`{name}`"), format!("the data of `{name}` is one element {change} than its dims say")))
}

fn duplicate_initializer(site: &mut Site) -> Option<Edit> {
    let again = site.choose(site.graph.initializer.clone())?;
    let name = format!("`{}`", again.name());
    site.graph.initializer.push(again);
    Some(edit(&name, format!("there are two initializers {name}")))
}

fn call_inputs(site: &mut Site) -> Option<Edit> {
    let node = site.choose(site.calls())?;
    let known = site.graph.node[node].input.iter().find(|name| !name.is_empty()).cloned();
    let extra = known.or_else(|| site.graph.input.first().map(|i| i.name().to_owned()))?;
    let what = format!("{} has one operand more than the function has parameters", site.label(node));
    site.node(node).input.push(extra);
    Some(edit(site.graph.node[node].name(), what))
}

fn recursive_function(site: &mut Site) -> Option<Edit> {
    let call = site.choose(site.calls())?;
    let (domain, name) =
        (site.graph.node[call].domain().to_owned(), site.graph.node[call].op_type().to_owned());
    let function = site.model.functions.iter_mut().find(|f| (f.domain(), f.name()) == (&domain, &name))?;
    let outputs = (0..function.output.len()).map(|i| format!("{NEW}.{i}"));
    function.node.push(NodeProto {
        name: Some(NEW.to_owned()),
        op_type: Some(name.clone()),
        domain: Some(domain.clone()),
        input: function.input.clone(),
        output: outputs.collect(),
        ..Default::default()
    });
    if function.opset_import.iter().all(|entry| entry.domain() != domain) {
        function.opset_import.push(OperatorSetIdProto { domain: Some(domain), version: Some(1) });
    }
    Some(edit(format!("`{name}`"), format!("the function `{name}` calls itself")))
}

fn duplicate_function(site: &mut Site) -> Option<Edit> {
    let again = site.choose(site.model.functions.clone())?;
    let name = format!("`{}`", again.name());
    site.model.functions.push(again);
    Some(edit(&name, format!("there are two functions {name}")))
}
