//! Values with their types.

use super::{Parsed, Parser};
use crate::proto::tensor_proto::DataType;
use crate::proto::tensor_shape_proto::{Dimension, dimension};
use crate::proto::type_proto::{Map, Opaque, Optional, Sequence, SparseTensor, Tensor, Value};
use crate::proto::{TensorShapeProto, TypeProto, ValueInfoProto};
use crate::text::lex::Token;
use crate::text::names::{element_type, starts_type};

const A_TYPE: &str = "a type such as `float[N, 3]`";

impl Parser<'_> {
    /// A name, behind a type if a type begins here.
    pub(super) fn value_info(&mut self) -> Parsed<ValueInfoProto> {
        let is_typed = matches!(self.token, Token::Word(word) if starts_type(word));
        let r#type = if is_typed { Some(self.ty()?) } else { None };
        let name = self.name("the name of a value")?;
        Ok(ValueInfoProto { name: Some(name), r#type, ..Default::default() })
    }

    pub(super) fn ty(&mut self) -> Parsed<TypeProto> {
        let Token::Word(word) = self.token else { return Err(self.unexpected(A_TYPE)) };
        let value = match word {
            "seq" => Value::SequenceType(Box::new(Sequence { elem_type: self.inner(Self::boxed)? })),
            "optional" => Value::OptionalType(Box::new(Optional { elem_type: self.inner(Self::boxed)? })),
            "map" => Value::MapType(Box::new(self.inner(Self::map)?)),
            "sparse_tensor" => {
                let (elem_type, shape) = self.inner(Self::tensor_type)?;
                Value::SparseTensorType(SparseTensor { elem_type, shape })
            }
            "opaque" => Value::OpaqueType(self.inner(Self::opaque)?),
            _ => {
                let (elem_type, shape) = self.tensor_type()?;
                Value::TensorType(Tensor { elem_type, shape })
            }
        };
        Ok(TypeProto { denotation: None, value: Some(value) })
    }

    /// What is in parentheses behind the word at hand.
    fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.advance()?;
        self.mark('(')?;
        let inner = self.deeper(2, read)?;
        self.mark(')')?;
        Ok(inner)
    }

    fn boxed(&mut self) -> Parsed<Option<Box<TypeProto>>> {
        self.ty().map(|ty| Some(Box::new(ty)))
    }

    fn map(&mut self) -> Parsed<Map> {
        let key_type = Some(self.element_type()? as i32);
        self.mark(',')?;
        Ok(Map { key_type, value_type: self.boxed()? })
    }

    fn element_type(&mut self) -> Parsed<DataType> {
        let Token::Word(word) = self.token else { return Err(self.unexpected(A_TYPE)) };
        let dtype = element_type(word).ok_or_else(|| self.unexpected(A_TYPE))?;
        self.advance()?;
        Ok(dtype)
    }

    /// An element type and a shape. `float` is a scalar, `float[]` a tensor of any rank.
    fn tensor_type(&mut self) -> Parsed<(Option<i32>, Option<TensorShapeProto>)> {
        let dtype = self.element_type()? as i32;
        let is_scalar = self.token != Token::Mark('[');
        let dim = self.optional_list('[', ']', Self::dimension)?;
        Ok((Some(dtype), (is_scalar || !dim.is_empty()).then_some(TensorShapeProto { dim })))
    }

    fn dimension(&mut self) -> Parsed<Dimension> {
        let value = if self.takes('?')? {
            None
        } else if let Some(symbol) = self.optional_name()? {
            Some(dimension::Value::DimParam(symbol))
        } else if matches!(self.token, Token::Number(_)) {
            Some(dimension::Value::DimValue(self.integer("int64")?))
        } else {
            return Err(self.unexpected("a size, a symbol or `?`"));
        };
        Ok(Dimension { denotation: None, value })
    }

    /// The domain, which may have dots and is left out with its comma, and the name.
    fn opaque(&mut self) -> Parsed<Opaque> {
        let first = self.dotted()?;
        if !self.takes(',')? {
            return Ok(Opaque { domain: None, name: first });
        }
        Ok(Opaque { domain: first, name: self.dotted()? })
    }

    fn dotted(&mut self) -> Parsed<Option<String>> {
        let Some(mut all) = self.optional_name()? else { return Ok(None) };
        while self.takes('.')? {
            all = format!("{all}.{}", self.name("the next part of the name")?);
        }
        Ok(Some(all))
    }
}
