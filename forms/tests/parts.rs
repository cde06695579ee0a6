//! Of an operator that is written out where it is read, each attribute and each operand that may be absent is drawn: a fault in one
//! that is not shows nowhere.

use std::collections::{BTreeMap, BTreeSet};

use graphgen::Forms;
use ir::{Stream, Tensor};
use onnx::program::Node;
use onnx::proto::AttributeProto;
use onnxsmith_forms::{Composite, composite, write};
use ops::schema::{self, Absence, Arity, Schema};
use values::{Budget, find_values};

/// How many draws of each operator are looked at, in the newest opset.
const DRAWS: u64 = 160;

/// Parts that are not drawn, with why.
const NOT_DRAWN: &[(&str, &[&str], &str)] = &[
    ("LabelEncoder", &["default_string", "values_strings"], "strings are no results that could be compared"),
    ("LinearClassifier", &["classlabels_strings"], "strings are no results that could be compared"),
    ("TreeEnsembleClassifier", &["classlabels_strings"], "strings are no results that could be compared"),
    ("SVMRegressor", &["one_class"], "import does not read it"),
    ("Optional", &["type"], "an optional without an element gives nothing that could be compared"),
    ("Range", &["stash_type"], "it is about floats of 16 bits, which are not drawn"),
    ("StringNormalizer", &["locale"], "which there are depends on the machine"),
    ("TfIdfVectorizer", &["pool_strings"], "strings are no operands yet"),
];

/// The nodes of an operator in some draws.
fn drawn(composite: &Composite) -> Vec<Node> {
    let opset = *ir::graph::OPSETS.end();
    let dtypes: Vec<_> = composite.dtypes.iter().collect();
    let draw = |seed: u64| {
        let stream = Stream::new(seed).child(composite.name);
        let dtype = dtypes[seed as usize % dtypes.len()];
        let (model, constants, placed) = composite.alone(opset, dtype, stream)?;
        let budget = Budget { runs: 1, anew: 0, ..Budget::default() };
        let found = find_values(&model, &constants, stream, budget).expect("it is valid");
        let names = model.graph.variables().map(|(_, name, _)| name.to_owned());
        let inputs: Vec<(String, Tensor)> = names.zip(found.inputs(&model)).collect();
        let written = write(&found.fill(model), &inputs, &[placed], &Forms::default(), stream)?;
        let nodes = written.program.main.body.nodes.into_iter();
        Some(nodes.filter(|node| node.rest.op_type() == composite.name).collect::<Vec<_>>())
    };
    (0..DRAWS).filter_map(draw).flatten().collect()
}

/// Whether an attribute is what an absent one means.
fn is_default(attribute: &AttributeProto, absence: Absence) -> bool {
    let Absence::Default(default) = absence else { return false };
    let text = String::from_utf8_lossy(attribute.s());
    let number = default.parse::<f32>();
    match (attribute.i, attribute.f, &attribute.s) {
        (Some(i), ..) => number == Ok(i as f32),
        (_, Some(f), _) => number == Ok(f),
        (.., Some(_)) => text == default,
        _ => false,
    }
}

/// The parts of an operator that these nodes do not have, or always have as if they were absent.
fn missing(schema: &Schema, nodes: &[Node]) -> BTreeSet<&'static str> {
    let attributes = |name: &str| {
        let all = nodes.iter().flat_map(|node| &node.attributes).map(|attribute| &attribute.rest);
        all.filter(|attribute| attribute.name() == name).collect::<Vec<_>>()
    };
    let is_shown = |of: &schema::Attribute| attributes(of.name).iter().any(|a| !is_default(a, of.absence));
    let has = |place: usize| nodes.iter().any(|node| node.inputs.get(place).is_some_and(Option::is_some));
    let unshown = schema.attributes.iter().filter(|of| !is_shown(of)).map(|of| of.name);
    let operands = schema.inputs.iter().enumerate();
    let absent =
        operands.filter(|(place, of)| of.arity == Arity::Optional && !has(*place)).map(|(_, of)| of.name);
    unshown.chain(absent).collect()
}

#[test]
fn all_parts_are_drawn_but_those_of_which_it_is_said() {
    let newest = *ir::graph::OPSETS.end();
    let mut wrong = BTreeMap::new();
    for composite in composite::all() {
        let (name, version) = match composite.domain {
            "" => (composite.name.to_owned(), newest),
            domain => (format!("{domain}.{}", composite.name), composite.version as u32),
        };
        let Some(schema) = schema::in_force(&name, version) else { continue };
        let said = NOT_DRAWN.iter().filter(|(name, ..)| *name == composite.name);
        let said: BTreeSet<&str> = said.flat_map(|(_, parts, _)| *parts).copied().collect();
        let missing = missing(schema, &drawn(composite));
        if missing != said {
            wrong.insert(composite.name, missing);
        }
    }
    assert!(wrong.is_empty(), "not drawn, or said not to be and drawn: {wrong:#?}");
}
