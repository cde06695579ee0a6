//! Programs that an engine has its own way with, reduced.

use harness::Target;
use ir::Datum;
use onnx::CaseFolder;
use onnx::program::Program;
use triage::invent::UserInputs;
use triage::reduce::{Budget, Reduced, Reduction, reduce};

use crate::having::{Having, case};

/// What a reduction of the case for an engine comes to, and the operators that are left.
pub(crate) fn reduced(
    wrong: fn(&Program) -> Option<Program>,
    program: &str,
    inputs: &[(&str, Datum)],
) -> (Reduced, Vec<String>, CaseFolder) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("case"), folder.path().join("reduced"));
    case(&from, program, inputs);
    let targets = Target::here(Box::new(Having(wrong)));
    let plan = Reduction {
        targets: &targets,
        seed: 1,
        given: &UserInputs::default(),
        budget: Budget::default(),
        stop: &|| false,
    };
    let reduced = reduce(&from, &to, &plan, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let case = CaseFolder::read(&to).unwrap();
    let program = case.decode().and_then(Program::read).unwrap();
    let mut operators = Vec::new();
    program.main.body.each_node(&mut |node| operators.push(node.rest.op_type().to_owned()));
    (reduced, operators, case)
}
