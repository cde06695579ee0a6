//! An engine that has its own way with programs, and cases for it.

use std::path::Path;

use backends::engines::models::OnModels;
use harness::reference::Reference;
use ir::Datum;
use onnx::case::{DataSet, NamedDatum};
use onnx::program::Program;
use onnx::proto::{ModelProto, decode};
use onnx::{CaseFolder, encode, text};
use worker::{Case, Description, Engine, EngineError, Source};

/// An engine that has its own way with some programs, and is right about all others.
pub(crate) struct Having(pub(crate) fn(&Program) -> Option<Program>);

impl Engine for Having {
    fn describe(&self) -> Description {
        OnModels::new(Reference).describe()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let program = decode::<ModelProto>("model", case.model.message()?).and_then(Program::read);
        let program = program.map_err(|e| EngineError::Load(e.to_string()))?;
        let wrong = self.0(&program).map(|program| encode(&program.write()));
        let model = wrong.as_deref().map_or(case.model, Source::Message);
        OnModels::new(Reference).run(&Case { model, ..*case })
    }
}

/// Writes a case of a program that is text.
pub(crate) fn case(path: &Path, program: &str, inputs: &[(&str, Datum)]) {
    case_of(path, &text::parse(program).unwrap_or_else(|e| panic!("{e}")), inputs);
}

/// Writes a case of a program.
pub(crate) fn case_of(path: &Path, model: &ModelProto, inputs: &[(&str, Datum)]) {
    let model = encode(model);
    let inputs = inputs.iter().map(|(name, datum)| NamedDatum::new(*name, datum.clone())).collect();
    let set = DataSet { inputs, ..DataSet::default() };
    let json = Some(br#"{"tolerance": "derived"}"#.to_vec());
    CaseFolder { model: model.into(), sets: vec![set], json, ..CaseFolder::default() }.write(path).unwrap();
}
