//! The file of `--junit`. A command that fails before it has results writes its error there: what CI publishes is of
//! this run, never of an earlier one.

use std::cell::Cell;
use std::path::Path;

use campaign::Exit;
use campaign::junit::{TestCase, TestResult};
use present::junit;

use super::writable_file;
use crate::destination;

/// Where a command writes its results for CI systems, if anywhere.
pub(super) struct JunitFile<'a> {
    suite: &'static str,
    file: Option<&'a Path>,
    /// Whether the results are there.
    is_written: Cell<bool>,
}

impl<'a> JunitFile<'a> {
    /// The file of a command that is called so.
    pub(super) fn of(suite: &'static str, file: Option<&'a Path>) -> Self {
        Self { suite, file, is_written: Cell::new(false) }
    }

    /// Makes sure that the file can be written, before there is anything to write.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        writable_file("--junit", self.file)
    }

    /// Writes results.
    pub(super) fn write(&self, results: &[TestCase]) -> anyhow::Result<()> {
        let Some(file) = self.file else { return Ok(()) };
        destination::write(file, &junit::document(self.suite, results))?;
        self.is_written.set(true);
        Ok(())
    }

    /// What the command ends with. An error that came before the results is written in their place.
    pub(super) fn ended(&self, with: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
        if let Err(why) = &with
            && !self.is_written.get()
            && self.check().is_ok()
        {
            let result =
                TestResult::Error("it ended before there were results".to_owned(), crate::message(why));
            let (class, name) = ("onnxsmith".to_owned(), self.suite.to_owned());
            // The first error is told; that this file cannot be written either adds nothing.
            let _ = self.write(&[TestCase { class, name, result }]);
        }
        with
    }
}
