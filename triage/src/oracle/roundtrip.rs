//! The round-trip oracle: is a model that was written and read again the same model?
//!
//! - `text`: our text form, read again, is the same model.
//! - `onnx`: our ONNX bytes, read and written again, are the same bytes.
//! - `written`: a runtime that can write the model as it has optimised it reads that again, and gives outputs within
//!   the bounds of the reference. Where the runtime is wrong without that detour, nothing follows.
//!
//! The first two are asked once for a case, of ourselves; the last of each target that can.

use ops::Model;
use oracles::{Check, Symptom, Verdict, Why};

use onnx::CaseFolder;
use worker::Stage;

use super::saved::Saved;
use super::{AskError, NoReplay, Oracle, OracleAnswer, Question};
use crate::allowance::Exam;
use harness::case::{self, Case};
use harness::target::Target;

/// Written and read again, is it the same?
pub struct RoundTrip;

/// The name under which our own forms are judged.
const OURSELVES: &str = "onnxsmith";

impl RoundTrip {
    /// The oracle's name.
    pub const NAME: &'static str = oracles::ROUND_TRIP;
}

fn check(name: &str) -> Check {
    Check { oracle: RoundTrip::NAME.to_owned(), name: name.to_owned() }
}

impl Oracle for RoundTrip {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn questions(&self) -> Vec<String> {
        ["text", "onnx", "written"].map(str::to_owned).into()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let mut answers = Vec::new();
        // Once for a case: beside the first target that is asked about it.
        let mut asked = question.targets.iter().filter(|target| target.lacks_of(question.case).is_none());
        if asked.next().is_some_and(|first| first.name() == question.target.name()) {
            answers.push(ours("text", text(&question.case.model)));
            answers.push(ours("onnx", bytes(question.case)));
        }
        if let Some(written) = question.target.written() {
            answers.push(by_runtime(question, &written)?);
        }
        Ok(answers)
    }
}

/// What our text form loses.
fn text(model: &Model) -> Result<(), String> {
    let text = model.to_string();
    let read: Model = text.parse().map_err(|e| format!("the text form cannot be read: {e}"))?;
    if read == *model { Ok(()) } else { Err("the text form is read as another model".to_owned()) }
}

/// What our ONNX form loses.
fn bytes(case: &Case) -> Result<(), String> {
    let read = case::program(&case.onnx).map_err(|e| format!("the program cannot be read: {e}"))?;
    if let Some(written) = &case.program {
        let is_same = read.write() == written.write();
        return if is_same { Ok(()) } else { Err("the program is read as another one".to_owned()) };
    }
    let known = case.inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let led = case::trace(&read, &known).map_err(|e| format!("the ONNX form cannot be read: {e}"))?;
    // What hangs on values leads to a graph of its own for these, with what reads them and without functions.
    let again = if led.is_specialised { Ok(onnx::encode(&read.write())) } else { case::export(&led.model) };
    let again = again.map_err(|e| format!("the ONNX form cannot be written again: {e}"))?;
    if again == case.onnx { Ok(()) } else { Err("the ONNX form is written as other bytes".to_owned()) }
}

fn ours(name: &str, kept: Result<(), String>) -> OracleAnswer {
    let check = check(name);
    let mut verdict = match kept {
        Ok(()) => Verdict::Pass,
        Err(detail) => {
            let symptom = Symptom::Rejected { stage: Stage::Load, message: detail.clone() };
            Verdict::bug(OURSELVES, name, symptom, detail)
        }
    };
    if let Verdict::Bug(finding) = &mut verdict {
        finding.check = Some(check.clone());
    }
    OracleAnswer { verdict: Some(verdict), ..OracleAnswer::inapplicable(check) }
}

fn by_runtime(question: &Question<'_>, written: &Target) -> Result<OracleAnswer, AskError> {
    let Question { target, case, interface, expected, .. } = *question;
    let check = check("written");
    if let Verdict::Bug(_) = target.judge(question.outcome, expected) {
        let verdict = Verdict::Incomparable(Why::Undecided("it is wrong without the detour".to_owned()));
        return Ok(OracleAnswer { verdict: Some(verdict), ..OracleAnswer::inapplicable(check) });
    }
    let ran = written.run(&case.onnx, &case.inputs, interface)?;
    let exam = Exam::new(written, &ran.outcome, &ran.stderr, expected);
    let (mut verdict, alone) = question.suspect.conclude(written, case.all_defined, &exam)?;
    if let Verdict::Bug(finding) = &mut verdict {
        finding.check = Some(check.clone());
    }
    Ok(OracleAnswer { verdict: Some(verdict), alone, ..OracleAnswer::inapplicable(check) })
}

/// Asks the same of a saved case.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    if check.name != "written" {
        return Err(NoReplay::Inapplicable("it is a question to this program, not to a backend".to_owned()));
    }
    // For one that writes no models there is no detour: the model as it is has the same right outputs.
    let written = target.written().unwrap_or_else(|| target.clone());
    Ok(Saved::load(folder, target.profile)?.verdict(&written)?)
}
