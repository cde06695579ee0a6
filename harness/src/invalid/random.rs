//! Models drawn without constraints: operators with operands and attributes that know nothing of each other.
//!
//! Such models are the opposite of [`graphgen`]'s, which are always valid. Only what makes an ONNX model at all is
//! kept: names are given once and before they are used, and operators exist in the opset. A model has few nodes, so
//! that some are valid by chance.

use std::collections::BTreeSet;

use graphgen::Settings;
use ir::{DType, DTypes, Stream, Tensor, Type};
use onnx::export::value_info;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use onnx::{Error, import};
use ops::spec::{Arity, Place};
use ops::{Footprint, Model, Spec};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use super::{RANDOM, no_model, outputs};
use crate::case::{Case, CaseError, Maker, Values};
use crate::reference;
use crate::validity::{Expectation, Relaxed, Validity};

/// The most nodes.
const MAX_NODES: usize = 4;
/// The highest rank and the largest size of an input.
const MAX_RANK: usize = 4;
const MAX_DIM: i64 = 3;
/// The numbers in lists and attributes. They are small, so that no size which follows from them is large.
const LISTED: std::ops::RangeInclusive<i64> = -1..=2;
/// The IR version of the latest opset.
const IR_VERSION: i64 = 13;
/// How often an attribute is given, and how often it has a type that its name does not suggest.
const GIVEN: f64 = 0.4;
const OTHER_TYPE: f64 = 0.1;
/// How often an operator has as many operands as it can have.
const ALL_OPERANDS: f64 = 0.7;

/// A case whose model is drawn without constraints. Import says what is expected: valid, invalid, or beyond us.
pub(super) fn make(index: u64, settings: &Settings, stream: Stream) -> Result<Case, CaseError> {
    let mut model = draw(settings, stream.child("structure"));
    let inputs = inputs(&model, stream.child("values"));
    let read = import(&model, &import::Options::default());
    let valid = read.as_ref().ok().map(|imported| &imported.model);
    declare_outputs(&mut model, valid, stream.child("outputs"));
    let onnx = onnx::encode(&model);
    let mut case = Case {
        index,
        onnx: onnx.clone(),
        inputs,
        level: Validity::Random,
        ..Case::bare(no_model(settings.opset))
    };
    let (expected, why) = match read.map(|imported| imported.model) {
        Ok(model) if is_small(&model) => {
            case.footprint = Footprint::of(&model).unwrap_or_default();
            case.model = model;
            case = Maker::fill(case, &[], Values::Plain, stream.child("values"))?;
            return Ok(case);
        }
        Ok(_) => (Expectation::Survival, "it is too large for the reference".to_owned()),
        Err(e @ Error::Invalid { .. }) => (Expectation::Refusal, e.to_string()),
        Err(e) => (Expectation::Survival, e.to_string()),
    };
    let (level, rule) = (Validity::Random, RANDOM.to_owned());
    let outputs = outputs(&model, &case.model);
    case.relaxed = Some(Relaxed { level, rule, operator: None, expected, why, outputs, onnx });
    Ok(case)
}

/// Whether the search for values takes hardly any time.
fn is_small(model: &Model) -> bool {
    reference::affordable(model).is_ok_and(|spent| spent.operations <= 1 << 22 && spent.elements <= 1 << 18)
}

/// A model without the types of its outputs.
fn draw(settings: &Settings, stream: Stream) -> ModelProto {
    let rng = &mut stream.rng();
    let mut graph = GraphProto { name: Some("graph".to_owned()), ..Default::default() };
    let dtypes: Vec<DType> = settings.dtypes.iter().collect();
    let mut names = Vec::new();
    for i in 0..rng.random_range(1..=3) {
        let rank = rng.random_range(0..=MAX_RANK);
        let shape: Vec<i64> = (0..rank).map(|_| rng.random_range(1..=MAX_DIM)).collect();
        let dtype = *dtypes.choose(rng).unwrap_or(&DType::F32);
        names.push(format!("x{i}"));
        graph.input.push(value_info(&names[i], &Type::new(dtype, shape)));
    }
    for i in 0..2 {
        let length = rng.random_range(1..=MAX_RANK as i64);
        let list =
            Tensor::from_i128_fn(&Type::new(DType::I64, [length]), |_| rng.random_range(LISTED).into());
        names.push(format!("list{i}"));
        graph.initializer.push(onnx::tensor::to_proto(&format!("list{i}"), &list));
    }
    let specs = settings.available();
    for index in 0..rng.random_range(1..=MAX_NODES) {
        let Some(spec) = specs.choose(rng) else { break };
        let node = node(rng, spec, index, &names);
        names.extend(node.output.iter().cloned());
        graph.node.push(node);
    }
    let used: BTreeSet<&String> = graph.node.iter().flat_map(|n| &n.input).collect();
    let unused = graph.node.iter().flat_map(|n| &n.output).filter(|name| !used.contains(name));
    graph.output = unused.map(|n| ValueInfoProto { name: Some(n.clone()), ..Default::default() }).collect();
    let opset = OperatorSetIdProto { domain: None, version: Some(settings.opset.into()) };
    ModelProto {
        ir_version: Some(IR_VERSION),
        opset_import: vec![opset],
        producer_name: Some(format!("{}.random", onnx::names::PRODUCER)),
        graph: Some(graph),
        ..Default::default()
    }
}

