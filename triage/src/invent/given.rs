//! What a user says about the inputs of models that come without, compared with what the model says.

use std::collections::{BTreeMap, BTreeSet};

use harness::reference::Large;
use ir::{Datum, DatumKind};
use onnx::import::{InputType, Size};
use onnx::program::Program;

use super::NoInputs;

/// What a user says about models: the inputs of those that come without, and whether one may be large.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UserInputs {
    /// Sizes that models leave open, by name: the model's, or `input[axis]` where it has none.
    pub sizes: BTreeMap<String, i64>,
    /// Values of inputs.
    pub inputs: BTreeMap<String, Datum>,
    /// Values of inputs from files that hold no tensor of numbers.
    pub files: BTreeMap<String, Ways>,
    /// Whether the reference may take more than is in proportion to a model's weights.
    pub large: Large,
}

/// The ways in which the bytes of a file can be read. The bytes do not tell which message they are; the model does.
#[derive(Clone, PartialEq, Debug)]
pub struct Ways {
    /// What they may be: strings, a sequence, an optional.
    pub values: Vec<Datum>,
    /// Why they are no tensor of numbers.
    pub no_tensor: String,
}

impl UserInputs {
    /// Whether nothing is said of inputs.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty() && self.inputs.is_empty() && self.files.is_empty()
    }

    /// Whether it has a value of an input.
    pub(crate) fn is_about(&self, input: &str) -> bool {
        self.inputs.contains_key(input) || self.files.contains_key(input)
    }

    /// What is given, with the values in files read as the inputs of the model are declared. Values for other names
    /// stay as they are.
    pub(super) fn settled(&self, inputs: &[InputType]) -> Result<Self, NoInputs> {
        let mut settled = Self { files: BTreeMap::new(), ..self.clone() };
        for (name, Ways { values, no_tensor }) in &self.files {
            if inputs.iter().all(|input| input.name != *name)
                && let Some(value) = values.first()
            {
                settled.inputs.insert(name.clone(), value.clone());
                continue;
            }
            let kind = inputs.iter().find(|input| input.name == *name).and_then(|input| input.kind);
            let kind = kind.unwrap_or(DatumKind::Tensor);
            let value = values.iter().find(|value| kind.admits(value)).ok_or_else(|| {
                let why = if kind == DatumKind::Tensor { format!(": {no_tensor}") } else { String::new() };
                let why = format!("the input `{name}` is declared as {kind}, and its file holds none{why}");
                NoInputs::NotOfModel(why)
            })?;
            settled.inputs.insert(name.clone(), value.clone());
        }
        Ok(settled)
    }

    /// What is given, with the sizes that given values have. Other inputs have the same sizes if the model gives these
    /// the same names.
    pub(super) fn bound(self, inputs: &[InputType]) -> Result<Self, NoInputs> {
        as_declared(inputs, &self.inputs)?;
        let told = told_sizes(inputs, &self.inputs, &by_flag)?;
        let undrawn = inputs.iter().filter(|input| !self.inputs.contains_key(&input.name));
        let open: BTreeSet<String> = undrawn.flat_map(InputType::open).collect();
        let mut sizes = self.sizes.clone();
        for (&name, &(is, input)) in &told {
            match self.sizes.get(name) {
                Some(&asked) if asked != is => {
                    return Err(contradiction(name, asked, "--dim", is, &by_flag(input)));
                }
                _ if open.contains(name) => sizes.insert(name.to_owned(), is),
                _ => sizes.remove(name),
            };
        }
        Ok(Self { sizes, ..self })
    }
}

/// Checks that the values of inputs have the types that the model declares.
fn as_declared(inputs: &[InputType], values: &BTreeMap<String, Datum>) -> Result<(), NoInputs> {
    for input in inputs {
        let Some(Datum::Tensor(value)) = values.get(&input.name) else { continue };
        if !input.admits(&value.ty()) {
            return Err(NoInputs::NotOfModel(format!(
                "--input {} is {}, and the model declares it as {input}",
                input.name,
                value.ty()
            )));
        }
    }
    Ok(())
}

