//! The round-trip oracle: is a model that was written and read again the same model?
//!
//! - `text`: our text form, read again, is the same model.
//! - `onnx`: our ONNX bytes, read and written again, are the same bytes. The bytes of a model that another program
//!   wrote are not ours. Such a model is first written as we write it; then our bytes must come back the same, and must
//!   mean what the model meant.
//! - `written`: a runtime that can write its optimised model reads it again, and gives outputs within the bounds of
//!   the reference. Where the runtime is wrong without that detour, nothing follows.
//!
//! The first two are asked once for each case, of this program. The last is asked of each target that writes models.

use ops::Model;
use oracles::{Check, Symptom, Verdict, Why};

use onnx::CaseFolder;
use worker::Stage;

use super::saved::Saved;
use super::{AskError, NoReplay, Oracle, OracleAnswer, Question};
use crate::allowance::Exam;
use harness::case::{self, Case};
use harness::target::Target;

/// The oracle that writes a model, reads it again and asks whether it is the same.
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

/// Checks that our text form loses nothing. The error says what it loses.
fn text(model: &Model) -> Result<(), String> {
    let text = model.to_string();
    let read: Model = text.parse().map_err(|e| format!("the text form cannot be read: {e}"))?;
    if read == *model { Ok(()) } else { Err("the text form is read as another model".to_owned()) }
}

/// Checks that our ONNX form loses nothing. The error says what it loses.
fn bytes(case: &Case) -> Result<(), String> {
    let read = case::program(&case.onnx).map_err(|e| format!("the program cannot be read: {e}"))?;
    if let Some(written) = &case.program {
        let is_same = read.write() == written.write();
        return if is_same { Ok(()) } else { Err("the program is read as another one".to_owned()) };
    }
    let (first, again) = again(&case.onnx, case)?;
    let is_ours = read.rest.producer_name() == onnx::names::PRODUCER;
    let (model, is_same) = if is_ours {
        (first.clone(), again == case.onnx)
    } else {
        let (model, twice) = self::again(&again, case)?;
        (model, twice == again)
    };
    match () {
        () if !is_same => Err("the ONNX form is written as other bytes".to_owned()),
        () if model != first => Err("the ONNX form is read as another model".to_owned()),
        () => Ok(()),
    }
}

/// The model that ONNX bytes mean on the inputs of a case, and the bytes as which we write it.
fn again(bytes: &[u8], case: &Case) -> Result<(Model, Vec<u8>), String> {
    let read = case::program(bytes).map_err(|e| format!("the program cannot be read: {e}"))?;
    let known = case.inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let led = case::trace(&read, &known).map_err(|e| format!("the ONNX form cannot be read: {e}"))?;
    // What hangs on values leads to a graph of its own for these, with what reads them and without functions.
    let again = if led.is_specialised { Ok(onnx::encode(&read.write())) } else { case::export(&led.model) };
    let again = again.map_err(|e| format!("the ONNX form cannot be written again: {e}"))?;
    Ok((led.model, again))
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
    // For a target that writes no models there is no detour: the model as it is has the same right outputs.
    let written = target.written().unwrap_or_else(|| target.clone());
    Ok(Saved::load(folder, target.profile)?.verdict(&written)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"onnxsmith 1 opset 16
graph {
  %0: f32[3] = variable "x"
  %1: f32[3] = LeakyRelu(%0) {alpha = 0.3}
  return "y" = %1
}"#;

    /// A case of which the bytes are these, and what its model becomes as they are read and written again.
    fn kept(text: &str, edit: impl FnOnce(&mut onnx::proto::ModelProto)) -> Result<(), String> {
        let model: Model = text.parse().expect("a model");
        let exported = case::export(&model).expect("it is valid");
        let mut message: onnx::proto::ModelProto = onnx::proto::decode("model", &exported).expect("a model");
        edit(&mut message);
        bytes(&Case { onnx: onnx::encode(&message), ..Case::bare(model) })
    }

    #[test]
    fn the_bytes_of_another_program_are_its_own() {
        let others = |message: &mut onnx::proto::ModelProto| {
            message.producer_name = Some("another".to_owned());
            message.doc_string = Some("a text".to_owned());
        };
        assert_eq!(kept(TEXT, others), Ok(()));
        assert_eq!(kept(&TEXT.replace("0.3", "nan(0x7fc00000)"), others), Ok(()));
    }

    #[test]
    fn our_own_bytes_are_kept() {
        assert_eq!(kept(TEXT, |_| {}), Ok(()));
        let changed = kept(TEXT, |message| message.doc_string = Some("a text".to_owned()));
        assert_eq!(changed, Err("the ONNX form is written as other bytes".to_owned()));
    }

    #[test]
    fn a_nan_among_the_attributes_is_kept_as_text() {
        let model: Model = TEXT.replace("0.3", "nan(0x7fc00000)").parse().expect("a model");
        assert_eq!(text(&model), Ok(()));
    }
}
