//! Reading the text form: recursive descent without the recursion, since nothing in it nests.
//!
//! Memory grows with the text alone: a shape that promises more elements than follow is an error, not an
//! allocation.

use std::borrow::Cow;
use std::mem;
use std::str::FromStr;

use crate::attr::{Attribute, Attributes};
use crate::dtype::UnknownDType;
use crate::tensor::{Element, dispatch};
use crate::{
    DType, Function, FunctionId, Graph, Model, NodeId, NodeKind, Operation, Tensor, Type, Unnamed, Value,
};

use super::cursor::is_integer;
use super::lex::{Lexer, Token};
use super::literal::{from_nan_bits, read};
use super::{FLOATS, ParseError, Problem, STRINGS};

impl<O: Operation> FromStr for Model<O> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::new(text)?.model()
    }
}

impl FromStr for Tensor {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser::new(text)?;
        let ty = parser.ty()?;
        let tensor = parser.elements(&ty)?;
        parser.end().map(|()| tensor)
    }
}

/// The function that a call by this name means: the last one of that name.
pub(super) fn resolve<O>(name: &str, functions: &[Function<O>]) -> Option<FunctionId> {
    functions.iter().rposition(|f| f.name == name).map(|i| FunctionId(i as u32))
}

/// A text and the token at hand.
struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Where the token starts.
    at: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parsed<Self> {
        let mut lexer = Lexer::new(text);
        let (at, token) = lexer.next()?;
        Ok(Self { lexer, token, at })
    }

    fn model<O: Operation>(&mut self) -> Parsed<Model<O>> {
        self.keyword("onnxsmith")?;
        if self.token != Token::Number("1") {
            return Err(self.unexpected("version 1 of the text form"));
        }
        self.advance()?;
        self.keyword("opset")?;
        let opset = self.integer("the version of the operator set")?;
        let mut functions = Vec::new();
        while self.token == Token::Word("function") {
            self.advance()?;
            let name = self.name("the function's name")?.into_owned();
            let body = self.graph(&functions)?;
            functions.push(Function { name, body });
        }
        if self.token != Token::Word("graph") {
            return Err(self.unexpected("`function` or `graph`"));
        }
        self.advance()?;
        let graph = self.graph(&functions)?;
        self.end().map(|()| Model { opset, functions, graph })
    }

    fn end(&self) -> Parsed<()> {
        match self.token {
            Token::End => Ok(()),
            _ => Err(self.unexpected("the end of the text")),
        }
    }

    fn graph<O: Operation>(&mut self, functions: &[Function<O>]) -> Parsed<Graph<O>> {
        let mut graph = Graph::new();
        self.mark('{')?;
        while let Token::Value(number) = self.token {
            // Numbers say nothing that the order does not; checking them keeps a text edited by hand honest.
            if number != graph.nodes.len().to_string() {
                return Err(self.unexpected(&format!("`%{}`", graph.nodes.len())));
            }
            self.advance()?;
            self.node(&mut graph, functions)?;
        }
        if self.token != Token::Word("return") {
            return Err(self.unexpected(&format!("`%{}` or `return`", graph.nodes.len())));
        }
        self.advance()?;
        while self.token != Token::Mark('}') {
            if !graph.outputs.is_empty() {
                self.mark(',')?;
            }
            let name = self.string("the name of an output")?;
            self.mark('=')?;
            let value = self.value()?;
            graph.output(name, value);
        }
        self.advance()?;
        Ok(graph)
    }

    fn node<O: Operation>(&mut self, graph: &mut Graph<O>, functions: &[Function<O>]) -> Parsed<()> {
        let mut outputs = Vec::new();
        if self.token == Token::Mark(':') {
            self.advance()?;
            outputs.push(self.ty()?);
            while self.token == Token::Mark(',') {
                self.advance()?;
                outputs.push(self.ty()?);
            }
        }
        self.mark('=')?;
        let at = self.at;
        let word = self.name("`variable`, `constant`, `call` or an operator")?;
        let (kind, inputs) = match &*word {
            "variable" => {
                (NodeKind::Variable { name: self.string("the name of the variable")?.into_owned() }, vec![])
            }
            "constant" => (self.constant(outputs.first())?, vec![]),
            "call" => (NodeKind::Call(self.callee(functions)?), self.operands()?),
            op => {
                let inputs = self.operands()?;
                (NodeKind::Operator(self.operator(op, at)?), inputs)
            }
        };
        let id = graph.push(kind, inputs, outputs);
        if self.token == Token::Word("given") {
            self.advance()?;
            self.list('(', ')', |p| {
                let value = p.value()?;
                graph.give(id, [value]);
                Ok(())
            })?;
        }
        if self.token == Token::Word("terse") {
            self.advance()?;
            graph.nodes[id.index()].spelling.is_terse = true;
        }
        if self.token == Token::Word("unnamed") {
            self.advance()?;
            graph.nodes[id.index()].spelling.unnamed = self.unnamed()?;
        }
        if self.token == Token::Word("inner") {
            self.advance()?;
            graph.nodes[id.index()].is_inner = true;
        }
        Ok(())
    }

    fn unnamed(&mut self) -> Parsed<Unnamed> {
        self.mark('(')?;
        let operands = self.integer("a number of operands")?;
        self.mark(',')?;
        let outputs = self.integer("a number of outputs")?;
        self.mark(')')?;
        Ok(Unnamed { operands, outputs })
    }

    fn constant<O>(&mut self, declared: Option<&Type>) -> Parsed<NodeKind<O>> {
        let own = if let Token::Word(_) = self.token { Some(self.ty()?) } else { None };
        let Some(ty) = own.as_ref().or(declared) else { return Err(self.unexpected("the constant's type")) };
        Ok(NodeKind::Constant(self.elements(ty)?.into()))
    }

    fn elements(&mut self, ty: &Type) -> Parsed<Tensor> {
        dispatch!(ty.dtype, T => self.elements_of::<T>(ty))
    }

    fn elements_of<T: Element>(&mut self, ty: &Type) -> Parsed<Tensor> {
        let at = self.at;
        let mut elements = Vec::new();
        self.list('{', '}', |p| {
            elements.push(p.element::<T>()?);
            Ok(())
        })?;
        Tensor::from_elements(&ty.shape, elements).map_err(|e| self.lexer.error(at, e.into()))
    }

    fn callee<O>(&mut self, functions: &[Function<O>]) -> Parsed<FunctionId> {
        if self.token == Token::Mark('@') {
            self.advance()?;
            return self.integer("the position of a function").map(FunctionId);
        }
        let at = self.at;
        let name = self.name("the function's name")?;
        resolve(&name, functions)
            .ok_or_else(|| self.lexer.error(at, Problem::UnknownFunction(name.into_owned())))
    }

    fn operands(&mut self) -> Parsed<Vec<Option<Value>>> {
        let mut all = Vec::new();
        self.list('(', ')', |p| {
            all.push(match p.token {
                Token::Word("_") => {
                    p.advance()?;
                    None
                }
                Token::Value(_) => Some(p.value()?),
                _ => return Err(p.unexpected("an operand such as `%0`, or `_`")),
            });
            Ok(())
        })?;
        Ok(all)
    }

    fn operator<O: Operation>(&mut self, name: &str, at: usize) -> Parsed<O> {
        let mut attributes = Attributes::new();
        if self.token == Token::Mark('{') {
            self.list('{', '}', |p| {
                let at = p.at;
                let key = p.name("the name of an attribute")?;
                if attributes.get(&key).is_some() {
                    return Err(p.lexer.error(at, Problem::DuplicateAttribute(key.into_owned())));
                }
                p.mark('=')?;
                attributes.set(&key, p.attribute()?);
                Ok(())
            })?;
        }
        let problem = match O::parse(name, &attributes) {
            Some(Ok(op)) => return Ok(op),
            Some(Err(cause)) => Problem::Attribute { op: name.to_owned(), cause },
            None => Problem::UnknownOperator(name.to_owned()),
        };
        Err(self.lexer.error(at, problem))
    }

    fn attribute(&mut self) -> Parsed<Attribute> {
        match &self.token {
            Token::Quoted(_) => Ok(Attribute::Name(self.string("")?.into_owned())),
            Token::Mark('[') => self.attribute_list(),
            Token::Word("nan" | "inf") => self.element().map(Attribute::Float),
            Token::Word(FLOATS) => self.no_items().map(|()| Attribute::Floats(Vec::new())),
            Token::Word(STRINGS) => self.no_items().map(|()| Attribute::Strings(Vec::new())),
            Token::Word(word) => {
                let dtype: DType = word.parse().map_err(|e: UnknownDType| self.error(e.into()))?;
                self.advance()?;
                match self.token {
                    Token::Mark('[') => self.tensor(dtype).map(|tensor| Attribute::Tensor(tensor.into())),
                    _ => Ok(Attribute::DType(dtype)),
                }
            }
            Token::Number(n) if is_integer(n) => self.element().map(Attribute::Int),
            Token::Number(_) => self.element().map(Attribute::Float),
            _ => Err(self.unexpected("an integer, a float, a string, a dtype, a tensor or a list")),
        }
    }

    /// A list of whatever its first element is one of; of integers if it has none.
    fn attribute_list(&mut self) -> Parsed<Attribute> {
        match self.lexer.clone().next()?.1 {
            Token::Quoted(_) => {
                let mut all = Vec::new();
                self.list('[', ']', |p| {
                    all.push(p.string("a string")?.into_owned());
                    Ok(())
                })?;
                Ok(Attribute::Strings(all))
            }
            Token::Number(n) if is_integer(n) => self.numbers().map(Attribute::Ints),
            Token::Number(_) | Token::Word("nan" | "inf") => self.numbers().map(Attribute::Floats),
            _ => self.numbers().map(Attribute::Ints),
        }
    }

    /// The empty list behind a word that names the kind of list.
    fn no_items(&mut self) -> Parsed<()> {
        self.advance()?;
        self.mark('[')?;
        self.mark(']')
    }

    /// A tensor from its shape on.
    fn tensor(&mut self, dtype: DType) -> Parsed<Tensor> {
        let ty = Type::new(dtype, self.integers()?);
        self.elements(&ty)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let Token::Word(word) = self.token else { return Err(self.unexpected("a type such as `f32[2, 3]`")) };
        let dtype: DType = word.parse().map_err(|e: UnknownDType| self.error(e.into()))?;
        self.advance()?;
        Ok(Type::new(dtype, self.integers()?))
    }

    fn integers(&mut self) -> Parsed<Vec<i64>> {
        self.numbers()
    }

    fn numbers<T: Element>(&mut self) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        self.list('[', ']', |p| {
            all.push(p.element::<T>()?);
            Ok(())
        })?;
        Ok(all)
    }

    fn value(&mut self) -> Parsed<Value> {
        let Token::Value(text) = self.token else {
            return Err(self.unexpected("a value such as `%0` or `%0.1`"));
        };
        let (node, port) = text.split_once('.').unwrap_or((text, "0"));
        let (Ok(node), Ok(port)) = (node.parse(), port.parse()) else {
            return Err(self.unexpected("a value such as `%0` or `%0.1`"));
        };
        self.advance()?;
        Ok(Value { node: NodeId(node), port })
    }

    fn element<T: Element>(&mut self) -> Parsed<T> {
        let (Token::Number(text) | Token::Word(text)) = self.token else {
            return Err(self.unexpected(&format!("a number of type {}", T::DTYPE)));
        };
        let at = self.at;
        self.advance()?;
        if !T::DTYPE.is_float() || text != "nan" {
            return read(text).ok_or_else(|| self.no_number(at, text.to_owned(), T::DTYPE));
        }
        self.mark('(')?;
        let Token::Number(bits) = self.token else { return Err(self.unexpected("the bits of the NaN")) };
        self.advance()?;
        self.mark(')')?;
        let number = bits.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        number.and_then(from_nan_bits).ok_or_else(|| self.no_number(at, format!("nan({bits})"), T::DTYPE))
    }

    fn integer(&mut self, wanted: &str) -> Parsed<u32> {
        let Token::Number(text) = self.token else { return Err(self.unexpected(wanted)) };
        let Ok(number) = text.parse() else { return Err(self.unexpected(wanted)) };
        self.advance()?;
        Ok(number)
    }

    fn name(&mut self, wanted: &str) -> Parsed<Cow<'a, str>> {
        match self.token {
            Token::Word(word) => {
                self.advance()?;
                Ok(Cow::Borrowed(word))
            }
            _ => self.string(wanted),
        }
    }

    fn string(&mut self, wanted: &str) -> Parsed<Cow<'a, str>> {
        let Token::Quoted(text) = &mut self.token else { return Err(self.unexpected(wanted)) };
        let text = mem::take(text);
        self.advance()?;
        Ok(text)
    }

    /// Items separated by commas between two marks.
    fn list(&mut self, open: char, close: char, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.mark(open)?;
        if self.token != Token::Mark(close) {
            item(self)?;
            while self.token == Token::Mark(',') {
                self.advance()?;
                item(self)?;
            }
        }
        if self.token != Token::Mark(close) {
            return Err(self.unexpected(&format!("`,` or `{close}`")));
        }
        self.advance()
    }

    fn keyword(&mut self, word: &'static str) -> Parsed<()> {
        if self.token != Token::Word(word) {
            return Err(self.unexpected(&format!("`{word}`")));
        }
        self.advance()
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.token != Token::Mark(mark) {
            return Err(self.unexpected(&format!("`{mark}`")));
        }
        self.advance()
    }

    /// Goes on to the next token.
    fn advance(&mut self) -> Parsed<()> {
        (self.at, self.token) = self.lexer.next()?;
        Ok(())
    }

    fn unexpected(&self, wanted: &str) -> ParseError {
        self.error(Problem::Unexpected { wanted: wanted.to_owned(), found: self.token.shown() })
    }

    fn no_number(&self, at: usize, text: String, dtype: DType) -> ParseError {
        self.lexer.error(at, Problem::Number { text, dtype })
    }

    fn error(&self, problem: Problem) -> ParseError {
        self.lexer.error(self.at, problem)
    }
}
