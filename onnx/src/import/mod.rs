//! `ModelProto` → [`ops::Model`], from any tool.
//!
//! | module | holds |
//! |---|---|
//! | `standard` | what ONNX has, so that what is broken is told from what is not supported |
//! | `declared` | what the model says about types |
//! | `attribute` | attribute values |
//! | `body` | the nodes of a graph or function |
//! | `uses` | what names are used for |
//! | `operator` | one operator |
//! | `function` | functions, typed for each use |
//! | `order` | the positions of nodes, where the model is one of ours |
//!
//! A model is untrusted: every error is a value, nothing is allocated that the size of the file does not bound, and
//! nesting is limited. [`Error::Invalid`] means that the model breaks ONNX's rules, [`Error::Unsupported`] that it
//! uses what this program does not have; both name the node or value.
//!
//! Where ONNX has operands that this program has as attributes (the `shape` of Reshape), their values must be known:
//! from an initializer, from a Constant node, computed from known values, or from the caller
//! ([`Options::known_inputs`]). An initializer that is only used so is no constant of the result.

mod attribute;
mod body;
mod declared;
mod function;
mod operator;
mod order;
mod standard;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use ir::{Tensor, Type};
use ops::Model;

use crate::Error;
use crate::external::External;
use crate::names::PRODUCER;
use crate::proto::{ModelProto, OperatorSetIdProto, ValueInfoProto};

/// The IR versions that can be read.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;

/// What may help to read a model.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Values of graph inputs. They settle sizes that the model leaves open, and operands that this program has as
    /// attributes; then the result is good for these values only.
    pub known_inputs: &'a BTreeMap<String, Tensor>,
    /// Where tensor data outside the model may lie.
    pub external: External<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        static NONE: BTreeMap<String, Tensor> = BTreeMap::new();
        Self { known_inputs: &NONE, external: External::Refuse }
    }
}

/// The names of the attributes that an operator of ONNX's default domain has in any opset from 13 on.
pub fn attributes(operator: &str) -> BTreeSet<&'static str> {
    standard::attributes(operator)
}

/// The type that an entry declares, where it leaves nothing open.
pub fn declared_type(info: &ValueInfoProto) -> Option<Type> {
    declared::Declared::read(info).ok()?.complete()
}

/// A model that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The model, valid.
    pub model: Model,
    /// The opset the model declares, where the model above has the nearest one that this program knows.
    pub opset: u32,
    /// The graph inputs whose known values have become attributes. They are inputs still, but their values no longer
    /// matter.
    pub specialised: Vec<String>,
}

/// The model of a message.
pub fn import(proto: &ModelProto, options: &Options<'_>) -> Result<Imported, Error> {
    match proto.ir_version {
        None => return Err(Error::invalid("model", "it has no ir_version")),
        Some(v) if v < 1 => return Err(Error::invalid("model", format!("its ir_version is {v}"))),
        Some(v) if !IR_VERSIONS.contains(&v) => {
            return Err(Error::unsupported("model", format!("its ir_version is {v}")));
        }
        Some(_) => {}
    }
    if !proto.training_info.is_empty() {
        return Err(Error::unsupported("training_info", "only inference is supported"));
    }
    let graph = proto.graph.as_ref().ok_or_else(|| Error::invalid("model", "it has no graph"))?;
    let imports = opsets(&proto.opset_import)?;
    body::check_domains(&graph.node, &imports)?;
    let declared = imports.get("").copied().unwrap_or_default();
    let opset = match imports.get("") {
        Some(&version) => standard::read_as(version)?,
        // Nothing of the default domain is used, or the node that does is at fault.
        None => *ir::graph::OPSETS.end(),
    };
    let mut context = Context {
        opset,
        declared: declared.clamp(0, i64::from(u32::MAX)) as u32,
        ours: proto.producer_name() == PRODUCER,
        options,
        functions: function::Functions::new(&proto.functions)?,
        specialised: Vec::new(),
    };
    let graph = body::graph(&mut context, graph)?;
    if context.ours {
        function::uncalled(&mut context)?;
    }
    let model = context.functions.finish(opset, graph);
    model.validate().map_err(|e| Error::invalid("model", e.to_string()))?;
    Ok(Imported { model, opset: context.declared, specialised: context.specialised })
}

/// What all parts of a model have in common while it is read.
struct Context<'p> {
    /// The opset of the result.
    opset: u32,
    /// The opset that the model declares; 0 if it declares none.
    declared: u32,
    /// Whether the model says that this program wrote it.
    ours: bool,
    options: &'p Options<'p>,
    functions: function::Functions<'p>,
    specialised: Vec<String>,
}

/// A domain by its one name: `ai.onnx` is another name of the default domain, the empty one.
pub(crate) fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// The version of each domain that is imported.
fn opsets(entries: &[OperatorSetIdProto]) -> Result<BTreeMap<&str, i64>, Error> {
    let mut all = BTreeMap::new();
    for entry in entries {
        let name = domain(entry.domain());
        if all.insert(name, entry.version()).is_some_and(|before| before != entry.version()) {
            return Err(Error::invalid("opset_import", format!("domain `{name}` has two versions")));
        }
    }
    Ok(all)
}
