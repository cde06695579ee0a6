//! Damaged models never make import panic.

use std::sync::LazyLock;

use graphgen::{Settings, Weights, generate};
use ir::{Stream, Tensor};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, ModelProto, decode};
use onnx::{encode, export, import};
use onnxsmith_onnx as onnx;
use proptest::prelude::*;

/// The bytes of a small model; some have functions.
fn model(seed: u64) -> Vec<u8> {
    let settings = Settings {
        opset: 13 + (seed % 14) as u32,
        nodes: 4,
        function: 0.5,
        max_elements: 64,
        ..Settings::default()
    };
    encode(&export(&generate(&settings, &Weights, Stream::new(seed)).model).unwrap())
}

/// Such a model with attributes of all kinds at its first node, which no operator takes.
fn attributed(seed: u64) -> Vec<u8> {
    let mut proto: ModelProto = decode("model", &model(seed)).unwrap();
    let of = |kind: AttributeType, name: &str| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind as i32),
        ..Default::default()
    };
    let tensor: Tensor = "u2[3] {1, 2, 3}".parse().unwrap();
    if let Some(node) = proto.graph.as_mut().and_then(|graph| graph.node.first_mut()) {
        node.attribute.extend([
            AttributeProto { floats: vec![1.0, f32::NAN], ..of(AttributeType::Floats, "alpha") },
            AttributeProto { strings: vec![b"x".to_vec(), vec![0xff]], ..of(AttributeType::Strings, "mode") },
            AttributeProto {
                t: Some(onnx::tensor::to_proto("t", &tensor)),
                ..of(AttributeType::Tensor, "axes")
            },
        ]);
    }
    encode(&proto)
}

static MODELS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| (0..64).map(model).chain((0..8).map(attributed)).collect());

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn changed_bytes(
        model in 0_usize..72,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.05, any::<prop::sample::Index>()),
    ) {
        let mut bytes = MODELS[model].clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(proto) = decode::<ModelProto>("model", &bytes)
            && let Ok(imported) = import(&proto, &onnx::import::Options::default())
        {
            // What is accepted is valid.
            prop_assert!(imported.model.validate().is_ok());
        }
    }
}
