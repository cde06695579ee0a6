//! `onnxsmith backends`

use crate::Exit;
use crate::args::Common;
use crate::screen;

/// Lists what is built in.
pub(crate) fn run(common: Common) -> anyhow::Result<Exit> {
    let names = backends::engines::all();
    if common.json {
        screen::json(&names)?
    } else {
        screen::text(&names.join("\n"))?
    }
    Ok(Exit::Clean)
}
