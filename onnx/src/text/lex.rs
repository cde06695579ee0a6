//! Tokens of the text.

use std::borrow::Cow;

use ir::text::{Cursor, shortened, starts_word};

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
    /// One of the [`MARKS`].
    Mark(char),
    /// `=>`
    Arrow,
    /// The end of the text, as often as it is asked for.
    End,
}

const MARKS: &str = "<>()[]{},:=@?.";

/// Cuts a text into tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a>(Cursor<'a>);

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(Cursor::new(text))
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), ParseError> {
        self.0.skip_blanks("#");
        let start = self.0.at();
        let Some(first) = self.0.peek() else { return Ok((start, Token::End)) };
        let token = match first {
            c if starts_word(c) => Token::Word(self.0.word()),
            '0'..='9' | '-' => Token::Number(self.0.number()),
            '"' => Token::Quoted(self.string()?),
            '=' if self.0.takes("=>") => Token::Arrow,
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
        ParseError::at(self.0.text(), at, problem)
    }

    /// A string may have line breaks. What follows a `\` stands for itself.
    fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let start = self.0.at();
        self.0.character();
        let mut content = Cow::Borrowed("");
        loop {
            // Still borrowed after this if it was empty.
            content += self.0.take(|c| !matches!(c, '"' | '\\'));
            let escaped = match self.0.character() {
                Some('"') => return Ok(content),
                Some(_) => self.0.character(),
                None => None,
            };
            content.to_mut().push(escaped.ok_or_else(|| self.error(start, Problem::OpenString))?);
        }
    }
}

impl Token<'_> {
    /// How an error message shows the token: short, whatever its length.
    pub(super) fn shown(&self) -> String {
        shortened(match self {
            Self::Word(w) | Self::Number(w) => format!("`{w}`"),
            Self::Quoted(q) => format!("{q:?}"),
            Self::Mark(c) => format!("`{c}`"),
            Self::Arrow => "`=>`".to_owned(),
            Self::End => "the end of the text".to_owned(),
        })
    }
}
