//! Which models there are, and what operators they are made of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use onnx::program::{Body, Program};
use onnx::proto::decode;
use serde::Deserialize;

/// What `scripts/zoo` says in zoo.json, and what the models say.
#[derive(Deserialize)]
pub(crate) struct Catalogue {
    pub(crate) models: Vec<Model>,
    pub(crate) failed: Vec<Failed>,
}

/// A model of the zoo.
#[derive(Deserialize)]
pub(crate) struct Model {
    pub(crate) name: String,
    /// The package that ships it or the exporter.
    pub(crate) from: String,
    /// Its opsets, by domain.
    pub(crate) opsets: BTreeMap<String, u32>,
    /// How many nodes there are of each operator, bodies and functions included.
    #[serde(skip)]
    pub(crate) operators: BTreeMap<Operator, usize>,
}

/// A domain, empty for ONNX's default one, and an operator of it.
pub(crate) type Operator = (String, String);

/// A model that could not be exported.
#[derive(Deserialize)]
pub(crate) struct Failed {
    pub(crate) name: String,
    pub(crate) why: String,
}

/// The models in a folder that `scripts/zoo` has made.
pub(crate) fn read(zoo: &Path) -> Result<Catalogue> {
    let text = fs::read_to_string(zoo.join("zoo.json"))
        .with_context(|| format!("{} was not made by scripts/zoo", zoo.display()))?;
    let mut catalogue: Catalogue =
        serde_json::from_str(&text).context("zoo.json is not what the script writes")?;
    for model in &mut catalogue.models {
        let file = zoo.join("models").join(format!("{}.onnx", model.name));
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let program = Program::read(decode("model", &bytes)?)?;
        count(&program.main.body, &mut model.operators);
        program.functions.iter().for_each(|function| count(&function.scope.body, &mut model.operators));
    }
    Ok(catalogue)
}

fn count(body: &Body, operators: &mut BTreeMap<Operator, usize>) {
    for node in &body.nodes {
        let domain = if node.rest.domain() == "ai.onnx" { "" } else { node.rest.domain() };
        *operators.entry((domain.to_owned(), node.rest.op_type().to_owned())).or_default() += 1;
        node.bodies().for_each(|inner| count(inner, operators));
    }
}