/// The given values that take the place of a data set's own. Both must agree on the sizes that the model names.
pub(crate) fn replacing(
    own: &BTreeMap<String, Datum>,
    given: &UserInputs,
    program: &Program,
    inputs: &[InputType],
) -> Result<BTreeMap<String, Datum>, NoInputs> {
    let given = given.settled(inputs)?;
    of_model(&given, program, inputs, &BTreeSet::new())?;
    as_declared(inputs, &given.inputs)?;
    let mut all = own.clone();
    all.extend(given.inputs.clone());
    let by = |input: &str| {
        if given.inputs.contains_key(input) { by_flag(input) } else { format!("the case's own {input}") }
    };
    told_sizes(inputs, &all, &by)?;
    Ok(given.inputs)
}

/// Who says something by giving an input.
fn by_flag(input: &str) -> String {
    format!("--input {input}")
}

/// The sizes that the model names, from the values, each with the input that tells it. `by` says who gave the value.
fn told_sizes<'i>(
    inputs: &'i [InputType],
    values: &BTreeMap<String, Datum>,
    by: &dyn Fn(&str) -> String,
) -> Result<BTreeMap<&'i str, (i64, &'i str)>, NoInputs> {
    let mut told: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for InputType { name: input, sizes, .. } in inputs {
        let Some((Datum::Tensor(value), sizes)) = values.get(input).zip(sizes.as_ref()) else { continue };
        for (size, &is) in sizes.iter().zip(value.shape()) {
            let Size::Named(name) = size else { continue };
            let (before, first) = *told.entry(name).or_insert((is as i64, input));
            if before != is as i64 {
                return Err(contradiction(name, before, &by(first), is as i64, &by(input)));
            }
        }
    }
    Ok(told)
}

fn contradiction(size: &str, is: i64, by: &str, and: i64, other: &str) -> NoInputs {
    NoInputs::NotOfModel(format!("the size `{size}` is {is} by {by} and {and} by {other}"))
}

/// Checks that what is given belongs to the model.
pub(super) fn of_model(
    given: &UserInputs,
    program: &Program,
    inputs: &[InputType],
    open: &BTreeSet<String>,
) -> Result<(), NoInputs> {
    let listed = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    if let Some(name) = given.sizes.keys().find(|name| !open.contains(*name)) {
        let there = listed(open.iter().map(String::as_str).collect());
        return Err(NoInputs::NotOfModel(format!("the model has no open size `{name}`; open are: {there}")));
    }
    let is_input = |name: &String| inputs.iter().any(|input| input.name == *name);
    if let Some(name) = given.inputs.keys().find(|name| !is_input(name)) {
        let there = listed(inputs.iter().map(|input| input.name.as_str()).collect());
        let ports = program.main.body.inputs.iter().map(|port| program.main.name(port.value));
        let others: Vec<&str> = ports.filter(|port| inputs.iter().all(|input| input.name != *port)).collect();
        let others = match others.len() {
            0 => String::new(),
            // Models of old list their weights.
            9.. => format!(", and {} with defaults", others.len()),
            _ => format!(", and with defaults: {}", listed(others)),
        };
        return Err(NoInputs::NotOfModel(format!(
            "the model has no input `{name}`; it has: {there}{others}"
        )));
    }
    Ok(())
}

/// Checks that inputs that are no tensors are given: only tensors are made up.
pub(super) fn only_tensors(inputs: &[InputType], given: &UserInputs) -> Result<(), NoInputs> {
    let is_other = |input: &&InputType| input.kind.is_some_and(|kind| kind != DatumKind::Tensor);
    match inputs.iter().filter(is_other).find(|input| !given.inputs.contains_key(&input.name)) {
        Some(InputType { name, kind, .. }) => {
            let is = kind.map_or("", DatumKind::name);
            let why = format!(
                "it is declared as {is}, and only tensors are made up; --input {name}=FILE.pb gives it"
            );
            Err(onnx::Error::unsupported(format!("input `{name}`"), why).into())
        }
        None => Ok(()),
    }
}
