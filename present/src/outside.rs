//! Text from outside: what engines say, what models call their values, what lists of findings hold. It may be markup, move a cursor, or
//! turn the order of what follows.
//!
//! Here it becomes what each place can show: a terminal, a page, Markdown, XML. All that is seen is there, and all that is there is seen
//! but for what steers a terminal. Whoever shows such a text says which place it is; there is no other way from [`Outside`] to a text.

use std::fmt::Write as _;

use maud::{Escaper, Render};

/// Text from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside<'t>(pub &'t str);

impl Outside<'_> {
    /// The lines, without what steers a terminal, and with a picture in the place of each other control character.
    pub fn lines(self) -> String {
        seen(without_escapes(self.0).replace("\r\n", "\n").trim_end())
    }

    /// One line of a comment, in a program of whatever language.
    pub fn comment(self) -> String {
        let text = self.lines();
        text.lines().next().unwrap_or_default().replace('\t', " ")
    }

    /// Text on one line of Markdown. What stands between backticks is code there as well; what would be other markup is not.
    pub fn markdown(self) -> String {
        let text = self.lines().replace(['\n', '\t'], " ");
        let parts: Vec<&str> = text.split('`').collect();
        let is_paired = parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(|name| !name.is_empty());
        if !is_paired {
            return escaped(&text);
        }
        let part = |(number, part): (usize, &&str)| {
            if number % 2 == 1 { Outside(part).code() } else { escaped(part) }
        };
        parts.iter().enumerate().map(part).collect()
    }

    /// A name as code in Markdown, whatever is in it.
    pub fn code(self) -> String {
        let name = self.0.replace(char::is_control, "\u{fffd}");
        let name = seen(&name);
        let ticks = "`".repeat(longest_run(&name) + 1);
        let space = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
        format!("{ticks}{space}{name}{space}{ticks}")
    }

    /// A block of code in Markdown, whatever is in it.
    pub fn fenced(self, language: &str) -> String {
        let content = seen(self.0.trim_end());
        let ticks = "`".repeat((longest_run(&content) + 1).max(3));
        format!("{ticks}{language}\n{content}\n{ticks}\n")
    }

    /// Text in an element or an attribute of XML.
    pub fn xml(self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for c in self.lines().chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
                _ => out.push(c),
            }
        }
        out
    }
}

/// Text on a page.
impl Render for Outside<'_> {
    fn render_to(&self, page: &mut String) {
        let _ = Escaper::new(page).write_str(&self.lines());
    }
}

/// Markup in which every control character, and every one that turns the order of what follows, has a picture in its place: text that was
/// put on a page as it is does no more harm there than other text.
pub(crate) fn seen(markup: &str) -> String {
    markup.chars().map(picture).collect()
}

/// Markdown in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A mention would call people, who are not concerned.
            '@' => out.push_str("@\u{200b}"),
            c => out.push(c),
        }
    }
    out
}

/// The length of the longest row of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text without the sequences that steer a terminal: colours, titles, places of the cursor. One that has no end stays.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        let (before, sequence) = rest.split_at(at);
        out += before;
        let length = length(sequence).unwrap_or_else(|| {
            out.push(ESCAPE);
            ESCAPE.len_utf8()
        });
        rest = &sequence[length..];
    }
    out + rest
}

/// What such a sequence begins with.
const ESCAPE: char = '\u{1b}';

/// The length of the sequence that a text begins with, by ECMA-48: `ESC [` up to a letter or what is like one, `ESC ]` up to a bell or
/// `ESC \\`, and `ESC` with one other character.
fn length(sequence: &str) -> Option<usize> {
    let rest = &sequence[1..];
    if let Some(control) = rest.strip_prefix('[') {
        let end = control.find(|c: char| !matches!(c, '\x20'..='\x3f'))?;
        return control[end..].starts_with(|c: char| matches!(c, '\x40'..='\x7e')).then_some(2 + end + 1);
    }
    if let Some(told) = rest.strip_prefix(']') {
        let end = told.find(['\u{7}', ESCAPE])?;
        let closed = &told[end..];
        return if closed.starts_with('\u{7}') {
            Some(2 + end + 1)
        } else {
            closed.starts_with("\u{1b}\\").then_some(2 + end + 2)
        };
    }
    rest.starts_with(|c: char| matches!(c, '\x30'..='\x7e')).then_some(2)
}

fn picture(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // Unicode has a picture for each, in the same order.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        c if c.is_control() || turns(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Whether a character changes the direction of the text, so that lines would read as what they are not.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(text: &str) -> String {
        Outside(text).lines()
    }

    #[test]
    fn what_cannot_be_seen_becomes_a_picture() {
        assert_eq!(readable("a\tb\r\n\u{1b}[31mred\u{7f}\0\n\n"), "a\tb\nred␡␀");
        assert_eq!(readable("x\u{202e}y\u{85}z é"), "x\u{fffd}y\u{fffd}z é");
        assert_eq!(readable(" \n"), "");
    }

    #[test]
    fn what_steers_a_terminal_is_left_out() {
        assert_eq!(without_escapes("\u{1b}[0;93m2026 \u{1b}[mwarning\u{1b}[K"), "2026 warning");
        assert_eq!(without_escapes("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b\u{1b}cd"), "abd");
        assert_eq!(readable("half \u{1b}[31"), "half ␛[31");
        assert_eq!(without_escapes("\u{1b}[é\u{1b}"), "\u{1b}[é\u{1b}");
    }

    #[test]
    fn names_are_neither_markup_nor_the_end_of_code() {
        let inline = |text: &'static str| Outside(text).markdown();
        assert_eq!(inline("<b>*x*\n\u{1b}[1m@you"), "&lt;b&gt;\\*x\\* @\u{200b}you");
        assert_eq!(inline("output `y_0` is off"), "output `y_0` is off");
        assert_eq!(inline("`a ``b"), "\\`a \\`\\`b");
        assert_eq!(
            (Outside("a`b").code(), Outside("`").code()),
            ("``a`b``".to_owned(), "`` ` ``".to_owned())
        );
        assert_eq!(Outside("x\n```\n").fenced("py"), "````py\nx\n```\n````\n");
        assert_eq!(Outside("x").fenced(""), "```\nx\n```\n");
    }

    /// Colours, what turns the order, and markup: of all these nothing is left anywhere.
    #[test]
    fn no_place_has_what_steers_it() {
        let evil = Outside("a\u{1b}[31m<b>\u{202e}\u{7}\"&x");
        let all = [
            evil.lines(),
            evil.comment(),
            evil.markdown(),
            evil.code(),
            evil.fenced(""),
            evil.xml(),
            evil.render().into_string(),
        ];
        for text in &all {
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
        }
        for text in [&all[2], &all[5], &all[6]] {
            assert!(text.contains("&lt;b&gt;") && text.contains("&amp;x"), "{text}");
        }
    }
}
