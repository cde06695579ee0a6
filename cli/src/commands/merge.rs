//! `onnxsmith merge`

use anyhow::anyhow;
use campaign::store::StoreError;

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
    let store = campaign::store::merge(&args.parts, &args.out).map_err(unmerged)?;
    let mut report = store.report()?;
    report.mark_known(&known, store.identity());
    let cpu = before.since();
    let was_interrupted = false;
    let session = Session::Later;
    Results { report: &report, store: &store, was_interrupted, cpu, session }.show(common, junit)
}

/// Why parts are not merged. What a full disk means for a campaign that runs, it does not mean here: there is nothing to go on with.
fn unmerged(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Full { path } => anyhow!(
            "the disk is full: cannot write to {}; the parts are as they were, so free some space and merge them again, or give \
             --out a folder on another disk",
            path.display()
        ),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::with_advice;

    #[test]
    fn on_a_full_disk_nothing_is_told_that_merge_does_not_take() {
        let said = with_advice(unmerged(StoreError::Full { path: "all".into() }).as_ref());
        assert!(
            !said.contains("--resume") && said.contains("cannot write to all; the parts are as they were"),
            "{said}"
        );
        let said = with_advice(unmerged(StoreError::IntoPart { folder: "all".into() }).as_ref());
        assert!(said.ends_with("; give --out another folder"), "{said}");
    }
}
