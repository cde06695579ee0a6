//! Tokens of the text.

use std::borrow::Cow;

use super::names::is_word;
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
            '"' => Token::Quoted(self.string()?),
            '=' if self.rest().starts_with("=>") => {
                self.at += "=>".len();
                Token::Arrow
            }
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
        ParseError::at(self.text, at, problem)
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
        while self.rest().starts_with('#') {
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

    /// A string may have line breaks. What follows a `\` stands for itself.
    fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut content = Cow::Borrowed("");
        loop {
            // Still borrowed after this if it was empty.
            content += self.take(|c| !matches!(c, '"' | '\\'));
            let mut next = self.rest().chars();
            match (next.next(), next.next()) {
                (Some('"'), _) => {
                    self.at += 1;
                    return Ok(content);
                }
                (Some('\\'), Some(c)) => {
                    content.to_mut().push(c);
                    self.at += 1 + c.len_utf8();
                }
                _ => return Err(self.error(start, Problem::OpenString)),
            }
        }
    }
}

impl Token<'_> {
    /// How an error message shows the token: short, whatever its length.
    pub(super) fn shown(&self) -> String {
        const MOST: usize = 40;
        let all = match self {
            Self::Word(w) | Self::Number(w) => format!("`{w}`"),
            Self::Quoted(q) => format!("{q:?}"),
            Self::Mark(c) => format!("`{c}`"),
            Self::Arrow => "`=>`".to_owned(),
            Self::End => return "the end of the text".to_owned(),
        };
        match all.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &all[..end]),
            None => all,
        }
    }
}
