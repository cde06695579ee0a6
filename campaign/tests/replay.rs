//! A saved case says of a backend what a campaign would say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use backends::engines::models::{OnModels, Runner};
use harness::Target;
use interp::Profile;
use ir::{DType, Datum, Tensor, Type};
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedDatum};
use onnx::program::Program;
use onnxsmith_campaign::replay::{Grade, Replay, Replayed, replay};
use ops::Model;
use worker::{Case, Description, Engine, EngineError, Source};

mod saved;

/// An engine that computes one dtype in another, and says so.
struct Stands {
    for_: DType,
    by: DType,
    refuses: bool,
}

impl Runner for Stands {
    fn describe(&self) -> Description {
        let mut dtypes: BTreeMap<String, String> = DType::ALL.map(|d| (d.to_string(), d.to_string())).into();
        dtypes.insert(self.for_.to_string(), self.by.to_string());
        Description {
            engine: "stands".to_owned(),
            version: "1".to_owned(),
            dtypes,
            levels: vec!["only".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        if self.refuses {
            return Err(EngineError::Run("no".to_owned()));
        }
        let narrow = |tensor: &Tensor| match tensor.dtype() {
            DType::F64 => {
                let values = tensor.to_f64s();
                Tensor::from_f64_fn(&tensor.ty(), |i| f64::from(values[i] as f32))
            }
            _ => tensor.clone(),
        };
        let inputs: Vec<Tensor> = inputs.iter().map(narrow).collect();
        interp::evaluate_plain(model, &inputs).map_err(|e| EngineError::Run(e.to_string()))
    }
}

fn on(cases: &[PathBuf], engine: Stands) -> Replayed {
    let targets = Target::here(Box::new(OnModels::new(engine)));
    let how = Replay::on(&targets);
    replay(cases, &how, &|| {})
}

fn outcome(replayed: &Replayed) -> (Grade, &str) {
    replayed.not_passing.first().map_or((Grade::Pass, ""), |case| (case.outcome, case.why.as_str()))
}

/// y = x + x of a number that f32 does not have.
fn sum(at: &Path, dtype: DType, value: f64) -> PathBuf {
    saved_case(at, dtype, value, "Add(%0, %0)")
}

fn saved_case(at: &Path, dtype: DType, value: f64, node: &str) -> PathBuf {
    let text = format!(
        "onnxsmith 1 opset 21\ngraph {{\n  %0: {dtype}[1] = variable \"x\"\n  %1: {dtype}[1] = {node}\n  return \"y\" = %1\n}}\n"
    );
    let model: Model = text.parse().expect("a model");
    let x = Tensor::from_f64_fn(&Type::new(dtype, [1]), |_| value);
    fs::create_dir_all(at).expect("a folder");
    saved::save(at, model, vec![x], &Profile::DECLARED)
}

fn stands(for_: DType, by: DType) -> Stands {
    Stands { for_, by, refuses: false }
}

#[test]
fn an_engine_is_held_to_the_dtype_that_it_says_it_computes_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = [sum(folder.path(), DType::F64, 0.1)];
    let honest = on(&case, stands(DType::F64, DType::F32));
    let (result, why) = outcome(&honest);
    assert_eq!(result, Grade::Unsupported, "{why}");
    assert!(why.contains("declared limitation") && why.contains("f64"), "{why}");
    assert_eq!(outcome(&on(&case, stands(DType::F64, DType::F64))).0, Grade::Mismatch);

    // The same by stored outputs and a tolerance.
    fs::write(case[0].join("case.json"), r#"{"rtol": 1e-12, "atol": 0}"#).expect("case.json");
    let fixed = on(&case, stands(DType::F64, DType::F32));
    assert_eq!(outcome(&fixed).0, Grade::Unsupported, "{:?}", outcome(&fixed));
    assert_eq!(outcome(&on(&case, stands(DType::F64, DType::F64))).0, Grade::Mismatch);

    // What does not need the wider dtype is compared all the same.
    let half = [sum(&folder.path().join("half"), DType::F64, 0.5)];
    assert_eq!(outcome(&on(&half, stands(DType::F64, DType::F32))).0, Grade::Pass);
}

/// Whether `run --out` writes an answer.
#[test]
fn an_answer_that_counts_as_unsupported_is_not_written_for_other_judges() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = [sum(folder.path(), DType::F64, 0.1)];
    let half = [sum(&folder.path().join("half"), DType::F64, 0.5)];
    // What is told to be computed in f32 is excused where digits are lost. Called wrong, it is written.
    for (case, by, grade) in [
        (&whole, DType::F32, Grade::Unsupported),
        (&whole, DType::F64, Grade::Mismatch),
        (&half, DType::F32, Grade::Pass),
    ] {
        let out = tempfile::tempdir().expect("a folder");
        let targets = Target::here(Box::new(OnModels::new(stands(DType::F64, by))));
        let how = Replay { out: Some(out.path()), ..Replay::on(&targets) };
        let replayed = replay(case, &how, &|| {});
        assert_eq!(outcome(&replayed).0, grade);
        let is_written = out.path().join("case-7/stands-only/output_0.pb").is_file();
        assert_eq!(is_written, grade != Grade::Unsupported, "{grade:?}");
        assert_eq!(
            out.path().join("case-7").exists(),
            is_written,
            "a folder without outputs would be judged"
        );
    }
}

/// Gives a saved case a question that it was saved for.
fn ask(case: &Path, oracle: &str, name: &str) {
    let at = case.join("case.json");
    let mut about: serde_json::Value =
        serde_json::from_slice(&fs::read(&at).expect("case.json")).expect("JSON");
    about["check"] = serde_json::json!({ "oracle": oracle, "name": name });
    fs::write(&at, about.to_string()).expect("case.json");
}

#[test]
fn a_question_asked_again_is_allowed_what_the_engine_declares() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = [sum(folder.path(), DType::F64, 0.1)];
    ask(&case[0], "roundtrip", "written");
    let honest = on(&case, stands(DType::F64, DType::F32));
    assert_eq!(outcome(&honest).0, Grade::Unsupported, "{:?}", outcome(&honest));
    assert_eq!(outcome(&on(&case, stands(DType::F64, DType::F64))).0, Grade::Mismatch);
}

