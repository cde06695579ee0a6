//! `AttributeProto` → [`Attribute`], and the attributes that only Constant has.

use std::sync::Arc;

use ir::{Attribute, DType, Tensor, Type};

use crate::external::External;
use crate::proto::AttributeProto;
use crate::proto::attribute_proto::AttributeType;
use crate::{Error, tensor};

/// ONNX's attributes that hold the code of an element type.
const DTYPE_ATTRIBUTES: [&str; 4] = ["to", "dtype", "output_dtype", "output_datatype"];

/// The value of an attribute; `None` where it says the same as leaving it out.
pub(super) fn read(proto: &AttributeProto) -> Result<Option<Attribute>, Error> {
    let kind = check_kind(proto)?;
    let unsupported = || {
        let kind = kind.as_str_name();
        Err(Error::unsupported(what(proto), format!("attributes of type {kind} are not supported here")))
    };
    Ok(Some(match kind {
        AttributeType::Int if DTYPE_ATTRIBUTES.contains(&proto.name()) => {
            let code = i32::try_from(proto.i()).unwrap_or(-1);
            if code == 0 && proto.name().starts_with("output_") {
                return Ok(None);
            }
            Attribute::DType(tensor::dtype_of(code).map_err(|e| e.inside(what(proto)))?)
        }
        AttributeType::Int => Attribute::Int(proto.i()),
        AttributeType::Ints => Attribute::Ints(proto.ints.clone()),
        AttributeType::Float => Attribute::Float(proto.f()),
        AttributeType::String => Attribute::Name(text(proto)?),
        _ => return unsupported(),
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
        ("value_string" | "value_strings" | "sparse_value", ..) => {
            return Err(Error::unsupported(what(proto), "constants are dense tensors of numbers or bool"));
        }
        ("value" | "value_int" | "value_ints" | "value_float" | "value_floats", ..) => {
            return Err(Error::invalid(what(proto), format!("its type is {}", kind.as_str_name())));
        }
        _ => return Err(Error::invalid(what(proto), "Constant has no such attribute")),
    }))
}

fn what(proto: &AttributeProto) -> String {
    format!("attribute `{}`", proto.name())
}

fn text(proto: &AttributeProto) -> Result<String, Error> {
    String::from_utf8(proto.s().to_vec()).map_err(|_| Error::invalid(what(proto), "it is not UTF-8"))
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
