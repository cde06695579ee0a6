//! A text that is read from its start to its end: what a lexer needs of it, whatever its tokens are.

use std::fmt;

/// A text, and how much of it has been read.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The start of a text.
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// All of the text, read or not.
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// How many bytes have been read.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// What has not been read.
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character, which stays where it is.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads a character, whatever it is.
    pub fn character(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads `wanted`, if it is what follows.
    pub fn takes(&mut self, wanted: &str) -> bool {
        let follows = self.rest().starts_with(wanted);
        if follows {
            self.at += wanted.len();
        }
        follows
    }

    /// Reads as long as characters belong to what is read.
    pub fn take(&mut self, mut belongs: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads a word, which may be empty.
    pub fn word(&mut self) -> &'a str {
        self.take(is_word)
    }

    /// Reads whatever starts like a number, with a sign before it and behind its exponent's `e`.
    pub fn number(&mut self) -> &'a str {
        let mut last = 'e'; // so that a sign may come first, as it may after an exponent's `e`
        self.take(|c| {
            let belongs = is_word(c) || c == '.' || (matches!(c, '-' | '+') && matches!(last, 'e' | 'E'));
            last = c;
            belongs
        })
    }

    /// Goes past white space and comments, which start with `comment` and end with their lines.
    pub fn skip_blanks(&mut self, comment: &str) {
        self.take(char::is_whitespace);
        while self.takes(comment) {
            self.take(|c| c != '\n');
            self.take(char::is_whitespace);
        }
    }
}

/// Whether a character may stand in a word.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a word may start with this character.
pub fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Whether a text is a word, which can stand for a name without quotes.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(starts_word) && text.chars().all(is_word)
}

/// Whether a number, as [`Cursor::number`] reads it, has digits alone: what is a float has something else, too.
pub fn is_integer(number: &str) -> bool {
    number.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())
}

/// The start of what is found in a text, as an error message shows it.
pub fn shortened(found: String) -> String {
    const MOST: usize = 40;
    match found.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &found[..end]),
        None => found,
    }
}

/// A place in a text, as people count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// That of a byte, with which a character must start.
    pub fn of(text: &str, at: usize) -> Self {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_they_should() {
        let numbers = |text| {
            let mut cursor = Cursor::new(text);
            let mut all = Vec::new();
            while cursor.peek().is_some() {
                all.push(cursor.number());
                cursor.take(|c| "{, }".contains(c));
            }
            all
        };
        assert_eq!(numbers("-1e-5, 2.0,3E+7,-inf,0x1e}"), ["-1e-5", "2.0", "3E+7", "-inf", "0x1e"]);
        assert_eq!(numbers("1-2--3"), ["1", "-2", "-", "-3"]);
    }

    #[test]
    fn comments_end_with_their_lines() {
        let mut cursor = Cursor::new(" # one # still one\n\t##two\nword # three");
        cursor.skip_blanks("#");
        assert_eq!(cursor.word(), "word");
        cursor.skip_blanks("#");
        assert_eq!((cursor.peek(), cursor.at()), (None, cursor.text().len()));
    }

    #[test]
    fn places_count_characters() {
        let text = "é\n éx";
        let place = |c| Place::of(text, text.find(c).unwrap());
        assert_eq!(place('\n'), Place { line: 1, column: 2 });
        assert_eq!(place('x'), Place { line: 2, column: 3 });
        assert_eq!(Place::of("a\n", 2).to_string(), "line 2, column 1");
    }
}
