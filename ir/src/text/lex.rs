//! Tokens of the text form.

use std::borrow::Cow;

use super::{ParseError, Problem};

/// A token; words borrow from the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a str),
    /// A quoted string, escapes resolved.
    Quoted(Cow<'a, str>),
    /// Anything that starts like a number; what it means depends on the type it is read as.
    Number(&'a str),
    /// What follows a `%`: digits and dots.
    Value(&'a str),
    /// One of the [`MARKS`].
    Mark(char),
    /// The end of the text, as often as it is asked for.
    End,
}

const MARKS: &str = "{}[]():,=@";

/// Cuts a text into tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), ParseError> {
        self.skip_blanks();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok((start, Token::End)) };
        let token = match first {
            'a'..='z' | 'A'..='Z' | '_' => Token::Word(self.take(is_word)),
            '0'..='9' | '-' => self.number(),
            '%' => {
                self.at += 1;
                Token::Value(self.take(|c| c.is_ascii_digit() || c == '.'))
            }
            '"' => Token::Quoted(self.string()?),
            c if MARKS.contains(c) => {
                self.at += 1;
                Token::Mark(c)
            }
            c => return Err(self.error(start, Problem::Character(c))),
        };
        Ok((start, token))
    }

    /// The error that something is wrong at a byte of the text.
    pub(super) fn error(&self, at: usize, problem: Problem) -> ParseError {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, mut belongs: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn skip_blanks(&mut self) {
        self.take(char::is_whitespace);
        while self.rest().starts_with("//") {
            self.take(|c| c != '\n');
            self.take(char::is_whitespace);
        }
    }

    fn number(&mut self) -> Token<'a> {
        let mut last = 'e'; // so that a sign may come first, as it may after an exponent's `e`
        Token::Number(self.take(|c| {
            let belongs = is_word(c) || c == '.' || (matches!(c, '-' | '+') && matches!(last, 'e' | 'E'));
            last = c;
            belongs
        }))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut content = Cow::Borrowed("");
        loop {
            // Still borrowed after this if it was empty.
            content += self.take(|c| !matches!(c, '"' | '\\' | '\n'));
            let at = self.at;
            match self.rest().chars().next() {
                Some('"') => {
                    self.at += 1;
                    return Ok(content);
                }
                Some('\\') => {
                    let c = self.escape().ok_or_else(|| self.error(at, Problem::Escape))?;
                    content.to_mut().push(c);
                }
                _ => return Err(self.error(start, Problem::OpenString)),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let rest = &self.rest()[1..];
        let (length, c) = match rest.chars().next()? {
            c @ ('"' | '\\') => (1, c),
            'n' => (1, '\n'),
            'r' => (1, '\r'),
            't' => (1, '\t'),
            'u' => {
                let hex = rest[1..].strip_prefix('{')?.split_once('}')?.0;
                (hex.len() + 3, u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)?)
            }
            _ => return None,
        };
        self.at += 1 + length;
        Some(c)
    }
}

/// Whether the text can stand for a name without quotes.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(is_word)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Token<'_> {
    /// How an error message shows the token: short, whatever its length.
    pub(super) fn shown(&self) -> String {
        const MOST: usize = 40;
        let all = match self {
            Self::Word(w) | Self::Number(w) => format!("`{w}`"),
            Self::Quoted(q) => format!("{q:?}"),
            Self::Value(v) => format!("`%{v}`"),
            Self::Mark(c) => format!("`{c}`"),
            Self::End => return "the end of the text".to_owned(),
        };
        match all.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &all[..end]),
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
        let mut lexer = Lexer::new(text);
        let mut all = Vec::new();
        loop {
            match lexer.next()?.1 {
                Token::End => return Ok(all),
                token => all.push(token),
            }
        }
    }

    #[test]
    fn numbers_end_where_they_should() {
        let numbers = |text| {
            let all = tokens(text).unwrap();
            all.into_iter()
                .filter_map(|t| if let Token::Number(n) = t { Some(n.to_owned()) } else { None })
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers("{-1e-5, 2.0,3E+7,-inf,0x1e}"), ["-1e-5", "2.0", "3E+7", "-inf", "0x1e"]);
        assert_eq!(numbers("1-2--3"), ["1", "-2", "-", "-3"]);
    }

    #[test]
    fn strings_resolve_their_escapes() {
        assert_eq!(
            tokens(r#""a\"b\\\n\u{1F600}é" // "comment""#).unwrap(),
            [Token::Quoted("a\"b\\\n\u{1F600}é".into())]
        );
        for bad in [r#""\x""#, r#""\u{d800}""#, r#""\u{}""#, r#""\u{110000}""#, r#""\"#] {
            assert_eq!(tokens(bad).unwrap_err().problem, Problem::Escape, "{bad}");
        }
        assert_eq!(tokens("\"é\n\"").unwrap_err().problem, Problem::OpenString);
    }

    #[test]
    fn places_count_characters() {
        let error = tokens("a\n é ").unwrap_err();
        assert_eq!((error.line, error.column, error.problem), (2, 2, Problem::Character('é')));
    }
}
