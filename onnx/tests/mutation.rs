//! Damaged models never make import panic.

use std::sync::LazyLock;

use graphgen::{Settings, Weights, generate};
use ir::Stream;
use onnx::proto::{ModelProto, decode};
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

static MODELS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| (0..64).map(model).collect());

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn changed_bytes(
        model in 0_usize..64,
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