#[test]
fn a_question_about_a_level_that_an_engine_does_not_have_says_nothing_of_the_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wrong, right) =
        (sum(folder.path(), DType::F64, 0.1), sum(&folder.path().join("half"), DType::F64, 0.5));
    for (case, grade) in [(wrong, Grade::Mismatch), (right, Grade::Pass)] {
        ask(&case, "optimiser", "best");
        let replayed = on(&[case], stands(DType::F64, DType::F64));
        assert_eq!(outcome(&replayed).0, grade, "{:?}", outcome(&replayed));
    }
}

/// An engine that computes in a narrower dtype, says so, and gives its outputs an axis too many.
struct Reshapes;

impl Runner for Reshapes {
    fn describe(&self) -> Description {
        stands(DType::F64, DType::F32).describe()
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let outputs = stands(DType::F64, DType::F32).run(model, inputs)?;
        let wider = |y: &Tensor| {
            let (values, shape) = (y.to_f64s(), [&[1], &y.ty().shape[..]].concat());
            Tensor::from_f64_fn(&Type::new(y.dtype(), shape), |i| values[i])
        };
        Ok(outputs.iter().map(wider).collect())
    }
}

#[test]
fn a_narrower_dtype_is_no_excuse_for_another_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = [sum(folder.path(), DType::F64, 0.1)];
    let grade = || {
        let targets = Target::here(Box::new(OnModels::new(Reshapes)));
        outcome(&replay(&case, &Replay::on(&targets), &|| {})).0
    };
    assert_eq!(grade(), Grade::Mismatch);
    fs::write(case[0].join("case.json"), r#"{"rtol": 1e-12, "atol": 0}"#).expect("case.json");
    assert_eq!(grade(), Grade::Mismatch);
}

#[test]
fn a_refusal_of_a_dtype_that_is_not_stated_is_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = [sum(folder.path(), DType::F64, 0.1)];
    let refusing = |by| on(&case, Stands { for_: DType::F64, by, refuses: true });
    assert_eq!(outcome(&refusing(DType::F32)).0, Grade::Unsupported);
    assert_eq!(outcome(&refusing(DType::F64)).0, Grade::Rejected);
}

