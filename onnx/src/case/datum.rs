//! The files of a data set: `TensorProto`, `SequenceProto` and `OptionalProto` ↔ [`Datum`].

use ir::{Datum, DatumKind, Held, Tensor};
use prost::Message;

use crate::external::External;
use crate::proto::{OptionalProto, SequenceProto, TensorProto, decode, optional_proto, sequence_proto};
use crate::{Error, tensor};

/// The bytes of a file. The same datum gives the same bytes.
pub fn encode(name: &str, datum: &Datum) -> Vec<u8> {
    match datum {
        Datum::Tensor(tensor) => tensor::encode(name, tensor),
        Datum::Sequence(items) => sequence_message(name, items).encode_to_vec(),
        Datum::Optional(held) => optional_message(name, held.as_ref()).encode_to_vec(),
        Datum::Strings(strings) => tensor::strings::to_proto(name, strings).encode_to_vec(),
    }
}

fn sequence_message(name: &str, items: &[Tensor]) -> SequenceProto {
    SequenceProto {
        name: Some(name.to_owned()),
        elem_type: Some(sequence_proto::DataType::Tensor as i32),
        tensor_values: items.iter().map(unnamed).collect(),
        ..SequenceProto::default()
    }
}

fn optional_message(name: &str, held: Option<&Held>) -> OptionalProto {
    let message = |elem_type: optional_proto::DataType| OptionalProto {
        name: Some(name.to_owned()),
        elem_type: Some(elem_type as i32),
        ..OptionalProto::default()
    };
    match held {
        None => message(optional_proto::DataType::Undefined),
        Some(Held::Tensor(tensor)) => {
            OptionalProto { tensor_value: Some(unnamed(tensor)), ..message(optional_proto::DataType::Tensor) }
        }
        Some(Held::Sequence(items)) => OptionalProto {
            sequence_value: Some(SequenceProto { name: None, ..sequence_message("", items) }),
            ..message(optional_proto::DataType::Sequence)
        },
    }
}

fn unnamed(tensor: &Tensor) -> TensorProto {
    TensorProto { name: None, ..tensor::to_proto("", tensor) }
}

/// The datum in the bytes of a file. Which message they are is what the graph declares, as the bytes do not tell.
pub(super) fn read(bytes: &[u8], kind: DatumKind) -> Result<Datum, Error> {
    Ok(match kind {
        DatumKind::Tensor => Datum::Tensor(tensor(&decode("tensor", bytes)?)?),
        DatumKind::Strings => {
            Datum::Strings(tensor::strings::from_proto(&decode("tensor", bytes)?, External::Refuse)?)
        }
        DatumKind::Sequence => Datum::Sequence(sequence(&decode("sequence", bytes)?)?),
        DatumKind::Optional | DatumKind::OptionalSequence => {
            let datum = Datum::Optional(optional(&decode("optional", bytes)?)?);
            if !kind.admits(&datum) {
                return Err(Error::invalid("optional", format!("it does not hold what an {kind} may hold")));
            }
            datum
        }
    })
}

fn tensor(message: &TensorProto) -> Result<Tensor, Error> {
    tensor::from_proto(message, External::Refuse)
}

fn sequence(message: &SequenceProto) -> Result<Vec<Tensor>, Error> {
    let others = [
        message.sparse_tensor_values.len(),
        message.sequence_values.len(),
        message.map_values.len(),
        message.optional_values.len(),
    ];
    if others.iter().any(|&count| count > 0) {
        return Err(Error::unsupported("sequence", "it holds others than dense tensors"));
    }
    message.tensor_values.iter().map(tensor).collect()
}

fn optional(message: &OptionalProto) -> Result<Option<Held>, Error> {
    let OptionalProto { tensor_value, sequence_value, .. } = message;
    if message.sparse_tensor_value.is_some()
        || message.map_value.is_some()
        || message.optional_value.is_some()
    {
        return Err(Error::unsupported("optional", "it holds neither a dense tensor nor a sequence"));
    }
    match (tensor_value, sequence_value) {
        (None, None) => Ok(None),
        (Some(held), None) => Ok(Some(Held::Tensor(tensor(held)?))),
        (None, Some(held)) => Ok(Some(Held::Sequence(sequence(held)?))),
        (Some(_), Some(_)) => Err(Error::invalid("optional", "it holds a tensor and a sequence")),
    }
}
