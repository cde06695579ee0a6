//! `onnxsmith watch`

use std::thread;

use campaign::Store;

use super::fuzz::known;
use crate::args::{Common, Watch};
use crate::board::{Board, Extent, lines};
use crate::screen;
use campaign::Exit;

/// Shows a campaign that runs elsewhere until it ends; once, where nobody watches.
pub(crate) fn run(common: Common, args: &Watch) -> anyhow::Result<Exit> {
    let known = known(args.known.file.as_deref())?;
    let store = Store::read(&args.campaign.folder)?;
    if common.json {
        let mut report = store.report()?;
        report.mark_known(&known, store.identity());
        screen::json(&report)?;
        return Ok(Exit::Clean);
    }
    let mut board = Board::new();
    while board.is_seen() && store.is_running() {
        board.draw(&lines(&store, Extent::default(), &known)?)?;
        thread::sleep(args.every);
    }
    board.clear()?;
    screen::told(&lines(&store, Extent::default(), &known)?.join("\n"))?;
    Ok(Exit::Clean)
}
