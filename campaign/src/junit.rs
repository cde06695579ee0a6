//! What came of cases and findings, as test results: CI systems show these.

/// One test result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestCase {
    /// The group it is shown in.
    pub class: String,
    /// Its name.
    pub name: String,
    /// What came of it.
    pub result: TestResult,
}

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestResult {
    /// The test passed.
    Passed,
    /// The test failed: a short name of the failure, and the details.
    Failed(String, String),
    /// What was to be tested could not be: a short name of what kept it from that, and the details.
    Error(String, String),
    /// The test was not run, and why.
    Skipped(String),
}
