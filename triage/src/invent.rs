//! Inputs for a model that comes without inputs.
//!
//! Sizes that the model leaves open are given by the user or drawn: small ones, a few times over, until the model can
//! be read. The model may depend on the values of some inputs (for a branch, or a shape). These inputs are drawn first
//! and stay. The values of the others are searched, so that the model is defined on them.
//!
//! Some published models declare wrong shapes of outputs, or of values inside. Runtimes warn and go on. So if a model
//! cannot be read with any sizes as it is, but can without these declarations, it is run without them.

mod given;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};

use interp::Taps;
use ir::{DType, Datum, NodeKind, Stream, Tensor, Type};
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedDatum};
use onnx::import::{self, Imported, InputType};
use onnx::program::Program;
use ops::Model;
use rand::RngExt;
use serde::Serialize;

use crate::inputs::Dear;
pub(crate) use given::replacing;
use given::{of_model, only_tensors};
use harness::reference::Spent;
use harness::{case, reference};

pub use given::{UserInputs, Ways};

/// Inputs that were made up.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Invented {
    /// The inputs.
    pub set: DataSet,
    /// What was drawn of what the model leaves open.
    pub drawn: DrawnInputs,
    /// What is wrong with the shapes that the model declares, where they were left out of it.
    pub misdeclared: Option<String>,
}

/// What a model leaves open and the user did not give, as it was drawn.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DrawnInputs {
    /// Sizes, by name.
    pub sizes: BTreeMap<String, i64>,
    /// Small inputs whose values decide the model's way, by name: whether a branch is taken, or how often a loop runs.
    #[serde(rename = "inputs")]
    pub values: BTreeMap<String, String>,
}

impl DrawnInputs {
    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty() && self.values.is_empty()
    }

    /// In words.
    pub fn in_words(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let values: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let told = [("sizes drawn", sizes), ("inputs drawn that the model goes by", values)];
        let told = told.into_iter().filter(|(_, each)| !each.is_empty());
        told.map(|(what, each)| format!("{what}: {}", each.join(", "))).collect::<Vec<_>>().join("; ")
    }
}

