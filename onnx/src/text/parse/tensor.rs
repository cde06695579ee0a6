//! Tensors, from their types on.

use super::{Parsed, Parser};
use crate::proto::tensor_proto::{DataLocation, DataType};
use crate::proto::tensor_shape_proto::dimension;
use crate::proto::type_proto::{self, Value};
use crate::proto::{TensorProto, TypeProto};
use crate::tensor::Field;
use crate::tensor::elements::field;
use crate::text::lex::Token;

impl Parser<'_> {
    /// What a tensor of a type holds: elements in braces, or in brackets where they are.
    pub(super) fn tensor(&mut self, ty: &TypeProto) -> Parsed<TensorProto> {
        let (dtype, dims) = self.sizes(ty)?;
        let mut tensor = TensorProto { data_type: Some(dtype), dims, ..Default::default() };
        match self.token {
            Token::Mark('{') => self.elements(&mut tensor)?,
            Token::Mark('[') => {
                tensor.data_location = Some(DataLocation::External as i32);
                tensor.external_data = self.pairs()?;
            }
            _ => return Err(self.unexpected("`{` and elements, or `[` and where they are")),
        }
        Ok(tensor)
    }

    /// The element type and the shape of a tensor that there is.
    fn sizes(&self, ty: &TypeProto) -> Parsed<(i32, Vec<i64>)> {
        let wanted =
            || self.unexpected("no tensor, for it would need an element type and sizes that are numbers");
        let Some(Value::TensorType(type_proto::Tensor { elem_type, shape: Some(shape) })) = &ty.value else {
            return Err(wanted());
        };
        let sizes = shape.dim.iter().map(|dim| match dim.value {
            Some(dimension::Value::DimValue(size)) => Some(size),
            Some(dimension::Value::DimParam(_)) | None => None,
        });
        Ok((elem_type.unwrap_or_default(), sizes.collect::<Option<_>>().ok_or_else(wanted)?))
    }

    /// Elements in braces. Whether their number fits the shape is checked by whoever reads the tensor.
    fn elements(&mut self, tensor: &mut TensorProto) -> Parsed<()> {
        match DataType::try_from(tensor.data_type()).ok().and_then(field) {
            Some(Field::Int32) => tensor.int32_data = self.braced(|p| p.integer("int32"))?,
            Some(Field::Int64) => tensor.int64_data = self.braced(|p| p.integer("int64"))?,
            Some(Field::Uint64) => tensor.uint64_data = self.braced(|p| p.integer("uint64"))?,
            Some(Field::Float) => tensor.float_data = self.braced(Self::float)?,
            Some(Field::Double) => tensor.double_data = self.braced(Self::float)?,
            Some(Field::String) => {
                tensor.string_data = self.braced(|p| p.string("a string in quotes").map(Into::into))?;
            }
            Some(Field::Raw) | None => {
                self.mark('{')?;
                self.mark('}')?;
            }
        }
        Ok(())
    }

    fn braced<T>(&mut self, element: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.list('{', '}', element)
    }
}
