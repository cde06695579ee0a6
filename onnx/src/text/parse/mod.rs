//! Text → `ModelProto`: recursive descent.
//!
//! Memory grows with the text alone, and graphs and types nest as deep as messages of protobuf may.

mod attribute;
mod model;
mod node;
mod tensor;
mod ty;

use std::borrow::Cow;
use std::mem;
use std::str::FromStr;

use super::floats::Float;
use super::lex::{Lexer, Token};
use super::{ParseError, Problem};
use crate::proto::{ModelProto, StringStringEntryProto};

/// How many messages may lie in each other: a little less than a decoder takes.
const LEVELS: usize = 90;

type Parsed<T> = Result<T, ParseError>;

/// The model of a text.
pub(super) fn model(text: &str) -> Parsed<ModelProto> {
    let mut parser = Parser::new(text)?;
    let model = parser.model()?;
    match parser.token {
        Token::End => Ok(model),
        _ => Err(parser.unexpected("a function or the end of the text")),
    }
}

/// A text and the token at hand.
struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Where the token starts.
    at: usize,
    /// How many messages lie around what is read.
    level: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parsed<Self> {
        let mut lexer = Lexer::new(text);
        let (at, token) = lexer.next()?;
        Ok(Self { lexer, token, at, level: 0 })
    }

    /// Reads what lies some messages deeper.
    fn deeper<T>(&mut self, levels: usize, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.level += levels;
        if self.level > LEVELS {
            return Err(self.error(Problem::Deep));
        }
        let result = read(self);
        self.level -= levels;
        result
    }

    /// Items separated by commas between two marks; none where the first mark is not there.
    fn optional_list<T>(
        &mut self,
        open: char,
        close: char,
        item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if self.token == Token::Mark(open) { self.list(open, close, item) } else { Ok(Vec::new()) }
    }

    /// Items separated by commas between two marks.
    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.mark(open)?;
        let mut all = Vec::new();
        if self.takes(close)? {
            return Ok(all);
        }
        loop {
            all.push(item(self)?);
            if self.takes(close)? {
                return Ok(all);
            }
            if !self.takes(',')? {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    fn pairs(&mut self) -> Parsed<Vec<StringStringEntryProto>> {
        self.list('[', ']', |p| {
            let key = p.string("a key in quotes")?;
            p.mark(':')?;
            let value = p.string("a value in quotes")?;
            Ok(StringStringEntryProto { key: Some(key), value: Some(value) })
        })
    }

    /// A name, in quotes or without.
    fn name(&mut self, wanted: &str) -> Parsed<String> {
        self.optional_name()?.ok_or_else(|| self.unexpected(wanted))
    }

    fn optional_name(&mut self) -> Parsed<Option<String>> {
        let name = match &mut self.token {
            Token::Word(word) => (*word).to_owned(),
            Token::Quoted(text) => mem::take(text).into_owned(),
            Token::Number(_) | Token::Mark(_) | Token::Arrow | Token::End => return Ok(None),
        };
        self.advance()?;
        Ok(Some(name))
    }

    fn string(&mut self, wanted: &str) -> Parsed<String> {
        let Token::Quoted(text) = &mut self.token else { return Err(self.unexpected(wanted)) };
        let text: Cow<'_, str> = mem::take(text);
        self.advance()?;
        Ok(text.into_owned())
    }

    /// An integer of a type, which is called so.
    fn integer<T: FromStr>(&mut self, dtype: &'static str) -> Parsed<T> {
        let Token::Number(text) = self.token else {
            return Err(self.unexpected(&format!("a number of type {dtype}")));
        };
        let number = text.parse().map_err(|_| self.no_number(text, dtype))?;
        self.advance()?;
        Ok(number)
    }

    fn float<T: Float>(&mut self) -> Parsed<T> {
        let (Token::Number(text) | Token::Word(text)) = self.token else {
            return Err(self.unexpected(&format!("a number of type {}", T::NAME)));
        };
        let number = T::read(text).ok_or_else(|| self.no_number(text, T::NAME))?;
        self.advance()?;
        if text != "nan" || !self.takes('(')? {
            return Ok(number);
        }
        let Token::Number(bits) = self.token else { return Err(self.unexpected("the bits of the NaN")) };
        let nan = bits.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let nan = nan.and_then(T::from_bits).filter(|nan| nan.is_nan());
        let nan = nan.ok_or_else(|| self.no_number(&format!("nan({bits})"), T::NAME))?;
        self.advance()?;
        self.mark(')')?;
        Ok(nan)
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.takes(mark)? { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// Goes past a mark, if it is there.
    fn takes(&mut self, mark: char) -> Parsed<bool> {
        let is_there = self.token == Token::Mark(mark);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    fn arrow(&mut self) -> Parsed<()> {
        if self.token != Token::Arrow {
            return Err(self.unexpected("`=>`"));
        }
        self.advance()
    }

    /// Goes on to the next token.
    fn advance(&mut self) -> Parsed<()> {
        (self.at, self.token) = self.lexer.next()?;
        Ok(())
    }

    /// The token behind the one at hand.
    fn peek(&self) -> Parsed<Token<'a>> {
        self.lexer.clone().next().map(|(_, token)| token)
    }

    fn unexpected(&self, wanted: &str) -> ParseError {
        self.error(Problem::Unexpected { wanted: wanted.to_owned(), found: self.token.shown() })
    }

    fn no_number(&self, text: &str, dtype: &'static str) -> ParseError {
        self.error(Problem::Number { text: text.to_owned(), dtype })
    }

    fn error(&self, problem: Problem) -> ParseError {
        self.lexer.error(self.at, problem)
    }
}
