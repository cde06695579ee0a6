//! What an engine wrote to its standard error, for people.
//!
//! It may hold anything: colours for a terminal, bytes that are no text, characters that turn the order of what follows. Here
//! it becomes lines in which all that is seen is there, and all that is there is seen. Whoever shows it escapes it as the place asks
//! for, like any other text.

/// The lines, with a picture in the place of each control character.
pub fn readable(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().chars().map(picture).collect()
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
        assert_eq!(readable("a\tb\r\n\u{1b}[31mred\u{7f}\0\n\n"), "a\tb\n␛[31mred␡␀");
        assert_eq!(readable("x\u{202e}y\u{85}z é"), "x\u{fffd}y\u{fffd}z é");
        assert_eq!(readable(" \n"), "");
    }
}
