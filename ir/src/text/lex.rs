//! Tokens of the text form.

use std::borrow::Cow;

use super::cursor::{Cursor, Place, shortened, starts_word};
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
pub(super) struct Lexer<'a>(Cursor<'a>);

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(Cursor::new(text))
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), ParseError> {
        self.0.skip_blanks("//");
        let start = self.0.at();
        let Some(first) = self.0.peek() else { return Ok((start, Token::End)) };
        let token = match first {
            c if starts_word(c) => Token::Word(self.0.word()),
            '0'..='9' | '-' => Token::Number(self.0.number()),
            '%' => {
                self.0.character();
                Token::Value(self.0.take(|c| c.is_ascii_digit() || c == '.'))
            }
            '"' => Token::Quoted(self.string()?),
            c if MARKS.contains(c) => {
                self.0.character();
                Token::Mark(c)
            }
            c => return Err(self.error(start, Problem::Character(c))),
        };
        Ok((start, token))
    }

    /// The error that something is wrong at a byte of the text.
    pub(super) fn error(&self, at: usize, problem: Problem) -> ParseError {
        ParseError { place: Place::of(self.0.text(), at), problem }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let start = self.0.at();
        self.0.character();
        let mut content = Cow::Borrowed("");
        loop {
            // Still borrowed after this if it was empty.
            content += self.0.take(|c| !matches!(c, '"' | '\\' | '\n'));
            let at = self.0.at();
            match self.0.character() {
                Some('"') => return Ok(content),
                Some('\\') => {
                    let c = self.escaped().ok_or_else(|| self.error(at, Problem::Escape))?;
                    content.to_mut().push(c);
                }
                _ => return Err(self.error(start, Problem::OpenString)),
            }
        }
    }

    /// What follows a `\`.
    fn escaped(&mut self) -> Option<char> {
        Some(match self.0.character()? {
            c @ ('"' | '\\') => c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let hex = self.0.takes("{").then(|| self.0.take(|c| c != '}'))?;
                let code = u32::from_str_radix(hex, 16).ok()?;
                char::from_u32(code).filter(|_| self.0.takes("}"))?
            }
            _ => return None,
        })
    }
}

impl Token<'_> {
    /// How an error message shows the token: short, whatever its length.
    pub(super) fn shown(&self) -> String {
        shortened(match self {
            Self::Word(w) | Self::Number(w) => format!("`{w}`"),
            Self::Quoted(q) => format!("{q:?}"),
            Self::Value(v) => format!("`%{v}`"),
            Self::Mark(c) => format!("`{c}`"),
            Self::End => "the end of the text".to_owned(),
        })
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
    fn an_error_has_the_place_of_its_token() {
        let error = tokens("a\n é ").unwrap_err();
        assert_eq!((error.place, error.problem), (Place { line: 2, column: 2 }, Problem::Character('é')));
    }
}
