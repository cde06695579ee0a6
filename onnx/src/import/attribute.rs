//! `AttributeProto` → [`Attribute`], and the attributes that only Constant has.

use std::sync::Arc;

use ir::{Attribute, DType, Tensor, Type};

use crate::external::External;
use crate::program::sparse;
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;
use crate::{Error, tensor};

/// ONNX's attributes that hold the code of an element type.
const DTYPE_ATTRIBUTES: [&str; 5] = ["to", "dtype", "output_dtype", "output_datatype", "precision"];

/// The value of an attribute; `None` where it says the same as leaving it out.
pub(super) fn read(proto: &AttributeProto, external: External<'_>) -> Result<Option<Attribute>, Error> {
    let kind = check_kind(proto)?;
    let unsupported = || {
        let kind = kind.as_str_name();
        Err(Error::unsupported(what(proto), format!("attributes of type {kind} are not supported here")))
    };
    Ok(Some(match kind {
        AttributeType::Int if DTYPE_ATTRIBUTES.contains(&proto.name()) => {
            let code = i32::try_from(proto.i()).unwrap_or(-1);
            if code == 0 && (proto.name() == "precision" || proto.name().starts_with("output_")) {
                return Ok(None);
            }
            Attribute::DType(tensor::dtype_of(code).map_err(|e| e.inside(what(proto)))?)
        }
        AttributeType::Int => Attribute::Int(proto.i()),
        AttributeType::Ints => Attribute::Ints(proto.ints.clone()),
        AttributeType::Float => Attribute::Float(proto.f()),
        AttributeType::Floats => Attribute::Floats(proto.floats.clone()),
        AttributeType::String => Attribute::Name(text(proto, proto.s())?),
        AttributeType::Strings => {
            let texts = proto.strings.iter().map(|bytes| text(proto, bytes));
            Attribute::Strings(texts.collect::<Result<_, _>>()?)
        }
        AttributeType::Tensor => {
            let absent = || Error::invalid(what(proto), "it has no value");
            let read = tensor::from_proto(proto.t.as_ref().ok_or_else(absent)?, external);
            Attribute::Tensor(read.map_err(|e| e.inside(what(proto)))?.into())
        }
        AttributeType::Undefined
        | AttributeType::Graph
        | AttributeType::SparseTensor
        | AttributeType::TypeProto
        | AttributeType::Tensors
        | AttributeType::Graphs
        | AttributeType::SparseTensors
        | AttributeType::TypeProtos => return unsupported(),
    }))
}

/// The tensor that a Constant node's only attribute stands for.
pub(super) fn constant(attributes: &[&AttributeProto], external: External<'_>) -> Result<Arc<Tensor>, Error> {
    let [proto] = attributes else {
        return Err(Error::invalid("attributes", format!("there are {} instead of one", attributes.len())));
    };
    let kind = check_kind(proto)?;
    let list = |dtype, n: usize| Type::new(dtype, [n as i64]);
    let ints = |ty: &Type, v: &[i64]| Tensor::from_i128_fn(ty, |i| i128::from(v[i]));
    let floats = |ty: &Type, v: &[f32]| Tensor::from_f64_fn(ty, |i| f64::from(v[i]));
    Ok(Arc::new(match (proto.name(), kind, &proto.t) {
        ("value", AttributeType::Tensor, Some(t)) => tensor::from_proto(t, external)?,
        ("value_int", AttributeType::Int, _) => ints(&Type::new(DType::I64, []), &[proto.i()]),
        ("value_ints", AttributeType::Ints, _) => ints(&list(DType::I64, proto.ints.len()), &proto.ints),
        ("value_float", AttributeType::Float, _) => floats(&Type::new(DType::F32, []), &[proto.f()]),
        ("value_floats", AttributeType::Floats, _) => {
            floats(&list(DType::F32, proto.floats.len()), &proto.floats)
        }
        ("sparse_value", AttributeType::SparseTensor, _) => {
            let held =
                proto.sparse_tensor.as_ref().ok_or_else(|| Error::invalid(what(proto), "it has no value"))?;
            sparse::dense(held).map_err(|e| e.inside(what(proto)))?
        }
        ("value_string" | "value_strings", ..) => {
            return Err(Error::unsupported(what(proto), "constants are tensors of numbers or bool"));
        }
        ("sparse_value" | "value" | "value_int" | "value_ints" | "value_float" | "value_floats", ..) => {
            return Err(Error::invalid(what(proto), format!("its type is {}", kind.as_str_name())));
        }
        _ => return Err(Error::invalid(what(proto), "Constant has no such attribute")),
    }))
}

