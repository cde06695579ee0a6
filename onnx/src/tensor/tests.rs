use proptest::prelude::*;
use prost::Message;

use super::*;

fn samples() -> impl Iterator<Item = Tensor> {
    let shapes = [vec![], vec![0], vec![2, 0, 3], vec![2, 3], vec![5]];
    DType::ALL.into_iter().flat_map(move |dtype| shapes.clone().map(|shape| Type::new(dtype, shape))).map(
        |ty| {
            Tensor::from_i128_fn(&ty, |i| {
                ty.dtype.int_range().map_or(i as i128 - 2, |(low, high)| [low, high][i % 2])
            })
        },
    )
}

/// A tensor in ONNX's typed fields instead of `raw_data`.
fn in_typed_fields(tensor: &Tensor) -> TensorProto {
    let mut p = TensorProto { raw_data: None, ..to_proto("t", tensor) };
    let ints = || tensor.to_i128s().into_iter();
    match tensor {
        Tensor::F32(a) => p.float_data = a.iter().copied().collect(),
        Tensor::F64(a) => p.double_data = a.iter().copied().collect(),
        Tensor::I64(a) => p.int64_data = a.iter().copied().collect(),
        Tensor::U32(_) | Tensor::U64(_) => p.uint64_data = ints().map(|v| v as u64).collect(),
        Tensor::F16(a) => p.int32_data = a.iter().map(|v| i32::from(v.to_bits())).collect(),
        Tensor::BF16(a) => p.int32_data = a.iter().map(|v| i32::from(v.to_bits())).collect(),
        _ if !DTypes::IR4.contains(tensor.dtype()) => {
            p.int32_data = tensor.to_bytes().into_iter().map(i32::from).collect();
        }
        _ => p.int32_data = ints().map(|v| v as i32).collect(),
    }
    p
}

fn read_back(proto: &TensorProto) -> Result<Tensor, Error> {
    let decoded = TensorProto::decode(proto.encode_to_vec().as_slice()).unwrap();
    from_proto(&decoded, External::Refuse)
}

fn f32s(dims: impl Into<Vec<i64>>) -> TensorProto {
    TensorProto { dims: dims.into(), data_type: Some(code_of(DType::F32)), ..Default::default() }
}

fn is_invalid(proto: &TensorProto) -> bool {
    matches!(from_proto(proto, External::Refuse), Err(Error::Invalid { .. }))
}

#[test]
fn every_dtype_round_trips_through_raw_and_typed_fields() {
    for tensor in samples() {
        assert_eq!(read_back(&to_proto("t", &tensor)).unwrap(), tensor);
        assert_eq!(read_back(&in_typed_fields(&tensor)).unwrap(), tensor);
    }
}

#[test]
fn special_floats_keep_their_bits() {
    let values = [f32::NAN, -f32::NAN, f32::INFINITY, -0.0, f32::from_bits(1), f32::from_bits(0x7f80_0001)];
    let tensor = Tensor::F32(ArrayD::from_shape_vec(IxDyn(&[6]), values.to_vec()).unwrap());
    assert_eq!(read_back(&to_proto("t", &tensor)).unwrap(), tensor);
    assert_eq!(read_back(&in_typed_fields(&tensor)).unwrap(), tensor);
}

#[test]
fn codes_round_trip_and_the_rest_are_told_apart() {
    for dtype in DType::ALL {
        assert_eq!(dtype_of(code_of(dtype)).unwrap(), dtype);
    }
    assert_eq!(code_of(DType::F32), 1);
    for code in [DataType::String, DataType::Complex64, DataType::Complex128] {
        assert!(matches!(dtype_of(code as i32), Err(Error::Unsupported { .. })), "{code:?}");
    }
    for code in [0, -1, 99, i32::MAX] {
        assert!(matches!(dtype_of(code), Err(Error::Invalid { .. })), "{code}");
    }
}

#[test]
fn elements_of_less_than_a_byte_share_it_in_every_field() {
    let tensor: Tensor = "i4[5] {1, -2, 7, -8, -1}".parse().unwrap();
    let bytes = vec![0xe1, 0x87, 0x0f];
    assert_eq!(to_proto("t", &tensor).raw_data(), bytes);
    let proto = |int32_data| TensorProto { raw_data: None, int32_data, ..to_proto("t", &tensor) };
    // What pads the last byte says nothing.
    for last in [0x0f, 0xff] {
        assert_eq!(read_back(&proto(vec![0xe1, 0x87, last])).unwrap(), tensor);
    }
    for wrong in [vec![0xe1, 0x87], vec![1, 0xe, 7, 8, 0xf], vec![0xe1, 0x87, 0x0f, 0]] {
        assert!(is_invalid(&proto(wrong)));
    }
}

#[test]
fn impossible_shapes_are_refused_before_allocating() {
    for dims in [vec![-1], vec![0, -1], vec![i64::MAX, 2], vec![i64::MAX, 0], vec![1 << 32, 1 << 32]] {
        assert!(is_invalid(&f32s(dims.clone())), "{dims:?}");
    }
    // Large but allowed, so the lack of data is what is wrong.
    assert!(is_invalid(&f32s([1 << 40])));
}