#[test]
fn what_our_import_lacks_is_ours_and_a_broken_file_is_nobodys() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let good = sum(at, DType::F32, 0.5);
    let model = fs::read(good.join("model.onnx")).expect("a model");
    // An operator that we do not have: images are not decoded.
    let other = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (uint8[9] x) => (uint8[3, 3, 3] y) { y = ImageDecoder(x) }\n";
    fs::write(at.join("other.onnxtxt"), other).expect("a file");
    fs::write(at.join("cut.onnx"), &model[..model.len() - 1]).expect("a file");
    let cases = [good, at.join("other.onnxtxt"), at.join("cut.onnx")];
    let replayed = on(&cases, stands(DType::F32, DType::F32));
    let counts = replayed.backends["stands:only"];
    assert_eq!((counts.pass, counts.no_reference, counts.broken), (1, 1, 1), "{:?}", replayed.not_passing);
    assert_eq!((counts.unsupported, counts.rejected), (0, 0));
    assert!(!counts.failed() && counts.has_compared());
    assert!(outcome(&replayed).1.contains("ImageDecoder"), "{:?}", replayed.not_passing);
    let broken: Vec<_> = replayed.broken().iter().map(|case| case.case.clone()).collect();
    assert_eq!(broken, [at.join("cut.onnx")]);
    let nothing = on(&cases[1..2], stands(DType::F32, DType::F32));
    assert_eq!(nothing.nothing_compared().collect::<Vec<_>>(), ["stands:only"]);
}

/// An engine that makes constants of the defaults of inputs, and says so.
struct Folds(OnModels<Stands>);

impl Engine for Folds {
    fn describe(&self) -> Description {
        Description { overrides_defaults: false, ..self.0.describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let program =
            onnx::proto::decode("model", case.model.message()?).and_then(Program::read).expect("a program");
        let Some(folded) = program.without_defaults(|_| false) else { return self.0.run(case) };
        let body = &folded.main.body;
        let is_input = |name: &str| body.inputs.iter().any(|port| folded.main.name(port.value) == name);
        let inputs: Vec<_> = case.inputs.iter().filter(|(name, _)| is_input(name)).cloned().collect();
        let model = onnx::encode(&folded.write());
        self.0.run(&Case { model: Source::Message(&model), inputs: &inputs, ..*case })
    }
}

#[test]
fn an_engine_that_makes_constants_of_defaults_gets_the_model_without_those_that_have_other_values() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
        m (float[1] x, float[1] w) => (float[1] y) <float[1] w = {2.0}> { y = Mul(x, w) }\n";
    let number = |value: f64| Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| value);
    let program = Program::from_text(text).expect("a text");
    for (given, right) in [(Some(7.0), 21.0), (None, 6.0)] {
        let x = NamedDatum::new("x", number(3.0));
        let w = given.map(|w| NamedDatum::new("w", number(w)));
        let inputs = [x].into_iter().chain(w).collect();
        let set =
            DataSet { inputs, outputs: vec![NamedDatum::new("y", number(right))], ..DataSet::default() };
        let folder = tempfile::tempdir().expect("a folder");
        let case = folder.path().join("case");
        let model = onnx::encode(&program.write()).into();
        CaseFolder { model, sets: vec![set], ..CaseFolder::default() }.write(&case).expect("a case");
        for engine in [
            Box::new(Folds(OnModels::new(stands(DType::F64, DType::F64)))) as Box<dyn Engine + Send>,
            Box::new(OnModels::new(stands(DType::F64, DType::F64))),
        ] {
            let targets = Target::here(engine);
            let replayed = replay(std::slice::from_ref(&case), &Replay::on(&targets), &|| {});
            assert_eq!(outcome(&replayed), (Grade::Pass, ""), "{given:?}");
        }
    }
}

#[test]
fn where_it_is_stopped_what_has_run_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "<ir_version: 10, opset_import: [\"\" : 21]>\nm (float[2] x) => (y) { y = Neg(x) }\n";
    let cases: Vec<PathBuf> = (0..5).map(|i| folder.path().join(format!("{i}.onnxtxt"))).collect();
    for case in &cases {
        fs::write(case, text).expect("a model");
    }
    let targets =
        Target::here(Box::new(OnModels::new(Stands { for_: DType::F64, by: DType::F64, refuses: true })));
    let done = AtomicUsize::new(0);
    let stop = || done.load(Ordering::Relaxed) >= 2;
    let how = Replay { stop: &stop, ..Replay::on(&targets) };
    let all = replay(&cases, &how, &|| {
        done.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!((all.cases, all.left_out), (2, 3));
    assert_eq!(all.not_passing.iter().map(|case| &case.case).collect::<Vec<_>>(), [&cases[0], &cases[1]]);
    assert_eq!(all.backends["stands:only"].rejected, 2);
}
