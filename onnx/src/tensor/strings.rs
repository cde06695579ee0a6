//! `TensorProto` of strings ↔ [`Strings`].

use ir::{Strings, Tensor};

use super::named;
use crate::Error;
use crate::external::External;
use crate::proto::TensorProto;
use crate::proto::tensor_proto::{DataLocation, DataType};

/// ONNX's code of strings, which are no dtype of ours.
pub const STRING: i32 = DataType::String as i32;

/// Whether a message is of strings.
pub fn is_strings(proto: &TensorProto) -> bool {
    proto.data_type() == STRING
}

/// The message of a tensor of strings.
pub fn to_proto(name: &str, strings: &Strings) -> TensorProto {
    TensorProto {
        dims: strings.shape.clone(),
        data_type: Some(STRING),
        name: Some(name.to_owned()),
        string_data: strings.items.iter().map(Tensor::to_bytes).collect(),
        ..Default::default()
    }
}

/// The strings of a message, each of which must be UTF-8. None are read from elsewhere.
pub fn from_proto(proto: &TensorProto, _: External<'_>) -> Result<Strings, Error> {
    read(proto).map_err(|e| named(e, proto))
}

fn read(proto: &TensorProto) -> Result<Strings, Error> {
    if !is_strings(proto) {
        return Err(Error::invalid(
            format!("element type {}", proto.data_type()),
            "it must be that of strings",
        ));
    }
    if proto.segment.is_some() || proto.data_location() == DataLocation::External {
        return Err(Error::unsupported("data", "strings are read where they are in the message"));
    }
    let text = |bytes: &Vec<u8>| {
        String::from_utf8(bytes.clone()).map_err(|_| Error::invalid("string_data", "it is not UTF-8"))
    };
    let texts = proto.string_data.iter().map(text).collect::<Result<Vec<String>, Error>>()?;
    Strings::of_texts(proto.dims.clone(), &texts).ok_or_else(|| {
        let why = format!("there are {} strings for the shape {:?}", texts.len(), proto.dims);
        Error::invalid("string_data", why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_and_are_as_many_as_the_shape_says() {
        let strings = Strings::of_texts(vec![2], &["é".to_owned(), String::new()]).unwrap();
        let proto = to_proto("x", &strings);
        assert_eq!(from_proto(&proto, External::Refuse).unwrap(), strings);
        let broken = TensorProto { string_data: vec![vec![0xff], Vec::new()], ..proto.clone() };
        assert!(matches!(from_proto(&broken, External::Refuse), Err(Error::Invalid { .. })));
        let many = TensorProto { dims: vec![1 << 62, 4], ..proto };
        assert!(matches!(from_proto(&many, External::Refuse), Err(Error::Invalid { .. })));
    }
}
