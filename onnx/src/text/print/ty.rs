//! Values with their types.

use ir::text::is_identifier;

use super::{Printer, says};
use crate::proto::tensor_proto::DataType;
use crate::proto::tensor_shape_proto::Dimension;
use crate::proto::tensor_shape_proto::dimension;
use crate::proto::type_proto::{Map, Opaque, Optional, Sequence, SparseTensor, Tensor, Value};
use crate::proto::{TensorShapeProto, TypeProto, ValueInfoProto};
use crate::text::names::{name, name_of_its_own, quoted};

impl Printer {
    pub(super) fn value_info(&mut self, info: &ValueInfoProto) {
        let ValueInfoProto { name: of, r#type, doc_string, metadata_props } = info;
        self.leave_out("doc_string of a value", says(doc_string.as_deref()));
        self.leave_out("metadata_props of a value", !metadata_props.is_empty());
        let of = of.as_deref().unwrap_or_default();
        match r#type {
            Some(ty) if ty.value.is_some() => {
                self.ty(ty);
                self.push(format!(" {}", name(of)));
            }
            ty => {
                self.leave_out("a type that says nothing", ty.is_some());
                self.push(name_of_its_own(of));
            }
        }
    }

    pub(super) fn ty(&mut self, ty: &TypeProto) {
        let TypeProto { denotation, value } = ty;
        self.leave_out("denotation of a type", says(denotation.as_deref()));
        match value {
            Some(Value::TensorType(Tensor { elem_type, shape })) => {
                self.tensor_type(elem_type.unwrap_or_default(), shape.as_ref());
            }
            Some(Value::SparseTensorType(SparseTensor { elem_type, shape })) => {
                self.push("sparse_tensor(");
                self.tensor_type(elem_type.unwrap_or_default(), shape.as_ref());
                self.push(")");
            }
            Some(Value::SequenceType(sequence)) => {
                let Sequence { elem_type } = &**sequence;
                self.type_of("seq(", elem_type.as_deref());
            }
            Some(Value::OptionalType(optional)) => {
                let Optional { elem_type } = &**optional;
                self.type_of("optional(", elem_type.as_deref());
            }
            Some(Value::MapType(map)) => {
                let Map { key_type, value_type } = &**map;
                self.push("map(");
                self.element_type(key_type.unwrap_or_default());
                self.type_of(", ", value_type.as_deref());
            }
            Some(Value::OpaqueType(opaque)) => self.opaque(opaque),
            None => self.nothing(),
        }
    }

    /// The type inside another, up to the bracket that closes that.
    fn type_of(&mut self, before: &str, inner: Option<&TypeProto>) {
        self.push(before);
        match inner {
            Some(inner) => self.ty(inner),
            None => self.nothing(),
        }
        self.push(")");
    }

    /// Prints a stand-in where the syntax wants a type and the message does not say one.
    fn nothing(&mut self) {
        self.leave_out("a type that says nothing", true);
        self.tensor_type(DataType::Undefined as i32, None);
    }

    fn tensor_type(&mut self, elem_type: i32, shape: Option<&TensorShapeProto>) {
        self.element_type(elem_type);
        match shape {
            None => self.push("[]"),
            Some(TensorShapeProto { dim }) if dim.is_empty() => {}
            Some(TensorShapeProto { dim }) => {
                self.push("[");
                self.list(dim, Self::dimension);
                self.push("]");
            }
        }
    }

    pub(super) fn element_type(&mut self, code: i32) {
        let dtype = DataType::try_from(code);
        self.leave_out("an element type that ONNX has not", dtype.is_err());
        self.push(dtype.unwrap_or_default().as_str_name().to_ascii_lowercase());
    }

    fn dimension(&mut self, dimension: &Dimension) {
        let Dimension { denotation, value } = dimension;
        self.leave_out("denotation of a dimension", says(denotation.as_deref()));
        match value {
            Some(dimension::Value::DimValue(size)) => self.push(size),
            Some(dimension::Value::DimParam(symbol)) => self.push(name(symbol)),
            None => self.push("?"),
        }
    }

    fn opaque(&mut self, opaque: &Opaque) {
        let Opaque { domain, name: of } = opaque;
        let dotted = |text: &str| {
            let is_plain = text.split('.').all(is_identifier);
            if is_plain { text.to_owned() } else { quoted(text).to_string() }
        };
        let domain = domain.as_deref().filter(|domain| !domain.is_empty());
        let domain = domain.map_or_else(String::new, |domain| format!("{}, ", dotted(domain)));
        self.push(format!("opaque({domain}{})", of.as_deref().map_or_else(String::new, dotted)));
    }
}
