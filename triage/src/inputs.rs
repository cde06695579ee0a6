//! The inputs that a case is run on: its own; those that a user gives in their place; or made-up ones, if the case
//! comes without.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::Path;

use ir::Datum;
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedDatum};
use onnx::import;
use onnx::program::Program;

use crate::folder::About;
use crate::invent::{DrawnInputs, Invented, NoInputs, UserInputs, fits, invent, invent_any, replacing};

/// What to do about a model that is too large for the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dear {
    /// Nothing.
    Refuse,
    /// Leave its inputs as they are drawn.
    Draw,
}

/// The inputs that a case is run on.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct CaseInputs {
    /// The data sets; at least one. If inputs were replaced, the outputs are not known.
    pub sets: Vec<DataSet>,
    /// What was drawn, because the model leaves it open.
    pub drawn: DrawnInputs,
    /// What is wrong with the shapes that the model declares, if they were taken out of it.
    pub misdeclared: Option<String>,
    /// Whether the inputs are not the case's own.
    pub are_new: bool,
    /// Whether some of the inputs were made up: the model comes without data, and the user does not give all.
    pub are_made_up: bool,
}

/// What is said of a case that has lost its data.
const LOST: &str = "its data set is missing";

/// The beginning of the names of folders that hold the bounds of a data set's outputs.
const BOUNDS_SET: &str = "bounds_set_";

/// Why a case cannot be run on its own inputs although it had some: its data set is gone, and the rest is still there.
/// Other inputs would say nothing about what the case was saved for.
pub fn lost_data(path: &Path, folder: &CaseFolder) -> Option<onnx::Error> {
    let is_lost = folder.sets.is_empty() && (tells_of_data(folder) || has_bounds(path));
    is_lost.then(|| onnx::Error::invalid("the case", LOST))
}

/// Whether `case.json` has findings or bounds, both of which need a data set.
fn tells_of_data(folder: &CaseFolder) -> bool {
    About::read(folder).is_ok_and(|about| !about.findings.is_empty() || !about.bounds.is_empty())
}

/// Whether a case's folder has bounds of outputs.
fn has_bounds(path: &Path) -> bool {
    let is_bounds = |entry: DirEntry| entry.file_name().to_string_lossy().starts_with(BOUNDS_SET);
    std::fs::read_dir(path).is_ok_and(|entries| entries.flatten().any(is_bounds))
}

/// The inputs that a case is run on. Given ones take the place of its own.
pub fn inputs(
    folder: &mut CaseFolder,
    given: &UserInputs,
    seed: u64,
    dear: Dear,
) -> Result<CaseInputs, NoInputs> {
    if folder.sets.is_empty() {
        if tells_of_data(folder) {
            return Err(NoInputs::Model(onnx::Error::invalid("the case", LOST)));
        }
        let made = match dear {
            Dear::Refuse => invent(folder, given, seed)?,
            Dear::Draw => invent_any(folder, given, seed)?,
        };
        let Invented { set, drawn, misdeclared } = made;
        let are_made_up = set.inputs.iter().any(|input| !given.is_about(&input.name));
        return Ok(CaseInputs { sets: vec![set], drawn, misdeclared, are_new: true, are_made_up });
    }
    let sets = own(folder, given)?;
    Ok(CaseInputs { sets, are_new: !given.is_empty(), ..CaseInputs::default() })
}

/// Why given inputs do not belong to a case: the model does not have the name, or the value is of another type. A case
/// that cannot be read is reported where it is run.
pub fn misfit(folder: &CaseFolder, given: &UserInputs) -> Option<NoInputs> {
    let tried = if folder.sets.is_empty() { fits(folder, given) } else { own(folder, given).map(drop) };
    tried.err().filter(|why| matches!(why, NoInputs::NotOfModel(_)))
}

/// The data sets of a case, with the given inputs in the place of its own.
fn own(folder: &CaseFolder, given: &UserInputs) -> Result<Vec<DataSet>, NoInputs> {
    if given.is_empty() {
        return Ok(folder.sets.clone());
    }
    if let Some(name) = given.sizes.keys().next() {
        let why =
            format!("the case has its own data, which says all sizes; --dim {name} is for models without");
        return Err(NoInputs::NotOfModel(why));
    }
    if let Some(why) = fixed(folder) {
        return Err(NoInputs::NotOfModel(format!(
            "{why}, which runs on its own inputs; --input is for others"
        )));
    }
    let program = folder.decode().and_then(Program::read)?;
    let program = program.without_overridden_defaults(|name| given.is_about(name)).unwrap_or(program);
    let declared = import::inputs(&program)?;
    let replaced = |set: &DataSet| {
        let own = set.inputs.iter().map(|value| (value.name.clone(), value.datum.clone())).collect();
        let given = replacing(&own, given, &program, &declared)?;
        Ok(DataSet { inputs: with(&set.inputs, given), ..DataSet::default() })
    };
    folder.sets.iter().map(replaced).collect()
}

/// What kind of case it is, in words, if its inputs cannot be replaced.
fn fixed(folder: &CaseFolder) -> Option<String> {
    let relaxed = About::read(folder).ok().and_then(|about| about.relaxed);
    let is_two = folder.rewritten.is_some();
    relaxed
        .map(|relaxed| format!("the case is a model that breaks the rule {}", relaxed.rule))
        .or_else(|| is_two.then(|| "the case is two forms of a model".to_owned()))
}

