//! `onnxsmith show`

use std::path::Path;

use anyhow::Context;
use harness::case;
use onnx::program::Program;
use onnx::{CaseFolder, Imported};

use crate::args::{Common, Form, Show};
use crate::screen;
use campaign::Exit;

/// Prints a model as text, or as DOT, or writes its case for other tools.
pub(crate) fn run(common: Common, args: &Show) -> anyhow::Result<Exit> {
    let folder = triage::stored::read(&args.case)?;
    if let Some(out) = &args.out {
        folder.write(out)?;
        return said(common, args, out);
    }
    let shown =
        shown(args, &folder).with_context(|| format!("cannot read the model of {}", args.case.display()))?;
    if common.json {
        screen::json(&serde_json::json!({ "case": args.case, "text": shown }))?;
    } else {
        screen::text(&shown)?;
    }
    Ok(Exit::Clean)
}

fn shown(args: &Show, folder: &CaseFolder) -> Result<String, onnx::Error> {
    let form = args.form.or(args.dot.then_some(Form::Dot));
    if form == Some(Form::Program) {
        // The message itself, so that a broken one is shown as well.
        return Ok(onnx::text::print(&folder.decode()?).to_string());
    }
    let program = folder.decode().and_then(Program::read)?;
    let trace = case::trace(&program, &case::known_inputs(folder))?;
    Ok(match form.unwrap_or_else(|| form_that_says_all(&trace)) {
        Form::Model => trace.model.to_string(),
        Form::Program => program.to_text().to_string(),
        Form::Dot => ir::view::dot(&trace.model),
    })
}

fn form_that_says_all(trace: &Imported) -> Form {
    if trace.is_specialised { Form::Program } else { Form::Model }
}

/// Says where the case was written.
fn said(common: Common, args: &Show, out: &Path) -> anyhow::Result<Exit> {
    if common.json {
        screen::json(&serde_json::json!({ "case": args.case, "out": out }))?;
    } else {
        screen::tell(common, &format!("wrote {}", out.display()));
    }
    Ok(Exit::Clean)
}
