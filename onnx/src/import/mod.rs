//! A model of any tool → [`ops::Model`]: flat, every type concrete, for the inputs at hand.
//!
//! A [`Program`] holds sizes that are names, shapes that are computed, branches and loops. [`specialise`] walks over it with
//! the values of its inputs and writes out what they lead to: the side that an If takes, the iterations of a Loop, an
//! attribute in place of a computed shape. Only what such decisions read is computed, by an [`Evaluator`]. A node that was
//! read from values that depend on the inputs is given those ([`ir::Node::given`]): the graph holds for inputs that lead
//! the same way.
//!
//! | module | holds |
//! |---|---|
//! | `standard` | what ONNX has, so that what is broken is told from what is not supported |
//! | `signature` | what nodes look like, wherever they are |
//! | `context` | what all parts of a model have in common while it is read |
//! | `frame` | what the values of a scope stand for |
//! | `walk` | walking over a program, and the graph that is made |
//! | `nodes` | the nodes by kind |
//! | `operator` | one operator |
//! | `allowed_types` | the dtypes that its definition in the model's opset takes |
//! | `function` | functions, typed for each use or written out |
//! | `old` | definitions of opsets before 13 |
//! | `translation`, `control`, `sequence`, `filled`, `recurrent`, `resize` | branches, loops, sequences, optionals, filled tensors, recurrent networks and what resizes, written out |
//! | `opaque` | operators that nobody here knows: numbers stand for what they give |
//! | `attention` | queries, keys and values, written out |
//! | `decoding` | what else language models decode with, written out |
//! | `integral` | products of integers, written out |
//! | `placed` | elements that get another place, written out |
//! | `signal` | Fourier transforms and windows, written out |
//! | `grid` | grids of positions, written out |
//! | `unique` | what is there once or more, written out |
//! | `random` | what is drawn at random, written out |
//! | `grams` | n-grams that are counted, written out |
//! | `sampled` | samples between elements, written out |
//! | `strings` | tensors of strings, which are lists of bytes, and what is read from them |
//! | `suppressed` | boxes that are selected, written out |
//! | `losses` | losses of a classifier, written out |
//! | `activation` | functions that nodes apply to sums of their own |
//! | `terms`, `given` | what operators are written out with: operands, constants and operators of ours, and attributes |
//! | `learning` | the operators of `ai.onnx.ml`, written out |
//! | `training` | those of `ai.onnx.preview.training`, written out |
//! | `microsoft` | operators of ONNX Runtime's own, `com.microsoft`, written out |
//! | `read` | reading from values |
//! | `known` | values that are known before the model is run |
//! | `origin` | which node of the program a node of the graph comes from |
//! | `idle` | which bodies did not run for the inputs at hand |
//! | `declared` | what the model says about types |
//! | `entrance` | the inputs and outputs of the model, made of tensors |
//! | `inputs` | what it says about its inputs before any of them is known |
//! | `attribute` | attribute values |
//! | `order` | the positions of nodes, where the model is one of ours |
//!
//! A model is untrusted: every error is a value, nothing is allocated that the size of the file does not bound, nesting,
//! iterations and what is computed are limited. [`Error::Invalid`] means that the model breaks ONNX's rules,
//! [`Error::Unsupported`] that it uses what this program does not have; both name the node or value.
//!
//! Where ONNX has operands that this program has as attributes (the `shape` of Reshape), their values must be known:
//! from an initializer, from a Constant node, computed from known values, or from the caller
//! ([`Options::known_inputs`]). An initializer that is only used so is no constant of the result.

mod activation;
mod allowed_types;
mod attention;
mod attribute;
mod context;
mod control;
mod declared;
mod decoding;
mod entrance;
mod filled;
mod frame;
mod function;
mod given;
mod grams;
mod grid;
mod idle;
mod inputs;
mod integral;
mod known;
mod learning;
mod losses;
mod microsoft;
mod nodes;
mod old;
mod opaque;
mod operator;
mod order;
mod origin;
mod placed;
mod random;
mod read;
mod recurrent;
mod resize;
mod sampled;
mod sequence;
mod signal;
mod signature;
mod standard;
mod strings;
mod suppressed;
mod terms;
mod training;
mod translation;
mod unique;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use ir::validate::{Fault, Invalid};
use ir::{DType, Datum, DatumKind, Interface, NodeId, NodeKind, Tensor, Type};
use ops::{Model, Reject};