/// The values in their order; given ones take the place of those with their names. Given values that the data set
/// leaves to a default come last.
fn with(own: &[NamedDatum], mut given: BTreeMap<String, Datum>) -> Vec<NamedDatum> {
    let mut all: Vec<NamedDatum> = own.to_vec();
    for NamedDatum { name, datum } in &mut all {
        if let Some(value) = given.remove(name) {
            *datum = value;
        }
    }
    all.extend(given.into_iter().map(|(name, value)| NamedDatum::new(name, value)));
    all
}

#[cfg(test)]
mod tests {
    use ir::{DType, Tensor, Type};

    use super::*;

    fn tensor(length: i64) -> Tensor {
        Tensor::from_f64_fn(&Type::new(DType::F32, [length]), |i| i as f64)
    }

    /// A case with data for `a` and `b`, of two elements each.
    fn case() -> CaseFolder {
        let text = "<ir_version: 10, opset_import: [\"\" : 21]>
            m (float[n] a, float[n] b, float c) => (y) <float c = {1.0}> { p = Add(a, b) y = Mul(p, c) }";
        let model = onnx::encode(&Program::from_text(text).expect("a text").write()).into();
        let named = |name: &str| NamedDatum::new(name, tensor(2));
        let set =
            DataSet { inputs: vec![named("a"), named("b")], outputs: vec![named("y")], ..DataSet::default() };
        CaseFolder { model, sets: vec![set], ..CaseFolder::default() }
    }

    fn given(values: &[(&str, Tensor)]) -> UserInputs {
        let inputs = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into()));
        UserInputs { inputs: inputs.collect(), ..UserInputs::default() }
    }

    #[test]
    fn what_is_given_takes_the_place_of_a_cases_own() {
        let own = inputs(&mut case(), &UserInputs::default(), 0, Dear::Refuse).expect("inputs");
        assert_eq!((own.sets, own.are_new), (case().sets, false));
        let other = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 7.0);
        let scalar = Tensor::from_f64_fn(&Type::new(DType::F32, [0; 0]), |_| 3.0);
        let asked = given(&[("b", other.clone()), ("c", scalar.clone())]);
        let made = inputs(&mut case(), &asked, 0, Dear::Refuse).expect("inputs");
        let [set] = &made.sets[..] else { panic!("{made:?}") };
        let expected =
            [("a", tensor(2)), ("b", other), ("c", scalar)].map(|(name, value)| NamedDatum::new(name, value));
        assert_eq!((&set.inputs[..], made.are_new), (&expected[..], true));
        assert!(set.outputs.is_empty(), "nobody knows what is right for others");
    }

    #[test]
    fn a_case_that_tells_of_data_and_has_none_is_damaged() {
        let without = || CaseFolder { sets: Vec::new(), ..case() };
        let told = |json: &str| CaseFolder { json: Some(json.into()), ..without() };
        let nowhere = Path::new("");
        let bounds = r#"{"bounds": [{"name": "y", "elements": 2}]}"#;
        let why = lost_data(nowhere, &told(bounds)).expect("it is damaged").to_string();
        assert!(why.contains("its data set is missing"), "{why}");
        let why = inputs(&mut told(bounds), &UserInputs::default(), 0, Dear::Draw).expect_err("damaged");
        assert!(why.to_string().contains("its data set is missing"), "{why}");
        for whole in [without(), told("{}"), CaseFolder { json: Some(bounds.into()), ..case() }] {
            assert!(lost_data(nowhere, &whole).is_none());
        }
    }

    #[test]
    fn inputs_that_nobody_gave_are_made_up() {
        let made = |asked: &UserInputs| {
            let mut without = CaseFolder { sets: Vec::new(), ..case() };
            inputs(&mut without, asked, 0, Dear::Refuse).expect("inputs").are_made_up
        };
        assert!(made(&UserInputs::default()) && made(&given(&[("a", tensor(2))])));
        assert!(!made(&given(&[("a", tensor(2)), ("b", tensor(2))])));
    }

    #[test]
    fn what_is_not_about_a_case_with_data_is_no_input_of_it() {
        for (asked, told) in [
            (given(&[("nosuch", tensor(2))]), "no input `nosuch`; it has: a, b"),
            (
                given(&[("a", Tensor::from_f64_fn(&Type::new(DType::F64, [2]), |_| 0.0))]),
                "--input a is f64[2]",
            ),
            (given(&[("a", tensor(3))]), "the size `n` is 3 by --input a and 2 by the case's own b"),
            (
                UserInputs { sizes: [("n".to_owned(), 3)].into(), ..UserInputs::default() },
                "the case has its own data, which says all sizes; --dim n",
            ),
        ] {
            let why = misfit(&case(), &asked).expect("it is not about the case").to_string();
            assert!(why.contains(told), "{why}");
            assert!(inputs(&mut case(), &asked, 0, Dear::Draw).is_err());
        }
        assert!(misfit(&case(), &given(&[("a", tensor(2))])).is_none());
    }
}
