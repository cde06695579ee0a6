//! `onnxsmith merge`

use super::fuzz::{Results, Session, known};
use super::writable_file;
use crate::args::{Common, Merge};
use campaign::Exit;

/// Makes one campaign of its parts.
pub(crate) fn run(common: Common, args: &Merge) -> anyhow::Result<Exit> {
    let known = known(args.known.as_deref())?;
    writable_file("--junit", args.junit.as_deref())?;
    let before = backends::usage::cpu_seconds();
    let store = campaign::store::merge(&args.parts, &args.out)?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let cpu_seconds = backends::usage::cpu_seconds() - before;
    let was_interrupted = false;
    let session = Session::Later;
    Results { report: &report, store: &store, was_interrupted, cpu_seconds, session }
        .show(common, args.junit.as_deref())
}
