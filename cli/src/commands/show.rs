//! `onnxsmith show`

use std::path::Path;

use anyhow::Context;
use harness::case;
use onnx::program::Program;
use onnx::{CaseFolder, Imported};
use triage::folder::About;
use triage::inputs::{CaseInputs, Dear, inputs};
use triage::invent::{DrawnInputs, UserInputs};

use crate::args::{Common, Show, TextForm};
use crate::{destination, screen};
use campaign::Exit;

/// Prints a model as text, or as DOT, or writes its case for other tools.
pub(crate) fn run(common: Common, args: &Show) -> anyhow::Result<Exit> {
    args.out.as_deref().map_or(Ok(()), destination::of_case)?;
    let mut folder = triage::stored::read(&args.case)?;
    let about =
        About::read(&folder).with_context(|| format!("{}: case.json cannot be read", args.case.display()))?;
    let given = super::given(&args.given)?;
    let is_asked_for = !given.is_empty();
    if is_asked_for || args.out.is_some() && folder.sets.is_empty() {
        match inputs(&mut folder, &given, common.seed, Dear::Draw) {
            Ok(CaseInputs { sets, drawn, .. }) => {
                tell_drawn(common, &drawn);
                folder.sets = sets;
            }
            Err(why) if is_asked_for => return Err(why.into()),
            Err(why) => screen::tell(common, &format!("written without inputs: {why}")),
        }
    }
    if let Some(out) = &args.out {
        folder.write(out)?;
        return said(common, args, out);
    }
    let shown = shown(common, args, &folder, &about)
        .with_context(|| format!("cannot read the model of {}", args.case.display()))?;
    if common.json {
        screen::json(&serde_json::json!({ "case": args.case, "text": shown }))?;
    } else {
        screen::text(&shown)?;
    }
    Ok(Exit::Clean)
}

fn shown(common: Common, args: &Show, folder: &CaseFolder, about: &About) -> anyhow::Result<String> {
    let form = args.form.or(args.dot.then_some(TextForm::Dot));
    if form == Some(TextForm::Program) || form.is_none() && about.relaxed.is_some() {
        // The message itself, so that a broken one is shown as well.
        return Ok(onnx::text::print(&folder.decode()?).to_string());
    }
    let program = folder.decode().and_then(Program::read)?;
    let trace = case::trace(&program, &case::known_inputs(folder));
    Ok(match (form, trace) {
        (None, Ok(trace)) if !trace.is_specialised => trace.model.to_string(),
        (None, Err(why)) if !folder.sets.is_empty() => return Err(why.into()),
        // What hangs on inputs that nobody has said is shown as it is written.
        (None | Some(TextForm::Program), _) => program.to_text().to_string(),
        (Some(TextForm::Model), trace) => at_some_inputs(common, folder, trace)?.model.to_string(),
        (Some(TextForm::Dot), trace) => ir::view::dot(&at_some_inputs(common, folder, trace)?.model),
    })
}

/// What a program computes for the inputs at hand, or for some that are drawn where there are none.
fn at_some_inputs(
    common: Common,
    folder: &CaseFolder,
    trace: Result<Imported, onnx::Error>,
) -> anyhow::Result<Imported> {
    if trace.is_ok() || !folder.sets.is_empty() {
        return Ok(trace?);
    }
    let mut folder = folder.clone();
    let made = inputs(&mut folder, &UserInputs::default(), common.seed, Dear::Draw)?;
    tell_drawn(common, &made.drawn);
    folder.sets = made.sets;
    Ok(case::trace(&folder.decode().and_then(Program::read)?, &case::known_inputs(&folder))?)
}

/// Says what was drawn.
fn tell_drawn(common: Common, drawn: &DrawnInputs) {
    if !drawn.is_empty() {
        screen::tell(common, &drawn.in_words());
    }
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