fn what(proto: &AttributeProto) -> String {
    format!("attribute `{}`", proto.name())
}

fn text(proto: &AttributeProto, bytes: &[u8]) -> Result<String, Error> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Error::invalid(what(proto), "it is not UTF-8"))
}

/// The type of an attribute, which must not have values of another.
fn check_kind(proto: &AttributeProto) -> Result<AttributeType, Error> {
    let kind = AttributeType::try_from(proto.r#type.unwrap_or_default())
        .ok()
        .filter(|&k| k != AttributeType::Undefined)
        .ok_or_else(|| Error::invalid(what(proto), "it has no type that ONNX knows"))?;
    let present = [
        (AttributeType::Float, proto.f.is_some()),
        (AttributeType::Int, proto.i.is_some()),
        (AttributeType::String, proto.s.is_some()),
        (AttributeType::Tensor, proto.t.is_some()),
        (AttributeType::Graph, proto.g.is_some()),
        (AttributeType::SparseTensor, proto.sparse_tensor.is_some()),
        (AttributeType::TypeProto, proto.tp.is_some()),
        (AttributeType::Floats, !proto.floats.is_empty()),
        (AttributeType::Ints, !proto.ints.is_empty()),
        (AttributeType::Strings, !proto.strings.is_empty()),
        (AttributeType::Tensors, !proto.tensors.is_empty()),
        (AttributeType::Graphs, !proto.graphs.is_empty()),
        (AttributeType::SparseTensors, !proto.sparse_tensors.is_empty()),
        (AttributeType::TypeProtos, !proto.type_protos.is_empty()),
    ];
    match present.iter().find(|&&(other, is)| is && other != kind) {
        Some((other, _)) => Err(Error::invalid(
            what(proto),
            format!("its type is {}, but it has a value of type {}", kind.as_str_name(), other.as_str_name()),
        )),
        None => Ok(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::operator::attribute;

    #[test]
    fn attributes_of_every_kind_come_back() {
        let tensor: Tensor = "f8e5m2[3] {-inf, 0.5, 1.0}".parse().unwrap();
        let texts = ["x".to_owned(), String::new(), "é".to_owned()].to_vec();
        for value in [
            Attribute::Int(-1),
            Attribute::Ints(vec![1, 2]),
            Attribute::Float(0.5),
            Attribute::Floats(vec![0.5, f32::INFINITY]),
            Attribute::Floats(Vec::new()),
            Attribute::Name("x".to_owned()),
            Attribute::Strings(texts),
            Attribute::Strings(Vec::new()),
            Attribute::Tensor(tensor.into()),
        ] {
            assert_eq!(read(&attribute("alpha", &value), External::Refuse).unwrap(), Some(value));
        }
        let to = Attribute::DType(DType::U2);
        assert_eq!(read(&attribute("to", &to), External::Refuse).unwrap(), Some(to));
    }

    #[test]
    fn strings_are_utf_8_and_tensors_are_there() {
        let texts = attribute("alpha", &Attribute::Strings(vec!["x".to_owned()]));
        let broken = AttributeProto { strings: vec![vec![0xff]], ..texts };
        assert!(matches!(read(&broken, External::Refuse), Err(Error::Invalid { .. })));
        let tensor = attribute("alpha", &Attribute::Tensor(Arc::new("f32[] {1.0}".parse().unwrap())));
        let absent = AttributeProto { t: None, ..tensor };
        assert!(matches!(read(&absent, External::Refuse), Err(Error::Invalid { .. })));
    }
}
