//! JUnit's XML, which CI systems show as test results.

use std::fmt::Write as _;

use campaign::junit::{TestCase, TestResult};

use crate::outside::Outside;

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
        Outside(suite).xml(),
        cases.len()
    );
    for case in cases {
        let _ = write!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\"",
            Outside(&case.class).xml(),
            Outside(&case.name).xml()
        );
        let _ = match &case.result {
            TestResult::Passed => writeln!(out, "/>"),
            TestResult::Failed(what, detail) => writeln!(out, "{}", wrong("failure", what, detail)),
            TestResult::Error(what, detail) => writeln!(out, "{}", wrong("error", what, detail)),
            TestResult::Skipped(why) => {
                writeln!(out, "><skipped message=\"{}\"/></testcase>", Outside(why).xml())
            }
        };
    }
    out.push_str("</testsuite>\n");
    out
}

/// The rest of a test's element, with what went wrong in it.
fn wrong(element: &str, what: &str, detail: &str) -> String {
    format!(
        "><{element} message=\"{}\">{}</{element}></testcase>",
        Outside(what).xml(),
        Outside(detail).xml()
    )
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
