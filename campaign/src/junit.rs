//! JUnit's XML, which CI systems show as test results.

use std::fmt::Write as _;

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

/// The document for a list of results.
pub fn document(suite: &str, cases: &[TestCase]) -> String {
    let count = |f: fn(&TestResult) -> bool| cases.iter().filter(|c| f(&c.result)).count();
    let failures = count(|r| matches!(r, TestResult::Failed(..)));
    let errors = count(|r| matches!(r, TestResult::Error(..)));
    let skipped = count(|r| matches!(r, TestResult::Skipped(_)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
        escape(suite),
        cases.len()
    );
    for case in cases {
        let _ =
            write!(out, "  <testcase classname=\"{}\" name=\"{}\"", escape(&case.class), escape(&case.name));
        let _ = match &case.result {
            TestResult::Passed => writeln!(out, "/>"),
            TestResult::Failed(what, detail) => writeln!(out, "{}", wrong("failure", what, detail)),
            TestResult::Error(what, detail) => writeln!(out, "{}", wrong("error", what, detail)),
            TestResult::Skipped(why) => writeln!(out, "><skipped message=\"{}\"/></testcase>", escape(why)),
        };
    }
    out.push_str("</testsuite>\n");
    out
}

/// The rest of a test's element, with what went wrong in it.
fn wrong(element: &str, what: &str, detail: &str) -> String {
    format!("><{element} message=\"{}\">{}</{element}></testcase>", escape(what), escape(detail))
}

/// Text as XML allows it: markup escaped, characters that XML 1.0 excludes replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_document() {
        let failed = TestResult::Failed("a<b".to_owned(), "1 & \"2\"\u{1}".to_owned());
        let case = TestCase { class: "rten:all".to_owned(), name: "\"><script>".to_owned(), result: failed };
        let text = document("s", &[case]);
        assert!(text.contains("failures=\"1\"") && text.contains("&quot;&gt;&lt;script&gt;"), "{text}");
        assert!(!text.contains("<script>") && !text.contains('\u{1}'));
    }
}