/// A node with operands from among the values so far.
fn node(rng: &mut impl Rng, spec: &Spec, index: usize, names: &[String]) -> NodeProto {
    let places = spec.fields.iter().filter(|f| f.places.iter().any(|(_, p)| is_operand(*p))).count();
    let most = spec.inputs.len() + places;
    let count = if rng.random_bool(ALL_OPERANDS) { most } else { rng.random_range(0..=most + 1) };
    let is_open = |arity| arity == Arity::Variadic;
    let more =
        if spec.inputs.last().is_some_and(|port| is_open(port.arity)) { rng.random_range(0..2) } else { 0 };
    let outputs = if spec.has_variadic_outputs() { 2 } else { spec.outputs.len() };
    let given = onnx::import::attributes(spec.name).into_iter().filter(|_| rng.random_bool(GIVEN));
    let given: Vec<&str> = given.collect();
    NodeProto {
        name: Some(format!("n{index}")),
        op_type: Some(spec.name.to_owned()),
        input: (0..count + more).filter_map(|_| names.choose(rng).cloned()).collect(),
        output: (0..outputs).map(|port| format!("v{index}_{port}")).collect(),
        attribute: given.into_iter().map(|name| attribute(rng, name)).collect(),
        ..Default::default()
    }
}

const fn is_operand(place: Place) -> bool {
    matches!(place, Place::List(_) | Place::Scalar(_) | Place::Single(_))
}

/// Names of attributes that are lists of integers, numbers or words; all other attributes are integers.
const LISTS: &[&str] = &["axes", "dilations", "kernel_shape", "pads", "perm", "strides"];
const NUMBERS: &[&str] = &["alpha", "beta", "bias", "epsilon", "gamma", "lambd", "momentum"];
const NAMES: &[&str] = &["approximate", "auto_pad", "direction", "mode"];
/// Names that attributes have.
const WORDS: &[&str] =
    &["SAME_UPPER", "VALID", "NOTSET", "constant", "reflect", "LEFT", "DCR", "tanh", "none"];

/// An attribute with a value of a type that its name suggests, mostly.
fn attribute(rng: &mut impl Rng, name: &str) -> AttributeProto {
    let kinds = [AttributeType::Int, AttributeType::Ints, AttributeType::Float, AttributeType::String];
    let kind = match name {
        _ if rng.random_bool(OTHER_TYPE) => *kinds.choose(rng).unwrap_or(&AttributeType::Int),
        _ if LISTS.contains(&name) => AttributeType::Ints,
        _ if NUMBERS.contains(&name) => AttributeType::Float,
        _ if NAMES.contains(&name) => AttributeType::String,
        _ => AttributeType::Int,
    };
    let mut proto =
        AttributeProto { name: Some(name.to_owned()), r#type: Some(kind as i32), ..Default::default() };
    match kind {
        AttributeType::Ints => {
            let length = rng.random_range(1..=MAX_RANK);
            proto.ints = (0..length).map(|_| rng.random_range(LISTED)).collect();
        }
        AttributeType::Float => proto.f = Some(rng.random_range(-2.0..2.0)),
        AttributeType::String => proto.s = WORDS.choose(rng).map(|word| word.as_bytes().to_vec()),
        _ => proto.i = Some(rng.random_range(LISTED)),
    }
    proto
}

/// Gives the outputs their types: those that a valid model has, or else any.
fn declare_outputs(proto: &mut ModelProto, model: Option<&Model>, stream: Stream) {
    let Some(graph) = &mut proto.graph else { return };
    let rng = &mut stream.rng();
    let dtypes: Vec<DType> = DTypes::IR4.iter().collect();
    for (i, output) in graph.output.iter_mut().enumerate() {
        let known = model.and_then(|m| Some(m.graph.ty(m.graph.outputs.get(i)?.value).clone()));
        let any = || Type::new(dtypes.choose(rng).copied().unwrap_or(DType::F32), [1]);
        *output = value_info(output.name(), &known.unwrap_or_else(any));
    }
}

/// Small numbers for the inputs of a model that is not valid.
fn inputs(model: &ModelProto, stream: Stream) -> Vec<(String, Tensor)> {
    let rng = &mut stream.rng();
    let inputs = model.graph.iter().flat_map(|graph| &graph.input);
    let mut tensor = |ty: &Type| Tensor::from_i128_fn(ty, |_| rng.random_range(0..3));
    inputs.filter_map(|i| Some((i.name().to_owned(), tensor(&onnx::import::declared_type(i)?)))).collect()
}