#[test]
fn data_of_the_wrong_size_or_in_the_wrong_field_is_invalid() {
    let good = TensorProto { float_data: vec![1.0, 2.0], ..f32s([2]) };
    from_proto(&good, External::Refuse).unwrap();
    let bad = [
        f32s([2]),
        TensorProto { float_data: vec![1.0], ..f32s([2]) },
        TensorProto { float_data: vec![1.0; 3], ..f32s([2]) },
        TensorProto { float_data: vec![1.0], ..f32s([0]) },
        TensorProto { raw_data: Some(vec![0; 7].into()), ..f32s([2]) },
        TensorProto { double_data: vec![1.0, 2.0], ..f32s([2]) },
        TensorProto { string_data: vec![vec![], vec![]], ..f32s([2]) },
        TensorProto { raw_data: Some(vec![0; 8].into()), ..good.clone() },
        TensorProto { int32_data: vec![0; 2], ..good.clone() },
        TensorProto { data_location: Some(DataLocation::External as i32), ..good },
    ];
    for proto in bad {
        assert!(is_invalid(&proto), "{proto:?}");
    }
}

#[test]
fn values_outside_the_dtype_are_invalid() {
    let ranges = [
        (DType::I8, -129, 128),
        (DType::U8, -1, 256),
        (DType::I16, -32769, 32768),
        (DType::U16, -1, 65536),
        (DType::F16, -1, 65536),
        (DType::BF16, -1, 65536),
        (DType::F8E5M2, -1, 256),
        // A byte that further elements could share.
        (DType::I4, -1, 256),
        (DType::U2, -1, 256),
    ];
    for (dtype, below, above) in ranges {
        for (value, valid) in [(below, false), (below + 1, true), (above - 1, true), (above, false)] {
            let proto = TensorProto { data_type: Some(code_of(dtype)), int32_data: vec![value], ..f32s([1]) };
            assert_eq!(from_proto(&proto, External::Refuse).is_ok(), valid, "{dtype} {value}");
        }
    }
    let wide = TensorProto { data_type: Some(code_of(DType::U32)), uint64_data: vec![1 << 32], ..f32s([1]) };
    assert!(is_invalid(&wide));
}

/// onnx.proto has no range for truth values, and its checker, its reference implementation and runtimes take these for true.
#[test]
fn whatever_is_not_zero_is_true() {
    let flags = TensorProto { data_type: Some(code_of(DType::Bool)), ..f32s([4]) };
    let wanted: Tensor = "bool[4] {false, true, true, true}".parse().unwrap();
    let raw = TensorProto { raw_data: Some(vec![0, 1, 2, 255].into()), ..flags.clone() };
    let typed = TensorProto { int32_data: vec![0, 1, 2, -1], ..flags };
    assert_eq!([read_back(&raw).unwrap(), read_back(&typed).unwrap()], [wanted.clone(), wanted]);
}

#[test]
fn errors_name_the_tensor() {
    let proto = TensorProto { name: Some("w".to_owned()), ..f32s([-1]) };
    let error = from_proto(&proto, External::Refuse).unwrap_err().to_string();
    assert_eq!(error, "invalid shape [-1] in tensor `w`: a dimension is negative");
}

prop_compose! {
    fn any_proto()(
        dims in prop::collection::vec(prop_oneof![0..4i64, any::<i64>()], 0..4),
        code in prop_oneof![-1..30i32, any::<i32>()],
        raw in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        ints in prop::collection::vec(any::<i32>(), 0..10),
        floats in prop::collection::vec(any::<f32>(), 0..10),
        longs in prop::collection::vec(any::<u64>(), 0..10),
        location in prop::option::of(any::<i32>()),
        keep in any::<[bool; 3]>(),
    ) -> TensorProto {
        TensorProto {
            dims,
            data_type: Some(code),
            raw_data: raw.map(Into::into),
            int32_data: if keep[0] { ints } else { vec![] },
            float_data: if keep[1] { floats } else { vec![] },
            uint64_data: if keep[2] { longs } else { vec![] },
            data_location: location,
            ..Default::default()
        }
    }
}

/// Random bytes hardly ever are a message. Of a message with one byte changed, most is read, and some of that as a tensor.
#[test]
fn a_mutated_message_is_a_tensor_of_its_declared_type_or_an_error() {
    let (mut decoded, mut read, mut all) = (0, 0, 0);
    for tensor in samples() {
        for bytes in [to_proto("t", &tensor), in_typed_fields(&tensor)].map(|proto| proto.encode_to_vec()) {
            for at in 0..bytes.len() {
                for byte in [0, 1, 0x7f, 0xff, bytes[at] ^ 2] {
                    let mut mutated = bytes.clone();
                    mutated[at] = byte;
                    all += 1;
                    let Ok(proto) = TensorProto::decode(mutated.as_slice()) else { continue };
                    decoded += 1;
                    if let Ok(tensor) = from_proto(&proto, External::Refuse) {
                        read += 1;
                        assert_eq!(tensor.ty(), type_of(&proto).unwrap());
                    }
                }
            }
        }
    }
    assert!(decoded > all / 3 && read > all / 10, "of {all} messages {decoded} are decoded and {read} read");
}

proptest! {
    #[test]
    fn any_message_is_a_tensor_of_its_declared_type_or_an_error(proto in any_proto()) {
        if let Ok(tensor) = from_proto(&proto, External::Refuse) {
            prop_assert_eq!(tensor.ty(), type_of(&proto).unwrap());
            prop_assert_eq!(read_back(&to_proto("t", &tensor)).unwrap(), tensor);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..128)) {
        if let Ok(proto) = TensorProto::decode(bytes.as_slice()) {
            let _ = from_proto(&proto, External::Refuse);
        }
    }
}
