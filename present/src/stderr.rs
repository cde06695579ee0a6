//! What an engine wrote to its standard error, for people.
//!
//! Such output may hold anything: colours for a terminal, bytes that are no text, characters that turn the order of what follows. Here
//! it becomes lines in which all that is seen is there, and all that is there is seen but for what steers a terminal. Whoever shows
//! it escapes it as the place asks for, like any other text.

/// The lines, without what steers a terminal, and with a picture in the place of each other control character.
pub fn readable(text: &str) -> String {
    without_escapes(text).replace("\r\n", "\n").trim_end().chars().map(picture).collect()
}

/// A text without the sequences that steer a terminal: colours, titles, places of the cursor. One that has no end stays.
pub fn without_escapes(text: &str) -> String {
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
}
