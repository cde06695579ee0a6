//! What a page says in code: fenced blocks, and the spans in its text.

use anyhow::{Result, bail};

/// The code of a page.
pub(super) struct Page {
    pub(super) blocks: Vec<Block>,
    /// Code within lines, with the line of the paragraph it stands in.
    pub(super) spans: Vec<(usize, String)>,
}

/// A fenced block.
pub(super) struct Block {
    /// The line of its fence, from 1.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
    pub(super) how: How,
}

/// What to do with a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// Run it.
    Run {
        /// Whether a command may exit with 1.
        may_find: bool,
    },
    /// Only read it.
    Read,
}

impl Block {
    pub(super) fn is_shell(&self) -> bool {
        self.language == "sh"
    }
}

impl Page {
    /// The code of a page in Markdown.
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut page = Self { blocks: Vec::new(), spans: Vec::new() };
        let mut paragraph = (1, String::new());
        let mut open: Option<Block> = None;
        let mut before = "";
        for (line, text) in (1..).zip(text.lines()) {
            let fence = text.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(language)) => {
                    page.take_spans(&mut paragraph);
                    let (language, how) = (language.trim().to_owned(), how(before, line)?);
                    open = Some(Block { line, language, text: String::new(), how });
                }
                (Some(_), Some(_)) => page.blocks.extend(open.take()),
                (Some(block), None) => block.text += &format!("{text}\n"),
                (None, None) => {
                    // A list's items and a table's rows are paragraphs of their own: a stray backtick spoils no more.
                    let starts = text.trim_start();
                    if starts.is_empty()
                        || ["- ", "|", "#", "<!--"].iter().any(|start| starts.starts_with(start))
                    {
                        page.take_spans(&mut paragraph);
                        paragraph.0 = line;
                    }
                    paragraph.1 += &format!("{text}\n");
                }
            }
            before = text;
        }
        page.take_spans(&mut paragraph);
        match open {
            Some(block) => bail!("the block of line {} has no end", block.line),
            None => Ok(page),
        }
    }

    fn take_spans(&mut self, (line, text): &mut (usize, String)) {
        let spans = text.split('`').skip(1).step_by(2).map(|span| (*line, span.replace('\n', " ")));
        self.spans.extend(spans);
        text.clear();
    }
}

/// What the line before a block says about it.
fn how(before: &str, line: usize) -> Result<How> {
    let comment = before.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    let Some(comment) = comment.map(str::trim) else { return Ok(How::Run { may_find: false }) };
    match comment.split_once(':') {
        Some(("not run", reason)) if !reason.trim().is_empty() => Ok(How::Read),
        _ if comment == "may find something" => Ok(How::Run { may_find: true }),
        _ => bail!(
            "line {line}: `{comment}` before a block is neither `not run: REASON` nor `may find something`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_what_the_line_before_says_of_them() {
        let text = "A `b` c.\n\n```sh\none\n```\n<!-- not run: takes an hour -->\n```sh\ntwo\n```\n<!-- may find something -->\n```sh\nthree\n```\n";
        let page = Page::read(text).unwrap();
        let found: Vec<_> = page.blocks.iter().map(|b| (b.line, b.text.as_str(), b.how)).collect();
        let run = |may_find| How::Run { may_find };
        assert_eq!(found, [(3, "one\n", run(false)), (7, "two\n", How::Read), (11, "three\n", run(true))]);
        assert_eq!(page.spans, [(1, "b".to_owned())]);
    }

    #[test]
    fn a_block_that_is_not_run_says_why() {
        assert!(Page::read("<!-- not run -->\n```sh\n```\n").is_err());
        assert!(Page::read("<!-- not run: -->\n```sh\n```\n").is_err());
        assert!(Page::read("```sh\n").is_err());
    }

    #[test]
    fn a_span_may_go_on_in_the_next_line_and_ends_with_its_paragraph() {
        let page = Page::read("`a\nb` and `c`\n- a stray ` here\n- `d`\n").unwrap();
        let spans: Vec<_> = page.spans.iter().map(|(_, span)| span.as_str()).collect();
        assert_eq!(spans[..2], ["a b", "c"]);
        assert_eq!(spans.last(), Some(&"d"));
    }
}