pub(crate) use context::domain;
pub use context::{Evaluator, Reference};
pub use declared::Size;
pub use idle::{Idle, idle};
pub use inputs::{InputType, inputs};
pub use opaque::Unknown;
pub use origin::{Inside, Origin, Path, Within};
pub use random::{draws, draws_anew};

use crate::Error;
use crate::external::External;
use crate::names::PRODUCER;
use crate::program::{Body, Program, ValueId};
use crate::proto::{ModelProto, ValueInfoProto};

/// Values of a model's inputs, by name.
pub trait KnownInputs {
    /// The value of an input, if it is known.
    fn known(&self, input: &str) -> Option<Datum<&Tensor>>;
}

impl KnownInputs for BTreeMap<String, Datum> {
    fn known(&self, input: &str) -> Option<Datum<&Tensor>> {
        self.get(input).map(Datum::as_ref)
    }
}

impl KnownInputs for BTreeMap<&str, Datum<&Tensor>> {
    fn known(&self, input: &str) -> Option<Datum<&Tensor>> {
        self.get(input).cloned()
    }
}

/// What may help to read a model.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Values of the model's inputs. They settle sizes that the model leaves open, and operands that this program has as
    /// attributes; then the result is good for these values only. A sequence or an optional must be known.
    pub known_inputs: &'a dyn KnownInputs,
    /// Where tensor data outside the model may lie.
    pub external: External<'a>,
    /// What computes the values that something is read from.
    pub evaluator: &'a dyn Evaluator,
    /// What is done about operators that nobody here knows.
    pub unknown: Unknown,
    /// What becomes of calls of the model's functions.
    pub calls: Calls,
}

/// What becomes of calls of functions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Calls {
    /// A call is a node, unless what it calls can only be written out.
    #[default]
    Kept,
    /// The nodes of the function stand in place of each call, so that each has an origin.
    WrittenOut,
}

impl Default for Options<'_> {
    fn default() -> Self {
        static NONE: BTreeMap<String, Datum> = BTreeMap::new();
        Self {
            known_inputs: &NONE,
            external: External::Refuse,
            evaluator: &Reference,
            unknown: Unknown::Refuse,
            calls: Calls::default(),
        }
    }
}

/// The names of the attributes that an operator of ONNX's default domain has in any opset from 13 on.
pub fn attributes(operator: &str) -> BTreeSet<&'static str> {
    standard::attributes(operator)
}

/// Whether an operator of a domain (empty is ONNX's default one) is read, in some opset at least.
pub fn knows(domain: &str, op_type: &str) -> bool {
    nodes::knows(domain, op_type)
}

/// The type that an entry declares, where it leaves nothing open.
pub fn declared_type(info: &ValueInfoProto) -> Option<Type> {
    declared::Declared::read(info.name(), info).ok()?.complete()
}

/// What an entry declares the value to be; `None` where it does not say. `what` names the value.
pub fn declared_kind(what: impl Into<String>, info: &ValueInfoProto) -> Result<Option<DatumKind>, Error> {
    declared::kind(what, info)
}

/// The element type that an entry declares, if it says one.
pub fn declared_dtype(info: &ValueInfoProto) -> Option<DType> {
    declared::Declared::read(info.name(), info).ok()?.dtype()
}

/// A model that was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// The model, valid.
    pub model: Model,
    /// How its variables and outputs make up the inputs and outputs of the program.
    pub interface: Interface,
    /// The opset the model declares, where the model above has the nearest one that this program knows.
    pub opset: u32,
    /// The graph inputs whose known values something was read from. They are inputs still.
    pub specialised: Vec<String>,
    /// For each node of the main graph, where it comes from.
    pub origins: Vec<Origin>,
    /// The bodies that were run, those of a loop as in its first turn. Functions whose calls are nodes are not among them.
    pub ran: BTreeSet<Path>,
    /// The operators that nobody here knows. Constants stand for their results, and nothing is said of what
    /// depends on those.
    pub unknown: BTreeSet<String>,
    /// Whether something was written out or read from values, or a size was not said: then the program says more than the
    /// model.
    pub is_specialised: bool,
}

