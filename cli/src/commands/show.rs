//! `onnxsmith show`

use std::path::Path;

use anyhow::Context;

use crate::args::{Common, Show};
use crate::screen;
use campaign::Exit;

/// Prints a model in the text form, or as DOT, or writes its case for other tools.
pub(crate) fn run(common: Common, args: &Show) -> anyhow::Result<Exit> {
    let folder = triage::stored::read(&args.case)?;
    if let Some(out) = &args.out {
        folder.write(out)?;
        return said(common, args, out);
    }
    let known = harness::case::known_inputs(&folder);
    let model = harness::case::import(&folder.model, &known)
        .with_context(|| format!("cannot read the model of {}", args.case.display()))?
        .model;
    let shown = if args.dot { ir::view::dot(&model) } else { model.to_string() };
    if common.json {
        screen::json(&serde_json::json!({ "case": args.case, "text": shown }))?;
    } else {
        screen::text(&shown)?;
    }
    Ok(Exit::Clean)
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
