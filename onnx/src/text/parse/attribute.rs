//! Attributes: a value tells of what kind it is, unless it is written before it.

use ir::text::is_integer;

use super::{Parsed, Parser, Problem};
use crate::proto::attribute_proto::AttributeType;
use crate::proto::{AttributeProto, GraphProto, TensorProto, TypeProto};
use crate::text::lex::Token;
use crate::text::names::{attribute_type, spells_number, starts_type};

/// One value of an attribute.
enum Single {
    Int(i64),
    Float(f32),
    String(String),
    Tensor(TensorProto),
    Graph(GraphProto),
    Type(TypeProto),
}

impl Single {
    const fn kind(&self) -> AttributeType {
        match self {
            Self::Int(_) => AttributeType::Int,
            Self::Float(_) => AttributeType::Float,
            Self::String(_) => AttributeType::String,
            Self::Tensor(_) => AttributeType::Tensor,
            Self::Graph(_) => AttributeType::Graph,
            Self::Type(_) => AttributeType::TypeProto,
        }
    }

    /// An integer is taken for a float where a float is wanted.
    fn wanted(self, kind: AttributeType) -> Self {
        match self {
            Self::Int(v) if kind == AttributeType::Float => Self::Float(v as f32),
            other => other,
        }
    }
}

/// The kind of which a kind is a list, if it is one.
const fn element(list: AttributeType) -> Option<AttributeType> {
    match list {
        AttributeType::Floats => Some(AttributeType::Float),
        AttributeType::Ints => Some(AttributeType::Int),
        AttributeType::Strings => Some(AttributeType::String),
        AttributeType::Tensors => Some(AttributeType::Tensor),
        AttributeType::Graphs => Some(AttributeType::Graph),
        AttributeType::SparseTensors => Some(AttributeType::SparseTensor),
        AttributeType::TypeProtos => Some(AttributeType::TypeProto),
        AttributeType::Undefined
        | AttributeType::Float
        | AttributeType::Int
        | AttributeType::String
        | AttributeType::Tensor
        | AttributeType::Graph
        | AttributeType::SparseTensor
        | AttributeType::TypeProto => None,
    }
}

impl Parser<'_> {
    pub(super) fn attribute(&mut self) -> Parsed<AttributeProto> {
        let name = self.name("the name of an attribute")?;
        self.attribute_named(name)
    }

    /// An attribute from behind its name on.
    pub(super) fn attribute_named(&mut self, name: String) -> Parsed<AttributeProto> {
        let mut attribute = AttributeProto { name: Some(name), ..Default::default() };
        if self.takes(':')? {
            attribute.r#type = Some(self.kind()? as i32);
        }
        self.mark('=')?;
        let kind = attribute.r#type();
        if self.takes('@')? {
            attribute.ref_attr_name = Some(self.name("the name of an attribute of the function")?);
        } else if self.token == Token::Mark('[') {
            self.values(&mut attribute, kind)?;
        } else {
            let value = self.value(kind)?;
            attribute.r#type = Some(value.kind() as i32);
            set(&mut attribute, value);
        }
        Ok(attribute)
    }

    fn kind(&mut self) -> Parsed<AttributeType> {
        let wanted = "the type of an attribute, such as `int` or `floats`";
        let Token::Word(word) = self.token else { return Err(self.unexpected(wanted)) };
        let kind = attribute_type(word).ok_or_else(|| self.unexpected(wanted))?;
        self.advance()?;
        Ok(kind)
    }

    /// A list of whatever its type says, or else its first value is one of.
    fn values(&mut self, attribute: &mut AttributeProto, kind: AttributeType) -> Parsed<()> {
        let mut each = element(kind);
        if each.is_none() && kind != AttributeType::Undefined {
            return Err(self.unexpected("one value"));
        }
        if each.is_none() && self.peek()? == Token::Mark(']') {
            return Err(self.unexpected("a type before a list without values"));
        }
        self.list('[', ']', |p| {
            let value = p.value(each.unwrap_or_default())?;
            each = Some(value.kind());
            push(attribute, value);
            Ok(())
        })?;
        Ok(())
    }

    /// A value of a kind, or of any if that is undefined.
    fn value(&mut self, kind: AttributeType) -> Parsed<Single> {
        let (at, found) = (self.at, self.token.shown());
        let value = self.any_value()?.wanted(kind);
        if kind == AttributeType::Undefined || value.kind() == kind {
            return Ok(value);
        }
        let wanted = format!("a value of type `{}`", kind.as_str_name().to_ascii_lowercase());
        Err(self.lexer.error(at, Problem::Unexpected { wanted, found }))
    }

    fn any_value(&mut self) -> Parsed<Single> {
        match self.token {
            Token::Quoted(_) if self.peek()? == Token::Mark('(') => self.graph().map(Single::Graph),
            Token::Quoted(_) => self.string("").map(Single::String),
            Token::Number(text) if is_integer(text) => self.integer("int64").map(Single::Int),
            Token::Number(_) => self.float().map(Single::Float),
            Token::Word(word) if spells_number(word) => self.float().map(Single::Float),
            Token::Word(word) if starts_type(word) => self.type_or_tensor(),
            Token::Word(_) => self.graph().map(Single::Graph),
            Token::Mark(_) | Token::Arrow | Token::End => {
                Err(self.unexpected("a number, a string, a tensor, a graph, a type, a list or `@`"))
            }
        }
    }

    /// A type, and a tensor if more than a type is there.
    fn type_or_tensor(&mut self) -> Parsed<Single> {
        let ty = self.deeper(2, Self::ty)?;
        if !matches!(self.token, Token::Mark('{' | '=') | Token::Word(_) | Token::Quoted(_)) {
            return Ok(Single::Type(ty));
        }
        let name = self.optional_name()?.unwrap_or_default();
        self.takes('=')?;
        Ok(Single::Tensor(TensorProto { name: Some(name), ..self.tensor(&ty)? }))
    }
}

/// Makes a value that of an attribute.
fn set(attribute: &mut AttributeProto, value: Single) {
    match value {
        Single::Int(v) => attribute.i = Some(v),
        Single::Float(v) => attribute.f = Some(v),
        Single::String(v) => attribute.s = Some(v.into_bytes()),
        Single::Tensor(v) => attribute.t = Some(v),
        Single::Graph(v) => attribute.g = Some(v),
        Single::Type(v) => attribute.tp = Some(v),
    }
}

/// Adds a value to those of an attribute, which becomes a list of its kind.
fn push(attribute: &mut AttributeProto, value: Single) {
    let kind = match value {
        Single::Int(v) => {
            attribute.ints.push(v);
            AttributeType::Ints
        }
        Single::Float(v) => {
            attribute.floats.push(v);
            AttributeType::Floats
        }
        Single::String(v) => {
            attribute.strings.push(v.into_bytes());
            AttributeType::Strings
        }
        Single::Tensor(v) => {
            attribute.tensors.push(v);
            AttributeType::Tensors
        }
        Single::Graph(v) => {
            attribute.graphs.push(v);
            AttributeType::Graphs
        }
        Single::Type(v) => {
            attribute.type_protos.push(v);
            AttributeType::TypeProtos
        }
    };
    attribute.r#type = Some(kind as i32);
}
