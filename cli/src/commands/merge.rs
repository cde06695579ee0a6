//! `onnxsmith merge`

use super::fuzz::{Results, SUITE, Session, known};
use super::junit_file::JunitFile;
use crate::args::{Common, Merge};
use backends::usage::CpuTime;
use campaign::Exit;

/// Makes one campaign of its parts.
pub(crate) fn run(common: Common, args: &Merge) -> anyhow::Result<Exit> {
    let junit = JunitFile::of(SUITE, args.junit.file.as_deref());
    junit.ended(merged(common, args, &junit))
}

fn merged(common: Common, args: &Merge, junit: &JunitFile<'_>) -> anyhow::Result<Exit> {
    let known = known(args.known.file.as_deref())?;
    junit.check()?;
    let before = CpuTime::now();
    let store = campaign::store::merge(&args.parts, &args.out)?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let cpu = before.since();
    let was_interrupted = false;
    let session = Session::Later;
    Results { report: &report, store: &store, was_interrupted, cpu, session }.show(common, junit)
}