/// Why there are no inputs for a model that comes without inputs.
#[derive(Debug, thiserror::Error)]
pub enum NoInputs {
    /// The model cannot be read.
    #[error(transparent)]
    Model(#[from] onnx::Error),
    /// The model cannot be read with any of the sizes that were tried.
    #[error("{why} (with the sizes {sizes}; --dim NAME=N says what they are)")]
    Sizes {
        /// Why not.
        why: onnx::Error,
        /// The sizes, of those that were tried, to which the error message belongs.
        sizes: String,
    },
    /// The model cannot be read with any of the numbers that were tried for its inputs.
    #[error("{why} (with small numbers for its inputs; --input NAME=FILE gives others)")]
    Values {
        /// Why not.
        why: onnx::Error,
    },
    /// No value is made up for an input of which not even the rank is said.
    #[error("{why}; --input {input}=FILE gives it")]
    NotMadeUp {
        /// Why the model cannot be read without.
        why: onnx::Error,
        /// The input.
        input: String,
    },
    /// The user gives something that is not about this model.
    #[error("{0}")]
    NotOfModel(String),
    /// Running it takes more than a search may.
    #[error("{0}")]
    TooDear(String),
    /// The model cannot be evaluated.
    #[error(transparent)]
    Search(#[from] interp::Error),
}

/// Invents inputs for a model that comes without. If the model is too large for a value search they are
/// random, and the reference's evaluation tells whether the model is defined on them. Declared shapes that
/// the model does not keep are removed from it.
pub(crate) fn invent(folder: &mut CaseFolder, given: &UserInputs, seed: u64) -> Result<Invented, NoInputs> {
    invented(folder, given, seed, Dear::Refuse)
}

/// Invents inputs for a model that comes without. The model may be too large for the reference as well; then
/// nobody knows whether it is defined on them.
pub(crate) fn invent_any(
    folder: &mut CaseFolder,
    given: &UserInputs,
    seed: u64,
) -> Result<Invented, NoInputs> {
    invented(folder, given, seed, Dear::Draw)
}

/// The sizes that a model leaves open, by the names that the user has for them.
pub fn open_sizes(folder: &CaseFolder) -> Result<BTreeSet<String>, onnx::Error> {
    let program = folder.decode().and_then(Program::read)?;
    Ok(import::inputs(&program)?.iter().flat_map(InputType::open).collect())
}

/// Checks that what is given belongs to a model that comes without inputs.
pub(crate) fn fits(folder: &CaseFolder, given: &UserInputs) -> Result<(), NoInputs> {
    let program = folder.decode().and_then(Program::read)?;
    let program = program.without_overridden_defaults(|name| given.is_about(name)).unwrap_or(program);
    let inputs = import::inputs(&program)?;
    let given = given.settled(&inputs)?.bound(&inputs)?;
    of_model(&given, &program, &inputs, &open(&inputs, &given))
}

/// The sizes that the inputs leave open that are not given.
fn open(inputs: &[InputType], given: &UserInputs) -> BTreeSet<String> {
    let are_open = inputs.iter().filter(|input| !given.inputs.contains_key(&input.name));
    are_open.flat_map(InputType::open).collect()
}

fn invented(
    folder: &mut CaseFolder,
    given: &UserInputs,
    seed: u64,
    dear: Dear,
) -> Result<Invented, NoInputs> {
    let mut program = folder.decode().and_then(Program::read)?;
    if let Some(without) = program.without_overridden_defaults(|name| given.is_about(name)) {
        program = without;
        folder.model = onnx::export::encode(&program.write()).into();
    }
    let why = match of_program(&program, given, seed, dear) {
        Err(
            why @ (NoInputs::Model(onnx::Error::Invalid { .. })
            | NoInputs::Sizes { why: onnx::Error::Invalid { .. }, .. }
            | NoInputs::Values { why: onnx::Error::Invalid { .. } }),
        ) => why,
        settled => return settled,
    };
    let undeclared = program.without_declared_shapes();
    match of_program(&undeclared, given, seed, dear) {
        Ok(invented) => {
            folder.model = onnx::export::encode(&undeclared.write()).into();
            Ok(Invented { misdeclared: Some(why.to_string()), ..invented })
        }
        Err(_) => Err(why),
    }
}

/// The reason why there are no inputs, with the input without a rank that it is about, if it is about one.
fn not_made_up(why: NoInputs, inputs: &[InputType]) -> NoInputs {
    let is_about = |error: &onnx::Error, input: &InputType| {
        let named = format!("input `{}`", input.name);
        matches!(error, onnx::Error::Unsupported { what, .. } if what.starts_with(&named))
    };
    let missed =
        |error: &onnx::Error| inputs.iter().find(|input| input.sizes.is_none() && is_about(error, input));
    match why {
        NoInputs::Model(why) | NoInputs::Values { why } | NoInputs::Sizes { why, .. }
            if let Some(input) = missed(&why) =>
        {
            NoInputs::NotMadeUp { input: input.name.clone(), why }
        }
        other => other,
    }
}

fn of_program(program: &Program, given: &UserInputs, seed: u64, dear: Dear) -> Result<Invented, NoInputs> {
    let stream = Stream::new(seed).child("run");
    let inputs = import::inputs(program)?;
    let given = &given.settled(&inputs)?.bound(&inputs)?;
    let open = open(&inputs, given);
    of_model(given, program, &inputs, &open)?;
    only_tensors(&inputs, given)?;
    let undrawn = if open.is_empty() { case::trace(program, &given.inputs).ok() } else { None };
    let (imported, known, sizes) = match undrawn {
        Some(imported) => (imported, given.inputs.clone(), BTreeMap::new()),
        None => {
            sizes::draw(program, &inputs, &open, given, stream).map_err(|why| not_made_up(why, &inputs))?
        }
    };
    let model = &imported.model;
    let set = match reference::affordable(model) {
        Ok(spent) => found(&imported, &known, &given.inputs, stream, spent)?,
        Err(why) => {
            if dear == Dear::Refuse {
                reference::bearable(model, Taps::Outputs, given.large).map_err(NoInputs::TooDear)?;
            }
            if !Room::new().all(model.graph.variables().map(|(.., ty)| ty)) {
                return Err(NoInputs::TooDear(why));
            }
            as_drawn(&imported, &known, stream)
        }
    };
    let is_drawn =
        |name: &str| !given.inputs.contains_key(name) && imported.specialised.iter().any(|read| read == name);
    let values =
        set.inputs.iter().filter(|input| is_drawn(&input.name)).filter_map(|NamedDatum { name, datum }| {
            let tensor = datum.tensor().filter(|tensor| tensor.len() <= SHOWN)?;
            Some((name.clone(), tensor.to_string()))
        });
    let drawn = DrawnInputs { sizes, values: values.collect() };
    Ok(Invented { set, drawn, misdeclared: None })
}

/// The most elements of an input that is told.
const SHOWN: usize = 8;

/// How many elements made-up inputs may have: several copies of them are held.
struct Room(u64);

impl Room {
    fn new() -> Self {
        Self(reference::MAX_ELEMENTS)
    }

    /// Reserves room for one more tensor. If there is not enough, returns false and reserves nothing.
    fn has(&mut self, ty: &Type) -> bool {
        let count = if ty.is_countable() { ty.count().unsigned_abs() } else { u64::MAX };
        let rest = self.0.checked_sub(count);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Whether there is room for all.
    fn all<'t>(mut self, types: impl IntoIterator<Item = &'t Type>) -> bool {
        types.into_iter().all(|ty| self.has(ty))
    }
}

/// Small numbers, as sizes, indices and switches have them.
fn plain(ty: &Type, stream: Stream) -> Tensor {
    let mut rng = stream.rng();
    match ty.dtype {
        dtype if dtype.is_float() => Tensor::from_f64_fn(ty, |_| rng.random_range(-1.0..1.0)),
        // If the condition of a loop is false, the loop computes nothing.
        DType::Bool => Tensor::from_i128_fn(ty, |_| i128::from(rng.random_bool(0.8))),
        _ => Tensor::from_i128_fn(ty, |_| rng.random_range(0..=3)),
    }
}

/// The inputs on which the model is defined. Inputs that are given, and inputs that import has read something
/// from, keep their values; the others are searched.
fn found(
    imported: &Imported,
    known: &BTreeMap<String, Datum>,
    given: &BTreeMap<String, Datum>,
    stream: Stream,
    spent: Spent,
) -> Result<DataSet, NoInputs> {
    let stays = |name: &str| given.contains_key(name) || imported.specialised.iter().any(|read| read == name);
    let fixed: BTreeMap<String, Tensor> = imported
        .interface
        .inputs
        .iter()
        .filter(|(name, _)| stays(name))
        .filter_map(|(name, _)| Some(known.get(name)?.clone().parts(name)))
        .flatten()
        .collect();
    let searched = with_constants(imported.model.clone(), &fixed);
    let found = values::find_values(&searched, &[], stream, spent.search())?;
    let mut tensors: BTreeMap<String, Tensor> =
        case::named(&searched, found.inputs(&searched)).into_iter().collect();
    tensors.extend(fixed);
    let all: Vec<(String, Tensor)> = imported
        .model
        .graph
        .variables()
        .filter_map(|(_, name, _)| Some((name.to_owned(), tensors.remove(name)?)))
        .collect();
    Ok(data_set(imported, &all))
}

/// The inputs as they are known, and small numbers for the others.
fn as_drawn(imported: &Imported, known: &BTreeMap<String, Datum>, stream: Stream) -> DataSet {
    let parts = known.iter().flat_map(|(name, value)| value.clone().parts(name));
    let known: BTreeMap<String, Tensor> = parts.collect();
    let variables = imported.model.graph.variables();
    let all: Vec<(String, Tensor)> = variables
        .map(|(_, name, ty)| {
            let drawn = || plain(ty, stream.child(name));
            (name.to_owned(), known.get(name).cloned().unwrap_or_else(drawn))
        })
        .collect();
    data_set(imported, &all)
}

/// The inputs of the program, from the values of the model's variables.
fn data_set(imported: &Imported, variables: &[(String, Tensor)]) -> DataSet {
    let inputs = imported.interface.inputs_of(variables).into_iter();
    let inputs = inputs.map(|(name, value)| NamedDatum::new(name, value.map(Tensor::clone))).collect();
    DataSet { inputs, ..DataSet::default() }
}

/// The model with constants in place of some of its variables.
fn with_constants(mut model: Model, values: &BTreeMap<String, Tensor>) -> Model {
    for node in &mut model.graph.nodes {
        if let NodeKind::Variable { name } = &node.kind
            && let Some(value) = values.get(name)
        {
            node.kind = NodeKind::Constant(std::sync::Arc::new(value.clone()));
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invented(model: &str, given: &UserInputs) -> Result<Invented, NoInputs> {
        let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm {model}\n");
        let program = Program::from_text(&text).expect("a text");
        let without = program.without_overridden_defaults(|name| given.is_about(name));
        of_program(&without.unwrap_or(program), given, 1, Dear::Refuse)
    }

    fn tensor() -> Tensor {
        Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64)
    }

    #[test]
    fn what_is_given_has_the_type_that_is_declared() {
        let given =
            UserInputs { inputs: [("x".to_owned(), tensor().into())].into(), ..UserInputs::default() };
        for (declared, told) in [
            ("double[2]", "--input x is f32[2], and the model declares it as f64[2]"),
            ("float[N, 2]", "--input x is f32[2], and the model declares it as f32[N, 2]"),
            ("float[3]", "--input x is f32[2], and the model declares it as f32[3]"),
        ] {
            let why = invented(&format!("({declared} x) => (y) {{ y = Neg(x) }}"), &given);
            assert_eq!(why.expect_err("another type").to_string(), told);
        }
    }

    #[test]
    fn a_size_that_a_weight_fixes_is_found() {
        for model in [
            "(float[N, K] a) => (y) <float[13, 1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}> { y = MatMul(a, w) }",
            "(float[K] a) => (y) <int64[1] s = {13}> { y = Reshape(a, s) }",
            "(float[K] a) => (y) <int64[2] s = {7, 13}> { y = Reshape(a, s) }",
        ] {
            let found = invented(model, &UserInputs::default()).expect("sizes");
            assert!([13, 7 * 13].contains(&found.drawn.sizes["K"]), "{model}");
        }
    }

    #[test]
    fn what_has_a_default_is_an_input_where_it_is_given() {
        let model = "(float[2] x, float[2] w) => (y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }";
        let given = |name: &str| UserInputs {
            inputs: [(name.to_owned(), tensor().into())].into(),
            ..UserInputs::default()
        };
        let why = invented(model, &given("v")).expect_err("it cannot be given").to_string();
        assert!(why.contains("no input `v`; it has: x, and with defaults: w"), "{why}");
        let inputs = |name| invented(model, &given(name)).expect("inputs").set.inputs.len();
        assert_eq!(["x", "w"].map(inputs), [1, 2]);
    }

    #[test]
    fn a_shape_that_a_branch_declares_and_does_not_have_is_passed_over() {
        let model = "(float[2] x) => (float[2] y) <bool c = {1}> {
            y = If(c) <then_branch = a () => (float[3] p) { p = Abs(x) }, else_branch = b () => (q) { q = Neg(x) }>
        }";
        let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm {model}\n");
        let program = Program::from_text(&text).expect("a text");
        let model = onnx::export::encode(&program.write()).into();
        let mut folder = CaseFolder { model, ..CaseFolder::default() };
        let invented = invent(&mut folder, &UserInputs::default(), 1).expect("inputs");
        assert!(invented.misdeclared.is_some_and(|why| why.contains("declared f32[3], but is f32[2]")));
    }

    #[test]
    fn a_file_is_read_as_its_input_is_declared() {
        let model = "(seq(float[2]) s) => (y) { y = SequenceLength(s) }";
        let why = invented(model, &UserInputs::default()).expect_err("nothing is given").to_string();
        assert!(why.contains("declared as sequence") && why.contains("--input s=FILE.pb"), "{why}");
        let of = |values: Vec<Datum>| {
            let ways = Ways { values, no_tensor: "it has segments".to_owned() };
            UserInputs { files: [("s".to_owned(), ways)].into(), ..UserInputs::default() }
        };
        let sequence = Datum::Sequence(vec![tensor(), tensor()]);
        let made = invented(model, &of(vec![Datum::Optional(None), sequence.clone()])).expect("inputs");
        assert_eq!(made.set.inputs, [NamedDatum::new("s", sequence)]);
        let why = invented(model, &of(vec![Datum::Optional(None)])).expect_err("no sequence").to_string();
        assert!(why.contains("declared as sequence, and its file holds none"), "{why}");
        let why = invented("(float[2] s) => (y) { y = Neg(s) }", &of(vec![Datum::Optional(None)]));
        let why = why.expect_err("no tensor").to_string();
        assert!(why.contains("declared as tensor") && why.contains("it has segments"), "{why}");
    }

    #[test]
    fn where_a_rank_is_not_said_it_is_said_how_to_give_the_value() {
        let model = "(float[2] a, float[] x) => (y) { y = Neg(x) }";
        let why = invented(model, &UserInputs::default()).expect_err("no value").to_string();
        assert!(why.contains("unknown rank") && why.ends_with("; --input x=FILE gives it"), "{why}");
    }

    #[test]
    fn what_a_given_value_tells_of_sizes_holds_for_all_inputs() {
        let model = "(float[n, k] a, float[k, m] b) => (y) { y = MatMul(a, b) }";
        let a = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 5]), |i| i as f64);
        let given = |sizes: &[(&str, i64)]| UserInputs {
            inputs: [("a".to_owned(), a.clone().into())].into(),
            sizes: sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect(),
            ..UserInputs::default()
        };
        for sizes in [&[][..], &[("n", 2), ("k", 5)], &[("m", 3)]] {
            let made = invented(model, &given(sizes)).expect("inputs");
            let b = made.set.inputs[1].datum.tensors().next().expect("a tensor").shape().to_vec();
            assert_eq!(b[0], 5, "{sizes:?}");
            assert!(!made.drawn.sizes.contains_key("k"));
        }
        for sizes in [[("k", 4)], [("n", 3)]] {
            let why = invented(model, &given(&sizes)).expect_err("they contradict").to_string();
            assert!(why.contains("by --dim and") && why.contains("by --input a"), "{why}");
        }
        let square = "(float[n, n] a) => (y) { y = Neg(a) }";
        let why = invented(square, &given(&[])).expect_err("it is no square").to_string();
        assert!(why.contains("the size `n` is 2 by --input a and 5 by --input a"), "{why}");
    }

    #[test]
    fn numbers_that_are_a_shape_or_an_index_are_drawn_until_the_model_takes_them() {
        let reshape = "(float[6] x, int64[2] shape) => (y) { y = Reshape(x, shape) }";
        let at = "(float[2] x, int64 i) => (y) { s = SequenceConstruct(x) y = SequenceAt(s, i) }";
        for (model, seed) in
            [reshape, at].into_iter().flat_map(|model| (0..10).map(move |seed| (model, seed)))
        {
            let text = format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm {model}\n");
            let program = Program::from_text(&text).expect("a text");
            of_program(&program, &UserInputs::default(), seed, Dear::Refuse).expect("inputs");
        }
        let never =
            "(float[7] x, bool b) => (y) <int64[2] s = {2, 3}> { p = Reshape(x, s) y = Where(b, p, p) }";
        let why = invented(never, &UserInputs::default()).expect_err("no numbers help").to_string();
        assert!(why.contains("--input NAME=FILE") && why.contains("Reshape"), "{why}");
    }

    /// Each may be there alone, and not both; what cannot be counted has no room at all, and takes none.
    #[test]
    fn inputs_share_their_room() {
        let half = Type::new(DType::F32, [reference::MAX_ELEMENTS as i64 / 2]);
        let more = Type::new(DType::F32, [reference::MAX_ELEMENTS as i64 / 2 + 1]);
        let huge = Type::new(DType::F32, [1 << 31, 1 << 31, 1 << 31]);
        assert!(Room::new().all([&half, &half]));
        assert!(Room::new().all([&more]));
        assert!(!Room::new().all([&more, &half]));
        let mut room = Room::new();
        assert!(!room.has(&huge) && room.has(&more));
    }
}
