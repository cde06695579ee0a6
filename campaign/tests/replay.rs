//! A saved case says of a backend what a campaign would say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use backends::engines::models::{OnModels, Runner};
use harness::Target;
use interp::Profile;
use ir::{DType, Tensor, Type};
use onnxsmith_campaign::replay::{Replay, Replayed, Result as Outcome, replay};
use ops::Model;
use worker::{Description, EngineError};

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

fn outcome(replayed: &Replayed) -> (Outcome, &str) {
    replayed.not_passing.first().map_or((Outcome::Pass, ""), |case| (case.outcome, case.why.as_str()))
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
    assert_eq!(result, Outcome::Unsupported, "{why}");
    assert!(why.contains("declared limitation") && why.contains("f64"), "{why}");
    assert_eq!(outcome(&on(&case, stands(DType::F64, DType::F64))).0, Outcome::Mismatch);

    // The same by stored outputs and a tolerance.
    fs::write(case[0].join("case.json"), r#"{"rtol": 1e-12, "atol": 0}"#).expect("case.json");
    let fixed = on(&case, stands(DType::F64, DType::F32));
    assert_eq!(outcome(&fixed).0, Outcome::Unsupported, "{:?}", outcome(&fixed));
    assert_eq!(outcome(&on(&case, stands(DType::F64, DType::F64))).0, Outcome::Mismatch);

    // What does not need the wider dtype is compared all the same.
    let half = [sum(&folder.path().join("half"), DType::F64, 0.5)];
    assert_eq!(outcome(&on(&half, stands(DType::F64, DType::F32))).0, Outcome::Pass);
}

#[test]
fn a_refusal_of_a_dtype_that_is_not_stated_is_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = [sum(folder.path(), DType::F64, 0.1)];
    let refusing = |by| on(&case, Stands { for_: DType::F64, by, refuses: true });
    assert_eq!(outcome(&refusing(DType::F32)).0, Outcome::Unsupported);
    assert_eq!(outcome(&refusing(DType::F64)).0, Outcome::Rejected);
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
