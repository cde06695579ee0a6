//! Whether findings still hold is found out by running them: on engines that are as wrong as a finding says, in another way, in a
//! way that the bounds leave open, or not at all.

use backends::cpu::{Cpu, model::run_model};
use backends::engines::models::{OnModels, Runner};
use harness::Target;
use ir::{DType, Tensor, Type};
use onnxsmith_campaign::corpus::{Revisited, Standing, revisit};
use ops::Model;
use triage::known::Corpus;
use worker::{Description, EngineError};

/// Our CPU kernels, whose answer is changed.
struct Odd(fn(Vec<Tensor>) -> Result<Vec<Tensor>, EngineError>);

impl Runner for Odd {
    fn describe(&self) -> Description {
        let said = |text: &str| text.to_owned();
        let dtypes = DType::ALL.map(|d| (d.to_string(), d.to_string())).into();
        let (engine, version, levels) = (said("odd"), said("2.0"), vec![said("none")]);
        Description { engine, version, levels, dtypes, ..Description::default() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        (self.0)(run_model(model, inputs, &mut Cpu).map_err(|e| EngineError::Run(e.to_string()))?)
    }
}

/// A corpus with one finding: Sign of 0.
fn corpus(judgement: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let finding = format!(
        r#"says = '1'
right = '0'
judgement = '{judgement}'
upstream = 'not reported'
versions = '1.1'
expires = '2027-06-30'

[[signatures]]
pattern = 'odd | Sign f32 * | mismatch gross'

[case]
model = '''
onnxsmith 1 opset 17
graph {{
  %0: f32[1] = variable "x"
  %1: f32[1] = Sign(%0)
  return "y" = %1
}}
'''
inputs.x = 'f32[1] {{0.0}}'
outputs.y = 'f32[1] {{0.0}}'
"#
    );
    let put = |file: &str, text: &str| {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    };
    put("odd-1.1/engine.toml", "title = 'odd 1.1'\nengine = 'odd'\nbefore = ''\n");
    put("odd-1.1/sign-zero/finding.toml", &finding);
    put("other-1/engine.toml", "title = 'other 1'\nengine = 'other'\nbefore = ''\n");
    put("other-1/sign-zero/finding.toml", &finding);
    folder
}

fn revisited(odd: Odd, judgement: &str) -> Revisited {
    let folder = corpus(judgement);
    let corpus = Corpus::read(folder.path()).expect("a corpus");
    let targets = Target::here(Box::new(OnModels::new(odd)));
    let mut all = revisit(&corpus, folder.path(), &targets, 2, &|| false, &|| {});
    assert_eq!(all.len(), 1, "the findings of the other engine are not this one's");
    all.remove(0)
}

fn real(v: f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| v)
}

#[test]
fn a_finding_is_shown_where_its_signature_covers_what_is_seen() {
    let seen = revisited(Odd(|_| Ok(vec![real(1.0)])), "bug");
    assert_eq!((seen.standing, &seen.levels[..]), (Standing::Shown, &["none".to_owned()][..]));
    assert_eq!(seen.seen, "odd | Sign f32 dense | mismatch gross");
    assert_eq!(
        (seen.finding.as_str(), seen.is_about_version, seen.holds()),
        ("odd-1.1/sign-zero", false, true)
    );
}

#[test]
fn another_symptom_is_another_finding() {
    let nan = revisited(Odd(|_| Ok(vec![real(f64::NAN)])), "bug");
    assert_eq!((nan.standing, nan.holds()), (Standing::Changed, false));
    let refused = revisited(Odd(|_| Err(EngineError::Run("no".to_owned()))), "bug");
    assert_eq!(refused.standing, Standing::Changed);
}

#[test]
fn what_is_right_now_is_gone() {
    let seen = revisited(Odd(Ok), "bug");
    assert_eq!((seen.standing, seen.levels.len(), seen.holds()), (Standing::Gone, 1, false));
}

#[test]
fn a_limitation_is_what_the_engine_says_that_it_lacks() {
    let lacks = |_| Err(EngineError::Unsupported("Sign".to_owned()));
    assert_eq!(revisited(Odd(lacks), "limitation").standing, Standing::Shown);
    assert_eq!(revisited(Odd(lacks), "bug").standing, Standing::Unjudged);
}