impl Imported {
    /// The nodes of the main graph that the program does not have. They are the nodes that an operator is
    /// written out in, unless an output or another operator reads their results, and the constants that only
    /// such nodes read: these are to that operator what attributes are to others.
    pub fn unseen(&self) -> BTreeSet<NodeId> {
        let graph = &self.model.graph;
        // What outputs and nodes of the program read. Readers come last.
        let mut seen: BTreeSet<NodeId> = graph.outputs.iter().map(|output| output.value.node).collect();
        let mut unseen = BTreeSet::new();
        for (id, node) in graph.iter().rev() {
            let is_hidden = self.origins[id.index()].is_inner || matches!(node.kind, NodeKind::Constant(_));
            if is_hidden && !seen.contains(&id) {
                unseen.insert(id);
            } else if !self.origins[id.index()].is_inner {
                seen.extend(node.uses().map(|value| value.node));
            }
        }
        unseen
    }
}

/// The model of a message: [`specialise`] for its program. Whoever has no more use for the message reads the
/// [`Program`] from it, which then need not copy it.
pub fn import(proto: &ModelProto, options: &Options<'_>) -> Result<Imported, Error> {
    specialise(&Program::read(proto.clone())?, options)
}

/// What a program computes for the inputs at hand, as a flat model.
pub fn specialise(program: &Program, options: &Options<'_>) -> Result<Imported, Error> {
    let header = &program.rest;
    let body = &program.main.body;
    let imports = context::opsets(&header.opset_import)?;
    context::check_domains(&body.nodes, &imports)?;
    let declared = imports.get("").copied().unwrap_or_default();
    let opset = match imports.get("") {
        Some(&version) => standard::read_as(version)?,
        // Nothing of the default domain is used, or the node that does is at fault.
        None => *ir::graph::OPSETS.end(),
    };
    let mut context = context::Context {
        opset,
        declared: declared.clamp(0, i64::from(u32::MAX)) as u32,
        imports: imports.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect(),
        spelled: standard::spelled_as(opset, declared),
        ours: header.producer_name() == PRODUCER,
        options,
        functions: context::Functions::new(program, nodes::is_written_out)?,
        specialised: Vec::new(),
        unknown: BTreeSet::new(),
        ran: BTreeSet::new(),
        sizes: BTreeMap::new(),
        is_written_out: false,
        operations: known::MAX_OPERATIONS,
        iterations: context::MAX_ITERATIONS,
    };
    let frame = frame::Frame::new(&program.main, None, &context.functions, context.spelled)?;
    let mut walk = walk::Walk::new(&mut context, frame, nodes::step);
    let mut interface = Interface::default();
    entrance::inputs(&mut walk, body, &mut interface)?;
    walk.content(body)?;
    walk.leave();
    for port in &body.outputs {
        let made = entrance::output(&mut walk, port).map_err(|e| match giver(body, port.value) {
            Some(node) => e.inside(node),
            None => e,
        })?;
        interface.outputs.push(made);
    }
    let walk::Made { graph, origins } = walk.finish();
    signature::check(body, &context.functions, context.declared)?;
    signature::check_functions(&context.functions, context.declared)?;
    if context.ours && options.calls == Calls::Kept {
        function::uncalled(&mut context, nodes::step)?;
    }
    let model = function::finish(&mut context.functions, opset, graph);
    model.validate().map_err(|e| invalid(&model, &origins, program, &e))?;
    let is_specialised = context.is_written_out || !context.specialised.is_empty();
    let context::Context { specialised, unknown, ran, declared: opset, .. } = context;
    Ok(Imported { model, interface, opset, specialised, origins, ran, unknown, is_specialised })
}

/// Why a model that was read is not valid; the node at fault by the name that the program has for it.
fn invalid(model: &Model, origins: &[Origin], program: &Program, why: &Invalid<Reject>) -> Error {
    let Some((id, fault)) = why.node() else { return Error::invalid("model", why.to_string()) };
    let what = match &model.graph.node(id).kind {
        NodeKind::Variable { name } => format!("input `{name}`"),
        NodeKind::Constant(_) => "constant".to_owned(),
        NodeKind::Operator(_) | NodeKind::Call(_) => {
            origins[id.index()].label(program).unwrap_or_else(|| "node".to_owned())
        }
    };
    match fault {
        // ONNX knows no limit.
        Fault::Size { .. } | Fault::Dim { dim: 0.. } => Error::unsupported(what, fault.to_string()),
        _ => Error::invalid(what, fault.to_string()),
    }
}

/// The node that gives a value, if one does.
fn giver(body: &Body, value: ValueId) -> Option<String> {
    let position = body.nodes.iter().position(|node| node.outputs.contains(&Some(value)))?;
    Some(label(body, position))
}

fn label(body: &Body, position: usize) -> String {
    body.nodes[position].label(position)
}
