//! `onnxsmith ops`

use crate::Exit;
use crate::args::{Common, Ops};
use crate::screen;

/// Lists the operators.
pub(crate) fn run(common: Common, _args: Ops) -> anyhow::Result<Exit> {
    let names: Vec<&str> = ops::registry().map(|s| s.name).collect();
    if common.json {
        screen::json(&names)?
    } else {
        screen::text(&names.join("\n"))?
    }
    Ok(Exit::Clean)
}
