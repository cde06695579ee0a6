//! `onnxsmith show`

use anyhow::Context;
use onnx::CaseFolder;

use crate::Exit;
use crate::args::{Common, Show};
use crate::screen;

/// Prints a model in the text form, or as DOT.
pub(crate) fn run(common: Common, args: &Show) -> anyhow::Result<Exit> {
    let folder = CaseFolder::read(&args.case)?;
    let known = harness::case::known_inputs(&folder);
    let model = harness::case::import(&folder.model, &known)
        .with_context(|| format!("cannot read the model of {}", args.case.display()))?;
    let shown = if args.dot { ir::view::dot(&model) } else { model.to_string() };
    if common.json {
        screen::json(&serde_json::json!({ "case": args.case, "text": shown }))?;
    } else {
        screen::text(&shown)?;
    }
    Ok(Exit::Clean)
}
